// What do nodes say that contracts logged between two moments?
// The blocks of those moments are searched for, so that a stretch is read whole or told as cut.

import { z } from 'zod';
import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { type Origin, read, unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  ArrivalFound,
  ArrivalLog,
  ArrivalsQuery,
  BridgeArrivals,
  BridgeArrivalsPort,
} from '../../ports/bridges/bridge-arrivals.ts';
import { COUNT, outsideRow, WORD } from '../http/forms.ts';
import { type JsonRpc, RpcFault } from '../http/json-rpc.ts';
import { observation, withBudget } from '../http/provider.ts';
import { RECEIPT_LOG } from './receipts-wire.ts';

const PORT = 'bridge_arrivals';

/** Blocks of one question to a node. */
const RANGE_BLOCKS = 2_000;
const LOGS_MAX = 5_000;
/** A node whose newest block is older may be behind: what was paid since then is not known. */
const HEAD_MAX_AGE_S = 3_600;

const BLOCK = outsideRow({ number: COUNT, timestamp: COUNT });
const LOGS = z
  .array(RECEIPT_LOG.extend({ transactionHash: WORD, blockNumber: COUNT }))
  .max(LOGS_MAX);

/** The nodes by chain, and what one look-up may spend. */
type NodeArrivalsOptions = {
  readonly nodes: ReadonlyMap<EvmChainName, JsonRpc>;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  /** The most questions for logs, of 2,000 blocks each. */
  readonly rangesMax: number;
};

/** Logs from nodes. */
export function nodeArrivals(
  options: NodeArrivalsOptions,
): Pick<BridgeArrivals, 'lookUp' | 'timeOf'> {
  const { nodes, simulated, now, timeMs, rangesMax } = options;
  const originOf = (rpc: JsonRpc): Origin<BridgeArrivalsPort> => {
    const named = { name: rpc.shown, url: rpc.shown, simulated };
    return { port: PORT, source: observation(named, now) };
  };
  const missing = (chain: EvmChainName) =>
    unread(PORT, why('not_configured', { what: `A node of ${chain}` }));
  const limited = <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) =>
    withBudget({ timeMs, callsMax: rangesMax, signal }, (budget) => work(budget.signal));
  return {
    lookUp: async (asked, outer) => {
      const rpc = nodes.get(asked.chain);
      if (rpc === undefined) return missing(asked.chain);
      return limited(outer, async (signal) => {
        try {
          const { cut, ...told } = await search(rpc, asked, rangesMax, signal);
          const whole = read(told, originOf(rpc));
          if (told.found.length > 0) return whole;
          const behind = told.head_time < Math.min(asked.until, now() - HEAD_MAX_AGE_S);
          const old = behind ? why('arrivals_head_old', { chain: asked.chain }) : null;
          // What is made up shows an arrival, and never that there was none.
          const cause = simulated ? why('simulated') : (cut ?? old);
          return cause === null ? whole : weaken(whole, cause);
        } catch (error) {
          return unread(PORT, faultOf(error, rpc, signal));
        }
      });
    },
    timeOf: async (chain, block, outer) => {
      const rpc = nodes.get(chain);
      if (rpc === undefined) return missing(chain);
      return limited(outer, async (signal) => {
        try {
          await checkChain(rpc, chain, signal);
          return read((await blockAt(rpc, block, signal)).timestamp, originOf(rpc));
        } catch (error) {
          return unread(PORT, faultOf(error, rpc, signal));
        }
      });
    },
  };
}

/** Why a node said nothing. Throws what is no fault of a node. */
function faultOf(error: unknown, rpc: JsonRpc, signal: AbortSignal): Why {
  if (!(error instanceof RpcFault)) throw error;
  if (signal.aborted) return why('arrivals_out_of_time');
  return why('provider_failed', { provider: rpc.shown, fault: error.fault });
}

/** What was found; `cut` where the stretch is longer than may be read. */
async function search(
  rpc: JsonRpc,
  asked: ArrivalsQuery,
  rangesMax: number,
  signal: AbortSignal,
): Promise<ArrivalFound & { readonly cut: Why | null }> {
  const { chain, since, until, wanted } = asked;
  await checkChain(rpc, chain, signal);
  const head = await blockAt(rpc, 'latest', signal);
  const head_time = head.timestamp;
  const from = await firstAt(rpc, since, head, signal);
  const to = until >= head_time ? head.number : await firstAt(rpc, until, head, signal);
  let ranges = 0;
  for (let at = from; at <= to; at += RANGE_BLOCKS) {
    if (ranges === rangesMax) {
      const cut = why('arrivals_cut', { chain, blocks: String(rangesMax * RANGE_BLOCKS) });
      return { found: [], head_time, cut };
    }
    ranges += 1;
    const end = Math.min(to, at + RANGE_BLOCKS - 1);
    const found = (await logsBetween(rpc, asked, at, end, signal)).find(wanted);
    if (found !== undefined) return { found: [found], head_time, cut: null };
  }
  return { found: [], head_time, cut: null };
}

async function logsBetween(
  rpc: JsonRpc,
  { contracts, topics }: ArrivalsQuery,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<ArrivalLog[]> {
  const blocks = { fromBlock: hex(from), toBlock: hex(to) };
  const params = [{ address: contracts, topics: [topics], ...blocks }];
  const answer = await rpc.call({ method: 'eth_getLogs', params }, signal);
  const said = LOGS.safeParse(answer.ok ? answer.result : null);
  if (!said.success) throw new RpcFault('answered no logs', 'failed');
  if (said.data.some(({ blockNumber: at }) => at < from || at > to)) {
    throw new RpcFault('answered logs of blocks that were not asked for', 'failed');
  }
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
  if (!said.success || (at !== 'latest' && said.data.number !== at)) {
    throw new RpcFault('answered no block', 'failed');
  }
  return said.data;
}

/** The first block whose time is not before a moment; the newest where none is. */
async function firstAt(rpc: JsonRpc, time: number, head: Block, signal: AbortSignal) {
  if (head.timestamp < time) return head.number;
  let low = await blockAt(rpc, 0, signal);
  if (low.timestamp >= time) return low.number;
  let high = head;
  // Blocks come nearly evenly, so that a line between two known ones mostly hits close; halving in
  // between bounds the search where they do not.
  for (let turn = 0; high.number - low.number > 1; turn += 1) {
    const share = turn % 2 === 1 ? 0.5 : (time - low.timestamp) / (high.timestamp - low.timestamp);
    const guess = low.number + Math.round(share * (high.number - low.number));
    const at = Math.min(Math.max(guess, low.number + 1), high.number - 1);
    const block = await blockAt(rpc, at, signal);
    if (block.timestamp < time) low = block;
    else high = block;
  }
  return high.number;
}

function hex(n: number): string {
  return `0x${n.toString(16)}`;
}
