// Answers one question: may this caller ask, and is the asking paid for.
// It decides on credentials and allowance only; it never sees what is asked about.

import type { Refusal } from '../contract/refusals.ts';
import type { AccessRule } from '../contract/route.ts';

/** What a request shows of itself. Header values as they came, `null` where absent. */
export type Shown = {
  readonly authorization: string | null;
  readonly membershipHeader: string | null;
  /** True where the query string carries something that looks like a credential. */
  readonly credentialInQuery: boolean;
};

/** The caller's allowance of the period: counts of requests, and whole seconds to its reset. */
export type Allowance = {
  readonly limit: number;
  readonly remaining: number;
  readonly resetS: number;
};

/** An admitted caller, to be charged when its answer is ready. */
export type Admitted = {
  readonly kind: 'admitted';
  /** Whose allowance it is: a membership or a partner key. */
  readonly subject: string;
  readonly limit: number;
  /** `2026-11-21` for a daily allowance, `2026-11` for a monthly one. */
  readonly period: string;
  readonly allowance: Allowance;
};

/** Turned away, with the allowance to show beside it. */
export type TurnedAway = {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  readonly allowance: Allowance;
};

/** The gate in front of every hosted route. */
export type Gate = {
  /** Credential first, then allowance; nothing is charged yet. */
  readonly admit: (shown: Shown, rule: AccessRule) => Promise<Admitted | TurnedAway>;
  /** Stores one charge before the answer leaves; never past the limit, whichever process asks. */
  readonly charge: (
    admitted: Admitted,
  ) => Promise<{ readonly kind: 'charged'; readonly allowance: Allowance } | TurnedAway>;
};
