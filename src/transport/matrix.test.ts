// Is every kind of route served alike on every surface, and guarded by its rule of access alone?
// Each is asked with no credential, a wrong one, one that opens less, and the right one; what comes
// back is what the OpenAPI document says.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGate } from '../access/gate.ts';
import { mintKey } from '../access/key.ts';
import { deriveSecrets } from '../access/secret.ts';
import { createSessions } from '../access/session.ts';
import { mintToken, tokenAuthentication } from '../access/tokens.ts';
import { html, text } from '../contract/media.ts';
import { type Content, openapiDocument } from '../contract/openapi.ts';
import { type AccessRule, evidenceRoute, plainRoute, type Surface } from '../contract/route.ts';
import { Read } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import type { Guarding } from './guard.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';
import type { Mounted } from './mounted.ts';

const NOW = 1_790_000_000;
const SURFACES: readonly Surface[] = ['hosted', 'intelligence', 'web'];
const OPERATOR = 'Bearer the-token-of-the-operator';

/** What each rule answers to whom; `charged`: with the figures of an allowance. */
const RULES: {
  readonly [rule in AccessRule]: {
    readonly refused: 401 | 402 | null;
    readonly right: Credential;
    readonly less: Credential;
    readonly caller: string;
    readonly charged: boolean;
  };
} = {
  analyst: { refused: 402, right: 'analyst', less: 'partner', caller: 'member', charged: true },
  desk: { refused: 402, right: 'desk', less: 'analyst', caller: 'member', charged: true },
  enterprise: { refused: 402, right: 'enterprise', less: 'desk', caller: 'member', charged: true },
  partner: { refused: 402, right: 'partner', less: 'enterprise', caller: 'partner', charged: true },
  bearer: { refused: 401, right: 'token', less: 'enterprise', caller: 'token', charged: false },
  session: { refused: 401, right: 'session', less: 'ended', caller: 'session', charged: false },
  operator: { refused: 401, right: 'operator', less: 'token', caller: 'operator', charged: false },
  open: { refused: null, right: 'nobody', less: 'nobody', caller: 'nobody', charged: false },
};
const ACCESS = Object.keys(RULES) as AccessRule[];

type Credential =
  | 'analyst'
  | 'desk'
  | 'enterprise'
  | 'partner'
  | 'token'
  | 'session'
  | 'ended'
  | 'operator'
  | 'nobody';

/** Each kind of route, and what its right answer begins with. */
const KINDS: {
  readonly [kind: string]: {
    readonly mounted: (facts: Facts, heard: Heard) => Mounted;
    readonly begins: string;
  };
} = {
  evidence: {
    begins: '{"state":"not_supported"',
    mounted: (facts, heard) => {
      const route = evidenceRoute({
        ...facts,
        data: z.strictObject({ caveat: z.string() }),
        absences: ['not_supported'],
        tool: null,
      });
      const absent = { subject: 's', why: why('form_not_recognised') };
      const handle: Mounted['handle'] = async (_input, _asked, { kind }) => {
        heard(kind);
        return route.absent.not_supported(absent);
      };
      return { route, handle };
    },
  },
  plain: {
    begins: '{"fine":true}',
    mounted: (facts, heard) => {
      const route = plainRoute({
        ...facts,
        responses: { 200: z.strictObject({ fine: z.literal(true) }) },
        headers: { 200: { etag: 'Names the answer.' } },
      });
      const handle: Mounted['handle'] = async (_input, _asked, { kind }) => {
        heard(kind);
        return route.reply(200, { fine: true }, { etag: '"1"' });
      };
      return { route, handle };
    },
  },
  text: {
    begins: '<feed/>',
    mounted: (facts, heard) => {
      const route = plainRoute({ ...facts, responses: { 200: text('application/atom+xml') } });
      const handle: Mounted['handle'] = async (_input, _asked, { kind }) => {
        heard(kind);
        return route.reply(200, '<feed/>');
      };
      return { route, handle };
    },
  },
  page: {
    begins: '<p>Shown.',
    mounted: (facts, heard) => {
      const route = plainRoute({ ...facts, responses: { 200: html() } });
      const handle: Mounted['handle'] = async (_input, _asked, { kind }) => {
        heard(kind);
        return route.reply(200, '<p>Shown.');
      };
      return { route, handle };
    },
  },
};

type Heard = (caller: string) => void;
type Facts = ReturnType<typeof factsOf>;

function factsOf(kind: string, surface: Surface, access: AccessRule) {
  const name = `${kind}_${surface}_${access}`;
  return {
    name,
    surface,
    access,
    method: 'GET',
    path: `/${name}`,
    summary: 'Of the matrix.',
  } as const;
}

const heard: string[] = [];
const CELLS = Object.keys(KINDS).flatMap((kind) =>
  SURFACES.flatMap((surface) => ACCESS.map((access) => ({ kind, surface, access }))),
);
const MOUNTED = CELLS.map(({ kind, surface, access }) => mountedAs(kind, surface, access));
const DOCUMENT = openapiDocument(
  MOUNTED.map(({ route }) => route),
  { title: 'Matrix', version: '0.0.0', description: 'Every cell.', serverUrl: 'http://127.0.0.1' },
);

function mountedAs(kind: string, surface: Surface, access: AccessRule): Mounted {
  const made = KINDS[kind];
  if (made === undefined) throw new Error(`no kind ${kind}`);
  return made.mounted(factsOf(kind, surface, access), (caller) => heard.push(caller));
}

function serve(mounted: Mounted[], guarding: Guarding) {
  const quiet = () => undefined;
  return createHttp({
    mounted,
    ...guarding,
    refusalPage: ({ status }) => `<h1>${status}</h1>`,
    meters: createMeters([]),
    log: { info: quiet, warn: quiet, error: quiet },
    now: () => NOW,
    budgetMs: 1_000,
    trustProxy: false,
  });
}

type Headers = { readonly [name: string]: string };

const fresh = embeddedControl();
let app: ReturnType<typeof serve>;
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
    const begun = await sessions.begin('mem_analyst');
    if (!(begun instanceof Read)) throw new Error('unread');
    return { cookie: String(begun.value.split(';')[0]) };
  };
  const ended = await signedIn();
  const said = await sessions.authenticate(ended.cookie);
  if (said.outcome === 'opens') await sessions.end(said.caller.session_id);
  credentials = {
    analyst,
    desk: await member('desk'),
    enterprise: await member('enterprise'),
    partner: await keyOf({ kind: 'scp', partner: 'acme', monthly_budget: 500 }),
    token: { authorization: `Bearer ${token.text}` },
    session: await signedIn(),
    ended,
    operator: { authorization: OPERATOR },
    nobody: {},
  };
  app = serve(MOUNTED, {
    gate: createGate({ keys, quota, secrets, durable: true }, () => NOW),
    tokens: tokenAuthentication([], tokens, secrets),
    sessions,
    isOperator: (authorization) => authorization === OPERATOR,
  });
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

const bare = (headers: { readonly [name: string]: unknown }) =>
  String(headers['content-type']).split(';')[0];
const typesOf = (content: Content | undefined) =>
  Object.keys(content ?? {}).map((type) => type.split(';')[0]);

describe.each(ACCESS)('%s', (access) => {
  const { refused, right, less, caller, charged } = RULES[access];
  const cells = CELLS.filter((one) => one.access === access);
  const opens = refused === null ? 200 : refused;

  test.each(cells)('$kind on $surface is closed to nobody known, and opens', async (cell) => {
    const wrong = { authorization: 'Bearer sc_wrong', cookie: '__Host-exhibit=wrong' };
    heard.length = 0;
    for (const headers of [{}, wrong, credentials[less]]) {
      const reply = await asked(cell, headers);
      expect([cell, reply.statusCode]).toEqual([cell, opens]);
      expect(reply.headers['cache-control']).toBe('no-store');
      const isPage = cell.kind === 'page';
      if (refused !== null)
        expect(bare(reply.headers)).toBe(isPage ? 'text/html' : 'application/json');
    }
    expect(heard.length).toBe(refused === null ? 3 : 0);
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

  test('its operations name how to authenticate, and no other way', () => {
    const ways = cells.map(({ kind, surface }) => {
      const one = DOCUMENT.paths[factsOf(kind, surface, access).path]?.['get'];
      return JSON.stringify(one?.security.flatMap(Object.keys));
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
