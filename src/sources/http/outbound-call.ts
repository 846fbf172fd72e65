// One outbound call ends in its time or when it is stopped, and its body ends at its cap. User info
// goes as a header and nowhere else, and no fault names any part of a URL. The call is made of
// node:http: undici 7.30 throws past every handler when a server closes while a body waits for its
// reader.

import { type LookupAddress, lookup } from 'node:dns';
import {
  type Agent,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
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
export function originText(url: URL): string {
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
  /** The name of the stopped call, and the step that took too long. */
  readonly words: { readonly call: string; readonly late: string };
  /** Whether an error is the caller's own, to be thrown as it is. */
  readonly isOwn?: (error: unknown) => boolean;
};

/** Ends a call early, with a fault: the call gets its signal. */
export type CallEnd = { readonly signal: AbortSignal; readonly end: (fault: FetchFault) => void };

/** Makes a call within its bounds. What ended it is told, and not what that broke. */
export async function callWithin<T>(
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
export function sendRequest({ url, body, via, ...asked }: OneRequest): Promise<IncomingMessage> {
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
export async function* capChunks(
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
  for await (const chunk of capChunks(body, bytesMax)) chunks.push(chunk);
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
export function asFault(error: unknown): unknown {
  if (error instanceof FetchFault) return error;
  const code = codeOf(error);
  const fault = FAULTS.get(code);
  if (fault !== undefined) return new FetchFault(fault);
  return OUTSIDE.test(code) ? new FetchFault(`the connection failed (${code})`) : error;
}

// Names are judged by the addresses that a connection is then made to, in the same look-up, so that
// a name cannot mean one address when it is judged and another when it is asked.

/** Loopback, private, link-local and shared addresses, and those that no host on the web has. */
const INSIDE_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const;
const INSIDE_V6 = [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
  ['2002::', 16],
  ['2001::', 32],
] as const;
/** An IPv4 address written as IPv6 for a translator behind it. */
const TRANSLATED = { prefix: '64:ff9b::', bits: 96 } as const;

const INSIDE = new BlockList();
for (const [net, bits] of INSIDE_V4) {
  INSIDE.addSubnet(net, bits, 'ipv4');
  INSIDE.addSubnet(TRANSLATED.prefix + net, TRANSLATED.bits + bits, 'ipv6');
}
for (const [net, bits] of INSIDE_V6) INSIDE.addSubnet(net, bits, 'ipv6');

/** Whether an IP address lies inside. */
export type IsInside = (address: string) => boolean;

/** The rule of the real network. An IPv4 address mapped into IPv6 counts as itself. */
export const isInsideAddress: IsInside = (address) =>
  INSIDE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** The host of a URL as an IP address; `null` where it is a name. */
export function literalHost({ hostname }: URL): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

/** Which addresses a call may be made to, and what is said of any other. */
export type Reach = { readonly allowed: IsInside; readonly otherwise: string };

/** Refuses a literal address that may not be asked; names are for `lookupWithin`. */
export function refuseLiteral(url: URL, { allowed, otherwise }: Reach): void {
  const literal = literalHost(url);
  if (literal !== null && !allowed(literal)) throw new FetchFault(otherwise);
}

/** A look-up for a connection: a name that means any address out of reach fails it. */
export function lookupWithin({ allowed, otherwise }: Reach): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return done(error, '', 0);
      if (!found.every(({ address }) => allowed(address))) {
        return done(new FetchFault(otherwise), '', 0);
      }
      if (options.all === true) return done(null, found);
      const [first] = found;
      if (first === undefined) return done(new FetchFault('its name has no address'), '', 0);
      done(null, first.address, first.family);
    });
  };
}

// One way out for a process, named once at its start. https goes through a tunnel that the proxy
// opens and cannot read; plain http is handed to it whole. What lies inside is asked directly.

/** The options of TLS: a socket beside those of a request. */
type TunnelOptions = RequestOptions & { readonly socket: Duplex };
const CONNECT_MS_MAX = 30_000;
const HTTPS_PORT = 443;

type WayOut = { readonly url: URL; readonly tunnels: SecureAgent };
let wayOut: WayOut | null = null;

/** Has every call of this process to the outside go through a proxy; `null` asks directly. */
export function goThrough(proxy: URL | null): void {
  wayOut?.tunnels.destroy();
  wayOut = proxy === null ? null : { url: proxy, tunnels: new TunnelAgent(proxy) };
}

/** Whether a call goes through the proxy: not where its host lies inside by its name or number. */
export function isProxied(url: URL): boolean {
  return wayOut !== null && !isNamedInside(url);
}

function isNamedInside(url: URL): boolean {
  const literal = literalHost(url);
  if (literal !== null) return isInsideAddress(literal);
  return !url.hostname.includes('.') || url.hostname.endsWith('.localhost');
}

type Way = { readonly agent?: SecureAgent; readonly via?: URL };

/** The connections of a call, and the proxy that takes it whole; `null` where it goes directly. */
export function wayOf(url: URL): Way | null {
  const way = wayOut;
  if (way === null || isNamedInside(url)) return null;
  return url.protocol === 'https:' ? { agent: way.tunnels } : { via: way.url };
}

/** Connections through a proxy. Its faults name no part of its address. */
class TunnelAgent extends SecureAgent {
  readonly #proxy: URL;
  constructor(proxy: URL) {
    super({ keepAlive: true });
    this.#proxy = proxy;
  }

  override createConnection(
    options: RequestOptions,
    done: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const target = `${options.host}:${options.port ?? HTTPS_PORT}`;
    const send = this.#proxy.protocol === 'https:' ? secureRequest : plainRequest;
    const asked = send({
      host: this.#proxy.hostname,
      port: this.#proxy.port,
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyCredentialOf(this.#proxy) },
      agent: false,
      timeout: CONNECT_MS_MAX,
    });
    // The callback takes an error alone; its types ask for a stream beside it.
    const fail = (fault: string): void => Reflect.apply(done, null, [new FetchFault(fault)]);
    asked.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) {
        const through: TunnelOptions = { ...options, socket };
        const stream = super.createConnection(through);
        if (stream) return done(null, stream);
      }
      socket.destroy();
      fail(`the proxy answered ${answer.statusCode}`);
    });
    asked.once('response', (answer) => {
      answer.destroy();
      fail(`the proxy answered ${answer.statusCode}`);
    });
    asked.once('timeout', () => asked.destroy(new Error('late')));
    asked.once('error', () =>
      fail(`the proxy gave no connection within ${seconds(CONNECT_MS_MAX)}`),
    );
    asked.end();
  }
}
