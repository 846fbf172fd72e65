// Walks one hop, and finds the listed addresses among those it meets. It tests every address that
// it meets, whatever rule stops the walk there, and records every cause that left something unseen.
// It decides nothing about the whole walk.

import { isSystemAddress, matchKey } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { rowsUnder } from '../../evidence/measure.ts';
import { decide, map, type Partly, Read, rowsSeen } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type Counterparty,
  type CounterpartyRingPort,
  type CoveredNeighbourhood,
  type HistoryTransfer,
  isSignedBy,
  signingOf,
  type TransferHistory,
  type TransferHistoryPort,
  type Worth,
} from '../../ports/history.ts';
import type { ListEntry, SanctionsList, SanctionsListPort } from '../../ports/sanctions.ts';
import { addCause, type Causes } from '../history/address-history.ts';
import {
  compareText,
  compareValues,
  type LeftOut,
  type LeftOutRule,
  sift,
} from '../history/edge-rule.ts';

export type ListWalkLimits = {
  /** The most addresses that a walk holds, the subject left out. */
  readonly nodesMax: number;
  readonly rowsMax: number;
  readonly degreeMax: number;
  readonly batchRowsMax: number;
};

/** An address of the walk: the way to it, `null` for the subject. */
export type Reached = { readonly address: string; readonly way: Way | null };

/** An address that is not walked past, because it has too many counterparties. */
export type Hub = { readonly address: string; readonly degree: number };

/** A hub that dealt with a listed address: no way leads past it, and it is always shown. */
export type HubContact = Hub & {
  readonly listed_address: string;
  readonly transfer: HistoryTransfer;
};

/** A transfer that is no edge and whose other end is listed. */
export type LeftOutContact = LeftOut & { readonly listed_address: string };

/** The transfer with a listed address that stands for all between the two. */
export type EdgeTo = Omit<HubContact, keyof Hub>;

/** A hub with those of the list that it dealt with. */
export type HubBesideList = { readonly hub: Hub; readonly edges: readonly EdgeTo[] };

/** Puts the largest hub first. */
export function compareHubs(a: Hub, b: Hub): number {
  return b.degree - a.degree || compareText(a.address, b.address);
}

/** The first contacts, those of the largest hub before the others: a hub may have a thousand. */
export function leadingContacts(all: readonly HubBesideList[], max: number): HubContact[] {
  const contacts: HubContact[] = [];
  for (const { hub, edges } of [...all].sort((a, b) => compareHubs(a.hub, b.hub))) {
    if (contacts.length >= max) break;
    const own = [...edges].sort((a, b) => compareText(a.listed_address, b.listed_address));
    for (const edge of own.slice(0, max - contacts.length)) contacts.push({ ...hub, ...edge });
  }
  return contacts;
}

/** Puts left-out contacts in an order that is always the same. */
export function compareContacts(a: LeftOutContact, b: LeftOutContact): number {
  return (
    compareText(a.listed_address, b.listed_address) ||
    compareText(a.transfer.tx, b.transfer.tx) ||
    compareText(String(a.transfer.token), String(b.transfer.token))
  );
}

/** A listed address that a way leads to, with its first entry on the list. */
export type Hit = { readonly way: Way; readonly entry: ListEntry };

/** The state of a walk. Readings are kept for their ports, not their value. */
export type WalkState = {
  readonly limits: ListWalkLimits;
  /** The chains that a negative must cover. */
  readonly chains: readonly ChainName[];
  readonly signal: AbortSignal;
  readonly reads: Partly<null, TransferHistoryPort>[];
  readonly lists: Partly<null, SanctionsListPort>[];
  readonly causes: Causes;
  /** The subject, and every address to which a way leads. */
  readonly reached: Set<string>;
  /** Addresses that were to be walked past and whose history was not read in full. */
  readonly unread: Set<string>;
  readonly gapped: Set<ChainName>;
  /** Chains of which the NFTs of an address that was walked past were not all read. */
  readonly nftGapped: Set<ChainName>;
  readonly hubs: Hub[];
  readonly hubContacts: HubBesideList[];
  /** The ring's result for the counterparties of the first hop; unread if it was not queried. */
  ring: Partly<null, CounterpartyRingPort>;
  /** The lists that the walk was made on, by their hash: more than one make it no walk. */
  readonly listsMet: Set<string>;
  readonly leftOut: Record<LeftOutRule, number>;
  readonly contacts: LeftOutContact[];
  /** The signers in the subject's own history. */
  readonly signing: Map<string, ReturnType<typeof signingOf>>;
  /** All that was read between the two ends of a hop: which is the largest is known once priced. */
  readonly between: Map<Hop, readonly HistoryTransfer[]>;
  live: boolean;
};

export type Readings = ReadonlyMap<string, Partly<CoveredNeighbourhood, TransferHistoryPort>>;
export type Met = { readonly ways: Way[]; readonly leftOut: LeftOut[] };

export const nothing = (): null => null;

/** Asks the history of a frontier in one batch. */
export function askHistory(
  state: WalkState,
  history: TransferHistory,
  frontier: readonly Reached[],
  how?: 'standing',
): Promise<Readings> {
  const { rowsMax, degreeMax, batchRowsMax } = state.limits;
  const { signal } = state;
  const addresses = frontier.map(({ address }) => address);
  const limits = {
    rowsMax,
    degreeMax,
    batchRowsMax,
    signal,
    transfersPerCounterpartyMax: rowsMax,
    standingOnly: how === 'standing',
  };
  return history.neighbourhoods(addresses, limits);
}

/** The reading of an address that is known to be over the degree cap; else `null`. */
export function hubIn(
  reading: Partly<CoveredNeighbourhood, TransferHistoryPort>,
  degreeMax: number,
): Read<CoveredNeighbourhood, TransferHistoryPort> | null {
  const isOver = (known: CoveredNeighbourhood) =>
    Math.max(known.degree, known.counterparties.length) > degreeMax && degreeOf(known) > degreeMax;
  // A part knows the least that the degree can be: over the cap, reading on could not change it.
  const hub = decide(reading, isOver);
  if (!(hub instanceof Read && isOver(hub.value))) return null;
  return map(hub, (known) => ({ ...known, degree: degreeOf(known) }));
}

/**
 * Its counterparties over edges: whom a stranger's logs put beside it makes nobody a hub. Where
 * some are left out, whoever left them out has counted by the same rule.
 */
function degreeOf({ address, degree, counterparties }: CoveredNeighbourhood): number {
  if (counterparties.length < degree) return degree;
  const kept = counterparties.filter(({ transfers, transfer_count }) => {
    return transfers.length < transfer_count || sift([address], transfers).edge !== null;
  });
  return kept.length;
}

/** Walks past each address of a frontier and gathers whom it meets, by address. */
export function expand(
  state: WalkState,
  frontier: readonly Reached[],
  readings: Readings,
): Map<string, Met> {
  const met = new Map<string, Met>();
  for (const from of frontier) {
    const reading = readings.get(from.address);
    if (reading === undefined) throw new Error('history: no reading for an address asked');
    const hub = hubIn(reading, state.limits.degreeMax);
    state.reads.push(map(hub === null ? reading : hub, nothing));
    if (hub !== null) {
      state.hubs.push({ address: from.address, degree: hub.value.degree });
      continue;
    }
    fileCauses(state, from.address, reading);
    const known = rowsSeen(map(reading, (one) => [one]));
    if (known === null) continue;
    const [{ counterparties }] = known;
    // A transfer of the second hop may have been signed by the subject, of which only it tells.
    if (from.way === null) state.signing.set(from.address, signingOf(known[0]));
    const side = from.way === null ? [from.address] : stopsOf(from.way);
    for (const counterparty of counterparties) meet(state, met, from, side, counterparty);
  }
  return met;
}

/** Files why an address's history is not known in full, if it is not. */
export function fileCauses(
  state: WalkState,
  address: string,
  reading: Partly<CoveredNeighbourhood, TransferHistoryPort>,
): void {
  const known = rowsSeen(
    map(reading, ({ provenance, nft_gaps }) => [{ provenance, nft_gaps }] as const),
  );
  if (known !== null && known[0].provenance === 'onchain') state.live = true;
  if (known !== null) for (const { chain } of known[0].nft_gaps) state.nftGapped.add(chain);
  if (reading instanceof Read) return;
  state.unread.add(address);
  addCause(state.causes, reading.why);
  const gaps = rowsSeen(map(reading, (known) => known.gaps));
  if (gaps !== null) for (const { chain } of gaps) state.gapped.add(chain);
}

export function meet(
  state: WalkState,
  met: Map<string, Met>,
  from: Reached,
  side: readonly string[],
  { address, transfers, transfer_count }: Counterparty,
): void {
  if (state.reached.has(address) || isSystemAddress(address)) return;
  const { edge, leftOut } = sift(side, transfers, (stop, transfer) =>
    isSigned(state, stop, transfer),
  );
  for (const { why: rule } of leftOut) state.leftOut[rule] += 1;
  if (edge === null && transfers.length < transfer_count) {
    const size = { address: from.address, limit: String(state.limits.rowsMax) };
    state.unread.add(from.address);
    addCause(state.causes, why('row_cap', size));
  }
  if (edge === null && leftOut.length === 0) return;
  const known = met.get(address);
  const entry: Met = known === undefined ? { ways: [], leftOut: [] } : known;
  if (known === undefined) met.set(address, entry);
  entry.leftOut.push(...leftOut);
  if (edge === null) return;
  const hop: Hop = { near: from.address, far: address, transfer: edge };
  state.between.set(hop, transfers);
  entry.ways.push(from.way === null ? [hop] : [...from.way, hop]);
}

/** Whether a stop of the way signed a transfer; its own history tells of one between others too. */
export function isSigned(
  state: WalkState,
  stop: string,
  transfer: HistoryTransfer,
): boolean | null {
  const signing = state.signing.get(stop);
  return signing === undefined ? isSignedBy(stop, transfer) : signing(transfer);
}

/** Tests all whom a hop met against the list: the best way to a listed one, or `null`. */
export async function testMet(
  state: WalkState,
  { list, history }: { readonly list: SanctionsList; readonly history: TransferHistory },
  met: ReadonlyMap<string, Met>,
): Promise<Hit | null> {
  const look = await list.lookUp([...met.keys()]);
  state.lists.push(map(look, nothing));
  if (!(look instanceof Read)) addCause(state.causes, look.why);
  const sha256 = rowsSeen(map(look, ({ list: { sha256 } }) => [sha256]));
  if (sha256 !== null) state.listsMet.add(sha256[0]);
  const rows = rowsSeen(map(look, ({ found }) => [...found]));
  if (rows === null) return null;
  const listed = new Map(rows);
  const hits: Hit[] = [];
  for (const [address, { ways, leftOut }] of met) {
    const entry = listed.get(matchKey(address))?.[0];
    if (entry === undefined) continue;
    for (const one of leftOut) state.contacts.push({ ...one, listed_address: address });
    for (const way of ways) hits.push({ way, entry });
  }
  const [first, ...others] = await priceHits(state, history, hits);
  if (first === undefined) return null;
  return others.reduce((best, hit) => (compareWays(hit.way, best.way) < 0 ? hit : best), first);
}

/** The hits, with what was worth most on each hop: values are asked for nothing else. */
async function priceHits(
  state: WalkState,
  { worths }: TransferHistory,
  hits: readonly Hit[],
): Promise<readonly Hit[]> {
  const hops = new Set(hits.flatMap(({ way }) => way));
  const between = [...hops].flatMap((hop) => rowsUnder(state.between, hop));
  if (between.length === 0) return hits;
  const known = await worths(between, state.signal);
  if (known.size === 0) return hits;
  return hits.map(({ way: [first, ...more], entry }) => {
    const way: [Hop, ...Hop[]] = [pricedHop(state, NOBODY, first, known)];
    for (const hop of more) way.push(pricedHop(state, stopsOf(way).slice(0, -1), hop, known));
    return { way, entry };
  });
}

const NOBODY: readonly string[] = Object.freeze([]);

function pricedHop(
  state: WalkState,
  before: readonly string[],
  hop: Hop,
  known: ReadonlyMap<HistoryTransfer, Worth>,
): Hop {
  const priced = rowsUnder(state.between, hop).map((one) => {
    const worth = known.get(one);
    return worth === undefined ? one : { ...one, ...worth };
  });
  const { edge } = sift([...before, hop.near], priced, (stop, transfer) =>
    isSigned(state, stop, transfer),
  );
  return edge === null ? hop : { ...hop, transfer: edge };
}

/** Takes those to whom a way leads into the walk, by address. */
export function admit(state: WalkState, met: ReadonlyMap<string, Met>): readonly Reached[] {
  const reached: Reached[] = [];
  for (const [address, { ways }] of met) {
    const [first, ...others] = ways;
    if (first === undefined) continue;
    state.reached.add(address);
    reached.push({ address, way: others.reduce((a, b) => (compareWays(b, a) < 0 ? b : a), first) });
  }
  return reached.sort((a, b) => (a.address < b.address ? -1 : 1));
}

/** How many of those admitted last the node budget reaches; files it where it is spent. */
export function withinBudget(state: WalkState, reached: readonly Reached[]): readonly Reached[] {
  const { nodesMax } = state.limits;
  const before = state.reached.size - 1 - reached.length;
  const room = Math.max(0, nodesMax - before);
  const size = { met: String(state.reached.size - 1), limit: String(nodesMax) };
  const over = reached.length > room;
  if (over && !state.causes.has('node_budget')) addCause(state.causes, why('node_budget', size));
  return reached.slice(0, room);
}

// Chooses between two equally short paths to a listed address: the larger, then the first by name.
// A path with an unpriced hop has no value, and comes after those with one.

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
