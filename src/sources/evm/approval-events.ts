// What does an Approval event (ERC-20) say, and which of an owner's is the newest by spender?
// ERC-721 has an event of the same signature with the item as a further topic: it is none of these.

import { declaredEvent, encodedCall } from '../../chain/abi.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import type { ApprovalEvent } from '../../ports/accounts/token-approvals.ts';
import { topicOf } from './node-questions.ts';

const APPROVAL = declaredEvent(
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
);
const ALLOWANCE = 'function allowance(address owner, address spender) view returns (uint256)';

/** The topics by which the events of an owner are asked for. */
export function approvalTopics(owner: string): readonly [event: string, owner: string] {
  return [APPROVAL.topic, topicOf(owner)];
}

/** The call that asks a token what is left for a spender. */
export function allowanceCall(owner: string, spender: string): string {
  return encodedCall(ALLOWANCE, [owner, spender]);
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

/** The newest event of each token and spender, of logs of one owner. */
export function newestApprovals(
  chain: EvmChainName,
  owner: string,
  logs: readonly ApprovalLog[],
): ApprovalEvent[] {
  const ordered = [...logs].sort(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  );
  const newest = new Map<string, ApprovalEvent>();
  for (const { address: token, blockNumber: block, transactionHash: tx, ...log } of ordered) {
    const fields = APPROVAL.fieldsOf(log);
    if (fields === null || fields.owner !== owner) continue;
    const { spender, value: raw_amount } = fields;
    newest.set(`${token} ${spender}`, { chain, token, spender, raw_amount, tx, block });
  }
  return [...newest.values()];
}
