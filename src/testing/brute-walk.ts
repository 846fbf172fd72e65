// Finds the best path to a listed address by a search that shares nothing with the walk. Every path
// is written out, then the best is taken. It implements the decided rules from their words.

import fc from 'fast-check';
import type { HistoryTransfer } from '../ports/history.ts';
import { evm } from './addresses.ts';
import { memoryTransfer } from './twins/history.ts';

const NULL_ADDRESS = `0x${'0'.repeat(40)}`;
const PEOPLE = Array.from({ length: 9 }, (_, i) => evm(`person ${i}`));
const NODES = [...PEOPLE, NULL_ADDRESS];

/** The one who is asked about in a graph. */
export function subjectOf({ people }: Graph): string {
  return String(people[0]);
}

/** A world of a search. The first of its people is the subject. */
export type Graph = {
  readonly people: readonly string[];
  readonly transfers: readonly HistoryTransfer[];
  readonly listed: readonly string[];
  /** The addresses whose own transactions on Ethereum may be incomplete. */
  readonly unheld: readonly string[];
};

const node = fc.constantFrom(...NODES);
const transferShape = fc.record({
  from: node,
  to: node,
  kind: fc.constantFrom('native' as const, 'internal' as const, 'token' as const, 'nft' as const),
  chain: fc.constantFrom('ethereum' as const, 'base' as const),
  raw_amount: fc.constantFrom(0n, 1n, 5n),
  usd: fc.constantFrom(null, '0.5', '1', '2', '30'),
  has_market: fc.constantFrom(null, true, false),
  initiator: fc.oneof(node, fc.constant(null)),
  success: fc.constantFrom(true, true, true, null, false),
  // Few transactions, so that what one of them holds often has its signer beside it.
  transaction: fc.nat({ max: 11 }),
});
/** Small worlds in which everything happens often. */
export const graphs: fc.Arbitrary<Graph> = fc.record({
  transfers: fc.array(transferShape, { minLength: 5, maxLength: 22 }).map((shapes) =>
    shapes.map(({ from, to, transaction, ...over }) => {
      if (over.kind === 'nft') return nftOf(transaction, from, to, over);
      const token = over.kind === 'token' ? 'T' : null;
      return memoryTransfer(transaction, from, to, { ...over, token });
    }),
  ),
  listed: fc.uniqueArray(fc.constantFrom(...PEOPLE), { maxLength: 3 }),
  people: fc.constant(PEOPLE),
  unheld: fc.constant([]),
});

/** An NFT is told by a node, which names its signer; the subject's own stand under its parties. */
function nftOf(
  transaction: number,
  from: string,
  to: string,
  { initiator, raw_amount, ...over }: Pick<HistoryTransfer, 'initiator' | 'raw_amount'>,
): HistoryTransfer {
  const isOfOthers = initiator !== null && initiator !== PEOPLE[0];
  return memoryTransfer(transaction, from, to, {
    ...over,
    usd: null,
    has_market: null,
    token: 'N',
    raw_amount: 0n,
    token_id: raw_amount,
    initiator: isOfOthers || initiator === to ? initiator : from,
  });
}

type Path = { readonly stops: readonly string[]; readonly worth: number };

function signerIn(t: HistoryTransfer): string | null {
  return t.kind === 'native' && t.initiator === null ? t.from : t.initiator;
}

/** Whether an address signed a transfer, which its own transactions tell where they are whole. */
function isSigned(graph: Graph, a: string, t: HistoryTransfer): boolean {
  const signer = signerIn(t);
  if (signer !== null) return signer === a;
  return graph.transfers.some((u) => {
    const beside = u.tx === t.tx && u.chain === t.chain && u.from !== u.to;
    return beside && (u.from === a || u.to === a) && signerIn(u) === a;
  });
}

/**
 * The worth of the largest transfer that joins two addresses; null where none does. Where rows may
 * have been cut off, a transfer without a signer may be the side's own.
 */
export function joins(
  graph: Graph,
  side: readonly string[],
  a: string,
  b: string,
  isCut = false,
): number | null {
  let worth: number | null = null;
  for (const t of graph.transfers) {
    const touches = (t.from === a && t.to === b) || (t.from === b && t.to === a);
    if (!touches || t.success === false) continue;
    const wanted = side.some((one) => isSigned(graph, one, t));
    const untold = t.chain === 'ethereum' && side.some((one) => graph.unheld.includes(one));
    const maybe = (isCut || untold) && signerIn(t) === null;
    if (t.kind === 'nft' && !wanted) continue;
    const spam = t.kind === 'token' && t.has_market === false && signerIn(t) !== t.to;
    if (!wanted && !maybe && (t.raw_amount === 0n || spam)) continue;
    // A transfer of nothing is never the larger one, whatever its price.
    const usd = t.usd === null ? -1 : Number(t.usd);
    const rank = t.raw_amount > 0n ? 1_000 + usd : usd;
    worth = worth === null ? rank : Math.max(worth, rank);
  }
  return worth;
}

/** The USD worth behind a rank: -1 is unpriced. */
function usdOf(rank: number): number {
  return rank >= 999 ? rank - 1_000 : rank;
}

/** With how many others an address has an edge of its own. */
export function degreeOf(graph: Graph, a: string): number {
  const others = [...graph.people, NULL_ADDRESS].filter((b) => b !== a);
  return others.filter((b) => joins(graph, [a], a, b) !== null).length;
}

/** Every path of one or two hops to anybody, hubs not walked past. */
export function everyPath(graph: Graph, degreeMax: number): Path[] {
  const subject = subjectOf(graph);
  const paths: Path[] = [];
  const first = new Map<string, number>();
  for (const a of graph.people) {
    const worth = a === subject ? null : joins(graph, [subject], subject, a);
    if (worth !== null) first.set(a, usdOf(worth));
  }
  for (const [a, worth] of first) paths.push({ stops: [subject, a], worth });
  for (const [a, worth] of first) {
    if (degreeOf(graph, a) > degreeMax) continue;
    for (const b of graph.people) {
      if (b === subject || first.has(b)) continue;
      const more = joins(graph, [subject, a], a, b);
      if (more === null) continue;
      paths.push({ stops: [subject, a, b], worth: Math.min(worth, usdOf(more)) });
    }
  }
  return paths;
}

/** The stops of the best path to a listed address; `null` where none leads there. */
export function bestOf(graph: Graph, degreeMax: number): readonly string[] | null {
  const toListed = everyPath(graph, degreeMax).filter(({ stops }) => {
    return graph.listed.includes(String(stops.at(-1)));
  });
  const name = ({ stops }: Path) => [...stops].reverse().join();
  toListed.sort((a, b) => {
    if (a.stops.length !== b.stops.length) return a.stops.length - b.stops.length;
    if (a.worth !== b.worth) return b.worth - a.worth;
    return name(a) < name(b) ? -1 : 1;
  });
  return toListed[0]?.stops ?? null;
}

/** Whether every two neighbours on a path are joined, and its end is listed. */
export function isWay(graph: Graph, stops: readonly string[] | null): boolean {
  if (stops === null || !graph.listed.includes(String(stops.at(-1)))) return false;
  return stops.every((stop, i) => {
    return i === 0 || joins(graph, stops.slice(0, i), String(stops[i - 1]), stop, true) !== null;
  });
}

/**
 * The hubs beside the subject that dealt with a listed address, and with which. What a hub signed
 * is not known, since its transactions are not read.
 */
export function hubContacts(graph: Graph, degreeMax: number): string[] {
  const subject = subjectOf(graph);
  const near = graph.people.filter(
    (a) => a !== subject && joins(graph, [subject], subject, a) !== null,
  );
  const hubs = near.filter((a) => degreeOf(graph, a) > degreeMax);
  const listed = graph.listed.filter((b) => b !== subject && !near.includes(b));
  return hubs.flatMap((a) =>
    listed.flatMap((b) => (joins(graph, [subject, a], a, b, true) === null ? [] : [`${a} ${b}`])),
  );
}
