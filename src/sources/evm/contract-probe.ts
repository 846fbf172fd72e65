// Probes a contract through a node: its code, and whether it is a token or a pool. A call that the
// EVM reverts is an answer (it is no token); any other error of a node is none.

import { z } from 'zod';
import { CHAINS } from '../../chain/chain.ts';
import type { BridgeChain, ContractFacts, ContractProbe } from '../../ports/bridges.ts';
import { BYTES, COUNT } from '../http/fetch.ts';
import { type JsonRpc, type RpcAnswer, RpcFault } from '../http/json-rpc.ts';
import { readAnswer } from '../http/provider.ts';
import { isRevert } from './node-of-account.ts';
import { LOG, quantity } from './wire.ts';

const PORT = 'contract_probe';
/** The blocks before the head in which an event is looked for. */
const EVENT_BLOCKS = 2_000;
const WORD = /^0x[0-9a-fA-F]{64}/;

const CALLS = {
  totalSupply: '0x18160ddd',
  decimals: '0x313ce567',
  getReserves: '0x0902f1ac',
  token0: '0x0dfe1681',
  /** `getToken(0)` and `getVirtualPrice()` of pools of the Saddle kind. */
  getToken: `0x82b86600${'0'.repeat(64)}`,
  getVirtualPrice: '0xe25aa5fa',
} as const;

/** Asks the node of one chain. `now` is Unix seconds. */
export function nodeProbe(chain: BridgeChain, rpc: JsonRpc, now: () => number): ContractProbe {
  const look = async (
    address: string,
    topics: readonly string[],
    signal: AbortSignal,
  ): Promise<ContractFacts> => {
    const call = (data: string) => ({
      method: 'eth_call',
      params: [{ to: address, data }, 'latest'],
    });
    const [id, code, head, ...said] = await rpc.batch(
      [
        { method: 'eth_chainId', params: [] },
        { method: 'eth_getCode', params: [address, 'latest'] },
        { method: 'eth_blockNumber', params: [] },
        ...Object.values(CALLS).map(call),
      ],
      signal,
    );
    if (resultIn(COUNT, id, 'eth_chainId') !== CHAINS[chain].chain_id) {
      throw new RpcFault('is of another chain', 'terminal');
    }
    const answers = new Map(Object.keys(CALLS).map((name, i) => [name, answersWord(said[i])]));
    const yes = (...wanted: (keyof typeof CALLS)[]) =>
      wanted.every((name) => answers.get(name) === true);
    const latest = resultIn(COUNT, head, 'eth_blockNumber');
    const hasCode = resultIn(BYTES, code, 'eth_getCode') !== '0x';
    const fromBlock = quantity(Math.max(0, latest - EVENT_BLOCKS));
    const params = [{ address, topics: [topics], fromBlock, toBlock: 'latest' }];
    const logs = await rpc.call({ method: 'eth_getLogs', params }, signal);
    return {
      code: hasCode,
      token: yes('totalSupply', 'decimals'),
      pool: yes('token0', 'getReserves') || yes('getToken', 'getVirtualPrice'),
      events: resultIn(z.array(LOG), logs, 'eth_getLogs').length > 0,
    };
  };
  return {
    chain,
    look: (address, topics, signal) => {
      const provider = { name: rpc.shown, url: rpc.shown, simulated: false, now };
      return readAnswer(PORT, provider, () => look(address, topics, signal));
    },
  };
}

function resultIn<T>(schema: z.ZodType<T>, answer: RpcAnswer | undefined, method: string): T {
  const told = schema.safeParse(answer?.ok === true ? answer.result : undefined);
  if (told.success) return told.data;
  const code = answer?.ok === false ? ` (${answer.error.code})` : '';
  throw new RpcFault(`gave no usable answer to ${method}${code}`, 'failed');
}

/** A node that finds a call reverted has answered it: the contract has no such function. */
function answersWord(answer: RpcAnswer | undefined): boolean {
  if (answer?.ok === false && isRevert(answer.error)) return false;
  return WORD.test(resultIn(BYTES, answer, 'eth_call'));
}
