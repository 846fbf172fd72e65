// Has an exchange ever made a pair of a token, as a node tells it?
// The exchanges' own contracts log it, so that a contract which only looks like a pool is none. A
// node that is behind, of another chain, or that stops early is unread: it shows no absence.

import { declaredEvent } from '../../chain/abi.ts';
import { CHAINS } from '../../chain/chain.ts';
import { HOUR_S } from '../../chain/time.ts';
import { slices } from '../../evidence/measure.ts';
import { why } from '../../evidence/reasons.ts';
import { DEPLOYER_CHAIN, type PairCreations } from '../../ports/deployers.ts';
import { COUNT, outsideRow } from '../http/fetch.ts';
import type { JsonRpc, RpcCall } from '../http/json-rpc.ts';
import { readAnswer } from '../http/provider.ts';
import { logRanges } from './log-ranges.ts';
import { NodeFault, type NodeLog, parseResult } from './wire.ts';

const PORT = 'pair_creations';
/** How many questions of logs one walk may cost. */
const QUESTIONS_MAX = 600;
/** How many tokens one question names. */
const TOKENS_MAX = 100;
/** A head that is older is that of a node which is behind, in seconds. */
const HEAD_AGE_MAX_S = HOUR_S;

/** Contracts of exchanges that log their pairs: the topic, and where in it the two tokens stand. */
export type PairLogs = {
  readonly contracts: readonly string[];
  readonly topic: string;
  readonly places: readonly [1, 2] | readonly [2, 3];
};

/**
 * Uniswap V2, V3 and V4 (docs.uniswap.org), SushiSwap V2 and PancakeSwap V2 and V3 on Ethereum
 * (developer.pancakeswap.finance).
 */
export const ETHEREUM_EXCHANGES: readonly PairLogs[] = [
  {
    contracts: [
      '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f',
      '0xc0aee478e3658e2610c5f7a4a2e1777ce9e4f2ac',
      '0x1097053fd2ea711dad45caccc45eff7548fcb362',
    ],
    topic: declaredEvent(
      'event PairCreated(address indexed token0, address indexed token1, address pair, uint256)',
    ).topic,
    places: [1, 2],
  },
  {
    contracts: [
      '0x1f98431c8ad98523631ae4a59f267346ea31f984',
      '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865',
    ],
    topic: declaredEvent(
      'event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, ' +
        'int24 tickSpacing, address pool)',
    ).topic,
    places: [1, 2],
  },
  {
    contracts: ['0x000000000004444c5dc75cb358380d2e3de08a90'],
    topic: declaredEvent(
      'event Initialize(bytes32 indexed id, address indexed currency0, ' +
        'address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, ' +
        'uint160 sqrtPriceX96, int24 tick)',
    ).topic,
    places: [2, 3],
  },
];
const PLACES = [1, 2, 3] as const;

type PairOptions = {
  readonly rpc: JsonRpc;
  readonly exchanges: readonly PairLogs[];
  /** Unix seconds. */
  readonly now: () => number;
  readonly simulated: boolean;
};

const headBlock = outsideRow({ number: COUNT, timestamp: COUNT });

/** Creations of pairs by the logs of a node of Ethereum. */
export function nodePairCreations({ rpc, exchanges, now, simulated }: PairOptions): PairCreations {
  const { shown: url } = rpc;
  const toReason = (fault: string) => why('provider_failed', { provider: url, fault });
  const provider = { name: 'Node', url, simulated, now, toReason };
  return {
    among: (tokens, fromBlock, signal) =>
      readAnswer(PORT, provider, async () => {
        const call = countingCalls(rpc);
        const head = await headOf(call, now(), signal);
        const found = new Set<string>();
        for (const some of slices(tokens, TOKENS_MAX)) {
          const words = new Map(some.map((token) => [wordOf(token), token]));
          for (const place of PLACES) {
            const asked = exchanges.filter(({ places }) => places.some((one) => one === place));
            if (asked.length === 0) continue;
            const before = Array.from({ length: place - 1 }, () => null);
            const query = {
              address: asked.flatMap(({ contracts }) => contracts),
              topics: [asked.map(({ topic }) => topic), ...before, [...words.keys()]],
              spanMax: Math.max(1, head - fromBlock + 1),
            };
            const logs = await logRanges(call, query)(fromBlock, head, signal);
            for (const log of logs)
              found.add(tokenIn(log, asked, words.get(String(log.topics[place]))));
          }
        }
        return found;
      }),
  };
}

function countingCalls({ call }: JsonRpc): JsonRpc['call'] {
  let questions = 0;
  return (asked: RpcCall, signal) => {
    questions += 1;
    if (questions > QUESTIONS_MAX) {
      throw new NodeFault(`takes over ${QUESTIONS_MAX} questions for the logs of these blocks`);
    }
    return call(asked, signal);
  };
}

/** The number of the newest block, of a node of this chain that is not behind. */
async function headOf(call: JsonRpc['call'], now: number, signal: AbortSignal): Promise<number> {
  const ask = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const answer = await call({ method, params }, signal);
    if (!answer.ok) throw new NodeFault(`answered error ${answer.error.code} to ${method}`);
    return answer.result;
  };
  const id = parseResult(COUNT, await ask('eth_chainId', []), 'eth_chainId');
  const { chain_id } = CHAINS[DEPLOYER_CHAIN];
  if (id !== chain_id) throw new NodeFault(`is of chain ${id}, not of ${chain_id}`);
  const told = await ask('eth_getBlockByNumber', ['latest', false]);
  const { number, timestamp } = parseResult(headBlock, told, 'eth_getBlockByNumber');
  if (now - timestamp > HEAD_AGE_MAX_S) throw new NodeFault('is behind: its head is old');
  return number;
}

/** The token that a log tells of. A log that was not asked for is a fault of the node. */
function tokenIn(
  { address, topics }: NodeLog,
  asked: readonly PairLogs[],
  token: string | undefined,
): string {
  const isAsked = asked.some(
    ({ contracts, topic }) => contracts.includes(address) && topics[0] === topic,
  );
  if (token !== undefined && isAsked) return token;
  throw new NodeFault('answered eth_getLogs with logs that were not asked for');
}

const WORD_CHARS = 64;

function wordOf(address: string): string {
  return `0x${address.slice(2).padStart(WORD_CHARS, '0')}`;
}
