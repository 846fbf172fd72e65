// Is every kind of route served alike on every surface, and guarded by its rule of access alone?
// Each is asked with no credential, a wrong one, one that opens less, and the right one; what comes
// back is what the OpenAPI document says.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from '../access/gate.ts';
import { deriveSecrets, mintKey, mintToken, tokenAuthentication } from '../access/secret.ts';

import { createSessions } from '../access/session.ts';

import { type Content, openapiDocument } from '../contract/openapi.ts';
import type { AccessRule, Surface } from '../contract/route.ts';
import { type StreamSource, streamRoute } from '../contract/stream.ts';
import { Read } from '../evidence/reading.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import type { Mounted } from './answer.ts';
import type { Guarding } from './guard.ts';
import { createHttp } from './http.ts';
import { ACCESS, type Credential, factsOf, KINDS, RULES } from './matrix.suite.ts';
import { createMeters } from './metrics.ts';
import { createSlots, type MountedStream } from './stream.ts';
import { STREAM_LIMITS } from './stream-reader.ts';
import { ALONE, ask, handshake, refusedHandshake } from './stream-service.suite.ts';

const NOW = 1_790_000_000;
const SURFACES: readonly Surface[] = ['hosted', 'intelligence', 'web'];
const OPERATOR = 'Bearer the-token-of-the-operator';

const heard: string[] = [];
const CELLS = Object.keys(KINDS).flatMap((kind) =>
  SURFACES.flatMap((surface) => ACCESS.map((access) => ({ kind, surface, access }))),
);
const MOUNTED = CELLS.map(({ kind, surface, access }) => mountedAs(kind, surface, access));
const PAIRS = SURFACES.flatMap((surface) => ACCESS.map((access) => ({ surface, access })));
const STREAMS = PAIRS.map(streamOf);
const DOCUMENT = openapiDocument(
  [...MOUNTED.map(({ route }) => route), ...STREAMS.map(({ route }) => route)],
  { title: 'Matrix', version: '0.0.0', description: 'Every cell.', serverUrl: 'http://127.0.0.1' },
);

function mountedAs(kind: string, surface: Surface, access: AccessRule): Mounted {
  const made = KINDS[kind];
  if (made === undefined) throw new Error(`no kind ${kind}`);
  return made.mounted(factsOf(kind, surface, access), (caller) => heard.push(caller));
}

/** A stream that says its welcome and ends. */
function streamOf({ surface, access }: (typeof PAIRS)[number]) {
  const { name, path, summary } = factsOf('stream', surface, access);
  const none = z.strictObject({});
  const kinds = { events: {}, notices: {}, asks: {}, refused: {} };
  const own = { name, surface, access, summary, path, eventsPath: `${path}/events` };
  const route = streamRoute({ ...own, query: none, welcome: none, ...kinds });
  const handle: MountedStream['handle'] = async ({ caller }) => {
    heard.push(caller.kind);
    const replay = { from: null, to: null, oldest: null };
    return { welcome: route.welcome({ seq: 0, replay, gap: null }), messages: NOTHING };
  };
  return { surface, access, route, handle };
}

const NOTHING: StreamSource<never> = { next: () => 'end', onMore: () => undefined };

const quiet = () => undefined;
const QUIET = { info: quiet, warn: quiet, error: quiet };

function serve(mounted: Mounted[], guarding: Guarding, streams: MountedStream[] = []) {
  return createHttp({
    mounted,
    ...guarding,
    streams: {
      mounted: streams,
      limits: { ...STREAM_LIMITS, closeMs: 10 },
      slots: createSlots(STREAM_LIMITS.connectionsMax, ALONE),
      base: () => '',
    },
    refusalPage: ({ status }) => `<h1>${status}</h1>`,
    meters: createMeters([]),
    log: QUIET,
    now: () => NOW,
    budgetMs: 1_000,
    trustProxy: false,
  });
}

type Headers = { readonly [name: string]: string };

const fresh = embeddedControl();
let app: ReturnType<typeof serve>;
let port: number;
let credentials: { readonly [who in Credential]: Headers };

beforeAll(async () => {
  const secrets = deriveSecrets('a root secret of the tests', null);
  const { memberships, keys, quota, tokens, sessions: store } = accessIn(fresh(), () => NOW * 1e3);
  const keyOf = async (holder: Parameters<typeof mintKey>[0]) => {
    const key = mintKey(holder, secrets, NOW);
    await keys.add(key.stored, 5);
    return { authorization: `Bearer ${key.text}` };
  };
  const member = async (plan: 'analyst' | 'desk' | 'enterprise') => {
    const membership_id = `mem_${plan}`;
    await memberships.record({ membership_id, plan, status: 'active', at: NOW });
    return keyOf({ kind: 'sc', membership_id });
  };
  const analyst = await member('analyst');
  const token = mintToken('pro', secrets, NOW);
  await tokens.add(token.stored);
  const sessions = createSessions(store, secrets, true, () => NOW);
  const signedIn = async () => {
    const begun = await sessions.begin('mem_analyst', { agent: undefined, network: '192.0.2' });
    if (!(begun instanceof Read)) throw new Error('unread');
    const cookie = String(begun.value.split(';')[0]);
    const said = await sessions.authenticate(cookie, undefined, {
      by: 'request',
      network: () => '192.0.2',
    });
    if (said.outcome !== 'opens') throw new Error('is not open');
    const { session_id, form_token } = said.caller;
    return { session_id, sent: { cookie, 'x-form-token': form_token } };
  };
  const { session_id, sent: ended } = await signedIn();
  await sessions.signOut(session_id);
  credentials = {
    analyst,
    desk: await member('desk'),
    enterprise: await member('enterprise'),
    partner: await keyOf({ kind: 'scp', partner: 'acme', monthly_budget: 500 }),
    token: { authorization: `Bearer ${token.text}` },
    session: (await signedIn()).sent,
    ended,
    operator: { authorization: OPERATOR },
    nobody: {},
  };
  const guarding = {
    gate: createGate({ keys, quota, secrets, durable: true }, () => NOW),
    tokens: tokenAuthentication([], tokens, secrets),
    sessions,
    isOperator: (authorization: string | undefined) => authorization === OPERATOR,
  };
  app = serve(MOUNTED, guarding, STREAMS);
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}, 120_000);
afterAll(() => app.close());

/** Asks a cell, and holds what came back against the document. */
async function asked(cell: (typeof CELLS)[number], headers: Headers) {
  const { path } = factsOf(cell.kind, cell.surface, cell.access);
  const reply = await app.inject({ method: 'GET', url: path, headers });
  const operation = DOCUMENT.paths[path]?.['get'];
  const declared = operation?.responses[reply.statusCode];
  expect(declared, `${path} ${reply.statusCode} is declared`).toBeDefined();
  const names = Object.keys(declared?.headers ?? {}).map((name) => name.toLowerCase());
  const missing = names.filter((name) => reply.headers[name] === undefined);
  expect([path, reply.statusCode, missing]).toEqual([path, reply.statusCode, []]);
  if (reply.body !== '') expect(typesOf(declared?.content)).toContain(bare(reply.headers));
  return reply;
}

const WRONG = { authorization: 'Bearer sc_wrong', cookie: '__Host-exhibit=wrong' };
/** The headers of a browser's request from a page of ours. */
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

const bare = (headers: { readonly [name: string]: unknown }) =>
  String(headers['content-type']).split(';')[0];
const linesOf = (headers: Headers) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
const typesOf = (content: Content | undefined) =>
  Object.keys(content ?? {}).map((type) => type.split(';')[0]);

describe.each(ACCESS)('%s', (access) => {
  const { refused, right, less, caller, charged, optional } = RULES[access];
  const nothing = optional === true ? [] : [{}];
  const cells = CELLS.filter((one) => one.access === access);
  const opens = refused === null ? 200 : refused;

  test.each(cells)('$kind on $surface is closed to nobody known, and opens', async (cell) => {
    heard.length = 0;
    for (const headers of [...nothing, WRONG, credentials[less]]) {
      const reply = await asked(cell, headers);
      expect([cell, reply.statusCode]).toEqual([cell, opens]);
      expect(reply.headers['cache-control']).toBe('no-store');
      const isPage = cell.kind === 'page';
      if (refused !== null)
        expect(bare(reply.headers)).toBe(isPage ? 'text/html' : 'application/json');
    }
    expect(heard.length).toBe(refused === null ? 3 : 0);
    if (optional === true) {
      const open = await asked(cell, {});
      expect([open.statusCode, heard]).toEqual([200, ['nobody']]);
    }
    const reply = await asked(cell, credentials[right]);
    expect([reply.statusCode, heard.at(-1)]).toEqual([200, caller]);
    expect(reply.body.startsWith(String(KINDS[cell.kind]?.begins))).toBe(true);
    expect(reply.headers['x-ratelimit-remaining'] !== undefined).toBe(charged);
  });

  test.each(cells)('$kind on $surface is not mounted where nothing holds the rule', (cell) => {
    const { kind, surface } = cell;
    const bareOf = () => serve([mountedAs(kind, surface, access)], { gate: null });
    if (refused === null) expect(bareOf).not.toThrow();
    else expect(bareOf).toThrow(`${kind}_${surface}_${access} needs`);
  });

  const streams = STREAMS.filter((one) => one.access === access);
  test.each(streams)('a stream on $surface refuses before the upgrade, and opens', async (one) => {
    const { path, eventsPath } = one.route;
    const responses = DOCUMENT.paths[eventsPath]?.['get']?.responses;
    heard.length = 0;
    for (const headers of refused === null ? [] : [...nothing, WRONG, credentials[less]]) {
      const sent = { ...OWN_PAGE, ...headers };
      const byEvents = await app.inject({ url: eventsPath, headers: sent });
      const { status, body } = await refusedHandshake(port, path, linesOf(sent));
      expect([status, byEvents.statusCode]).toEqual([refused, refused]);
      expect(body).toEqual(byEvents.json());
      expect(typesOf(responses?.[status]?.content)).toEqual(['application/json']);
    }
    expect(heard).toEqual([]);
    const sent = { ...OWN_PAGE, ...credentials[right] };
    const events = await app.inject({ url: eventsPath, headers: sent });
    const socket = await ask(port, handshake(path, linesOf(sent)));
    expect([events.statusCode, socket.split('\r\n')[0]]).toEqual([
      200,
      'HTTP/1.1 101 Switching Protocols',
    ]);
    for (const said of [events.body, socket]) expect(said).toContain('"type":"welcome"');
    expect(events.headers['x-ratelimit-remaining'] !== undefined).toBe(charged);
    expect(heard).toEqual([caller, caller]);
  });

  test('no stream is mounted where nothing holds the rule', () => {
    for (const one of streams) {
      const mount = () => serve([], { gate: null }, [one]);
      if (refused === null) expect(mount).not.toThrow();
      else expect(mount).toThrow(`${one.route.name} needs`);
    }
  });

  test('its operations name how to authenticate, and no other way', () => {
    const ways = cells.map(({ kind, surface }) => {
      const one = DOCUMENT.paths[factsOf(kind, surface, access).path]?.['get'];
      const named = one?.security.flatMap(Object.keys);
      // A publishable key opens the evidence of the hosted surface beside the key of a plan.
      const toPages =
        kind === 'evidence' &&
        surface === 'hosted' &&
        ['analyst', 'desk', 'enterprise'].includes(access);
      expect(named?.includes('publishable')).toBe(toPages);
      return JSON.stringify(named?.filter((name) => name !== 'publishable'));
    });
    const [way, ...others] = new Set(ways);
    expect(others).toEqual([]);
    expect(way === '[]').toBe(refused === null);
  });
});

test('an answer that is held already is not sent again, whoever asks', async () => {
  const cell = { kind: 'plain', surface: 'hosted', access: 'analyst' } as const;
  const reply = await asked(cell, { ...credentials.analyst, 'if-none-match': '"1"' });
  expect([reply.statusCode, reply.body]).toEqual([304, '']);
  expect(reply.headers['x-ratelimit-remaining']).toBeDefined();
});

test('a key that is spent is refused, and the document says so', async () => {
  const cell = { kind: 'text', surface: 'web', access: 'partner' } as const;
  let status = 200;
  for (let i = 0; i <= 500 && status === 200; i += 1) {
    status = (
      await app.inject({
        url: factsOf('text', 'web', 'partner').path,
        headers: credentials.partner,
      })
    ).statusCode;
  }
  expect((await asked(cell, credentials.partner)).statusCode).toBe(429);
});
