// Which of those that the first hop met dealt with a listed address, by the ring?
// A miss in a whole ring is all there is to know of an address. Who is met is settled by the
// transfers between the two, and read once: for its degree, and for what it signed.

import type { AddressKind } from '../../chain/address.ts';
import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { heldUnder } from '../../evidence/measure.ts';
import { map, type Partly, Read, seen, Unread, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import type {
  CounterpartyRing,
  CounterpartyRingPort,
  MetRing,
} from '../../ports/history/counterparty-ring.ts';
import {
  type Counterparty,
  type CoveredNeighbourhood,
  type HistoryTransfer,
  type isSignedBy,
  signerOf,
  signingOf,
  type TransferHistory,
  type TransferHistoryPort,
} from '../../ports/history/transfer-history.ts';

import type { SanctionsList } from '../../ports/sanctions/sanctions-list.ts';
import { sift } from '../history/edge-rule.ts';
import {
  askHistory,
  fileCauses,
  hubIn,
  isSigned,
  type Met,
  meet,
  nothing,
  type Reached,
  type Readings,
  type WalkState,
} from './walk-hop.ts';
import { stopsOf } from './walk-path.ts';

type RingReading = Partly<MetRing, CounterpartyRingPort>;

type AskedPorts = {
  readonly list: SanctionsList;
  readonly history: TransferHistory;
  readonly ring: CounterpartyRing;
};

/**
 * Meets those reached with the ring of the list in force. It is whole for the walk only if the list
 * was read to its end, and no chain of their kind has begun to be read since the walk began.
 */
export async function askRing(
  state: WalkState,
  { list, history, ring }: AskedPorts,
  kind: AddressKind,
  reached: readonly Reached[],
): Promise<RingReading> {
  const { chains, signal, limits } = state;
  if (chains.length === 0) return notAsked('the chains of its kind are not known');
  const listed = await inTime(() => list.listed(), signal);
  if (listed === OUT_OF_TIME) return unread('counterparty_ring', STOPPED_BY_TIME);
  const known = seen(map(listed, (one) => [one]));
  if (known === null || listed instanceof Unread) {
    return unread('counterparty_ring', listed instanceof Read ? STOPPED_BY_TIME : listed.why);
  }
  const [{ list: facts, addresses }] = known;
  state.listsMet.add(facts.sha256);
  const asked = {
    addresses: reached.map(({ address }) => address),
    listed: heldUnder(addresses, kind),
    chains,
    rowsMax: limits.rowsMax,
    signal,
  };
  const answer = await inTime(() => ring.meet(asked), signal);
  const met =
    answer === OUT_OF_TIME ? unread('counterparty_ring' as const, STOPPED_BY_TIME) : answer;
  if (!(listed instanceof Read)) {
    return met instanceof Unread
      ? unread('counterparty_ring', listed.why)
      : weaken(met, listed.why);
  }
  if (!(met instanceof Read)) return met;
  const read = await inTime(() => history.chainsRead(), signal);
  if (read === OUT_OF_TIME) return weaken(met, STOPPED_BY_TIME);
  if (!(read instanceof Read)) return weaken(met, read.why);
  const begun = read.value.filter((one) => CHAINS[one].kind === kind && !chains.includes(one));
  return begun.length === 0 ? met : weaken(met, whyBegun(begun));
}

function whyBegun(chains: readonly ChainName[]) {
  return why('ring_partial', { gaps: `${chains.join(', ')} began to be read meanwhile` });
}

function notAsked(cause: string): RingReading {
  return unread('counterparty_ring', why('ring_unbuilt', { cause }));
}

/** The second hop so far: who was read address by address, and whom they met. */
type SecondHop = {
  readonly ring: RingReading;
  readonly reached: readonly Reached[];
  readonly readings: Readings;
  readonly met: Map<string, Met>;
};

/** Adds what the ring tells to what was met address by address. */
export async function meetRing(
  state: WalkState,
  history: TransferHistory,
  { ring, reached, readings, met }: SecondHop,
): Promise<void> {
  const meetings = seen(map(ring, (one) => [...one.meetings]));
  if (meetings === null) return;
  const byAddress = new Map(meetings);
  const between = reached.filter(({ address }) => byAddress.has(address));
  const edges = new Map(
    between.map((from) => [from, edgesOf(state, from, heldUnder(byAddress, from.address))]),
  );
  const edgeTo = (from: Reached) => heldUnder(edges, from);
  const unasked = between.filter((one) => !readings.has(one.address) && edgeTo(one).length > 0);
  const more = await askNeighbours(state, history, unasked, byAddress);
  for (const from of between) {
    const listed = heldUnder(byAddress, from.address);
    const before = readings.get(from.address);
    const reading = before === undefined ? more.get(from.address) : before;
    if (reading === undefined) {
      // No transfer between them is an edge: whoever it is, nothing leads past it to them.
      for (const one of listed) meet(state, met, from, sideOf(from), one);
      continue;
    }
    const hub = hubIn(reading, state.limits.degreeMax);
    if (hub !== null) {
      const { degree } = hub.value;
      const { address } = from;
      if (before === undefined) state.hubs.push({ address, degree });
      for (const contact of edgeTo(from)) state.hubContacts.push({ address, degree, ...contact });
      continue;
    }
    const told = before === undefined ? NOBODY : namedIn(before);
    const known = seen(map(reading, (one) => [one]));
    if (known !== null) {
      if (known[0].provenance === 'onchain') state.live = true;
      state.signing.set(from.address, signingOf(known[0]));
      for (const one of listed) {
        if (!told.has(one.address)) meet(state, met, from, sideOf(from), one);
      }
    }
    if (before === undefined) fileReading(state, from, reading, listed);
  }
}

/**
 * Reads those who dealt with a listed address: all of what they did only where it may tell who
 * signed a transfer between the two, else no more than whether a way leads past them.
 */
async function askNeighbours(
  state: WalkState,
  history: TransferHistory,
  neighbours: readonly Reached[],
  listed: ReadonlyMap<string, readonly Counterparty[]>,
): Promise<Readings> {
  const isTold = ({ address }: Reached) => heldUnder(listed, address).every(namesSigners);
  const told = neighbours.filter(isTold);
  const untold = neighbours.filter((one) => !isTold(one));
  const readings = await Promise.all([
    told.length === 0 ? NO_READINGS : askHistory(state, history, told, 'standing'),
    untold.length === 0 ? NO_READINGS : askHistory(state, history, untold),
  ]);
  return new Map(readings.flatMap((some) => [...some]));
}

function namesSigners({ transfers, transfer_count }: Counterparty): boolean {
  return transfers.length === transfer_count && transfers.every((one) => signerOf(one) !== null);
}

/** Of one that was read in part it is not known whether it is a hub, if an edge leads past it. */
function fileReading(
  state: WalkState,
  from: Reached,
  reading: Partly<CoveredNeighbourhood, TransferHistoryPort>,
  listed: readonly Counterparty[],
): void {
  if (reading instanceof Read) state.reads.push(map(reading, nothing));
  else if (edgesOf(state, from, listed).length > 0) fileCauses(state, from.address, reading);
}

const NOBODY: ReadonlySet<string> = new Set();

function namedIn(reading: Partly<CoveredNeighbourhood, TransferHistoryPort>): ReadonlySet<string> {
  const known = seen(map(reading, (one) => one.counterparties));
  return known === null ? NOBODY : new Set(known.map(({ address }) => address));
}

const NO_READINGS: Readings = new Map();

function sideOf({ address, way }: Reached): readonly string[] {
  return way === null ? [address] : stopsOf(way);
}

type EdgeTo = { readonly listed_address: string; readonly transfer: HistoryTransfer };

/** The transfers that stand for edges between one reached and listed addresses. */
function edgesOf(
  state: WalkState,
  from: Reached,
  counterparties: readonly Counterparty[],
): readonly EdgeTo[] {
  const edges: EdgeTo[] = [];
  const side = sideOf(from);
  const signed: typeof isSignedBy = (stop, transfer) => isSigned(state, stop, transfer);
  for (const { address, transfers } of counterparties) {
    // The subject may itself be listed: that it deals with its neighbours is the first hop.
    if (state.reached.has(address)) continue;
    const { edge } = sift(side, transfers, signed);
    if (edge !== null) edges.push({ listed_address: address, transfer: edge });
  }
  return edges;
}
