// Answers one question: what waits to be sent to one reader, and how much of it.
// Messages wait here and not in the socket, so that they can be counted, and taken back from a
// reader that lags. Their bytes are shared by all readers.

import type { Writable } from 'node:stream';
import type { Sendable } from '../contract/message.ts';

/** Sent messages leave the list of the waiting ones when there are this many of them. */
const SENT_KEPT_MAX = 1_024;

/** Where a reader's messages go: the socket of a frame, the response of an event. */
export type Outlet = {
  readonly stream: Writable;
  readonly bytesOf: (message: Sendable) => Buffer;
};

/** How much may wait. */
export type OutputLimits = { readonly queueBytesMax: number; readonly queueMessagesMax: number };

/** Hands on, at the end of an event-loop tick, what was said in it. */
export type Flusher = (output: Output) => void;

/** One flusher for the readers of a process: what they are sent leaves together. */
export function createFlusher(): Flusher {
  let waiting: Output[] = [];
  const flushAll = () => {
    const those = waiting;
    waiting = [];
    for (const output of those) output.flush();
  };
  return (output) => {
    waiting.push(output);
    if (waiting.length === 1) setImmediate(flushAll);
  };
}

/** The messages that one reader has not been sent yet. */
export class Output {
  /** The last number that was handed to the socket. */
  sent = 0;
  readonly #outlet: Outlet;
  readonly #limits: OutputLimits;
  readonly #flusher: Flusher;
  #waiting: Sendable[] = [];
  #next = 0;
  #bytes = 0;
  #scheduled = false;
  #taking = false;
  #onRoom: (() => void) | null = null;

  constructor(outlet: Outlet, limits: OutputLimits, flusher: Flusher) {
    this.#outlet = outlet;
    this.#limits = limits;
    this.#flusher = flusher;
    outlet.stream.on('drain', () => {
      this.#taking = true;
      this.flush();
    });
  }

  /** Whether no more should be said for now. */
  get full(): boolean {
    const { queueBytesMax, queueMessagesMax } = this.#limits;
    return (
      this.#bytes + this.#outlet.stream.writableLength >= queueBytesMax ||
      this.#waiting.length - this.#next >= queueMessagesMax
    );
  }

  /** Whether the reader has taken anything since this was asked last. */
  hasTaken(): boolean {
    const taken = this.#taking;
    this.#taking = false;
    return taken;
  }

  say(message: Sendable): void {
    this.#waiting.push(message);
    this.#bytes += this.#outlet.bytesOf(message).length;
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#flusher(this);
  }

  /** Resolves when half of what may wait is free, or the output is cleared. */
  roomMade(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }

  /** Hands to the socket as much as it takes; the rest goes when it has drained. */
  flush(): void {
    this.#scheduled = false;
    const { stream } = this.#outlet;
    const many = this.#waiting.length - this.#next > 1;
    if (many) stream.cork();
    while (this.#next < this.#waiting.length && !stream.writableNeedDrain && stream.writable) {
      this.#hand();
    }
    if (many) stream.uncork();
    if (this.#next === this.#waiting.length || this.#next > SENT_KEPT_MAX) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    this.#tellRoom();
  }

  /** Hands everything to the socket, whether it takes it or not: the stream ends after it. */
  flushAll(): void {
    const { stream } = this.#outlet;
    stream.cork();
    while (this.#next < this.#waiting.length && stream.writable) this.#hand();
    stream.uncork();
    this.clear();
  }

  /** Forgets what waits. */
  clear(): void {
    this.#waiting = [];
    this.#next = 0;
    this.#bytes = 0;
    this.#tellRoom();
  }

  #hand(): void {
    const message = this.#waiting[this.#next];
    if (message === undefined) return;
    this.#next += 1;
    const bytes = this.#outlet.bytesOf(message);
    this.#bytes -= bytes.length;
    if (message.seq !== null) this.sent = message.seq;
    this.#outlet.stream.write(bytes);
  }

  #tellRoom(): void {
    if (this.#onRoom === null) return;
    const { queueBytesMax, queueMessagesMax } = this.#limits;
    const unsent = this.#bytes + this.#outlet.stream.writableLength;
    const count = this.#waiting.length - this.#next;
    if (unsent * 2 > queueBytesMax || count * 2 > queueMessagesMax) return;
    const tell = this.#onRoom;
    this.#onRoom = null;
    tell();
  }
}
