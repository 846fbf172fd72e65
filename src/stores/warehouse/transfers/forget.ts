// How is what was wrongly imported taken out again, so that nothing rests on it any more?
// Coverage first, which is what a negative rests on; then, once no read that began before can still
// rest on it, the rows. What somebody else vouches for stays.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import { type Reading, read } from '../../../evidence/reading.ts';
import type {
  ForgetOrder,
  Forgetting,
  Forgotten,
  Staying,
  Withdrawn,
} from '../../../ports/indexing/imports.ts';
import type { TransferStorePort } from '../../../ports/indexing/transfer-store.ts';
import { type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { insertRows, WRITE } from './append.ts';
import { textHex } from './bytes.ts';
import { keepCounts, markChanged } from './counts.ts';
import { degreeCount } from './degrees.ts';
import {
  type CoverageRow,
  goingCoverage,
  goingOf,
  KINDS,
  runsOf,
  type Target,
  targetOf,
  touching,
  vouchedOf,
} from './forget-plan.ts';
import { deleteFacts, deleteRows, type Going, goingTransfers } from './forget-rows.ts';
import { importLedger } from './imports.ts';
import { unreadFor, warehouseSource } from './warehouse-reading.ts';

const PORT = 'transfer_store';
/**
 * No read goes on for longer: what is held is kept for a second, and each of the statements after
 * it has fifteen. Rows that a read may still rest on are not touched before.
 */
export const READS_END_MS = 61_000;

const one = z.tuple([z.coerce.number()]);
/** Ranges that are named in one statement. */
const NAMED_MAX = 1_000;

/**
 * Forgetting in a warehouse. `now` is Unix seconds; `settled` resolves when no read that began
 * before it was called is under way any more, or when the signal is aborted.
 */
export function warehouseForgetting(
  warehouse: Warehouse,
  now: () => number,
  settled: (signal: AbortSignal) => Promise<void>,
): Forgetting {
  const ledger = importLedger(warehouse, now);

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

  async function plan(order: ForgetOrder): Promise<Forgotten | null> {
    const target = await targetOf(warehouse, order);
    return target === null ? null : plannedOf(warehouse, target);
  }

  async function forget(order: ForgetOrder, signal: AbortSignal): Promise<Forgotten | null> {
    const target = await targetOf(warehouse, order);
    if (target === null) return null;
    const planned = await plannedOf(warehouse, target);
    const { chain, import_id, from_block, to_block } = target;
    // One that is under way does not come to its end: what it counts is no longer there.
    for (const standing of await ledger.standing(chain)) {
      const isThis = standing.import_id === import_id;
      if (isThis) await ledger.change(standing.import_id, 'forgetting');
      else if (import_id === null && standing.state === 'begun') {
        await ledger.change(standing.import_id, 'forgotten');
      }
    }
    await withdraw(warehouse, target);
    await unread(signal);
    // Whoever was just about to record coverage has done so by now.
    await withdraw(warehouse, target);
    // Marked before and after, so that no count of what was there is taken for fresh.
    await markChanged(warehouse, chain, from_block, to_block);
    for await (const going of goingIn(warehouse, target, new Map())) {
      await deleteFacts(warehouse, chain, going);
    }
    await markChanged(warehouse, chain, from_block, to_block);
    // A live read may have written before its rows went, and recorded its range after.
    await unread(signal);
    await deleteRows(warehouse, 'address_coverage', touching(target));
    await deleteRows(warehouse, 'degrees', `chain = '${chain}'`);
    await degreeCount(warehouse).count();
    await keepCounts(warehouse);
    if (import_id !== null) {
      const own = `import_id = '${import_id}'`;
      await deleteRows(warehouse, 'import_coverage', own);
      await ledger.change(import_id, 'forgotten');
      await deleteRows(warehouse, 'import_blocks', own);
    }
    return planned;
  }

  return {
    plan: (order) => asked(() => plan(order)),
    forget: (order, signal) => asked(() => forget(order, signal)),
  };
}

/** What goes, some runs of blocks at a time. */
async function* goingIn(
  warehouse: Warehouse,
  target: Target,
  staying: Map<string, number>,
): AsyncGenerator<readonly Going[]> {
  const vouched = await vouchedOf(warehouse, target, await goingCoverage(warehouse, target));
  let above = -1;
  // Each turn is at least one run further, so it ends with the last of them.
  for (;;) {
    const runs = await runsOf(warehouse, target, above);
    const last = runs.at(-1);
    if (last === undefined) return;
    above = last.to;
    const found = goingOf(runs, vouched);
    for (const [key, blocks] of found.staying) {
      const before = staying.get(key);
      staying.set(key, before === undefined ? blocks : before + blocks);
    }
    const going = found.going.filter(({ kinds, whole }) => kinds.length > 0 || whole);
    if (going.length > 0) yield going;
  }
}

async function plannedOf(warehouse: Warehouse, target: Target): Promise<Forgotten> {
  const { chain, from_block, to_block } = target;
  const covered = await goingCoverage(warehouse, target);
  const withdrawn = covered.map(([kind, from, to, source]): Withdrawn => {
    const range = { from_block: Math.max(from, from_block), to_block: Math.min(to, to_block) };
    return { kind, ...range, source };
  });
  const ranges = `SELECT count() FROM address_coverage FINAL WHERE ${touching(target)}`;
  const addresses = await countOf(warehouse, ranges);
  const stays = new Map<string, number>();
  let transfers = 0;
  for await (const going of goingIn(warehouse, target, stays)) {
    const where = goingTransfers(chain, going);
    transfers += await countOf(warehouse, `SELECT count() FROM transfers FINAL WHERE ${where}`);
  }
  const staying = BECAUSE.flatMap((because) =>
    KINDS.flatMap((kind): Staying[] => {
      const blocks = stays.get(`${because} ${kind}`);
      return blocks === undefined ? [] : [{ because, kind, blocks }];
    }),
  );
  return { ...target, transfers, withdrawn, addresses, staying };
}

const BECAUSE = ['followed', 'held_in_full', 'another_import'] as const;

async function countOf(warehouse: Warehouse, sql: string): Promise<number> {
  const [row] = await warehouse.query(sql, { ...WRITE, row: one, tuples: true });
  if (row === undefined) throw new RangeError('a count has one row');
  return row[0];
}

/** What is held in full beside these blocks is recorded anew before the ranges are taken away. */
async function withdraw(warehouse: Warehouse, target: Target): Promise<void> {
  const { chain, import_id, from_block, to_block } = target;
  const rows = await goingCoverage(warehouse, target);
  const rest: (string | number)[][] = [];
  for (const [kind, from, to, source, observed, to_time] of import_id === null ? rows : []) {
    const before = from < from_block ? await lastTime(warehouse, chain, from_block - 1) : null;
    if (before !== null) rest.push([chain, kind, from, from_block - 1, source, observed, before]);
    if (to > to_block) rest.push([chain, kind, to_block + 1, to, source, observed, to_time]);
  }
  const columns = ['chain', 'kind', 'from_block', 'to_block', 'source', 'observed', 'to_time'];
  await insertRows(warehouse, 'coverage', { columns, rows: rest });
  if (import_id === null) await deleteRows(warehouse, 'coverage', touching(target));
  else await deleteNamed(warehouse, chain, rows);
  await deleteRows(warehouse, 'address_coverage', touching(target));
}

/** Deletes these rows of coverage and no other. */
async function deleteNamed(
  warehouse: Warehouse,
  chain: ChainName,
  rows: readonly CoverageRow[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += NAMED_MAX) {
    const named = rows.slice(at, at + NAMED_MAX).map(([kind, from, to, source, observed]) => {
      return `('${kind}', ${from}, ${to}, unhex('${textHex(source)}'), ${observed})`;
    });
    const columns = '(toString(kind), from_block, to_block, source, observed)';
    await deleteRows(
      warehouse,
      'coverage',
      `chain = '${chain}' AND ${columns} IN (${named.join(', ')})`,
    );
  }
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
