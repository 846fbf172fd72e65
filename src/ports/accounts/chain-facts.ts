// Answers one question: what does a chain itself say of one address?
// Each fact is a reading of its own. One that was not read is unread and says why; nothing is
// inferred from another one.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type ChainFactsPort = 'chain_facts';

/** The code at an address. `size` counts bytes; zero is an account without code. */
export type CodeFact = {
  readonly size: number;
  /** The account whose code this one runs by delegation (EIP-7702): it is no contract itself. */
  readonly delegates_to: string | null;
  /** The contract that a minimal proxy (EIP-1167) hands its calls to. */
  readonly minimal_proxy_of: string | null;
};

/** Where a contract came from. `creator` signed, `factory` ran the creation where another did. */
export type CreationFact = {
  readonly creator: string;
  readonly factory: string | null;
  readonly tx: string;
  readonly block: number | null;
};

/** Who may change what a contract does; `null` where the place that would name one is empty. */
export type AuthorityFact = {
  /** The slots of EIP-1967. */
  readonly implementation: string | null;
  readonly admin: string | null;
  readonly beacon: string | null;
  /** What its function `owner()` answers; `null` also where it has none. */
  readonly owner: string | null;
};

/** What can be asked of an address. */
export type FactValues = {
  readonly code: CodeFact;
  readonly nonce: number;
  readonly balance_wei: bigint;
  /** The name of the verified source; `null` where the explorer holds no verified source. */
  readonly verified_name: string | null;
  /** A creation that was found. A source that knows of none leaves it unread. */
  readonly creation: CreationFact;
  /** Whether it answers as a fungible token does (`totalSupply` and `decimals`). */
  readonly is_token: boolean;
  readonly authority: AuthorityFact;
};
export type FactName = keyof FactValues;

/** The facts that there are, in the order in which they are asked. */
export const FACT_NAMES = [
  'code',
  'nonce',
  'balance_wei',
  'verified_name',
  'creation',
  'is_token',
  'authority',
] as const satisfies readonly FactName[];

/** One reading for each fact. Made-up facts are parts with the reason `simulated`. */
export type FactReadings = {
  readonly [F in FactName]: Partly<FactValues[F], ChainFactsPort>;
};

/** The facts of an account's state that a transaction makes name somebody. */
export type SetFact = 'implementation' | 'admin' | 'beacon' | 'owner' | 'delegates_to';

/** The transaction that made a fact name an address. */
export type SetBy = { readonly tx: string; readonly block: number };

/** Facts of single addresses, whichever node, explorer or store holds them. */
export type ChainFacts = {
  /** The chains beside the main one whose state costs no explorer's call to read. */
  readonly stateChains: readonly EvmChainName[];
  /** What is not `wanted` is unread and was not asked for. The signal ends the reading. */
  readonly of: (
    chain: EvmChainName,
    address: string,
    wanted: readonly FactName[],
    signal: AbortSignal,
  ) => Promise<FactReadings>;
  /**
   * The transaction that made a fact of the account name this address; `null` where nothing that
   * the source lists names one (a constructor, a setter without an event).
   */
  readonly setBy: (
    chain: EvmChainName,
    account: string,
    named: { readonly fact: SetFact; readonly address: string },
    signal: AbortSignal,
  ) => Promise<Partly<SetBy | null, ChainFactsPort>>;
};
