// Into which bins do the values of a feature fall, so that a split is looked for among few?

/** A feature's values in bins: row by row the bin, the last of which holds what is missing. */
export type Binned = {
  /** Where each bin of measured values but the last ends, ascending. */
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
  if (distinct.length <= binsMax) return [...distinct.keys()].slice(1).map(betweenAt(distinct));
  const quantiles = Array.from({ length: binsMax - 1 }, (_, at) =>
    Number(sorted[Math.floor(((at + 1) * sorted.length) / binsMax)]),
  );
  const places = [...new Set(quantiles)].map((quantile) => 1 + binOf(distinct, quantile));
  // Nothing is split over the largest value.
  return places.filter((place) => place < distinct.length).map(betweenAt(distinct));
}

/** Half-way between a value and the one before it: what was never seen falls to the nearer one. */
function betweenAt(distinct: Float64Array): (place: number) => number {
  return (place) => (Number(distinct[place - 1]) + Number(distinct[place])) / 2;
}

/** The first bin whose cut is not under the value. */
function binOf(cuts: readonly number[] | Float64Array, value: number): number {
  let [low, high] = [0, cuts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= Number(cuts[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
