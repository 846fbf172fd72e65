// Answers one question: what text does an outside address answer to a JSON body, in time.
// Any status is an answer: what it means is its reader's. It refuses a body without end, follows no
// redirect, and names no part of a URL in a fault.

import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';

/** The bounds of one exchange. */
export type PostLimits = { readonly deadlineMs: number; readonly bytesMax: number };

/** An answer, whatever its status. `retryAfterMs` is what the server asked to wait. */
export type Posted = {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | null;
};

/**
 * No usable answer. `too_large`: its body was over the cap or broke off; `weather`: it may pass;
 * `stopped`: the caller's signal.
 */
export class PostFault extends Error {
  readonly fault: string;
  readonly kind: 'too_large' | 'weather' | 'stopped';
  constructor(fault: string, kind: PostFault['kind']) {
    super(fault);
    this.name = 'PostFault';
    this.fault = fault;
    this.kind = kind;
  }
}

/** An address that takes JSON, with connections that are kept. */
export type JsonAddress = {
  readonly post: (body: string, limits: PostLimits, signal: AbortSignal) => Promise<Posted>;
  readonly close: () => void;
};

const SOCKETS_MAX = 8;
const IDLE_MS = 10_000;
const MS_PER_S = 1_000;

/** Keeps connections to an address. Its user info goes as basic authorisation. */
export function jsonAddress(url: URL, headers: Readonly<Record<string, string>>): JsonAddress {
  const secure = url.protocol === 'https:';
  const options = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: IDLE_MS };
  const agent = secure ? new SecureAgent(options) : new PlainAgent(options);
  const send = secure ? secureRequest : plainRequest;
  const target = new URL(url);
  target.username = '';
  target.password = '';
  const fixed = { ...authorisation(url), ...headers, 'content-type': 'application/json' };

  const post = async (body: string, limits: PostLimits, signal: AbortSignal): Promise<Posted> => {
    const ended = new AbortController();
    const stop = (): void => ended.abort(new PostFault('the reading was stopped', 'stopped'));
    const late = `did not answer within ${limits.deadlineMs / MS_PER_S} s`;
    const timer = setTimeout(() => ended.abort(new PostFault(late, 'weather')), limits.deadlineMs);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      ended.signal.throwIfAborted();
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const length = { 'content-length': String(Buffer.byteLength(body)) };
        const asked = { method: 'POST', agent, headers: { ...fixed, ...length } };
        const request = send(target, { ...asked, signal: ended.signal }, resolve);
        request.on('error', reject);
        request.end(body);
      });
      const text = await whole(response, limits.bytesMax);
      const wait = retryAfterMs(response.headers['retry-after']);
      return { status: Number(response.statusCode), text, retryAfterMs: wait };
    } catch (error) {
      throw ended.signal.aborted ? ended.signal.reason : asFault(error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  };
  return { post, close: () => agent.destroy() };
}

async function whole(response: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a body gave text, not bytes');
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw new PostFault(`sent over ${bytesMax} bytes`, 'too_large');
      chunks.push(chunk);
    }
  } catch (error) {
    const broke = !response.complete && codeOf(error) === 'ECONNRESET';
    throw broke ? new PostFault('broke off its answer', 'too_large') : error;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `Retry-After` in milliseconds, from seconds or a date; `null` where it says neither. */
export function retryAfterMs(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * MS_PER_S;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

function authorisation({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` };
}

/** Codes of the network, of HTTP and of TLS: whatever else fails is a bug. */
const OUTSIDE = /^(HPE_|E[A-Z]+$|CERT_|ERR_TLS|ERR_SSL|ERR_STREAM|UNABLE_|DEPTH_|SELF_SIGNED)/;

/** The fault that an error of the network means. Its message is dropped: it may hold a URL. */
function asFault(error: unknown): unknown {
  if (error instanceof PostFault) return error;
  const code = codeOf(error);
  return OUTSIDE.test(code) ? new PostFault(`the connection failed (${code})`, 'weather') : error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
