// Which of two equally short ways to a listed address is shown: the larger, or the first by name?
// It refuses to guess a value: a way with an unpriced hop has none, and stands behind those with.

import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { compareText, compareValues } from '../history/edge-rule.ts';

/** One hop, from the address nearer to the subject, by the largest transfer between the two. */
export type Hop = {
  readonly near: string;
  readonly far: string;
  readonly transfer: HistoryTransfer;
};

/** A way from the subject to an address: one hop or more, each beginning where the last ended. */
export type Way = readonly [Hop, ...Hop[]];

/** The addresses on a way, the subject first. */
export function stopsOf(way: Way): string[] {
  return [way[0].near, ...way.map(({ far }) => far)];
}

/** The last address of a way. */
export function endOf(way: Way): string {
  const [first, ...more] = way;
  return more.reduce((_, hop) => hop, first).far;
}

/** The USD value (decimal text) that can have come the whole way: its smallest hop's. */
function worthOf(way: Way): string | null {
  const [first, ...more] = way;
  let smallest = first.transfer.usd;
  for (const { transfer } of more) {
    // The smaller of two values is the one that would be put last; so is the unpriced one.
    if (compareValues(smallest, transfer.usd) < 0) smallest = transfer.usd;
  }
  return smallest;
}

/** Puts the better of two ways of as many hops first: the larger, then by address from its end. */
export function compareWays(a: Way, b: Way): number {
  return (
    compareValues(worthOf(a), worthOf(b)) ||
    compareText(stopsOf(a).reverse().join(' '), stopsOf(b).reverse().join(' '))
  );
}
