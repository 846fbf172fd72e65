// Fetches files and JSON. A fault names no part of a URL. Refused are endless redirects, one from
// https down to http or into this network, plain http over the web, a body without end and one that
// drips. The body is taken at the pace of its receiver.

import type { Agent, IncomingMessage } from 'node:http';
import { z } from 'zod';
import {
  type CallEnd,
  callWithin,
  capChunks,
  credentialOf,
  FetchFault,
  type IsInside,
  isProxied,
  lookupWithin,
  type Reach,
  refuseLiteral,
  retryAfterMs,
  seconds,
  sendRequest,
  wayOf,
  wholeBody,
} from './outbound-call.ts';

/** The bounds of one download. */
export type FetchLimits = {
  /** For the whole of it, redirects included. */
  readonly deadlineMs: number;
  /** For the first line of each answer. */
  readonly headersMs: number;
  readonly bytesMax: number;
  readonly redirectsMax: number;
  /** In every window so long at least `dripBytesMin` bytes of body must come. */
  readonly dripWindowMs: number;
  readonly dripBytesMin: number;
};

/** The request, and the destination of the body. */
export type FetchAsk = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: FetchLimits;
  readonly signal: AbortSignal;
  /** Which addresses lie inside this network. */
  readonly isInside: IsInside;
  /** Takes the body of a 200, chunk by chunk; the next one waits for it. */
  readonly into: (chunk: Uint8Array) => Promise<void>;
};

/** An answer that came to its end: a body (200), or word that nothing changed (304). */
export type Fetched = {
  readonly status: 200 | 304;
  /** The value of a header of the last answer; `null` where it has none. */
  readonly header: (name: string) => string | null;
  readonly bytes: number;
};

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Downloads. Throws `FetchFault` for an upstream failure, and what `into` throws. */
export async function fetchBytes(ask: FetchAsk): Promise<Fetched> {
  const { deadlineMs } = ask.limits;
  let sinkFault: unknown = null;
  const into = (chunk: Uint8Array): Promise<void> =>
    ask.into(chunk).catch((error: unknown) => {
      sinkFault = error;
      throw error;
    });
  const bounds = {
    deadlineMs,
    signal: ask.signal,
    words: { call: 'download', late: 'did not end' },
    isOwn: (error: unknown) => error === sinkFault,
  };
  return callWithin(bounds, (ended) => followRedirects({ ...ask, into }, ended));
}

async function followRedirects(ask: FetchAsk, ended: CallEnd): Promise<Fetched> {
  const { redirectsMax } = ask.limits;
  let url = ask.url;
  // The configured address is the operator's: it may lie inside, and then its redirects may too.
  let inside = true;
  for (let hops = 0; hops <= redirectsMax; hops += 1) {
    const response = await requestOnce(url, ask, ended, reachOf(url, inside, ask.isInside));
    const { remoteAddress } = response.socket;
    if (hops === 0) {
      inside = !isProxied(url) && remoteAddress !== undefined && ask.isInside(remoteAddress);
    }
    const { statusCode: status, headers } = response;
    const header = (name: string): string | null => single(headers[name]);
    if (status === 200) return { status, header, bytes: await receiveBody(response, ask, ended) };
    // A body with any other status is useless, and its connection is closed.
    response.destroy();
    if (status === 304) return { status, header, bytes: 0 };
    if (!REDIRECTS.has(Number(status))) {
      const wait = retryAfterMs(headers['retry-after']);
      throw new FetchFault(`answered ${status}`, 'failed', wait);
    }
    url = redirectTarget(header('location'), url);
  }
  throw new FetchFault(`redirected more than ${redirectsMax} times`);
}

/** Where a call may be made: plain http only inside, and from outside nothing inside. */
function reachOf({ protocol }: URL, inside: boolean, isInside: IsInside): Reach {
  if (protocol === 'http:') {
    const otherwise = 'plain http is for addresses inside this network only';
    return { allowed: (address) => inside && isInside(address), otherwise };
  }
  const otherwise = 'redirected to an address inside this network';
  return { allowed: (address) => inside || !isInside(address), otherwise };
}

/** Asks once, on a connection of its own: downloads are an hour apart. */
async function requestOnce(
  url: URL,
  ask: FetchAsk,
  { signal, end }: CallEnd,
  reach: Reach,
): Promise<IncomingMessage> {
  const { headersMs } = ask.limits;
  signal.throwIfAborted();
  refuseLiteral(url, reach);
  // A name that a proxy looks up is not known to lie inside.
  if (url.protocol === 'http:' && isProxied(url)) throw new FetchFault(reach.otherwise);
  const late = (): void => end(new FetchFault(`did not answer within ${seconds(headersMs)}`));
  const timer = setTimeout(late, headersMs);
  try {
    // The user info of the configured address goes to its own origin only.
    const credential = url.origin === ask.url.origin ? credentialOf(ask.url) : null;
    const headers = { ...ask.headers, ...credential };
    const lookup = lookupWithin(reach);
    const asked = { url, method: 'GET', headers, body: null, signal, lookup } as const;
    return await sendRequest({ ...asked, agent: false, ...wayOf(url) });
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the body to its end, within its size and faster than a drip. */
async function receiveBody(
  body: IncomingMessage,
  ask: FetchAsk,
  { end }: CallEnd,
): Promise<number> {
  const { bytesMax, dripWindowMs, dripBytesMin } = ask.limits;
  let bytes = 0;
  let before = 0;
  const watch = setInterval(() => {
    if (bytes - before < dripBytesMin) {
      end(new FetchFault(`sent under ${dripBytesMin} bytes in ${seconds(dripWindowMs)}`));
    }
    before = bytes;
  }, dripWindowMs);
  try {
    for await (const chunk of capChunks(body, bytesMax)) {
      bytes += chunk.byteLength;
      await ask.into(chunk);
    }
  } finally {
    clearInterval(watch);
  }
  return bytes;
}

/** Where a redirect leads. The target may hold a signature: it is followed and forgotten. */
export function redirectTarget(location: string | null, from: URL): URL {
  if (location === null || !URL.canParse(location, from)) {
    throw new FetchFault('redirected to no address');
  }
  const url = new URL(location, from);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new FetchFault('redirected to something other than http');
  }
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    throw new FetchFault('redirected from https to http');
  }
  return url;
}

function single(value: string | string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : value.join(', ');
}

/** The bounds of one question. */
export type JsonLimits = {
  /** From the first byte sent to the last one read. */
  readonly deadlineMs: number;
  readonly bytesMax: number;
};

/** An answer, whatever its status. `retryAfterMs` is what the server asked to wait. */
export type Answered = {
  readonly status: number;
  readonly bytes: Buffer;
  readonly retryAfterMs: number | null;
};

/**
 * The request to send: a body goes by POST, as JSON unless a header says otherwise. User info of
 * the address becomes a header.
 */
type Exchange = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly limits: JsonLimits;
  readonly signal: AbortSignal;
  /** The connections to use, where they are not those that the process keeps. */
  readonly agent?: Agent;
  /** The name of the call in a fault. */
  readonly call: string;
};

/** Asks once and takes the whole answer. Throws `FetchFault` where the outside fails. */
export async function exchange(asked: Exchange): Promise<Answered> {
  const { url, body, limits, agent } = asked;
  const words = { call: asked.call, late: 'did not answer' };
  const bounds = { deadlineMs: limits.deadlineMs, signal: asked.signal, words };
  const headers = {
    ...(body === null ? null : { 'content-type': 'application/json' }),
    ...asked.headers,
    ...credentialOf(url),
  };
  const method = body === null ? 'GET' : 'POST';
  return callWithin(bounds, async ({ signal }) => {
    const way = agent === undefined ? wayOf(url) : { agent };
    const response = await sendRequest({
      url,
      method,
      headers,
      body,
      signal,
      agent: undefined,
      ...way,
    });
    const bytes = await wholeBody(response, limits.bytesMax);
    const wait = retryAfterMs(response.headers['retry-after']);
    return { status: Number(response.statusCode), bytes, retryAfterMs: wait };
  });
}

/** The request, and its address. User info of the address becomes a header. */
export type JsonAsk = {
  readonly url: URL;
  /** Is sent as JSON by POST; `null` asks by GET. A bigint in it is a bug. */
  readonly body: unknown;
  readonly limits: JsonLimits;
  readonly signal: AbortSignal;
  /** Additional headers: a key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether an answer of another status is no failure: a provider may say “not known” by 404. */
  readonly isAnswer?: (status: number, said: unknown) => boolean;
  /** Reads an answer whose integers are wider than numbers; throws SyntaxError as `JSON.parse`. */
  readonly parse?: (text: string) => unknown;
};

/** An answer of a status outside 200 to 299: a failure that may say when to ask again, and why. */
export class StatusFault extends FetchFault {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** The JSON of the answer; otherwise `null`. */
  readonly said: unknown;
  constructor(status: number, retryAfterMs: number | null, said: unknown) {
    super(`answered ${status}`);
    this.name = 'StatusFault';
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.said = said;
  }
}

/** Asks once and gives the parsed answer. Throws `FetchFault` where the outside fails. */
export async function fetchJson({
  parse,
  isAnswer,
  body,
  headers,
  ...ask
}: JsonAsk): Promise<unknown> {
  const text = body === null ? null : JSON.stringify(body);
  const sending = { ...HEADERS, ...headers };
  const answer = await exchange({ ...ask, headers: sending, body: text, call: 'question' });
  const { status, bytes } = answer;
  if (status >= 300 && status < 400) throw new FetchFault(`redirected (${status})`);
  if (status >= 200 && status < 300) return parseJson(bytes, parse);
  // The text of a refusal is of use only where it is JSON: it may be a web server's page.
  const heard = jsonIn(bytes.toString('utf8'));
  const said = heard === undefined ? null : heard;
  if (isAnswer?.(status, said) === true) return said;
  throw new StatusFault(status, answer.retryAfterMs, said);
}

/** Some providers refuse a request that does not name who asks. */
const HEADERS = { accept: 'application/json', 'user-agent': 'exhibit' };

const UTF8 = new TextDecoder('utf-8', { fatal: true });
const HTML = /^\s*<(!doctype|html|head|body|\?xml|center)\b/i;

function parseJson(bytes: Buffer, parse: JsonAsk['parse']): unknown {
  try {
    const text = UTF8.decode(bytes);
    if (parse !== undefined) return parse(text);
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    if (bytes.byteLength === 0) throw new FetchFault('answered nothing');
    const isPage = HTML.test(bytes.toString('latin1'));
    throw new FetchFault(isPage ? 'answered HTML, not JSON' : 'answered no whole JSON');
  }
}

// The forms in which an outside writes what it answers. A form that is not its own is refused:
// nothing is padded, cut or filled in.

/**
 * One object of an outside's answer. Members that we do not name are not read: providers add some
 * all the time, and a reading that rests on none of them stays right.
 */
export function outsideRow<const S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strip> {
  return z.object(shape);
}

const NO_MORE = z.union([z.literal(false), z.literal(''), z.null()]).optional();

/** The members by which a body says that it is not all. */
const NOT_ALL = {
  truncated: NO_MORE,
  incomplete: NO_MORE,
  partial: NO_MORE,
  has_more: NO_MORE,
  hasMore: NO_MORE,
  next: NO_MORE,
  next_page: NO_MORE,
  nextPage: NO_MORE,
  next_page_params: NO_MORE,
  next_page_token: NO_MORE,
  nextPageToken: NO_MORE,
  next_cursor: NO_MORE,
  nextCursor: NO_MORE,
};

/**
 * An answer as a whole. Its other members are not read either, but one that says of itself that it
 * is not all is refused, whether we knew of such a member or not.
 */
export function outsideBody<const S extends z.ZodRawShape>(shape: S) {
  return z.object({ ...NOT_ALL, ...shape });
}

/** 20 bytes, in lower case. */
export const ADDRESS = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase());

/** 32 bytes, in lower case: a hash or a topic. */
export const WORD = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => text.toLowerCase());

/** A whole number that a double holds exactly. */
export const COUNT = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,13}$/)
  .transform((text) => Number(text));

/** A whole number of up to 32 bytes. */
export const AMOUNT = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform((text) => BigInt(text));

/** Whole bytes, as they came: blooms and data are long, and few who read them need one case. */
export const BYTES = z.string().regex(/^0x([0-9a-fA-F]{2})*$/);

/** Parses JSON; `undefined`, which no JSON is, if it is none. */
export function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
