// Does transfer history lead from this address to a listed one, within two hops, either direction?
// It refuses to say that no way was found unless nothing that could hold one went unread (hubs
// excepted, and counted), and it never folds a way into a designation: being two hops away is a
// fact about the graph.

import { type AddressKind, matchKey, type ParsedAddress } from '../../chain/address.ts';
import { CHAIN_NAMES, CHAINS, type ChainName } from '../../chain/chain.ts';
import { rowsUnder } from '../../evidence/measure.ts';
import {
  basis,
  both,
  decide,
  map,
  type Partly,
  Read,
  type Reading,
  rowsSeen,
  some,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { portInTime, readSoonOrInTime, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import {
  type Counterparty,
  type CounterpartyRing,
  type CounterpartyRingPort,
  type CoveredNeighbourhood,
  type HistoryProvenance,
  type HistoryTransfer,
  type isSignedBy,
  type MetRing,
  signerOf,
  signingOf,
  type TransferHistory,
  type TransferHistoryPort,
} from '../../ports/history.ts';
import type { SanctionsList } from '../../ports/sanctions.ts';
import type { ExchangeLabels, LabelLookUp } from '../../ports/tables.ts';
import { addCause, type Cause, HISTORY_LIMITS, historyInTime } from '../history/address-history.ts';
import { hangsOnSigner, type LeftOutRule, sift } from '../history/edge-rule.ts';
import { leadingLabel } from '../tables/labels.ts';
import {
  admit,
  askHistory,
  compareContacts,
  compareHubs,
  type EdgeTo,
  expand,
  fileCauses,
  type Hit,
  type Hub,
  type HubContact,
  hubIn,
  isSigned,
  type LeftOutContact,
  type ListWalkLimits,
  leadingContacts,
  type Met,
  meet,
  nothing,
  type Reached,
  type Readings,
  stopsOf,
  testMet,
  type WalkState,
  withinBudget,
} from './walk-hop.ts';

/** How far a walk goes from its subject. */
export const HOPS_MAX = 2;
/** How many hubs, and how many left-out contacts, a walk lists; it counts all of them. */
export const CONTACTS_LISTED_MAX = 20;

export const WALK_LIMITS: ListWalkLimits = {
  ...HISTORY_LIMITS,
  nodesMax: 10_000,
  degreeMax: 5_000,
};

/** The ports that a walk reads, and those whose silence makes it no answer. */
export type WalkPorts = {
  readonly list: SanctionsList;
  readonly history: TransferHistory;
  readonly ring: CounterpartyRing;
  /** Names the hubs; `null` for whoever shows no name. */
  readonly labels: ExchangeLabels | null;
};
export type WalkPort = 'sanctions_list' | 'transfer_history';

/** A walk: what it found, and what it left unseen. */
export type Walk = {
  /** The shortest way to a listed address; of equally short ones the larger, then by address. */
  readonly found: Hit | null;
  /** How many hops were examined completely, hubs excepted. */
  readonly hops_examined: number;
  /** Addresses met and taken into the walk, the subject left out: met with the ring, or read. */
  readonly nodes_examined: number;
  readonly nodes_unread: number;
  /** True only if no address nearer than the last hop was left unexpanded, for any cause. */
  readonly frontier_exhausted: boolean;
  readonly node_budget_hit: boolean;
  /** The largest hubs met, each with its label where the table that names it was read. */
  readonly hubs: readonly (Hub & { readonly label: string | null })[];
  readonly hubs_count: number;
  /** Hubs that dealt with a listed address: the first, and how many there are. */
  readonly hub_contacts: readonly (HubContact & { readonly label: string | null })[];
  readonly hub_contacts_count: number;
  /** The reading that denies further hubs. */
  readonly ring: Partly<null, CounterpartyRingPort>;
  /** Why hubs carry no label; `null` where they do, none was met or nobody was to name them. */
  readonly labels_unread: Why | null;
  readonly left_out: Readonly<Record<LeftOutRule, number>>;
  readonly contacts: readonly LeftOutContact[];
  readonly contacts_count: number;
  readonly chains_examined: readonly ChainName[];
  readonly chains_not_examined: readonly ChainName[];
  /** Chains of which NFTs were not all read: those not examined, and more. */
  readonly nft_not_examined: readonly ChainName[];
  readonly provenance: HistoryProvenance;
  /** Why the walk is no whole one; none where it is. */
  readonly causes: readonly Cause[];
};

/**
 * The walk as a settled one: a way that was found is a fact, however little else was read, and
 * nothing further could change that; but on made-up data nothing is.
 */
export function settledWalk(walk: Partly<Walk, WalkPort>): Reading<Walk, WalkPort> {
  return decide(walk, (seenSoFar) => seenSoFar.found !== null && !isMadeUp(seenSoFar));
}

/** The walk as far as it tells of the hubs that it met: what was met is a fact, however cut. */
export function walkWithHubs(walk: Partly<Walk, WalkPort>): Partly<Walk, WalkPort> {
  const met = decide(walk, (seenSoFar) => seenSoFar.hubs_count > 0 && !isMadeUp(seenSoFar));
  return met instanceof Read ? met : walk;
}

function isMadeUp({ causes }: Walk): boolean {
  return causes.some(({ why: { code } }) => code === 'simulated');
}

/** The options of a walk: the signal ends its time. */
export type WalkRequest = { readonly signal: AbortSignal };

/**
 * Walks transfer history breadth-first from a subject. Read to its end only where a negative may
 * be said; a part's `found` is still a fact (take it with `decide`), unless a source is simulated.
 */
export async function proximity(
  ports: WalkPorts,
  subject: ParsedAddress,
  limits: ListWalkLimits,
  asked: WalkRequest,
): Promise<Partly<Walk, WalkPort>> {
  for (let tries = 1; ; tries += 1) {
    const listsMet = new Set<string>();
    const walk = await walkFrom(ports, subject, limits, { ...asked, listsMet });
    if (listsMet.size <= 1) return walk;
    if (tries === WALKS_MAX) return weaken(walk, LIST_MOVED);
  }
}

const LIST_MOVED = why('store_unreadable', {
  what: 'One sanctions list',
  fault: 'it was replaced again and again during the walk',
});

/** A walk under which the list was replaced is made again, so often at most. */
const WALKS_MAX = 3;

async function walkFrom(
  ports: WalkPorts,
  subject: ParsedAddress,
  limits: ListWalkLimits,
  asked: WalkRequest & Pick<WalkState, 'listsMet'>,
): Promise<Partly<Walk, WalkPort>> {
  const ask = () => ports.history.chainsRead();
  const chainsRead = await readSoonOrInTime('transfer_history', ask, asked);
  if (chainsRead instanceof Unread && chainsRead.why.code === 'no_history') {
    return unread<WalkPort>('transfer_history', chainsRead.why);
  }
  const ground = groundOf(chainsRead, subject.kind);
  if (ground.noWalk !== null) return unread<WalkPort>('transfer_history', ground.noWalk);
  const state = beginWalk(subject.address, ground.chains, limits, asked);
  state.reads.push(map(chainsRead, () => null));
  if (chainsRead instanceof Unread) addCause(state.causes, chainsRead.why);

  const start: Reached[] = [{ address: subject.address, way: null }];
  const inTime = portsInTime(ports, state.signal);
  const readings = await askHistory(state, inTime.history, start);
  const own = readings.get(subject.address);
  if (own === undefined) throw new Error('history: no reading for the subject');
  if (own instanceof Unread) return unread<WalkPort>('transfer_history', own.why);
  const hub = hubIn(own, limits.degreeMax);
  if (hub !== null) {
    const size = { degree: String(hub.value.degree), limit: String(limits.degreeMax) };
    return unread<WalkPort>('transfer_history', why('high_degree', size));
  }
  const ended = await walkHops(state, inTime, subject.kind, start, readings);
  return concludeWalk(state, inTime, subject.kind, ended);
}

function portsInTime({ list, history, ring, labels }: WalkPorts, signal: AbortSignal): WalkPorts {
  return {
    list: portInTime('sanctions_list', list, signal),
    history: historyInTime(history, signal),
    ring: portInTime('counterparty_ring', ring, signal),
    labels: labels === null ? null : portInTime('exchange_labels', labels, signal),
  };
}

type Ground = { readonly chains: readonly ChainName[]; readonly noWalk: Why | null };

/** The chains of the subject's own kind that are read here: no other can acquit it. */
function groundOf(
  chainsRead: Reading<readonly ChainName[], 'transfer_history'>,
  kind: AddressKind,
): Ground {
  if (chainsRead instanceof Unread) {
    // Readable chains of its kind are read nonetheless; without any chain nothing can be.
    const isOnAny = CHAIN_NAMES.some((chain) => CHAINS[chain].kind === kind);
    return { chains: NO_CHAINS, noWalk: isOnAny ? null : chainsRead.why };
  }
  const chains = chainsRead.value.filter((chain) => CHAINS[chain].kind === kind);
  if (chains.length > 0) return { chains, noWalk: null };
  const none = chainsRead.value.length === 0;
  return { chains, noWalk: none ? why('no_history') : why('not_walked_kind', { kind }) };
}

const NO_CHAINS: readonly ChainName[] = Object.freeze([]);

function beginWalk(
  subject: string,
  chains: readonly ChainName[],
  limits: ListWalkLimits,
  { signal, listsMet }: WalkRequest & Pick<WalkState, 'listsMet'>,
): WalkState {
  return {
    limits,
    chains,
    signal,
    listsMet,
    hubContacts: [],
    ring: unread('counterparty_ring', why('ring_unbuilt', { cause: 'nobody was met with it' })),
    reads: [],
    lists: [],
    causes: new Map(),
    reached: new Set([subject]),
    unread: new Set(),
    gapped: new Set(),
    nftGapped: new Set(),
    hubs: [],
    leftOut: { zero_value: 0, no_market_token: 0 },
    contacts: [],
    signing: new Map(),
    between: new Map(),
    live: false,
  };
}

type Ended = {
  readonly found: Hit | null;
  readonly hopsExamined: number;
  /** Whether addresses nearer than the last hop were not walked past because one was found. */
  readonly stoppedEarly: boolean;
};

async function walkHops(
  state: WalkState,
  ports: WalkPorts,
  kind: AddressKind,
  start: readonly Reached[],
  first: Awaited<ReturnType<typeof askHistory>>,
): Promise<Ended> {
  const met = expand(state, start, first);
  const near = await testMet(state, ports, met);
  const isWhole = state.causes.size === 0;
  const reached = admit(state, met);
  if (near !== null) {
    withinBudget(state, reached);
    return { found: near, hopsExamined: isWhole ? 1 : 0, stoppedEarly: true };
  }
  const second = await secondHop(state, ports, kind, reached);
  const hopsWhole = second.isWhole ? HOPS_MAX : 1;
  return { found: second.found, hopsExamined: isWhole ? hopsWhole : 0, stoppedEarly: false };
}

/** The second hop: from the list's side where the ring is whole, else address by address. */
async function secondHop(
  state: WalkState,
  ports: WalkPorts,
  kind: AddressKind,
  reached: readonly Reached[],
): Promise<{ readonly found: Hit | null; readonly isWhole: boolean }> {
  const ring = await askRing(state, ports, kind, reached);
  state.ring = map(ring, nothing);
  const isRung = ring instanceof Read;
  if (isRung) for (const chain of ring.value.nft_gapped) state.nftGapped.add(chain);
  const taken = isRung ? NOBODY : withinBudget(state, reached);
  if (!isRung) for (const { address } of reached.slice(taken.length)) state.unread.add(address);
  const readings = taken.length === 0 ? new Map() : await askHistory(state, ports.history, taken);
  const met = expand(state, taken, readings);
  await meetRing(state, ports.history, { ring, reached, readings, met });
  if (!isRung) fileHubs(state, ring.why);
  const found = await testMet(state, ports, met);
  const isWhole = state.causes.size === 0;
  // An address that the ring names is listed, and is never walked past.
  if (!isRung) withinBudget(state, admit(state, met));
  return { found, isWhole };
}

const NOBODY: readonly Reached[] = Object.freeze([]);

/** Only a whole ring tells whom a hub dealt with: else a hub that was left out is unread. */
function fileHubs({ hubs, unread: missed, causes }: WalkState, { reason: cause }: Why): void {
  const [first] = hubs;
  if (first === undefined) return;
  for (const { address } of hubs) missed.add(address);
  const more = hubs.length === 1 ? '' : ` and ${hubs.length - 1} more`;
  addCause(causes, why('hub_unread', { hubs: `${first.address}${more}`, cause }));
}

async function concludeWalk(
  state: WalkState,
  ports: WalkPorts,
  kind: AddressKind,
  { found, hopsExamined, stoppedEarly }: Ended,
): Promise<Partly<Walk, WalkPort>> {
  const hubs = [...state.hubs].sort(compareHubs).slice(0, CONTACTS_LISTED_MAX);
  const hubContacts = leadingContacts(state.hubContacts, CONTACTS_LISTED_MAX);
  const shown = [...hubs, ...hubContacts].map(({ address }) => address);
  const labels =
    ports.labels === null || shown.length === 0 ? null : await ports.labels.lookUp(shown);
  const list = some(state.lists);
  const history = some(state.reads);
  const walkedOn: Partly<unknown, WalkPort> = both({ list, history });
  const named: Partly<unknown, WalkPort> =
    labels instanceof Read ? both({ walkedOn, labels }) : walkedOn;
  // A ring that is not whole is no part of what a negative rests on.
  const { ring } = state;
  const whole: Partly<unknown, WalkPort> = ring instanceof Read ? both({ named, ring }) : named;
  const made = basis(whole).sources.some(({ simulated }) => simulated);
  if (made && !state.causes.has('simulated')) addCause(state.causes, why('simulated'));
  const contacts = [...state.contacts].sort(compareContacts);
  const ofKind = CHAIN_NAMES.filter((chain) => CHAINS[chain].kind === kind);
  // Only a gap says of which chain something may have gone unread.
  const onlyGaps = [...state.causes.keys()].every((code) => code === 'partial_history');
  const examined = state.chains.filter((chain) => {
    return state.unread.size === 0 || (onlyGaps && !state.gapped.has(chain));
  });
  const met = state.reached.size - 1;
  const walk: Walk = {
    found,
    hops_examined: hopsExamined,
    nodes_examined: state.ring instanceof Read ? met : Math.min(met, state.limits.nodesMax),
    nodes_unread: state.unread.size,
    frontier_exhausted: state.causes.size === 0 && state.hubs.length === 0 && !stoppedEarly,
    node_budget_hit: state.causes.has('node_budget'),
    hubs: hubs.map((hub) => ({ ...hub, label: labelOf(labels, hub.address) })),
    hubs_count: state.hubs.length,
    hub_contacts: hubContacts.map((one) => ({ ...one, label: labelOf(labels, one.address) })),
    hub_contacts_count: state.hubContacts.reduce((sum, { edges }) => sum + edges.length, 0),
    ring: state.ring,
    labels_unread: labels instanceof Unread ? labels.why : null,
    left_out: state.leftOut,
    contacts: contacts.slice(0, CONTACTS_LISTED_MAX),
    contacts_count: contacts.length,
    chains_examined: examined,
    chains_not_examined: ofKind.filter((chain) => !examined.includes(chain)),
    nft_not_examined: ofKind.filter((chain) => {
      return !examined.includes(chain) || state.nftGapped.has(chain);
    }),
    provenance: state.live ? 'onchain' : 'warehouse',
    causes: [...state.causes.values()],
  };
  const reading: Partly<Walk, WalkPort> = map(whole, () => walk);
  const [cause] = walk.causes;
  return cause === undefined ? reading : weaken(reading, cause.why);
}

type Labels = Reading<LabelLookUp, 'exchange_labels'>;

function labelOf(labels: Labels | null, address: string): string | null {
  if (!(labels instanceof Read)) return null;
  const leading = leadingLabel(rowsUnder(labels.value.found, matchKey(address)));
  return leading === null ? null : leading.label;
}

// Finds the counterparties of the first hop that dealt with a listed address, by the ring. A miss
// in a complete ring is final for an address. A hit is confirmed by the transfers between the two;
// the counterparty is read once, for its degree and its signatures.

type RingReading = Partly<MetRing, CounterpartyRingPort>;

/**
 * Meets those reached with the ring of the list in force. It is whole for the walk only if the list
 * was read to its end, and no chain of their kind has begun to be read since the walk began.
 */
export async function askRing(
  state: WalkState,
  { list, history, ring }: Omit<WalkPorts, 'labels'>,
  kind: AddressKind,
  reached: readonly Reached[],
): Promise<RingReading> {
  const { chains, signal, limits } = state;
  if (chains.length === 0)
    return unread(
      'counterparty_ring',
      why('ring_unbuilt', { cause: 'the chains of its kind are not known' }),
    );
  const listed = await list.listed();
  const known = rowsSeen(map(listed, (one) => [one]));
  if (known === null || listed instanceof Unread) {
    return unread('counterparty_ring', listed instanceof Read ? STOPPED_BY_TIME : listed.why);
  }
  const [{ list: facts, addresses }] = known;
  state.listsMet.add(facts.sha256);
  const asked = {
    addresses: reached.map(({ address }) => address),
    listed: rowsUnder(addresses, kind),
    chains,
    rowsMax: limits.rowsMax,
    signal,
  };
  const met = await ring.meet(asked);
  if (!(listed instanceof Read)) {
    return met instanceof Unread
      ? unread('counterparty_ring', listed.why)
      : weaken(met, listed.why);
  }
  if (!(met instanceof Read)) return met;
  const read = await history.chainsRead();
  if (!(read instanceof Read)) return weaken(met, read.why);
  const begun = read.value.filter((one) => CHAINS[one].kind === kind && !chains.includes(one));
  return begun.length === 0
    ? met
    : weaken(met, why('ring_partial', { gaps: `${begun.join(', ')} began to be read meanwhile` }));
}

type SecondOfRing = {
  readonly ring: RingReading;
  readonly reached: readonly Reached[];
  readonly readings: Readings;
  readonly met: Map<string, Met>;
};

/** Adds what the ring tells to what was met address by address. */
export async function meetRing(
  state: WalkState,
  history: TransferHistory,
  { ring, reached, readings, met }: SecondOfRing,
): Promise<void> {
  const meetings = rowsSeen(map(ring, (one) => [...one.meetings]));
  if (meetings === null) return;
  const byAddress = new Map(meetings);
  const between = reached.filter(({ address }) => byAddress.has(address));
  const edges = new Map(
    between.map((from) => [from, edgesOf(state, from, rowsUnder(byAddress, from.address))]),
  );
  const edgeTo = (from: Reached) => rowsUnder(edges, from);
  const unasked = between.filter((one) => !readings.has(one.address) && edgeTo(one).length > 0);
  const more = await askNeighbours(state, history, unasked, byAddress);
  for (const from of between) {
    const listed = rowsUnder(byAddress, from.address);
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
      if (edgeTo(from).length > 0)
        state.hubContacts.push({ hub: { address, degree }, edges: edgeTo(from) });
      continue;
    }
    const told = before === undefined ? NOBODY_MET : counterpartiesIn(before);
    const known = rowsSeen(map(reading, (one) => [one]));
    if (known !== null) {
      if (known[0].provenance === 'onchain') state.live = true;
      state.signing.set(from.address, signingOf(known[0]));
      for (const one of listed) {
        if (!told.has(one.address)) meet(state, met, from, sideOf(from), one);
      }
    }
    if (before === undefined) {
      if (reading instanceof Read) state.reads.push(map(reading, nothing));
      else if (edgesOf(state, from, listed).length > 0) fileCauses(state, from.address, reading);
    }
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
  const isTold = ({ address }: Reached) => rowsUnder(listed, address).every(tellsEdge);
  const told = neighbours.filter(isTold);
  const untold = neighbours.filter((one) => !isTold(one));
  const readings = await Promise.all([
    told.length === 0 ? NO_READINGS : askHistory(state, history, told, 'standing'),
    untold.length === 0 ? NO_READINGS : askHistory(state, history, untold),
  ]);
  return new Map(readings.flatMap((some) => [...some]));
}

function tellsEdge({ transfers, transfer_count }: Counterparty): boolean {
  const isTold = (one: HistoryTransfer) => !hangsOnSigner(one) || signerOf(one) !== null;
  return transfers.length === transfer_count && transfers.every(isTold);
}

const NOBODY_MET: ReadonlySet<string> = new Set();

function counterpartiesIn(
  reading: Partly<CoveredNeighbourhood, TransferHistoryPort>,
): ReadonlySet<string> {
  const known = rowsSeen(map(reading, (one) => one.counterparties));
  return known === null ? NOBODY_MET : new Set(known.map(({ address }) => address));
}

const NO_READINGS: Readings = new Map();

function sideOf({ address, way }: Reached): readonly string[] {
  return way === null ? [address] : stopsOf(way);
}

function edgesOf(
  state: WalkState,
  from: Reached,
  counterparties: readonly Counterparty[],
): readonly EdgeTo[] {
  const edges: EdgeTo[] = [];
  const side = sideOf(from);
  const wasSigned: typeof isSignedBy = (stop, transfer) => isSigned(state, stop, transfer);
  for (const { address, transfers } of counterparties) {
    // The subject may itself be listed: that it deals with its neighbours is the first hop.
    if (state.reached.has(address)) continue;
    const { edge } = sift(side, transfers, wasSigned);
    if (edge !== null) edges.push({ listed_address: address, transfer: edge });
  }
  return edges;
}
