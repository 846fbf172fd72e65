// Where in time the profit of an account lies: two ways to say when it was made, three ways to cut
// time, and for each bucket with enough trades whether it is more than chance. What is asked for
// changes nothing here: all tests are one family.

import { DAY_S, HOUR_S, MS_PER_S } from '../../chain/time.ts';
import { countOrZero } from '../../evidence/measure.ts';
import { falseDiscoveryRates } from '../../evidence/statistics.ts';
import { MODES, type Mode, PARTITIONS, type Partition } from '../../ports/traders.ts';
import type { ExposedHour } from './exposure.ts';
import {
  type Cells,
  meanBlockLength,
  permutationPValues,
  type Sequence,
  scoreOutcomes,
  shareIntervals,
} from './null-model.ts';
import type { Bucket } from './shapes.ts';
import { MICRO, type Trade } from './trades.ts';

/** A bucket is tested from so many trades on. */
export const TRADES_MIN = 30;

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const WEEKEND = 24;
const everyDay = (hours: readonly number[]): Cells =>
  new Set(hours.flatMap((hour) => [hour, hour + WEEKEND]));
const hoursFrom = (from: number, to: number) => HOURS.slice(from, to);

/** A window of time, in UTC. `hours` are those that it holds of each of its days. */
export type TimeWindow = {
  readonly bucket: string;
  readonly definition: string;
  readonly cells: Cells;
};

/** What each partition cuts time into: its windows never overlap, and leave no hour out. */
export const WINDOWS: { readonly [P in Partition]: readonly TimeWindow[] } = {
  session: [
    { bucket: 'asia', definition: '00:00 to 08:00 UTC', cells: everyDay(hoursFrom(0, 8)) },
    { bucket: 'europe', definition: '08:00 to 16:00 UTC', cells: everyDay(hoursFrom(8, 16)) },
    { bucket: 'us', definition: '16:00 to 24:00 UTC', cells: everyDay(hoursFrom(16, 24)) },
  ],
  weekpart: [
    { bucket: 'weekday', definition: 'Monday to Friday, UTC', cells: new Set(HOURS) },
    {
      bucket: 'weekend',
      definition: 'Saturday and Sunday, UTC',
      cells: new Set(HOURS.map((hour) => hour + WEEKEND)),
    },
  ],
  hour_of_day: HOURS.map((hour) => {
    const name = String(hour).padStart(2, '0');
    return { bucket: name, definition: `${name}:00 to ${name}:59 UTC`, cells: everyDay([hour]) };
  }),
};

const THURSDAY = 4;
const DAYS = 7;
const SATURDAY = 6;

/** The cell of a time in ms: its hour of day, from 24 on of a Saturday or Sunday. */
export function cellOf(at: number): number {
  const day = Math.floor(at / (DAY_S * MS_PER_S));
  const hour = Math.floor(at / (HOUR_S * MS_PER_S)) - day * HOURS.length;
  const weekday = (((day + THURSDAY) % DAYS) + DAYS) % DAYS;
  return weekday === 0 || weekday === SATURDAY ? hour + WEEKEND : hour;
}

export type Concentration = {
  readonly [M in Mode]: { readonly [P in Partition]: readonly Bucket[] };
};

export type ConcentrationInput = {
  readonly trades: readonly Pick<Trade, 'at' | 'pnl'>[];
  readonly hours: readonly ExposedHour[];
  readonly seed: number;
  readonly permutations: number;
  /** Whether the record is long enough for a test. */
  readonly testable: boolean;
  /** Resamples for the intervals of shares, which no label rests on; with 0 there are none. */
  readonly resamples?: number;
};

/** All buckets of both modes, and what the tests rested on. */
export type ConcentrationResult = {
  readonly modes: Concentration;
  /** How many tests the family holds. */
  readonly tests: number;
  /** The mean length of blocks; `null` where nothing was tested. */
  readonly block_mean: { readonly [M in Mode]: number | null };
};

/** An outcome: its time in ms, and what it gained in micro dollars. */
export type TimedOutcome = { readonly at: number; readonly pnl: number };

/** The p-value of each bucket, and the mean length of the blocks that were moved. */
export type BucketTest = (
  outcomes: readonly TimedOutcome[],
  buckets: readonly Cells[],
  moves: { readonly seed: number; readonly permutations: number },
) => { readonly p: readonly number[]; readonly block_mean: number };

/** The test of the product: blocks as long as the outcomes themselves ask for. */
export const testByBlocks: BucketTest = (outcomes, buckets, moves) => {
  const sequence = sequenceOf(outcomes);
  const block_mean = meanBlockLength(sequence.scores);
  return { p: permutationPValues(sequence, buckets, { ...moves, block_mean }), block_mean };
};

/** Outcomes in their order, as the null model takes them. */
export function sequenceOf(outcomes: readonly TimedOutcome[]): Sequence {
  return {
    cells: Uint8Array.from(outcomes, ({ at }) => cellOf(at)),
    scores: scoreOutcomes(outcomes.map(({ pnl }) => pnl)),
  };
}

/** Where in time the profit lies. Benches try other tests beside that of the product. */
export function concentrate(
  input: ConcentrationInput,
  test: BucketTest = testByBlocks,
): ConcentrationResult {
  const marked = input.hours.filter(({ pnl }) => pnl !== null);
  const trades = countsByCell(input.trades.map(({ at }) => at));
  const measured = {
    realization: measureMode(
      { outcomes: input.trades, exposed: input.hours, trades, seed: input.seed },
      input,
      test,
    ),
    exposure: measureMode(
      {
        outcomes: marked.map(({ at, pnl }) => ({ at, pnl: Math.round(Number(pnl) * MICRO) })),
        exposed: marked,
        trades,
        seed: seedOf(input.seed, 1),
      },
      input,
      test,
    ),
  };
  const family = MODES.flatMap((mode) => measured[mode].rows.filter(({ p }) => p !== null));
  const rates = falseDiscoveryRates(family.map(({ p }) => Number(p)));
  const q = new Map(family.map((row, at) => [row, Number(rates[at])]));
  const rowsOf = (mode: Mode, partition: Partition): readonly Bucket[] =>
    measured[mode].rows
      .filter((row) => row.partition === partition)
      .map((row) => {
        const found = q.get(row);
        return {
          ...row.bucket,
          p_value: row.p,
          q_value: found === undefined ? null : found,
          tested: row.p !== null,
        };
      });
  const partitionsOf = (mode: Mode) => ({
    session: rowsOf(mode, 'session'),
    weekpart: rowsOf(mode, 'weekpart'),
    hour_of_day: rowsOf(mode, 'hour_of_day'),
  });
  return {
    modes: { realization: partitionsOf('realization'), exposure: partitionsOf('exposure') },
    tests: family.length,
    block_mean: {
      realization: measured.realization.block_mean,
      exposure: measured.exposure.block_mean,
    },
  };
}

/** The seed of a mode: each has a generator of its own. */
export function seedOf(seed: number, mode: number): number {
  return (seed + mode) >>> 0;
}

type ModeInput = {
  readonly outcomes: readonly TimedOutcome[];
  readonly exposed: readonly Pick<ExposedHour, 'at' | 'open'>[];
  readonly trades: Float64Array;
  readonly seed: number;
};
type Measured = {
  readonly partition: Partition;
  readonly bucket: Omit<Bucket, 'p_value' | 'q_value' | 'tested'>;
  readonly p: number | null;
};

function measureMode(
  { outcomes, exposed, trades, seed }: ModeInput,
  { permutations, testable, resamples }: ConcentrationInput,
  test: BucketTest,
): { readonly rows: readonly Measured[]; readonly block_mean: number | null } {
  const profits = new Float64Array(2 * HOURS.length);
  const gains = new Float64Array(2 * HOURS.length);
  for (const { at, pnl } of outcomes) {
    add(profits, cellOf(at), pnl);
    add(gains, cellOf(at), Math.max(0, pnl));
  }
  const exposure = new Float64Array(2 * HOURS.length);
  for (const { at, open } of exposed) add(exposure, cellOf(at), open);
  const windows = PARTITIONS.flatMap((partition) =>
    WINDOWS[partition].map((window) => ({ partition, window })),
  );
  const counts = countsByCell(outcomes.map(({ at }) => at));
  const isTested = ({ cells }: TimeWindow) => {
    const inside = within(counts, cells);
    const enough = within(trades, cells) >= TRADES_MIN;
    return testable && enough && inside >= 2 && outcomes.length - inside >= 2;
  };
  const tested = windows.filter(({ window }) => isTested(window));
  const buckets = tested.map(({ window }) => window.cells);
  const found = tested.length === 0 ? null : test(outcomes, buckets, { seed, permutations });
  const intervals =
    found === null
      ? null
      : shareIntervals(
          {
            cells: Uint8Array.from(outcomes, ({ at }) => cellOf(at)),
            gains: Float64Array.from(outcomes, ({ pnl }) => Math.max(0, pnl)),
          },
          buckets,
          { seed: seedOf(seed, MODES.length), block_mean: found.block_mean, resamples },
        );
  const rows = windows.map((one): Measured => {
    const { cells, bucket } = one.window;
    const at = tested.indexOf(one);
    const interval = intervals?.[at];
    const known = interval !== undefined && interval !== null;
    return {
      partition: one.partition,
      bucket: {
        bucket,
        trades: within(trades, cells),
        exposure_h: within(exposure, cells),
        pnl_usd: within(profits, cells) / MICRO,
        ...concentrationOf(gains, exposure, cells),
        share_low: known ? interval.low : null,
        share_high: known ? interval.high : null,
      },
      p: found === null || at === -1 ? null : Number(found.p[at]),
    };
  });
  return { rows, block_mean: found === null ? null : found.block_mean };
}

function concentrationOf(gains: Float64Array, exposure: Float64Array, cells: Cells) {
  const [gain, hours] = [within(gains, cells), within(exposure, cells)];
  const [allGains, allHours] = [sum(gains), sum(exposure)];
  const [otherGain, otherHours] = [allGains - gain, allHours - hours];
  const known = hours > 0 && otherHours > 0 && otherGain > 0;
  return {
    share: allGains === 0 ? null : gain / allGains,
    expected_share: allHours === 0 ? null : hours / allHours,
    ratio: known ? gain / hours / (otherGain / otherHours) : null,
  };
}

function add(cells: Float64Array, cell: number, value: number): void {
  cells[cell] = countOrZero(cells[cell]) + value;
}

function countsByCell(times: readonly number[]): Float64Array {
  const counts = new Float64Array(2 * HOURS.length);
  for (const at of times) add(counts, cellOf(at), 1);
  return counts;
}

function within(values: Float64Array, cells: Cells): number {
  let total = 0;
  for (const cell of cells) total += Number(values[cell]);
  return total;
}

function sum(values: Float64Array): number {
  return values.reduce((total, one) => total + one, 0);
}
