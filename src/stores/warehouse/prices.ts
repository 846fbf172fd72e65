// Stores the prices of coins. A row is the price of one coin by ten minutes; of two rows the last
// one read stands.

import { z } from 'zod';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { collect, rowsUnder } from '../../evidence/measure.ts';
import { type PriceAsk, type PriceTable, priceTime, type ReadPrice } from '../../ports/history.ts';
import type { Warehouse } from './engine/executor.ts';
import { addressHex, addressOf, insertRows } from './transfers/append.ts';
import { warehouseReadings } from './transfers/imports.ts';

const READ_TIMEOUT_MS = 5_000;

const priceRow = z.tuple([
  z.enum(CHAIN_NAMES),
  z.string(),
  z.number(),
  z.string(),
  z.string(),
  z.number(),
]);

// The three lists are of one length: the questions, by the key of the table.
const HELD = `SELECT toString(chain), lower(hex(token)), at, toString(argMax(usd, read_at)),
  argMax(basis, read_at), max(read_at)
FROM prices
WHERE (chain, token, at) IN (
  SELECT one.1, unhex(one.2), one.3 FROM (
    SELECT arrayJoin(arrayZip({chains:Array(String)}, {tokens:Array(String)},
      {times:Array(UInt32)})) AS one))
GROUP BY chain, token, at`;

/** The table of prices in a warehouse. `now` is Unix seconds. */
export function warehousePrices(
  warehouse: Warehouse,
  now: () => number,
  simulated: boolean,
): PriceTable {
  const ask = warehouseReadings('prices', now, simulated);
  return {
    held: (asks, signal) =>
      ask(async () => {
        const byKey = new Map<string, PriceAsk[]>();
        for (const ask of asks) collect(byKey, keyOf(ask), ask);
        const keys = [...byKey.values()].flatMap(([first]) => (first === undefined ? [] : [first]));
        const params = {
          chains: keys.map(({ chain }) => chain),
          tokens: keys.map(({ token }) => addressHex(token)),
          times: keys.map(({ at }) => priceTime(at)),
        };
        const query = { timeoutMs: READ_TIMEOUT_MS, signal, row: priceRow, tuples: true, params };
        const rows = await warehouse.query(HELD, query);
        return rows.flatMap(([chain, token, at, usd, basis, read_at]): ReadPrice[] => {
          const key = keyOf({ chain, token: token === '' ? null : addressOf(token), at });
          return rowsUnder(byKey, key).map((ask) => ({ ask, price: { usd, basis }, read_at }));
        });
      }),
    keep: (rows) =>
      ask(async () => {
        const columns = ['chain', 'token_hex', 'at', 'usd', 'basis', 'read_at'];
        await insertRows(warehouse, 'prices', {
          columns,
          rows: rows.map(({ ask: { chain, token, at }, price: { usd, basis }, read_at }) => [
            ...[chain, addressHex(token), priceTime(at), usd, basis, Math.floor(read_at)],
          ]),
        });
        return true as const;
      }),
  };
}

function keyOf({ chain, token, at }: PriceAsk): string {
  return `${chain} ${addressHex(token)} ${priceTime(at)}`;
}
