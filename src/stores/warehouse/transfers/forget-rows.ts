// Which rows of which tables are those of some blocks, and how are they deleted?
// Each statement waits until its rows are gone, and may be given again.

import { z } from 'zod';
import type { ChainName } from '../../../chain/chain.ts';
import type { TransferKind } from '../../../chain/transfer.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { FINALITY } from './fact-rows.ts';

/** Blocks, both ends included, of which the rows of some kinds go. */
export type Going = {
  readonly from_block: number;
  readonly to_block: number;
  readonly kinds: readonly TransferKind[];
  /** Whether nobody vouches for any kind of them: headers, signers and creations go too. */
  readonly whole: boolean;
};

/** How long one statement may rewrite a table. */
const DELETE: Call = { timeoutMs: 3_600_000 };

const one = z.tuple([z.coerce.number()]);
const engineRow = z.tuple([z.string()]);

/** The numbers that kinds have in the tables. */
const KIND_CODES: Readonly<Record<TransferKind, number>> = {
  native: 1,
  internal: 2,
  token: 3,
  nft: 4,
};

const SIDE_KIND = 'bitAnd(reinterpretAsUInt8(substring(id, 1, 1)), 7)';
const SIDE_BLOCK = 'reinterpretAsUInt64(reverse(substring(detail, 4, 8)))';

/**
 * Deletes rows where there are any: asking is cheaper than rewriting parts for nothing. The
 * condition is of the row alone. Each replica of a cluster works out for itself what to delete, and
 * whenever it comes to it: one that asks other rows would delete others on each.
 */
export async function deleteRows(
  warehouse: Warehouse,
  table: string,
  where: string,
): Promise<void> {
  if (/\bSELECT\b/i.test(where)) throw new RangeError('a row is deleted by what it says itself');
  const some = `SELECT 1 FROM ${table} WHERE ${where} LIMIT 1`;
  if ((await warehouse.query(some, { ...DELETE, row: one, tuples: true })).length === 0) return;
  const target = await partsOf(warehouse, table);
  // Answered once each replica has done it, however long the slowest takes.
  const settings = `mutations_sync = 2, distributed_ddl_task_timeout = ${DELETE.timeoutMs / 1_000}`;
  const sql = `ALTER TABLE ${target} DELETE WHERE ${where} SETTINGS ${settings}`;
  await warehouse.command(sql, DELETE);
}

/** In a cluster the rows of a sharded table lie in the parts of it that each node has. */
async function partsOf(warehouse: Warehouse, table: string): Promise<string> {
  const sql = `SELECT engine FROM system.tables
    WHERE database = currentDatabase() AND name = {table:String}`;
  const params = { table };
  const [row] = await warehouse.query(sql, { ...DELETE, row: engineRow, tuples: true, params });
  return row?.[0] === 'Distributed' ? `${table}_local ON CLUSTER '{cluster}'` : table;
}

/** The condition for transfers in `going`; `kind` and `block` are expressions of the table. */
function within(going: readonly Going[], kind: string, block: string): string {
  const moved = going.filter(({ kinds }) => kinds.length > 0);
  if (moved.length === 0) return 'false';
  const each = moved.map(({ from_block, to_block, kinds }) => {
    const codes = kinds.map((name) => KIND_CODES[name]).join(', ');
    return `(${kind} IN (${codes}) AND ${block} BETWEEN ${from_block} AND ${to_block})`;
  });
  return `(${each.join(' OR ')})`;
}

/** The condition for transfers of `transfers`. */
export function goingTransfers(chain: ChainName, going: readonly Going[]): string {
  return `chain = '${chain}' AND ${within(going, 'toUInt8(kind)', 'block')}`;
}

/** Deletes the facts of blocks, the sides of addresses first: they are what is read. */
export async function deleteFacts(
  warehouse: Warehouse,
  chain: ChainName,
  going: readonly Going[],
): Promise<void> {
  const ofChain = `chain = '${chain}'`;
  await deleteRows(warehouse, 'sides', `${ofChain} AND ${within(going, SIDE_KIND, SIDE_BLOCK)}`);
  await deleteRows(warehouse, 'transfers', goingTransfers(chain, going));
  const whole = going.filter((one) => one.whole);
  if (whole.length === 0) return;
  const blocks = (name: string) =>
    whole.map((one) => `${name} BETWEEN ${one.from_block} AND ${one.to_block}`).join(' OR ');
  const imported = `finality < ${FINALITY.followed}`;
  await deleteRows(warehouse, 'creators', `${ofChain} AND (${blocks('block')})`);
  await deleteRows(warehouse, 'creations', `${ofChain} AND (${blocks('block')})`);
  await deleteRows(warehouse, 'transactions', `${ofChain} AND (${blocks('block')})`);
  await deleteRows(warehouse, 'blocks', `${ofChain} AND ${imported} AND (${blocks('number')})`);
}
