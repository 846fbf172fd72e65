// Keeps the ring around the list while a service runs: built from its start on, and read ahead.
// Histories of listed addresses are read through explorers, list by list, until none lacks
// anything; then what is new. Nobody waits for it: a walk that comes earlier goes address by
// address.

import { formatIsoDate } from '../../chain/time.ts';
import { tally } from '../../evidence/measure.ts';
import { Read, type Reading, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  inTime,
  OUT_OF_TIME,
  type RunEnd,
  signalFor,
  untilStopped,
  type WatchRun,
  WITHOUT_WATCH,
} from '../../evidence/waiting.ts';
import type {
  KeptLists,
  ListRequest,
  RawRingPort,
  ReadSlice,
  RingCalls,
  RingFilling,
  RingFillState,
  RingKeeping,
  RingLack,
  RingReport,
} from '../../ports/history.ts';
import type { Leases } from '../../ports/indexing.ts';

/** The dependencies of a round. `now` is Unix seconds. */
export type RingFillWorld = {
  readonly lists: KeptLists;
  /** The gaps of the ring, by the list in force. */
  readonly lack: () => Promise<Reading<RingLack, RawRingPort>>;
  readonly calls: RingCalls;
  readonly callsADay: number;
  readonly leases: Leases;
  readonly now: () => number;
};

/** One process at a time reads them. */
const LEASE = 'ring';
const LEASE_S = 300;
const RENEW_AFTER_S = 60;
/** Lists of a chain that may fail one after another before it is left alone for this pass. */
const FAILED_MAX = 5;
/** Rounds over what is lacking in one go: a new list, or what became old meanwhile. */
const PASSES_MAX = 100;

/** The slices, or seconds, after which results are stored. */
const UNKEPT_MAX = 32;
const UNKEPT_S = 10;
/** Slices of one list in one go. */
const SLICES_MAX = 100_000;

type End = Pick<RingFillState, 'state' | 'why'>;
type Become = (over: Partial<RingFillState>) => void;

/** Fills the ring; rounds that are asked for while one is under way are that one. */
export function ringFilling(world: RingFillWorld): RingFilling {
  const { callsADay, now } = world;
  const unknown = { lists_held: 0, lists: 0, calls_today: 0, calls_a_day: callsADay } as const;
  let state: RingFillState = { state: 'waiting', why: null, since: now(), ...unknown };
  let running: Promise<void> | null = null;
  const watchers = new Set<(state: RingFillState) => void>();

  function become(over: Partial<RingFillState>): void {
    const next = { ...state, ...over };
    state = next.state === state.state ? next : { ...next, since: now() };
    for (const told of watchers) told(state);
  }

  return {
    state: () => state,
    fill: async (told, signal) => {
      watchers.add(told);
      const isOwn = running === null;
      if (running === null) {
        running = new Round(world, become)
          .run(signal)
          .then(become)
          .finally(() => {
            running = null;
          });
      }
      try {
        // A caller that joined another's round can be stopped before that round ends.
        const round = running;
        await (isOwn ? round : inTime(() => round, signal));
      } finally {
        watchers.delete(told);
      }
      return state;
    },
  };
}

class Round {
  readonly #world: RingFillWorld;
  readonly #become: Become;
  #leasedAt = 0;
  #unkept: ReadSlice[] = [];
  #keptAt: number;
  #day: string;
  #today = 0;
  #unnoted = 0;
  /** Lists that are held, and those that were read to their end and are not kept yet. */
  #held = 0;
  #ended = 0;

  constructor(world: RingFillWorld, become: Become) {
    this.#world = world;
    this.#become = become;
    this.#keptAt = world.now();
    this.#day = formatIsoDate(this.#keptAt);
  }

  async run(signal: AbortSignal): Promise<End> {
    const { leases } = this.#world;
    const taken = await this.#lease();
    if (taken !== null) return taken;
    try {
      const counted = await this.#count();
      return counted === null ? await this.#passes(signal) : counted;
    } finally {
      await this.#note();
      this.#become({ calls_today: this.#today });
      await leases.release(LEASE);
    }
  }

  /** Takes the lease, or holds it for longer; says why it cannot. */
  async #lease(): Promise<End | null> {
    const { leases, now } = this.#world;
    if (now() - this.#leasedAt < RENEW_AFTER_S) return null;
    const taken = await leases.take(LEASE, LEASE_S);
    if (taken instanceof Unread) return { state: 'held_up', why: taken.why };
    if (taken.value === null) return { state: 'elsewhere', why: null };
    this.#leasedAt = now();
    return null;
  }

  /** Learns what was spent today; says why that is not known. */
  async #count(): Promise<End | null> {
    const told = await this.#world.calls.on(this.#day);
    if (told instanceof Unread) return { state: 'held_up', why: told.why };
    this.#today = told.value;
    this.#become({ state: 'reading', why: null, calls_today: this.#today });
    return null;
  }

  /** Over what is lacking again and again, since reading takes its time, until nothing is. */
  async #passes(signal: AbortSignal): Promise<End> {
    for (let pass = 0; pass < PASSES_MAX; pass += 1) {
      const lack = await this.#world.lack();
      if (lack instanceof Unread) return { state: 'held_up', why: lack.why };
      const { lacking, of } = lack.value;
      this.#held = of - lacking.length;
      this.#become({ lists_held: this.#held, lists: of });
      if (lacking.length === 0) return { state: 'filled', why: null };
      const end = await this.#pass(lacking, signal);
      if (end !== null) return end;
    }
    return { state: 'waiting', why: null };
  }

  /** Reads each list to its end, but for those that fail; `null` where all of them were read. */
  async #pass(lacking: readonly ListRequest[], signal: AbortSignal): Promise<End | null> {
    let failed: Why | null = null;
    const failures = new Map<string, number>();
    for (const list of lacking) {
      if (signal.aborted) return (await this.#keep()) ?? { state: 'waiting', why: null };
      if (Number(failures.get(list.chain)) >= FAILED_MAX) continue;
      const leased = await this.#lease();
      if (leased !== null) return leased;
      const why = await this.#read(list, signal);
      if (why === null) this.#ended += 1;
      if (this.#left() <= 0) return (await this.#keep()) ?? { state: 'budget_spent', why };
      if (why === null) failures.delete(list.chain);
      else {
        failed = why;
        tally(failures, list.chain);
      }
      const unkept = await this.#keepInTime();
      if (unkept !== null) return unkept;
      this.#become({ calls_today: this.#today, why: failed });
    }
    const unkept = await this.#keep();
    if (unkept !== null) return unkept;
    return failed === null ? null : { state: 'held_up', why: failed };
  }

  /** Keeps what was read, now and then: each write has its price, and what is not kept is lost. */
  async #keepInTime(): Promise<End | null> {
    const since = this.#world.now() - this.#keptAt;
    return this.#unkept.length < UNKEPT_MAX && since < UNKEPT_S ? null : this.#keep();
  }

  async #keep(): Promise<End | null> {
    const [slices, ended] = [this.#unkept, this.#ended];
    this.#unkept = [];
    this.#ended = 0;
    await this.#note();
    const kept = slices.length === 0 ? null : await this.#world.lists.keep(slices);
    this.#keptAt = this.#world.now();
    if (kept instanceof Unread) return { state: 'held_up', why: kept.why };
    this.#held += ended;
    this.#become({ lists_held: this.#held });
    return null;
  }

  /** Reads a list to the newest settled block; says why that was not reached. */
  async #read(list: ListRequest, signal: AbortSignal): Promise<Why | null> {
    const onCall = () => {
      this.#today += 1;
      this.#unnoted += 1;
    };
    let { from_block } = list;
    for (let slices = 0; slices < SLICES_MAX; slices += 1) {
      const callsMax = this.#left();
      const spending = { callsMax, signal: signalFor('the ring', signal), onCall };
      const asked = { ...list, from_block };
      const reading = await this.#world.lists.read(asked, spending);
      if (reading instanceof Unread) return reading.why;
      const { slice } = reading.value;
      this.#unkept.push(reading.value);
      if (slice.ended) return null;
      from_block = slice.to_block + 1;
      const unkept = await this.#keepInTime();
      if (unkept !== null) return unkept.why;
      // One that was lost is seen before the next list.
      await this.#lease();
    }
    return null;
  }

  #left(): number {
    return Math.max(0, this.#world.callsADay - this.#today);
  }

  /** Adds what was spent to the day's count; where that fails it is added with the next. */
  async #note(): Promise<void> {
    const { calls, now } = this.#world;
    const spent = this.#unnoted;
    if (spent > 0) {
      const noted = await calls.add(this.#day, spent);
      if (!(noted instanceof Unread)) this.#unnoted -= spent;
    }
    const day = formatIsoDate(now());
    if (day === this.#day) return;
    this.#day = day;
    this.#today = this.#unnoted;
  }
}

/**
 * The dependencies of the repeating job. A bug in one round is logged, and does not end the job.
 */
type Again = {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onBug: (fault: unknown) => void;
};

/** How often it is looked at, and while its lists are being read, or it cannot be told. */
const LOOK_MS = 300_000;
const LOOK_WHILE_READING_MS = 60_000;
const LOOK_SOON_MS = 10_000;

/** Builds the ring and looks at it again and again. */
export function keepRing(
  world: Again & {
    readonly status: RingKeeping['status'];
    readonly isReading: () => boolean;
    readonly now: () => number;
  },
) {
  const { status, isReading, now } = world;
  let report: RingReport = null;

  async function look(watch: WatchRun, signal: AbortSignal): Promise<number> {
    const told = await watch(
      () => inTime(status, signal),
      (said) => (said instanceof Read ? 'done' : 'failed'),
    );
    if (told === OUT_OF_TIME) return LOOK_SOON_MS;
    report = { as_of: now(), status: told };
    if (!(told instanceof Read)) return LOOK_SOON_MS;
    return isReading() ? LOOK_WHILE_READING_MS : LOOK_MS;
  }

  return {
    report: (): RingReport => report,
    start: (watch = WITHOUT_WATCH) => startRounds(world, 0, (signal) => look(watch, signal)),
  };
}

/** Answers take precedence at a start: reading ahead waits. */
const FIRST_ROUND_MS = 30_000;
const ROUND_MS = 300_000;
/** After a round that was held up; twice as long after each further one, up to `ROUND_MS`. */
const HELD_UP_MS = 30_000;

/** A round that left lists unread is not done, and where another process reads none was made. */
const RUN_ENDS: { readonly [S in RingFillState['state']]: RunEnd } = {
  filled: 'done',
  held_up: 'failed',
  budget_spent: 'failed',
  waiting: 'idle',
  reading: 'idle',
  elsewhere: 'idle',
  off: 'idle',
};

/** Makes round after round. */
export function keepFilling(filling: RingFilling, again: Again, watch = WITHOUT_WATCH) {
  let wait = HELD_UP_MS;
  return startRounds(again, FIRST_ROUND_MS, async (signal) => {
    const { state } = await watch(
      () => filling.fill(() => undefined, signal),
      (end) => RUN_ENDS[end.state],
    );
    if (state !== 'held_up') {
      wait = HELD_UP_MS;
      return ROUND_MS;
    }
    wait = Math.min(wait * 2, ROUND_MS);
    return wait;
  });
}

/** Turns that are taken until they are stopped, each of which says when the next one is due. */
function startRounds(
  { sleep, onBug }: Again,
  firstMs: number,
  turn: (signal: AbortSignal) => Promise<number>,
) {
  return untilStopped(async (signal) => {
    await sleep(firstMs, signal);
    while (!signal.aborted) {
      let wait = LOOK_MS;
      try {
        wait = await turn(signal);
      } catch (fault) {
        onBug(fault);
      }
      await sleep(wait, signal);
    }
  });
}
