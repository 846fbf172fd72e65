// What does the chart of launches by month say, in the terms of its page?

/** One month of a chain; `null` where no launch of it is on record. */
export type ChartMonth = {
  readonly month: string;
  readonly counted: CountedMonth | null;
};

/** A month with its counts. `share` is `died` of `listed`, with its interval at 95%. */
export type CountedMonth = {
  readonly listed: number;
  readonly died: number;
  readonly unchecked: number;
  readonly share: { readonly value: number; readonly low: number; readonly high: number } | null;
};

/** A chain of which launches are on record. */
export type LaunchChart = {
  readonly chain: 'ethereum' | 'solana';
  /** Oldest first. */
  readonly months: readonly ChartMonth[];
  readonly listed_max: number;
};

/** The charts of a page, or why the launches on record could not be read. */
export type ShownCharts = readonly LaunchChart[] | { readonly reason: string };
