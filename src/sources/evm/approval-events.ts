// Which events allow somebody to take an owner's tokens, and which call says what is left of that?
// ERC-20 and ERC-721 have an event of one signature; with the item as a further topic it allows
// one item alone and is none of these. What Permit2 allows is open only while the token lets
// Permit2 itself take it.

import { declaredEvent, encodedCall } from '../../chain/abi.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import type { ApprovalEvent } from '../../ports/accounts/token-approvals.ts';
import { AMOUNT } from '../http/forms.ts';
import { topicOf } from './node-questions.ts';
import { answeredWords, type StateAsk, StateFault } from './state-facts-of-account.ts';

const APPROVAL = declaredEvent(
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
);
const APPROVAL_FOR_ALL = declaredEvent(
  'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
);
const PERMIT2_APPROVAL = declaredEvent([
  'event Approval(address indexed owner, address indexed token, address indexed spender,',
  'uint160 amount, uint48 expiration)',
]);
const PERMIT2_PERMIT = declaredEvent([
  'event Permit(address indexed owner, address indexed token, address indexed spender,',
  'uint160 amount, uint48 expiration, uint48 nonce)',
]);
const ALLOWANCE = 'function allowance(address owner, address spender) view returns (uint256)';
const IS_APPROVED =
  'function isApprovedForAll(address owner, address operator) view returns (bool)';
const PERMIT2_ALLOWANCE = 'function allowance(address owner, address token, address spender) view';

/** The first topics of every event that allows something; the second one is the owner. */
export const APPROVAL_TOPICS: readonly string[] = [
  APPROVAL,
  APPROVAL_FOR_ALL,
  PERMIT2_APPROVAL,
  PERMIT2_PERMIT,
].map(({ topic }) => topic);

/** The topics by which all events of an owner are asked for. */
export function approvalTopics(owner: string): readonly [events: readonly string[], owner: string] {
  return [APPROVAL_TOPICS, topicOf(owner)];
}

/** A log as approvals need it; hex in lower case. */
type ApprovalLog = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
  readonly blockNumber: number;
  readonly logIndex: number;
};
type Allowed = Pick<ApprovalEvent, 'way' | 'token' | 'spender' | 'raw_amount'>;

/** The newest event of each way, token and spender, of logs of one owner. */
export function newestApprovals(
  chain: EvmChainName,
  owner: string,
  logs: readonly ApprovalLog[],
  permit2: readonly string[],
): ApprovalEvent[] {
  const ordered = [...logs].sort(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  );
  const newest = new Map<string, ApprovalEvent>();
  for (const log of ordered) {
    const allowed = allowedBy(log, owner, permit2);
    if (allowed === null) continue;
    const { blockNumber: block, transactionHash: tx } = log;
    const { way, token, spender, raw_amount } = allowed;
    const key = `${way} ${token} ${spender}`;
    newest.set(key, { chain, way, token, spender, raw_amount, tx, block });
  }
  return [...newest.values()];
}

function allowedBy(log: ApprovalLog, owner: string, permit2: readonly string[]): Allowed | null {
  const units = APPROVAL.fieldsOf(log);
  if (units !== null) {
    if (units.owner !== owner) return null;
    const { spender, value: raw_amount } = units;
    return { way: 'allowance', token: log.address, spender, raw_amount };
  }
  const items = APPROVAL_FOR_ALL.fieldsOf(log);
  if (items !== null) {
    if (items.owner !== owner) return null;
    const raw_amount = items.approved ? null : 0n;
    return { way: 'operator', token: log.address, spender: items.operator, raw_amount };
  }
  // Anybody may log what only Permit2 means.
  const through = permit2.includes(log.address) ? permittedBy(log) : null;
  if (through === null || through.owner !== owner) return null;
  const { token, spender, amount: raw_amount } = through;
  return { way: 'permit2', token, spender, raw_amount };
}

function permittedBy(log: ApprovalLog) {
  const approval = PERMIT2_APPROVAL.fieldsOf(log);
  return approval === null ? PERMIT2_PERMIT.fieldsOf(log) : approval;
}

type LeftAsked = Pick<ApprovalEvent, 'way' | 'token' | 'spender'> & { readonly owner: string };
type LeftAt = {
  readonly ask: StateAsk;
  readonly block: number;
  readonly permit2: readonly string[];
  /** Unix seconds. */
  readonly now: number;
};

/** What may still be taken; `null`: every item. Throws where the contract does not say. */
export async function amountLeft(
  { way, token, spender, owner }: LeftAsked,
  at: LeftAt,
): Promise<bigint | null> {
  if (way === 'operator') {
    const [isOpen] = await words(at, token, encodedCall(IS_APPROVED, [owner, spender]));
    if (isOpen === 0n) return 0n;
    if (isOpen === 1n) return null;
    throw new StateFault('eth_call');
  }
  const allowanceOf = async (one: string): Promise<bigint> => {
    const [left] = await words(at, token, encodedCall(ALLOWANCE, [owner, one]));
    return left;
  };
  if (way === 'allowance') return allowanceOf(spender);
  const data = encodedCall(PERMIT2_ALLOWANCE, [owner, token, spender]);
  let most = 0n;
  for (const through of at.permit2) {
    const [amount, expires] = await words(at, through, data);
    if (expires === undefined) throw new StateFault('eth_call');
    if (amount <= most || expires < BigInt(at.now)) continue;
    const lent = await allowanceOf(through);
    if (lent <= most) continue;
    most = amount;
    if (lent < amount) most = lent;
  }
  return most;
}

/** The words of an answer, the first of them at least. */
async function words(
  { ask, block }: LeftAt,
  address: string,
  data: string,
): Promise<readonly [bigint, ...bigint[]]> {
  const told = await answeredWords(ask, address, data, block);
  const [first, ...more] = told.map((one) => AMOUNT.parse(one));
  if (first === undefined) throw new StateFault('eth_call');
  return [first, ...more];
}
