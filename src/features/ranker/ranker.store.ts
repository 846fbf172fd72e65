// Rankers over the control database. A version and its leaf are one transaction; the artefact in
// force is parsed once.

import { z } from 'zod';
import { keccak256 } from '../../chain/digest.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Artefact } from '../../ports/boosted-trees.ts';
import type { PublishedRankers, Ranker } from '../../ports/ranker.ts';
import {
  type ControlContext,
  controlReadings,
  type Database,
  epochSecond,
  rowOrNull,
  storeTime,
} from '../../stores/control/engine/database.ts';
import { appendLeaf } from '../../stores/control/log-leaves.ts';

const PORT = 'published_ranker';
const WHAT = 'The published ranker of calls';

const NEWEST = `
  select p.version, m.artefact, m.leaf::float8 as leaf,
    ${epochSecond('p.published_at', 'published_at')}
  from ranker_publications p join ranker_models m using (version) order by p.id desc limit 1`;
const newestRow = z.object({
  version: z.string(),
  artefact: z.string(),
  leaf: z.int(),
  published_at: z.int(),
});
// One lock for all who publish: the newest publication is looked at and added to as one.
const PUBLISH_LOCK = 7_166_923_123;

/** Parses the text of an artefact, or tells why this version cannot use it. */
export type ParseRanker = (text: string) => Artefact<Ranker> | string;

export function rankerTable(
  database: Database,
  context: ControlContext,
  parse: ParseRanker,
): PublishedRankers {
  const { ask, read } = controlReadings(PORT, WHAT, context);
  // An artefact never changes, so that the one that was parsed last is kept.
  let held: { readonly version: string; readonly parsed: Artefact<Ranker> | string } | null = null;
  const artefactOf = (version: string, text: string): Artefact<Ranker> | string => {
    if (held?.version !== version) held = { version, parsed: parse(text) };
    return held.parsed;
  };
  return {
    inForce: async () => {
      const newest = await ask(async () =>
        newestRow.nullable().parse(rowOrNull(await database.query(NEWEST, [], 'often'))),
      );
      if (!newest.checked) return newest;
      if (newest.value === null) return read(null);
      const { version, artefact, leaf, published_at } = newest.value;
      const parsed = artefactOf(version, artefact);
      if (typeof parsed === 'string' || parsed.version !== version) {
        const fault = typeof parsed === 'string' ? parsed : 'it is kept under another name';
        return unread(PORT, why('store_unreadable', { what: `${WHAT} ${version}`, fault }));
      }
      return read({ ...parsed, leaf, published_at });
    },
    publish: ({ version, text }, now) =>
      ask(() =>
        database.transaction(async (session) => {
          await session.query('select pg_advisory_xact_lock($1::bigint)', [PUBLISH_LOCK]);
          const newest = rowOrNull(await session.query(NEWEST));
          if (newest !== null && newestRow.parse(newest).version === version) {
            return 'in_force_already';
          }
          const kept = await session.query('select from ranker_models where version = $1', [
            version,
          ]);
          if (kept.length === 0) {
            const digest = keccak256(new TextEncoder().encode(text));
            const hash = `0x${Buffer.from(digest).toString('hex')}`;
            const leaf = await appendLeaf(session, { kind: 'version', hash, id: version, at: now });
            await session.query(
              'insert into ranker_models (version, artefact, hash, leaf) values ($1, $2, $3, $4)',
              [version, text, hash, leaf],
            );
          }
          await session.query(
            'insert into ranker_publications (version, published_at) values ($1, $2)',
            [version, storeTime(now)],
          );
          return 'published';
        }),
      ),
  };
}
