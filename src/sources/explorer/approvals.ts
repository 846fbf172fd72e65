// Whom did an address allow to take its tokens, as an explorer lists the events, and what is left?
// A list that is full may have left out newer ones: it is a part.

import type { EvmChainName } from '../../chain/chain.ts';
import { type Partly, part, read, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  Permit2,
  TokenApprovals,
  TokenApprovalsPort,
} from '../../ports/accounts/token-approvals.ts';
import {
  APPROVAL_TOPICS,
  amountLeft,
  approvalTopics,
  newestApprovals,
} from '../evm/approval-events.ts';
import { type StateAsk, StateFault } from '../evm/state-facts-of-account.ts';
import { COUNT } from '../http/forms.ts';
import { type CallBudget, withBudget } from '../http/provider.ts';
import { stateAnswer, whyOf } from './account-facts.ts';
import { nodeResultIn } from './envelope.ts';
import { eventsOf, PAGE_ROWS } from './logs.ts';
import { askExplorer, type ExplorerChain } from './provider.ts';

const PORT = 'token_approvals';
/** What is asked, and what one request may spend on it. */
type ExplorerApprovalsOptions = {
  readonly chains: readonly ExplorerChain[];
  readonly permit2: Permit2;
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly callsMax: number;
  readonly simulated: boolean;
};

type Addresses = readonly string[];
type Told<T> = { readonly value: T; readonly cut: boolean };

/** Approvals through explorers. Their calls are counted, so only the main chain is asked. */
export function explorerApprovals(options: ExplorerApprovalsOptions): TokenApprovals {
  const { now, timeMs, callsMax, simulated, permit2 } = options;
  const asked = async <T>(
    chain: EvmChainName,
    signal: AbortSignal,
    work: (at: ExplorerChain, budget: CallBudget, permit2: Addresses) => Promise<Told<T>>,
  ): Promise<Partly<T, TokenApprovalsPort>> => {
    const at = options.chains.find((one) => one.chain === chain);
    if (at === undefined) {
      return unread(PORT, why('not_configured', { what: `An explorer of ${chain}` }));
    }
    const registry = await permit2();
    if (!registry.checked) return registry;
    const { name, shown: url } = at;
    const source: Source = { name, url, as_of: now(), kind: 'observation', simulated };
    const origin = { port: PORT, source } as const;
    try {
      const { value, cut } = await withBudget({ timeMs, callsMax, signal }, (budget) =>
        work(at, budget, registry.value),
      );
      if (cut)
        return part(value, origin, why('row_cap', { address: chain, limit: String(PAGE_ROWS) }));
      return simulated ? weaken(read(value, origin), why('simulated')) : read(value, origin);
    } catch (error) {
      return unread(PORT, whyOf(error, at));
    }
  };
  return {
    chains: [],
    given: (chain, owner, signal) =>
      asked(chain, signal, async (at, budget, addresses) => {
        const [, topic1] = approvalTopics(owner);
        const lists = await Promise.all(
          APPROVAL_TOPICS.map((topic) => eventsOf(at, { topic, topic1 }, budget)),
        );
        const events = newestApprovals(chain, owner, lists.flat(), addresses);
        const value = { events, to_block: null };
        return { value, cut: lists.some((rows) => rows.length >= PAGE_ROWS) };
      }),
    left: ({ chain, way, token, spender }, owner, signal) =>
      asked(chain, signal, async (at, budget, addresses) => {
        const head = await askExplorer(at, budget, at.node('eth_blockNumber', null), nodeResultIn);
        const known = COUNT.safeParse(head);
        if (!known.success) throw new StateFault('eth_blockNumber');
        const block = known.data;
        const ask: StateAsk = (call) =>
          askExplorer(at, budget, at.state(call), (told) => stateAnswer(at, told));
        const how = { ask, block, permit2: addresses, now: now() };
        const raw_amount = await amountLeft({ way, token, spender, owner }, how);
        return { value: { raw_amount, block }, cut: false };
      }),
  };
}
