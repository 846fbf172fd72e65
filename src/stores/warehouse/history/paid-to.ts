// What was an address paid on a chain between two moments, by what the warehouse holds?
// It is whole only where every transfer of every kind between them is held, of the whole chain: a
// range of one address vouches for what a provider told of it, not for the contracts that pay.

import { z } from 'zod';
import type { EvmChainName } from '../../../chain/chain.ts';
import { part, read } from '../../../evidence/reading.ts';
import { type Why, why } from '../../../evidence/reasons.ts';
import type { BridgeArrivals, PaymentsFound, PaymentsQuery } from '../../../ports/bridges.ts';
import { type Call, type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { type HeldBlocks, type HeldBlocksOf, isUndone, readHeld } from '../transfers/held.ts';
import { unreadFor, warehouseSource } from '../transfers/imports.ts';
import { readPaid } from './warehouse-rows.ts';

const PORT = 'bridge_arrivals';
/** The most payments of one recipient that are read. */
const PAYMENTS_MAX = 200;
/** The kinds of transfer in which something may be paid. */
const KINDS = ['native', 'internal', 'token'] as const;

/** What makes the blocks of a warehouse fresh, and what one reading may take. */
type PaidToOptions = {
  /** Unix seconds. */
  readonly now: () => number;
  readonly tipMaxAgeS: number;
  readonly timeMs: number;
};

/** What recipients were paid, by a warehouse. */
export function warehousePaidTo(
  warehouse: Warehouse,
  { now, tipMaxAgeS, timeMs }: PaidToOptions,
): Pick<BridgeArrivals, 'paidTo'> {
  return {
    paidTo: async (asked, signal) => {
      const call: Call = { timeoutMs: timeMs, signal };
      try {
        const held = await readHeld(warehouse, call);
        const reach = await reachOf(warehouse, held, asked, call);
        const { chain, recipient: address, since, until } = asked;
        const wanted = { chain, address, since, until, rowsMax: PAYMENTS_MAX };
        const { rows, more } = await readPaid(warehouse, held, wanted, call);
        // A tip that changed meanwhile was not there to be read under its old stamps.
        if (await isUndone(warehouse, held, call)) throw new WarehouseUnavailable('interrupted');
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
        const origin = { port: PORT, source: warehouseSource(head_time, simulated) } as const;
        const cause = simulated ? why('simulated') : whyCut(asked, reach, more, now() - tipMaxAgeS);
        return cause === null ? read(told, origin) : part(told, origin, cause);
      } catch (error) {
        return unreadFor(PORT, error);
      }
    },
  };
}

/** How far all kinds of a chain's transfers are held; `null` where not from the first moment on. */
type Reach = { readonly head_time: number | null; readonly simulated: boolean };

const NOT_HELD: Reach = { head_time: null, simulated: false };

async function reachOf(
  warehouse: Warehouse,
  { ranges }: HeldBlocksOf,
  { chain, since, until }: PaymentsQuery,
  call: Call,
): Promise<Reach> {
  const reached: HeldBlocks[] = [];
  for (const kind of KINDS) {
    const own = ranges.filter((one) => one.chain === chain && one.kind === kind);
    const range = rangeThrough(own, until);
    if (range === null) return NOT_HELD;
    reached.push(range);
  }
  const simulated = reached.some(({ origin }) => origin === 'simulated');
  const late = reached.filter(({ from_first }) => !from_first).map((one) => one.from_block);
  if (late.length > 0) {
    const begun = await timeFrom(warehouse, chain, Math.max(...late), call);
    if (begun === null || begun > since) return { head_time: null, simulated };
  }
  return { head_time: Math.min(...reached.map(({ to_time }) => to_time)), simulated };
}

/** The first of some ranges that reaches a moment, else the one that comes nearest. */
function rangeThrough(ranges: readonly HeldBlocks[], until: number): HeldBlocks | null {
  const ordered = ranges.toSorted((a, b) => a.to_block - b.to_block);
  const range = ordered.find(({ to_time }) => to_time >= until) ?? ordered.at(-1);
  return range === undefined ? null : range;
}

const timeRow = z.tuple([z.number()]);

/** The time of the first transfer from a block on: that block is no newer. */
async function timeFrom(
  warehouse: Warehouse,
  chain: EvmChainName,
  block: number,
  call: Call,
): Promise<number | null> {
  const sql = `SELECT block_time FROM transfers
    WHERE chain = {chain:String} AND block >= {block:UInt64} ORDER BY chain, block LIMIT 1`;
  const query = { ...call, row: timeRow, tuples: true, params: { chain, block } };
  const [first] = await warehouse.query(sql, query);
  return first === undefined ? null : first[0];
}

function whyCut(
  { chain, until }: PaymentsQuery,
  { head_time }: Reach,
  more: boolean,
  oldest: number,
): Why | null {
  if (more) return why('payments_cut', { limit: String(PAYMENTS_MAX), chain });
  const isHeld = head_time !== null && head_time >= Math.min(until, oldest);
  return isHeld ? null : why('arrivals_not_held', { chain });
}
