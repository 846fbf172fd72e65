// The one outbound client of sockets. What is heard counts only while a heartbeat of the same
// connection arrives: a socket that is open and silent is a fault, and a time without a heartbeat
// is not covered. A fault names no part of an address.

import { WebSocket } from 'ws';
import { MS_PER_S } from '../../chain/time.ts';
import type { SeriesSpan } from '../../ports/series.ts';
import { jsonIn } from '../http/fetch.ts';
import { asFault, credentialOf, FetchFault, seconds, wayOf } from '../http/outbound-call.ts';

/** A message: rows, the heartbeat with the venue's time in ms, or a word about the asking. */
export type HeardMessage<R> =
  | { readonly kind: 'rows'; readonly rows: readonly R[] }
  | { readonly kind: 'heartbeat'; readonly at: number }
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'other' };

/** A stream of a venue. */
export type SocketPlan<R> = {
  readonly url: URL;
  /** What is sent on every connection, anew. */
  readonly subscriptions: readonly string[];
  /** What is sent each `eachMs`, for a server that hears nothing closes. */
  readonly ping: { readonly text: string; readonly eachMs: number } | null;
  /** Reads a message; throws `FetchFault` for one of another form. */
  readonly read: (message: unknown) => HeardMessage<R>;
  /** So long after its time a row may still arrive. */
  readonly lateMs: number;
};

/** The bounds of a connection, and of what follows its end. */
export type SocketBounds = {
  /** For the connection and the word that the subscription holds. */
  readonly openMs: number;
  /** A heartbeat comes at least so often. */
  readonly heartbeatMs: number;
  /** A clock of the venue that is further off tells no time. */
  readonly clockOffMs: number;
  readonly messageBytesMax: number;
  readonly messagesASecondMax: number;
  readonly bytesASecondMax: number;
  /** Rows that wait for the next heartbeat. */
  readonly rowsMax: number;
  /** A connection is given up after so long, before the venue does. */
  readonly livesMs: number;
  /** The wait before the next connection, doubled after each that heard nothing. */
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
};

export const SOCKET_BOUNDS: SocketBounds = {
  openMs: 15_000,
  heartbeatMs: 15_000,
  clockOffMs: 60_000,
  messageBytesMax: 2 ** 20,
  messagesASecondMax: 2_000,
  bytesASecondMax: 4 * 2 ** 20,
  rowsMax: 20_000,
  livesMs: 23 * 3_600_000,
  backoffMs: 1_000,
  backoffMaxMs: 300_000,
};

/** Takes what a heartbeat closes: the rows since the one before it, and the time between. */
export type SocketSink<R> = {
  readonly onHeard: (rows: readonly R[], covered: SeriesSpan | null) => void;
  readonly onFault: (fault: string) => void;
};

type Clock = {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** Listens, connection after connection, until the signal. */
export async function hearSocket<R>(
  plan: SocketPlan<R>,
  bounds: SocketBounds,
  sink: SocketSink<R>,
  { nowMs, pause }: Clock,
  signal: AbortSignal,
): Promise<void> {
  let wait = bounds.backoffMs;
  while (!signal.aborted) {
    const end = await hearOnce(plan, bounds, sink, nowMs, signal);
    if (signal.aborted) return;
    sink.onFault(end.fault);
    wait = end.hasHeard ? bounds.backoffMs : Math.min(wait * 2, bounds.backoffMaxMs);
    await pause(wait, signal);
  }
}

type End = { readonly fault: string; readonly hasHeard: boolean };

/** One connection to its end. */
function hearOnce<R>(
  plan: SocketPlan<R>,
  bounds: SocketBounds,
  sink: SocketSink<R>,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<End> {
  return new Promise((resolve, fail) => {
    const socket = openSocket(plan.url, bounds);
    const heard = new Heard(plan, bounds, sink, nowMs);
    const timers = new Set<NodeJS.Timeout>();
    let isOver = false;
    const end = (fault: string): void => {
      if (isOver) return;
      isOver = true;
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      socket.terminate();
      resolve({ fault, hasHeard: heard.hasHeard });
    };
    const stop = (): void => end('was stopped');
    /** A fault of the venue ends the connection; anything else is a bug, and ends the hearing. */
    const reject = (error: unknown): void => {
      if (!(error instanceof FetchFault)) fail(error);
      end(error instanceof FetchFault ? error.fault : 'broke the client');
    };
    const tryTo = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        reject(error);
      }
    };
    const watch = setInterval(() => tryTo(() => heard.requireAlive()), WATCH_MS);
    timers.add(watch);
    timers.add(setTimeout(() => end('is asked again after a day'), bounds.livesMs));
    signal.addEventListener('abort', stop, { once: true });
    // A connection that was given up goes on to fail: its words belong to nobody then.
    socket.on('error', (error) => end(faultOf(error, bounds)));
    socket.on('close', () => end('closed the connection'));
    socket.on('open', () => {
      for (const text of plan.subscriptions) socket.send(text);
      const { ping } = plan;
      if (ping !== null) timers.add(setInterval(() => socket.send(ping.text), ping.eachMs));
    });
    socket.on('message', (data, isBinary) => {
      if (!isOver) tryTo(() => heard.take(isBinary ? null : String(data)));
    });
    if (signal.aborted) stop();
  });
}

/** How often a connection is looked at for silence. */
const WATCH_MS = 250;

function openSocket(address: URL, { openMs, messageBytesMax }: SocketBounds): WebSocket {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  const web = new URL(url.href.replace(/^ws/, 'http'));
  const way = wayOf(web);
  return new WebSocket(url, {
    handshakeTimeout: openMs,
    maxPayload: messageBytesMax,
    followRedirects: false,
    perMessageDeflate: false,
    headers: { 'user-agent': 'exhibit', ...credentialOf(address) },
    ...(way?.agent === undefined ? null : { agent: way.agent }),
  });
}

const ANSWERED = /^Unexpected server response: (\d{3})$/;

/** The fault of an error of a socket, by its code or by the status of its refusal. */
function faultOf(error: Error, { openMs, messageBytesMax }: SocketBounds): string {
  const answered = ANSWERED.exec(error.message);
  if (answered !== null) return `answered ${answered[1]} to a socket`;
  if (error.message === 'Opening handshake has timed out') {
    return `did not open a socket within ${seconds(openMs)}`;
  }
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') {
    return `sent a message over ${messageBytesMax} bytes`;
  }
  const told = asFault(error);
  return told instanceof FetchFault ? told.fault : 'broke the protocol of sockets';
}

/** What one connection has told, up to its last heartbeat. */
class Heard<R> {
  readonly #plan: SocketPlan<R>;
  readonly #bounds: SocketBounds;
  readonly #sink: SocketSink<R>;
  readonly #nowMs: () => number;
  readonly #since: number;
  #rows: R[] = [];
  #confirmed = false;
  /** By our clock, when the last heartbeat came; and the venue's time up to which is covered. */
  #beatAt: number | null = null;
  #coveredTo: number | null = null;
  #second = { from: 0, messages: 0, bytes: 0 };
  hasHeard = false;

  constructor(plan: SocketPlan<R>, bounds: SocketBounds, sink: SocketSink<R>, nowMs: () => number) {
    this.#plan = plan;
    this.#bounds = bounds;
    this.#sink = sink;
    this.#nowMs = nowMs;
    this.#since = performance.now();
  }

  /** Throws where the subscription is not confirmed, or the heartbeat is missed. */
  requireAlive(): void {
    const now = performance.now();
    const { openMs, heartbeatMs } = this.#bounds;
    if (!this.#confirmed && now - this.#since > openMs) {
      throw new FetchFault(`did not confirm the subscription within ${seconds(openMs)}`);
    }
    const last = this.#beatAt === null ? this.#since + openMs : this.#beatAt;
    if (this.#confirmed && now - last > heartbeatMs) {
      throw new FetchFault(`is open and silent: no heartbeat within ${seconds(heartbeatMs)}`);
    }
  }

  take(text: string | null): void {
    if (text === null) throw new FetchFault('sent bytes in place of text');
    this.#count(text);
    const message = jsonIn(text);
    if (message === undefined) throw new FetchFault('sent a message that is no JSON');
    const told = this.#plan.read(message);
    if (told.kind === 'refused') throw new FetchFault('refused the subscription');
    if (told.kind === 'confirmed') this.#confirmed = true;
    if (told.kind === 'rows') this.#rows.push(...told.rows);
    if (this.#rows.length > this.#bounds.rowsMax) {
      throw new FetchFault(`sent over ${this.#bounds.rowsMax} rows between two heartbeats`);
    }
    if (told.kind === 'heartbeat' && this.#confirmed) this.#beat(told.at);
  }

  #count(text: string): void {
    const { messagesASecondMax, bytesASecondMax } = this.#bounds;
    const now = performance.now();
    if (now - this.#second.from >= MS_PER_S) this.#second = { from: now, messages: 0, bytes: 0 };
    this.#second.messages += 1;
    this.#second.bytes += Buffer.byteLength(text);
    if (this.#second.messages > messagesASecondMax) {
      throw new FetchFault(`sent over ${messagesASecondMax} messages in a second`);
    }
    if (this.#second.bytes > bytesASecondMax) {
      throw new FetchFault(`sent over ${bytesASecondMax} bytes in a second`);
    }
  }

  #beat(at: number): void {
    const { clockOffMs, heartbeatMs } = this.#bounds;
    if (Math.abs(at - this.#nowMs()) > clockOffMs) {
      throw new FetchFault(`tells a time that is over ${seconds(clockOffMs)} off`);
    }
    this.#beatAt = performance.now();
    this.hasHeard = true;
    const from = this.#coveredTo;
    const to = at - this.#plan.lateMs;
    // A heartbeat that leaps leaves what lies between open.
    const isNext = from !== null && to > from && to - from <= heartbeatMs;
    if (from === null || to - from > heartbeatMs) this.#coveredTo = at;
    else if (isNext) this.#coveredTo = to;
    const rows = this.#rows;
    this.#rows = [];
    this.#sink.onHeard(rows, isNext ? { from, to } : null);
  }
}
