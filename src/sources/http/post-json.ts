// Answers one question: what text does an outside address answer to a JSON body, in time.
// Any status is an answer: what it means is its reader's. It refuses a body without end, follows no
// redirect, and names no part of a URL in a fault.

import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import {
  bareAddress,
  boundedCall,
  codeOf,
  credentialOf,
  FetchFault,
  isNetworkCode,
  wholeBody,
} from './outbound-call.ts';

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
export class PostFault extends FetchFault {
  readonly kind: 'too_large' | 'weather' | 'stopped';
  constructor(fault: string, kind: PostFault['kind']) {
    super(fault);
    this.name = 'PostFault';
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
  const target = bareAddress(url);
  const fixed = { ...credentialOf(url), ...headers, 'content-type': 'application/json' };

  const post = (body: string, limits: PostLimits, signal: AbortSignal): Promise<Posted> => {
    const { deadlineMs, bytesMax } = limits;
    const late = `did not answer within ${deadlineMs / MS_PER_S} s`;
    const bounds = {
      deadlineMs,
      signal,
      asFault,
      late: () => new PostFault(late, 'weather'),
      stopped: () => new PostFault('the reading was stopped', 'stopped'),
    };
    return boundedCall(bounds, async (ended) => {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const length = { 'content-length': String(Buffer.byteLength(body)) };
        const asked = { method: 'POST', agent, headers: { ...fixed, ...length } };
        const request = send(target, { ...asked, signal: ended.signal }, resolve);
        request.on('error', reject);
        request.end(body);
      });
      const text = await whole(response, bytesMax);
      const wait = retryAfterMs(response.headers['retry-after']);
      return { status: Number(response.statusCode), text, retryAfterMs: wait };
    });
  };
  return { post, close: () => agent.destroy() };
}

async function whole(response: IncomingMessage, bytesMax: number): Promise<string> {
  try {
    const tooLarge = (fault: string) => new PostFault(fault, 'too_large');
    return (await wholeBody(response, bytesMax, tooLarge)).toString('utf8');
  } catch (error) {
    const broke = !response.complete && codeOf(error) === 'ECONNRESET';
    throw broke ? new PostFault('broke off its answer', 'too_large') : error;
  }
}

/** `Retry-After` in milliseconds, from seconds or a date; `null` where it says neither. */
export function retryAfterMs(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * MS_PER_S;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** The fault that an error of the network means. Its message is dropped: it may hold a URL. */
function asFault(error: unknown): unknown {
  if (error instanceof PostFault) return error;
  const code = codeOf(error);
  const isOutside = isNetworkCode(code) || code.startsWith('ERR_STREAM');
  return isOutside ? new PostFault(`the connection failed (${code})`, 'weather') : error;
}
