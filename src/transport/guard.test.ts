// Each access rule admits its own callers only.

import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type AccessGate, createGate } from '../access/gate.ts';
import { deriveSecrets, mintKey, mintToken, tokenAuthentication } from '../access/secret.ts';

import {
  type AccessRule,
  type Caller,
  evidenceRoute,
  plainRoute,
  type Surface,
} from '../contract/route.ts';

import { unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { accessIn, embeddedControl } from '../testing/control-store.ts';
import type { AnyHandler, Mounted } from './answer.ts';
import type { Guarding, Tokens } from './guard.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';

const NOW = 1_790_000_000;
const SECRETS = deriveSecrets('a root secret of the tests', null);

const shut = plainRoute({
  name: 'shut',
  surface: 'intelligence',
  method: 'GET',
  path: '/shut/{address}',
  summary: 'A route of the tests that takes a token.',
  access: 'bearer',
  params: z.strictObject({ address: z.string().max(5) }),
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});

const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

function serveAll(mounted: Mounted[], guarding: Partial<Guarding>) {
  const app = createHttp({
    mounted,
    gate: null,
    ...guarding,
    meters: createMeters([]),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    now: () => NOW,
    budgetMs: 1_000,
    trustProxy: false,
  });
  apps.push(app);
  return app;
}

function serve(tokens?: Tokens) {
  const callers: Caller[] = [];
  const handle: AnyHandler = async (_input, _asked, caller) => {
    callers.push(caller);
    return shut.reply(200, { fine: true });
  };
  const app = serveAll([{ route: shut, handle }], tokens === undefined ? {} : { tokens });
  const get = (headers: { [name: string]: string }, url = '/shut/one') =>
    app.inject({ method: 'GET', url, headers });
  return { get, callers, asked: () => callers.length };
}

const fresh = embeddedControl();

/** A gate that knows one key that opens a rule: of a member, or of a partner. */
async function member(rule: 'analyst' | 'desk' | 'enterprise' | 'partner') {
  const { memberships, keys, quota } = accessIn(fresh(), () => NOW * 1_000);
  const plan = rule === 'partner' ? 'analyst' : rule;
  await memberships.record({ membership_id: 'mem_1', plan, status: 'active', at: NOW });
  const holder =
    rule === 'partner'
      ? ({ kind: 'scp', partner: 'acme', monthly_budget: 500 } as const)
      : ({ kind: 'sc', membership_id: 'mem_1' } as const);
  const key = mintKey(holder, SECRETS, NOW);
  await keys.add(key.stored, 5);
  const [subject, period] =
    rule === 'partner' ? [`key:${key.stored.id}`, '2026-09'] : ['membership:mem_1', '2026-09-21'];
  const used = async () => {
    const reading = await quota.usage(subject, period);
    return reading.checked ? reading.value : null;
  };
  const gate = createGate({ keys, quota, secrets: SECRETS, durable: true }, () => NOW);
  return { gate, used, authorization: `Bearer ${key.text}` };
}

async function minted() {
  const { tokens } = accessIn(fresh(), () => NOW * 1_000);
  const token = mintToken('pro', SECRETS, NOW);
  await tokens.add(token.stored);
  return { tokens, text: token.text, id: token.stored.id };
}

describe('a route that takes a bearer token', () => {
  test('opens to a minted and to a configured token, and tells the handler which', async () => {
    const { tokens, text, id } = await minted();
    const configured = [{ tier: 'desk', token: 'configured-token' }] as const;
    const { get, callers } = serve(tokenAuthentication(configured, tokens, SECRETS));
    for (const token of [text, 'configured-token']) {
      const answer = await get({ authorization: `Bearer ${token}` });
      expect([answer.statusCode, answer.json()]).toEqual([200, { fine: true }]);
    }
    expect(callers).toEqual([
      { kind: 'token', token_id: id, tier: 'pro' },
      { kind: 'token', token_id: 'configured_1', tier: 'desk' },
    ]);
  });

  test('refuses no token, an unknown one and one in the query, before it reads the input', async () => {
    const { tokens, text } = await minted();
    const { get, asked } = serve(tokenAuthentication([], tokens, SECRETS));
    for (const [headers, url] of [
      [{}, '/shut/one'],
      [{ authorization: 'Bearer another' }, '/shut/one'],
      [{}, `/shut/one?token=${text}`],
      [{}, '/shut/too-long-for-the-route'],
    ] as const) {
      const answer = await get(headers, url);
      expect(answer.statusCode).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.json()).toEqual({ error: 'unauthorized', reason: expect.any(String) });
    }
    expect(asked()).toBe(0);
  });

  test('says so where tokens cannot be checked, and lets nobody in', async () => {
    const silence = unread(
      'tokens',
      why('store_unreadable', { what: 'The tokens', fault: 'gone' }),
    );
    const { get, asked } = serve(tokenAuthentication([], { find: async () => silence }, SECRETS));
    const answer = await get({ authorization: 'Bearer sct_anything' });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    expect(asked()).toBe(0);
  });

  test('opens to everybody only where the operator said so, and is never mounted without tokens', async () => {
    const { get, callers } = serve('anonymous');
    expect([(await get({})).statusCode, callers]).toEqual([200, [{ kind: 'nobody' }]]);
    expect(() => serve()).toThrow('shut needs tokens');
  });
});

describe('the rule of access alone says who may ask', () => {
  const RULES = ['analyst', 'desk', 'enterprise', 'partner'] as const;
  const SURFACES = [
    ...(['edge', 'hosted', 'integrations', 'intelligence', 'signals', 'web'] as const),
  ];
  const served = (access: AccessRule, surface: Surface, gate: AccessGate | null) => {
    const route = plainRoute({
      name: 'kept',
      surface,
      method: 'GET',
      path: '/kept',
      summary: 'Of the tests.',
      access,
      responses: { 200: z.strictObject({ fine: z.boolean() }) },
    });
    return serveAll([{ route, handle: async () => route.reply(200, { fine: true }) }], { gate });
  };

  test.each(RULES)(
    '%s is asked for on every surface, and what is answered is charged',
    async (rule) => {
      for (const surface of SURFACES) {
        const { gate, authorization, used } = await member(rule);
        const app = served(rule, surface, gate);
        const refused = await app.inject({ method: 'GET', url: '/kept' });
        expect([surface, refused.statusCode, await used()]).toEqual([surface, 402, 0]);
        const opened = await app.inject({
          method: 'GET',
          url: '/kept',
          headers: { authorization },
        });
        expect([surface, opened.statusCode, await used()]).toEqual([surface, 200, 1]);
        expect(opened.headers['x-ratelimit-remaining']).toBeDefined();
      }
    },
  );

  test.each(SURFACES)(
    'an open evidence route on %s needs no key and is not charged',
    async (surface) => {
      const route = evidenceRoute({
        name: 'seen',
        surface,
        method: 'GET',
        path: '/seen',
        summary: 'Of the tests.',
        access: 'open',
        data: z.strictObject({ caveat: z.string() }),
        absences: ['not_supported'],
        tool: null,
      });
      const why_ = why('form_not_recognised');
      const handle = async () => route.absent.not_supported({ subject: 's', why: why_ });
      const answer = await serveAll([{ route, handle }], {}).inject({
        method: 'GET',
        url: '/seen',
      });
      expect([answer.statusCode, answer.json().state]).toEqual([200, 'not_supported']);
      expect(answer.headers['x-ratelimit-remaining']).toBeUndefined();
    },
  );

  test.each(RULES)('%s is never mounted where no gate holds it, whatever the surface', (rule) => {
    for (const surface of SURFACES) {
      expect(() => served(rule, surface, null)).toThrow('kept needs a gate');
    }
  });

  test('a session is asked for on no surface where no sessions are kept', () => {
    for (const surface of SURFACES) {
      expect(() => served('session', surface, null)).toThrow('kept needs sessions');
    }
  });

  test('a rule that no guard knows is never mounted', () => {
    const unheard = 'staff' as string as AccessRule;
    expect(() => served(unheard, 'web', null)).toThrow('no guard knows the rule staff');
  });
});
