// Shares one log of flags between all readers of a process. What can be had again is held in
// memory, each event written once, so that neither a reader nor a thousand that resume at once ask
// the store. The store is followed while anybody reads.

import type { ChainName } from '../../chain/chain.ts';
import type { Silent } from '../../evidence/reading.ts';
import {
  FLAG_EVENTS_KEPT,
  type FlagEvent,
  type FlagEvents,
  type FlagEventsPort,
  type FlagLogBounds,
} from '../../ports/rug-flags.ts';

/** What a feed is made of. */
export type FeedParts<M> = {
  readonly log: Pick<FlagEvents, 'after'>;
  /** Writes an event, once for all its readers. */
  readonly write: (event: FlagEvent) => M;
  readonly writeGap: (from: number, to: number) => M;
  /** The last words of a stream whose log cannot be read. */
  readonly writeUnread: (reason: string) => M;
  /** Calls when something was appended, by whatever process, until it is undone. */
  readonly onAppended: (call: () => void) => () => void;
  /** How long an event may go unnoticed where nobody calls. */
  readonly pollMs: number;
};

type Kept<M> = { readonly chain: ChainName; readonly message: M };
type Unreadable = Silent<FlagEventsPort>;

const SLOTS = FLAG_EVENTS_KEPT.eventsMax;
/** Chunks that one reading of the log takes: many times as much as can be had again. */
const CHUNKS_MAX = 100;
/** Readings of the log that may fail one after another before its streams end: a heartbeat over a
 * log that nobody reads would say that nothing was flagged. */
const SILENT_READINGS_MAX = 10;

/** The log as the readers of a process share it. */
export class FlagFeed<M> {
  readonly #parts: FeedParts<M>;
  /** An event lies at the remainder of its number, so that the newest takes the oldest's place. */
  readonly #kept: Kept<M>[] = [];
  #newest = 0;
  #oldest: number | null = null;
  /** Whether both ends are known as they were a moment ago. */
  #isCurrent = false;
  #silentReadings = 0;
  /** Streams end when this changes, with these words. */
  #era = 0;
  #lastWords: M | null = null;
  #readers = 0;
  readonly #waiting = new Set<() => void>();
  #reading: Promise<Unreadable | null> = Promise.resolve(null);
  #queued: Promise<Unreadable | null> | null = null;
  #unfollow: () => void = () => undefined;

  constructor(parts: FeedParts<M>) {
    this.#parts = parts;
  }

  /** Counts a reader, until its signal ends it. The log is followed while there is one. */
  join(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#readers += 1;
    if (this.#readers === 1) this.#follow();
    signal.addEventListener('abort', () => {
      this.#readers -= 1;
      if (this.#readers === 0) this.#unfollow();
    });
  }

  /** Both ends of the log, for who asks what follows a number; silent where they are not known. */
  async boundsFor(since: number | null): Promise<FlagLogBounds | Unreadable> {
    // Another process may have told more than this one has read.
    if (!this.#isCurrent || (since !== null && since > this.#newest)) {
      const silent = await this.#refresh();
      if (silent !== null) return silent;
    }
    return { newest: this.#newest, oldest: this.#oldest };
  }

  /** The wanted events after a place, and the gaps between them, as one reader takes them. */
  after(
    place: number,
    isWanted: (chain: ChainName) => boolean,
    signal: AbortSignal,
  ): {
    readonly next: () => M | number | 'wait' | 'end';
    readonly onMore: (call: () => void) => void;
  } {
    const era = this.#era;
    // Where the reader stands, and where it was told that it stands.
    let [at, told] = [place, place];
    let isOver = false;
    return {
      next: () => {
        if (era !== this.#era) {
          const last = isOver ? null : this.#lastWords;
          isOver = true;
          return last === null ? 'end' : last;
        }
        const first = this.#oldest === null ? this.#newest + 1 : this.#oldest;
        if (at < first - 1) {
          const from = at + 1;
          [at, told] = [first - 1, first - 1];
          return this.#parts.writeGap(from, at);
        }
        while (at < this.#newest) {
          at += 1;
          const { chain, message } = this.#at(at);
          if (!isWanted(chain)) continue;
          told = at;
          return message;
        }
        if (told === at) return 'wait';
        told = at;
        return at;
      },
      onMore: (call) => {
        if (signal.aborted) return;
        this.#waiting.add(call);
        signal.addEventListener('abort', () => this.#waiting.delete(call));
      },
    };
  }

  /** Reads what was appended before this was called. */
  #refresh(): Promise<Unreadable | null> {
    if (this.#queued === null) {
      this.#queued = this.#reading.then(() => {
        this.#queued = null;
        this.#reading = this.#readOn();
        return this.#reading;
      });
    }
    return this.#queued;
  }

  #at(seq: number): Kept<M> {
    const kept = this.#kept[seq % SLOTS];
    if (kept === undefined) throw new Error(`event ${seq} is not held`);
    return kept;
  }

  #follow(): void {
    this.#isCurrent = false;
    const refresh = () => void this.#refresh();
    const undo = this.#parts.onAppended(refresh);
    const timer = setInterval(refresh, this.#parts.pollMs);
    this.#unfollow = () => {
      undo();
      clearInterval(timer);
    };
  }

  async #readOn(): Promise<Unreadable | null> {
    for (let chunks = 0; chunks < CHUNKS_MAX; chunks += 1) {
      const read = await this.#parts.log.after(this.#newest);
      if (!read.checked) return this.#notRead(read);
      const { newest, oldest, events } = read.value;
      if (newest < this.#newest) {
        // The log was put back to an earlier day: places of before mean nothing now.
        this.#endAll(null);
        this.#newest = 0;
        continue;
      }
      for (const event of events) {
        const { seq, chain } = event;
        this.#kept[seq % SLOTS] = { chain, message: this.#parts.write(event) };
      }
      const last = events.at(-1);
      this.#newest = last === undefined ? newest : last.seq;
      this.#oldest = oldest;
      if (this.#newest === newest) break;
    }
    this.#silentReadings = 0;
    this.#isCurrent = true;
    this.#wakeAll();
    return null;
  }

  #notRead(silent: Unreadable): Unreadable {
    this.#isCurrent = false;
    this.#silentReadings += 1;
    if (this.#silentReadings % SILENT_READINGS_MAX === 0) {
      this.#endAll(this.#parts.writeUnread(silent.why.reason));
    }
    return silent;
  }

  #endAll(lastWords: M | null): void {
    this.#era += 1;
    this.#lastWords = lastWords;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const call of this.#waiting) call();
  }
}
