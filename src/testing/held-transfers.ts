// Reads the successful transfers of the followed chain `ethereum` from a warehouse, in the form in
// which src/testing/anvil-reading.ts writes those of the node.

import { z } from 'zod';
import type { Warehouse } from '../stores/warehouse/engine/executor.ts';
import { readHeld, tipRows } from '../stores/warehouse/transfers/held.ts';

const ROW = z.tuple([z.string(), z.string(), z.string(), z.string(), z.string(), z.string()]);
const CALL = { timeoutMs: 10_000 };

/** The rows, and up to which block they are final. */
export async function readHeldTransfers(warehouse: Warehouse) {
  const { followed } = await readHeld(warehouse, CALL);
  const [only] = followed;
  const finalBlock = only === undefined ? null : only.final_block;
  const columns = ['block_hash', 'tx_hash', 'token', 'from_address', 'to_address'];
  const [hash, tx, token, from, to] = columns.map((name) => `lower(hex(${name}))`);
  const what = `${hash}, ${tx}, concat(toString(kind), ' ', ${token}), ${from}, ${to},
    toString(raw_amount)`;
  const sql = `SELECT ${what} FROM transfers FINAL WHERE success = 2
    UNION ALL SELECT ${what} FROM tip_transfers FINAL WHERE ${tipRows(followed)} AND success = 2`;
  const rows = await warehouse.query(sql, { ...CALL, row: ROW, tuples: true });
  return { finalBlock, rows: rows.map(rowText) };
}

function rowText([hash, tx, kindAndToken, from, to, amount]: z.infer<typeof ROW>): string {
  const [kind, token] = kindAndToken.split(' ');
  const address = token === '' ? '' : `0x${token}`;
  return [`0x${hash}`, `0x${tx}`, kind, address, `0x${from}`, `0x${to}`, amount].join(' ');
}
