// Answers one question: what does an outside address answer, if it comes in time and whole.
// `exchange` takes any status; `fetchJson` refuses what is no JSON of a good one, and redirects (a
// key would travel with them). Faults name no part of a URL.

import type { Agent } from 'node:http';
import { jsonIn } from './json-text.ts';
import {
  boundedCall,
  credentialOf,
  FetchFault,
  retryAfterMs,
  sent,
  wholeBody,
} from './outbound-call.ts';
import { wayOf } from './proxy.ts';

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

/** What to send: a body goes by POST as JSON text. User info of the address becomes a header. */
type Exchange = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly limits: JsonLimits;
  readonly signal: AbortSignal;
  /** The connections to use, where they are not those that the process keeps. */
  readonly agent?: Agent;
  /** What a fault calls it where it was stopped. */
  readonly call: string;
};

/** Asks once and takes the whole answer. Throws `FetchFault` where the outside fails. */
export async function exchange(asked: Exchange): Promise<Answered> {
  const { url, body, limits, agent } = asked;
  const words = { call: asked.call, late: 'did not answer' };
  const bounds = { deadlineMs: limits.deadlineMs, signal: asked.signal, words };
  const headers = {
    ...asked.headers,
    ...credentialOf(url),
    ...(body === null ? null : { 'content-type': 'application/json' }),
  };
  const method = body === null ? 'GET' : 'POST';
  return boundedCall(bounds, async ({ signal }) => {
    const way = agent === undefined ? wayOf(url) : { agent };
    const response = await sent({ url, method, headers, body, signal, agent: undefined, ...way });
    const bytes = await wholeBody(response, limits.bytesMax);
    const wait = retryAfterMs(response.headers['retry-after']);
    return { status: Number(response.statusCode), bytes, retryAfterMs: wait };
  });
}

/** What to ask, and where. User info of the address becomes a header. */
export type JsonAsk = {
  readonly url: URL;
  /** Is sent as JSON by POST; `null` asks by GET. A bigint in it is a bug. */
  readonly body: unknown;
  readonly limits: JsonLimits;
  readonly signal: AbortSignal;
  /** What is sent beside the usual: a key. */
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
  if (status >= 200 && status < 300) return parsed(bytes, parse);
  const said = jsonOrNull(bytes);
  if (isAnswer?.(status, said) === true) return said;
  throw new StatusFault(status, answer.retryAfterMs, said);
}

/** Some providers refuse a request that does not name who asks. */
const HEADERS = { accept: 'application/json', 'user-agent': 'exhibit' };

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
