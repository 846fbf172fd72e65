// An answer that a client asked to have signed verifies as it was sent, refusals and HEAD too, and
// one that is not signed says why.

import { createHash } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { signatureWishText } from '../contract/http-signature.ts';
import { plainRoute } from '../contract/route.ts';
import { saveAnswer, verifySavedAnswer } from '../contract/saved-answer.ts';
import { memorySigning, TEST_KID } from '../testing/twins/signing.ts';
import type { Mounted } from './answer.ts';
import { createHttp } from './http.ts';
import { createMeters } from './metrics.ts';
import type { AnswerSigning } from './signed-answer.ts';

const NOW = 1_790_000_000;
const BASE = 'https://exhibit.example/under';
const LONG = 'evidence '.repeat(500);
const FACTS = { surface: 'hosted', summary: 'A route of the tests.', access: 'open' } as const;
const long = plainRoute({
  ...FACTS,
  method: 'GET',
  name: 'long',
  path: '/api/v1/long/{which}',
  params: z.strictObject({ which: z.string().max(3) }),
  query: z.strictObject({ on: z.string().optional() }),
  responses: { 200: z.strictObject({ text: z.string() }) },
});
const kept = plainRoute({
  ...FACTS,
  method: 'GET',
  name: 'kept',
  path: '/api/v1/kept',
  keptS: 60,
  responses: { 200: z.strictObject({ text: z.string() }) },
});
const posted = plainRoute({
  ...FACTS,
  method: 'POST',
  name: 'posted',
  path: '/api/v1/posted',
  body: z.strictObject({ a: z.number() }),
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});
const faulty = plainRoute({
  ...FACTS,
  method: 'GET',
  name: 'faulty',
  path: '/api/v1/faulty',
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});
const elsewhere = plainRoute({
  ...FACTS,
  surface: 'web',
  method: 'GET',
  name: 'elsewhere',
  path: '/elsewhere',
  responses: { 200: z.strictObject({ fine: z.boolean() }) },
});
const MOUNTED: Mounted[] = [
  { route: long, handle: async () => long.reply(200, { text: LONG }) },
  { route: kept, handle: async () => kept.reply(200, { text: LONG }) },
  { route: posted, handle: async () => posted.reply(200, { fine: true }) },
  { route: elsewhere, handle: async () => elsewhere.reply(200, { fine: true }) },
  {
    route: faulty,
    handle: async () => {
      throw new Error('a fault');
    },
  },
];
const { signing } = memorySigning(NOW);
const KEY: AnswerSigning['key'] = async () => {
  const found = await signing.current();
  return found.checked ? found.value : null;
};

const apps: { close: () => Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

const faults: unknown[] = [];

function ask(options: InjectOptions, key = KEY) {
  const nothing = () => undefined;
  const app = createHttp({
    mounted: MOUNTED,
    gate: null,
    meters: createMeters([]),
    log: { info: nothing, warn: nothing, error: (facts) => faults.push(facts) },
    now: () => NOW,
    budgetMs: 1_000,
    trustProxy: false,
    signing: { key, base: () => BASE, now: () => NOW },
    refusalPage: ({ code }) => `<!doctype html><p>${code}</p>`,
  });
  apps.push(app);
  return app.inject(options);
}

const URL_LONG = '/api/v1/long/a%20b?on=1';
const wished = (more: { [name: string]: string } = {}, nonce = 'n-1') => {
  return { 'accept-signature': signatureWishText(nonce), ...more };
};

/** How the answer verifies, as the one to this request. */
async function verified(
  said: LightMyRequestResponse,
  { method = 'GET', url = URL_LONG }: { readonly method?: string; readonly url?: string } = {},
) {
  const keys = await signing.publicKeys();
  if (!keys.checked) throw new Error('the twin is silent');
  const field = (name: string) => {
    const value = said.headers[name];
    return value === undefined ? null : String(value);
  };
  const asked = { method, url: BASE + url, accept_signature: signatureWishText('n-1') };
  const file = saveAnswer(asked, said.statusCode, field, said.rawPayload);
  const result = verifySavedAnswer(file, { keys: keys.value }, { now: NOW });
  return result.state === 'holds' ? 'holds' : result.fault;
}

describe('a signed answer', () => {
  test('verifies as the bytes that were sent, whatever encoding its client takes', async () => {
    for (const accepted of [undefined, 'gzip', 'gzip, br', 'identity', '*']) {
      const headers = wished(accepted === undefined ? {} : { 'accept-encoding': accepted });
      const said = await ask({ method: 'GET', url: URL_LONG, headers });
      expect(said.headers['content-encoding']).toBeUndefined();
      expect(said.json()).toEqual({ text: LONG });
      expect(await verified(said)).toBe('holds');
      expect(said.headers['cache-control']).toBe('no-store, no-transform');
    }
  });

  test('is over the compressed bytes where its client takes no others', async () => {
    const headers = wished({ 'accept-encoding': 'br, identity;q=0' });
    const said = await ask({ method: 'GET', url: URL_LONG, headers });
    expect(said.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(said.rawPayload).toString()).toContain(LONG);
    expect(await verified(said)).toBe('holds');
  });

  test('of HEAD is over no content, and is not that of GET', async () => {
    const said = await ask({ method: 'HEAD', url: URL_LONG, headers: wished() });
    expect([said.statusCode, said.body]).toEqual([200, '']);
    expect(said.headers['content-digest']).toBe(
      'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
    );
    expect(await verified(said, { method: 'HEAD' })).toBe('holds');
    expect(await verified(said, { method: 'GET' })).toBe('signature_wrong');
  });

  test('that its client holds already is over no content, and is not that of the whole one', async () => {
    const url = '/api/v1/kept';
    const whole = await ask({ method: 'GET', url, headers: wished() });
    expect(await verified(whole, { url })).toBe('holds');
    const headers = wished({ 'if-none-match': String(whole.headers['etag']) });
    const said = await ask({ method: 'GET', url, headers });
    expect([said.statusCode, said.body]).toEqual([304, '']);
    expect(await verified(said, { url })).toBe('holds');
    expect(await verified({ ...said, statusCode: 200 }, { url })).toBe('signature_wrong');
  });

  test('of a post verifies too', async () => {
    const said = await ask({
      method: 'POST',
      url: '/api/v1/posted',
      headers: wished(),
      payload: { a: 1 },
    });
    expect(await verified(said, { method: 'POST', url: '/api/v1/posted' })).toBe('holds');
  });

  test('of another address is none of this one', async () => {
    const said = await ask({ method: 'GET', url: URL_LONG, headers: wished() });
    expect(await verified(said, { url: '/api/v1/long/other' })).toBe('signature_wrong');
    expect(await verified(said, { url: URL_LONG.slice(0, -1) })).toBe('signature_wrong');
  });

  test('names the public URL, whatever host the client named', async () => {
    const headers = wished({ host: 'evil.example', 'x-forwarded-host': 'evil.example' });
    const said = await ask({ method: 'GET', url: URL_LONG, headers });
    expect(await verified(said)).toBe('holds');
  });

  test('carries the label, nonce and tag that were asked for', async () => {
    const headers = { 'accept-signature': 'mine=();created;nonce="a\\"b";tag="t"' };
    const said = await ask({ method: 'GET', url: URL_LONG, headers });
    expect(said.headers['signature-input']).toBe(
      'mine=("@status" "content-digest" "content-type" "@method";req "@target-uri";req)' +
        `;created=${NOW};keyid="${TEST_KID}";alg="ed25519";nonce="a\\"b";tag="t"`,
    );
    expect(said.headers['signature']).toMatch(/^mine=:[A-Za-z0-9+/]{86}==:$/);
  });
});

describe('a refusal', () => {
  test.each<[number, InjectOptions]>([
    [400, { method: 'GET', url: '/api/v1/long/toolong' }],
    [400, { method: 'GET', url: '/api/v1/%' }],
    [404, { method: 'GET', url: '/api/v1/none' }],
    [405, { method: 'DELETE', url: '/api/v1/long/a' }],
    [500, { method: 'GET', url: '/api/v1/faulty' }],
    [415, { method: 'POST', url: '/api/v1/posted', payload: 'x' }],
  ])('with %i is signed as well', async (status, { method, url, ...more }) => {
    const type = more.payload === undefined ? {} : { 'content-type': 'text/plain' };
    const said = await ask({ method, url, ...more, headers: wished(type) } as InjectOptions);
    expect(said.statusCode).toBe(status);
    expect(await verified(said, { method: String(method), url: String(url) })).toBe('holds');
  });
});

describe('no signature', () => {
  test('is on an answer that nobody asked to have signed, or that is not hosted', async () => {
    const plain = await ask({ method: 'GET', url: URL_LONG, headers: { 'accept-encoding': 'br' } });
    const other = await ask({ method: 'GET', url: '/elsewhere', headers: wished() });
    expect(plain.headers['content-encoding']).toBe('br');
    for (const { headers } of [plain, other]) {
      for (const name of ['signature', 'signature-input', 'content-digest']) {
        expect(headers[name]).toBeUndefined();
      }
      expect(headers['cache-control']).toBe('no-store');
    }
  });

  test.each([
    ['x=', 'malformed'],
    ['x=("@status")', 'components'],
    ['x=();expires', 'parameters'],
    ['x=();keyid="another"', 'parameters'],
  ])('is given for %s, and the answer says why: %s', async (asked, reason) => {
    const said = await ask({
      method: 'GET',
      url: URL_LONG,
      headers: { 'accept-signature': asked },
    });
    expect(said.json()).toEqual({ text: LONG });
    expect(said.headers['signature-unavailable']).toBe(reason);
    expect(await verified(said)).toBe('unsigned');
  });

  test('is given without a key, or where signing fails; the fault is in the log alone', async () => {
    const none = await ask({ method: 'GET', url: URL_LONG, headers: wished() }, async () => null);
    expect([none.statusCode, none.headers['signature-unavailable']]).toEqual([200, 'no_key']);
    faults.length = 0;
    const failing = await ask({ method: 'GET', url: URL_LONG, headers: wished() }, async () => {
      throw new Error('a fault of signing');
    });
    expect([failing.statusCode, failing.headers['signature-unavailable']]).toEqual([200, 'fault']);
    expect(JSON.stringify(faults)).toContain('a fault of signing');
    expect(failing.body).not.toContain('fault');
  });
});

test('the digest is that of SHA-256', async () => {
  const said = await ask({ method: 'GET', url: URL_LONG, headers: wished() });
  const own = createHash('sha256').update(said.rawPayload).digest('base64');
  expect(said.headers['content-digest']).toBe(`sha-256=:${own}:`);
});
