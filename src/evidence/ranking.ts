// How good an order is: normalised discounted cumulative gain (Järvelin and Kekäläinen 2002) with
// gains of 2^label − 1. Rows of one score have no order, and each of their orders counts alike.

/** What a row of a label is worth at the top. */
export function gainOf(label: number): number {
  return 2 ** label - 1;
}

/** How much of its gain a row keeps at a place, which counts from 0. */
export function discountAt(place: number): number {
  return 1 / Math.log2(place + 2);
}

/** The most that rows of these labels can gain in the first `most` places. */
export function idealGain(labels: ArrayLike<number>, most: number): number {
  const sorted = Float64Array.from(labels).sort().reverse();
  let sum = 0;
  for (const [place, label] of sorted.subarray(0, most).entries()) {
    sum += gainOf(label) * discountAt(place);
  }
  return sum;
}

/**
 * What the first `most` places of an order gain, as a share of the most that they can; `null` where
 * no row is worth anything, so that every order is as good.
 */
export function ndcgOf(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  most: number,
): number | null {
  const ideal = idealGain(labels, most);
  if (ideal === 0) return null;
  const order = Array.from({ length: labels.length }, (_, at) => at);
  order.sort((a, b) => Number(scores[b]) - Number(scores[a]));
  let [sum, at] = [0, 0];
  while (at < Math.min(most, order.length)) {
    const score = Number(scores[Number(order[at])]);
    let end = at;
    let [gains, discounts] = [0, 0];
    while (end < order.length && Number(scores[Number(order[end])]) === score) {
      gains += gainOf(Number(labels[Number(order[end])]));
      if (end < most) discounts += discountAt(end);
      end += 1;
    }
    sum += (gains / (end - at)) * discounts;
    at = end;
  }
  return sum / ideal;
}
