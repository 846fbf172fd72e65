// The transfer history of addresses as the warehouse holds it. Coverage is read before the rows
// that it vouches for, and a read that spans a roll-back is made again. No answer is kept, but
// coverage, hubs, counts and names of tokens are. `warehouse-rows.ts` states and unpacks the rows,
// and joins reads that run at once; `../transfers/held.ts` says which blocks are held, and whether
// anything was written since; `../transfers/imports.ts` makes failures and cut answers readings.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import { TRANSFER_KINDS } from '../../../chain/transfer.ts';
import { collect, rowsUnder } from '../../../evidence/measure.ts';
import { type Partly, unread } from '../../../evidence/reading.ts';
import { type Why, why } from '../../../evidence/reasons.ts';
import type {
  Counterparty,
  CoverageRange,
  HistoryTransfer,
  Neighbourhood,
  NeighbourhoodLimits,
  RawHistory,
  RawHistoryPort,
} from '../../../ports/history.ts';
import { type Call, type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { untilWritten } from '../engine/insert-source.ts';
import { addressHex, addressOf, storedOrigin } from '../transfers/append.ts';
import {
  type HeldBlocks,
  type HeldBlocksOf,
  hasOthers,
  isSame,
  type Mark,
  partsCache,
  partsTold,
  type Recorded,
  readMark,
  readPresent,
  readRecorded,
  rollbacksIn,
  tipRows,
  withFollowed,
} from '../transfers/held.ts';
import { unreadFor, warehouseAnswer, warehouseReadings } from '../transfers/imports.ts';
import { addressRuns } from '../transfers/store.ts';
import {
  chainOf,
  coalesce,
  countSides,
  type HeldRows,
  type Load,
  type PackedSide,
  readDegree,
  readNewest,
  readRows,
  readSome,
  type SidesCounted,
  type TokenNames,
  tokenOf,
  UNKNOWN_TOKEN,
} from './warehouse-rows.ts';

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
    rowsOf: coalesce(reads.addresses, limits),
    coverageOf: coalesce(reads.coverage, limits),
    countsOf: coalesce(reads.counts, limits),
  };
  const ask = warehouseReadings(PORT, now, simulated === true);
  const chainsRead = presentChains(warehouse, reads);
  return {
    chainsRead: () => ask(chainsRead),
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

/**
 * The chains of which anything is held; asked once for all who ask at a time, and kept a while. The
 * first row of another one ends that: a negative must not pass over a chain that is being imported.
 */
function presentChains(
  warehouse: Warehouse,
  reads: Tools['reads'],
): () => Promise<readonly ChainName[]> {
  let present: Awaited<ReturnType<typeof ask>> | null = null;
  let asking: ReturnType<typeof ask> | null = null;

  const ask = async () => {
    const call = { timeoutMs: READ_TIMEOUT_MS };
    const held = await reads.held();
    const rows = new Set(await readPresent(warehouse, call));
    for (const { chain } of [...held.ranges, ...held.followed]) rows.add(chain);
    const chains = CHAIN_NAMES.filter((chain) => rows.has(chain));
    // Kept for a second at most, and over no write (engine/insert-source.ts).
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
  const known = tools.hubs.among(addresses);
  const answers =
    asked.standingOnly === true
      ? await standingsOf(tools, addresses, known, asked)
      : new Map<string, Answer>();
  const wanted = addresses.filter((address) => !answers.has(address));
  const read = await readFound(tools, wanted, known, asked);
  let room = asked.batchRowsMax;
  for (const address of wanted) {
    const found = read.get(address);
    if (found === undefined) throw new RangeError('an address was not read');
    // One that has more rows than are read is counted: it may have become a hub.
    let hub = known.get(address);
    if (found.more && (hub === undefined || hub.transfers <= SORTED_ROWS_MAX)) {
      hub = await tools.hubs.count(found.held, address, signal);
    }
    const taken = takeRows(address, found, hub, asked, room);
    room -= taken.rows;
    answers.set(address, answerOf(taken, found, tools.now));
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
    // An address with no more rows than a hub has counterparties is no hub.
    const isFew = count.sides <= degreeMax;
    const degree = isFew ? count.sides : await hubs.degreeOf(count, address, signal);
    const taken = { address, degree, counterparties: NO_ONE };
    const observed = count.simulated === 0;
    answers.set(address, answerOf({ known: taken, rows: 0, cut: null, observed }, count, now));
  }
  return answers;
}

/**
 * The held rows of each address: of a hub its coverage, of one with very many transfers some of
 * them.
 */
async function readFound(
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

type Taken = {
  readonly known: Pick<Neighbourhood, 'address' | 'degree' | 'counterparties'>;
  readonly rows: number;
  readonly cut: Why | null;
  readonly observed: boolean;
};

function takeRows(
  address: string,
  { rows: held, more }: HeldAddress,
  hub: KnownHub | undefined,
  { rowsMax, degreeMax, transfersPerCounterpartyMax, chains }: NeighbourhoodLimits,
  room: number,
): Taken {
  const rows =
    chains === undefined ? held : held.filter(({ transfer }) => chains.includes(transfer.chain));
  const observed = rows.every((row) => row.observed) && (hub === undefined || hub.observed);
  const all = byPeerOf(rows);
  const degree = hub === undefined ? all.size : Math.max(hub.degree, all.size);
  // A complete address with many counterparties is still complete: not each of them may be an edge.
  if (degree > degreeMax && (hub !== undefined || rows.length > Math.min(rowsMax, room))) {
    return { known: { address, degree, counterparties: NO_ONE }, rows: 0, cut: null, observed };
  }
  const limit = Math.min(rowsMax, room, more ? rows.length : rowsMax);
  const isCut = more || rows.length > limit;
  const byPeer = isCut ? byPeerOf(rows.slice(0, limit)) : all;
  const counterparties = [...byPeer].map(([address, transfers]) => ({
    address,
    transfers:
      transfers.length > transfersPerCounterpartyMax
        ? transfers.slice(0, transfersPerCounterpartyMax)
        : transfers,
    transfer_count: transfers.length,
  }));
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

function answerOf(
  taken: Taken,
  { held, ranges }: Pick<HeldAddress, 'held' | 'ranges'>,
  now: () => number,
): Answer {
  const all = [...held.ranges, ...ranges];
  const simulated = !taken.observed || all.some(({ origin }) => origin === 'simulated');
  const coverage = all.map(({ origin: _, ...range }): CoverageRange => range);
  const value: Neighbourhood = { ...taken.known, coverage, provenance: 'warehouse' };
  const as_of = asOf(held, coverage, now);
  return warehouseAnswer(PORT, value, { as_of, simulated }, taken.cut);
}

/** As old as the chain that is held to the oldest block; now, where none is held in full. */
export function asOf(
  held: HeldBlocksOf,
  coverage: readonly CoverageRange[],
  now: () => number,
): number {
  const byChain = new Map<ChainName, number[]>();
  const chains = held.ranges.length > 0 ? held.ranges : coverage;
  for (const { chain, to_time } of chains) collect(byChain, chain, to_time);
  if (byChain.size === 0) return now();
  const reach = [...byChain.keys()].map((chain) => Math.max(...rowsUnder(byChain, chain)));
  return Math.min(...reach);
}

// Reads the held rows of some addresses, with their coverage. Coverage is read first, then the
// rows: the reverse could take a range that was recorded meanwhile for one that the earlier rows
// fill.

export type HeldAddress = HeldRows & {
  readonly held: HeldBlocksOf;
  readonly ranges: readonly HeldBlocks[];
};

/** How many rows are held of one address, and how much of its history that is. */
export type HeldCount = SidesCounted & Pick<HeldAddress, 'held' | 'ranges'>;

/** How long one read may take; a walk has its own, shorter budget. */
export const READ_TIMEOUT_MS = 15_000;
/** How long what is held in full is taken as it was read. It only grows, but for roll-backs. */
const HELD_KEEP_MS = 1_000;
/** How often a read that spans a roll-back is made again. */
const READS_MAX = 5;
/** Ranges of single addresses in one answer. */
const RANGES_MAX = 100_000;

const RECORDED_IN = ['coverage', 'address_coverage', 'tokens'] as const;

const rangeRow = z.tuple([
  z.string(),
  z.enum(CHAIN_NAMES),
  z.enum(TRANSFER_KINDS),
  z.coerce.number(),
  z.coerce.number(),
  z.number(),
  z.number(),
  z.number(),
]);

const OF_ASKED = `addr IN (SELECT unhex(arrayJoin({addresses:Array(String)})))
  AND chain IN (${CHAIN_NAMES.map((chain) => `'${chain}'`).join(', ')})`;
const RANGES = `SELECT lower(hex(addr)), toString(chain), toString(kind), from_block, to_block,
  to_time, from_first, observed
FROM (${addressRuns(OF_ASKED)}) ORDER BY addr, chain, kind, from_block, to_block`;

/** Caches the coverage for a short time. */
function heldReads(warehouse: Warehouse) {
  const ask = { timeoutMs: READ_TIMEOUT_MS };
  const marked = untilWritten(warehouse, () => readMark(warehouse, ask));
  const tells = partsTold(warehouse);
  const recorded = keptRecorded(warehouse, marked, tells);
  const fresh = untilWritten(warehouse, async () => {
    return withFollowed(warehouse, await recorded(ask), ask);
  });
  const rollbacks = async () => (await marked()).rollbacks;
  let kept: { readonly held: HeldBlocksOf; readonly atMs: number } | null = null;

  async function lately(): Promise<HeldBlocksOf> {
    if (kept !== null && performance.now() - kept.atMs < HELD_KEEP_MS) return kept.held;
    const atMs = performance.now();
    const held = await fresh();
    kept = { held, atMs };
    return held;
  }

  /** Reads under what is held, again where a chain was rolled back meanwhile. */
  async function under<T>(read: (held: HeldBlocksOf) => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < READS_MAX; attempt += 1) {
      const held = await lately();
      const told = await read(held);
      if (held.followed.length === 0 || (await rollbacks()) === rollbacksIn(held)) return told;
      kept = null;
    }
    // A chain that is undone again and again while it is read is no history to answer from.
    throw new WarehouseUnavailable('interrupted');
  }

  /** Has what is held read anew by whoever asks next. */
  const forget = () => {
    kept = null;
  };
  return { lately, fresh, marked, tells, rollbacks, under, forget };
}

/** The recorded coverage: read again only if the parts of its tables changed. */
function keptRecorded(
  warehouse: Warehouse,
  marked: () => Promise<Mark>,
  tells: (call: Call) => Promise<boolean>,
) {
  let kept: { readonly parts: Mark['parts']; readonly recorded: Recorded } | null = null;
  return async (call: Call): Promise<Recorded> => {
    // A cluster tells no parts here: they lie on its nodes.
    if (!(await tells(call))) return readRecorded(warehouse, call);
    const { parts } = await marked();
    const before = kept;
    if (before !== null && RECORDED_IN.every((one) => isSame(before.parts[one], parts[one]))) {
      return before.recorded;
    }
    const recorded = await readRecorded(warehouse, call);
    kept = { parts, recorded };
    return recorded;
  };
}

/** Reads of a warehouse, each of many addresses. */
export function warehouseReads(warehouse: Warehouse, now: () => number) {
  const tokens = tokenNames(warehouse, now);
  const { lately, fresh, marked, tells, rollbacks, under, forget } = heldReads(warehouse);
  const counted = keptCounts(warehouse, marked, tells);

  /** Reads of some addresses what is held in full first, and then what `read` gives. */
  function readEach<T extends object>(
    asked: readonly string[],
    signal: AbortSignal,
    read: (held: HeldBlocksOf, call: Call) => Promise<Iterable<readonly [string, T]>>,
  ) {
    const call = { timeoutMs: READ_TIMEOUT_MS, signal };
    return under(async (held) => {
      const ranges = await rangesOf(warehouse, held, asked, call);
      return whileVouched(await read(held, call), held, ranges);
    });
  }

  const addresses: Load<HeldAddress> = (asked, signal) =>
    readEach(asked, signal, (held, call) =>
      readRows(warehouse, held, tokens.within(held, call), asked, call),
    );

  /** As `addresses`, without the rows: for those that are not walked past anyway. */
  async function coverage(
    asked: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, HeldAddress>> {
    const call = { timeoutMs: READ_TIMEOUT_MS, signal };
    const held = await lately();
    const ranges = await rangesOf(warehouse, held, asked, call);
    const rows = asked.map((address) => [address, { rows: [], more: false }] as const);
    return whileVouched(rows, held, ranges);
  }

  /** As `addresses`, with the rows counted in place of read. */
  const counts: Load<HeldCount> = (asked, signal) =>
    readEach(asked, signal, (held, call) => counted(held, asked, call));

  /** Rows of one that has very many: the newest where they are to be shown, else any. */
  async function some(address: string, shown: boolean, signal: AbortSignal): Promise<HeldAddress> {
    const call = { timeoutMs: READ_TIMEOUT_MS, signal };
    const held = await lately();
    const ranges = await rangesOf(warehouse, held, [address], call);
    const names = tokens.within(held, call);
    const rows = shown
      ? await readNewest(warehouse, held, names, address, call)
      : await readSome(warehouse, names, address, call);
    return { ...rows, held, ranges: rowsUnder(ranges, address) };
  }

  return {
    addresses,
    coverage,
    counts,
    some,
    held: lately,
    fresh,
    marked,
    tells,
    rollbacks,
    names: tokens.within,
    /** The last token facts that were read, if any. */
    tokenIs: tokens.of,
    forget,
  };
}

function whileVouched<T extends object>(
  rows: Iterable<readonly [string, T]>,
  held: HeldBlocksOf,
  ranges: ReadonlyMap<string, readonly HeldBlocks[]>,
): ReadonlyMap<string, T & Pick<HeldAddress, 'held' | 'ranges'>> {
  const found = [...rows].map(([address, of]) => {
    return [address, { ...of, held, ranges: rowsUnder(ranges, address) }] as const;
  });
  return new Map(found);
}

/** Reads of a warehouse: all who read share them, so that nobody knows less than another did. */
export type WarehouseReads = ReturnType<typeof warehouseReads>;

/** The ranges that are held of single addresses, of which `addressRuns` joins those that meet. */
export async function rangesOf(
  warehouse: Warehouse,
  held: HeldBlocksOf,
  addresses: readonly string[],
  call: Call,
): Promise<ReadonlyMap<string, readonly HeldBlocks[]>> {
  const ranges = new Map<string, HeldBlocks[]>();
  if (!held.hasAddressRanges || addresses.length === 0) return ranges;
  const params = { addresses: addresses.map(addressHex) };
  const query = { ...call, row: rangeRow, tuples: true, params, rowsMax: RANGES_MAX };
  for (const row of await warehouse.query(RANGES, query)) {
    const [addr, chain, kind, from_block, to_block, to_time, first, isObserved] = row;
    const range = { chain, kind, from_block, to_block, to_time, from_first: first === 1 };
    collect(ranges, addressOf(addr), { ...range, origin: storedOrigin(isObserved) });
  }
  return ranges;
}

// Stores addresses with so many counterparties that no walk passes them. The number is a lower
// bound, counted once; a hub does not become a small address again. An address that is missing here
// is read.

/** An address with at least so many counterparties, and some `transfers` when it was counted. */
export type KnownHub = {
  readonly degree: number;
  readonly transfers: number;
  readonly observed: boolean;
};

/** How long the table of hubs is taken as it was read. */
const KEEP_MS = 60_000;
/** The largest hubs that are known beforehand; others are counted when they are met. */
const HUBS_MAX = 200_000;

/** Degrees that are remembered beside the rows that they were counted over. */
const COUNTED_MAX = 10_000;

const whole = z.coerce.number();
const hubRow = z.tuple([z.string(), whole, whole, z.number()]);
const SQL = `SELECT lower(hex(addr)), max(degree) AS most, sum(transfers), min(observed)
FROM (SELECT addr, degree, transfers, observed FROM degrees FINAL)
GROUP BY addr ORDER BY most DESC LIMIT ${HUBS_MAX}`;

export function knownHubs(warehouse: Warehouse) {
  let hubs = new Map<string, KnownHub>();
  let readAtMs: number | null = null;
  let reading: Promise<void> | null = null;
  const counted = new Map<
    string,
    { readonly sides: number; readonly rollbacks: number; readonly degree: number }
  >();

  async function readAll(): Promise<void> {
    const query = { timeoutMs: READ_TIMEOUT_MS, row: hubRow, tuples: true, rowsMax: HUBS_MAX };
    const rows = await warehouse.query(SQL, query);
    hubs = new Map(
      rows.map(([addr, degree, transfers, observed]) => {
        return [addressOf(addr), { degree, transfers, observed: observed === 1 }];
      }),
    );
    readAtMs = performance.now();
  }

  return {
    /** The hubs among some addresses. */
    among: (addresses: readonly string[]): ReadonlyMap<string, KnownHub> =>
      new Map(
        addresses.flatMap((address) => {
          const hub = hubs.get(address);
          return hub === undefined ? [] : [[address, hub]];
        }),
      ),
    /** Reads the table of hubs where what is known of it is old. */
    refresh: async (): Promise<void> => {
      if (readAtMs !== null && performance.now() - readAtMs < KEEP_MS) return;
      if (reading === null) {
        reading = readAll().finally(() => {
          reading = null;
        });
      }
      await reading;
    },
    /** Counts the counterparties of one again where it has other rows than when it was counted. */
    degreeOf: async (
      { held, sides }: HeldCount,
      address: string,
      signal: AbortSignal,
    ): Promise<number> => {
      const rollbacks = rollbacksIn(held);
      const before = counted.get(address);
      const isSame = before?.sides === sides && before.rollbacks === rollbacks;
      if (before !== undefined && isSame) return before.degree;
      const call = { timeoutMs: READ_TIMEOUT_MS, signal };
      const { degree } = await readDegree(warehouse, held, address, call);
      if (counted.size >= COUNTED_MAX) counted.clear();
      counted.set(address, { sides, rollbacks, degree });
      return degree;
    },
    /** Counts one that turned out to have many transfers, and remembers it. */
    count: async (held: HeldBlocksOf, address: string, signal: AbortSignal): Promise<KnownHub> => {
      const call = { timeoutMs: READ_TIMEOUT_MS, signal };
      const hub = await readDegree(warehouse, held, address, call);
      if (hubs.size < HUBS_MAX) hubs.set(address, hub);
      return hub;
    },
  };
}

// Counts the rows of some addresses. The same busy neighbours are counted in every walk, so the
// count of final rows is cached for as long as the engine's parts are the same; the tip is counted
// each time.

/** Addresses whose counts are kept. */
const KEPT_MAX = 50_000;

type Counts = ReadonlyMap<string, SidesCounted>;

/** Counts the rows of addresses without reading what they are. */
export function keptCounts(
  warehouse: Warehouse,
  marked: () => Promise<Mark>,
  tells: (call: Call) => Promise<boolean>,
) {
  const kept = partsCache<SidesCounted>(KEPT_MAX);

  async function final(asked: readonly string[], epoch: number, call: Call): Promise<Counts> {
    const known = new Map<string, SidesCounted>();
    for (const address of asked) {
      const count = kept.of(address);
      if (count !== undefined) known.set(address, count);
    }
    const missing = asked.filter((address) => !known.has(address));
    if (missing.length === 0) return known;
    const fresh = await countSides(warehouse, 'final', missing, call);
    for (const [address, count] of fresh) kept.add(address, count, 1, epoch);
    return new Map([...known, ...fresh]);
  }

  return async (held: HeldBlocksOf, asked: readonly string[], call: Call): Promise<Counts> => {
    const isTold = await tells(call);
    const tip = tipRows(held.followed);
    for (let attempt = 0; attempt < READS_MAX; attempt += 1) {
      const epoch = kept.epoch();
      // The tip first: what becomes final meanwhile is counted twice then, and not left out.
      const more = tip === null ? null : await countSides(warehouse, held, asked, call);
      if (!isTold) return sumOf(await countSides(warehouse, 'final', asked, call), more);
      const counts = await final(asked, epoch, call);
      // The cached counts may be older than the counted tip.
      kept.renew((await marked()).parts.sides);
      if (kept.epoch() === epoch) return sumOf(counts, more);
    }
    throw new WarehouseUnavailable('interrupted');
  };
}

function sumOf(final: Counts, tip: Counts | null): Counts {
  if (tip === null) return final;
  return new Map(
    [...final].map(([address, { sides, simulated }]) => {
      const more = tip.get(address);
      if (more === undefined) throw new RangeError('an address was not counted');
      return [address, { sides: sides + more.sides, simulated: simulated + more.simulated }];
    }),
  );
}

// Names of tokens are kept, because the same few tokens are in every answer. That a token has no
// market is said only while its reading is fresh.

/** How long a reading of a token is kept here. */
const TOKEN_KEEP_MS = 60_000;
/** Tokens kept; past it all are forgotten. */
const TOKENS_KEPT_MAX = 50_000;
/** How long a reading of the present market says that there is none. */
const MARKET_MAX_AGE_S = 3_600;

const tokenRow = z.tuple([
  z.enum(CHAIN_NAMES),
  z.string(),
  z.string().nullable(),
  z.number().nullable(),
  z.boolean().nullable(),
  z.number(),
]);
type KnownToken = Pick<HistoryTransfer, 'symbol' | 'decimals' | 'has_market'> & {
  readonly read_at: number;
};

const TOKENS = `SELECT toString(chain), lower(hex(token)), symbol, decimals, has_market, read_at
FROM tokens FINAL
WHERE token IN (SELECT unhex(arrayJoin({tokens:Array(String)})))`;

/** The tokens of a warehouse. `now` is Unix seconds. */
function tokenNames(warehouse: Warehouse, now: () => number) {
  const kept = new Map<string, { readonly known: KnownToken | null; readonly atMs: number }>();

  async function learn(rows: readonly PackedSide[], call: Call): Promise<void> {
    const atMs = performance.now();
    const missing = new Map<string, string>();
    for (const row of rows) {
      const token = tokenOf(row);
      if (token === '') continue;
      const key = `${chainOf(row)} ${token}`;
      const before = kept.get(key);
      if (before === undefined || atMs - before.atMs > TOKEN_KEEP_MS) missing.set(key, token);
    }
    if (missing.size === 0) return;
    if (kept.size + missing.size > TOKENS_KEPT_MAX) kept.clear();
    const params = { tokens: [...new Set(missing.values())] };
    const found = await warehouse.query(TOKENS, { ...call, row: tokenRow, tuples: true, params });
    for (const key of missing.keys()) kept.set(key, { known: null, atMs });
    for (const [chain, token, symbol, decimals, has_market, read_at] of found) {
      const known = { symbol, decimals, has_market, read_at };
      kept.set(`${chain} ${token}`, { known, atMs });
    }
  }

  function nameOf(chain: ChainName, token: string): ReturnType<TokenNames['of']> {
    const before = kept.get(`${chain} ${token}`);
    if (before === undefined || before.known === null) return UNKNOWN_TOKEN;
    const { symbol, decimals, has_market, read_at } = before.known;
    const stale = has_market === false && now() - read_at > MARKET_MAX_AGE_S;
    return { symbol, decimals, has_market: stale ? null : has_market };
  }

  return {
    /** The names for one read; where no token is known at all, nothing is asked. */
    within: (held: HeldBlocksOf, call: Call): TokenNames => ({
      learn: held.hasTokens ? (rows) => learn(rows, call) : async () => undefined,
      of: nameOf,
    }),
    of: nameOf,
  };
}
