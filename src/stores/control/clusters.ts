// How are the ties between addresses kept in the control database?
// A cluster that was cut is a part. In the simulated world every reading of ties is one: made-up
// history denies nothing.

import { z } from 'zod';
import { type ChainName, parseChain } from '../../chain/chain.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { part, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  BlockHarvest,
  ClusterStore,
  HeldTiesPort,
} from '../../ports/entities/cluster-store.ts';
import { BlocksTaken, joinedRanges } from './cluster-block-ranges.ts';
import { coinJoinsOf, insertJoined } from './cluster-coinjoins.ts';
import { followed, servicesIn } from './cluster-followed-ties.ts';
import { INSERT_ROWS_MAX, insertObjections, insertTies, keepSeen } from './cluster-kept-ties.ts';
import { coveredTies } from './covered-ties.ts';
import {
  type ControlContext,
  type ControlReadings,
  controlReadings,
} from './engine/control-readings.ts';
import type { Database, Session } from './engine/database.ts';

const PORT = 'held_ties';
const WHAT = 'The table of clusters';
/** How far ids that gave way are followed: each step is an older cluster. */
const GIVEN_WAY_STEPS_MAX = 20;
/** The most ids that are told to have given way to one. */
const GIVEN_WAY_MAX = 100;
/** Everything of some blocks is kept in one transaction. */
const KEEP_TIMEOUT_MS = 120_000;

const rangeRow = z.object({
  from_block: z.coerce.number(),
  to_block: z.coerce.number(),
  to_time: z.coerce.number(),
  change: z.boolean(),
  signatures: z.boolean(),
});

type Tools = {
  readonly database: Database;
  readonly context: ControlContext;
  readonly readings: ControlReadings<HeldTiesPort>;
};

/** The ties over the control database. */
export function clusterStore(database: Database, context: ControlContext): ClusterStore {
  const tools = { database, context, readings: controlReadings(PORT, WHAT, context) };
  return { ...tiesIn(tools), ...clustersIn(tools), ...blocksIn(tools), covered: coveredTies };
}

type TiesIn = Pick<ClusterStore, 'tiedTo' | 'servicesAmong' | 'keep'>;

function tiesIn({ database, context, readings }: Tools): TiesIn {
  return {
    tiedTo: async (chain, addresses, limits) => {
      const reading = await readings.ask(() => followed(database, chain, addresses, limits));
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
  };
}

type ClustersIn = Pick<ClusterStore, 'settle' | 'givenWay' | 'memberOf'>;

function clustersIn({ database, readings }: Tools): ClustersIn {
  return {
    settle: (chain, clusters, now) =>
      readings.ask(async () => {
        await database.transaction(async (session) => {
          for (const cluster of clusters) await settleOne(session, chain, cluster, now);
        });
        return null;
      }),
    givenWay: (chain, clusterId) =>
      readings.ask(async () => {
        const rows = await database.query<{ former_id: string; cluster_id: string; at: number }>(
          `select former_id, cluster_id, noted_at::float8 as at from entity_merges
           where chain = $1 and cluster_id = $2
           order by noted_at desc, former_id limit ${GIVEN_WAY_MAX}`,
          [chain, clusterId],
        );
        return rows.map(({ at, ...ids }) => ({ ...ids, noted_at: at }));
      }),
    memberOf: (clusterId) => readings.ask(() => memberOf(database, clusterId)),
  };
}

type BlocksIn = Pick<ClusterStore, 'blocksHeld' | 'paidBefore' | 'coinJoinsOf' | 'keepBlocks'>;

function blocksIn({ database, context, readings }: Tools): BlocksIn {
  return {
    blocksHeld: () => readings.ask(() => blocksHeld(database)),
    paidBefore: (addresses) =>
      readings.ask(async () => {
        const rows = await database.query<{ address: string }>(
          'select address from entity_paid where address = any($1::text[])',
          [addresses],
        );
        return new Set(rows.map(({ address }) => address));
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
    const [member] = await database.query<{ chain: string; address: string }>(
      'select chain, address from entity_members where cluster_id = $1 order by address limit 1',
      [id],
    );
    const chain = member === undefined ? null : parseChain(member.chain);
    if (member !== undefined && chain !== null) return { chain, address: member.address };
    const [newer] = await database.query<{ cluster_id: string }>(
      'select cluster_id from entity_merges where former_id = $1 order by noted_at desc limit 1',
      [id],
    );
    if (newer === undefined) return null;
    id = newer.cluster_id;
  }
  return null;
}

async function blocksHeld(session: Pick<Session, 'query'>) {
  const rows = await session.query(
    `select from_block, to_block, to_time, change, signatures from entity_blocks
     order by from_block`,
  );
  return z.array(rangeRow).parse(rows);
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
  const owners = [...paid];
  for (let from = 0; from < owners.length; from += INSERT_ROWS_MAX) {
    const some = owners.slice(from, from + INSERT_ROWS_MAX);
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
    [
      all.map((one) => one.from_block),
      all.map((one) => one.to_block),
      all.map((one) => one.to_time),
      all.map((one) => one.change),
      all.map((one) => one.signatures),
    ],
  );
}
