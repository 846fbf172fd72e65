// Answers one question: how much of an allowance is used, and is there one more.
// It refuses to grant past the limit, however many processes charge at once.

import type { Reading } from '../../evidence/reading.ts';
import type { Soon } from '../../evidence/waiting.ts';

/** The name of this port in readings. */
export type QuotaPort = 'quota';

/** What is charged against: a subject and its UTC day (`2026-11-21`) or month (`2026-11`). */
export type Allowance = {
  readonly subject: string;
  readonly period: string;
  readonly limit: number;
};

/** What became of a charge. `used` is the use after it; one that was not granted added nothing. */
export type Charge = { readonly granted: boolean; readonly used: number; readonly limit: number };

/** What is left of an allowance. `remaining` is never below zero. */
export type Remaining = {
  readonly used: number;
  readonly remaining: number;
  readonly limit: number;
};

/** What was used of a daily allowance on a day. */
export type DayOfUse = { readonly day: string; readonly used: number };

/** The counters. */
export type QuotaStore = {
  /** Charges one. It is stored before the promise resolves. */
  readonly charge: (allowance: Allowance) => Promise<Reading<Charge, QuotaPort>>;
  /** What is left, as last seen here within two seconds or read now. A spent one stays spent. */
  readonly remaining: (allowance: Allowance) => Soon<Reading<Remaining, QuotaPort>>;
  /** The use, where it was seen here within two seconds or is spent; asks nobody. */
  readonly lastSeen: (allowance: Allowance) => number | null;
  /** The use of each day from one to another (`2026-11-21`) that has any, in their order. */
  readonly days: (
    subject: string,
    from: string,
    to: string,
  ) => Promise<Reading<readonly DayOfUse[], QuotaPort>>;
  /** The use that is stored now. */
  readonly usage: (subject: string, period: string) => Promise<Reading<number, QuotaPort>>;
};
