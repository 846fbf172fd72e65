// Answers one question: what holds for every call of an outside address, however it is made.
// It ends in its time or when it is stopped, and a body ends at its cap. User info goes as a header
// and nowhere else, and no fault names any part of a URL. It is made of node:http: undici 7.30
// throws past every handler when a server closes while a body waits for its reader.

import { type Agent, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { DAY_S, MS_PER_S } from '../../chain/time.ts';

/**
 * The outside did not give a usable answer. `fault` is product text without any part of a URL.
 * `too_large`: a body was over its cap or broke off; `stopped`: the caller's signal.
 */
export class FetchFault extends Error {
  readonly fault: string;
  readonly kind: 'failed' | 'too_large' | 'stopped';
  /** How long the server asked to wait, in milliseconds; `null` where it did not. */
  readonly waitMs: number | null;
  constructor(fault: string, kind: FetchFault['kind'] = 'failed', waitMs: number | null = null) {
    super(fault);
    this.name = 'FetchFault';
    this.fault = fault;
    this.kind = kind;
    this.waitMs = waitMs;
  }
}

/** A configured address as it may be shown: scheme and host, or `file:`. */
export function shownAddress(url: URL): string {
  return url.protocol === 'file:' ? 'file:' : `${url.protocol}//${url.host}`;
}

/** The user info of an address as basic authorisation; no header where it has none. */
export function credentialOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` };
}

/** A span as a fault says it. */
export function seconds(ms: number): string {
  return `${ms / MS_PER_S} s`;
}

/** When a call ends, and what it is told then. */
type CallBounds = {
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** What the call is called where it was stopped, and what it did not do in time. */
  readonly words: { readonly call: string; readonly late: string };
  /** Whether an error is the caller's own, to be thrown as it is. */
  readonly isOwn?: (error: unknown) => boolean;
};

/** What ends a call early, with a fault: the call gets its signal. */
export type CallEnd = { readonly signal: AbortSignal; readonly end: (fault: FetchFault) => void };

/** Makes a call within its bounds. What ended it is told, and not what that broke. */
export async function boundedCall<T>(
  { deadlineMs, signal, words, isOwn }: CallBounds,
  call: (ended: CallEnd) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const end = (fault: FetchFault): void => ended.abort(fault);
  const late = (): void => end(new FetchFault(`${words.late} within ${seconds(deadlineMs)}`));
  const deadline = setTimeout(late, deadlineMs);
  const stop = (): void => end(new FetchFault(`the ${words.call} was stopped`, 'stopped'));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    ended.signal.throwIfAborted();
    return await call({ signal: ended.signal, end });
  } catch (error) {
    if (ended.signal.aborted) throw ended.signal.reason;
    throw isOwn?.(error) === true ? error : asFault(error);
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', stop);
  }
}

/** One request. Its user info is no part of what is sent as its address. */
export type OneRequest = {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
  /** `false`: a connection of its own; `undefined`: the connections that the process keeps. */
  readonly agent: Agent | false | undefined;
  /** Which addresses a name may mean; absent: any. */
  readonly lookup?: LookupFunction;
  /** A proxy that is handed the request whole. */
  readonly via?: URL;
};

function withoutUserInfo(url: URL): URL {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return bare;
}

/** The user info of a proxy, as it asks for it. */
export function proxyCredentialOf(proxy: URL): Record<string, string> {
  const { authorization } = credentialOf(proxy);
  return authorization === undefined ? {} : { 'proxy-authorization': authorization };
}

/** Sends a request and gives the answer as it begins: its body is still to come. */
export function sent({ url, body, via, ...asked }: OneRequest): Promise<IncomingMessage> {
  const bare = withoutUserInfo(url);
  return new Promise((resolve, reject) => {
    const to = via === undefined ? bare : withoutUserInfo(via);
    const send = to.protocol === 'https:' ? secureRequest : plainRequest;
    const length = body === null ? null : { 'content-length': String(Buffer.byteLength(body)) };
    const whole = via === undefined ? null : { path: bare.href };
    const handed = via === undefined ? null : { host: bare.host, ...proxyCredentialOf(via) };
    const headers = { ...asked.headers, ...length, ...handed };
    const request = send(to, { ...asked, ...whole, headers }, resolve);
    // Once it has answered, an error belongs to the body, whose reader gets it.
    request.on('error', reject);
    request.end(body);
  });
}

/** The chunks of a body; over `bytesMax` bytes, or broken off, it is a fault. */
export async function* cappedChunks(
  body: IncomingMessage,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a body gave text, not bytes');
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw new FetchFault(`sent over ${bytesMax} bytes`, 'too_large');
      yield chunk;
    }
  } catch (error) {
    const broke = !body.complete && codeOf(error) === 'ECONNRESET';
    throw broke ? new FetchFault(CUT, 'too_large') : error;
  }
}

/** A body as a whole, within its cap. */
export async function wholeBody(body: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of cappedChunks(body, bytesMax)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const RETRY_AFTER_S = /^\d{1,9}$/;
const RETRY_AFTER_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** A server that asks to wait for longer than a day is taken to say a day. */
export const RETRY_AFTER_MAX_MS = DAY_S * MS_PER_S;

/** `Retry-After` in milliseconds, from seconds or a date; `null` where it says neither. */
export function retryAfterMs(value: string | undefined): number | null {
  if (value === undefined) return null;
  const date = RETRY_AFTER_DATE.test(value) ? Date.parse(value) - Date.now() : Number.NaN;
  const ms = RETRY_AFTER_S.test(value) ? Number(value) * MS_PER_S : date;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), RETRY_AFTER_MAX_MS);
}

const CUT = 'closed the connection early';
/** What codes of the system mean in words. */
const FAULTS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'refused the connection'],
  ['ENOTFOUND', 'its name was not found'],
  ['EAI_AGAIN', 'its name could not be looked up'],
  ['ECONNRESET', CUT],
  ['EPIPE', CUT],
  ['ERR_STREAM_PREMATURE_CLOSE', CUT],
  ['ETIMEDOUT', 'did not take the connection in time'],
]);
/** Codes of the network, of HTTP, of TLS and of streams: whatever else fails is a bug. */
const OUTSIDE = /^(HPE_|E[A-Z]+$|CERT_|ERR_TLS|ERR_SSL|ERR_STREAM|UNABLE_|DEPTH_|SELF_SIGNED)/;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The fault that an error means by its code. Its message is dropped: it may hold a URL. */
function asFault(error: unknown): unknown {
  if (error instanceof FetchFault) return error;
  const code = codeOf(error);
  const fault = FAULTS.get(code);
  if (fault !== undefined) return new FetchFault(fault);
  return OUTSIDE.test(code) ? new FetchFault(`the connection failed (${code})`) : error;
}
