// What do nodes say that contracts logged between two moments?
// The blocks of those moments are searched for, so that a stretch is read whole or told as cut.

import { z } from 'zod';
import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { type Origin, part, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  ArrivalLog,
  ArrivalsAsked,
  BridgeArrivals,
  BridgeArrivalsPort,
} from '../../ports/bridges/bridge-arrivals.ts';
import { COUNT, WORD } from '../http/hex-forms.ts';
import { type JsonRpc, RpcFault } from '../http/json-rpc.ts';
import { RECEIPT_LOG } from './receipts-wire.ts';

const PORT = 'bridge_arrivals';

/** Blocks of one question to a node, and the most such questions of one look-up. */
const RANGE_BLOCKS = 2_000;
const RANGES_MAX = 100;
const LOGS_MAX = 5_000;

const BLOCK = z.object({ number: COUNT, timestamp: COUNT });
const LOGS = z
  .array(RECEIPT_LOG.extend({ transactionHash: WORD, blockNumber: COUNT }))
  .max(LOGS_MAX);

/** The nodes by chain. */
type NodeArrivalsOptions = {
  readonly nodes: ReadonlyMap<EvmChainName, JsonRpc>;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};

/** Logs from nodes. */
export function nodeArrivals(options: NodeArrivalsOptions): BridgeArrivals {
  const { nodes, simulated, now } = options;
  const originOf = (rpc: JsonRpc): Origin<BridgeArrivalsPort> => {
    const shown = { name: rpc.shown, url: rpc.shown, as_of: now(), simulated } as const;
    return { port: PORT, source: { ...shown, kind: 'observation' } };
  };
  const missing = (chain: EvmChainName) =>
    unread(PORT, why('not_configured', { what: `A node of ${chain}` }));
  return {
    lookUp: async (asked, signal) => {
      const rpc = nodes.get(asked.chain);
      if (rpc === undefined) return missing(asked.chain);
      try {
        const { logs, head_time, cut } = await logsOf(rpc, asked, signal);
        const found = { logs, head_time };
        return cut === null ? read(found, originOf(rpc)) : part(found, originOf(rpc), cut);
      } catch (error) {
        return unread(PORT, faultOf(error, rpc, signal));
      }
    },
    timeOf: async (chain, block, signal) => {
      const rpc = nodes.get(chain);
      if (rpc === undefined) return missing(chain);
      try {
        await checkChain(rpc, chain, signal);
        return read((await blockAt(rpc, block, signal)).timestamp, originOf(rpc));
      } catch (error) {
        return unread(PORT, faultOf(error, rpc, signal));
      }
    },
  };
}

/** Why a node said nothing. Throws what is no fault of a node. */
function faultOf(error: unknown, rpc: JsonRpc, signal: AbortSignal): Why {
  if (!(error instanceof RpcFault)) throw error;
  if (signal.aborted) return why('time_budget');
  return why('provider_failed', { provider: rpc.shown, fault: error.fault });
}

type Found = {
  readonly logs: readonly ArrivalLog[];
  readonly head_time: number;
  readonly cut: Why | null;
};

async function logsOf(rpc: JsonRpc, asked: ArrivalsAsked, signal: AbortSignal): Promise<Found> {
  await checkChain(rpc, asked.chain, signal);
  const head = await blockAt(rpc, 'latest', signal);
  const from = await firstAt(rpc, asked.since, head, signal);
  const to =
    asked.until >= head.timestamp ? head.number : await firstAt(rpc, asked.until, head, signal);
  const logs: ArrivalLog[] = [];
  let ranges = 0;
  for (let at = from; at <= to; at += RANGE_BLOCKS) {
    if (ranges === RANGES_MAX) {
      const cut = why('call_budget', { limit: String(RANGES_MAX) });
      return { logs, head_time: head.timestamp, cut };
    }
    ranges += 1;
    logs.push(...(await logsBetween(rpc, asked, at, Math.min(to, at + RANGE_BLOCKS - 1), signal)));
  }
  return { logs, head_time: head.timestamp, cut: null };
}

async function logsBetween(
  rpc: JsonRpc,
  { contracts, topics }: ArrivalsAsked,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<ArrivalLog[]> {
  const blocks = { fromBlock: hex(from), toBlock: hex(to) };
  const params = [{ address: contracts, topics: [topics], ...blocks }];
  const answer = await rpc.call({ method: 'eth_getLogs', params }, signal);
  const said = LOGS.safeParse(answer.ok ? answer.result : null);
  if (!said.success) throw new RpcFault('answered no logs', 'failed');
  return said.data.map(({ transactionHash: tx, blockNumber: block, logIndex: index, ...log }) => {
    return { tx, block, log: { ...log, index } };
  });
}

async function checkChain(rpc: JsonRpc, chain: EvmChainName, signal: AbortSignal): Promise<void> {
  const answer = await rpc.call({ method: 'eth_chainId', params: [] }, signal);
  if (!answer.ok || Number(answer.result) !== CHAINS[chain].chain_id) {
    throw new RpcFault(`is not of ${chain}`, 'terminal');
  }
}

type Block = z.output<typeof BLOCK>;

async function blockAt(rpc: JsonRpc, at: number | 'latest', signal: AbortSignal): Promise<Block> {
  const params = [at === 'latest' ? at : hex(at), false];
  const answer = await rpc.call({ method: 'eth_getBlockByNumber', params }, signal);
  const said = BLOCK.safeParse(answer.ok ? answer.result : null);
  if (!said.success) throw new RpcFault('answered no block', 'failed');
  return said.data;
}

/** The first block whose time is not before a moment; the newest where none is. */
async function firstAt(rpc: JsonRpc, time: number, head: Block, signal: AbortSignal) {
  let low = 0;
  let high = head.number;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await blockAt(rpc, middle, signal)).timestamp < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function hex(n: number): string {
  return `0x${n.toString(16)}`;
}
