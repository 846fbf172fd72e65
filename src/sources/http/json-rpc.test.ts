import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { jsonRpc, RPC_LIMITS, RpcFault, type RpcLimits } from './json-rpc.ts';
import { RETRY_AFTER_MAX_MS, retryAfterMs } from './outbound-call.ts';

const never = new AbortController().signal;
const CALLS = [
  { method: 'a', params: [] },
  { method: 'b', params: [] },
];
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A server that answers each request as it is told; `null` never answers. */
async function answering(
  ...answers: readonly ((ids: number[]) => { status?: number; body: string } | null)[]
) {
  let n = 0;
  const server = createServer((asked, answer) => {
    let text = '';
    asked.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    asked.on('end', () => {
      const ids = [...text.matchAll(/"id":(\d+)/g)].map((found) => Number(found[1]));
      const now = answers[Math.min(n, answers.length - 1)];
      n += 1;
      const said = now?.(ids);
      if (said == null) return;
      answer.writeHead(said.status === undefined ? 200 : said.status).end(said.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const slept: number[] = [];
  const client = (limits: Partial<RpcLimits> = {}) =>
    jsonRpc({
      url: new URL(`http://127.0.0.1:${port}/key`),
      headers: {},
      limits: { ...RPC_LIMITS, ...limits },
      sleep: async (ms) => void slept.push(ms),
    });
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { client, slept, asked: () => n };
}

const results = (ids: number[]) => ({
  body: JSON.stringify(ids.map((id) => ({ jsonrpc: '2.0', id, result: `of ${id}` })).reverse()),
});
const fault = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof RpcFault) return `${error.kind}: ${error.fault}`;
    throw error;
  }
  return 'no fault';
};

describe('a batch', () => {
  test('is matched by id, in whatever order it is answered', async () => {
    const { client } = await answering(results);
    expect(await client().batch(CALLS, never)).toEqual([
      { ok: true, result: 'of 1' },
      { ok: true, result: 'of 2' },
    ]);
  });

  test('of which a call is left without answer, or with neither result nor error, is a fault', async () => {
    const short = await answering(([id]) => ({ body: JSON.stringify([{ id, result: 1 }]) }));
    expect(await fault(short.client().batch(CALLS, never))).toBe(
      'failed: left a call without answer (200)',
    );
    const empty = await answering((ids) => ({ body: JSON.stringify(ids.map((id) => ({ id }))) }));
    expect(await fault(empty.client().batch(CALLS, never))).toBe(
      'failed: answered neither result nor error',
    );
  });

  test('that is refused whole is asked in halves', async () => {
    const error = { code: -32600, message: 'batch too large' };
    const { client, asked } = await answering(
      () => ({ body: JSON.stringify({ id: null, error }) }),
      ([id]) => ({ body: JSON.stringify({ id, result: id }) }),
    );
    const answers = await client().batch(CALLS, never);
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(asked()).toBe(3);
  });
});

describe('a fault', () => {
  test.each([
    [401, '{"message":"who are you"}', 'terminal: refused the credential (401)'],
    [403, '<html>', 'terminal: refused the credential (403)'],
    [404, 'nothing', 'failed: answered 404'],
    [200, '{"message":"maintenance"}', 'failed: answered something other than JSON-RPC'],
    [200, '<!doctype html>', 'failed: answered something other than JSON-RPC'],
    [200, '', 'failed: answered something other than JSON-RPC'],
    [200, '[{"id":1,"resu', 'too_large: cut its answer off'],
    [413, '', 'too_large: finds the request too large'],
  ])('status %s with %s is one by name, never a result', async (status, body, says) => {
    const { client } = await answering(() => ({ status, body }));
    expect(await fault(client().call({ method: 'a', params: [] }, never))).toBe(says);
  });

  test('of the server is waited for, a few times and longer each time', async () => {
    const { client, slept } = await answering(() => ({ status: 502, body: '' }));
    expect(await fault(client().call({ method: 'a', params: [] }, never))).toBe(
      'failed: answered 502',
    );
    expect(slept).toEqual([250, 500, 1_000, 2_000]);
  });

  test('a body over its cap is too large, and silence ends at the deadline', async () => {
    const { client } = await answering(() => ({ body: `"${'x'.repeat(5_000)}"` }));
    const small = client({ bytesMax: 1_000 });
    expect(await fault(small.call({ method: 'a', params: [] }, never))).toBe(
      'too_large: sent over 1000 bytes',
    );
    const silent = await answering(() => null);
    const hurried = silent.client({ deadlineMs: 50, attemptsMax: 1 });
    expect(await fault(hurried.call({ method: 'a', params: [] }, never))).toBe(
      'failed: did not answer within 0.05 s',
    );
  });

  test('a server that is not there is one by its code', async () => {
    const { client } = await answering(results);
    const there = client({ attemptsMax: 1 });
    for (const stop of stops.splice(0)) stop();
    expect(await fault(there.call({ method: 'a', params: [] }, never))).toBe(
      'failed: refused the connection',
    );
  });
});

test('a wait is read as seconds or as a date, of a day at most, and not made up from anything else', () => {
  expect(retryAfterMs('7')).toBe(7_000);
  expect(retryAfterMs('Wed, 21 Oct 2015 07:28:00 GMT')).toBe(0);
  expect(retryAfterMs('Fri, 21 Oct 2995 07:28:00 GMT')).toBe(RETRY_AFTER_MAX_MS);
  expect(retryAfterMs('999999999')).toBe(RETRY_AFTER_MAX_MS);
  expect(retryAfterMs('soon')).toBeNull();
  expect(retryAfterMs('-5')).toBeNull();
  expect(retryAfterMs(undefined)).toBeNull();
});
