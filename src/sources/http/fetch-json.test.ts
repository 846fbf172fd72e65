import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { fetchJson, type JsonAsk, StatusFault } from './fetch.ts';
import { FetchFault } from './outbound-call.ts';

const MARK = 'MARKER7f3a';
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return new URL(`http://user:${MARK}@127.0.0.1:${address.port}/${MARK}?apikey=${MARK}`);
}

function got(url: URL, over: Partial<JsonAsk> = {}): Promise<unknown> {
  const limits = { deadlineMs: 2_000, bytesMax: 1_000 };
  const signal = new AbortController().signal;
  return fetchJson({ url, body: null, limits, signal, ...over });
}

async function faultOf(asked: Promise<unknown>): Promise<FetchFault> {
  const error: unknown = await asked.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FetchFault)) throw new Error(`no fault: ${String(error)}`);
  expect(JSON.stringify([error.message, error.fault, error.stack])).not.toContain(MARK);
  return error;
}

test('JSON is given as it came; user info goes as a header, a body by POST', async () => {
  const url = await serve((request, response) => {
    const { method, headers } = request;
    response.end(JSON.stringify({ method, authorization: headers.authorization }));
  });
  const pair = Buffer.from(`user:${MARK}`).toString('base64');
  expect(await got(url)).toEqual({ method: 'GET', authorization: `Basic ${pair}` });
  expect(await got(url, { body: { id: 1 } })).toMatchObject({ method: 'POST' });
});

test.each([
  ['<html><body>down</body></html>', 'answered HTML, not JSON'],
  ['', 'answered nothing'],
  ['{"a":[1,', 'answered no whole JSON'],
  [`[${'1,'.repeat(600)}1]`, 'sent over 1000 bytes'],
])('a body of %j is a fault', async (body, fault) => {
  const url = await serve((_, response) => response.end(body));
  expect((await faultOf(got(url))).fault).toBe(fault);
});

test('another status is a fault, with what it said and when to ask again', async () => {
  const url = await serve((_, response) => {
    response.writeHead(429, { 'retry-after': '7' }).end('{"error":{"code":-32005}}');
  });
  const fault = await faultOf(got(url));
  expect(fault).toBeInstanceOf(StatusFault);
  expect(fault).toMatchObject({ status: 429, retryAfterMs: 7_000, said: { error: {} } });
});

test('a redirect is not followed: a key would travel with it', async () => {
  const url = await serve((_, response) => {
    response.writeHead(302, { location: `https://elsewhere.example/${MARK}` }).end();
  });
  expect((await faultOf(got(url))).fault).toBe('redirected (302)');
});

test('silence, a cut connection and a caller that hangs up are faults', async () => {
  const silent = await serve(() => undefined);
  const limits = { deadlineMs: 100, bytesMax: 10 };
  expect((await faultOf(got(silent, { limits }))).fault).toBe('did not answer within 0.1 s');
  const hung = new AbortController();
  const waiting = faultOf(got(silent, { signal: hung.signal }));
  hung.abort();
  expect((await waiting).fault).toBe('the question was stopped');
  const cut = await serve((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{', () => response.destroy());
  });
  expect((await faultOf(got(cut))).fault).toContain('closed the connection early');
  const nobody = new URL('http://127.0.0.1:1/');
  expect((await faultOf(got(nobody))).fault).toBe('refused the connection');
});
