// Whether a rule looks ahead. What was not known at a time is replaced by noise, one kind of it
// after another: what a rule says then must stay the same, and one that looks ahead is named with
// what it looked at. Pure.

import { multiplyDecimals } from '../chain/amount.ts';
import { sharesFrom } from '../evidence/random.ts';
import {
  CANDLE_MS,
  type SeriesKind,
  type SeriesName,
  type SeriesRow,
  type SeriesSpan,
} from '../ports/series.ts';
import { settledHour } from '../ports/series-coverage.ts';

/** A rule at a time: what it says of a record, as a value that JSON holds. */
export type Judged<R> = {
  readonly name: string;
  /** What became known later must not matter. Milliseconds. */
  readonly until: number;
  readonly judge: (record: R) => Promise<unknown>;
};

/** A change of a record in nothing that was known at a time. */
export type Noise<R> = {
  /** What it changes, in words. */
  readonly changes: string;
  readonly apply: (record: R, until: number) => R;
};

/** A rule that says something else where only the future is another. */
export type Leak = { readonly rule: string; readonly looks_at: string };

/** Each rule with each kind of future that it looks at. */
export async function findLeaks<R>(
  record: R,
  rules: readonly Judged<R>[],
  noises: readonly Noise<R>[],
): Promise<readonly Leak[]> {
  const leaks: Leak[] = [];
  for (const { name, until, judge } of rules) {
    const said = JSON.stringify(await judge(record));
    for (const { changes, apply } of noises) {
      const again = JSON.stringify(await judge(apply(record, until)));
      if (again !== said) leaks.push({ rule: name, looks_at: changes });
    }
  }
  return leaks;
}

/** Rows of one series that arrived together, and of which times they are all. */
export type SeriesBatch<S extends SeriesKind = SeriesKind> = {
  readonly name: SeriesName<S>;
  readonly received_at: number;
  readonly rows: readonly SeriesRow<S>[];
  readonly covered: readonly SeriesSpan[];
};
/** Everything that was ever received, in the order of receipt. */
export type SeriesRecord = readonly SeriesBatch[];

type Lift = (value: string) => string;

/** The same row with other values: what tells it from others stays. */
const OTHER_VALUES: {
  readonly [S in SeriesKind]: (row: SeriesRow<S>, lift: Lift) => SeriesRow<S>;
} = {
  candles: (row, lift) => ({
    ...endOfCandle(row, lift),
    open: lift(row.open),
  }),
  funding: (row, lift) => ({ ...row, rate: lift(row.rate) }),
  fills: (row, lift) => ({ ...row, closed_pnl: lift(row.closed_pnl) }),
  account_funding: (row, lift) => ({ ...row, usdc: lift(row.usdc) }),
  open_interest: (row, lift) => ({ ...row, contracts: lift(row.contracts) }),
  liquidations: (row, lift) => ({ ...row, notional: lift(row.notional) }),
  marks: (row, lift) => ({ ...row, price: lift(row.price) }),
  listings: (row) => ({ ...row, state: row.state === 'trading' ? 'delisted' : 'trading' }),
  net_flow: (row, lift) => ({ ...row, in_usd: lift(row.in_usd), out_usd: lift(row.out_usd) }),
  whale_transfers: (row, lift) => ({ ...row, usd: lift(row.usd) }),
};

/** What is known of a candle when its hour is over. */
function endOfCandle(row: SeriesRow<'candles'>, lift: Lift): SeriesRow<'candles'> {
  const { at, open } = row;
  const [high, low, close, volume] = [row.high, row.low, row.close, row.volume].map(lift);
  return { at, open, high: `${high}`, low: `${low}`, close: `${close}`, volume: `${volume}` };
}

const FACTOR_DIGITS = 4;

/** Multiplies by something else than one: up to four times as much, or a fifth. */
function lifterOf(draw: () => number): Lift {
  return (value) => {
    const share = draw();
    return multiplyDecimals(
      value,
      (share < 0.5 ? 0.2 + share : 1 + 3 * share).toFixed(FACTOR_DIGITS),
    );
  };
}

function isOf<S extends SeriesKind>(batch: SeriesBatch, series: S): batch is SeriesBatch<S> {
  return batch.name.series === series;
}

function changeRows<S extends SeriesKind>(
  batch: SeriesBatch<S>,
  change: (row: SeriesRow<S>) => SeriesRow<S>,
): SeriesBatch<S> {
  return { ...batch, rows: batch.rows.map(change) };
}

function otherValues<S extends SeriesKind>(batch: SeriesBatch<S>, lift: Lift): SeriesBatch<S> {
  const change = OTHER_VALUES[batch.name.series];
  return changeRows(batch, (row) => change(row, lift));
}

const SERIES: readonly SeriesKind[] = [
  ...(['candles', 'funding', 'open_interest', 'liquidations', 'marks', 'listings'] as const),
  ...(['net_flow', 'whale_transfers'] as const),
];

/** What was received after a time, for rules that are judged by what was received by it. */
export function laterReceipts(seed: number): readonly Noise<SeriesRecord>[] {
  return [
    ...SERIES.flatMap((series) => [
      {
        changes: `${series} that were received later`,
        apply: (record: SeriesRecord, until: number) => {
          const lift = lifterOf(sharesFrom(seed));
          return record.map((batch) =>
            batch.name.series === series && batch.received_at > until
              ? otherValues(batch, lift)
              : batch,
          );
        },
      },
      {
        changes: `a revision of ${series} that was received later`,
        apply: (record: SeriesRecord, until: number) =>
          reviseAfter(record, until, series, (batch) =>
            otherValues(batch, lifterOf(sharesFrom(seed))),
          ),
      },
    ]),
    {
      changes: 'a label that was imported later',
      apply: (record, until) => reviseAfter(record, until, 'whale_transfers', relabel),
    },
    {
      changes: 'what was covered later',
      apply: (record, until) =>
        record.map((batch) => (batch.received_at > until ? { ...batch, covered: [] } : batch)),
    },
  ];
}

/** The same record with another word about all that was known, which comes right after. */
function reviseAfter(
  record: SeriesRecord,
  until: number,
  series: SeriesKind,
  revise: (batch: SeriesBatch) => SeriesBatch,
): SeriesRecord {
  const known = record.filter(
    (batch) => batch.name.series === series && batch.received_at <= until,
  );
  const revised = known.map(
    (batch): SeriesBatch => ({ ...revise(batch), received_at: until + 1, covered: [] }),
  );
  return [
    ...record.filter((batch) => batch.received_at <= until),
    ...revised,
    ...record.filter((batch) => batch.received_at > until),
  ];
}

/** What an exchange sent, others sent, and the other way. */
function relabel(batch: SeriesBatch): SeriesBatch {
  if (!isOf(batch, 'whale_transfers')) return batch;
  return changeRows(batch, (row) => ({
    ...row,
    from_label: row.to_label,
    to_label: row.from_label,
  }));
}

/** What happened after a time, for rules about a moment that are applied later. */
export function laterEvents(seed: number): readonly Noise<SeriesRecord>[] {
  const where = <S extends SeriesKind>(
    changes: string,
    series: S,
    change: (row: SeriesRow<S>, until: number, lift: Lift) => SeriesRow<S>,
  ): Noise<SeriesRecord> => ({
    changes,
    apply: (record, until) => {
      const lift = lifterOf(sharesFrom(seed));
      return record.map((batch) =>
        isOf(batch, series) ? changeRows(batch, (row) => change(row, until, lift)) : batch,
      );
    },
  });
  return [
    where(
      'close, high, low and volume of an hour that was not over',
      'candles',
      (row, until, lift) =>
        row.at <= until && row.at + CANDLE_MS > until ? endOfCandle(row, lift) : row,
    ),
    where('candles of later hours', 'candles', (row, until, lift) =>
      row.at > until ? OTHER_VALUES.candles(row, lift) : row,
    ),
    where('funding of later hours', 'funding', (row, until, lift) =>
      settledHour(row.at) > until ? OTHER_VALUES.funding(row, lift) : row,
    ),
    where('listings of later times', 'listings', (row, until, lift) =>
      row.at > until ? OTHER_VALUES.listings(row, lift) : row,
    ),
  ];
}
