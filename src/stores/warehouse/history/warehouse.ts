// With whom did these addresses exchange transfers, by what the warehouse holds?
// Coverage is read before the rows that it vouches for, and a read that spans a roll-back is made
// again. Nothing is kept of an answer: only which addresses are hubs, and what tokens are called.

import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import { collect, heldUnder } from '../../../evidence/measure.ts';
import { type Partly, part, read, unread } from '../../../evidence/reading.ts';
import { type Why, why } from '../../../evidence/reasons.ts';
import type {
  Counterparty,
  CoverageRange,
  HistoryTransfer,
  Neighbourhood,
  NeighbourhoodLimits,
  RawHistory,
  RawHistoryPort,
} from '../../../ports/history/transfer-history.ts';
import type { Warehouse } from '../engine/executor.ts';
import { untilWritten } from '../engine/until-written.ts';
import { type Held, hasOthers, readPresent } from '../transfers/held.ts';
import { unreadFor, warehouseSource } from '../transfers/warehouse-reading.ts';
import { coalesced, type Load } from './coalesce.ts';
import { type KnownHub, knownHubs } from './warehouse-hubs.ts';
import {
  type HeldAddress,
  type HeldCount,
  READ_TIMEOUT_MS,
  type WarehouseReads,
  warehouseReads,
} from './warehouse-reads.ts';

const PORT = 'raw_history';
/** The first of some reads waits so long for others, which then go into the same statement. */
const COALESCE_MS = 1;
/** Addresses of one statement. */
const ADDRESSES_MAX = 512;
/** From so many on they are divided among the statements that run at once. */
const ADDRESSES_DIVIDED = 48;
/** Statements of reads at once; the engine has two more slots for whoever writes. */
const STATEMENTS_MAX = 2;
/** From more rows on, an address's newest are not looked for: some of its rows are read instead. */
const SORTED_ROWS_MAX = 20_000;
/** How long the list of chains held is kept. */
const PRESENT_KEEP_MS = 10_000;

type Answer = Partly<Neighbourhood, RawHistoryPort>;

type Tools = {
  readonly reads: ReturnType<typeof warehouseReads>;
  readonly hubs: ReturnType<typeof knownHubs>;
  readonly rowsOf: Load<HeldAddress>;
  readonly coverageOf: Load<HeldAddress>;
  readonly countsOf: Load<HeldCount>;
  readonly now: () => number;
};

/**
 * Transfer history in a warehouse. `now` is Unix seconds; `simulated` says whether the deployment
 * simulates: then even which chains it holds is made up. `reads` are shared with whoever meets
 * these answers with others.
 */
export function warehouseHistory(
  warehouse: Warehouse,
  now: () => number,
  simulated?: boolean,
  reads: WarehouseReads = warehouseReads(warehouse, now),
): RawHistory {
  const limits = {
    waitMs: COALESCE_MS,
    keysMax: ADDRESSES_MAX,
    divideFrom: ADDRESSES_DIVIDED,
    loadsMax: STATEMENTS_MAX,
  };
  const tools: Tools = {
    reads,
    hubs: knownHubs(warehouse),
    now,
    rowsOf: coalesced(reads.addresses, limits),
    coverageOf: coalesced(reads.coverage, limits),
    countsOf: coalesced(reads.counts, limits),
  };
  const chainsRead = presentChains(warehouse, reads);
  return {
    chainsRead: async () => {
      try {
        return read(await chainsRead(), {
          port: PORT,
          source: warehouseSource(now(), simulated === true),
        });
      } catch (error) {
        return unreadFor(PORT, error);
      }
    },
    neighbourhoods: async (addresses, asked) => {
      const silence = (reading: Answer) => new Map(addresses.map((one) => [one, reading]));
      if (asked.signal.aborted) return silence(unread(PORT, why('time_budget')));
      try {
        return await neighbourhoodsOf(tools, [...new Set(addresses)], asked);
      } catch (error) {
        if (asked.signal.aborted) return silence(unread(PORT, why('time_budget')));
        return silence(unreadFor(PORT, error));
      }
    },
  };
}

type Present = {
  readonly chains: readonly ChainName[];
  readonly atMs: number;
  readonly hasOthers: () => Promise<boolean>;
};

/**
 * The chains of which anything is held; asked once for all who ask at a time, and kept a while. The
 * first row of another one ends that: a negative must not pass over a chain that is being imported.
 */
function presentChains(
  warehouse: Warehouse,
  reads: Tools['reads'],
): () => Promise<readonly ChainName[]> {
  let present: Present | null = null;
  let asking: Promise<Present> | null = null;

  const ask = async (): Promise<Present> => {
    const call = { timeoutMs: READ_TIMEOUT_MS };
    const held = await reads.held();
    const rows = new Set(await readPresent(warehouse, call));
    for (const { chain } of [...held.ranges, ...held.followed]) rows.add(chain);
    const chains = CHAIN_NAMES.filter((chain) => rows.has(chain));
    const others = untilWritten(warehouse, () => hasOthers(warehouse, chains, call));
    return { chains, atMs: performance.now(), hasOthers: others };
  };
  return async () => {
    if (present !== null) {
      const { chains, atMs, hasOthers } = present;
      const isKept = performance.now() - atMs < PRESENT_KEEP_MS;
      if (isKept && !(await hasOthers())) return chains;
    }
    if (asking === null) {
      asking = ask().finally(() => {
        asking = null;
      });
    }
    present = await asking;
    return present.chains;
  };
}

/** A hub that is known as one is not read; whoever has more rows than are read is counted. */
async function neighbourhoodsOf(
  tools: Tools,
  addresses: readonly string[],
  asked: NeighbourhoodLimits,
): Promise<Map<string, Answer>> {
  const { signal } = asked;
  await tools.hubs.refresh();
  const known = new Map<string, KnownHub>();
  for (const address of addresses) {
    const hub = tools.hubs.of(address);
    if (hub !== null) known.set(address, hub);
  }
  const answers =
    asked.standingOnly === true
      ? await standingsOf(tools, addresses, known, asked)
      : new Map<string, Answer>();
  const wanted = addresses.filter((address) => !answers.has(address));
  const read = await foundOf(tools, wanted, known, asked);
  let room = asked.batchRowsMax;
  for (const address of wanted) {
    const found = read.get(address);
    if (found === undefined) throw new RangeError('an address was not read');
    const hub = await hubOf(tools, address, found, known.get(address), signal);
    const taken = takenOf(address, found, hub, asked, room);
    room -= taken.rows;
    answers.set(address, answered(taken, found, tools.now));
  }
  return answers;
}

/** Whether a way leads past each of those who were no hubs when they were last counted. */
async function standingsOf(
  { countsOf, hubs, now }: Tools,
  addresses: readonly string[],
  known: ReadonlyMap<string, KnownHub>,
  { degreeMax, signal }: NeighbourhoodLimits,
): Promise<Map<string, Answer>> {
  const unsure = addresses.filter((address) => {
    const hub = known.get(address);
    return hub === undefined || hub.degree <= degreeMax;
  });
  const answers = new Map<string, Answer>();
  for (const [address, count] of await countsOf(unsure, signal)) {
    // Who has no more rows than a hub has counterparties is none.
    const isFew = count.sides <= degreeMax;
    const degree = isFew ? count.sides : await hubs.degreeOf(count, address, signal);
    const taken = { address, degree, counterparties: NO_ONE };
    const observed = count.simulated === 0;
    answers.set(address, answered({ known: taken, rows: 0, cut: null, observed }, count, now));
  }
  return answers;
}

/** What is held of each: of a hub its coverage, of one with very many transfers some of them. */
async function foundOf(
  { reads, rowsOf, coverageOf }: Tools,
  addresses: readonly string[],
  known: ReadonlyMap<string, KnownHub>,
  { degreeMax, valued, signal }: NeighbourhoodLimits,
): Promise<ReadonlyMap<string, HeldAddress>> {
  const isHub = (address: string) => {
    const hub = known.get(address);
    return hub !== undefined && hub.degree > degreeMax;
  };
  const isLong = (address: string) => {
    const hub = known.get(address);
    return hub !== undefined && hub.transfers > SORTED_ROWS_MAX && !isHub(address);
  };
  const short = addresses.filter((address) => !isHub(address) && !isLong(address));
  const [covered, rows] = await Promise.all([
    coverageOf(addresses.filter(isHub), signal),
    rowsOf(short, signal),
  ]);
  const found = new Map([...covered, ...rows]);
  for (const address of addresses.filter(isLong)) {
    found.set(address, await reads.some(address, valued === true, signal));
  }
  return found;
}

/** One that has more rows than are read is counted: it may have become a hub. */
async function hubOf(
  { hubs }: Tools,
  address: string,
  found: HeldAddress,
  known: KnownHub | undefined,
  signal: AbortSignal,
): Promise<KnownHub | null> {
  if (known !== undefined && known.transfers > SORTED_ROWS_MAX) return known;
  if (found.more) return await hubs.count(found.held, address, signal);
  return known === undefined ? null : known;
}

type Taken = {
  readonly known: Pick<Neighbourhood, 'address' | 'degree' | 'counterparties'>;
  readonly rows: number;
  readonly cut: Why | null;
  readonly observed: boolean;
};

function takenOf(
  address: string,
  { rows: held, more }: HeldAddress,
  hub: KnownHub | null,
  { rowsMax, degreeMax, transfersPerCounterpartyMax, chains }: NeighbourhoodLimits,
  room: number,
): Taken {
  const rows =
    chains === undefined ? held : held.filter(({ transfer }) => chains.includes(transfer.chain));
  const observed = rows.every((row) => row.observed) && (hub === null || hub.observed);
  const all = byPeerOf(rows);
  const degree = hub === null ? all.size : Math.max(hub.degree, all.size);
  // Who is told whole is told also where they are many: not each of them may be an edge.
  if (degree > degreeMax && (hub !== null || rows.length > Math.min(rowsMax, room))) {
    return { known: { address, degree, counterparties: NO_ONE }, rows: 0, cut: null, observed };
  }
  const limit = Math.min(rowsMax, room, more ? rows.length : rowsMax);
  const isCut = more || rows.length > limit;
  const byPeer = isCut ? byPeerOf(rows.slice(0, limit)) : all;
  const counterparties = counterpartiesOf(byPeer, transfersPerCounterpartyMax);
  const cut = isCut ? why('row_cap', { address, limit: String(limit) }) : null;
  const taken = Math.min(rows.length, limit);
  return { known: { address, degree, counterparties }, rows: taken, cut, observed };
}

function byPeerOf(rows: HeldAddress['rows']): Map<string, HistoryTransfer[]> {
  const byPeer = new Map<string, HistoryTransfer[]>();
  for (const { peer, transfer } of rows) collect(byPeer, peer, transfer);
  return byPeer;
}

const NO_ONE: readonly Counterparty[] = Object.freeze([]);

function counterpartiesOf(
  byPeer: ReadonlyMap<string, readonly HistoryTransfer[]>,
  transfersMax: number,
): Counterparty[] {
  return [...byPeer].map(([address, transfers]) => ({
    address,
    transfers: transfers.length > transfersMax ? transfers.slice(0, transfersMax) : transfers,
    transfer_count: transfers.length,
  }));
}

function answered(
  taken: Taken,
  { held, ranges }: Pick<HeldAddress, 'held' | 'ranges'>,
  now: () => number,
): Answer {
  const ofChains = held.ranges.map(({ origin: _, ...range }): CoverageRange => range);
  const ofAddress = ranges.map(({ origin: _, ...range }): CoverageRange => range);
  const all = [...held.ranges, ...ranges];
  const simulated = !taken.observed || all.some(({ origin }) => origin === 'simulated');
  const coverage = [...ofChains, ...ofAddress];
  const value: Neighbourhood = { ...taken.known, coverage, provenance: 'warehouse' };
  const source = warehouseSource(asOf(held, coverage, now), simulated);
  const cut = simulated ? why('simulated') : taken.cut;
  if (cut === null) return read(value, { port: PORT, source });
  return part(value, { port: PORT, source }, cut);
}

/** As old as the chain that is held to the oldest block; now, where none is held in full. */
export function asOf(held: Held, coverage: readonly CoverageRange[], now: () => number): number {
  const byChain = new Map<ChainName, number[]>();
  const chains = held.ranges.length > 0 ? held.ranges : coverage;
  for (const { chain, to_time } of chains) collect(byChain, chain, to_time);
  if (byChain.size === 0) return now();
  const reach = [...byChain.keys()].map((chain) => Math.max(...heldUnder(byChain, chain)));
  return Math.min(...reach);
}
