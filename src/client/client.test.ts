// The client against a server that answers as it is told: what it sends, repeats, gives up, hides.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type ClientOptions,
  createClient,
  ExhibitFailure,
  ExhibitRefusal,
  send,
} from './client.ts';
import { requestSigned, type SignedOptions } from './signed.ts';

const KEY = 'sc_a-key-that-no-text-may-hold';
const ADDRESS = '0x00000000219ab540356cbb839cbe05303d7705fa';
const OK = {
  state: 'ok',
  subject: ADDRESS,
  sources: [{ name: 'List', url: 'https://list.example', as_of: 1 }],
  as_of: 1,
  data: { sanctioned: false, a_field_of_tomorrow: [1, 2] },
};
const ABSENT = { ...OK, state: 'not_deployed', sources: [], data: null, reason: 'Not loaded.' };
const QUOTA_HEADERS = {
  'x-ratelimit-limit': '1000',
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': '3600',
};

type Says = (request: IncomingMessage, response: ServerResponse, body: string) => void;
type Seen = { method?: string; url?: string; headers: IncomingMessage['headers']; body: string };

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that says one thing after another, and the last for ever; and a client of it. */
async function served(says: readonly Says[], options: Partial<ClientOptions> = {}) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const { method, url, headers } = request;
    const say = says[Math.min(seen.length, says.length - 1)];
    seen.push({ ...(method && { method }), ...(url && { url }), headers, body });
    say?.(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://127.0.0.1:${port}`);
  const client = createClient({ baseUrl: url, key: KEY, ...options });
  return { client, seen, url };
}

const json =
  (status: number, body: unknown, headers: { [name: string]: string } = {}): Says =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
const cut: Says = (request) => {
  request.socket.destroy();
};
const never: Says = () => undefined;
const refusing = (status: number, more: object = {}, headers = {}) =>
  json(status, { error: 'No.', ...more }, headers);

async function faultOf(call: Promise<unknown>): Promise<Error> {
  const fault = await call.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(fault instanceof Error)) throw new Error('it did not fail');
  return fault;
}

describe('sends', () => {
  test('the path, query, body and credential that each route declares, and nothing else', async () => {
    const { client, seen } = await served([json(200, ABSENT)], { token: 'a-token' });
    await client.wallet_ofac({ address: 'a/b?c', on: '2026-11-21' });
    await client.bulk_wallet_screen({ body: { addresses: [ADDRESS] } });
    await client.partner_scan({ address: ADDRESS });
    await client.wallet_entity({ address: ADDRESS });
    await client.health();
    const bearer = `Bearer ${KEY}`;
    expect(
      seen.map(({ method, url, headers, body }) => [
        `${method} ${url}`,
        body,
        headers.authorization,
        headers['content-type'],
      ]),
    ).toEqual([
      ['GET /api/v1/wallet/a%2Fb%3Fc/ofac?on=2026-11-21', '', bearer, undefined],
      [
        'POST /api/v1/bulk/wallet-screen',
        `{"addresses":["${ADDRESS}"]}`,
        bearer,
        'application/json',
      ],
      [`POST /api/v1/scan/${ADDRESS}`, '', bearer, undefined],
      [`GET /api/wallet/${ADDRESS}/entity`, '', 'Bearer a-token', undefined],
      ['GET /health', '', undefined, undefined],
    ]);
  });

  test('no field of a path that would lead elsewhere', async () => {
    const { client, seen } = await served([json(200, OK)]);
    for (const address of ['', '.', '..']) {
      expect(await faultOf(client.wallet_ofac({ address }))).toBeInstanceOf(TypeError);
    }
    expect(seen).toEqual([]);
  });
});

describe('gives', () => {
  test('the answer as it came, fields that it does not know included', async () => {
    const { client } = await served([json(200, OK), json(200, ABSENT)]);
    expect(await client.wallet_ofac({ address: ADDRESS })).toEqual(OK);
    expect(await client.wallet_ofac({ address: ADDRESS })).toEqual(ABSENT);
  });

  test.each([
    ['a state that it does not know', { ...ABSENT, state: 'clean' }],
    ['an absence that the route does not declare', { ...ABSENT, state: 'not_supported' }],
    ['an absence without a reason', { ...ABSENT, reason: undefined }],
    ['an ok without data', { ...OK, data: null }],
    ['another body', { result: [] }],
    ['a list', []],
    ['no object', null],
  ])('%s is a failure and never an answer', async (_, body) => {
    const { client } = await served([json(200, body)]);
    const fault = await faultOf(client.wallet_ofac({ address: ADDRESS }));
    expect(fault).toMatchObject({ name: 'ExhibitFailure', code: 'unexpected' });
  });

  test('HTML is a failure, and so is a redirect: the key is not sent on', async () => {
    const html: Says = (_, response) => response.end('<html>');
    const elsewhere: Says = (_, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end();
    };
    for (const say of [html, elsewhere]) {
      const { client, seen } = await served([say]);
      const fault = await faultOf(client.wallet_ofac({ address: ADDRESS }));
      expect(fault).toMatchObject({ code: 'unexpected' });
      expect(seen).toHaveLength(1);
    }
  });
});

describe('refusals', () => {
  test('carry status, body, allowance and the time to wait', async () => {
    const body = { error: 'All used.', reason: 'quota_exhausted', reset: 3_600 };
    const headers = { ...QUOTA_HEADERS, 'retry-after': '3600' };
    const { client } = await served([json(429, body, headers)]);
    const fault = await faultOf(client.wallet_ofac({ address: ADDRESS }));
    expect(fault).toBeInstanceOf(ExhibitRefusal);
    expect(fault).toMatchObject({
      route: 'wallet_ofac',
      status: 429,
      body,
      rateLimit: { limit: 1_000, remaining: 0, reset_s: 3_600 },
      retryAfterS: 3_600,
      message: 'wallet_ofac: refused with 429: All used.',
    });
  });

  test.each([
    [402, { reason: 'no_credential', entitlements_durable: true }],
    [402, { reason: 'store_unavailable', entitlements_durable: true }],
    [429, { reason: 'quota_exhausted', reset: 1 }],
    [400, {}],
    [401, {}],
    [404, {}],
    [500, { request_id: 'x' }],
  ])('%i %o is never asked again, whatever it says of when to come back', async (status, more) => {
    const { client, seen } = await served([refusing(status, more, { 'retry-after': '0' })]);
    const fault = await faultOf(client.wallet_ofac({ address: ADDRESS }));
    expect(fault).toMatchObject({ status, rateLimit: null, retryAfterS: 0 });
    expect(seen).toHaveLength(1);
  });
});

describe('passing faults', () => {
  test('are asked again: no response, and 503 once its Retry-After is over', async () => {
    const busy = refusing(503, {}, { 'retry-after': '0' });
    const { client, seen } = await served([cut, busy, json(200, OK)]);
    expect(await client.wallet_ofac({ address: ADDRESS })).toEqual(OK);
    expect(seen).toHaveLength(3);
  });

  test('are given up after so many attempts', async () => {
    for (const [retriesMax, say] of [
      [0, cut],
      [1, cut],
      [1, refusing(503, {}, { 'retry-after': '0' })],
    ] as const) {
      const { client, seen } = await served([say], { retriesMax });
      await faultOf(client.wallet_ofac({ address: ADDRESS }));
      expect(seen).toHaveLength(retriesMax + 1);
    }
  });

  test('are not waited for past the deadline: the refusal is told at once', async () => {
    const { client, seen } = await served([refusing(503, {}, { 'retry-after': '61' })]);
    const fault = await faultOf(client.wallet_ofac({ address: ADDRESS }));
    expect(fault).toMatchObject({ status: 503, retryAfterS: 61 });
    expect(seen).toHaveLength(1);
  });

  test('are asked again of an evidence route by POST too: it only reads', async () => {
    const { client, seen } = await served([cut, json(200, OK)]);
    await client.bulk_wallet_screen({ body: { addresses: [ADDRESS] } });
    expect(seen).toHaveLength(2);
  });

  test('are not asked again where the first request may have done something', async () => {
    const { url, seen } = await served([cut, json(200, OK)]);
    const init = { method: 'POST', headers: {}, body: null };
    const bounds = { retriesMax: 2, timeoutMs: 5_000, bytesMax: 1_000, signal: undefined };
    const sent = await send({ url, init, repeatable: false, statuses: [200], ...bounds });
    expect(sent).toMatchObject({ kind: 'none', code: 'network' });
    expect(seen).toHaveLength(1);
  });
});

test('bytes come as they were sent, in however many pieces, and no more of them than allowed', async () => {
  const [first, second] = [Buffer.from([0, 0xff, 0xc3]), Buffer.from([0x28, 0xef, 0xbb, 0xbf])];
  const { url } = await served([
    (_, response) => {
      response.writeHead(200);
      response.write(first, () => response.end(second));
    },
  ]);
  const init = { method: 'GET', headers: {}, body: null };
  const asked = { url, init, repeatable: true, statuses: [200], retriesMax: 0, timeoutMs: 5_000 };
  const whole = await send({ ...asked, bytesMax: 7, signal: undefined });
  if (whole.kind === 'none') throw new Error('nothing came');
  expect(Buffer.from(whole.bytes)).toEqual(Buffer.concat([first, second]));
  const cutOff = await send({ ...asked, bytesMax: 6, signal: undefined });
  expect(cutOff).toEqual({ kind: 'none', code: 'too_large' });
});

describe('ends', () => {
  test('when its time is up, in the middle of a body too', async () => {
    const half: Says = (_, response) => {
      response.writeHead(200);
      response.write('{"state":');
    };
    for (const say of [never, half]) {
      const { client, seen } = await served([say]);
      const fault = await faultOf(client.wallet_ofac({ address: ADDRESS }, { timeoutMs: 100 }));
      expect(fault).toMatchObject({ name: 'ExhibitFailure', code: 'timeout' });
      expect(seen.length).toBeLessThan(2);
    }
  });

  test('when its caller says so, with the caller’s own reason, also while it waits', async () => {
    const reason = new Error('no longer wanted');
    for (const say of [never, refusing(503, {}, { 'retry-after': '30' })]) {
      const { client, seen } = await served([say]);
      const ending = new AbortController();
      const call = faultOf(client.wallet_ofac({ address: ADDRESS }, { signal: ending.signal }));
      while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      setTimeout(() => ending.abort(reason), 100);
      expect(await call).toBe(reason);
      expect(await faultOf(client.health({}, { signal: ending.signal }))).toBe(reason);
      expect(seen).toHaveLength(1);
    }
  });

  test('at a response that is longer than allowed, without reading the rest', async () => {
    let written = 0;
    const endless: Says = (_, response) => {
      response.writeHead(200);
      const more = () => {
        if (response.destroyed) return;
        written += 1;
        response.write('x'.repeat(1_000), () => setImmediate(more));
      };
      more();
    };
    const { client, seen } = await served([endless], { responseBytesMax: 10_000 });
    const fault = await faultOf(client.wallet_ofac({ address: ADDRESS }));
    expect(fault).toMatchObject({ code: 'too_large' });
    expect([seen.length, written < 100_000]).toEqual([1, true]);
  });
});

describe('a key', () => {
  test('is in no error, whatever went wrong, and in nothing that shows the client', async () => {
    const echo: Says = (request, response) => {
      response.writeHead(402, { 'content-type': 'application/json' });
      const error = `unknown: ${request.headers.authorization}`;
      response.end(JSON.stringify({ error, reason: 'unknown_membership' }));
    };
    const html: Says = (request, response) => {
      response.writeHead(500).end(`<b>${request.headers.authorization}</b>`);
    };
    const texts: string[] = [];
    for (const say of [echo, html, cut, never, json(200, { echoed: KEY })]) {
      const { client } = await served([say], { retriesMax: 0, timeoutMs: 300 });
      const fault = await faultOf(client.wallet_ofac({ address: ADDRESS }));
      texts.push(inspect(fault, { depth: 20, showHidden: true }), JSON.stringify(fault));
      texts.push(String(fault.stack), inspect(client, { depth: 20, showHidden: true }));
    }
    expect(texts).toHaveLength(20);
    for (const text of texts) expect(text).not.toContain(KEY);
    expect(texts[0]).toContain('unknown: Bearer [credential]');
  });

  test('that no header can carry is refused without being told', () => {
    for (const key of [`${KEY}\n`, `${KEY} ${KEY}`, `${KEY}é`, '', KEY.repeat(50)]) {
      const made = () => createClient({ baseUrl: 'http://127.0.0.1', key });
      expect(made).toThrow(new TypeError('key: expected printable characters'));
    }
  });
});

test('an option that is none is refused when the client is made', () => {
  const made = (options: Partial<ClientOptions>) => () =>
    createClient({ baseUrl: 'http://127.0.0.1', ...options });
  for (const baseUrl of ['', '127.0.0.1', 'ftp://h', `http://u:${KEY}@h`, 'http://h/?a', '/api']) {
    expect(made({ baseUrl })).toThrow('baseUrl: expected');
  }
  expect(made({ baseUrl: 'https://h/under/' })).not.toThrow();
  for (const options of [{ timeoutMs: 0 }, { retriesMax: 6 }, { responseBytesMax: 0.5 }]) {
    expect(made(options)).toThrow('expected a whole number');
  }
  expect(new ExhibitFailure('r', 'network', 'none')).not.toHaveProperty('cause');
});

describe('a signed answer', () => {
  const said = (over: { [name: string]: string } = {}): Says =>
    json(200, OK, {
      'content-digest': 'sha-256=:QQ==:',
      'signature-input': 'exhibit=()',
      signature: 'exhibit=:QQ==:',
      ...over,
    });
  const ask = (says: Says, options: SignedOptions) =>
    served([says]).then(({ client, seen }) => ({
      seen,
      call: client.wallet_ofac({ address: ADDRESS }, { signed: requestSigned(options) }),
    }));

  test('is asked for under another nonce each time, and saved as one file', async () => {
    const files: unknown[] = [];
    const save = (file: unknown) => void files.push(file);
    const first = await ask(said(), { save });
    expect(await first.call).toEqual(OK);
    const second = await ask(said(), { save });
    await second.call;
    const wishes = [first, second].map(({ seen }) => String(seen[0]?.headers['accept-signature']));
    expect(new Set(wishes).size).toBe(2);
    for (const wish of wishes) {
      expect(wish).toMatch(
        /^exhibit=\("@status" .*;req\);created;alg="ed25519";nonce="[A-Za-z0-9+/]{24}"$/,
      );
    }
    expect(files[0]).toEqual({
      format: 'exhibit-saved-answer/1',
      request: {
        method: 'GET',
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/wallet\/0x.*\/ofac$/),
        accept_signature: wishes[0],
      },
      answer: {
        status: 200,
        headers: {
          'content-type': 'application/json',
          'content-digest': 'sha-256=:QQ==:',
          'signature-input': 'exhibit=()',
          signature: 'exhibit=:QQ==:',
        },
        body_base64: btoa(JSON.stringify(OK)),
      },
    });
    expect(JSON.stringify(files)).not.toContain(KEY);
  });

  test('is not asked for otherwise', async () => {
    const { client, seen } = await served([json(200, OK)]);
    await client.wallet_ofac({ address: ADDRESS });
    expect(seen[0]?.headers['accept-signature']).toBeUndefined();
  });

  test('that came unsigned, or that does not verify, is thrown away and not saved', async () => {
    const files: unknown[] = [];
    const save = (file: unknown) => void files.push(file);
    const unsigned = await ask(json(200, OK, { 'signature-unavailable': 'no_key' }), { save });
    const fault = await faultOf(unsigned.call);
    expect(fault).toBeInstanceOf(ExhibitFailure);
    expect(fault).toMatchObject({ code: 'unverified' });
    expect(fault.message).toContain('not signed (no_key)');
    const forged = await ask(said(), { save, keys: { keys: [] } });
    expect(await faultOf(forged.call)).toMatchObject({ code: 'unverified' });
    expect(files).toEqual([]);
  });
});
