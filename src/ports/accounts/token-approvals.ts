// Answers one question: whom did an address allow to take its tokens, and for whom is that open?
// An event says what was allowed once; only the contract itself says what is left of it.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type TokenApprovalsPort = 'token_approvals';

/**
 * How a token may be taken. `allowance`: so many units (ERC-20). `operator`: every item of it
 * (ERC-721, ERC-1155). `permit2`: so many units until a time, through Permit2.
 */
export type ApprovalWay = 'allowance' | 'operator' | 'permit2';

/** The newest event by which an owner allowed a spender to take a token. */
export type ApprovalEvent = {
  readonly chain: EvmChainName;
  readonly way: ApprovalWay;
  readonly token: string;
  readonly spender: string;
  /** `null`: every item. */
  readonly raw_amount: bigint | null;
  readonly tx: string;
  readonly block: number;
};

/** The newest event of each way, token and spender, up to a block where the source names one. */
export type ApprovalsGiven = {
  readonly events: readonly ApprovalEvent[];
  readonly to_block: number | null;
};

/** What may still be taken, at a block; `null`: every item. Zero is closed. */
export type Allowance = { readonly raw_amount: bigint | null; readonly block: number };

/** Where Permit2 stands, in the form that `parseEvmAddress` gives. */
export type Permit2 = () => Promise<Reading<readonly string[], TokenApprovalsPort>>;

/** Approvals of tokens: ERC-20, ERC-721, ERC-1155 and Permit2. */
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
    approval: Pick<ApprovalEvent, 'chain' | 'way' | 'token' | 'spender'>,
    owner: string,
    signal: AbortSignal,
  ) => Promise<Partly<Allowance, TokenApprovalsPort>>;
};
