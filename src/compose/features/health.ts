// Answers one question: how old is each source that this process serves from.
// It asks the ports for nothing in particular and looks at what their readings rest on.

import { formatIsoDate } from '../../chain/time.ts';
import { basis, Part, type Partly, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { EvidencePorts } from '../../features/handlers.ts';
import type { HealthFacts, SourceFreshness } from '../../features/health/health.route.ts';
import type { SourceLine } from '../../pages/overview.tsx';
import { nowS } from '../clock.ts';

type Freshness = Awaited<ReturnType<HealthFacts['freshness']>>;

/** The age of each source by its name. `listMaxAgeS` is `null` where the limit is lifted. */
export function freshnessOf(
  ports: EvidencePorts,
  listMaxAgeS: number | null,
): HealthFacts['freshness'] {
  return async () => {
    const list = await ports.sanctionsList.lookUp([]);
    const published = list.checked ? list.value.list.published : null;
    return {
      sanctions_list: freshnessIn(list, listMaxAgeS, published),
      exchange_labels: freshnessIn(await ports.exchangeLabels.lookUp([]), null, null),
      launch_corpus: freshnessIn(await ports.launchCorpus.lookUp([]), null, null),
      transfer_history: freshnessIn(await inTime(ports.transferHistory.chainsRead()), null, null),
    };
  };
}

/** `/health` waits no longer for a store than this. */
const ASK_MS_MAX = 1_000;

async function inTime(
  asked: Promise<Partly<unknown, 'transfer_history'>>,
): Promise<Partly<unknown, 'transfer_history'>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Partly<unknown, 'transfer_history'>>((resolve) => {
    const silence = why('timed_out', { what: 'The transfer warehouse', limit: '1 second' });
    timer = setTimeout(() => resolve(unread('transfer_history', silence)), ASK_MS_MAX);
  });
  const first = await Promise.race([asked, late]);
  clearTimeout(timer);
  return first;
}

function freshnessIn(
  reading: Partly<unknown, never>,
  maxAgeS: number | null,
  published: string | null,
): SourceFreshness {
  if (reading instanceof Unread) {
    const { code, reason } = reading.why;
    const silent = code === 'store_unreadable' || code === 'timed_out';
    const state = silent ? 'unreadable' : 'never_loaded';
    return { state, as_of: null, published: null, age_s: null, max_age_s: maxAgeS, reason };
  }
  const [source] = basis(reading).sources;
  const asOf = source === undefined ? null : source.as_of;
  return {
    state: reading instanceof Part ? 'stale' : 'fresh',
    as_of: asOf,
    published: published === null && asOf !== null ? formatIsoDate(asOf) : published,
    age_s: asOf === null ? null : Math.max(nowS() - asOf, 0),
    max_age_s: maxAgeS,
    reason: reading instanceof Part ? reading.why.reason : null,
  };
}

const SOURCE_NAMES: { readonly [source: string]: readonly [name: string, says: string] } = {
  sanctions_list: ['Sanctions list', 'Whether an address stands on the published list'],
  exchange_labels: ['Exchange wallet table', 'Which exchange a published label names'],
  launch_corpus: ['Solana launch corpus', 'Which settled launches a wallet has on record'],
  transfer_history: ['Transfer history', 'Whether history reaches a listed address'],
};

/** The same for the overview page. */
export function sourceLines(freshness: Freshness): SourceLine[] {
  return Object.entries(freshness).map(([source, one]) => {
    const [name, says] = SOURCE_NAMES[source] ?? [source, 'What it holds'];
    return {
      name,
      state: one.state,
      as_of: one.as_of === null ? '–' : formatIsoDate(one.as_of),
      says: one.reason === null ? says : one.reason,
    };
  });
}
