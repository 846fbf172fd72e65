// The typed client: a method for each declared route. It runs in a browser and in Node.js, keeps
// its key to itself, and writes no log.

import type { z } from 'zod';
import type { Absence, AnswerSeen } from '../contract/answer.ts';
import type { REFUSALS, RefusalCode } from '../contract/refusals.ts';
import type { AccessRule } from '../contract/route.ts';
import { type Contracts, ROUTES, type RouteRow } from './routes.ts';
import type { SignedCalls } from './signed.ts';

/** The options of a client. */
export type ClientOptions = {
  /** The service, without `/api/v1`. */
  readonly baseUrl: string | URL;
  /** An API key (`sc_…`), or for the partner scan a partner's (`scp_…`). */
  readonly key?: string;
  /** A token of the intelligence service. */
  readonly token?: string;
  /** The time for one call, its attempts and waiting included. */
  readonly timeoutMs?: number;
  /** How often a passing fault (no response, 503) is asked again; never after a 402 or a 429. */
  readonly retriesMax?: number;
  /** The longest response that is read. */
  readonly responseBytesMax?: number;
};

/** The body of a refused request; its form follows from the status. */
export type RefusalBody = z.output<
  // A stream's path is asked by no method of this client.
  (typeof REFUSALS)[Exclude<RefusalCode, 'upgrade_required'>]['body']
>;

/** The allowance of the caller, as the headers of a response tell it. */
export type RateLimit = {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until it begins anew. */
  readonly reset_s: number;
};

type Refused = Pick<ExhibitRefusal, 'route' | 'status' | 'body' | 'rateLimit' | 'retryAfterS'>;

/** The service refused the request: 400 names the field, 402 and 429 are about the caller. */
export class ExhibitRefusal extends Error {
  override readonly name = 'ExhibitRefusal';
  readonly route: string;
  readonly status: number;
  readonly body: RefusalBody;
  /** `null` where the response did not tell it. */
  readonly rateLimit: RateLimit | null;
  readonly retryAfterS: number | null;
  constructor({ route, status, body, rateLimit, retryAfterS }: Refused) {
    super(`${route}: refused with ${status}: ${body.error}`);
    this.route = route;
    this.status = status;
    this.body = body;
    this.rateLimit = rateLimit;
    this.retryAfterS = retryAfterS;
  }
}

/**
 * Nothing usable came back. `network`: no response; `timeout`: none in time; `too_large`: longer
 * than allowed; `unexpected`: what came is no answer of this interface; `unverified`: it is not
 * signed as was asked, or not by a key of the pinned set.
 */
export type FailureCode = 'network' | 'timeout' | 'too_large' | 'unexpected' | 'unverified';

/** The call ended without an answer and without a refusal. */
export class ExhibitFailure extends Error {
  override readonly name = 'ExhibitFailure';
  readonly route: string;
  readonly code: FailureCode;
  constructor(route: string, code: FailureCode, what: string, cause?: unknown) {
    super(`${route}: ${what}`, cause === undefined ? undefined : { cause });
    this.route = route;
    this.code = code;
  }
}

/** A first look at an address may be slow: its history is read from the chain. */
const TIMEOUT_MS = 60_000;
const TIMEOUT_MS_MAX = 600_000;
const RETRIES = 2;
const RETRIES_MAX = 5;
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;
/** Characters that a header can carry. */
const CREDENTIAL = /^[\x21-\x7e]{1,500}$/;

type Settings = {
  readonly base: string;
  readonly key: string | null;
  readonly token: string | null;
  readonly timeoutMs: number;
  readonly retriesMax: number;
  readonly bytesMax: number;
};

/** Makes a client: a method for each route, under its name. Throws where an option is none. */
export function createClient(options: ClientOptions): Client {
  const settings: Settings = {
    base: baseOf(options.baseUrl),
    key: credentialOf(options.key, 'key'),
    token: credentialOf(options.token, 'token'),
    timeoutMs: within(options.timeoutMs, 'timeoutMs', 1, TIMEOUT_MS_MAX, TIMEOUT_MS),
    retriesMax: within(options.retriesMax, 'retriesMax', 0, RETRIES_MAX, RETRIES),
    bytesMax: within(
      options.responseBytesMax,
      'responseBytesMax',
      1,
      Number.MAX_SAFE_INTEGER,
      RESPONSE_BYTES_MAX,
    ),
  };
  const methods = Object.entries<RouteRow>(ROUTES).map(([name, route]) => {
    const method = (question: Question = {}, more: CallOptions = {}) =>
      call({ ...route, name }, question, more, settings);
    return [name, method] as const;
  });
  const client: object = Object.fromEntries(methods);
  return client as Client;
}

function baseOf(given: string | URL): string {
  const base = URL.canParse(String(given)) ? new URL(given) : null;
  const isPlain =
    base !== null &&
    /^https?:$/.test(base.protocol) &&
    [base.username, base.password, base.search, base.hash].every((part) => part === '');
  if (!isPlain) throw new TypeError('baseUrl: expected an http: or https: URL and nothing beside');
  return base.href.replace(/\/+$/, '');
}

function credentialOf(given: string | undefined, name: string): string | null {
  if (given === undefined) return null;
  // A header that cannot be sent would be told in an error, and the key with it.
  if (!CREDENTIAL.test(given)) throw new TypeError(`${name}: expected printable characters`);
  return given;
}

function within(
  given: number | undefined,
  name: string,
  min: number,
  max: number,
  usual: number,
): number {
  if (given === undefined) return usual;
  if (Number.isInteger(given) && given >= min && given <= max) return given;
  throw new TypeError(`${name}: expected a whole number from ${min} to ${max}`);
}

type Question = { readonly [field: string]: unknown };
type Named = RouteRow & { readonly name: string };

async function call(
  route: Named,
  question: Question,
  { signal, timeoutMs, signed }: CallOptions,
  settings: Settings,
): Promise<unknown> {
  const { name, method, statuses } = route;
  const { body, ...fields } = question;
  const secret = secretFor(route.access, settings);
  const url = urlOf(route, fields, settings);
  const asked = signed === undefined ? null : signed.begin();
  const received = await send({
    url,
    init: {
      method,
      headers: {
        accept: 'application/json',
        ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
        ...(asked === null ? {} : { 'accept-signature': asked.header }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    },
    // An evidence route only reads, whatever its method.
    repeatable: method === 'GET' || route.kind === 'evidence',
    statuses,
    retriesMax: settings.retriesMax,
    timeoutMs: within(timeoutMs, 'timeoutMs', 1, TIMEOUT_MS_MAX, settings.timeoutMs),
    bytesMax: settings.bytesMax,
    signal,
  });
  if (received.kind === 'none') {
    throw new ExhibitFailure(name, received.code, FAILED[received.code], received.cause);
  }
  const { status, headers, bytes } = received;
  const fault = asked === null ? null : await asked.take({ method, url, status, headers, bytes });
  if (fault !== null) throw new ExhibitFailure(name, 'unverified', fault);
  if (route.bytes?.includes(status) === true) return { status, body: bytes };
  const text = new TextDecoder().decode(bytes);
  if (route.texts?.includes(status) === true) return { status, body: text };
  if (!statuses.includes(status)) {
    // A credential that was sent back stands in no error.
    const shown = secret === null ? text : text.replaceAll(secret, '[credential]');
    throw refusalOf(name, status, headers, shown);
  }
  const said = jsonOf(text);
  if (route.kind === 'plain' && said !== undefined) return { status, body: said };
  if (isEnvelope(said, route.absences)) return said;
  throw new ExhibitFailure(name, 'unexpected', 'what came is no answer of this route');
}

const FAILED = {
  network: 'there was no response',
  timeout: 'there was no answer in time',
  too_large: 'the response is longer than responseBytesMax',
} as const;

function secretFor(access: AccessRule, { key, token }: Settings): string | null {
  if (access === 'open' || access === 'visitor' || access === 'session') return null;
  return access === 'bearer' ? token : key;
}

function urlOf({ path }: Named, fields: Question, { base }: Settings): URL {
  const named = new Set<string>();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    named.add(name);
    const value = String(fields[name]);
    // Steps of a path that would lead to another route.
    if (fields[name] === undefined || /^\.{0,2}$/.test(value)) {
      throw new TypeError(`${name}: expected a text that names something`);
    }
    return encodeURIComponent(value);
  });
  const url = new URL(base + filled);
  for (const [name, value] of Object.entries(fields)) {
    if (!named.has(name) && value !== undefined) url.searchParams.append(name, String(value));
  }
  return url;
}

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

// Fields that are not known here may stand in an answer; a state that is not known may not: nobody
// could tell whether it denies something.
function isEnvelope(said: unknown, absences: readonly Absence[]): boolean {
  const state = fieldOf(said, 'state');
  const data = fieldOf(said, 'data');
  if (state === 'ok') return typeof data === 'object' && data !== null;
  const isDeclared = absences.some((one) => one === state);
  return isDeclared && data === null && typeof fieldOf(said, 'reason') === 'string';
}

function refusalOf(route: string, status: number, headers: Headers, text: string): Error {
  const body = jsonOf(text);
  if (typeof fieldOf(body, 'error') !== 'string') {
    return new ExhibitFailure(route, 'unexpected', `HTTP ${status}, not of this interface`);
  }
  return new ExhibitRefusal({
    route,
    status,
    body: body as RefusalBody,
    rateLimit: rateLimitOf(headers),
    retryAfterS: wholeOf(headers, 'retry-after'),
  });
}

function rateLimitOf(headers: Headers): RateLimit | null {
  const limit = wholeOf(headers, 'x-ratelimit-limit');
  const remaining = wholeOf(headers, 'x-ratelimit-remaining');
  const reset_s = wholeOf(headers, 'x-ratelimit-reset');
  if (limit === null || remaining === null || reset_s === null) return null;
  return { limit, remaining, reset_s };
}

// The types of each method follow from the declaration of its route.

type Declared = {
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType | null;
};

/** The body that a route takes: none, one that may be left out, or one that has to be sent. */
type Body<B> = [B] extends [never]
  ? unknown
  : undefined extends B
    ? { readonly body?: Exclude<B, undefined> }
    : { readonly body: B };

/** The fields of an object; of one without any, nothing is asked. */
type Fields<F> = string extends keyof F ? unknown : Readonly<F>;

/** The input of a route: the fields of its path and query by name, and its body under `body`. */
type RouteQuestion<R extends Declared> = Fields<z.input<R['params']>> &
  Fields<z.input<R['query']>> &
  Body<z.input<NonNullable<R['body']>>>;

/** A reply of a route without the envelope: look at `status` before `body`. */
type Replied<S> = {
  [K in keyof S & number]: {
    readonly status: K;
    readonly body: S[K] extends z.ZodType ? z.output<S[K]> : never;
  };
}[keyof S & number];

/** The output of a route: the envelope, or one of its declared replies. */
type AnswerTo<R> = R extends { readonly kind: 'evidence' }
  ? AnswerSeen<R>
  : R extends { readonly responses: infer S }
    ? Replied<S>
    : never;

/** The options of one call. */
export type CallOptions = {
  /** Ends the call; it rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** The time for all of it, attempts and waiting included, instead of the client's own. */
  readonly timeoutMs?: number;
  /**
   * Asks for a signed answer, of a route of the hosted API; a refusal is signed as well. Made by
   * `requestSigned` of `exhibit/client/signed`.
   */
  readonly signed?: SignedCalls;
};

type Method<R extends Declared> =
  Record<never, never> extends RouteQuestion<R>
    ? (question?: RouteQuestion<R>, options?: CallOptions) => Promise<AnswerTo<R>>
    : (question: RouteQuestion<R>, options?: CallOptions) => Promise<AnswerTo<R>>;

/** A method for each declared route, under the route's own name. */
export type Client = { readonly [N in keyof Contracts]: Method<Contracts[N]> };

/** The input of a client method, by its name. */
export type QuestionOf<N extends keyof Contracts> = RouteQuestion<Contracts[N]>;

/** The output of a client method, by its name. */
export type AnswerOf<N extends keyof Contracts> = AnswerTo<Contracts[N]>;

// A request is repeated where a passing fault kept it from being answered, and for nothing else: a
// 402 or a 429 stays as long as its cause, and asking again in a loop would only be one more
// request.

/** A request, and the bounds of sending it. */
export type Sending = {
  readonly url: URL;
  readonly init: {
    readonly method: string;
    readonly headers: { readonly [name: string]: string };
    readonly body: string | null;
  };
  /** Whether it may reach the service twice, where nobody can tell that it arrived once. */
  readonly repeatable: boolean;
  /** The statuses that the route itself answers with: none of them is a fault. */
  readonly statuses: readonly number[];
  readonly retriesMax: number;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal | undefined;
};

/** A complete response, or the reason for its absence. */
export type Received =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly headers: Headers;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'none'; readonly code: 'network' | 'timeout' | 'too_large'; cause?: unknown };

/** A fault of the service that passes soon. */
const UNAVAILABLE = 503;
const BACKOFF_MS = 250;
const BACKOFF_MAX_MS = 5_000;
const MS_PER_S = 1_000;

/** Sends a request until it is answered, its attempts are used or its time is up. */
export async function send(sending: Sending): Promise<Received> {
  const { timeoutMs, signal: callers, retriesMax } = sending;
  const endMs = performance.now() + timeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = callers === undefined ? timeout : AbortSignal.any([callers, timeout]);
  for (let attempt = 0; ; attempt += 1) {
    const received = await sendOnce(sending, signal, timeout);
    const waitMs = attempt < retriesMax ? waitAfter(received, sending, attempt) : null;
    if (waitMs === null || performance.now() + waitMs >= endMs) return received;
    await pause(waitMs, callers);
  }
}

async function sendOnce(
  { url, init, bytesMax, signal: callers }: Sending,
  signal: AbortSignal,
  timeout: AbortSignal,
): Promise<Received> {
  try {
    // A redirect is not followed: the key goes where it was meant to.
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const bytes = await bytesOf(response, bytesMax);
    if (bytes === null) return { kind: 'none', code: 'too_large' };
    return { kind: 'response', status: response.status, headers: response.headers, bytes };
  } catch (cause) {
    callers?.throwIfAborted();
    if (timeout.aborted) return { kind: 'none', code: 'timeout' };
    return { kind: 'none', code: 'network', cause };
  }
}

/** The body; `null` where it is longer than allowed, and the rest of it is not read. */
async function bytesOf(response: Response, bytesMax: number): Promise<Uint8Array | null> {
  if (response.body === null) return new Uint8Array();
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return joinChunks(chunks, length);
    length += value.length;
    if (length > bytesMax) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
}

function joinChunks(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** How long to wait before the next attempt; `null`: there is none. */
function waitAfter(received: Received, sending: Sending, attempt: number): number | null {
  const backoffMs = Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MAX_MS);
  const jitterMs = (backoffMs / 2) * (1 + Math.random());
  if (received.kind === 'none') {
    return received.code === 'network' && sending.repeatable ? jitterMs : null;
  }
  const { status, headers } = received;
  if (status !== UNAVAILABLE || sending.statuses.includes(status)) return null;
  const askedS = wholeOf(headers, 'retry-after');
  return askedS === null ? jitterMs : askedS * MS_PER_S + jitterMs;
}

/** A header that holds a whole number; `null` for any other. */
export function wholeOf(headers: Headers, name: string): number | null {
  const text = headers.get(name);
  return text !== null && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
