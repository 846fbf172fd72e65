// Is the profit of a bucket more than chance? Outcomes move along the sequence in blocks of random
// length, so that neighbours stay together, while times, exposure and buckets stay where they are.
// Every sum is of integers: the same seed gives the same p in any language and any order of sums.

import { sharesFrom } from '../../evidence/random.ts';
import { estimateBy } from '../../evidence/statistics.ts';

/** How often the outcomes are moved. */
export const PERMUTATIONS = 10_000;
/** The generator of `src/evidence/random.ts`. */
export const GENERATOR = 'mulberry32';
/** No block is shorter in the mean. */
export const BLOCK_MEAN_MIN = 10;
/** A sequence is cut into so many blocks in the mean: fewer could be moved in few ways only. */
const BLOCKS_MIN = 10;
/** An outcome over this quantile of all sizes counts as much as one at it. */
const LIMITED_AT = 0.9;
/** An outcome at the limit, as an integer. */
const SCORE_MAX = 2 ** 18;

/** Outcomes in their order, each in its cell: the hour of day, from 24 on of a weekend. */
export type Sequence = { readonly cells: Uint8Array; readonly scores: Int32Array };
/** The cells of which a bucket is made. */
export type Cells = ReadonlySet<number>;
export const CELLS = 48;

/**
 * Outcomes as integers up to `SCORE_MAX`. What lies beyond the limit counts as the limit, so that
 * no bucket lives on a few outcomes.
 */
export function scoreOutcomes(outcomes: readonly number[]): Int32Array {
  const sizes = outcomes.map(Math.abs).sort((a, b) => a - b);
  const limit = sizes[Math.ceil(LIMITED_AT * sizes.length) - 1];
  const most = sizes.at(-1);
  if (limit === undefined || most === undefined || most === 0) {
    return new Int32Array(outcomes.length);
  }
  const end = limit === 0 ? most : limit;
  return Int32Array.from(outcomes, (one) => {
    const part = Math.max(-1, Math.min(1, one / end));
    return Math.floor(part * SCORE_MAX + 0.5);
  });
}

/**
 * The mean length of blocks: as the sequence's own autocorrelation asks for (Politis and White, for
 * blocks of geometric length), at least `BLOCK_MEAN_MIN`.
 */
export function meanBlockLength(scores: Int32Array): number {
  const n = scores.length;
  const most = Math.max(BLOCK_MEAN_MIN, Math.floor(n / BLOCKS_MIN));
  if (n < 2 * BLOCK_MEAN_MIN) return BLOCK_MEAN_MIN;
  const lags = Math.min(n - 1, Math.ceil(Math.sqrt(n)) + 50);
  const covariances = autocovariances(scores, lags);
  const variance = Number(covariances[0]);
  if (variance === 0) return BLOCK_MEAN_MIN;
  const bound = 2 * Math.sqrt(Math.log10(n) / n) * variance;
  const quiet = Math.max(5, Math.ceil(Math.sqrt(Math.log10(n))));
  let last = 0;
  for (let lag = 1; lag <= lags && lag <= last + quiet; lag += 1) {
    if (Math.abs(Number(covariances[lag])) >= bound) last = lag;
  }
  const width = Math.min(lags, 2 * Math.max(1, last));
  let [weighted, total] = [0, variance];
  for (let lag = 1; lag <= width; lag += 1) {
    const share = lag / width;
    const part = (share <= 0.5 ? 1 : 2 * (1 - share)) * Number(covariances[lag]);
    weighted += 2 * lag * part;
    total += 2 * part;
  }
  if (total <= 0) return BLOCK_MEAN_MIN;
  const length = Math.ceil(((weighted / total) ** 2 * n) ** (1 / 3));
  return Math.min(most, Math.max(BLOCK_MEAN_MIN, length));
}

function autocovariances(scores: Int32Array, lags: number): Float64Array {
  const n = scores.length;
  const mean = scores.reduce((sum, one) => sum + one, 0) / n;
  const found = new Float64Array(lags + 1);
  for (let lag = 0; lag <= lags; lag += 1) {
    let sum = 0;
    for (let at = lag; at < n; at += 1) {
      sum += (Number(scores[at]) - mean) * (Number(scores[at - lag]) - mean);
    }
    found[lag] = sum / n;
  }
  return found;
}

/** How the outcomes of one sequence are moved. */
export type Moves = {
  readonly seed: number;
  readonly permutations: number;
  readonly block_mean: number;
};

/**
 * The p-value of each bucket: of so many arrangements, the one observed among them, the share in
 * which the bucket's outcomes lie as far over the others (Welch's t). Never 0.
 */
export function permutationPValues(
  sequence: Sequence,
  buckets: readonly Cells[],
  { seed, permutations, block_mean }: Moves,
): readonly number[] {
  const { cells, scores } = sequence;
  const statistics = bucketStatistics(sequence, buckets);
  const observed = statistics(scores, cells);
  const atLeast = new Uint32Array(buckets.length);
  const draw = sharesFrom(seed);
  const moved = new Int32Array(scores.length);
  const starts = new Uint32Array(cells.length + 1);
  const order = new Uint32Array(cells.length);
  for (let turn = 0; turn < permutations; turn += 1) {
    moveBlocks(scores, moved, { starts, order }, 1 / block_mean, draw);
    const found = statistics(moved, cells);
    for (let at = 0; at < found.length; at += 1) {
      if (Number(found[at]) >= Number(observed[at])) atLeast[at] = Number(atLeast[at]) + 1;
    }
  }
  return Array.from(atLeast, (count) => (count + 1) / (permutations + 1));
}

/** Resamples for the interval of a share. */
export const RESAMPLES = 1_000;
const MISSED = 0.05;

/** The ends of an interval at 95%. */
export type Interval = { readonly low: number; readonly high: number };

/**
 * Between which shares of all gains each bucket lies, over resamples in blocks of the same mean
 * length (Politis and Romano), each gain with its time. `null` where no resample holds a gain.
 */
export function shareIntervals(
  { cells, gains }: { readonly cells: Uint8Array; readonly gains: Float64Array },
  buckets: readonly Cells[],
  {
    seed,
    block_mean,
    resamples = RESAMPLES,
  }: Pick<Moves, 'seed' | 'block_mean'> & { readonly resamples?: number | undefined },
): readonly (Interval | null)[] {
  const n = gains.length;
  const draw = sharesFrom(seed);
  const chance = 1 / block_mean;
  const sums = new Float64Array(CELLS);
  const shares = buckets.map((): number[] => []);
  for (let turn = 0; turn < resamples; turn += 1) {
    sums.fill(0);
    let total = 0;
    let at = 0;
    for (let drawn = 0; drawn < n; drawn += 1) {
      if (drawn === 0 || draw() < chance) at = Math.floor(draw() * n);
      else at = at + 1 === n ? 0 : at + 1;
      const [cell, gain] = [Number(cells[at]), Number(gains[at])];
      sums[cell] = Number(sums[cell]) + gain;
      total += gain;
    }
    if (total === 0) continue;
    for (const [bucket, inside] of buckets.entries()) {
      let sum = 0;
      for (const cell of inside) sum += Number(sums[cell]);
      shares[bucket]?.push(sum / total);
    }
  }
  return shares.map((drawn) => {
    const { low, high } = estimateBy(0, drawn, MISSED);
    return low === null || high === null ? null : { low, high };
  });
}

/** Cuts the scores into blocks, each beginning one by chance, and lays them in a new order. */
function moveBlocks(
  scores: Int32Array,
  moved: Int32Array,
  { starts, order }: { readonly starts: Uint32Array; readonly order: Uint32Array },
  chance: number,
  draw: () => number,
): void {
  const n = scores.length;
  let blocks = 1;
  starts[0] = 0;
  for (let at = 1; at < n; at += 1) {
    if (draw() < chance) {
      starts[blocks] = at;
      blocks += 1;
    }
  }
  starts[blocks] = n;
  for (let block = 0; block < blocks; block += 1) order[block] = block;
  for (let last = blocks - 1; last > 0; last -= 1) {
    const other = Math.floor(draw() * (last + 1));
    const swapped = Number(order[last]);
    order[last] = Number(order[other]);
    order[other] = swapped;
  }
  let to = 0;
  for (let place = 0; place < blocks; place += 1) {
    const block = Number(order[place]);
    const end = Number(starts[block + 1]);
    for (let at = Number(starts[block]); at < end; at += 1) {
      moved[to] = Number(scores[at]);
      to += 1;
    }
  }
}

/** Welch's t of each bucket against the rest, of scores that were moved or of moved cells. */
export function bucketStatistics({ scores }: Sequence, buckets: readonly Cells[]) {
  const n = scores.length;
  const counts = new Float64Array(CELLS);
  const sums = new Float64Array(CELLS);
  const squares = new Float64Array(CELLS);
  let [total, totalSquares] = [0, 0];
  for (const score of scores) {
    total += score;
    totalSquares += score * score;
  }
  const members = buckets.map((bucket) => Uint8Array.from(bucket));
  return (moved: Int32Array, cells: Uint8Array): readonly number[] => {
    counts.fill(0);
    sums.fill(0);
    squares.fill(0);
    for (let at = 0; at < n; at += 1) {
      const cell = Number(cells[at]);
      const score = Number(moved[at]);
      counts[cell] = Number(counts[cell]) + 1;
      sums[cell] = Number(sums[cell]) + score;
      squares[cell] = Number(squares[cell]) + score * score;
    }
    return members.map((inside) => {
      let [count, sum, square] = [0, 0, 0];
      for (const cell of inside) {
        count += Number(counts[cell]);
        sum += Number(sums[cell]);
        square += Number(squares[cell]);
      }
      return welch(sum, square, count, total - sum, totalSquares - square, n - count);
    });
  };
}

/** Welch's t of two groups by their sums; infinite where both vary by nothing and differ. */
function welch(
  sum: number,
  squares: number,
  count: number,
  otherSum: number,
  otherSquares: number,
  otherCount: number,
): number {
  if (count < 2 || otherCount < 2) return 0;
  const mean = sum / count;
  const otherMean = otherSum / otherCount;
  const gap = mean - otherMean;
  const variance = Math.max(0, squares - sum * mean) / (count - 1);
  const otherVariance = Math.max(0, otherSquares - otherSum * otherMean) / (otherCount - 1);
  const spread = Math.sqrt(variance / count + otherVariance / otherCount);
  if (spread > 0) return gap / spread;
  return gap === 0 ? 0 : gap * Number.POSITIVE_INFINITY;
}
