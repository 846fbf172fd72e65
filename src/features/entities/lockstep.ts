// (heuristic c) After the linking by times of activity of Béres et al., "Blockchain is Watching
// You", DAPPS 2021, asked of pairs that also send to each other both ways. Two who only trade do
// not act alike, and two who only act alike (a bot's customers) do not send to each other: both are
// asked.

import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { collect, heldUnder, tally } from '../../evidence/measure.ts';
import type { Objection, Tie } from '../../ports/entities/cluster-store.ts';
import { type HistoryTransfer, signerOf } from '../../ports/history/transfer-history.ts';

import type { AddressHistory } from '../history/address-history.ts';
import { earliest, SERVICE_DEGREE, type TiedBy } from './ties.ts';

/** So many moments of acting alike are asked. */
const MOMENTS_MIN = 3;
/** Of the acts of the less active one, so many are such moments. */
const MOMENTS_SHARE_MIN = 0.5;
/** Moments that would come about by chance as often as this show nothing. */
const CHANCE_MAX = 0.001;
/** A pair has one key, whichever of the two was examined. */
const BETWEEN = ' ';

/** Two addresses that send to each other both ways and act on the same targets at one time. */
export type LockstepPair = {
  readonly key: string;
  readonly chain: ChainName;
  readonly addresses: readonly [string, string];
  readonly between: readonly TiedBy[];
  readonly acts: readonly [readonly Act[], readonly Act[]];
  /** The targets of their moments: what makes them popular is read before anything is said. */
  readonly targets: readonly string[];
};

/** The key of a pair, whichever comes first. */
export function pairKey(a: string, b: string): string {
  return [a, b].sort().join(BETWEEN);
}

/** A pair that may act in lockstep; `null` for one that does not. */
export function lockstepPair(
  a: AddressHistory,
  b: AddressHistory,
  chain: ChainName,
): LockstepPair | null {
  // The pair is looked at in one order, whichever of the two was asked about.
  if (a.address > b.address) return lockstepPair(b, a, chain);
  if ([a.address, b.address].some(isSystemAddress)) return null;
  const [ownA, ownB] = [ownTransfers(a, chain), ownTransfers(b, chain)];
  const there = ownA.filter(({ to, raw_amount }) => to === b.address && raw_amount > 0n);
  const back = ownB.filter(({ to, raw_amount }) => to === a.address && raw_amount > 0n);
  if (there.length === 0 || back.length === 0) return null;
  const acts = [actsOf(ownA, b.address), actsOf(ownB, a.address)] as const;
  const moments = momentsOf(acts[0], acts[1]);
  if (!isAlike(moments, acts)) return null;
  const targets = [...new Set(moments.map(({ target }) => target))].sort();
  const addresses = [a.address, b.address] as const;
  const key = pairKey(a.address, b.address);
  return { key, chain, addresses, between: [...there, ...back], acts, targets };
}

/**
 * The ties of a pair where its moments are more than chance makes, or what speaks against them.
 * `targets`: the whole histories of those that are known; one that serves many shows nothing.
 */
export function lockstepTies(
  { key, chain, addresses, between, acts }: LockstepPair,
  targets: ReadonlyMap<string, AddressHistory>,
  whole: boolean,
): { readonly ties: readonly Tie[]; readonly objections: readonly Objection[] } {
  const telling = new Map([...targets].filter(([, { degree }]) => degree <= SERVICE_DEGREE));
  const own = acts.map((some) => some.filter(({ target }) => telling.has(target)));
  const [first, second] = own;
  if (first === undefined || second === undefined) throw new Error('lockstep: two have acts');
  const moments = momentsOf(first, second);
  const chance = chanceOf([first, second], moments.length, addresses, telling);
  const by = earliest(between);
  if (!isAlike(moments, [first, second]) || chance > CHANCE_MAX) {
    const [shown] = by;
    if (shown === undefined) throw new Error('lockstep: a pair sends to each other');
    const { tx, block, at } = shown;
    const objections = addresses.map((address): Objection => {
      return { chain, kind: 'by_chance', key, address, tx, block, at, detail: null };
    });
    return { ties: [], objections };
  }
  const ties = by.flatMap(({ tx, block, at }) =>
    addresses.map((address): Tie => {
      const shared = { chain, heuristic: 'lockstep', form: 'same_moments', key } as const;
      return { ...shared, address, tx, block, at, rests_on: null, whole };
    }),
  );
  return { ties, objections: [] };
}

function isAlike(moments: readonly Act[], acts: readonly [readonly Act[], readonly Act[]]) {
  const fewer = Math.min(acts[0].length, acts[1].length);
  return moments.length >= MOMENTS_MIN && moments.length >= fewer * MOMENTS_SHARE_MIN;
}

/**
 * The transfers that an address sent in transactions of its own, by its own history alone: whoever
 * else was read before must not change what counts.
 */
function ownTransfers({ address, transfers }: AddressHistory, chain: ChainName): HistoryTransfer[] {
  const own = transfers.filter((one) => one.chain === chain && one.success !== false);
  const signed = new Set(
    own.filter((one) => one.from === address && signerOf(one) === address).map(({ tx }) => tx),
  );
  return own.filter(({ from, tx }) => from === address && signed.has(tx));
}

/** The acts of an address, each transaction once, its dealings with the other left out. */
function actsOf(own: readonly HistoryTransfer[], partner: string): Act[] {
  const byTx = new Map<string, Act>();
  for (const { tx, block, at, to } of own) {
    if (to !== partner) byTx.set(tx, { tx, block, at, target: to });
  }
  return [...byTx.values()].sort((a, b) => a.at - b.at || (a.tx < b.tx ? -1 : 1));
}

/** The acts of the first that the second matches on the same target; each act serves once. */
function momentsOf(first: readonly Act[], second: readonly Act[]): Act[] {
  const byTarget = new Map<string, Act[]>();
  for (const act of second) collect(byTarget, act.target, act);
  const used = new Set<string>();
  const moments: Act[] = [];
  for (const act of first) {
    const match = heldUnder(byTarget, act.target).find(
      ({ tx, at }) => !used.has(tx) && tx !== act.tx && Math.abs(at - act.at) <= MOMENT_S,
    );
    if (match === undefined) continue;
    used.add(match.tx);
    moments.push(act);
  }
  return moments;
}

// The null model of lockstep: the second's acts on a target fall where anybody's do. Expected
// moments are summed over the first's acts, and the number seen is held against a Poisson law.

/** An address acted on a target in a transaction of its own. */
export type Act = TiedBy & { readonly target: string };

/** Two acts on the same counterparty no further apart than this are one moment, in seconds. */
export const MOMENT_S = 600;

/**
 * The chance of at least `moments` shared moments. `targets` are the whole histories of what they
 * acted on: where others crowd into the same minutes, a moment shows little.
 */
export function chanceOf(
  [first, second]: readonly [readonly Act[], readonly Act[]],
  moments: number,
  own: readonly string[],
  targets: ReadonlyMap<string, AddressHistory>,
): number {
  const times = [...first, ...second].map(({ at }) => at);
  const span = Math.max(...times, 0) - Math.min(...times, Number.MAX_SAFE_INTEGER);
  const acts = new Map<string, number>();
  for (const { target } of second) tally(acts, target);
  let expected = 0;
  for (const { at, target } of first) {
    const others = othersOn(targets.get(target), own);
    const near = others.filter((time) => Math.abs(time - at) <= MOMENT_S).length;
    const even = (2 * MOMENT_S) / Math.max(span, 2 * MOMENT_S);
    const crowded = others.length === 0 ? 0 : near / others.length;
    const matching = acts.get(target);
    if (matching === undefined) continue;
    expected += Math.min(1, matching * Math.max(even, crowded));
  }
  return poissonTail(expected, moments);
}

/** When anybody else acted on a target. */
function othersOn(target: AddressHistory | undefined, own: readonly string[]): number[] {
  if (target === undefined) throw new Error('lockstep: acts on known targets only');
  const { address, transfers } = target;
  const inward = transfers.filter(({ from, to }) => to === address && !own.includes(from));
  return inward.map(({ at }) => at);
}

/** The chance that a Poisson variable of this mean is at least `count`. */
function poissonTail(mean: number, count: number): number {
  let term = Math.exp(-mean);
  let below = 0;
  for (let k = 0; k < count; k += 1) {
    below += term;
    term *= mean / (k + 1);
  }
  return Math.max(0, 1 - below);
}
