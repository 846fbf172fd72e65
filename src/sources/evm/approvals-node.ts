// Whom did an address allow to take its tokens, as a node tells it, and what is left of that?
// The events of the whole chain are asked for at once: a node that takes only short ranges is
// silent here, since thousands of them would have to be asked.

import type { EvmChainName } from '../../chain/chain.ts';
import { type Partly, read, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  Permit2,
  TokenApprovals,
  TokenApprovalsPort,
} from '../../ports/accounts/token-approvals.ts';
import { type JsonRpc, RpcFault } from '../http/json-rpc.ts';
import { observation } from '../http/provider.ts';
import { amountLeft, approvalTopics, newestApprovals } from './approval-events.ts';
import { asker } from './node-of-account.ts';
import { namedBlocks, whyNodeSilent } from './node-questions.ts';
import { nodeRefusalOf } from './refusals.ts';
import { LOG, type NodeLog, shaped } from './wire.ts';

const PORT = 'token_approvals';
/** The most events that one answer may hold. */
const LOGS_MAX = 20_000;
const LOGS = LOG.array().max(LOGS_MAX);

/** The nodes by chain. */
type NodeApprovalsOptions = {
  readonly nodes: ReadonlyMap<EvmChainName, JsonRpc>;
  readonly permit2: Permit2;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};

/** Approvals through nodes. */
export function nodeApprovals(options: NodeApprovalsOptions): TokenApprovals {
  const { nodes, permit2, simulated, now } = options;
  const blockOf = namedBlocks(now);
  const asked = async <T>(
    chain: EvmChainName,
    signal: AbortSignal,
    work: (rpc: JsonRpc, block: number, permit2: readonly string[]) => Promise<T>,
  ): Promise<Partly<T, TokenApprovalsPort>> => {
    const rpc = nodes.get(chain);
    if (rpc === undefined) {
      return unread(PORT, why('not_configured', { what: `A node of ${chain}` }));
    }
    const registry = await permit2();
    if (!registry.checked) return registry;
    try {
      const block = await blockOf(rpc, chain, signal);
      const { shown } = rpc;
      const source = observation({ name: `Node ${shown}`, url: shown, simulated }, now);
      const told = read(await work(rpc, block, registry.value), { port: PORT, source });
      return simulated ? weaken(told, why('simulated')) : told;
    } catch (error) {
      return unread(PORT, whyNodeSilent(error, rpc, signal));
    }
  };
  return {
    chains: [...nodes.keys()],
    given: (chain, owner, signal) =>
      asked(chain, signal, async (rpc, block, addresses) => {
        const logs = await logsOf(rpc, owner, block, signal);
        return { events: newestApprovals(chain, owner, logs, addresses), to_block: block };
      }),
    left: ({ chain, way, token, spender }, owner, signal) =>
      asked(chain, signal, async (rpc, block, addresses) => {
        const at = { ask: asker(rpc, signal), block, permit2: addresses, now: now() };
        return { raw_amount: await amountLeft({ way, token, spender, owner }, at), block };
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
