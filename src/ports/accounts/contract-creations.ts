// Answers one question: which contracts did an address sign for, and who signed for it?
// That an address made no contract needs every creation of the chain, from the first block on.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type ContractCreationsPort = 'contract_creations';

/** One creation of a contract. Addresses are in lower case. */
export type Creation = {
  readonly chain: EvmChainName;
  readonly created: string;
  /** Who ran it: the signer itself, or a factory. */
  readonly creator: string;
  /** Who signed it; `null` where the source does not say. */
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
