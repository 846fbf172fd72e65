// How is a node asked a few questions of one chain at once, and what is a fault of it?
// A node of another chain is no source; that it says nothing usable is thrown, and never hidden.

import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { COUNT } from '../http/forms.ts';
import { type JsonRpc, RpcFault } from '../http/json-rpc.ts';
import { NodeFault } from './node-fault.ts';
import { StateFault } from './state-facts-of-account.ts';

/**
 * A node behind others may not have the newest block yet: what is asked at a named block is asked
 * so many before it.
 */
const SETTLED_BLOCKS = 1;

/** For so long a block is named again, so that a request need not ask for one first. */
const KEPT_S = 10;

/** Names a block at which the node can be asked. Throws where it is of another chain. */
export type NameBlock = (rpc: JsonRpc, chain: EvmChainName, signal: AbortSignal) => Promise<number>;

/** Names blocks, each for some seconds. `now` is Unix seconds. */
export function namedBlocks(now: () => number): NameBlock {
  const kept = new Map<JsonRpc, { readonly block: number; readonly at: number }>();
  return async (rpc, chain, signal) => {
    const known = kept.get(rpc);
    if (known !== undefined && now() - known.at < KEPT_S) return known.block;
    const block = await newestBlock(rpc, chain, signal);
    kept.set(rpc, { block, at: now() });
    return block;
  };
}

async function newestBlock(
  rpc: JsonRpc,
  chain: EvmChainName,
  signal: AbortSignal,
): Promise<number> {
  const calls = [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_blockNumber', params: [] },
  ];
  const [id, head] = (await rpc.batch(calls, signal)).map((answer, i) => {
    const said = COUNT.safeParse(answer.ok ? answer.result : null);
    if (!said.success) throw new StateFault(String(calls[i]?.method));
    return said.data;
  });
  const { chain_id } = CHAINS[chain];
  if (id !== chain_id) {
    const fault = `is of chain ${String(id)}, not of ${chain} (${String(chain_id)})`;
    throw new RpcFault(fault, 'terminal');
  }
  return Math.max(0, Number(head) - SETTLED_BLOCKS);
}

/** Why a node said nothing. Throws what is no fault of a node. */
export function whyNodeSilent(error: unknown, { shown }: JsonRpc, signal: AbortSignal): Why {
  const isTold = [StateFault, RpcFault, NodeFault].some((kind) => error instanceof kind);
  if (!(error instanceof Error && isTold)) throw error;
  if (signal.aborted) return why('time_budget');
  const fault = error instanceof RpcFault ? error.fault : error.message;
  return why('provider_failed', { provider: shown, fault });
}

const WORD_DIGITS = 64;

/** An address as a topic of logs has it. */
export function topicOf(address: string): string {
  return `0x${address.slice(2).padStart(WORD_DIGITS, '0')}`;
}
