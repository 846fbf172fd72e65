// Finds the addresses that dealt with a listed one, from the warehouse. Coverage is read first,
// then the ring is updated and searched, and the transfers themselves settle each hit; a search
// that spans a roll-back is repeated. So nothing is missing that the warehouse held at the time of
// the call. A ring that cannot be updated gives no answer.

import { CHAINS, type ChainName } from '../../../chain/chain.ts';
import { rowsUnder } from '../../../evidence/measure.ts';
import {
  map,
  type Partly,
  Read,
  type Reading,
  read,
  rowsSeen,
  type Unread,
  unread,
} from '../../../evidence/reading.ts';
import { why } from '../../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../../evidence/waiting.ts';
import type {
  Counterparty,
  CoverageRange,
  HeldRing,
  Meetings,
  RawRing,
  RawRingPort,
  RingCalls,
  RingCoverage,
  RingGap,
  RingKeeping,
  RingLack,
  RingReach,
  RingRequest,
  RingStatus,
  TransferHistoryPort,
} from '../../../ports/history.ts';
import type { ListedAddresses, SanctionsListPort } from '../../../ports/sanctions.ts';
import { type Call, queryNumber, type Warehouse } from '../engine/executor.ts';
import { asOf, READ_TIMEOUT_MS, rangesOf, type WarehouseReads } from '../history/warehouse.ts';
import { WRITE } from '../transfers/append.ts';
import { type HeldBlocksOf, type Mark, rollbacksIn } from '../transfers/held.ts';
import {
  unreadFor,
  warehouseAnswer,
  warehouseReadings,
  warehouseSource,
} from '../transfers/imports.ts';
import {
  type BetweenListed,
  betweenTwo,
  interruption,
  PAIRS_MAX,
  RING_LISTED_MAX,
  RingFull,
  type RingProgress,
  RingState,
} from './ring-rows.ts';

const PORT = 'raw_ring';
/** How often a meeting that spans a roll-back is made again. */
const READS_MAX = 5;
/** How long a call waits for the ring to be brought up; a build from nothing takes longer. */
const WAIT_MS = 2_000;
/** One statement of a build. */
const BUILD: Call = { timeoutMs: 300_000 };
/** How long the ranges of listed addresses are taken as they were read; they only grow. */
const RANGES_KEEP_MS = 1_000;

/** The parts of a ring, for its upkeep. Times are milliseconds. */
export type RingParts = {
  readonly listed: number;
  readonly pairs: number;
  readonly bytes: number;
  readonly byChain: readonly { readonly chain: ChainName; readonly pairs: number }[];
  /** How long the last build took; `null` before the first. */
  readonly build_ms: number | null;
};

type BringUp = { readonly anew?: boolean; readonly told?: RingProgress };
type UpToDate = { readonly state: RingState; readonly mark: Mark };

/** A ring over a warehouse: the port, and what keeps it. */
export type WarehouseRing = RawRing & {
  /** Brings the ring of these addresses up to date; from nothing where `anew`. */
  readonly bringUp: (listed: readonly string[], how?: BringUp) => Promise<void>;
  readonly facts: () => RingParts;
  /** The current coverage of these addresses. */
  readonly coverage: (listed: readonly string[]) => Promise<RingCoverage>;
};

type Ranges = {
  readonly of: readonly string[];
  readonly held: HeldBlocksOf;
  readonly atMs: number;
  readonly coverage: RingCoverage;
};

/** The ring of a warehouse. `reads` are those of the history that it is met with. */
export function warehouseRing(
  warehouse: Warehouse,
  reads: WarehouseReads,
  { now, simulated }: { readonly now: () => number; readonly simulated: boolean },
): WarehouseRing {
  const kept = keptRing(warehouse, reads);
  const settle = betweenTwo(warehouse, reads);
  const meetingsOf = meetingsBy();
  const coverageOf = keptCoverage(warehouse);

  async function readRing(
    asked: RingRequest,
  ): Promise<{ readonly ring: HeldRing; readonly held: HeldBlocksOf }> {
    const call = { timeoutMs: READ_TIMEOUT_MS, signal: asked.signal };
    for (let attempt = 0; attempt < READS_MAX; attempt += 1) {
      const held = await reads.held();
      const coverage = await coverageOf(asked.listed, held, call);
      const upToDate = await inTime(
        () => kept.upToDate(asked.listed),
        AbortSignal.timeout(WAIT_MS),
      );
      if (upToDate === OUT_OF_TIME) throw new RingUntold('the ring is being built');
      const { mark, state } = upToDate;
      const may = state.met(asked.addresses);
      if (may.size === 0) {
        if (mark.rollbacks === rollbacksIn(held))
          return { ring: { meetings: NONE, coverage }, held };
      } else {
        // Blocks followed since are settled too, so that no hit is lost again.
        const since = await settle(may, mark.parts.sides, asked.signal);
        const rollbacks = [rollbacksIn(since.held), await reads.rollbacks()];
        if (rollbacks.every((count) => count === rollbacksIn(held))) {
          return { ring: { meetings: meetingsOf(since.between, asked), coverage }, held };
        }
      }
      reads.forget();
    }
    throw interruption();
  }

  return {
    meet: async (asked): Promise<Partly<HeldRing, RawRingPort>> => {
      try {
        const answer = await inTime(() => readRing(asked), asked.signal);
        if (answer === OUT_OF_TIME) return unread(PORT, STOPPED_BY_TIME);
        const { ring, held } = answer;
        const madeUp = simulated || held.ranges.some(({ origin }) => origin === 'simulated');
        const as_of = asOf(held, held.ranges, now);
        return warehouseAnswer(PORT, ring, { as_of, simulated: madeUp }, null);
      } catch (error) {
        return asked.signal.aborted ? unread(PORT, STOPPED_BY_TIME) : unreadRing(error);
      }
    },
    bringUp: kept.bringUp,
    facts: kept.facts,
    coverage: async (listed) =>
      coverageOf(listed, await reads.held(), { timeoutMs: READ_TIMEOUT_MS }),
  };
}

/** Why the ring cannot be told; rethrows what is no failure of the store. */
export function unreadRing(error: unknown): Unread<RawRingPort> {
  if (error instanceof RingUntold)
    return unread(PORT, why('ring_unbuilt', { cause: error.message }));
  if (!(error instanceof RingFull)) return unreadFor(PORT, error);
  const cause = `they have over ${PAIRS_MAX.toLocaleString('en')} counterparties`;
  return unread(PORT, why('ring_unbuilt', { cause }));
}

/** The ring in memory, brought up by one after another. */
function keptRing(warehouse: Warehouse, { marked, tells }: WarehouseReads) {
  let state = new RingState(warehouse, marked);
  let buildMs: number | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: { readonly listed: readonly string[]; readonly turn: Promise<UpToDate> } | null =
    null;

  /** One after another, so that each begins after it was asked for. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  }

  /** A ring that begins anew stands in for the old one only once it is whole. */
  async function catchUp(listed: readonly string[], how?: BringUp): Promise<UpToDate> {
    if (!(await tells(BUILD)))
      throw new RingUntold('the tables of a cluster do not tell what was written');
    if (listed.length > RING_LISTED_MAX) throw new RingUntold(`over ${RING_LISTED_MAX} are listed`);
    const missing = listed.filter((one) => !state.has(one));
    const isFull = missing.length > RING_LISTED_MAX - state.numbers;
    const begins = how?.anew === true || isFull || state.listed === 0;
    const next = begins ? new RingState(warehouse, marked) : state;
    const began = performance.now();
    const mark = await next.catchUp(begins ? listed : missing, BUILD, how?.told);
    if (begins) buildMs = performance.now() - began;
    state = next;
    return { state, mark };
  }

  return {
    /** Callers that come while another waits share its update, which begins after both. */
    upToDate: (listed: readonly string[]): Promise<UpToDate> => {
      if (waiting?.listed === listed) return waiting.turn;
      const turn = inTurn(() => {
        waiting = null;
        return catchUp(listed);
      });
      waiting = { listed, turn };
      return turn;
    },
    bringUp: (listed: readonly string[], how?: BringUp) =>
      inTurn(async () => void (await catchUp(listed, how))),
    facts: (): RingParts => {
      const { listed, pairs, bytes, byChain } = state;
      return { listed, pairs, bytes, byChain, build_ms: buildMs };
    },
  };
}

function keptCoverage(warehouse: Warehouse) {
  let kept: Ranges | null = null;
  return async (
    listed: readonly string[],
    held: HeldBlocksOf,
    call: Call,
  ): Promise<RingCoverage> => {
    const isSame = kept !== null && kept.of === listed && kept.held === held;
    if (kept !== null && isSame && performance.now() - kept.atMs < RANGES_KEEP_MS) {
      return kept.coverage;
    }
    const atMs = performance.now();
    const ranges = await rangesOf(warehouse, held, listed, call);
    const ofListed = new Map([...ranges].map(([one, own]) => [one, own.map(rangeOf)] as const));
    const coverage = { ofChains: held.ranges.map(rangeOf), ofListed };
    kept = { of: listed, held, atMs, coverage };
    return coverage;
  };
}

/** The ring cannot be told of this warehouse, or not yet. */
class RingUntold extends Error {}

function rangeOf({
  chain,
  kind,
  from_block,
  to_block,
  to_time,
  from_first,
}: CoverageRange): CoverageRange {
  return { chain, kind, from_block, to_block, to_time, from_first };
}

const NONE: Meetings = new Map();

/**
 * The hits of the ring, settled by the transfers between the two: a chance likeness has none. The
 * same hubs deal with the list in every walk, so their results are cached.
 */
function meetingsBy() {
  type Made = { readonly asked: RingRequest; readonly all: readonly Counterparty[] };
  const made = new WeakMap<BetweenListed, Made>();
  const wanted = new WeakMap<readonly string[], ReadonlySet<string>>();

  return (between: ReadonlyMap<string, BetweenListed>, asked: RingRequest): Meetings => {
    const listed = wanted.get(asked.listed) ?? new Set(asked.listed);
    wanted.set(asked.listed, listed);
    const meetings = new Map<string, readonly Counterparty[]>();
    for (const [peer, own] of between) {
      const before = made.get(own);
      const isSame =
        before !== undefined &&
        before.asked.listed === asked.listed &&
        before.asked.rowsMax === asked.rowsMax &&
        before.asked.chains.join() === asked.chains.join();
      const all = isSame ? before.all : counterpartiesOf(own, listed, asked);
      if (!isSame) made.set(own, { asked, all });
      if (all.length > 0) meetings.set(peer, all);
    }
    return meetings;
  };
}

function counterpartiesOf(
  between: BetweenListed,
  wanted: ReadonlySet<string>,
  { chains, rowsMax }: RingRequest,
): Counterparty[] {
  const all: Counterparty[] = [];
  for (const [listed, { rows, more }] of between) {
    if (!wanted.has(listed)) continue;
    const told = rows.map(({ transfer }) => transfer);
    const transfers = told.filter(({ chain }) => chains.includes(chain));
    // Where rows were left out, theirs may be among them.
    if (transfers.length === 0 && !more) continue;
    // Of a listed address that has more rows than one read takes, any pair may have more.
    const transfer_count = transfers.length + (more ? 1 : 0);
    all.push({ address: listed, transfers: transfers.slice(0, rowsMax), transfer_count });
  }
  return all;
}

// Counts the explorer calls of a day for reading listed addresses ahead.

/** The count in a warehouse. `now` is Unix seconds. */
export function ringCalls(warehouse: Warehouse, now: () => number): RingCalls {
  const ask = warehouseReadings('ring_calls', now, false);
  return {
    on: (day) =>
      ask(async () => {
        const sql = 'SELECT sum(calls) FROM ring_calls WHERE day = {day:Date}';
        return queryNumber(warehouse, sql, { ...WRITE, params: { day } });
      }),
    add: (day, calls) =>
      ask(async () => {
        const sql = `INSERT INTO ring_calls SELECT {day:Date}, ${calls}`;
        await warehouse.command(sql, { ...WRITE, params: { day } });
        return true as const;
      }),
  };
}

const NOTHING_LISTED = why('ring_unbuilt', { cause: 'the list names nobody' });

type Kept = {
  readonly ring: Pick<WarehouseRing, 'bringUp' | 'facts' | 'coverage'>;
  /** The list in force, read anew. */
  readonly listed: () => Promise<Partly<ListedAddresses, SanctionsListPort>>;
  readonly chainsRead: () => Promise<Reading<readonly ChainName[], TransferHistoryPort>>;
  readonly gapsOf: (
    coverage: RingCoverage,
    asked: Pick<RingRequest, 'listed' | 'chains'>,
  ) => readonly RingGap[];
  /** The lists to read for listed addresses of EVM chains, on chains that are read. */
  readonly lackOf: (
    coverage: RingCoverage,
    asked: Pick<RingRequest, 'listed' | 'chains'>,
  ) => RingLack;
  readonly now: () => number;
  readonly simulated: boolean;
};

/** Keeps the ring of the list in force, and knows what there is to read for it. */
export function ringKeeping({
  ring,
  listed,
  chainsRead,
  gapsOf,
  lackOf,
  now,
  simulated,
}: Kept): RingKeeping & {
  readonly lack: () => Promise<Reading<RingLack, RawRingPort>>;
} {
  /** The ring's answer for the list in force, on the chains that are read. */
  async function askRing<T>(
    work: (addresses: ListedAddresses['addresses'], chains: readonly ChainName[]) => Promise<T>,
  ): Promise<Reading<T, RawRingPort>> {
    const list = await listed();
    const known = rowsSeen(map(list, ({ addresses }) => [addresses]));
    if (known === null) return unread(PORT, list instanceof Read ? NOTHING_LISTED : list.why);
    const chains = await chainsRead();
    if (!(chains instanceof Read)) return unread(PORT, chains.why);
    try {
      const value = await work(known[0], chains.value);
      return read(value, { port: PORT, source: warehouseSource(now(), simulated) });
    } catch (error) {
      return unread(PORT, unreadRing(error).why);
    }
  }

  /** The gaps of the listed addresses, read once they were brought up. */
  async function gapsAfter(
    bringUp: (all: readonly string[]) => Promise<void>,
    addresses: ListedAddresses['addresses'],
    chains: readonly ChainName[],
  ): Promise<readonly RingGap[]> {
    const kinds = [...new Set(chains.map((chain) => CHAINS[chain].kind))];
    const all = kinds.flatMap((kind) => rowsUnder(addresses, kind));
    await bringUp(all);
    const coverage = await ring.coverage(all);
    return kinds.flatMap((kind) => {
      const own = chains.filter((chain) => CHAINS[chain].kind === kind);
      return gapsOf(coverage, { listed: rowsUnder(addresses, kind), chains: own });
    });
  }

  const statusBy = (bringUp: (all: readonly string[]) => Promise<void>) =>
    askRing(async (addresses, chains) => {
      const gaps = await gapsAfter(bringUp, addresses, chains);
      return statusOf(ring.facts(), addresses, chains, gaps);
    });

  return {
    status: () => statusBy((all) => ring.bringUp(all)),
    reach: () =>
      askRing(async (addresses, chains) => {
        const gaps = await gapsAfter(async () => undefined, addresses, chains);
        return reachOf(addresses, chains, gaps);
      }),
    rebuild: (progress) => statusBy((all) => ring.bringUp(all, { anew: true, told: progress })),
    lack: () =>
      askRing(async (addresses, chains) => {
        const own = rowsUnder(addresses, 'evm');
        return lackOf(await ring.coverage(own), { listed: own, chains });
      }),
  };
}

function statusOf(
  { pairs, bytes, build_ms, byChain }: ReturnType<WarehouseRing['facts']>,
  addresses: ListedAddresses['addresses'],
  chains: readonly ChainName[],
  gaps: readonly RingGap[],
): RingStatus {
  const rows = reachOf(addresses, chains, gaps).map((one) => {
    const held = byChain.find(({ chain }) => chain === one.chain);
    return { ...one, pairs: held === undefined ? 0 : held.pairs };
  });
  const kinds = new Set(chains.map((chain) => CHAINS[chain].kind));
  const listed = [...kinds].reduce((sum, kind) => sum + rowsUnder(addresses, kind).length, 0);
  return { listed, pairs, bytes, build_ms, chains: rows, gaps };
}

function reachOf(
  addresses: ListedAddresses['addresses'],
  chains: readonly ChainName[],
  gaps: readonly RingGap[],
): readonly RingReach[] {
  return chains.map((chain) => {
    const listed = rowsUnder(addresses, CHAINS[chain].kind).length;
    const lacking = new Set(gaps.flatMap((gap) => (gap.chain === chain ? [gap.listed] : [])));
    const held_in_full = listed - lacking.size;
    const begun = held_in_full > 0 ? 'half' : 'absent';
    return { chain, state: lacking.size === 0 ? 'whole' : begun, listed, held_in_full };
  });
}
