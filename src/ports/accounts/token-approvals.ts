// Answers one question: whom did an address allow to take its tokens, and for whom is that open?
// An event says what was allowed once; only the token itself says what is left of it.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type TokenApprovalsPort = 'token_approvals';

/** The newest event by which an owner allowed a spender to take a token. */
export type ApprovalEvent = {
  readonly chain: EvmChainName;
  readonly token: string;
  readonly spender: string;
  readonly raw_amount: bigint;
  readonly tx: string;
  readonly block: number;
};

/** The newest event of each token and spender, up to a block where the source names one. */
export type ApprovalsGiven = {
  readonly events: readonly ApprovalEvent[];
  readonly to_block: number | null;
};

/** What the token says is left, at a block. */
export type Allowance = { readonly raw_amount: bigint; readonly block: number };

/** Approvals of tokens (ERC-20). */
export type TokenApprovals = {
  /** The chains beside the main one on which somebody can be asked. */
  readonly chains: readonly EvmChainName[];
  /** A part where there were more events than were read. */
  readonly given: (
    chain: EvmChainName,
    owner: string,
    signal: AbortSignal,
  ) => Promise<Partly<ApprovalsGiven, TokenApprovalsPort>>;
  /** What is left of one of them. */
  readonly left: (
    approval: Pick<ApprovalEvent, 'chain' | 'token' | 'spender'>,
    owner: string,
    signal: AbortSignal,
  ) => Promise<Partly<Allowance, TokenApprovalsPort>>;
};
