// Each fact is a reading of its own. One that was not read is unread and says why; nothing is
// inferred from another one.

import type { EvmChainName } from '../chain/chain.ts';
import { type Partly, part, type Reading, read, type Unread, unread } from '../evidence/reading.ts';
import { type Why, why } from '../evidence/reasons.ts';
import type { Source } from '../evidence/source.ts';

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

/**
 * Where a contract came from. `creator` signed; it is `null` where a bundler or a relayer signed
 * for somebody else by way of `relay`, a reviewed contract. `factory` ran the creation where
 * another contract did.
 */
export type CreationFact = {
  readonly creator: string | null;
  readonly relay: string | null;
  readonly factory: string | null;
  readonly tx: string;
  readonly block: number | null;
};

/** The names of the contracts by way of which bundlers and relayers have others' calls made. */
export type Relays = () => Promise<Reading<ReadonlyMap<string, string>, ChainFactsPort>>;

/** An address with power over a contract; `null` if the slot that would name one is empty. */
export type AuthorityFact = {
  /** The slots of EIP-1967. */
  readonly implementation: string | null;
  readonly admin: string | null;
  readonly beacon: string | null;
  /** The answer of its function `owner()`; `null` also if it has none. */
  readonly owner: string | null;
};

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
  /** Facts that are not `wanted` are unread and were not requested. The signal ends the reading. */
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

// That an address made no contract needs every creation of the chain, from the first block on.

/** The name of this port in readings and contracts. */
export type ContractCreationsPort = 'contract_creations';

/** One creation of a contract. Addresses are in lower case. */
export type Creation = {
  readonly chain: EvmChainName;
  readonly created: string;
  /** The creator: the signer itself, or a factory. */
  readonly creator: string;
  /** The signer; `null` if the source does not name it. */
  readonly signer: string | null;
  readonly tx: string;
  readonly block: number;
  /** Unix seconds. */
  readonly at: number;
};

/** The creations of contracts, as far as they are held. */
export type ContractCreations = {
  /**
   * The creation of the address, what it signed for, and what else its own signer signed for.
   * Whole only where every creation of the chain is held, to a fresh tip.
   */
  readonly around: (
    chain: EvmChainName,
    address: string,
    signal: AbortSignal,
  ) => Promise<Partly<readonly Creation[], ContractCreationsPort>>;
};

// An issuer's black list is a state of its own contract: it is asked at one block, and is of it.

/** The name of this port in readings and contracts. */
export type IssuerFreezesPort = 'issuer_freezes';

/** A token whose issuer can freeze what an address holds of it. */
export type FreezingToken = {
  readonly issuer: string;
  readonly symbol: string;
  readonly chain: EvmChainName;
  /** In the form that `parseAddress` gives. */
  readonly address: string;
  /** The function that says whether an address is on the list: `isBlacklisted(address)`. */
  readonly asks: string;
  /** The events that put an address on it, their argument called `account`. */
  readonly logs: readonly string[];
  readonly source: string;
  readonly source_url: string;
  /** Another source that names the same contract. */
  readonly second_source: string;
  /** ISO 8601 day of the last review. */
  readonly reviewed: string;
};

/** The answer of a token's contract about the address. */
export type FreezeState = {
  readonly token: FreezingToken;
  readonly frozen: boolean;
  /** The block at which it was asked. */
  readonly block: number;
  /**
   * The newest event that put it on the list: `null` where it is not on it, or no event was found;
   * why that was not read, where the look-up failed.
   */
  readonly placed: { readonly tx: string; readonly block: number } | Why | null;
};

/** The black lists of issuers. */
export type IssuerFreezes = {
  /** The chains beside the main one on which somebody can be asked. */
  readonly chains: readonly EvmChainName[];
  /** The answer of each token of the registry on the chain; a part if one of them gave none. */
  readonly of: (
    chain: EvmChainName,
    address: string,
    signal: AbortSignal,
  ) => Promise<Partly<readonly FreezeState[], IssuerFreezesPort>>;
};

// The registry is partial by construction: a miss clears nobody.

/** The name of this port in readings and contracts. */
export type MixerRegistryPort = 'mixer_registry';

/** One row of the registry. */
export type MixerContract = {
  readonly protocol: string;
  readonly chain: EvmChainName;
  /** In the form that `parseAddress` gives. */
  readonly address: string;
  readonly role: 'pool' | 'router';
  readonly name: string;
  /** The first block in which it stood; `null` where no source was read for it. */
  readonly valid_from_block: number | null;
  readonly source: string;
  readonly source_url: string;
  /** Another source that names the same contract; `null` where one alone does. */
  readonly second_source: string | null;
  /** ISO 8601 day of the last review. */
  readonly reviewed: string;
};

/** The result of a look-up, by requested address; one address may stand for several chains. */
export type MixerLookUp = {
  readonly table_rows: number;
  readonly found: ReadonlyMap<string, readonly MixerContract[]>;
};

export type MixerRegistry = {
  readonly lookUp: (
    addresses: readonly string[],
  ) => Promise<Reading<MixerLookUp, MixerRegistryPort>>;
};

// An event says what was allowed once; only the contract itself says what is left of it.

/** The name of this port in readings and contracts. */
export type TokenApprovalsPort = 'token_approvals';

/**
 * The ways to take a token. `allowance`: a number of units (ERC-20). `operator`: every item of it
 * (ERC-721, ERC-1155). `permit2`: a number of units until a time, through Permit2.
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
export type ApprovalEvents = {
  readonly events: readonly ApprovalEvent[];
  readonly to_block: number | null;
};

/** The remaining allowance, at a block; `null`: every item. Zero is closed. */
export type TokenAllowance = { readonly raw_amount: bigint | null; readonly block: number };

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
  ) => Promise<Partly<ApprovalEvents, TokenApprovalsPort>>;
  /** The remaining allowance of one approval. */
  readonly left: (
    approval: Pick<ApprovalEvent, 'chain' | 'way' | 'token' | 'spender'>,
    owner: string,
    signal: AbortSignal,
  ) => Promise<Partly<TokenAllowance, TokenApprovalsPort>>;
};

// Shared by adapters of chain facts: silence by name, and the marks of simulated facts.

const PORT = 'chain_facts';

/** A fact of a source; one of the simulated world is a part, whatever else may be said of it. */
export function factRead<T>(value: T, source: Source): Partly<T, ChainFactsPort> {
  const origin = { port: PORT, source } as const;
  return source.simulated ? part(value, origin, why('simulated')) : read(value, origin);
}

/** A fact that was not read. */
export function factUnread(reason: Why): Unread<ChainFactsPort> {
  return unread(PORT, reason);
}

/** Every fact unread for one reason. */
export function noFacts(reason: Why): FactReadings {
  const silent = factUnread(reason);
  return {
    code: silent,
    nonce: silent,
    balance_wei: silent,
    verified_name: silent,
    creation: silent,
    is_token: silent,
    authority: silent,
  };
}

/** The reader of each fact; a fact that a source cannot give has no reader. */
type FactReaders = {
  readonly [F in FactName]?: () => Promise<Partly<FactValues[F], ChainFactsPort>>;
};

/** Reads what is wanted, all at once; what is not wanted or not told is unread and says so. */
export async function readFacts(
  readers: FactReaders,
  wanted: readonly FactName[],
  source: string,
): Promise<FactReadings> {
  const ask = <F extends FactName>(fact: F): Promise<Partly<FactValues[F], ChainFactsPort>> => {
    if (!wanted.includes(fact)) return Promise.resolve(factUnread(why('not_wanted')));
    const reader = readers[fact];
    const untold = why('fact_not_told', { source, fact: fact.replaceAll('_', ' ') });
    return reader === undefined ? Promise.resolve(factUnread(untold)) : reader();
  };
  const [code, nonce, balance_wei, verified_name, creation, is_token, authority] =
    await Promise.all([
      ask('code'),
      ask('nonce'),
      ask('balance_wei'),
      ask('verified_name'),
      ask('creation'),
      ask('is_token'),
      ask('authority'),
    ]);
  return { code, nonce, balance_wei, verified_name, creation, is_token, authority };
}
