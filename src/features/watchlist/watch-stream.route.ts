// Opens /ws/watchlist for one reader: the log of its membership, from where it stands.
// Each reader asks for its own log alone; of it at most one chunk is held.

import type { Message } from '../../contract/message.ts';
import { Refusal } from '../../contract/refusals.ts';
import { type StreamHandler, type StreamSource, standingIn } from '../../contract/stream.ts';
import { Unread } from '../../evidence/reading.ts';
import type { WatchChange, Watchlist } from '../../ports/watchlist/watchlist.ts';
import { changeShown } from './shown.ts';
import { watchStream } from './watch-stream.contract.ts';

/** What the stream needs: the logs, and a call when something was appended to one of them. */
export type WatchStreamParts = {
  readonly watchlist: Pick<Watchlist, 'after'>;
  readonly onAppended: (call: () => void) => () => void;
};

type Said = Message<'watch_stream'>;

/** How long a change may go unnoticed where the bus is silent. */
const POLL_MS = 5_000;
const AT_ONCE = 100;
/** Readings that may fail one after another before the stream ends: a heartbeat over a log that
 * nobody reads would say that nothing changed. */
const SILENT_READINGS_MAX = 5;
/** After this a reader may ask again whether the log can be read. */
const RETRY = { 'retry-after': '5' };
/** The number before all changes. */
const FROM_THE_FIRST = 0;

/** The handler of the stream. */
export function watchStreamHandler(parts: WatchStreamParts): StreamHandler<typeof watchStream> {
  return async ({ caller, since, signal }) => {
    if (caller.kind !== 'member') throw new Error('a watchlist needs a membership');
    const { membership_id } = caller;
    const from = since === null ? FROM_THE_FIRST : since;
    const bounds = await parts.watchlist.after(membership_id, from, 1);
    if (bounds instanceof Unread) {
      return new Refusal('overloaded', { error: bounds.why.reason }, RETRY);
    }
    const standing = standingIn(bounds.value, since);
    return {
      welcome: watchStream.welcome(standing),
      messages: new LogReader(parts, membership_id, standing.seq, signal),
    };
  };
}

/** One reader's way through the log of its membership. */
class LogReader implements StreamSource<Said> {
  readonly #parts: WatchStreamParts;
  readonly #membershipId: string;
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<() => void>();
  /** What was read and not yet taken, in order, and up to where it was read. */
  #held: Said[] = [];
  #at: number;
  #isReading = false;
  #calledMeanwhile = false;
  #silentReadings = 0;
  #isOver = false;

  constructor(parts: WatchStreamParts, membershipId: string, from: number, signal: AbortSignal) {
    this.#parts = parts;
    this.#membershipId = membershipId;
    this.#at = from;
    this.#signal = signal;
    if (signal.aborted) return;
    const readOn = () => void this.#readOn();
    const undo = parts.onAppended(readOn);
    const timer = setInterval(readOn, POLL_MS);
    signal.addEventListener('abort', () => {
      undo();
      clearInterval(timer);
    });
    readOn();
  }

  next(): Said | 'wait' | 'end' {
    const said = this.#held.shift();
    if (said === undefined) return this.#isOver ? 'end' : 'wait';
    if (this.#held.length === 0) void this.#readOn();
    return said;
  }

  onMore(call: () => void): void {
    if (this.#signal.aborted) return;
    this.#waiting.add(call);
    this.#signal.addEventListener('abort', () => this.#waiting.delete(call));
  }

  async #readOn(): Promise<void> {
    if (this.#isReading) {
      this.#calledMeanwhile = true;
      return;
    }
    if (this.#isOver || this.#signal.aborted || this.#held.length > 0) return;
    this.#isReading = true;
    try {
      do {
        this.#calledMeanwhile = false;
        await this.#read();
      } while (this.#calledMeanwhile && this.#held.length === 0 && !this.#isOver);
    } finally {
      this.#isReading = false;
    }
    if (this.#held.length > 0 || this.#isOver) for (const call of this.#waiting) call();
  }

  async #read(): Promise<void> {
    const read = await this.#parts.watchlist.after(this.#membershipId, this.#at, AT_ONCE);
    if (read instanceof Unread) {
      this.#silentReadings += 1;
      if (this.#silentReadings >= SILENT_READINGS_MAX) this.#end(read.why.reason);
      return;
    }
    this.#silentReadings = 0;
    const { changes, newest, oldest } = read.value;
    if (newest < this.#at) {
      this.#isOver = true;
      return;
    }
    const first = oldest === null ? newest + 1 : oldest;
    if (this.#at < first - 1) {
      this.#held.push(watchStream.gap(this.#at + 1, first - 1));
      this.#at = first - 1;
    }
    for (const change of changes) this.#held.push(written(change));
    const last = changes.at(-1);
    if (last !== undefined) this.#at = last.seq;
  }

  #end(reason: string): void {
    this.#held.push(watchStream.unread(reason));
    this.#isOver = true;
  }
}

function written(change: WatchChange): Said {
  return watchStream.event('change', change.seq, changeShown(change));
}
