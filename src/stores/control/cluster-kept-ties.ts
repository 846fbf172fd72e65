// How does what an examination saw take the place of what was held of the same before?
// A tie is an inference: what is judged anew is deleted first, so that no tie outlives its reason.

import type { ChainName } from '../../chain/chain.ts';
import {
  type Objection,
  type SeenTies,
  TIE_RULE,
  type Tie,
} from '../../ports/entities/cluster-store.ts';
import type { Session } from './engine/database.ts';

/** Rows of one insert. */
export const INSERT_ROWS_MAX = 2_000;

/** Keeps what examinations saw. `now`: Unix seconds. */
export async function keepSeen(
  session: Session,
  chain: ChainName,
  { ties, objections, judged, services, examinations }: SeenTies,
  now: number,
): Promise<void> {
  const keys = judged.filter((one) => 'key' in one);
  const addresses = judged.filter((one) => 'address' in one);
  await session.query(
    `delete from entity_ties t
     using unnest($2::text[], $3::text[]) as j (heuristic, key)
     where t.chain = $1 and t.heuristic = j.heuristic and t.key = j.key`,
    [chain, keys.map(({ heuristic }) => heuristic), keys.map(({ key }) => key)],
  );
  await session.query(
    `delete from entity_ties t
     using unnest($2::text[], $3::text[]) as j (heuristic, address)
     where t.chain = $1 and t.heuristic = j.heuristic and t.address = j.address`,
    [chain, addresses.map(({ heuristic }) => heuristic), addresses.map(({ address }) => address)],
  );
  await session.query(
    'delete from entity_objections where chain = $1 and address = any($2::text[])',
    [chain, examinations.map(({ address }) => address)],
  );
  await insertTies(session, ties, now);
  await insertObjections(session, objections);
  await session.query(
    `insert into entity_services (chain, address, why)
     select $1, * from unnest($2::text[], $3::text[]) on conflict do nothing`,
    [chain, services.map((one) => one.address), services.map((one) => one.why)],
  );
  await session.query(
    `insert into entity_examinations (chain, address, whole, read_at, reason, rule)
     select $1, *, $6::int from unnest($2::text[], $3::bool[], $4::int8[], $5::text[])
     on conflict (chain, address) do update
     set whole = excluded.whole, read_at = excluded.read_at, reason = excluded.reason,
       rule = excluded.rule
     where entity_examinations.read_at <= excluded.read_at
       or entity_examinations.rule < excluded.rule`,
    [
      chain,
      examinations.map((one) => one.address),
      examinations.map((one) => one.whole),
      examinations.map((one) => one.read_at),
      examinations.map((one) => one.reason),
      TIE_RULE,
    ],
  );
}

/** Adds ties; one that is held takes the date and the rule of now. */
export async function insertTies(
  session: Session,
  ties: readonly Tie[],
  now: number,
): Promise<void> {
  const byName = new Map(ties.map((one) => [nameOf(one), one]));
  const all = [...byName.values()];
  for (let from = 0; from < all.length; from += INSERT_ROWS_MAX) {
    const some = all.slice(from, from + INSERT_ROWS_MAX);
    await session.query(
      `insert into entity_ties (chain, heuristic, form, key, address, tx, block, at, rests_on,
         whole, rule, judged_at)
       select *, $11::int, $12::int8 from unnest($1::text[], $2::text[], $3::text[], $4::text[],
         $5::text[], $6::text[], $7::int8[], $8::int8[], $9::text[], $10::bool[])
       on conflict (chain, heuristic, key, address, tx) do update
       set form = excluded.form, rests_on = excluded.rests_on, whole = excluded.whole,
         rule = excluded.rule, judged_at = excluded.judged_at`,
      [
        some.map((one) => one.chain),
        some.map((one) => one.heuristic),
        some.map((one) => one.form),
        some.map((one) => one.key),
        some.map((one) => one.address),
        some.map((one) => one.tx),
        some.map((one) => one.block),
        some.map((one) => one.at),
        some.map((one) => one.rests_on),
        some.map((one) => one.whole),
        TIE_RULE,
        now,
      ],
    );
  }
}

function nameOf({ chain, heuristic, key, address, tx }: Tie): string {
  return JSON.stringify([chain, heuristic, key, address, tx]);
}

/** Adds what speaks against links. */
export async function insertObjections(
  session: Session,
  objections: readonly Objection[],
): Promise<void> {
  for (let from = 0; from < objections.length; from += INSERT_ROWS_MAX) {
    const some = objections.slice(from, from + INSERT_ROWS_MAX);
    await session.query(
      `insert into entity_objections (chain, kind, key, address, tx, block, at, detail)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
         $6::int8[], $7::int8[], $8::text[]) on conflict do nothing`,
      [
        some.map((one) => one.chain),
        some.map((one) => one.kind),
        some.map((one) => one.key),
        some.map((one) => one.address),
        some.map((one) => one.tx),
        some.map((one) => one.block),
        some.map((one) => one.at),
        some.map((one) => one.detail),
      ],
    );
  }
}
