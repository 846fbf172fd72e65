// What a provider answers about a token at the moment it is asked: its opinion, never our finding.

import type { Reading } from '../evidence/reading.ts';
import type { RiskProvider } from './provider-calls.ts';

/** The name of this port in readings. */
export type TokenRiskPort = 'token_risk';

/**
 * The fields of an answer that were told, each as text under the provider's own name. A field that
 * is missing was not told, whatever the others say; no field at all: the provider knows nothing of
 * the token.
 */
export type RiskFields = { readonly [field: string]: string };

/** A provider that is asked about tokens of one chain. */
export type TokenRisk = {
  readonly provider: RiskProvider;
  readonly chain: 'ethereum' | 'solana';
  readonly fieldsOf: (
    token: string,
    signal: AbortSignal,
  ) => Promise<Reading<RiskFields, TokenRiskPort>>;
};
