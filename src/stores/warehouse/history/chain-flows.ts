// Reads what moved of a chain's own coin in an hour, from final transfers. The reading is whole, or
// there is none: an hour of which a block or a kind of transfer may be missing says nothing.

import { z } from 'zod';
import type { EvmChainName } from '../../../chain/chain.ts';
import { formatIsoTime, HOUR_S } from '../../../chain/time.ts';
import { read, unread } from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import type { ChainFlows, ChainFlowsPort } from '../../../ports/chain-flows.ts';
import type { Call, Warehouse } from '../engine/executor.ts';
import { addressOf, hashOf } from '../transfers/append.ts';
import { readUnderHeld } from '../transfers/held.ts';
import { unreadFor, warehouseSource } from '../transfers/imports.ts';
import { readReach } from './paid-to.ts';

const PORT: ChainFlowsPort = 'chain_flows';
const TIMEOUT_MS = 60_000;
/** Pairs of addresses of one hour: some hundred thousand move a coin in a busy one. */
const PAIRS_MAX = 400_000;
const LARGE_MAX = 1_000;
/** More halvings than a chain has blocks. */
const HALVINGS_MAX = 64;

const pairRow = z.tuple([z.string(), z.string(), z.string(), z.coerce.number().int()]);
const largeRow = z.tuple([
  ...[z.string(), z.string(), z.string(), z.string(), z.coerce.number().int()],
] as const);
const timeRow = z.tuple([z.coerce.number().int()]);

// Failed transfers move nothing; a transaction of which nobody says whether it failed counts.
const MOVED = `FROM transfers FINAL
WHERE chain = {chain:String} AND block >= {first:UInt64} AND block < {end:UInt64}
  AND block_time >= {from:UInt32} AND block_time < {to:UInt32}
  AND kind IN ('native', 'internal') AND success != 1 AND raw_amount > 0
  AND from_address != to_address`;
const PAIRS = `SELECT lower(hex(from_address)), lower(hex(to_address)),
  toString(sum(raw_amount)), count() ${MOVED}
GROUP BY from_address, to_address LIMIT ${PAIRS_MAX + 1}`;
const LARGE = `SELECT lower(hex(tx_hash)), lower(hex(from_address)), lower(hex(to_address)),
  toString(raw_amount), block_time ${MOVED} AND raw_amount >= toUInt256({large:String})
ORDER BY block, tx_hash, place, kind, from_address, to_address, raw_amount, n
LIMIT ${LARGE_MAX + 1}`;
const TIME = `SELECT block_time FROM transfers
WHERE chain = {chain:String} AND block >= {block:UInt64} ORDER BY chain, block LIMIT 1`;

/** Flows of chains, from a warehouse. `simulated`: whether this deployment shows made-up chains. */
export function warehouseFlows(
  warehouse: Warehouse,
  { now, simulated }: { readonly now: () => number; readonly simulated: boolean },
): ChainFlows {
  return {
    hour: async (chain, from, large, signal) => {
      const call: Call = { timeoutMs: TIMEOUT_MS, signal };
      const to = from + HOUR_S;
      const hour = { from: formatIsoTime(from), to: formatIsoTime(to) };
      const notHeld = why('flows_not_held', { chain, ...hour });
      try {
        return await readUnderHeld(warehouse, call, async (held) => {
          const reach = await readReach(warehouse, held, { chain, since: from, until: to }, call);
          const isWhole = reach.head_time !== null && reach.head_time >= to;
          if (!isWhole || reach.simulated !== simulated) return unread(PORT, notHeld);
          const own = held.ranges.filter((range) => range.chain === chain);
          const within = { chain, last: Math.max(...own.map(({ to_block }) => to_block)) };
          const first = await firstBlockAt(warehouse, within, from, call);
          const end = await firstBlockAt(warehouse, within, to, call);
          // What is final reaches past the hour only where a later transfer is final.
          if (first === null || end === null) return unread(PORT, notHeld);
          const of = { chain, first, end, from, to };
          const asked = { ...call, tuples: true } as const;
          const pairs = await warehouse.query(PAIRS, { ...asked, params: of, row: pairRow });
          const params = { ...of, large: String(large.raw_amount) };
          const many = await warehouse.query(LARGE, { ...asked, params, row: largeRow });
          if (pairs.length > PAIRS_MAX || many.length > LARGE_MAX) {
            return unread(PORT, why('flows_cut', { chain, limit: String(PAIRS_MAX) }));
          }
          const value = {
            pairs: pairs.map(([sender, receiver, sum, transfers]) => ({
              from: addressOf(sender),
              to: addressOf(receiver),
              raw_amount: BigInt(sum),
              transfers,
            })),
            large: many.map(([tx, sender, receiver, amount, at], n) => ({
              tx: hashOf(tx),
              index: many.slice(0, n).filter(([other]) => other === tx).length,
              from: addressOf(sender),
              to: addressOf(receiver),
              raw_amount: BigInt(amount),
              at,
            })),
          };
          return read(value, { port: PORT, source: warehouseSource(now(), simulated) });
        });
      } catch (error) {
        return unreadFor(PORT, error);
      }
    },
  };
}

/**
 * The first block from which on no transfer is older than a time, found by halving what is held:
 * times grow with blocks, and each look reads one row. `null`: every final transfer is older.
 */
async function firstBlockAt(
  warehouse: Warehouse,
  { chain, last }: { readonly chain: EvmChainName; readonly last: number },
  time: number,
  call: Call,
): Promise<number | null> {
  const timeFrom = async (block: number): Promise<number | null> => {
    const asked = { ...call, params: { chain, block }, row: timeRow, tuples: true } as const;
    const [found] = await warehouse.query(TIME, asked);
    return found === undefined ? null : found[0];
  };
  let [low, high] = [0, last + 1];
  for (let n = 0; n < HALVINGS_MAX && low < high; n += 1) {
    const block = Math.floor((low + high) / 2);
    const found = await timeFrom(block);
    if (found === null || found >= time) high = block;
    else low = block + 1;
  }
  return (await timeFrom(low)) === null ? null : low;
}
