// A service that did not answer is silence: whoever asked exits 3 and says nothing of an address.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Configured } from '../config.ts';
import {
  anyText,
  EXIT,
  type ExitStatus,
  fail,
  fileArgument,
  type Io,
  optional,
  UsageError,
} from './command.ts';

/** For commands that ask a running service: the configuration as `npm start` takes it. */
export type ConnectionServices = { readonly started: Configured };

/** The options by which a service and a key are named. */
export const CONNECTION_OPTIONS = {
  'base-url': optional('URL', 'the service; without it the one that is configured here', anyText),
  'key-file': optional(
    'FILE',
    'a file that holds the API key; without it EXHIBIT_API_KEY is used',
    anyText,
  ),
  key: optional(
    'KEY',
    'the API key itself; other users of this machine can see it while this runs',
    anyText,
  ),
};

/** The note below these options in the help. */
export const CONNECTION_NOTE = 'Beside a simulated service its own demo key is used.';

/** A service and the key to it. */
export type Connection = { readonly baseUrl: URL; readonly key: string };

/** The answer, or `silent`: nothing usable came back, and why. */
export type ServiceAnswer =
  | { readonly kind: 'said'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'silent'; readonly reason: string };

const demoCredentials = z.object({
  base_url: z.url(),
  api_key: z.string().min(1),
  stream_token: z.string().min(1).optional(),
});
const KEY_CHARS_MAX = 500;
const TIMEOUT_MS = 60_000;
const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Finds the service and the key, or throws `UsageError` that says which is missing. */
export async function findConnection(
  options: { [O in 'base-url' | 'key' | 'key-file']: string | null },
  io: Pick<Io, 'cwd'>,
  { started }: ConnectionServices,
): Promise<Connection> {
  const demo = await demoOf(started);
  const baseUrl = baseUrlOf(options['base-url'], demo, started);
  const { key: typed, 'key-file': file } = options;
  const set = started.ok && started.config.apiKey !== null ? started.config.apiKey.reveal() : null;
  const given = typed === null ? set : typed;
  const text = file === null ? given : await textOf(fileArgument(file, io), '--key-file');
  if (text !== null) return { baseUrl, key: credentialIn(text, 'API key') };
  if (isOf(demo, baseUrl)) return { baseUrl, key: demo.api_key };
  throw new UsageError('An API key is needed: --key-file FILE, or EXHIBIT_API_KEY.');
}

/** The options by which a service and a stream's token are named. */
export const STREAM_OPTIONS = {
  'base-url': optional('URL', 'the service; without it the one that is configured here', anyText),
  'token-file': optional('FILE', 'a file that holds the access token', anyText),
  token: optional(
    'TOKEN',
    'the access token itself; other users of this machine can see it while this runs',
    anyText,
  ),
};

/** The notes below these options in the help. */
export const STREAM_NOTES = [
  'Without a token the first of EXHIBIT_INTELLIGENCE_TOKENS opens the service that is configured',
  'here, and the demo token a simulated one.',
];

/** A service with streams, and the token to it; `null` for who sends none. */
export type StreamConnection = { readonly baseUrl: URL; readonly token: string | null };

/** Finds the service and the token, or throws `UsageError`. */
export async function findStream(
  options: { [O in 'base-url' | 'token' | 'token-file']: string | null },
  io: Pick<Io, 'cwd'>,
  { started }: ConnectionServices,
): Promise<StreamConnection> {
  const demo = await demoOf(started);
  const baseUrl = baseUrlOf(options['base-url'], demo, started);
  const { token: typed, 'token-file': file } = options;
  const text = file === null ? typed : await textOf(fileArgument(file, io), '--token-file');
  if (text !== null) return { baseUrl, token: credentialIn(text, 'access token') };
  if (isOf(demo, baseUrl)) return { baseUrl, token: demo.stream_token ?? null };
  if (!started.ok || new URL(configuredBase(started)).origin !== baseUrl.origin) {
    return { baseUrl, token: null };
  }
  const [first] = started.config.intelligence.tokens;
  return { baseUrl, token: first === undefined ? null : first.token.reveal() };
}

type Demo = z.output<typeof demoCredentials>;

function baseUrlOf(given: string | null, demo: Demo | null, started: Configured): URL {
  const base = given === null ? (demo?.base_url ?? configuredBase(started)) : given;
  const baseUrl = URL.canParse(base) ? new URL(base) : null;
  if (baseUrl === null || !['http:', 'https:'].includes(baseUrl.protocol)) {
    throw new UsageError('--base-url takes an http: or https: URL.');
  }
  return baseUrl;
}

// The demo credentials belong to one service; they are never shown to another.
function isOf(demo: Demo | null, baseUrl: URL): demo is Demo {
  return demo !== null && new URL(demo.base_url).origin === baseUrl.origin;
}

function credentialIn(text: string, what: string): string {
  const credential = text.trim();
  const { length } = credential;
  if (length === 0 || length > KEY_CHARS_MAX || /[^\x21-\x7e]/.test(credential)) {
    throw new UsageError(`The ${what} is not one.`);
  }
  return credential;
}

async function textOf(file: string, option: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new UsageError(`${option} cannot be read.`);
  }
}

async function demoOf(started: Configured): Promise<Demo | null> {
  if (!started.ok || !started.config.simulate) return null;
  const file = join(started.config.dataDir, 'demo-credentials.json');
  const held = await readFile(file, 'utf8')
    .then((text): unknown => JSON.parse(text))
    .catch(() => null);
  const parsed = demoCredentials.safeParse(held);
  return parsed.success ? parsed.data : null;
}

function configuredBase(started: Configured): string {
  if (!started.ok) throw new UsageError('--base-url is missing, and the settings have problems.');
  const { publicUrl, listen } = started.config;
  if (publicUrl !== null) return publicUrl;
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return `http://${host}:${listen.port}`;
}

/** One request: a path with its query, and a body as JSON. */
export type ServiceRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
};

/** Asks the service once, under the key. */
export async function askService(
  { baseUrl, key }: Connection,
  { method, path, body }: ServiceRequest,
  asked: AbortSignal,
): Promise<ServiceAnswer> {
  const said = await requestOnce(
    baseUrl,
    {
      method,
      path,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    },
    asked,
  );
  if (said.kind === 'silent') return said;
  const { status, bytes } = said;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return { kind: 'said', status, body: value };
  } catch {
    return silent(baseUrl, `HTTP ${status} with a body that is not JSON`);
  }
}

/** One request as it is sent. */
type SentRequest = {
  readonly method?: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
};

/** An answer as it came, or `silent`: nothing usable came back, and why. */
type ReceivedAnswer =
  | {
      readonly kind: 'said';
      readonly status: number;
      readonly headers: Headers;
      readonly bytes: Buffer;
    }
  | { readonly kind: 'silent'; readonly reason: string };

/** Sends a request once. Redirects are not followed: a key goes where it was meant to. */
export async function requestOnce(
  baseUrl: URL,
  { method = 'GET', path, headers, body }: SentRequest,
  asked: AbortSignal,
): Promise<ReceivedAnswer> {
  const url = baseUrl.href.replace(/\/+$/, '') + path;
  const signal = AbortSignal.any([asked, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const { request } = await import('undici');
    const response = await request(url, {
      method,
      signal,
      headers: headers === undefined ? null : headers,
      body: body === undefined ? null : body,
    });
    const bytes = await readCapped(response.body, BODY_BYTES_MAX);
    if (bytes === null) return { kind: 'silent', reason: `${baseUrl.origin} answered too much` };
    const { statusCode: status } = response;
    return { kind: 'said', status, headers: headersOf(response.headers), bytes };
  } catch (fault) {
    return silent(baseUrl, faultText(fault));
  }
}

function headersOf(received: { readonly [name: string]: string | string[] | undefined }): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  return headers;
}

function silent(baseUrl: URL, reason: string): Extract<ServiceAnswer, { kind: 'silent' }> {
  return { kind: 'silent', reason: `${baseUrl.origin} could not be asked: ${reason}` };
}

/** A body whole; `null` where it is longer than allowed, and the rest of it is not read. */
export async function readCapped(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function faultText(fault: unknown): string {
  if (!(fault instanceof Error)) return 'it failed';
  if (fault.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  return 'code' in fault && typeof fault.code === 'string' ? fault.code : fault.name;
}

/** The service that is named, or the one that is configured here. */
export async function findService(
  given: string | null,
  { started }: ConnectionServices,
): Promise<URL> {
  return baseUrlOf(given, await demoOf(started), started);
}

/** The next step after a refused request, by its status. */
export type NextSteps = { readonly [status: number]: string };

/** A value of the expected shape, or the exit status of a request without one, which was told. */
export type FetchResult<T> =
  | { readonly isAnswered: true; readonly value: T }
  | { readonly isAnswered: false; readonly status: ExitStatus };

const NO_KEY = 'Give the key of a membership: --key-file FILE. exhibit keys create makes one.';
const NEXT: NextSteps = {
  401: NO_KEY,
  402: NO_KEY,
  404: 'exhibit --help names the commands; the service may be of an earlier version.',
  429: 'The allowance of the day is spent; it begins anew at 00:00 UTC.',
};
const UNREACHED = 'Start a service (npm start), or name one: --base-url URL.';
const ASK_AGAIN = 'Ask again later; exhibit doctor names what the service lacks.';

/** Asks the service for a shape, or tells why there is no answer and what to do next. */
export async function askFor<S extends z.ZodType>(
  to: Connection,
  what: ServiceRequest,
  shape: S,
  io: Pick<Io, 'err' | 'signal'>,
  nextSteps: NextSteps | null = null,
): Promise<FetchResult<z.output<S>>> {
  const said = await askService(to, what, io.signal);
  const failure = (reason: string, status: ExitStatus) => {
    return { isAnswered: false, status: fail(io, reason, status) } as const;
  };
  if (said.kind === 'silent') return failure(`${said.reason}. ${UNREACHED}`, EXIT.couldNotCheck);
  const { status, body } = said;
  const parsed = shape.safeParse(body);
  if (status < 300 && parsed.success) return { isAnswered: true, value: parsed.data };
  if (status < 300) return failure('The answer is not one of this interface.', EXIT.couldNotCheck);
  const next = nextSteps?.[status] ?? NEXT[status] ?? (status >= 500 ? ASK_AGAIN : '');
  const exit = status >= 500 || status === 429 ? EXIT.couldNotCheck : EXIT.failed;
  return failure(`${refusalText(status, body)} ${next}`.trim(), exit);
}

const refusal = z.object({ error: z.string() });
const fieldRefused = z.object({
  path: z.array(z.union([z.string(), z.number()])),
  says: z.string(),
});
const badInput = z.object({ fields: z.array(fieldRefused) });

/** The fields that a refusal names, each by its path; none where it names none. */
export function refusedFields(body: unknown): readonly z.output<typeof fieldRefused>[] {
  const parsed = badInput.safeParse(body);
  return parsed.success ? parsed.data.fields : NO_FIELDS;
}

const NO_FIELDS: readonly z.output<typeof fieldRefused>[] = Object.freeze([]);

/** The words of a refusal: what the service says of a request that it did not answer. */
export function refusalText(status: number, body: unknown): string {
  const parsed = refusal.safeParse(body);
  return parsed.success ? `HTTP ${status}: ${parsed.data.error}` : `HTTP ${status}`;
}
