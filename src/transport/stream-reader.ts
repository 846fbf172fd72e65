// Answers one question: how does one reader's stream run, and how does it end.
// It takes messages from a source only while the reader takes them, and knows nothing of sockets.

import { setImmediate } from 'node:timers/promises';
import type { Sendable } from '../contract/message.ts';
import type { AnyStreamRoute, StreamSource } from '../contract/stream.ts';
import type { StreamLimits } from './stream-limits.ts';
import { type Flusher, type Outlet, Output } from './stream-output.ts';

/** Why a stream ended, as it is counted. */
export type StreamEnd =
  | 'source_ended'
  | 'reader_left'
  | 'lagged'
  | 'no_pong'
  | 'frame_too_large'
  | 'too_many_frames'
  | 'bad_protocol'
  | 'credential'
  | 'lifetime'
  | 'fault'
  | 'going_away';

/** One of the two doors of a stream, once it is open. */
export type Door = Outlet & {
  /** Asks the reader for a pong; `null` where it cannot be asked. */
  readonly ping: (() => void) | null;
  /** Ends in order: what was handed on is sent first. */
  readonly close: (end: StreamEnd) => void;
  /** Ends at once. */
  readonly destroy: () => void;
};

/** What a stream is told of the world. */
export type ReaderParts = {
  readonly route: AnyStreamRoute;
  readonly limits: StreamLimits;
  readonly flusher: Flusher;
  /** Milliseconds in which the service did not stand still. */
  readonly nowMs: () => number;
  readonly onMessage: () => void;
  /** Told once, when the stream begins to end. */
  readonly onEnd: (end: StreamEnd) => void;
  readonly onFault: (fault: unknown) => void;
};

/** The shared heartbeat of a number. */
export type Heartbeat = (seq: number) => Sendable;

const MS_PER_S = 1_000;
/** A source that has much to say lets others have their turn after this many messages. */
const BURST_MAX = 128;

/** One open stream. */
export class Reader {
  readonly #door: Door;
  readonly #parts: ReaderParts;
  readonly #output: Output;
  readonly #heartbeatMs: number;
  readonly #endsMs: number;
  #ended: StreamEnd | null = null;
  #seq = 0;
  #beatMs: number;
  #heldMs: number | null = null;
  #waits = false;
  #alive = true;

  constructor(door: Door, parts: ReaderParts) {
    this.#door = door;
    this.#parts = parts;
    this.#output = new Output(door, parts.limits, parts.flusher);
    this.#heartbeatMs = parts.route.heartbeat_s * MS_PER_S;
    const openedMs = parts.nowMs();
    this.#beatMs = openedMs + this.#heartbeatMs;
    this.#endsMs = door.ping === null ? openedMs + parts.limits.eventsLifeMs : Infinity;
  }

  get ended(): boolean {
    return this.#ended !== null;
  }

  /** Says the welcome, and then what the source gives until either ends. */
  run(welcome: Sendable, source: StreamSource<Sendable>): void {
    this.say(welcome);
    source.onMore(() => this.#take(source));
    this.#take(source);
  }

  // Whatever calls while it waits for room, or lets others have their turn, is told nothing new.
  #take(source: StreamSource<Sendable>): void {
    if (this.#waits) return;
    this.doing(() => {
      for (let burst = 1; this.#ended === null; burst += 1) {
        const said = source.next();
        if (said === 'wait') return;
        if (said === 'end') this.end('source_ended');
        else if (typeof said === 'number') this.#seq = said;
        else this.say(said);
        if (this.#output.full) return this.#takeLater(source, this.#held());
        if (burst === BURST_MAX) return this.#takeLater(source, setImmediate());
      }
    });
  }

  #takeLater(source: StreamSource<Sendable>, after: Promise<void>): void {
    this.#waits = true;
    void after.then(() => {
      this.#waits = false;
      this.#take(source);
    });
  }

  /** Does what may fail by a fault of ours, which ends the stream. */
  doing(act: () => void): void {
    try {
      act();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  say(message: Sendable): void {
    if (this.#ended !== null) return;
    if (message.seq !== null) this.#seq = message.seq;
    this.#output.say(message);
    this.#parts.onMessage();
  }

  /** Says where the reader stands. */
  beat(heartbeat: Heartbeat): void {
    this.say(heartbeat(this.#seq));
  }

  /** The reader is there: it sent a pong, or anything else. */
  heardFrom(): void {
    this.#alive = true;
  }

  /** Looked at many times in each heartbeat: who lags or is gone is let go. */
  look(heartbeat: Heartbeat): void {
    if (this.#ended !== null) return;
    const now = this.#parts.nowMs();
    if (this.#heldMs !== null && now - this.#heldMs > this.#parts.limits.lagMs) this.#lag();
    else if (now > this.#endsMs) this.end('lifetime');
    else if (now >= this.#beatMs) {
      this.#beatMs = now + this.#heartbeatMs;
      if (this.#isThere() && !this.#output.full) this.beat(heartbeat);
    }
  }

  /** Its credential opens nothing any more. */
  shut(): void {
    this.say(this.#parts.route.own.error('unauthorized', 'The credential was revoked or expired.'));
    this.end('credential');
  }

  /** Ends in order: what waits is sent first. */
  end(end: StreamEnd): void {
    if (!this.#begins(end)) return;
    this.#output.flushAll();
    this.#door.close(end);
  }

  /** Ends at once: what waits is lost. */
  drop(end: StreamEnd): void {
    if (!this.#begins(end)) return;
    this.#output.clear();
    this.#door.destroy();
  }

  /** The socket has closed, by whomever. */
  closed(end: StreamEnd): void {
    this.#begins(end);
    this.#output.clear();
  }

  #begins(end: StreamEnd): boolean {
    if (this.#ended !== null) return false;
    this.#ended = end;
    this.#parts.onEnd(end);
    return true;
  }

  // Whoever takes bytes is there, although a pong may wait behind them.
  #isThere(): boolean {
    const taken = this.#output.hasTaken();
    if (this.#door.ping === null) return true;
    if (!this.#alive && !taken) {
      this.drop('no_pong');
      return false;
    }
    this.#alive = false;
    this.#door.ping();
    return true;
  }

  // A source whose reader has gone may end as it likes.
  #fail(fault: unknown): void {
    if (this.#ended !== null) return;
    this.#parts.onFault(fault);
    this.say(this.#parts.route.own.error('fault', 'A fault of the service ended this stream.'));
    this.end('fault');
  }

  // What waits is taken back, so that the reader learns soon from where it can resume.
  #lag(): void {
    const { sent } = this.#output;
    this.#output.clear();
    this.say(this.#parts.route.own.lagged(sent));
    this.end('lagged');
  }

  async #held(): Promise<void> {
    this.#heldMs = this.#parts.nowMs();
    await this.#output.roomMade();
    this.#heldMs = null;
  }
}
