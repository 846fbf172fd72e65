// Analyses of traders: what is known of an address, and the queue of those that wait.

import type { Reading } from '../evidence/reading.ts';
import type { Why } from '../evidence/reasons.ts';

/** How profit is laid in time: to the hour of the closing, or over the hours of the position. */
export const MODES = ['realization', 'exposure'] as const;
export type Mode = (typeof MODES)[number];
export const PARTITIONS = ['session', 'weekpart', 'hour_of_day'] as const;
export type Partition = (typeof PARTITIONS)[number];

/** Why there is no label: the first that holds, in this order. */
export const NO_LABEL_REASONS = [
  'no_trades',
  'record_too_short',
  'horizon_reached',
  'too_few_trades',
  'not_more_than_chance',
  'too_small',
  'no_profit',
] as const;
export type NoLabelReason = (typeof NO_LABEL_REASONS)[number];

/** What is known of a trader. `A` is the analysis, whose shape belongs to the feature. */
export type TraderStanding<A, U extends string> = {
  /** The newest analysis, with its time in Unix seconds; `null`: none was ever made. */
  readonly analysis: { readonly made_at: number; readonly analysis: A } | null;
  /** The account was looked at later and cannot be analysed; an agent signs for `of`. */
  readonly unanalysable: {
    readonly at: number;
    readonly because: U;
    readonly of: string | null;
  } | null;
  /** The last attempt, where it failed. `outside`: because the venue did not answer. */
  readonly failed: {
    readonly at: number;
    readonly reason: string;
    readonly outside: boolean;
  } | null;
};

/** Where a question has put an address. */
export type QueuePlace = 'queued' | 'full' | 'not_asked' | 'not_set_up';

export type TraderAnalysesPort = 'trader_analyses';

/** The analyses, for whoever reads them. */
export type TraderAnalyses<A, U extends string> = {
  readonly standingOf: (
    address: string,
  ) => Promise<Reading<TraderStanding<A, U>, TraderAnalysesPort>>;
  /** Asks for an analysis, of an address that has none or whose analysis is to be renewed. */
  readonly ask: (address: string) => Promise<Reading<QueuePlace, TraderAnalysesPort>>;
};

/** What an attempt came to. */
export type TraderOutcome<A, U extends string> =
  | { readonly end: 'analysed'; readonly analysis: A }
  | { readonly end: 'unanalysable'; readonly because: U; readonly of: string | null }
  | { readonly end: 'failed'; readonly why: Why; readonly outside: boolean };

/** The analyses, for whoever makes them. */
export type TraderWork<A, U extends string> = {
  /** The next address that is due, taken for so long; `null`: none is. */
  readonly take: (forS: number) => Promise<Reading<string | null, TraderAnalysesPort>>;
  /** Makes an address that was taken due again: nobody works on it any more. */
  readonly putBack: (address: string) => Promise<Reading<unknown, TraderAnalysesPort>>;
  /** Keeps what an attempt came to. A failed one leaves the analysis before it. */
  readonly settle: (
    address: string,
    outcome: TraderOutcome<A, U>,
  ) => Promise<Reading<unknown, TraderAnalysesPort>>;
};
