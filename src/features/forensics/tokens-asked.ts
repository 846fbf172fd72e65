// Which issuers hold the tokens of an address frozen, and whom did it allow to take them?
// What is left of an approval is asked only for spenders whom a table names: an address may have
// allowed thousands.

import { matchKey, type ParsedAddress } from '../../chain/address.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import { given } from '../../evidence/measure.ts';
import { map, seen, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import type { IssuerFreezes } from '../../ports/accounts/issuer-freezes.ts';
import type { ApprovalEvent, TokenApprovals } from '../../ports/accounts/token-approvals.ts';
import { MAIN_FACTS_CHAIN } from './facts-asked.ts';
import type { ApprovalsOf, FreezesOf, LeftOf } from './read-of-chains.ts';

/** The most approvals of which one answer asks what is left. */
const LEFT_MAX = 20;

/** Asks the issuers on the main chain and on every other that can be asked. */
export async function freezesOf(
  freezes: IssuerFreezes,
  { kind, address }: ParsedAddress,
  signal: AbortSignal,
): Promise<readonly FreezesOf[]> {
  const chains = kind === 'evm' ? withMain(freezes.chains) : NO_CHAINS;
  return Promise.all(
    chains.map(async (chain) => {
      const states = await inTime(() => freezes.of(chain, address, signal), signal);
      const silent = unread('issuer_freezes' as const, STOPPED_BY_TIME);
      return { chain, states: states === OUT_OF_TIME ? silent : states };
    }),
  );
}

/** Asks whom it allowed, on the main chain and on every other that can be asked. */
export async function approvalsOf(
  approvals: TokenApprovals,
  { kind, address }: ParsedAddress,
  signal: AbortSignal,
): Promise<readonly ApprovalsOf[]> {
  const chains = kind === 'evm' ? withMain(approvals.chains) : NO_CHAINS;
  return Promise.all(
    chains.map(async (chain) => {
      const events = await inTime(() => approvals.given(chain, address, signal), signal);
      return { chain, given: events === OUT_OF_TIME ? UNTIMELY : events };
    }),
  );
}

const UNTIMELY = unread('token_approvals' as const, STOPPED_BY_TIME);
const NO_CHAINS: readonly EvmChainName[] = Object.freeze([]);

function withMain(chains: readonly EvmChainName[]): readonly EvmChainName[] {
  return [MAIN_FACTS_CHAIN, ...chains.filter((chain) => chain !== MAIN_FACTS_CHAIN)];
}

/** Every approval that was seen, of whatever chain. */
export function approvalsSeen(approvals: readonly ApprovalsOf[]): readonly ApprovalEvent[] {
  return approvals.flatMap((one) => [...given(seen(map(one.given, ({ events }) => events)))]);
}

/** An approval's name among those of one owner. */
export function approvalKey({ chain, way, token, spender }: ApprovalEvent): string {
  return `${chain} ${way} ${token} ${spender}`;
}

/** Asks what is left of the approvals to spenders whom a table names by these keys. */
export async function leftOf(
  port: TokenApprovals,
  owner: string,
  approvals: readonly ApprovalsOf[],
  told: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<LeftOf> {
  const named = approvalsSeen(approvals).filter(({ spender }) => told.has(matchKey(spender)));
  const cut = unread('token_approvals' as const, why('call_budget', { limit: String(LEFT_MAX) }));
  const asked = named.map(async (one, i) => {
    if (i >= LEFT_MAX) return [approvalKey(one), cut] as const;
    const left = await inTime(() => port.left(one, owner, signal), signal);
    return [approvalKey(one), left === OUT_OF_TIME ? UNTIMELY : left] as const;
  });
  return new Map(await Promise.all(asked));
}
