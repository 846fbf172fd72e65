// How is what was wrongly imported taken out again, so that nothing rests on it any more?
// Coverage first, which is what a negative rests on; then, once no read that began before can still
// rest on it, the rows. What a follower vouches for stays: it is of the chain itself.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import type { TransferKind } from '../../../chain/transfer.ts';
import { type Reading, read } from '../../../evidence/reading.ts';
import type {
  ForgetOrder,
  Forgetting,
  Forgotten,
  Staying,
  Withdrawn,
} from '../../../ports/indexing/forgetting.ts';
import type { TransferStorePort } from '../../../ports/indexing/transfer-store.ts';
import { type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { insertRows, WRITE } from './append.ts';
import { keepCounts, markChanged } from './counts.ts';
import { degreeCount } from './degrees.ts';
import { deleteFacts, deleteRows, type Going, goingTransfers } from './forget-rows.ts';
import { unreadFor, warehouseSource } from './warehouse-reading.ts';

const PORT = 'transfer_store';
/**
 * No read goes on for longer: what is held is kept for a second, and each of the statements after
 * it has fifteen. Rows that a read may still rest on are not touched before.
 */
export const READS_END_MS = 61_000;
/** Ranges that are withdrawn or cut at once. */
const RANGES_MAX = 100_000;
const KINDS = ['native', 'internal', 'token'] as const satisfies readonly TransferKind[];

const coverageRow = z.tuple([
  z.enum(KINDS),
  ...[z.coerce.number(), z.coerce.number(), z.string(), z.number(), z.number()],
] as const);
type CoverageRow = z.infer<typeof coverageRow>;
const followedRow = z.tuple([z.coerce.number(), z.array(z.enum(KINDS))]);
const one = z.tuple([z.coerce.number()]);

/**
 * Forgetting in a warehouse. `now` is Unix seconds; `settled` resolves when no read that began
 * before it was called is under way any more, or when the signal is aborted.
 */
export function warehouseForgetting(
  warehouse: Warehouse,
  now: () => number,
  settled: (signal: AbortSignal) => Promise<void>,
): Forgetting {
  async function asked<T>(work: () => Promise<T>): Promise<Reading<T, TransferStorePort>> {
    try {
      const value = await work();
      return read(value, { port: PORT, source: warehouseSource(now(), false) });
    } catch (error) {
      return unreadFor(PORT, error);
    }
  }

  /** Waits until no read rests on what was withdrawn; whoever stops it keeps the rows. */
  async function unread(signal: AbortSignal): Promise<void> {
    await settled(signal);
    if (signal.aborted) throw new WarehouseUnavailable('aborted');
  }

  async function forget(order: ForgetOrder, signal: AbortSignal): Promise<Forgotten> {
    const { chain } = order;
    const { going, planned } = await planOf(warehouse, order);
    if (going.length === 0) return planned;
    await withdraw(warehouse, order);
    await unread(signal);
    // Marked before and after, so that no count of what was there is taken for fresh.
    await markChanged(warehouse, chain, order.from_block, order.to_block);
    await deleteFacts(warehouse, chain, going);
    await markChanged(warehouse, chain, order.from_block, order.to_block);
    // A live read may have written before its rows went, and recorded its range after.
    await unread(signal);
    await deleteRows(warehouse, 'address_coverage', touching(order));
    await deleteRows(warehouse, 'degrees', `chain = '${chain}'`);
    await degreeCount(warehouse).count();
    await keepCounts(warehouse);
    return planned;
  }

  return {
    plan: (order) => asked(async () => (await planOf(warehouse, order)).planned),
    forget: (order, signal) => asked(() => forget(order, signal)),
  };
}

type Plan = { readonly going: readonly Going[]; readonly planned: Forgotten };

async function planOf(warehouse: Warehouse, order: ForgetOrder): Promise<Plan> {
  const { chain, from_block, to_block } = order;
  const following = await followingOf(warehouse, chain);
  const going = goingOf(order, following);
  const covered = await coverageOf(warehouse, order);
  const withdrawn = covered.map(([kind, from, to, source]): Withdrawn => {
    const range = { from_block: Math.max(from, from_block), to_block: Math.min(to, to_block) };
    return { kind, ...range, source };
  });
  const addresses = await countOf(
    warehouse,
    `SELECT count() FROM address_coverage FINAL WHERE ${touching(order)}`,
  );
  const transfers =
    going.length === 0
      ? 0
      : await countOf(
          warehouse,
          `SELECT count() FROM transfers FINAL WHERE ${goingTransfers(chain, going)}`,
        );
  const staying = stayingOf(order, following);
  const planned = { chain, from_block, to_block, transfers, withdrawn, addresses, staying };
  return { going, planned };
}

type Following = { readonly from_block: number; readonly kinds: readonly TransferKind[] };

async function followingOf(warehouse: Warehouse, chain: ChainName): Promise<Following | null> {
  const sql = `SELECT from_block, kinds FROM following FINAL WHERE chain = '${chain}'`;
  const [row] = await warehouse.query(sql, { ...WRITE, row: followedRow, tuples: true });
  return row === undefined ? null : { from_block: row[0], kinds: row[1] };
}

/** Where it follows, all blocks are the follower's, those that become final meanwhile too. */
function goingOf({ from_block, to_block }: ForgetOrder, following: Following | null): Going[] {
  const all: Going = { from_block, to_block, kinds: KINDS, whole: true };
  if (following === null || following.from_block > to_block) return [all];
  const kinds = KINDS.filter((kind) => !following.kinds.includes(kind));
  const start = Math.max(from_block, following.from_block);
  const followed = { from_block: start, to_block, kinds, whole: false };
  return [
    ...(start > from_block ? [{ ...all, to_block: start - 1 }] : []),
    ...(kinds.length > 0 ? [followed] : []),
  ];
}

function stayingOf({ from_block, to_block }: ForgetOrder, following: Following | null): Staying[] {
  const followed = following === null ? [] : [following];
  return followed
    .filter((one) => one.from_block <= to_block)
    .map((one) => {
      return { ...one, from_block: Math.max(from_block, one.from_block), to_block };
    });
}

function touching({ chain, from_block, to_block }: ForgetOrder): string {
  return `chain = '${chain}' AND from_block <= ${to_block} AND to_block >= ${from_block}`;
}

async function coverageOf(
  warehouse: Warehouse,
  order: ForgetOrder,
): Promise<readonly CoverageRow[]> {
  const sql = `SELECT toString(kind), from_block, to_block, source, observed, max(to_time)
    FROM coverage WHERE ${touching(order)}
    GROUP BY chain, kind, from_block, to_block, source, observed ORDER BY kind, from_block`;
  const query = { ...WRITE, row: coverageRow, tuples: true, rowsMax: RANGES_MAX };
  return warehouse.query(sql, query);
}

async function countOf(warehouse: Warehouse, sql: string): Promise<number> {
  const [row] = await warehouse.query(sql, { ...WRITE, row: one, tuples: true });
  if (row === undefined) throw new RangeError('a count has one row');
  return row[0];
}

/** What is held in full beside these blocks is recorded anew before the ranges are taken away. */
async function withdraw(warehouse: Warehouse, order: ForgetOrder): Promise<void> {
  const { chain, from_block, to_block } = order;
  const rows = await coverageOf(warehouse, order);
  const rest: (string | number)[][] = [];
  for (const [kind, from, to, source, observed, to_time] of rows) {
    const before = from < from_block ? await lastTime(warehouse, chain, from_block - 1) : null;
    if (before !== null) rest.push([chain, kind, from, from_block - 1, source, observed, before]);
    if (to > to_block) rest.push([chain, kind, to_block + 1, to, source, observed, to_time]);
  }
  const columns = ['chain', 'kind', 'from_block', 'to_block', 'source', 'observed', 'to_time'];
  await insertRows(warehouse, 'coverage', { columns, rows: rest });
  await deleteRows(warehouse, 'coverage', touching(order));
  await deleteRows(warehouse, 'address_coverage', touching(order));
}

/** The last time that is known of a block up to this one; without one its range is not kept. */
async function lastTime(
  warehouse: Warehouse,
  chain: ChainName,
  block: number,
): Promise<number | null> {
  const headers = `SELECT max(time) FROM (SELECT time FROM blocks
    WHERE chain = '${chain}' AND number <= ${block} ORDER BY number DESC LIMIT 1)`;
  const transfers = headers
    .replace('SELECT time FROM blocks', 'SELECT block_time AS time FROM transfers')
    .replaceAll('number', 'block');
  const sql = `SELECT greatest((${headers}), (${transfers}))`;
  const time = await countOf(warehouse, sql);
  return time === 0 ? null : time;
}
