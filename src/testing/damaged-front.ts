// A stand-in in front of another one, whose answers it damages, one kind of question at a time.

import { createServer } from 'node:http';
import { z } from 'zod';
import { exchange, jsonIn } from '../sources/http/fetch.ts';
import { BAD_GATEWAY_PAGE } from '../world/stand-in.ts';

/** An answer in the place of a whole one; `null`: such a damage cannot be done to it. */
type Damaged = { readonly status?: number; readonly text: string; readonly breaks?: true } | null;
export type Damage = (whole: string) => Damaged;

export const says =
  (value: unknown): Damage =>
  () => ({ text: JSON.stringify(value) });
/** Changes what answers one call, wherever in a batch it stands; a whole body where it is none. */
const change =
  (edit: (body: object) => object, onlyCalls = true): Damage =>
  (whole) => {
    const told = jsonIn(whole);
    if (typeof told !== 'object' || told === null || Array.isArray(told)) return null;
    if (onlyCalls && !('id' in told && 'result' in told)) return null;
    return { text: JSON.stringify(edit(told)) };
  };

/** The damages of a whole answer on its way, or in front of the server. */
export const WIRE: Readonly<Record<string, Damage>> = {
  'an empty body': () => ({ text: '' }),
  'a cut body': (whole) => ({ text: whole.slice(0, whole.length / 2) }),
  'a broken connection': (whole) => ({ text: whole, breaks: true }),
  'HTML with 200': () => ({ text: BAD_GATEWAY_PAGE }),
  'HTTP 500': () => ({ status: 500, text: BAD_GATEWAY_PAGE }),
  'HTTP 429': () => ({ status: 429, text: '{"message":"Too Many Requests"}' }),
  'a gateway’s error': says({ error: { code: -32_603, message: 'Internal error' } }),
  'no object': says(null),
  'an object without members': says({}),
};
/** The damages of the answer to one kind of call. */
export const CALL: Readonly<Record<string, Damage>> = {
  'its own error': change(({ ...one }) => ({
    ...one,
    result: undefined,
    error: { code: -32_000, message: 'internal error' },
  })),
  'null in its place': change((one) => ({ ...one, result: null })),
  'text in its place': change((one) => ({ ...one, result: 'busy' })),
  'a word that it is not all': change((one) => ({ ...one, truncated: true }), false),
};
/** Faults that GoPlus tells by the code of an answer of HTTP 200. */
export const GOPLUS: Readonly<Record<string, Damage>> = {
  'its throttling': says({ code: 4029, message: 'too many requests' }),
  'its word that it syncs': says({ code: 2, message: 'partial data obtained', result: {} }),
  'a refused key': says({ code: 4012, message: 'signature verification failure' }),
  'its own fault': says({ code: 5000, message: 'system error' }),
  'a wrong form of the address': says({ code: 2004, message: 'contract address format error!' }),
  'a chain that it lacks': says({ code: 2018, message: 'ChainID not supported' }),
  'a wrong parameter': says({ code: 5006, message: 'param error!' }),
  'an unknown key': says({ code: 4010, message: 'app_key not exist' }),
  'an expired signature': says({ code: 4011, message: 'signature expiration' }),
  'an invalid token': says({ code: 4022, message: 'Invalid access token' }),
  'a token that is not found': says({ code: 4023, message: 'access token not found' }),
};
/** Answers in the place of a report of RugCheck. */
export const RUGCHECK: Readonly<Record<string, Damage>> = {
  'a refusal with 200': says({ error: 'unable to find token' }),
  'a summary in its place': says({ score: 1, score_normalised: 1, risks: [] }),
  'another status': () => ({ status: 404, text: '{"error":"unable to find token"}' }),
  'its throttling': () => ({ status: 429, text: '{"message":"Too many requests"}' }),
  'a refused key': () => ({ status: 401, text: '{"error":"unauthorized"}' }),
};
/** Answers a question, whole. */
export type Back = (path: string, body: string) => Promise<string>;
type Fault = { readonly kind: string; readonly damage: Damage; readonly isOfCall: boolean } | null;

const CALLED = z.looseObject({ id: z.unknown(), method: z.string(), params: z.unknown() });
const CALLS = z.union([z.array(CALLED), CALLED.transform((one) => [one])]);

function callsIn(body: string): z.output<typeof CALLED>[] {
  const calls = CALLS.safeParse(jsonIn(body));
  return calls.success ? calls.data : [];
}

/** The kinds of a request: methods of a node, an action of an explorer, or the only request. */
function kindsOf(path: string, body: string): readonly string[] {
  const methods = callsIn(body).map(({ method }) => method);
  const action = new URL(path, 'http://x').searchParams.get('action');
  return methods.length > 0 ? methods : [action === null ? 'the question' : action];
}

const ANSWERS = z.array(z.looseObject({ id: z.number() }));

function applyFault({ kind, damage, isOfCall }: NonNullable<Fault>, whole: string, body: string) {
  const answers = ANSWERS.safeParse(jsonIn(whole)).data;
  if (!isOfCall || answers === undefined) return damage(whole);
  const ids = callsIn(body).filter(({ method }) => method === kind);
  const texts = answers.map((one) => {
    const own = ids.some(({ id }) => id === one.id);
    return own ? damage(JSON.stringify(one))?.text : JSON.stringify(one);
  });
  return { text: `[${texts.join()}]` };
}

/** Serves those answers on a port of 127.0.0.1, damaged where a fault is set. */
export async function startFront(back: Back) {
  let fault: Fault = null;
  let hits = 0;
  const kinds = new Set<string>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const path = String(request.url);
    const whole = await back(path, body);
    const asked = kindsOf(path, body);
    for (const kind of asked) kinds.add(kind);
    const meets = fault !== null && asked.includes(fault.kind);
    const said: Damaged =
      fault !== null && meets ? applyFault(fault, whole, body) : { text: whole };
    if (said === null) return void response.end(whole);
    if (meets) hits += 1;
    const { status = 200, text, breaks } = said;
    response.writeHead(status, { 'content-length': Buffer.byteLength(text) });
    if (breaks !== true) response.end(text);
    else response.write(text.slice(0, text.length / 2), () => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const at = server.address();
  return {
    close: () => {
      server.closeAllConnections();
      server.close();
    },
    url: new URL(`http://127.0.0.1:${typeof at === 'object' && at !== null ? at.port : 0}`),
    kinds,
    set: (next: Fault) => {
      fault = next;
      hits = 0;
    },
    hits: () => hits,
  };
}

/** Passes a question on to a stand-in of the world; `over` answers some kinds in its place. */
export const passOn =
  (origin: string | URL, over: Readonly<Record<string, unknown>> = {}): Back =>
  async (path, body) => {
    const [kind] = kindsOf(path, body);
    const [call] = callsIn(body);
    const own = over[String(kind)];
    if (own !== undefined) {
      return JSON.stringify(
        call === undefined ? own : { jsonrpc: '2.0', id: call.id, result: own },
      );
    }
    const url = new URL(path, origin);
    const { username, password } = new URL(origin);
    Object.assign(url, { username, password });
    const bounds = { limits: LIMITS, signal: new AbortController().signal, call: 'question' };
    const sent = body === '' ? null : body;
    return (await exchange({ ...bounds, url, headers: {}, body: sent })).bytes.toString('utf8');
  };

const LIMITS = { deadlineMs: 10_000, bytesMax: 2 ** 26 };

/** A node that answers each method with this. */
export const cannedNode =
  (results: Readonly<Record<string, unknown>>): Back =>
  async (_, body) => {
    const said = callsIn(body).map(({ id, method, params }) => {
      const held = results[method];
      const result = typeof held === 'function' ? held(params) : held;
      return { jsonrpc: '2.0', id, result };
    });
    return JSON.stringify(body.startsWith('[') ? said : said[0]);
  };
