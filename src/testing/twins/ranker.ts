// The twin of published rankers: in memory and silent.

import { map, read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { PublishedRanker, PublishedRankers } from '../../ports/ranker.ts';
import { memorySource, PLANTED } from './dated.ts';

export type RankerPorts = { readonly publishedRankers: PublishedRankers };

/** Rankers in memory: the last of `published` is in force. */
export function memoryRankers(published: readonly PublishedRanker[] = []): RankerPorts {
  const kept = [...published];
  const origin = {
    port: 'published_ranker',
    source: memorySource('Ranker of calls', 'table', PLANTED),
  } as const;
  const newest = () => {
    const last = kept.at(-1);
    return read(last === undefined ? null : last, origin);
  };
  return {
    publishedRankers: {
      inForce: async () => newest(),
      publish: async (artefact, now) => {
        const last = kept.at(-1);
        if (last?.version === artefact.version) return map(newest(), () => 'in_force_already');
        kept.push({ ...artefact, published_at: now, leaf: kept.length });
        return map(newest(), () => 'published');
      },
    },
  };
}

export function silentRankers(cause: Why): RankerPorts {
  const silent = async () => unread('published_ranker' as const, cause);
  return { publishedRankers: { inForce: silent, publish: silent } };
}
