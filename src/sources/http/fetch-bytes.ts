// Answers one question: which bytes does an outside address serve, if they come in time.
// Its faults name no part of a URL. It refuses endless redirects, one from https down to http or
// into this network, plain http over the web, a body without end and one that drips. The body is
// taken at the pace of whoever receives it.

import type { IncomingMessage } from 'node:http';
import { type IsInside, lookupWithin, type Reach, refuseLiteral } from './network.ts';
import {
  boundedCall,
  type CallEnd,
  cappedChunks,
  credentialOf,
  FetchFault,
  retryAfterMs,
  seconds,
  sent,
} from './outbound-call.ts';
import { isProxied, wayOf } from './proxy.ts';

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

/** What to ask for, and where the body goes. */
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
  return boundedCall(bounds, (ended) => followed({ ...ask, into }, ended));
}

async function followed(ask: FetchAsk, ended: CallEnd): Promise<Fetched> {
  const { redirectsMax } = ask.limits;
  let url = ask.url;
  // The configured address is the operator's: it may lie inside, and then its redirects may too.
  let inside = true;
  for (let hops = 0; hops <= redirectsMax; hops += 1) {
    const response = await answered(url, ask, ended, reachOf(url, inside, ask.isInside));
    const { remoteAddress } = response.socket;
    if (hops === 0) {
      inside = !isProxied(url) && remoteAddress !== undefined && ask.isInside(remoteAddress);
    }
    const { statusCode: status, headers } = response;
    const header = (name: string): string | null => single(headers[name]);
    if (status === 200) return { status, header, bytes: await received(response, ask, ended) };
    // What comes with any other status is of no use, and its connection goes with it.
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
async function answered(
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
    return await sent({ ...asked, agent: false, ...wayOf(url) });
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the body to its end, within its size and faster than a drip. */
async function received(body: IncomingMessage, ask: FetchAsk, { end }: CallEnd): Promise<number> {
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
    for await (const chunk of cappedChunks(body, bytesMax)) {
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
