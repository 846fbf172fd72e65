// Observes the configured assets at the venues that are set, in one process at a time by a lease:
// marks and listings in every round, what venues tell of the past once an hour, and liquidations as
// they happen. What a venue does not tell stays a hole.

import { HOUR_S, MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { listOrNone } from '../../evidence/measure.ts';
import {
  map,
  type Partly,
  type Read,
  type Reading,
  rowsSeen,
  Unread,
} from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { ImportOrigin } from '../../evidence/source.ts';
import {
  type BoundedTask,
  type RoundPace,
  repeatRounds,
  signalFor,
  untilStopped,
} from '../../evidence/waiting.ts';
import type { Leases } from '../../ports/indexing.ts';
import type {
  HeardLiquidations,
  LiquidationFeed,
  MarketBoard,
  MarketPort,
  MarketSource,
  MarketVenue,
  SeriesGathering,
  SeriesKind,
  SeriesPort,
  SeriesRow,
  SeriesRows,
  SeriesStore,
} from '../../ports/series.ts';
import { sourceUrl } from '../series/gather.ts';
import { FROZEN_AFTER_MS, judgeInstrument, recallSeen, type Seen } from './listings.ts';

/** A venue that is set: how it is asked, and listened to where it tells of liquidations. */
export type ObservedVenue = {
  readonly venue: MarketVenue;
  readonly market: MarketSource;
  readonly feed: LiquidationFeed | null;
};

export type ObserveParts = {
  readonly leases: Leases;
  readonly store: SeriesStore;
  readonly gathering: Pick<SeriesGathering, 'gather'>;
  readonly venues: readonly ObservedVenue[];
  readonly assets: readonly string[];
  readonly origin: ImportOrigin;
  readonly now: () => UnixSeconds;
  /** Keeps what chains show of the hours that are over; the reason why it could not. */
  readonly observeChains: (signal: AbortSignal) => Promise<Why | null>;
};

/** What a round did, in numbers. */
export type ObserveCounts = {
  readonly venues: number;
  readonly trading: number;
  readonly off: number;
  readonly unread: number;
};

export const ROUND_EACH_S = 300;
/**
 * The time for which a mark stands: up to the next one, which comes a look and a round later than
 * the round is due.
 */
const STANDS_S = 360;
const LEASE = 'observations';
const LEASE_S = 120;
/** An hour is read back when it is over for so long. */
const HOUR_SETTLE_S = 120;
/** So far back what a venue tells of the past is completed. */
const BACK_S = 30 * 24 * HOUR_S;
/** Open interest of venues ends after about a month. */
const OPEN_INTEREST_BACK_S = 27 * 24 * HOUR_S;
const PAST: readonly (readonly [SeriesKind, number])[] = [
  ['candles', BACK_S],
  ['funding', BACK_S],
  ['open_interest', OPEN_INTEREST_BACK_S],
];

/** What is held in memory between rounds, and lost with the lease. */
type Memory = {
  readonly epoch: number | null;
  readonly seen: Map<string, Seen>;
  readonly hours: Map<MarketVenue, number>;
  readonly trading: Map<MarketVenue, readonly string[]>;
};

function emptyMemory(epoch: number | null): Memory {
  return { epoch, seen: new Map(), hours: new Map(), trading: new Map() };
}

/** One round under the lease that this process holds; `null`: it lost the lease meanwhile. */
async function observeRound(
  parts: ObserveParts,
  memory: Memory,
  onFault: (why: Why) => void,
  signal: AbortSignal,
): Promise<ObserveCounts | null> {
  const counts = { venues: 0, trading: 0, off: 0, unread: 0 };
  for (const one of parts.venues) {
    if (signal.aborted || !(await holdsLease(parts, memory))) return null;
    counts.venues += 1;
    const board = await one.market.board(parts.assets, asking(signal));
    if (board instanceof Unread) {
      counts.unread += 1;
      onFault(board.why);
      continue;
    }
    const kept = await keepBoard(parts, one, board, memory, signal);
    if ('reason' in kept) onFault(kept);
    else {
      memory.trading.set(one.venue, kept.trading);
      counts.trading += kept.trading.length;
      counts.off += kept.off;
      const failed = await completePast(parts, one, kept.trading, memory, signal);
      if (failed !== null) onFault(failed);
    }
  }
  const failed = await parts.observeChains(signal);
  if (failed !== null) onFault(failed);
  return counts;
}

/** Venues are asked without taking a turn from who waits. */
function asking(signal: AbortSignal): AbortSignal {
  return signalFor('the observer of markets', signal);
}

/** The epoch of the lease, which is held for longer; `null`: it is another's, or cannot be told. */
async function holdLease({ leases }: ObserveParts): Promise<number | null> {
  const held = await leases.take(LEASE, LEASE_S);
  return held.checked && held.value !== null ? held.value.epoch : null;
}

/** Whether the lease is the one under which the memory was made. */
async function holdsLease(parts: ObserveParts, { epoch }: Memory): Promise<boolean> {
  return (await holdLease(parts)) === epoch;
}

type KeptBoard = { readonly trading: readonly string[]; readonly off: number };

async function keepBoard(
  parts: ObserveParts,
  { venue, market }: ObservedVenue,
  board: Read<MarketBoard, MarketPort>,
  memory: Memory,
  signal: AbortSignal,
): Promise<KeptBoard | Why> {
  const { at, rows } = board.value;
  const received_at = parts.now() * MS_PER_S;
  const covered = [{ from: at, to: at + STANDS_S * MS_PER_S }];
  const trading: string[] = [];
  const add = <S extends SeriesKind>(
    series: S,
    of: string,
    told: readonly SeriesRow<S>[],
  ): ReturnType<SeriesStore['add']> => {
    const observed = { covered, received_at, source: sourceUrl(board), origin: parts.origin };
    return parts.store.add({ venue, series, of }, told, observed);
  };
  for (const told of rows) {
    const { of } = told;
    const key = `${venue} ${of}`;
    const before = await recallBefore(parts, { venue, of }, memory.seen.get(key), at, signal);
    if (before !== null && 'reason' in before) return before;
    const seen = judgeInstrument(told, at, before);
    const isNews = before === null || before.state !== seen.state;
    const listed = isNews ? [{ at, state: seen.state, price: seen.price }] : NO_ROWS;
    const kept = [await add('listings', of, listed)];
    if (seen.state === 'trading' && seen.price !== null) {
      trading.push(of);
      kept.push(await add('marks', of, [{ at, price: seen.price }]));
      if (market.openInterest === null && told.open_interest !== null) {
        const sample = { at, ...told.open_interest, interval_s: ROUND_EACH_S };
        kept.push(await add('open_interest', of, [sample]));
      }
    }
    for (const one of kept) if (one instanceof Unread) return one.why;
    // Only what is kept is remembered: a change that was not kept is one again in the next round.
    memory.seen.set(key, seen);
  }
  return { trading, off: rows.length - trading.length };
}

const NO_ROWS: readonly SeriesRow<'listings'>[] = [];

/** What was seen of an instrument before: from memory, or, after a start, from what is kept. */
async function recallBefore(
  { store }: ObserveParts,
  { venue, of }: { readonly venue: MarketVenue; readonly of: string },
  held: Seen | undefined,
  at: number,
  signal: AbortSignal,
): Promise<Seen | null | Why> {
  if (held !== undefined) return held;
  const listings = await store.read(
    { venue, series: 'listings', of },
    { from: 0, to: at },
    { signal },
  );
  const told = rowsOrFault(listings);
  if ('reason' in told) return told;
  const last = told.rows.at(-1);
  if (last === undefined) return null;
  const marks = await store.read(
    { venue, series: 'marks', of },
    { from: at - 2 * FROZEN_AFTER_MS, to: at },
    { signal },
  );
  const prices = rowsOrFault(marks);
  return 'reason' in prices ? prices : recallSeen(last, prices.rows);
}

/** The rows that were seen of a series; none of one that is not held yet. */
function rowsOrFault<S extends SeriesKind>(
  reading: Partly<SeriesRows<S>, SeriesPort>,
): { readonly rows: readonly SeriesRow<S>[] } | Why {
  if (reading instanceof Unread && reading.why.code !== 'series_not_held') return reading.why;
  return { rows: listOrNone(rowsSeen(map(reading, ({ rows }) => rows))) };
}

/** The hours that are over, once they have settled: what venues tell of the past. */
async function completePast(
  parts: ObserveParts,
  { venue, market }: ObservedVenue,
  trading: readonly string[],
  memory: Memory,
  signal: AbortSignal,
): Promise<Why | null> {
  const hour = Math.floor((parts.now() - HOUR_SETTLE_S) / HOUR_S);
  if (memory.hours.get(venue) === hour) return null;
  const to = hour * HOUR_S * MS_PER_S;
  let fault: Why | null = null;
  for (const of of trading) {
    if (signal.aborted || !(await holdsLease(parts, memory))) return fault;
    for (const [series, backS] of PAST) {
      if (series === 'open_interest' && market.openInterest === null) continue;
      const span = { from: to - backS * MS_PER_S, to };
      const told = await parts.gathering.gather({ venue, series, of }, span, asking(signal));
      if (told.fault !== null) fault = told.fault.why;
      else if (told.reading instanceof Unread) fault = told.reading.why;
    }
  }
  // An hour that was not told whole is asked for again in the next round.
  if (fault === null) memory.hours.set(venue, hour);
  return fault;
}

/** Keeps what a venue told of liquidations of the assets that it was listened to about. */
export async function keepLiquidations(
  { store, now, origin }: Pick<ObserveParts, 'store' | 'now' | 'origin'>,
  venue: MarketVenue,
  assets: readonly string[],
  told: Reading<HeardLiquidations, MarketPort>,
): Promise<Why | null> {
  if (told instanceof Unread) return told.why;
  const { rows, covered } = told.value;
  for (const of of assets) {
    const own = rows.filter((one) => one.of === of).map(({ row }) => row);
    const observed = { covered, received_at: now() * MS_PER_S, source: sourceUrl(told), origin };
    const kept = await store.add({ venue, series: 'liquidations', of }, own, observed);
    if (kept instanceof Unread) return kept.why;
  }
  return null;
}

export type ObserveLoop = ObserveParts &
  Omit<RoundPace<Why>, 'everyS'> & { readonly onRound: (counts: ObserveCounts) => void };

/** How often a process looks for its lease and for a round that is due. */
const LOOK_EACH_S = 15;

/** Observes until it is stopped, whenever this process holds the lease. */
export function observeMarkets(parts: ObserveLoop): BoundedTask {
  const feeds = new Feeds(parts);
  let memory = emptyMemory(null);
  let before: number | null = null;
  let known: ReadonlySet<string> = new Set();
  const rounds = repeatRounds({ ...parts, everyS: LOOK_EACH_S }, async (signal) => {
    const round = Math.floor(parts.now() / ROUND_EACH_S);
    const epoch = await holdLease(parts);
    // Whoever lost the lease meanwhile remembers what another one has seen changing since.
    if (epoch === null || epoch !== memory.epoch) {
      await feeds.stop();
      memory = emptyMemory(epoch);
      before = null;
    }
    if (epoch === null) return null;
    if (round === before) return null;
    const faults = new Map<string, Why>();
    const counts = await observeRound(parts, memory, (why) => faults.set(why.reason, why), signal);
    // Several venues may fail at once: each lasting fault is told once, not in every round.
    for (const [reason, why] of faults) if (!known.has(reason)) parts.onFault(why);
    known = new Set(faults.keys());
    if (counts === null) return null;
    before = round;
    parts.onRound(counts);
    await feeds.listenTo(memory.trading);
    return null;
  });
  return {
    stop: async () => {
      await rounds.stop();
      await feeds.stop();
      await parts.leases.release(LEASE);
    },
  };
}

type Listening = { readonly assets: string; readonly task: BoundedTask };

/** The feeds of liquidations, each about the assets that trade at its venue. */
class Feeds {
  readonly #parts: ObserveLoop;
  readonly #running = new Map<MarketVenue, Listening>();

  constructor(parts: ObserveLoop) {
    this.#parts = parts;
  }

  /** Listens anew where other assets trade than before. */
  async listenTo(trading: Memory['trading']): Promise<void> {
    for (const { venue, feed } of this.#parts.venues) {
      const assets = trading.get(venue);
      const running = this.#running.get(venue);
      if (feed === null || assets === undefined || running?.assets === assets.join()) continue;
      await running?.task.stop();
      this.#running.delete(venue);
      if (assets.length > 0) this.#begin(venue, feed, assets);
    }
  }

  #begin(venue: MarketVenue, feed: LiquidationFeed, assets: readonly string[]): void {
    let fault: string | null = null;
    const keep = async (told: Reading<HeardLiquidations, MarketPort>): Promise<void> => {
      const why = await keepLiquidations(this.#parts, venue, assets, told);
      if (why !== null && why.reason !== fault) this.#parts.onFault(why);
      fault = why === null ? null : why.reason;
    };
    const task = untilStopped((signal) =>
      feed.listen(assets, keep, signal).catch((error: unknown) => {
        this.#parts.onBug(error);
        // The next round listens anew.
        this.#running.delete(venue);
      }),
    );
    this.#running.set(venue, { assets: assets.join(), task });
  }

  async stop(): Promise<void> {
    const tasks = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(tasks.map(({ task }) => task.stop()));
  }
}
