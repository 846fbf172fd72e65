// Answers one question: which JSON does an outside address answer, if it comes in time and whole.
// It refuses redirects (a key would travel with them), text that is no JSON, and a body over its
// cap. Its faults name no part of a URL. It is made of undici, unlike `fetch-bytes.ts`, because a
// question may need a body, a connection kept, and what a refusal says.

import { type Dispatcher, request } from 'undici';
import { jsonIn } from './json-text.ts';
import {
  bareAddress,
  boundedCall,
  credentialOf,
  FetchFault,
  faultByCode,
  isNetworkCode,
  NETWORK_FAULTS,
  wholeBody,
} from './outbound-call.ts';

/** The bounds of one question. */
export type JsonLimits = {
  /** From the first byte sent to the last one read. */
  readonly deadlineMs: number;
  readonly bytesMax: number;
};

/** What to ask, and where. User info of the address becomes a header. */
export type JsonAsk = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Is sent as JSON by POST; `null` asks by GET. A bigint in it is a bug. */
  readonly body: unknown;
  readonly limits: JsonLimits;
  readonly signal: AbortSignal;
  /** Reads an answer whose integers are wider than numbers; throws SyntaxError as `JSON.parse`. */
  readonly parse?: (text: string) => unknown;
};

/** An answer of a status outside 200 to 299: weather, which may say when to ask again, and why. */
export class StatusFault extends FetchFault {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** What it said, where that was JSON; else `null`. */
  readonly said: unknown;
  constructor(status: number, retryAfterMs: number | null, said: unknown) {
    super(`answered ${status}`);
    this.name = 'StatusFault';
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.said = said;
  }
}

/** Asks once and gives the parsed answer. Throws `FetchFault` for weather. */
export async function fetchJson(ask: JsonAsk): Promise<unknown> {
  const { deadlineMs, bytesMax } = ask.limits;
  const bounds = {
    deadlineMs,
    signal: ask.signal,
    asFault,
    late: () => new FetchFault(`did not answer within ${deadlineMs / MS_PER_S} s`),
    stopped: () => new FetchFault('the question was stopped'),
  };
  return boundedCall(bounds, async ({ signal }) => {
    const response = await request(bareAddress(ask.url), { ...sent(ask), signal });
    const bytes = await wholeBody(response.body, bytesMax, (fault) => new FetchFault(fault));
    const { statusCode: status } = response;
    if (status >= 300 && status < 400) throw new FetchFault(`redirected (${status})`);
    if (status >= 200 && status < 300) return parsed(bytes, ask.parse);
    throw new StatusFault(status, retryAfterMs(response.headers), jsonOrNull(bytes));
  });
}

const MS_PER_S = 1_000;

function sent(ask: JsonAsk): Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'> {
  const headers = { accept: 'application/json', ...ask.headers, ...credentialOf(ask.url) };
  if (ask.body === null) return { method: 'GET', headers };
  const body = JSON.stringify(ask.body);
  return { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });
const HTML = /^\s*<(!doctype|html|head|body|\?xml|center)\b/i;

function parsed(bytes: Buffer, parse: JsonAsk['parse']): unknown {
  try {
    const read = parse === undefined ? plainJson : parse;
    return read(UTF8.decode(bytes));
  } catch {
    throw new FetchFault(notJson(bytes));
  }
}

function plainJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value;
}

function notJson(bytes: Buffer): string {
  if (bytes.byteLength === 0) return 'answered nothing';
  return HTML.test(bytes.toString('latin1')) ? 'answered HTML, not JSON' : 'answered no whole JSON';
}

/** The text of a refusal is of use only where it is JSON: it may be a web server's page. */
function jsonOrNull(bytes: Buffer): unknown {
  const value = jsonIn(bytes.toString('utf8'));
  return value === undefined ? null : value;
}

const RETRY_AFTER_S = /^[0-9]{1,6}$/;

/** The `Retry-After` header where it counts seconds; a date there is not read. */
function retryAfterMs(headers: Dispatcher.ResponseData['headers']): number | null {
  const value = headers['retry-after'];
  if (typeof value !== 'string' || !RETRY_AFTER_S.test(value)) return null;
  return Number(value) * MS_PER_S;
}

const FAULTS = new Map([
  ...NETWORK_FAULTS,
  ['UND_ERR_SOCKET', 'closed the connection early'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'closed the connection early'],
  ['UND_ERR_CONNECT_TIMEOUT', 'did not take the connection in time'],
]);

/** Codes of undici for the outside's faults and for ours. */
const UNDICI = /^UND_ERR_/;
const BUGS = /^UND_ERR_(INVALID_ARG|INVALID_RETURN|NOT_SUPPORTED|DESTROYED|CLOSED)/;

function asFault(error: unknown): unknown {
  const isOutside = (code: string) =>
    isNetworkCode(code) || (UNDICI.test(code) && !BUGS.test(code));
  return faultByCode(error, FAULTS, isOutside);
}
