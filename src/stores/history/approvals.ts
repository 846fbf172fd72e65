// Who tells whom an address allowed to take its tokens: a node, or an explorer?
// The first that tells is believed; where none does, the fault of one that should have is said.

import { Unread } from '../../evidence/reading.ts';
import type { TokenApprovals } from '../../ports/accounts/token-approvals.ts';

/** Sources of approvals, the one that is cheapest to ask first. */
export function cascadedApprovals(first: TokenApprovals, second: TokenApprovals): TokenApprovals {
  return {
    chains: [...new Set([...first.chains, ...second.chains])],
    given: (chain, owner, signal) =>
      firstOf(
        () => first.given(chain, owner, signal),
        () => second.given(chain, owner, signal),
      ),
    left: (approval, owner, signal) =>
      firstOf(
        () => first.left(approval, owner, signal),
        () => second.left(approval, owner, signal),
      ),
  };
}

async function firstOf<R extends object>(
  first: () => Promise<R>,
  second: () => Promise<R>,
): Promise<R> {
  const told = await first();
  if (!(told instanceof Unread)) return told;
  const other = await second();
  const isNobody = other instanceof Unread && other.why.code === 'not_configured';
  return isNobody ? told : other;
}
