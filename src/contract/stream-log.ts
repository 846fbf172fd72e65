// Shares a numbered log between all its readers of a process. What was read of it last is held in
// memory, each message written once whoever reads it; what is not held is read from the store when
// a reader comes to it. A log is followed while anybody reads it.

import type { Reading, Silent } from '../evidence/reading.ts';
import { Refusal } from './refusals.ts';
import { type StreamMessage, type StreamRequest, type StreamSource, standingIn } from './stream.ts';

/** A message, and by what a reader says whether it wants it. */
type Entry<N extends string, T> = { readonly of: T; readonly message: StreamMessage<N> };

/** Both ends of a log: `newest` is 0 while nothing was ever told, `oldest` can still be had. */
type Ends = { readonly newest: number; readonly oldest: number | null };

export type StreamLogParts<N extends string, T, P extends string> = {
  readonly route: {
    readonly gap: (from: number, to: number) => StreamMessage<N>;
    readonly unread: (message: string) => StreamMessage<N>;
  };
  /** The first messages of a log after a number, and both ends of the log. */
  readonly after: (
    log: string,
    seq: number,
  ) => Promise<Reading<Ends & { readonly entries: readonly Entry<N, T>[] }, P>>;
  /** Messages of a log that are held: more than `after` gives at once. */
  readonly heldMax: number;
  /** Whether a log is read for each reader that comes, also where its ends are known. */
  readonly readsForEach: boolean;
  /** Calls when something was appended, by whatever process, until it is undone. */
  readonly onAppended: (call: () => void) => () => void;
  /** How long a message may go unnoticed where nobody calls. */
  readonly pollMs: number;
  /** Readings that may fail one after another before the streams end: a heartbeat over a log that
   * nobody reads would say that nothing happened. */
  readonly silentReadingsMax: number;
};

type Reader = Pick<StreamRequest<never>, 'since' | 'signal'>;

/** After this a reader may ask again whether the log can be read. */
const RETRY = { 'retry-after': '5' };

/** Opens logs by their names, each for all who read it at the same time and for nobody else. */
export function shareLogs<N extends string, T, P extends string>(parts: StreamLogParts<N, T, P>) {
  const read = new Map<string, SharedLog<N, T, P>>();
  return (name: string, reader: Reader, isWanted: (of: T) => boolean) => {
    const known = read.get(name);
    const log = known === undefined ? new SharedLog(name, parts) : known;
    read.set(name, log);
    log.join(reader.signal, () => read.delete(name));
    return log.open(reader, isWanted);
  };
}

class SharedLog<N extends string, T, P extends string> {
  readonly #name: string;
  readonly #parts: StreamLogParts<N, T, P>;
  /** A message lies at the remainder of its number, in the place of one that lay there before. */
  readonly #held: Entry<N, T>[] = [];
  #ends: Ends = { newest: 0, oldest: null };
  /** Whether both ends are known as they were a moment ago. */
  #isCurrent = false;
  /** The lowest place of a reader whose next message is not held. */
  #missing: number | null = null;
  #silentReadings = 0;
  /** Streams end when this changes, with these words. */
  #era = 0;
  #lastWords: StreamMessage<N> | null = null;
  #readers = 0;
  readonly #waiting = new Set<() => void>();
  #reading: Promise<Silent<P> | null> = Promise.resolve(null);
  #queued: Promise<Silent<P> | null> | null = null;

  constructor(name: string, parts: StreamLogParts<N, T, P>) {
    this.#name = name;
    this.#parts = parts;
  }

  /** Counts a reader until its signal ends it. The log is followed until the last one has gone. */
  join(signal: AbortSignal, onIdle: () => void): void {
    this.#readers += 1;
    if (this.#readers === 1) this.#follow(onIdle);
    const leave = () => {
      this.#readers -= 1;
      if (this.#readers === 0) this.#unfollow();
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
  }

  /** Says where a reader stands, and what follows. */
  async open({ since, signal }: Reader, isWanted: (of: T) => boolean) {
    // Another process may have told more than this one has read.
    const isAhead = since !== null && since > this.#ends.newest;
    if (this.#parts.readsForEach || !this.#isCurrent || isAhead) {
      const silent = await this.#refresh();
      if (silent !== null) return new Refusal('overloaded', { error: silent.why.reason }, RETRY);
    }
    const standing = standingIn(this.#ends, since);
    return { standing, messages: this.#after(standing.seq, isWanted, signal) };
  }

  #after(
    place: number,
    isWanted: (of: T) => boolean,
    signal: AbortSignal,
  ): StreamSource<StreamMessage<N>> {
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
        const { newest, oldest } = this.#ends;
        const first = oldest === null ? newest + 1 : oldest;
        if (at < first - 1) {
          const from = at + 1;
          [at, told] = [first - 1, first - 1];
          return this.#parts.route.gap(from, at);
        }
        while (at < newest) {
          const entry = this.#held[(at + 1) % this.#parts.heldMax];
          if (entry?.message.seq !== at + 1) {
            this.#miss(at);
            break;
          }
          at += 1;
          if (!isWanted(entry.of)) continue;
          told = at;
          return entry.message;
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

  #miss(place: number): void {
    if (this.#missing === null || place < this.#missing) this.#missing = place;
    void this.#refresh();
  }

  #follow(onIdle: () => void): void {
    const refresh = () => void this.#refresh();
    const undo = this.#parts.onAppended(refresh);
    const timer = setInterval(refresh, this.#parts.pollMs);
    this.#unfollow = () => {
      undo();
      clearInterval(timer);
      onIdle();
    };
  }
  #unfollow: () => void = () => undefined;

  /** Reads what was appended before this was called. */
  #refresh(): Promise<Silent<P> | null> {
    if (this.#queued === null) {
      this.#queued = this.#reading.then(() => {
        this.#queued = null;
        this.#reading = this.#read();
        return this.#reading;
      });
    }
    return this.#queued;
  }

  async #read(): Promise<Silent<P> | null> {
    const place = this.#missing === null ? this.#ends.newest : this.#missing;
    this.#missing = null;
    const read = await this.#parts.after(this.#name, place);
    if (!read.checked) {
      this.#isCurrent = false;
      this.#silentReadings += 1;
      const isOver = this.#silentReadings % this.#parts.silentReadingsMax === 0;
      if (isOver) this.#endAll(this.#parts.route.unread(read.why.reason));
      return read;
    }
    const { newest, oldest, entries } = read.value;
    // The log was put back to an earlier day: places of before mean nothing now.
    if (newest < this.#ends.newest) this.#endAll(null);
    // The first one stays, so that whoever missed it goes on.
    for (const entry of entries.toReversed()) {
      this.#held[Number(entry.message.seq) % this.#parts.heldMax] = entry;
    }
    const first = entries[0] === undefined ? null : entries[0].message.seq;
    // The next event was dropped while the log was read.
    const isGone = place < newest && first !== place + 1;
    this.#ends = { newest, oldest: isGone ? first : oldest };
    this.#silentReadings = 0;
    this.#isCurrent = true;
    for (const call of this.#waiting) call();
    return null;
  }

  #endAll(lastWords: StreamMessage<N> | null): void {
    this.#era += 1;
    this.#lastWords = lastWords;
    this.#held.length = 0;
    for (const call of this.#waiting) call();
  }
}
