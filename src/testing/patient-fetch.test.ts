// Whoever asks patiently comes again at an overload alone, as often as is bounded.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { fetchPatiently, SENDINGS_MAX } from './patient-fetch.ts';

type Said = readonly [status: number, body: string, retryAfter?: string];

const OVERLOADED: Said = [503, '{"error":"Too many requests at once."}', '0'];
const OK: Said = [200, '{"state":"ok"}'];
const NOT_LOOKED_UP = { error: 'not checked', entitlements_durable: true };
const AT_CAPACITY = {
  state: 'at_capacity',
  error: 'too_many_connections',
  scope: 'key',
  limit: 1,
  current: 1,
  reason: 'one is open',
};

/** What is told of a service that says one thing after another, the last again and again. */
async function told(...says: readonly Said[]) {
  let asked = 0;
  const server = createServer((_, response) => {
    const [status, body, after] = says[Math.min(asked, says.length - 1)] ?? OK;
    asked += 1;
    response.writeHead(status, after === undefined ? {} : { 'retry-after': after }).end(body);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const answer = await fetchPatiently(`http://127.0.0.1:${port}/`);
  return { status: answer.status, body: await answer.text(), asked };
}

test('comes again at an overload, in JSON or as a page, and where no key was looked up', async () => {
  const page: Said = [503, '<!doctype html><title>503</title>', '0'];
  const credential = JSON.stringify({ ...NOT_LOOKED_UP, reason: 'store_unavailable' });
  const said = await told(OVERLOADED, page, [402, credential, '0'], OK);
  expect(said).toEqual({ status: 200, body: OK[1], asked: 4 });
});

test.each<[string, Said]>([
  ['a stream that has no room', [503, JSON.stringify(AT_CAPACITY), '0']],
  ['a refusal of the answer itself', [503, '{"error":"unavailable","reason":"frozen"}', '0']],
  ['an overload that says no time', [503, OVERLOADED[1]]],
  [
    'a key that opens nothing',
    [402, JSON.stringify({ ...NOT_LOOKED_UP, reason: 'unknown_membership' }), '0'],
  ],
  ['a spent allowance', [429, '{"error":"spent"}', '0']],
  ['a fault', [500, '{"error":"fault"}', '0']],
])('gives back at once %s', async (_, said) => {
  expect(await told(said, OK)).toEqual({ status: said[0], body: said[1], asked: 1 });
});

test('gives the refusal back where the service stays overloaded', async () => {
  const said = await told(OVERLOADED);
  expect(said).toEqual({ status: 503, body: OVERLOADED[1], asked: SENDINGS_MAX });
});
