// As which readings does what chains say of one address reach the kinds of finding?

import type { EvmChainName } from '../../chain/chain.ts';
import type { Partly } from '../../evidence/reading.ts';
import type { ChainFactsPort, FactReadings, SetBy } from '../../ports/accounts/chain-facts.ts';
import type { FreezeState, IssuerFreezesPort } from '../../ports/accounts/issuer-freezes.ts';
import type {
  Allowance,
  ApprovalsGiven,
  TokenApprovalsPort,
} from '../../ports/accounts/token-approvals.ts';

/** What one chain says of the subject. */
export type ChainFactsOf = {
  readonly chain: EvmChainName;
  readonly facts: FactReadings;
  /** Whether who made it was asked there: an explorer's calls are counted. */
  readonly creation_asked: boolean;
};

/** The facts that name somebody else. */
export type NamingFact =
  | 'creator'
  | 'factory'
  | 'implementation'
  | 'admin'
  | 'beacon'
  | 'owner'
  | 'minimal_proxy_of'
  | 'delegates_to';

/** An address that a fact names. `tx` and `block` are null for a fact of today's state. */
export type NamedByFact = {
  readonly chain: EvmChainName;
  readonly fact: NamingFact;
  readonly address: string;
  readonly tx: string | null;
  readonly block: number | null;
};

/** Which transactions set what facts name, by `namedKey`. */
export type SetByOf = ReadonlyMap<string, Partly<SetBy | null, ChainFactsPort>>;

/** What the issuers of one chain's tokens say. */
export type FreezesOf = {
  readonly chain: EvmChainName;
  readonly states: Partly<readonly FreezeState[], IssuerFreezesPort>;
};

/** Whom the address allowed on one chain. */
export type ApprovalsOf = {
  readonly chain: EvmChainName;
  readonly given: Partly<ApprovalsGiven, TokenApprovalsPort>;
};

/** What is left of approvals, by `approvalKey`. */
export type LeftOf = ReadonlyMap<string, Partly<Allowance, TokenApprovalsPort>>;
