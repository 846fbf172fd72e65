// Stores the ties between addresses in the control database. A cluster that was cut is a part. In
// the simulated world every reading of ties is one: simulated history denies nothing.

import { z } from 'zod';
import { type ChainName, parseChain } from '../../chain/chain.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { slices } from '../../evidence/measure.ts';
import { mintAs, type Partly, part, Read, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type BlockHarvest,
  type BlockRange,
  blockRange,
  type ClusterStore,
  type CoinJoins,
  coinJoins,
  type EntityClustersPort,
  examination,
  formerCluster,
  type HeldTie,
  type HeldTiesPort,
  heldTie,
  type Judged,
  OBJECTIONS_OF,
  type Objection,
  objection,
  type SeenTies,
  TIE_RULE,
  type Tie,
  type Tied,
  type TiedLimits,
  tie,
} from '../../ports/entities.ts';
import {
  type ControlContext,
  columnsOf,
  controlReadings,
  type Database,
  type Session,
} from './engine/database.ts';

const PORT = 'held_ties';
const WHAT = 'The table of clusters';
/** How far ids that gave way are followed: each step is an older cluster. */
const GIVEN_WAY_STEPS_MAX = 20;
/** The most ids that are told to have given way to one. */
const GIVEN_WAY_MAX = 100;
/** Everything of some blocks is kept in one transaction. */
const KEEP_TIMEOUT_MS = 120_000;

const memberRow = z.strictObject({ chain: z.string(), address: z.string() });
const newerRow = formerCluster.pick({ cluster_id: true });
const addressRows = z.array(examination.pick({ address: true }));

function addressesIn(rows: readonly object[]): Set<string> {
  return new Set(addressRows.parse(rows).map(({ address }) => address));
}

/** The ties over the control database. */
export function clusterStore(database: Database, context: ControlContext): ClusterStore {
  const readings = controlReadings<HeldTiesPort>(PORT, WHAT, context);
  return {
    covered: coveredTies,
    tiedTo: async (chain, addresses, limits) => {
      const reading = await readings.ask(() => followTies(database, chain, addresses, limits));
      if (!reading.checked) return reading;
      const { tied, cut } = reading.value;
      const origin = { port: PORT, source: readings.source() } as const;
      if (cut) return part(tied, origin, why('cluster_cut', { limit: `${limits.addressesMax}` }));
      return context.simulated ? part(tied, origin, why('simulated')) : readings.read(tied);
    },
    servicesAmong: (chain, addresses) => readings.ask(() => servicesIn(database, chain, addresses)),
    keep: (chain, seen, now) =>
      readings.ask(async () => {
        await database.transaction((session) => keepSeen(session, chain, seen, now));
        return null;
      }),
    settle: (chain, clusters, now) =>
      readings.ask(async () => {
        await database.transaction(async (session) => {
          for (const cluster of clusters) await settleOne(session, chain, cluster, now);
        });
        return null;
      }),
    givenWay: (chain, clusterId) =>
      readings.ask(async () => {
        const rows = await database.query(
          `select former_id, cluster_id, noted_at::float8 from entity_merges
           where chain = $1 and cluster_id = $2
           order by noted_at desc, former_id limit ${GIVEN_WAY_MAX}`,
          [chain, clusterId],
        );
        return z.array(formerCluster).parse(rows);
      }),
    memberOf: (clusterId) => readings.ask(() => memberOf(database, clusterId)),
    blocksHeld: () => readings.ask(() => blocksHeld(database)),
    paidBefore: (addresses) =>
      readings.ask(async () => {
        const rows = await database.query(
          'select address from entity_paid where address = any($1::text[])',
          [addresses],
        );
        return addressesIn(rows);
      }),
    coinJoinsOf: async (address) => {
      const reading = await readings.ask(() => coinJoinsOf(database, address));
      return context.simulated ? weaken(reading, why('simulated')) : reading;
    },
    keepBlocks: async (harvest) => {
      const limits = { timeoutMs: KEEP_TIMEOUT_MS };
      try {
        return await readings.ask(async () => {
          await database.transaction(
            (session) => keepBlocks(session, harvest, Math.floor(context.nowMs() / MS_PER_S)),
            limits,
          );
          return null;
        });
      } catch (error) {
        if (!(error instanceof BlocksTaken)) throw error;
        return unread(PORT, why('store_unreadable', { what: WHAT, fault: error.message }));
      }
    },
  };
}

async function settleOne(
  session: Session,
  chain: ChainName,
  { cluster_id, members }: { readonly cluster_id: string; readonly members: readonly string[] },
  now: number,
): Promise<void> {
  await session.query(
    `insert into entity_merges (chain, former_id, cluster_id, noted_at)
     select distinct $1, cluster_id, $2, $3::int8 from entity_members
     where chain = $1 and address = any($4::text[]) and cluster_id <> $2
     on conflict do nothing`,
    [chain, cluster_id, now, members],
  );
  await session.query(
    `insert into entity_members (chain, address, cluster_id)
     select $1, one, $2 from unnest($3::text[]) as one
     on conflict (chain, address) do update set cluster_id = excluded.cluster_id
     where entity_members.cluster_id <> excluded.cluster_id`,
    [chain, cluster_id, members],
  );
}

async function memberOf(
  database: Database,
  clusterId: string,
): Promise<{ chain: ChainName; address: string } | null> {
  let id = clusterId;
  for (let step = 0; step < GIVEN_WAY_STEPS_MAX; step += 1) {
    const [held] = await database.query(
      'select chain, address from entity_members where cluster_id = $1 order by address limit 1',
      [id],
    );
    const member = memberRow.optional().parse(held);
    const chain = member === undefined ? null : parseChain(member.chain);
    if (member !== undefined && chain !== null) return { chain, address: member.address };
    const [newer] = await database.query(
      'select cluster_id from entity_merges where former_id = $1 order by noted_at desc limit 1',
      [id],
    );
    if (newer === undefined) return null;
    id = newerRow.parse(newer).cluster_id;
  }
  return null;
}

async function blocksHeld(session: Pick<Session, 'query'>) {
  const rows = await session.query(
    `select from_block::float8, to_block::float8, to_time::float8, change, signatures
     from entity_blocks
     order by from_block`,
  );
  return z.array(blockRange).parse(rows);
}

async function keepBlocks(
  session: Session,
  { ties, objections, joined, paid, ranges }: BlockHarvest,
  now: number,
): Promise<void> {
  await session.script('lock table entity_blocks in share row exclusive mode');
  const all = joinedRanges(await blocksHeld(session), ranges);
  await insertTies(session, ties, now);
  await insertObjections(session, objections);
  await insertJoined(session, joined);
  for (const some of slices([...paid], INSERT_ROWS_MAX)) {
    await session.query(
      `insert into entity_paid (address, times) select * from unnest($1::text[], $2::int[])
       on conflict (address) do update set times = entity_paid.times + excluded.times`,
      [some.map(([address]) => address), some.map(([, times]) => times)],
    );
  }
  await session.query('delete from entity_blocks');
  await session.query(
    `insert into entity_blocks (from_block, to_block, to_time, change, signatures)
     select * from unnest($1::int8[], $2::int8[], $3::int8[], $4::bool[], $5::bool[])`,
    columnsOf(all, ['from_block', 'to_block', 'to_time', 'change', 'signatures']),
  );
}

// Merges new ranges of blocks into the held ones. Adjoining ranges that are alike become one. A
// held block is refused: its payments were counted, and would be counted twice.

/** Blocks came that are held already: another import was faster. */
export class BlocksTaken extends Error {
  constructor() {
    super('another import has taken in some of these blocks meanwhile');
    this.name = 'BlocksTaken';
  }
}

/** The ranges held and the new ones, lowest first, joined where they adjoin. */
export function joinedRanges(
  held: readonly BlockRange[],
  added: readonly BlockRange[],
): BlockRange[] {
  const joined: BlockRange[] = [];
  for (const range of [...held, ...added].sort((a, b) => a.from_block - b.from_block)) {
    const last = joined.at(-1);
    if (last !== undefined && range.from_block <= last.to_block) throw new BlocksTaken();
    const adjoins =
      last?.to_block === range.from_block - 1 &&
      last.change === range.change &&
      last.signatures === range.signatures;
    if (last === undefined || !adjoins) joined.push(range);
    else joined.splice(-1, 1, { ...range, from_block: last.from_block });
  }
  return joined;
}

// In which joint transactions of Bitcoin did an address take part, of the blocks held?

/** The most transactions that are told one by one; all of them are counted. */
const NEWEST_MAX = 100;

/** The joint transactions of an address. */
export async function coinJoinsOf(database: Database, address: string): Promise<CoinJoins> {
  const forms = await database.query(
    `select form, count(*)::int as transactions from entity_coinjoins
     where address = $1 group by form order by form`,
    [address],
  );
  const newest = await database.query(
    `select tx, block::float8, at::float8, form, spent, paid from entity_coinjoins
     where address = $1 order by block desc, tx limit ${NEWEST_MAX}`,
    [address],
  );
  return coinJoins.parse({ forms, newest });
}

/** Keeps who took part in joint transactions. */
export async function insertJoined(
  session: Session,
  joined: BlockHarvest['joined'],
): Promise<void> {
  for (const some of slices(joined, INSERT_ROWS_MAX)) {
    await session.query(
      `insert into entity_coinjoins (address, tx, block, at, form, spent, paid)
       select * from unnest($1::text[], $2::text[], $3::int8[], $4::int8[], $5::text[],
         $6::bool[], $7::bool[]) on conflict do nothing`,
      columnsOf(some, ['address', 'tx', 'block', 'at', 'form', 'spent', 'paid']),
    );
  }
}

// Follows the ties of some addresses, round by round. Every round has a bound; a reached bound is
// reported, and is never taken for the end.

const keyRow = tie.pick({ heuristic: true, key: true }).extend({ addresses: z.number() });
type Key = Omit<z.output<typeof keyRow>, 'addresses'>;
/** The most objections read for one cluster: those of the addresses asked, then the oldest. */
const OBJECTIONS_MAX = 1_000;

/** Follows the ties of some addresses; `cut` where a bound ended it. */
export async function followTies(
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
      reused: await readReused(database, single),
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
    `select t.chain, t.heuristic, t.form, t.key, t.address, t.tx, t.block::float8, t.at::float8,
       t.rests_on, t.whole, t.judged_at::float8
     from entity_ties t
     join unnest($2::text[], $3::text[]) as mine (heuristic, key)
       on mine.heuristic = t.heuristic and mine.key = t.key
     where t.chain = $1 and t.rule = ${TIE_RULE}`,
    [chain, ...columnsOf(keys, ['heuristic', 'key'])],
  );
  return z.array(heldTie).parse(rows);
}

async function objectionsTo(
  database: Database,
  chain: ChainName,
  asked: readonly string[],
  addresses: readonly string[],
) {
  const rows = await database.query(
    `select chain, kind, key, address, tx, block::float8, at::float8, detail
     from entity_objections
     where chain = $1 and address = any($2::text[])
     order by address = any($3::text[]) desc, at, key, address limit ${OBJECTIONS_MAX}`,
    [chain, addresses, asked],
  );
  return z.array(objection).parse(rows);
}

/** Those of some addresses that were ever marked as services. */
export async function servicesIn(
  database: Database,
  chain: ChainName,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query(
    'select address from entity_services where chain = $1 and address = any($2::text[])',
    [chain, [...new Set(addresses)]],
  );
  return addressesIn(rows);
}

async function readReused(
  database: Database,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set();
  const rows = await database.query(
    'select address from entity_paid where times > 1 and address = any($1::text[])',
    [[...new Set(addresses)]],
  );
  return addressesIn(rows);
}

async function examinationsOf(database: Database, chain: ChainName, addresses: readonly string[]) {
  const rows = await database.query(
    `select address, whole, read_at::float8, reason from entity_examinations
     where chain = $1 and address = any($2::text[]) and rule = ${TIE_RULE}`,
    [chain, addresses],
  );
  const parsed = z.array(examination).parse(rows);
  return new Map(parsed.map((one) => [one.address, one]));
}

// Replaces the stored judgements of a subject by those of an examination. A tie is an inference:
// the old judgement is deleted first, so that no tie outlives its reason.

export const INSERT_ROWS_MAX = 2_000;

/** Judgements with each kind of objection that they replace. */
function objectionsUnder<J extends Judged>(judged: readonly J[]) {
  return judged.flatMap((one) => OBJECTIONS_OF[one.heuristic].map((kind) => ({ ...one, kind })));
}

/**
 * Keeps what examinations saw. One that was cut takes nothing from a whole one: what speaks against
 * a link stands, and so does the date to which all was read. `now`: Unix seconds.
 */
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
    [chain, ...columnsOf(keys, ['heuristic', 'key'])],
  );
  await session.query(
    `delete from entity_ties t
     using unnest($2::text[], $3::text[]) as j (heuristic, address)
     where t.chain = $1 and t.heuristic = j.heuristic and t.address = j.address`,
    [chain, ...columnsOf(addresses, ['heuristic', 'address'])],
  );
  await session.query(
    `delete from entity_objections o
     using unnest($2::text[], $3::text[]) as j (kind, key)
     where o.chain = $1 and o.kind = j.kind and o.key = j.key`,
    [chain, ...columnsOf(objectionsUnder(keys), ['kind', 'key'])],
  );
  await session.query(
    `delete from entity_objections o
     using unnest($2::text[], $3::text[]) as j (kind, address)
     where o.chain = $1 and o.kind = j.kind and o.address = j.address`,
    [chain, ...columnsOf(objectionsUnder(addresses), ['kind', 'address'])],
  );
  await session.query(
    'delete from entity_objections where chain = $1 and address = any($2::text[])',
    [chain, examinations.filter(({ whole }) => whole).map(({ address }) => address)],
  );
  await insertTies(session, ties, now);
  await insertObjections(session, objections);
  await session.query(
    `insert into entity_services (chain, address, why)
     select $1, * from unnest($2::text[], $3::text[]) on conflict do nothing`,
    [chain, ...columnsOf(services, ['address', 'why'])],
  );
  await session.query(
    `insert into entity_examinations (chain, address, whole, read_at, reason, rule)
     select $1, *, $6::int from unnest($2::text[], $3::bool[], $4::int8[], $5::text[])
     on conflict (chain, address) do update
     set whole = excluded.whole, read_at = excluded.read_at, reason = excluded.reason,
       rule = excluded.rule
     where entity_examinations.rule < excluded.rule
       or entity_examinations.read_at <= excluded.read_at
         and (excluded.whole or not entity_examinations.whole)`,
    [chain, ...columnsOf(examinations, ['address', 'whole', 'read_at', 'reason']), TIE_RULE],
  );
}

/** Adds ties; one that is held takes the date and the rule of now. */
export async function insertTies(
  session: Session,
  ties: readonly Tie[],
  now: number,
): Promise<void> {
  const byName = new Map(
    ties.map((one) => {
      const { chain, heuristic, key, address, tx } = one;
      return [JSON.stringify([chain, heuristic, key, address, tx]), one];
    }),
  );
  for (const some of slices([...byName.values()], INSERT_ROWS_MAX)) {
    await session.query(
      `insert into entity_ties (chain, heuristic, form, key, address, tx, block, at, rests_on,
         whole, rule, judged_at)
       select *, $11::int, $12::int8 from unnest($1::text[], $2::text[], $3::text[], $4::text[],
         $5::text[], $6::text[], $7::int8[], $8::int8[], $9::text[], $10::bool[])
       on conflict (chain, heuristic, key, address, tx) do update
       set form = excluded.form, rests_on = excluded.rests_on, whole = excluded.whole,
         rule = excluded.rule, judged_at = excluded.judged_at`,
      [
        ...columnsOf(some, ['chain', 'heuristic', 'form', 'key', 'address', 'tx', 'block', 'at']),
        ...columnsOf(some, ['rests_on', 'whole']),
        TIE_RULE,
        now,
      ],
    );
  }
}

/** Adds what speaks against links. */
export async function insertObjections(
  session: Session,
  objections: readonly Objection[],
): Promise<void> {
  for (const some of slices(objections, INSERT_ROWS_MAX)) {
    await session.query(
      `insert into entity_objections (chain, kind, key, address, tx, block, at, detail)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
         $6::int8[], $7::int8[], $8::text[]) on conflict do nothing`,
      columnsOf(some, ['chain', 'kind', 'key', 'address', 'tx', 'block', 'at', 'detail']),
    );
  }
}

// Is what is held of the ties of an address all there is, so that it may be said to be linked to
// nobody? The store knows what was seen alone: it answers as far as whoever looked came.

/** The held ties, complete only if everything that could have tied was read completely. */
export function coveredTies<T>(
  held: Partly<T, HeldTiesPort>,
  looked: Partly<unknown, never>,
): Partly<T, EntityClustersPort> {
  const told = looked instanceof Read ? held : weaken(held, looked.why);
  return mintAs('entity_clusters', told);
}
