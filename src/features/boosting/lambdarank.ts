// LambdaRank (Burges, Ragno and Le 2006; Burges 2010): pairs of rows of one query whose order is
// wrong pull at their margins, by as much as exchanging them would change the NDCG of the query.

import { discountAt, gainOf, idealGain, ndcgOf } from '../../evidence/ranking.ts';
import type { Objective } from './boost.ts';

/** Rows of one query stand together: how many each query has, in order. */
export type Queries = { readonly labels: Uint8Array; readonly sizes: readonly number[] };

/** A pair counts if one of it stands in these places: the others are hardly seen. */
const PLACES = 30;

/** The rows of each query, as their beginning and their end. */
export function spansOf({ labels, sizes }: Queries): readonly (readonly [number, number])[] {
  let end = 0;
  const spans = sizes.map((size): readonly [number, number] => {
    const from = end;
    end += size;
    return [from, end];
  });
  if (end !== labels.length) throw new TypeError('the queries do not have the rows');
  return spans;
}

/** The order of the rows of queries; the loss is one less the mean NDCG of whole queries. */
export function rankObjective(queries: Queries): Objective {
  const { labels } = queries;
  const spans = spansOf(queries);
  const ideals = spans.map(([from, to]) => idealGain(labels.subarray(from, to), PLACES));
  return {
    rows: labels.length,
    base: 0,
    derive: (margins, gradients, hessians) => {
      gradients.fill(0);
      hessians.fill(0);
      for (const [query, [from, to]] of spans.entries()) {
        const ideal = Number(ideals[query]);
        if (ideal === 0) continue;
        pull({ labels, margins, gradients, hessians, ideal }, from, to);
      }
    },
    loss: (margins) => {
      let [sum, counted] = [0, 0];
      for (const [from, to] of spans) {
        const ndcg = ndcgOf(margins.subarray(from, to), labels.subarray(from, to), to - from);
        if (ndcg === null) continue;
        sum += 1 - ndcg;
        counted += 1;
      }
      if (counted === 0) throw new TypeError('no query has an order to learn');
      return sum / counted;
    },
  };
}

type Pulling = {
  readonly labels: Uint8Array;
  readonly margins: Float64Array;
  readonly gradients: Float64Array;
  readonly hessians: Float64Array;
  readonly ideal: number;
};

function pull({ labels, margins, gradients, hessians, ideal }: Pulling, from: number, to: number) {
  const order = Array.from({ length: to - from }, (_, at) => from + at);
  // Rows of one margin stay in the order in which they came.
  order.sort((a, b) => Number(margins[b]) - Number(margins[a]) || a - b);
  for (let i = 0; i < Math.min(PLACES, order.length); i += 1) {
    for (let j = i + 1; j < order.length; j += 1) {
      const [first, second] = [Number(order[i]), Number(order[j])];
      const [one, other] = [Number(labels[first]), Number(labels[second])];
      if (one === other) continue;
      const [better, worse] = one > other ? [first, second] : [second, first];
      const apart = Number(margins[better]) - Number(margins[worse]);
      const change =
        (Math.abs(gainOf(one) - gainOf(other)) * (discountAt(i) - discountAt(j))) / ideal;
      const wrong = 1 / (1 + Math.exp(apart));
      const slope = change * wrong;
      const curve = slope * (1 - wrong);
      gradients[better] = Number(gradients[better]) - slope;
      gradients[worse] = Number(gradients[worse]) + slope;
      hessians[better] = Number(hessians[better]) + curve;
      hessians[worse] = Number(hessians[worse]) + curve;
    }
  }
}
