import { createServer, type RequestListener } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startSecure, trustAnyCertificate } from '../../testing/tls-stand-in.ts';
import { fetchBytes } from './fetch.ts';
import { FetchFault, isInsideAddress, literalHost } from './outbound-call.ts';

const LIMITS = {
  deadlineMs: 5_000,
  headersMs: 2_000,
  bytesMax: 10_000,
  redirectsMax: 3,
  dripWindowMs: 2_000,
  dripBytesMin: 10,
};
const closings: (() => Promise<void>)[] = [];
let distrust: () => void;
beforeAll(() => {
  distrust = trustAnyCertificate();
});
afterAll(() => distrust());
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

async function secure(at: string, listener: RequestListener): Promise<string> {
  const { origin, close } = await startSecure(at, listener);
  closings.push(close);
  return origin;
}

async function plain(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closings.push(async () => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

/** What a download came to: its text, or the fault. `web` are addresses that count as outside. */
async function got(origin: string, web: readonly string[] = []): Promise<string> {
  const chunks: Uint8Array[] = [];
  const asked = {
    url: new URL('/list', origin),
    headers: {},
    limits: LIMITS,
    signal: new AbortController().signal,
    isInside: (address: string) => !web.includes(address) && isInsideAddress(address),
    into: async (chunk: Uint8Array) => void chunks.push(chunk),
  };
  return await fetchBytes(asked).then(
    () => Buffer.concat(chunks).toString('utf8'),
    (error: unknown) => {
      if (error instanceof FetchFault) return error.fault;
      throw error;
    },
  );
}

const to =
  (location: string): RequestListener =>
  (_, response) =>
    response.writeHead(302, { location }).end();
const list: RequestListener = (_, response) => response.end('a list');
const INTO = 'redirected to an address inside this network';
const PLAIN = 'plain http is for addresses inside this network only';

describe('a redirect from the web', () => {
  const WEB = ['127.0.0.1', '127.0.0.2'];

  test('leads to another host on the web', async () => {
    const other = await secure('127.0.0.2', list);
    expect(await got(await secure('127.0.0.1', to(`${other}/list`)), WEB)).toBe('a list');
  });

  test.each([
    'https://169.254.169.254/latest/meta-data',
    'https://127.0.0.3/',
    'https://10.1.2.3/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.3]/',
    'https://[64:ff9b::7f00:3]/',
    'https://0x7f.3/',
    'https://2130706435/',
  ])('never leads to %s', async (location) => {
    expect(await got(await secure('127.0.0.1', to(location)), WEB)).toBe(INTO);
  });

  test('never leads to a name that means an address inside, whatever it meant before', async () => {
    const port = new URL(await secure('127.0.0.1', list)).port;
    const origin = await secure('127.0.0.2', to(`https://localhost:${port}/list`));
    expect(await got(origin, ['127.0.0.2'])).toBe(INTO);
  });

  test('never leads to plain http', async () => {
    const other = await plain(list);
    const fault = await got(await secure('127.0.0.1', to(`${other}/list`)), WEB);
    expect(fault).toBe('redirected from https to http');
  });

  test('leads nowhere inside after another host on the web either', async () => {
    const second = await secure('127.0.0.2', to('https://192.168.0.1/'));
    expect(await got(await secure('127.0.0.1', to(second)), WEB)).toBe(INTO);
  });
});

describe('a configured address inside this network', () => {
  test('may be plain http, and may redirect inside and to the web', async () => {
    const other = await plain(list);
    expect(await got(await plain(to(`${other}/list`)))).toBe('a list');
    const web = await secure('127.0.0.2', list);
    expect(await got(await plain(to(`${web}/list`)), ['127.0.0.2'])).toBe('a list');
  });

  test('plain http goes nowhere else, by a number or a name', async () => {
    const origin = await plain(list);
    expect(await got(origin, ['127.0.0.1'])).toBe(PLAIN);
    const { port } = new URL(origin);
    expect(await got(`http://localhost:${port}`, ['127.0.0.1', '::1'])).toBe(PLAIN);
    const away = await plain(to('http://192.0.2.1/list'));
    expect(await got(away)).toBe(PLAIN);
  });
});

test('addresses inside are those of this machine, of private networks and of no host', () => {
  const inside = [
    '127.0.0.1',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fd00::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
  ];
  const outside = ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1', '64:ff9b::808:808'];
  expect(inside.filter((one) => !isInsideAddress(one))).toEqual([]);
  expect(outside.filter(isInsideAddress)).toEqual([]);
  expect(literalHost(new URL('https://[::1]:8443/'))).toBe('::1');
  expect(literalHost(new URL('https://publisher.example/'))).toBeNull();
});
