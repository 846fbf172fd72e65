// Into which bins do the values of a feature fall, so that a split is looked for among few?

/** A feature's values in bins: row by row the bin, the last of which holds what is missing. */
export type Binned = {
  /** The largest value of each bin but the last of measured ones, ascending. */
  readonly cuts: readonly number[];
  /** `cuts.length` is the bin over the last cut, one more that of missing values. */
  readonly bins: Uint16Array;
};

/** Bins of about equal numbers of rows, or one for each value where there are few. */
export function binned(values: Float64Array, binsMax: number): Binned {
  const cuts = cutsOf(values, binsMax);
  const bins = Uint16Array.from(values, (value) =>
    Number.isNaN(value) ? cuts.length + 1 : binOf(cuts, value),
  );
  return { cuts, bins };
}

function cutsOf(values: Float64Array, binsMax: number): readonly number[] {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort();
  const distinct = sorted.filter((value, at) => value !== sorted[at - 1]);
  // Nothing is split over the largest value.
  if (distinct.length <= binsMax) return [...distinct.subarray(0, -1)];
  const largest = Number(sorted.at(-1));
  const quantiles = Array.from({ length: binsMax - 1 }, (_, at) =>
    Number(sorted[Math.floor(((at + 1) * sorted.length) / binsMax)]),
  );
  return [...new Set(quantiles)].filter((cut) => cut < largest);
}

/** The first bin whose cut is not under the value. */
function binOf(cuts: readonly number[], value: number): number {
  let [low, high] = [0, cuts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= Number(cuts[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
