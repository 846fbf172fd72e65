// Reads the payments to an address on a chain between two moments, from the warehouse. The reading
// is complete only if every transfer of every kind between them is held, for the whole chain: a
// range of one address vouches for a provider's list, not for the contracts that pay.

import { z } from 'zod';
import { PAYMENT_KINDS } from '../../../chain/transfer.ts';

import { type Why, why } from '../../../evidence/reasons.ts';
import type { BridgeArrivals, PaymentsFound, PaymentsQuery } from '../../../ports/bridges.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { type HeldBlocks, type HeldBlocksOf, readUnderHeld } from '../transfers/held.ts';
import { unreadFor, warehouseAnswer } from '../transfers/imports.ts';
import { readPaid } from './warehouse-rows.ts';

const PORT = 'bridge_arrivals';
/** The most payments of one recipient that are read. */
const PAYMENTS_MAX = 200;

/** Payments to recipients, from a warehouse; a tip is fresh up to `tipMaxAgeS`. */
export function warehousePaidTo(
  warehouse: Warehouse,
  {
    now,
    tipMaxAgeS,
    timeMs,
  }: { readonly now: () => number; readonly tipMaxAgeS: number; readonly timeMs: number },
): Pick<BridgeArrivals, 'paidTo'> {
  return {
    paidTo: async (asked, signal) => {
      const call: Call = { timeoutMs: timeMs, signal };
      try {
        const { chain, recipient: address, since, until } = asked;
        const { reach, rows, more } = await readUnderHeld(warehouse, call, async (held) => {
          const reach = await readReach(warehouse, held, asked, call);
          const wanted = { chain, address, since, until, rowsMax: PAYMENTS_MAX };
          return { reach, ...(await readPaid(warehouse, held, wanted, call)) };
        });
        const simulated = rows.some(({ observed }) => !observed) || reach.simulated;
        const head_time = reach.head_time === null ? now() : reach.head_time;
        const told: PaymentsFound = {
          payments: rows
            .filter(({ transfer }) => transfer.kind !== 'nft')
            .map(({ transfer }) => {
              const { tx, block, at, from, token, raw_amount: amount } = transfer;
              return { tx, block, at, from, token, amount };
            }),
          head_time,
        };
        const isFresh =
          reach.head_time !== null && head_time >= Math.min(until, now() - tipMaxAgeS);
        let cut: Why | null = null;
        if (more) cut = why('payments_cut', { limit: String(PAYMENTS_MAX), chain });
        else if (!isFresh) cut = why('arrivals_not_held', { chain });
        return warehouseAnswer(PORT, told, { as_of: head_time, simulated }, cut);
      } catch (error) {
        return unreadFor(PORT, error);
      }
    },
  };
}

/** How far all kinds of a chain's transfers are held; `null` where not from the first moment on. */
type Reach = { readonly head_time: number | null; readonly simulated: boolean };

const NOT_HELD: Reach = { head_time: null, simulated: false };
const timeRow = z.tuple([z.number()]);

/** How far a chain is held from one moment to another, in Unix seconds. */
export async function readReach(
  warehouse: Warehouse,
  { ranges }: HeldBlocksOf,
  { chain, since, until }: Pick<PaymentsQuery, 'chain' | 'since' | 'until'>,
  call: Call,
): Promise<Reach> {
  const reached: HeldBlocks[] = [];
  for (const kind of PAYMENT_KINDS) {
    const own = ranges.filter((one) => one.chain === chain && one.kind === kind);
    const ordered = own.toSorted((a, b) => a.to_block - b.to_block);
    // The first that reaches that moment, else the one that comes nearest.
    const range = ordered.find(({ to_time }) => to_time >= until) ?? ordered.at(-1);
    if (range === undefined) return NOT_HELD;
    reached.push(range);
  }
  const simulated = reached.some(({ origin }) => origin === 'simulated');
  const late = reached.filter(({ from_first }) => !from_first).map((one) => one.from_block);
  if (late.length > 0) {
    // That block is no newer than the first transfer from it on.
    const sql = `SELECT block_time FROM transfers
      WHERE chain = {chain:String} AND block >= {block:UInt64} ORDER BY chain, block LIMIT 1`;
    const params = { chain, block: Math.max(...late) };
    const [first] = await warehouse.query(sql, { ...call, row: timeRow, tuples: true, params });
    if (first === undefined || first[0] > since) return { head_time: null, simulated };
  }
  return { head_time: Math.min(...reached.map(({ to_time }) => to_time)), simulated };
}
