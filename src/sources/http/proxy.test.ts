import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSecure, trustAnyCertificate } from '../../testing/tls-stand-in.ts';
import { fetchBytes, fetchJson } from './fetch.ts';
import { FetchFault, goThrough, isInsideAddress, isProxied } from './outbound-call.ts';

const MARK = 'MARKER7f3a';
const LIMITS = {
  deadlineMs: 5_000,
  headersMs: 2_000,
  bytesMax: 10_000,
  redirectsMax: 3,
  dripWindowMs: 2_000,
  dripBytesMin: 10,
};
const signal = new AbortController().signal;
const closings: (() => Promise<void>)[] = [];
const asked: string[] = [];
let distrust: () => void;
beforeAll(() => {
  distrust = trustAnyCertificate();
});
afterAll(() => distrust());

/** A proxy that leads every tunnel to one server, and asks for user info. */
async function startProxy(leadTo: string, refuses: boolean): Promise<URL> {
  const known = `Basic ${Buffer.from(`${MARK}:secret`).toString('base64')}`;
  const lets = ({ headers }: IncomingMessage) => headers['proxy-authorization'] === known;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(lets(request) ? 200 : 407).end('"handed on"');
  });
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (refuses || !lets(request)) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const { hostname, port } = new URL(leadTo);
    const on = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      on.pipe(socket).pipe(on);
    });
    on.on('error', () => socket.destroy());
    socket.on('error', () => on.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closings.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return new URL(`http://${MARK}:secret@127.0.0.1:${address.port}`);
}

let origin: string;
beforeEach(async () => {
  const publisher = await startSecure('127.0.0.1', (request, response) => {
    if (request.url === '/to-inside') response.writeHead(302, { location: 'https://10.0.0.1/' });
    response.end('"a list"');
  });
  closings.push(publisher.close);
  origin = publisher.origin;
});
afterEach(async () => {
  goThrough(null);
  asked.length = 0;
  for (const close of closings.splice(0)) await close();
});

async function got(url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  const into = async (chunk: Uint8Array) => void chunks.push(chunk);
  const ask = { headers: {}, limits: LIMITS, signal, isInside: isInsideAddress, into };
  return await fetchBytes({ url: new URL(url), ...ask }).then(
    () => Buffer.concat(chunks).toString('utf8'),
    (error: unknown) => {
      if (!(error instanceof FetchFault)) throw error;
      expect(error.stack).not.toContain(MARK);
      return error.fault;
    },
  );
}

const json = (url: string) =>
  fetchJson({
    url: new URL(url),
    body: null,
    limits: { deadlineMs: 5_000, bytesMax: 100 },
    signal,
  });

describe('through a proxy', () => {
  test('https goes by a tunnel, for downloads and for providers', async () => {
    goThrough(await startProxy(origin, false));
    expect(await got('https://publisher.example/list')).toBe('"a list"');
    expect(await json('https://provider.example:8443/api')).toBe('a list');
    expect(asked).toEqual(['CONNECT publisher.example:443', 'CONNECT provider.example:8443']);
  });

  test('plain http of a provider is handed to it whole; a list is not taken so', async () => {
    goThrough(await startProxy(origin, false));
    expect(await json('http://provider.example/api?q=1')).toBe('handed on');
    expect(asked).toEqual(['GET http://provider.example/api?q=1']);
    const plain = 'plain http is for addresses inside this network only';
    expect(await got('http://publisher.example/list')).toBe(plain);
  });

  test('a redirect inside is refused here, whatever the proxy would reach', async () => {
    goThrough(await startProxy(origin, false));
    const fault = 'redirected to an address inside this network';
    expect(await got('https://publisher.example/to-inside')).toBe(fault);
  });

  test('one that refuses, or is not there, is named as that and not by its address', async () => {
    goThrough(await startProxy(origin, true));
    expect(await got('https://publisher.example/list')).toBe('the proxy answered 403');
    goThrough(new URL(`http://${MARK}@127.0.0.1:1`));
    expect(await got('https://publisher.example/list')).toMatch(/^the proxy gave no connection/);
  });

  test('what lies inside is asked directly', async () => {
    goThrough(await startProxy(origin, true));
    expect(await got(`${origin}/list`)).toBe('"a list"');
    expect(asked).toEqual([]);
    const urls = ['http://node:8545', 'http://localhost:1', 'http://10.0.0.7', 'https://[::1]/'];
    expect(urls.filter((url) => isProxied(new URL(url)))).toEqual([]);
    expect(isProxied(new URL('https://8.8.8.8/'))).toBe(true);
  });
});
