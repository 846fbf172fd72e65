// Answers one question: which JSON does an outside address answer, if it comes in time and whole.
// It refuses redirects (a key would travel with them), text that is no JSON, and a body over its
// cap. Its faults name no part of a URL. It is made of undici, unlike `fetch-bytes.ts`, because a
// question may need a body, a connection kept, and what a refusal says.

import { type Dispatcher, request } from 'undici';
import { FetchFault } from './fetch-bytes.ts';
import { jsonIn } from './json-text.ts';

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
  const ended = new AbortController();
  const end = (fault: string): void => ended.abort(new FetchFault(fault));
  const late = `did not answer within ${deadlineMs / MS_PER_S} s`;
  const deadline = setTimeout(() => end(late), deadlineMs);
  const stopped = (): void => end('the question was stopped');
  ask.signal.addEventListener('abort', stopped, { once: true });
  if (ask.signal.aborted) stopped();
  try {
    ended.signal.throwIfAborted();
    const response = await request(bare(ask.url), { ...sent(ask), signal: ended.signal });
    const bytes = await bodyOf(response, bytesMax);
    const { statusCode: status } = response;
    if (status >= 300 && status < 400) throw new FetchFault(`redirected (${status})`);
    if (status >= 200 && status < 300) return parsed(bytes, ask.parse);
    throw new StatusFault(status, retryAfterMs(response.headers), jsonOrNull(bytes));
  } catch (error) {
    if (ended.signal.aborted) throw ended.signal.reason;
    throw asFault(error);
  } finally {
    clearTimeout(deadline);
    ask.signal.removeEventListener('abort', stopped);
  }
}

const MS_PER_S = 1_000;

function sent(ask: JsonAsk): Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'> {
  const headers = { accept: 'application/json', ...ask.headers, ...credential(ask.url) };
  if (ask.body === null) return { method: 'GET', headers };
  const body = JSON.stringify(ask.body);
  return { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
}

function credential({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` };
}

function bare(url: URL): URL {
  const plain = new URL(url);
  plain.username = '';
  plain.password = '';
  return plain;
}

async function bodyOf({ body }: Dispatcher.ResponseData, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a body gave text, not bytes');
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new FetchFault(`sent over ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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

const FAULTS: readonly (readonly [code: string, fault: string])[] = [
  ['ECONNREFUSED', 'refused the connection'],
  ['ENOTFOUND', 'its name was not found'],
  ['EAI_AGAIN', 'its name could not be looked up'],
  ['ECONNRESET', 'closed the connection early'],
  ['EPIPE', 'closed the connection early'],
  ['UND_ERR_SOCKET', 'closed the connection early'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'closed the connection early'],
  ['UND_ERR_CONNECT_TIMEOUT', 'did not take the connection in time'],
  ['ETIMEDOUT', 'did not take the connection in time'],
];

/** Codes of the network, of HTTP and of TLS: whatever else fails is a bug. */
const OUTSIDE = /^(UND_ERR_|HPE_|E[A-Z]+$|CERT_|ERR_TLS|ERR_SSL|UNABLE_|DEPTH_|SELF_SIGNED)/;
const BUGS = /^UND_ERR_(INVALID_ARG|INVALID_RETURN|NOT_SUPPORTED|DESTROYED|CLOSED)/;

/** The fault that an error of the network means. Its message is dropped: it may hold a URL. */
function asFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof FetchFault) return error;
  const code = 'code' in error ? String(error.code) : '';
  const row = FAULTS.find(([known]) => known === code);
  if (row !== undefined) return new FetchFault(row[1]);
  if (BUGS.test(code) || !OUTSIDE.test(code)) return error;
  return new FetchFault(`the connection failed (${code})`);
}
