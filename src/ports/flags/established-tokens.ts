// Answers one question: which tokens are established by review, so that no flag of them is shown?

import type { ChainName } from '../../chain/chain.ts';
import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type EstablishedTokensPort = 'established_tokens';

/** A token of a chain; its address in the form that `parseAddress` gives. */
type TokenOnChain = { readonly chain: ChainName; readonly token: string };

/** The reviewed list. */
export type EstablishedTokens = {
  /** Those of the tokens that stand on it, as they were given. */
  readonly among: <T extends TokenOnChain>(
    tokens: readonly T[],
  ) => Promise<Reading<ReadonlySet<T>, EstablishedTokensPort>>;
};
