// /ws/watchlist and its twin /sse/watchlist: what changes of the addresses that the membership of
// a key watches, in the order and under the numbers of its log. Each reader reads its own log
// alone, and holds at most one chunk of it.

import { z } from 'zod';
import { Refusal } from '../../contract/refusals.ts';
import {
  type StreamHandler,
  type StreamMessage,
  type StreamSource,
  standingIn,
  streamRoute,
} from '../../contract/stream.ts';

import { placeOrBeginning } from '../../evidence/measure.ts';
import { Unread } from '../../evidence/reading.ts';
import { type Watchlist, watchChange } from './shapes.ts';

type WatchStreamPorts = {
  readonly watchlist: Pick<Watchlist, 'after'>;
  readonly onAppended: (call: () => void) => () => void;
};

export const watchStream = streamRoute({
  name: 'watch_stream',
  surface: 'hosted',
  path: '/ws/watchlist',
  eventsPath: '/sse/watchlist',
  summary: 'What changes of the addresses that the membership watches, as it is found.',
  access: 'analyst',
  query: z.strictObject({}),
  welcome: z.strictObject({}),
  events: { change: watchChange },
  notices: {},
  asks: {},
  refused: {},
});

type WatchMessage = StreamMessage<'watch_stream'>;

/** How long a change may go unnoticed where the bus is silent. */
const POLL_MS = 5_000;
const AT_ONCE = 100;
/** Readings that may fail one after another before the stream ends: a heartbeat over a log that
 * nobody reads would say that nothing changed. */
const SILENT_READINGS_MAX = 5;
/** After this a reader may ask again whether the log can be read. */
const RETRY = { 'retry-after': '5' };
/** @internal The handler of the stream. */
export function watchStreamHandler(ports: WatchStreamPorts): StreamHandler<typeof watchStream> {
  return async ({ caller, since, signal }) => {
    if (caller.kind !== 'member') throw new Error('a watchlist needs a membership');
    const { membership_id } = caller;
    const from = placeOrBeginning(since);
    const bounds = await ports.watchlist.after(membership_id, from, 1);
    if (bounds instanceof Unread) {
      return new Refusal('overloaded', { error: bounds.why.reason }, RETRY);
    }
    const standing = standingIn(bounds.value, since);
    return {
      welcome: watchStream.welcome(standing),
      messages: new LogReader(ports, membership_id, standing.seq, signal),
    };
  };
}

class LogReader implements StreamSource<WatchMessage> {
  readonly #ports: WatchStreamPorts;
  readonly #membershipId: string;
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<() => void>();
  /** What was read and not yet taken, in order, and up to where it was read. */
  #held: WatchMessage[] = [];
  #at: number;
  #isReading = false;
  #calledMeanwhile = false;
  #silentReadings = 0;
  #isOver = false;

  constructor(ports: WatchStreamPorts, membershipId: string, from: number, signal: AbortSignal) {
    this.#ports = ports;
    this.#membershipId = membershipId;
    this.#at = from;
    this.#signal = signal;
    if (signal.aborted) return;
    const readOn = () => void this.#readOn();
    const undo = ports.onAppended(readOn);
    const timer = setInterval(readOn, POLL_MS);
    signal.addEventListener('abort', () => {
      undo();
      clearInterval(timer);
    });
    readOn();
  }

  next(): WatchMessage | 'wait' | 'end' {
    const message = this.#held.shift();
    if (message === undefined) return this.#isOver ? 'end' : 'wait';
    if (this.#held.length === 0) void this.#readOn();
    return message;
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
    const read = await this.#ports.watchlist.after(this.#membershipId, this.#at, AT_ONCE);
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
    for (const { seq, ...change } of changes) {
      this.#held.push(watchStream.event('change', seq, change));
    }
    const last = changes.at(-1);
    if (last !== undefined) this.#at = last.seq;
  }

  #end(reason: string): void {
    this.#held.push(watchStream.unread(reason));
    this.#isOver = true;
  }
}
