// One reader's stream. It takes messages from a source only while the reader takes them, and knows
// nothing of sockets.

import type { Writable } from 'node:stream';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Caller } from '../contract/route.ts';
import type { AnyStreamRoute, Sendable, StreamSource } from '../contract/stream.ts';

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

export class StreamReader {
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

  // A call during a wait for room, or for another event-loop tick, changes nothing.
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
        if (burst === BURST_MAX) return this.#takeLater(source, othersTurn());
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

  // A client that takes bytes is alive, although a pong may wait behind them.
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

  // Unsent messages are dropped, so that the reader learns soon from where it can resume.
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

// Messages wait here and not in the socket, so that they can be counted, and taken back from a
// reader that lags. Their bytes are shared by all readers.

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

/** The bounds of the streams of a process. */
export type StreamLimits = {
  /** Open streams of the process, whoever reads them. */
  readonly connectionsMax: number;
  /** Unsent bytes and messages of one reader, past which nothing more is taken for it. */
  readonly queueBytesMax: number;
  readonly queueMessagesMax: number;
  /** How long a reader may stay past them before it is told that it lags. */
  readonly lagMs: number;
  /** The largest frame of a client, and how many it may send at once and each second after. */
  readonly frameBytesMax: number;
  readonly framesAtOnceMax: number;
  readonly framesPerSecondMax: number;
  /** How long a handler may take to open a stream. */
  readonly openMs: number;
  /** How long a closing handshake, or the end of a stream, may take. */
  readonly closeMs: number;
  /** How often it is asked again whether a credential still opens its streams. */
  readonly recheckMs: number;
  /** How long one stream of server-sent events lives: its reader cannot be asked for a pong. */
  readonly eventsLifeMs: number;
};

/** The bounds in force. */
export const STREAM_LIMITS: StreamLimits = {
  connectionsMax: 20_000,
  queueBytesMax: 1024 * 1024,
  queueMessagesMax: 10_000,
  lagMs: 5_000,
  frameBytesMax: 4 * 1024,
  framesAtOnceMax: 20,
  framesPerSecondMax: 5,
  openMs: 10_000,
  closeMs: 2_000,
  recheckMs: 60_000,
  eventsLifeMs: 60 * 60 * 1_000,
};

/** Open streams of one credential, by its tier or plan. All who send none share one bound. */
export const CONNECTIONS_MAX = {
  free: 10,
  pro: 100,
  desk: 1_000,
  analyst: 10,
  enterprise: 1_000,
  partner: 10,
  session: 10,
  operator: 100,
  anonymous: 1_000,
} as const;

/** A name under which streams are counted together, in answers and in the metrics. */
export type StreamScope = keyof typeof CONNECTIONS_MAX;

/** On whose account a stream is open, and how many more of it there may be. */
export type StreamHolder = {
  readonly id: string;
  readonly scope: StreamScope;
  readonly limit: number;
};

/** On whose account a caller's streams are counted. */
export function holderOf(caller: Caller): StreamHolder {
  const [id, scope] = account(caller);
  return { id, scope, limit: CONNECTIONS_MAX[scope] };
}

function account(caller: Caller): readonly [string, StreamScope] {
  switch (caller.kind) {
    case 'nobody':
      return ['anonymous', 'anonymous'];
    case 'token':
      return [`token:${caller.token_id}`, caller.tier];
    case 'member':
      return [`key:${caller.key_id}`, caller.plan];
    case 'partner':
      return [`key:${caller.key_id}`, 'partner'];
    case 'session':
      return [`session:${caller.session_id}`, 'session'];
    case 'operator':
      return ['operator', 'operator'];
    default:
      throw new Error(`no streams are counted for ${JSON.stringify(caller satisfies never)}`);
  }
}
