// Bytes that no honest client sends, written to the socket of a running service: tricks with the
// request line, headers, lengths and bodies. Each is answered once and by no fault, and the service
// still answers afterwards.

import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { lotteryOf } from './testing/lottery.ts';
import type { Simulated } from './testing/program.ts';

const SEED = Number(process.env['EXHIBIT_TEST_SEED'] ?? 20_261_126);
const REQUESTS = Math.ceil(Number(process.env['EXHIBIT_TEST_REQUESTS'] ?? 5_000) / 25);
const TOGETHER = 8;
/** A request that is never complete is closed by this side after so long. */
const PATIENCE_MS = 1_500;

const PATHS = [
  '/api/v1/wallet/0x64144967c175997fc8526ba694021ae36965331c/ofac',
  '/api/v1/screens',
  '/api/v1/bulk/ofac',
  '/health',
  '/openapi.json',
  '/status',
  '/api/log/tile/0/000',
  '/sse/flags',
  '/ws/flags',
];
const METHODS = ['GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE', 'get', 'CONNECT', 'X'];
/** What is done to a path. */
const PATH_TRICKS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `//${path}`,
  (path) => `/..${path}`,
  (path) => `${path}/../../../etc/passwd`,
  (path) => `/%2e%2e${path}`,
  (path) => path.replaceAll('/', '%2f'),
  (path) => path.replaceAll('/', '\\'),
  (path) => `${path}%00`,
  (path) => `${path}%`,
  (path) => `${path}%ff%fe`,
  (path) => `${path};jsessionid=1`,
  (path) => `${path}?${'a=1&'.repeat(3_000)}`,
  (path) => `${path}?__proto__[polluted]=1&constructor[prototype]=2`,
  (path) => `${path}?address=1&address=2`,
  (path) => `${path}#fragment`,
  (path) => `http://other.example${path}`,
  (path) => path + 'a'.repeat(20_000),
  (path) => path.toUpperCase(),
  (path) => `${path} `,
  () => '*',
  () => '',
];
const HEADERS: readonly string[] = [
  'content-length: 5',
  'content-length: 5\r\ncontent-length: 6',
  'content-length: -1',
  'content-length: 99999999999999999999',
  'content-length: 0x5',
  'transfer-encoding: chunked',
  'transfer-encoding: chunked\r\ncontent-length: 5',
  'transfer-encoding: xchunked',
  'transfer-encoding : chunked',
  'expect: 100-continue',
  'expect: nothing',
  'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: a\r\nsec-websocket-version: 13',
  'upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAMAAABk',
  'content-encoding: gzip',
  'content-type: application/json; charset=utf-7',
  'content-type: application/x-www-form-urlencoded',
  'content-type: multipart/form-data',
  'accept: ../../etc/passwd',
  `accept: ${'a/b,'.repeat(2_000)}`,
  'accept-encoding: gzip;q=2, *;q=NaN, br;q=-1',
  'accept-signature: sig=();created;keyid="\u0001"',
  `accept-signature: ${'a=(),'.repeat(500)}b=()`,
  'authorization: Bearer',
  'authorization: Bearer \u00ff',
  `authorization: Bearer ${'x'.repeat(5_000)}`,
  'authorization: Basic OjpAOg==',
  'cookie: exhibit_session=%00; __proto__=1',
  `cookie: ${'a=b; '.repeat(2_000)}`,
  'if-none-match: W/"*", *',
  'if-modified-since: the day after tomorrow',
  'range: bytes=0-0,1-1,-1',
  'last-event-id: -1',
  'last-event-id: 99999999999999999999',
  'x-forwarded-for: 127.0.0.1, ::1, unknown',
  'x-request-id: a;b',
  'no-colon',
  ' folded: header',
  'bad\u0000name: a',
  'name: a\u0000b',
  'name: a\rb',
  `many: ${'x'.repeat(70_000)}`,
];
const BODIES: readonly string[] = [
  '',
  '{}',
  '5\r\nhello\r\n0\r\n\r\n',
  'zz\r\nhello\r\n0\r\n\r\n',
  '{"address":"0x1","address":"0x2"}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '['.repeat(20_000),
  `{"addresses":[${'"a",'.repeat(2_000)}"a"]}`,
  'GET /health HTTP/1.1\r\nhost: a\r\n\r\n',
];

/** What a raw request is answered; the text so far, where the service waits for more. */
async function answerTo(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const pieces: string[] = [];
  socket.on('data', (bytes) => pieces.push(bytes.toString('latin1')));
  // A service that has refused may close while the rest is still on its way to it.
  socket.on('error', () => undefined);
  socket.write(request, 'latin1');
  const timer = setTimeout(() => socket.destroy(), PATIENCE_MS);
  await once(socket, 'close');
  clearTimeout(timer);
  return pieces.join('');
}

const STATUS_AT = 'HTTP/1.1 '.length;

/** Whether an answer may be given to such a request: it is complete, and no fault. */
function faultOf(answer: string): string | null {
  // The service waits for the rest of what it was promised, or had nothing to say to.
  if (answer === '') return null;
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1];
  if (status === undefined) return 'no answer of HTTP';
  const isOverload = status === '503' && answer.toLowerCase().includes('retry-after');
  return Number(status) >= 500 && !isOverload ? `a fault, ${status}` : null;
}

/** No bytes break a started service. */
export function noBytesBreak(started: () => Pick<Simulated, 'base_url' | 'api_key'>): void {
  describe('bytes that no honest client sends', () => {
    test('are answered by no fault, and the service goes on', async () => {
      const { base_url, api_key } = started();
      const port = Number(new URL(base_url).port);
      const lottery = lotteryOf(SEED);
      const requests = Array.from({ length: REQUESTS }, () => {
        const path = lottery.oneOf(PATH_TRICKS)(lottery.oneOf(PATHS));
        const headers = Array.from({ length: lottery.below(4) }, () => lottery.oneOf(HEADERS));
        const key = lottery.happens(0.5) ? [`authorization: Bearer ${api_key}`] : [];
        const line = `${lottery.oneOf(METHODS)} ${path} HTTP/1.${lottery.below(2)}`;
        const host = lottery.happens(0.95) ? ['host: a', 'connection: close'] : [];
        return `${[line, ...host, ...key, ...headers].join('\r\n')}\r\n\r\n${lottery.oneOf(BODIES)}`;
      });
      const waiting = requests.values();
      const faults: object[] = [];
      const told = new Set<string>();
      const work = async () => {
        for (const request of waiting) {
          const answer = await answerTo(port, request);
          told.add(answer.slice(STATUS_AT, STATUS_AT + 3));
          const fault = faultOf(answer);
          if (fault !== null) faults.push({ request: request.slice(0, 300), fault });
        }
      };
      await Promise.all(Array.from({ length: TOGETHER }, work));
      expect(faults.slice(0, 10)).toEqual([]);
      expect((await fetch(`${base_url}/ready`)).status).toBe(200);
      // What is taken, refused by its form, by its size and by its route is drawn.
      for (const status of ['200', '400', '404', '431']) expect(told).toContain(status);
    });

    test('with two lengths are one request, which is refused', async () => {
      const { base_url } = started();
      const inner = 'GET /health HTTP/1.1\r\nhost: a\r\n\r\n';
      const head = `POST /api/v1/screens HTTP/1.1\r\nhost: a\r\ncontent-length: ${inner.length}`;
      const two = `${head}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`;
      const answer = await answerTo(Number(new URL(base_url).port), two);
      expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 400']);
    });
  });
}
