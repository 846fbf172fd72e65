// Which ties lead on from some addresses, round by round, and where does that end?
// Every round has a bound; one that is reached is told, and is never taken for the end.

import { z } from 'zod';
import type { ChainName } from '../../chain/chain.ts';
import {
  HEURISTICS,
  type HeldTie,
  type Heuristic,
  OBJECTION_KINDS,
  TIE_FORMS,
  TIE_RULE,
  type Tied,
  type TiedLimits,
} from '../../ports/entities/cluster-store.ts';
import type { Database } from './engine/database.ts';

type Key = { readonly heuristic: Heuristic; readonly key: string };

const keyRow = z.object({ heuristic: z.enum(HEURISTICS), key: z.string(), addresses: z.number() });
const tieRow = z.object({
  heuristic: z.enum(HEURISTICS),
  form: z.enum(HEURISTICS.flatMap((heuristic) => TIE_FORMS[heuristic])),
  key: z.string(),
  address: z.string(),
  tx: z.string(),
  block: z.coerce.number(),
  at: z.coerce.number(),
  rests_on: z.string().nullable(),
  whole: z.boolean(),
  judged_at: z.coerce.number(),
});
const objectionRow = z.object({
  kind: z.enum(OBJECTION_KINDS),
  key: z.string(),
  address: z.string(),
  tx: z.string(),
  block: z.coerce.number(),
  at: z.coerce.number(),
  detail: z.string().nullable(),
});
const examinationRow = z.object({
  address: z.string(),
  whole: z.boolean(),
  read_at: z.coerce.number(),
  reason: z.string().nullable(),
});
/** The most objections read for one cluster: those of the addresses asked, then the oldest. */
const OBJECTIONS_MAX = 1_000;

/** Follows the ties of some addresses; `cut` where a bound ended it. */
export async function followed(
  database: Database,
  chain: ChainName,
  asked: readonly string[],
  limits: TiedLimits,
): Promise<{ tied: Tied; cut: boolean }> {
  const met = new Set(asked);
  const keys = new Set<string>();
  const ties: HeldTie[] = [];
  let cut = false;
  let frontier = [...met];
  for (let round = 0; frontier.length > 0; round += 1) {
    if (round >= limits.roundsMax || met.size > limits.addressesMax) {
      cut = true;
      break;
    }
    const found = await keysOf(database, chain, frontier, limits);
    cut = cut || found.cut;
    const fresh = found.keys.filter(({ heuristic, key }) => !keys.has(`${heuristic} ${key}`));
    for (const { heuristic, key } of fresh) keys.add(`${heuristic} ${key}`);
    const under = await tiesUnder(database, chain, fresh);
    ties.push(...under);
    frontier = [...new Set(under.map(({ address }) => address))].filter((one) => !met.has(one));
    for (const address of frontier) met.add(address);
  }
  const single = ties.flatMap(({ heuristic, rests_on }) =>
    heuristic === 'change' && rests_on !== null ? [rests_on] : [],
  );
  return {
    tied: {
      ties: ties.filter(({ address }) => met.has(address)),
      objections: await objectionsTo(database, chain, asked, [...met]),
      reused: await reusedIn(database, single),
      examinations: await examinationsOf(database, chain, [...met]),
    },
    cut,
  };
}

/** The keys under which some addresses are tied: none of a service's, and none over the cap. */
async function keysOf(
  database: Database,
  chain: ChainName,
  addresses: readonly string[],
  { perKeyMax, keysMax }: TiedLimits,
): Promise<{ keys: Key[]; cut: boolean }> {
  const rows = await database.query(
    `select t.heuristic, t.key, count(distinct t.address)::int as addresses
     from entity_ties t
     join (
       select distinct heuristic, key from entity_ties
       where chain = $1 and address = any($2::text[]) and rule = ${TIE_RULE}
         and address not in (select address from entity_services where chain = $1)
         and key not in (select address from entity_services where chain = $1)
       limit ${keysMax}
     ) mine on mine.heuristic = t.heuristic and mine.key = t.key
     where t.chain = $1 and t.rule = ${TIE_RULE}
     group by t.heuristic, t.key`,
    [chain, addresses],
  );
  const keys = z
    .array(keyRow)
    .parse(rows)
    .filter(({ addresses: count, heuristic }) => count <= perKeyMax[heuristic]);
  return { keys, cut: rows.length >= keysMax };
}

async function tiesUnder(
  database: Database,
  chain: ChainName,
  keys: readonly Key[],
): Promise<HeldTie[]> {
  if (keys.length === 0) return [];
  const rows = await database.query(
    `select t.heuristic, t.form, t.key, t.address, t.tx, t.block, t.at, t.rests_on, t.whole,
       t.judged_at
     from entity_ties t
     join unnest($2::text[], $3::text[]) as mine (heuristic, key)
       on mine.heuristic = t.heuristic and mine.key = t.key
     where t.chain = $1 and t.rule = ${TIE_RULE}`,
    [chain, keys.map(({ heuristic }) => heuristic), keys.map(({ key }) => key)],
  );
  return z
    .array(tieRow)
    .parse(rows)
    .map((row) => ({ chain, ...row }));
}

async function objectionsTo(
  database: Database,
  chain: ChainName,
  asked: readonly string[],
  addresses: readonly string[],
) {
  const rows = await database.query(
    `select kind, key, address, tx, block, at, detail from entity_objections
     where chain = $1 and address = any($2::text[])
     order by address = any($3::text[]) desc, at, key, address limit ${OBJECTIONS_MAX}`,
    [chain, addresses, asked],
  );
  return z
    .array(objectionRow)
    .parse(rows)
    .map((row) => ({ chain, ...row }));
}

/** Those of some addresses that were ever marked as services. */
export async function servicesIn(
  database: Database,
  chain: ChainName,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ address: string }>(
    'select address from entity_services where chain = $1 and address = any($2::text[])',
    [chain, [...new Set(addresses)]],
  );
  return new Set(rows.map(({ address }) => address));
}

async function reusedIn(
  database: Database,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set();
  const rows = await database.query<{ address: string }>(
    'select address from entity_paid where times > 1 and address = any($1::text[])',
    [[...new Set(addresses)]],
  );
  return new Set(rows.map(({ address }) => address));
}

async function examinationsOf(database: Database, chain: ChainName, addresses: readonly string[]) {
  const rows = await database.query(
    `select address, whole, read_at, reason from entity_examinations
     where chain = $1 and address = any($2::text[]) and rule = ${TIE_RULE}`,
    [chain, addresses],
  );
  const parsed = z.array(examinationRow).parse(rows);
  return new Map(parsed.map((one) => [one.address, one]));
}
