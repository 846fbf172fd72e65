// The service's own spending in a day (UTC), counted where every process counts: a restart forgets
// nothing, and several processes cannot pass a bound together.

import type { Reading } from '../evidence/reading.ts';

/** The name of this port in readings. */
export type DaySpendingPort = 'day_spending';

/** What is spent: calls of the producer of signals, and millionths of a US dollar. */
export const SPENDINGS = ['signal_calls', 'analyst_usd_millionths'] as const;
export type Spending = (typeof SPENDINGS)[number];

/** A part of a day's bound that nobody else may spend; 0: too little was left. */
export type SetAside = {
  /** By the clock of the store, in ISO 8601. */
  readonly day: string;
  readonly amount: number;
  /** All that is spent or set aside on that day, this amount among it. */
  readonly spent: number;
};

export type DaySpending = {
  /** Sets aside up to `most` of what the day's bound leaves; of less than `least`, nothing. */
  readonly setAside: (
    what: Spending,
    amounts: { readonly most: number; readonly least: number; readonly limit: number },
  ) => Promise<Reading<SetAside, DaySpendingPort>>;
  /** Gives back what was set aside on a day and not spent. */
  readonly giveBack: (
    what: Spending,
    unspent: Pick<SetAside, 'day' | 'amount'>,
  ) => Promise<Reading<true, DaySpendingPort>>;
};
