// Tokens of Solana, as the chain holds them: what a mint says of itself, and its largest accounts.

import type { Partly } from '../evidence/reading.ts';

/** The name of this port in readings. */
export type TokenHoldersPort = 'token_holders';

/** A mint. An authority that was given up for good is `null`. */
export type TokenMint = {
  readonly program: 'token' | 'token_2022';
  /** In the smallest unit. */
  readonly supply: bigint;
  readonly decimals: number;
  /** Who may make more of it. */
  readonly mint_authority: string | null;
  /** Who may freeze accounts of it. */
  readonly freeze_authority: string | null;
  /** Who may move it out of every account (an extension of the newer program). */
  readonly permanent_delegate: string | null;
};

/** A token account. `owner` is `null` where the account was closed between the two questions. */
export type TokenAccount = {
  readonly account: string;
  readonly owner: string | null;
  readonly raw_amount: bigint;
};

/** A mint with its largest accounts, the largest first: a node tells of twenty. */
export type HeldToken = { readonly mint: TokenMint; readonly accounts: readonly TokenAccount[] };

/** Both are `null` of an address that is no mint. The signal ends the reading. */
export type TokenHolders = {
  readonly mintOf: (
    address: string,
    signal: AbortSignal,
  ) => Promise<Partly<TokenMint | null, TokenHoldersPort>>;
  readonly largestOf: (
    address: string,
    signal: AbortSignal,
  ) => Promise<Partly<HeldToken | null, TokenHoldersPort>>;
};
