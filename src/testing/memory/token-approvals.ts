// Whom did these owners, held in memory, allow to take their tokens, and what is left of that?
// An adapter, not a mock: an owner of whom nothing is written down allowed nobody.

import type { EvmChainName } from '../../chain/chain.ts';
import { type Partly, part, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { ApprovalEvent, TokenApprovals, TokenApprovalsPort } from '../../ports/accounts.ts';

/** One approval, and what is left of it. */
export type MemoryApproval = ApprovalEvent & {
  readonly owner: string;
  readonly left: bigint | null;
};

/** What the memory holds. `as_of` is Unix seconds. */
export type MemoryApprovals = {
  readonly chains: readonly EvmChainName[];
  readonly approvals: readonly MemoryApproval[];
  readonly as_of: number;
  readonly simulated: boolean;
};

const READ_TO = 900;

/** Approvals in memory. */
export function memoryApprovals(held: MemoryApprovals): TokenApprovals {
  const { chains, approvals, as_of, simulated } = held;
  const named = { name: 'Approvals in memory', url: 'memory:', as_of, simulated } as const;
  const source: Source = { ...named, kind: 'observation' };
  const told = <T>(
    chain: EvmChainName,
    signal: AbortSignal,
    value: T,
  ): Partly<T, TokenApprovalsPort> => {
    const port = 'token_approvals';
    if (signal.aborted) return unread(port, why('time_budget'));
    if (!chains.includes(chain)) {
      return unread(port, why('not_configured', { what: `A node of ${chain}` }));
    }
    const origin = { port, source } as const;
    return simulated ? part(value, origin, why('simulated')) : read(value, origin);
  };
  return {
    chains,
    given: async (chain, owner, signal) => {
      const own = approvals.filter((one) => one.chain === chain && one.owner === owner);
      const events = own.map(({ owner: _, left: __, ...event }) => event);
      return told(chain, signal, { events, to_block: READ_TO });
    },
    left: async ({ chain, way, token, spender }, owner, signal) => {
      const own = approvals.find(
        (one) =>
          one.owner === owner && one.way === way && one.token === token && one.spender === spender,
      );
      const raw_amount = own === undefined ? 0n : own.left;
      return told(chain, signal, { raw_amount, block: READ_TO });
    },
  };
}
