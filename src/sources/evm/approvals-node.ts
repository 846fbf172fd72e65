// Whom did an address allow to take its tokens, as a node tells it, and what is left of that?
// The events of the whole chain are asked for at once: a node that takes only short ranges is
// silent here, since thousands of them would have to be asked.

import type { EvmChainName } from '../../chain/chain.ts';
import { type Partly, read, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { TokenApprovals, TokenApprovalsPort } from '../../ports/accounts/token-approvals.ts';
import { AMOUNT } from '../http/hex-forms.ts';
import { type JsonRpc, RpcFault } from '../http/json-rpc.ts';
import { allowanceCall, approvalTopics, newestApprovals } from './approval-events.ts';
import { asker } from './node-of-account.ts';
import { namedBlocks, whyNodeSilent } from './node-questions.ts';
import { nodeRefusalOf } from './refusals.ts';
import { answeredWord, StateFault } from './state-facts-of-account.ts';
import { LOG, type NodeLog, shaped } from './wire.ts';

const PORT = 'token_approvals';
/** The most events that one answer may hold. */
const LOGS_MAX = 20_000;
const LOGS = LOG.array().max(LOGS_MAX);

/** The nodes by chain. */
type NodeApprovalsOptions = {
  readonly nodes: ReadonlyMap<EvmChainName, JsonRpc>;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};

/** Approvals through nodes. */
export function nodeApprovals({ nodes, simulated, now }: NodeApprovalsOptions): TokenApprovals {
  const blockOf = namedBlocks(now);
  const asked = async <T>(
    chain: EvmChainName,
    signal: AbortSignal,
    work: (rpc: JsonRpc, block: number) => Promise<T>,
  ): Promise<Partly<T, TokenApprovalsPort>> => {
    const rpc = nodes.get(chain);
    if (rpc === undefined) {
      return unread(PORT, why('not_configured', { what: `A node of ${chain}` }));
    }
    try {
      const block = await blockOf(rpc, chain, signal);
      const { shown } = rpc;
      const named = { name: `Node ${shown}`, url: shown, as_of: now(), simulated };
      const source: Source = { ...named, kind: 'observation' };
      const told = read(await work(rpc, block), { port: PORT, source });
      return simulated ? weaken(told, why('simulated')) : told;
    } catch (error) {
      return unread(PORT, whyNodeSilent(error, rpc, signal));
    }
  };
  return {
    chains: [...nodes.keys()],
    given: (chain, owner, signal) =>
      asked(chain, signal, async (rpc, block) => {
        const logs = await logsOf(rpc, owner, block, signal);
        return { events: newestApprovals(chain, owner, logs), to_block: block };
      }),
    left: ({ chain, token, spender }, owner, signal) =>
      asked(chain, signal, async (rpc, block) => {
        const data = allowanceCall(owner, spender);
        const word = await answeredWord(asker(rpc, signal), token, data, block);
        if (word === null) throw new StateFault('eth_call');
        return { raw_amount: AMOUNT.parse(word), block };
      }),
  };
}

async function logsOf(
  rpc: JsonRpc,
  owner: string,
  block: number,
  signal: AbortSignal,
): Promise<readonly NodeLog[]> {
  const blocks = { fromBlock: '0x0', toBlock: `0x${block.toString(16)}` };
  const params = [{ ...blocks, topics: approvalTopics(owner) }];
  const answer = await rpc.call({ method: 'eth_getLogs', params }, signal);
  if (!answer.ok) {
    const { kind } = nodeRefusalOf(answer.error);
    const range = kind === 'range' ? 'takes no range of so many blocks' : 'answered an error';
    throw new RpcFault(`${range} to eth_getLogs (${answer.error.code})`, 'failed');
  }
  const logs = shaped(LOGS, answer.result, 'eth_getLogs');
  return logs.filter(({ removed }) => removed !== true);
}
