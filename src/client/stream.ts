// Follows a stream through every break of the line. It resumes from the last number that it read,
// gives each event once and in order, and gives what can no longer be had as a gap. It runs in a
// browser and in Node.js.

import type { z } from 'zod';

type Kinds = { readonly [type: string]: z.ZodType };
type MessageOf<K extends Kinds> = {
  [T in keyof K & string]: { readonly type: T } & z.output<K[T]>;
}[keyof K & string];

/** The events of a declared stream. */
export type EventOf<R extends { readonly events: Kinds }> = MessageOf<R['events']> & {
  readonly seq: number;
};

/** The items that a follower receives, one by one. */
export type StreamItem<E> =
  | { readonly kind: 'event'; readonly seq: number; readonly event: E }
  /** From `from` to `to`, both included, nothing can be had any more. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  /** A message that is no event: the welcome of each connection, errors, answers to frames. */
  | { readonly kind: 'notice'; readonly notice: { readonly type: string } }
  /**
   * The line broke or did not open, and is opened anew; until the next welcome nobody looks.
   * `refusal` is what the service said, where it said why.
   */
  | {
      readonly kind: 'broken';
      readonly refusal: { readonly status: number; readonly body: unknown } | null;
    }
  /** The last item: the service refused, and asking again would not change that. */
  | { readonly kind: 'stopped'; readonly status: number; readonly body: unknown };

/** The stream to follow, with options. */
export type FollowOptions = {
  /** The service, without a path. */
  readonly baseUrl: string | URL;
  /** The paths of its WebSocket and of its server-sent events. */
  readonly stream: { readonly path: string; readonly eventsPath: string };
  /** An access token or a key. */
  readonly token?: string;
  readonly query?: { readonly [name: string]: string };
  /** The last number that is known; without it only what comes is given. */
  readonly since?: number;
  /** Ends the following. */
  readonly signal?: AbortSignal;
  /**
   * Has WebSockets opened where it is given (a browser's own, or that of a library); they carry the
   * token in their query. Without it the twin of server-sent events is read.
   */
  readonly WebSocket?: SocketClass;
  /** The wait after a first failure, and the longest after many. */
  readonly backoffMs?: number;
  readonly backoffMaxMs?: number;
};

const BACKOFF_MS = 250;
const BACKOFF_MAX_MS = 30_000;
/** Doublings beyond this have long met the longest wait. */
const DOUBLINGS_MAX = 20;
/** The longest silence before a welcome has said how often a heartbeat comes. */
const SILENCE_MS = 60_000;
const HEARTBEATS_MISSED_MAX = 3;
const MS_PER_S = 1_000;
/** A client's fault, which the next attempt would repeat. */
const FAULT_OF_THE_CALLER = 400;
const FAULT_OF_THE_SERVICE = 500;

type Place = { at: number | null; silenceMs: number };

type Ended = {
  /** It said more than its welcome, so that the next one need not wait long. */
  readonly moved: boolean;
  readonly refused: StreamRefused | null;
  readonly opened: boolean;
};

/** Follows a stream until the signal ends it or the service refuses. */
export async function* followStream<E extends { readonly type: string; readonly seq: number }>(
  options: FollowOptions,
): AsyncGenerator<StreamItem<E>, void> {
  const { signal, backoffMs = BACKOFF_MS, backoffMaxMs = BACKOFF_MAX_MS } = options;
  const place: Place = {
    at: options.since === undefined ? null : options.since,
    silenceMs: SILENCE_MS,
  };
  let failures = 0;
  let bySocket = options.WebSocket !== undefined;
  while (!isAborted(signal)) {
    const ended: Ended = yield* connection<E>(options, place, bySocket);
    const { refused } = ended;
    if (refused !== null) {
      const { status, body } = refused;
      if (status >= FAULT_OF_THE_CALLER && status < FAULT_OF_THE_SERVICE) {
        yield { kind: 'stopped', status, body };
        return;
      }
    }
    if (isAborted(signal)) return;
    const refusal = refused === null ? null : { status: refused.status, body: refused.body };
    yield { kind: 'broken', refusal };
    // A browser is not told why a WebSocket did not open: its twin says it, or serves instead.
    bySocket = options.WebSocket !== undefined && (ended.opened || !bySocket);
    failures = ended.moved ? 0 : failures + 1;
    const longest = Math.min(backoffMs * 2 ** Math.min(failures, DOUBLINGS_MAX), backoffMaxMs);
    const asked = refused?.retryAfterS ?? 0;
    await pause(Math.min(asked * MS_PER_S, backoffMaxMs) + longest * Math.random(), signal);
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

async function* connection<E extends { readonly type: string; readonly seq: number }>(
  options: FollowOptions,
  place: Place,
  bySocket: boolean,
): AsyncGenerator<StreamItem<E>, Ended> {
  const controller = new AbortController();
  const { signal } = controller;
  const leave = () => controller.abort();
  options.signal?.addEventListener('abort', leave, { once: true });
  let opened = false;
  let moved = false;
  try {
    const said = opening(options, place, bySocket, signal);
    for (;;) {
      // The line may be cut without a word: then the heartbeats are missing.
      const silent = setTimeout(leave, place.silenceMs);
      const next = await said.next().finally(() => clearTimeout(silent));
      if (next.done === true) return { moved, opened, refused: null };
      moved ||= opened;
      opened = true;
      for (const item of itemsOf<E>(next.value, place)) yield item;
    }
  } catch (fault) {
    // After any broken connection, the next one shows whether the service refuses.
    return { moved, opened, refused: refusalIn(fault) };
  } finally {
    options.signal?.removeEventListener('abort', leave);
    leave();
  }
}

function opening(
  { baseUrl, stream, token, query, WebSocket }: FollowOptions,
  { at }: Place,
  bySocket: boolean,
  signal: AbortSignal,
): AsyncGenerator<StreamFrame, void> {
  const url = new URL(bySocket ? stream.path : stream.eventsPath, baseUrl);
  for (const [name, value] of Object.entries({ ...query })) url.searchParams.set(name, value);
  if (at !== null) url.searchParams.set('since', String(at));
  if (!bySocket || WebSocket === undefined) return parseEvents(url, token, signal);
  url.protocol = url.protocol.replace('http', 'ws');
  if (token !== undefined) url.searchParams.set('token', token);
  return messagesOf(url, WebSocket, signal);
}

/** The items that a message gives its follower, and the follower's new position. */
function itemsOf<E extends { readonly type: string; readonly seq: number }>(
  said: StreamFrame,
  place: Place,
): StreamItem<E>[] {
  switch (said.type) {
    case 'welcome': {
      if (said.heartbeat_s !== undefined) {
        place.silenceMs = said.heartbeat_s * MS_PER_S * HEARTBEATS_MISSED_MAX;
      }
      const isBehind = said.seq !== undefined && place.at !== null && said.seq < place.at;
      const gap = isBehind
        ? restartAt(said.seq, place)
        : said.gap === undefined || said.gap === null
          ? []
          : gapsOf(said.gap.from, said.gap.to, place);
      reach(said.seq, place);
      return [{ kind: 'notice', notice: said }, ...gap];
    }
    case 'heartbeat':
      reach(said.seq, place);
      return [];
    case 'gap':
      return said.from === undefined || said.to === undefined
        ? []
        : gapsOf(said.from, said.to, place);
    case 'lagged':
      return [{ kind: 'notice', notice: said }];
    default: {
      if (said.seq === undefined) return [{ kind: 'notice', notice: said }];
      // After a break the service may say again what was told before it.
      if (place.at !== null && said.seq <= place.at) return [];
      place.at = said.seq;
      return [{ kind: 'event', seq: said.seq, event: said as E }];
    }
  }
}

function gapsOf(from: number, to: number, place: Place): StreamItem<never>[] {
  const known = place.at === null ? from - 1 : place.at;
  if (to <= known) return [];
  place.at = to;
  return [{ kind: 'gap', from: Math.max(from, known + 1), to }];
}

// The service does not know the numbers that this follower has: its log was put back to an earlier
// day. They will be given to other events, which must not be taken for those that were had.
function restartAt(seq: number, place: Place): StreamItem<never>[] {
  const to = place.at === null ? seq : place.at;
  place.at = seq;
  return [{ kind: 'gap', from: seq + 1, to }];
}

function reach(seq: number | undefined, place: Place): void {
  if (seq === undefined) return;
  place.at = place.at === null ? seq : Math.max(place.at, seq);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });
}

// Server-sent events are read by `fetch`, because it can send a header.

/** The answer of the service in place of a stream. */
export type StreamRefused = {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterS: number | null;
};

class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly refused: StreamRefused;
  constructor(refused: StreamRefused) {
    super(`refused with ${refused.status}`);
    this.refused = refused;
  }
}

/** The refusal that a fault stands for; `null` for any other. */
export function refusalIn(fault: unknown): StreamRefused | null {
  return fault instanceof RefusedError ? fault.refused : null;
}

/** The longest event that is taken, and the longest body of a refusal. */
const EVENT_CHARS_MAX = 1024 * 1024;
const REFUSAL_CHARS_MAX = 64 * 1024;
const FIELD = 'data:';

/** The messages of a stream of events, until it ends; it rejects where it breaks or is refused. */
export async function* parseEvents(
  url: URL,
  token: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<StreamFrame, void> {
  const headers = {
    accept: 'text/event-stream',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  // A redirect is not followed: the token goes where it was meant to.
  const response = await fetch(url, { headers, redirect: 'manual', signal });
  const { body, status } = response;
  const type = response.headers.get('content-type');
  if (status !== 200 || body === null || type?.startsWith('text/event-stream') !== true) {
    throw new RefusedError(await refusalOf(response));
  }
  let text = '';
  for await (const chunk of textOf(body)) {
    text += chunk.replaceAll('\r', '');
    let end = text.indexOf('\n\n');
    while (end !== -1) {
      const lines = text.slice(0, end).split('\n');
      const said = lines.filter((line) => line.startsWith(FIELD));
      const data = said.map((line) => line.slice(FIELD.length).trimStart()).join('\n');
      text = text.slice(end + 2);
      if (data !== '') yield parseFrame(data);
      end = text.indexOf('\n\n');
    }
    if (text.length > EVENT_CHARS_MAX) throw new Error('an event is longer than is taken');
  }
}

// Not every browser lets a body be walked by itself.
async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function refusalOf(response: Response): Promise<StreamRefused> {
  let text = '';
  if (response.body !== null) {
    for await (const chunk of textOf(response.body)) {
      text += chunk;
      if (text.length > REFUSAL_CHARS_MAX) break;
    }
  }
  const asked = response.headers.get('retry-after');
  const retryAfterS = asked !== null && /^\d{1,10}$/.test(asked) ? Number(asked) : null;
  return { status: response.status, body: bodyIn(text), retryAfterS };
}

// A proxy may refuse in words of its own.
function bodyIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (fault) {
    if (fault instanceof SyntaxError) return text;
    throw fault;
  }
}

/** A message as it came; in the stream's own messages these fields have these types. */
export type StreamFrame = {
  readonly type: string;
  readonly seq?: number;
  readonly heartbeat_s?: number;
  readonly gap?: Range | null;
  readonly from?: number;
  readonly to?: number;
};

type Range = { readonly from: number; readonly to: number };

/** Takes a text for a message. Throws where it is none: whoever sent it is no stream. */
export function parseFrame(text: string): StreamFrame {
  const said: unknown = JSON.parse(text);
  if (!isFrame(said)) throw new Error('what came is no message of a stream');
  return said;
}

function isFrame(said: unknown): said is StreamFrame {
  if (typeof said !== 'object' || said === null) return false;
  const { type, seq, heartbeat_s, gap, from, to } = said as { readonly [name: string]: unknown };
  const isRange = gap === undefined || gap === null || isFrameRange(gap);
  const numbers = [seq, heartbeat_s, from, to].filter((one) => one !== undefined);
  return typeof type === 'string' && isRange && numbers.every(Number.isSafeInteger);
}

function isFrameRange(gap: unknown): boolean {
  if (typeof gap !== 'object' || gap === null || !('from' in gap) || !('to' in gap)) return false;
  return Number.isSafeInteger(gap.from) && Number.isSafeInteger(gap.to);
}

/**
 * The part of a WebSocket that the client uses: a browser's, or a library's with the same
 * interface.
 */
type SocketLike = {
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  close(): void;
};

/** The class of WebSockets. */
export type SocketClass = new (url: string) => SocketLike;

/** Messages that may wait for who follows; it is behind then, and resumes from where it is. */
const WAITING_MAX = 10_000;

/** The messages of a WebSocket, until it closes or the signal ends it. */
export async function* messagesOf(
  url: URL,
  WebSocket: SocketClass,
  signal: AbortSignal,
): AsyncGenerator<StreamFrame, void> {
  const waiting: unknown[] = [];
  let closed = false;
  let wake: () => void = () => undefined;
  const socket = new WebSocket(url.href);
  const end = () => {
    closed = true;
    wake();
  };
  socket.onmessage = ({ data }: { readonly data: unknown }) => {
    if (closed) return;
    waiting.push(data);
    wake();
    if (waiting.length < WAITING_MAX) return;
    end();
    socket.close();
  };
  socket.onclose = end;
  // A close follows each error.
  socket.onerror = () => undefined;
  signal.addEventListener('abort', () => {
    end();
    socket.close();
  });
  while (!signal.aborted) {
    if (waiting.length > 0) {
      for (const data of waiting.splice(0)) yield parseFrame(String(data));
    } else if (closed) return;
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}
