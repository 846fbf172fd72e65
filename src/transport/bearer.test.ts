import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deriveSecrets } from '../access/secret.ts';
import { mintToken, tokenAuthentication } from '../access/tokens.ts';
import { plainRoute } from '../contract/route.ts';
import { unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import { memoryAccess } from '../testing/memory/access.ts';
import type { Tokens } from './bearer.ts';
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

function serve(tokens?: Tokens) {
  let asked = 0;
  const app = createHttp({
    mounted: [
      {
        route: shut,
        handle: async () => {
          asked += 1;
          return shut.reply(200, { fine: true });
        },
      },
    ],
    documents: [],
    gate: null,
    ...(tokens === undefined ? {} : { tokens }),
    meters: createMeters([]),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    now: () => NOW,
    budgetMs: 1_000,
    trustProxy: false,
  });
  apps.push(app);
  const get = (headers: { [name: string]: string }, url = '/shut/one') =>
    app.inject({ method: 'GET', url, headers });
  return { get, asked: () => asked };
}

async function minted() {
  const { tokens } = memoryAccess({ simulated: false, nowMs: () => NOW * 1_000 });
  const token = mintToken('pro', SECRETS, NOW);
  await tokens.add(token.stored);
  return { tokens, text: token.text };
}

describe('a route that takes a bearer token', () => {
  test('opens to a minted and to a configured token', async () => {
    const { tokens, text } = await minted();
    const configured = [{ tier: 'desk', token: 'configured-token' }] as const;
    const { get } = serve(tokenAuthentication(configured, tokens, SECRETS));
    for (const token of [text, 'configured-token']) {
      const answer = await get({ authorization: `Bearer ${token}` });
      expect([answer.statusCode, answer.json()]).toEqual([200, { fine: true }]);
    }
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

  test('opens to everybody only where the operator said so, and is never mounted without a door', async () => {
    expect((await serve('anonymous').get({})).statusCode).toBe(200);
    expect(() => serve()).toThrow('shut needs a door');
  });
});
