// Answers one question: how many of the launches on record were listed, and died, by month?
// It counts what was collected here, which is a part of what is launched.

import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type LaunchMonthsPort = 'launch_months';

/** The launches of one month (UTC) on one chain. */
export type LaunchMonth = {
  /**
   * On Ethereum a launch is listed where a venue lists it, and died where its pools hold less than
   * the exit level. On Solana it is counted once its window has passed, and died where no venue
   * lists it then.
   */
  readonly chain: 'ethereum' | 'solana';
  /** `YYYY-MM`. */
  readonly month: string;
  readonly listed: number;
  readonly died: number;
  /** Launches whose outcome is not known: in no count. */
  readonly unchecked: number;
};

/** The counts. */
export type LaunchMonths = {
  /** The last `monthsMax` months with this one, oldest first; a month without any is absent. */
  readonly newest: (
    monthsMax: number,
  ) => Promise<Reading<readonly LaunchMonth[], LaunchMonthsPort>>;
};
