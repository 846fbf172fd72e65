// Does the `eventsource` package, which follows the standard of browsers, read the twin of a stream
// over connections that break, each event once and in order?

import { connect, createServer, type Socket } from 'node:net';
import { EventSource } from 'eventsource';
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { numbers, serveTicks } from './stream-service.suite.ts';

const tick = z.object({ type: z.literal('tick'), seq: z.number() });
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A way to a service that breaks all of its connections when told to. */
async function breakable(to: number) {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  closing.push(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const breakAll = () => {
    for (const socket of open) socket.destroy();
    open.clear();
  };
  closing.push(breakAll);
  return { port, breakAll };
}

test('each event once and in order over connections that break, by Last-Event-ID', async () => {
  const { base, log } = await serveTicks();
  const { port, breakAll } = await breakable(Number(new URL(base).port));
  const resumed: (string | null)[] = [];
  const source = new EventSource(`http://127.0.0.1:${port}/sse/ticks`, {
    fetch: (url, init) => {
      const headers = new Headers(init.headers);
      resumed.push(headers.get('last-event-id'));
      headers.set('authorization', 'Bearer pro-1');
      return fetch(url, { ...init, headers });
    },
  });
  closing.push(() => source.close());
  const seen: number[] = [];
  const heard: string[] = [];
  source.addEventListener('message', ({ data }: { readonly data: string }) => {
    heard.push(data);
    const parsed = tick.safeParse(JSON.parse(data));
    if (parsed.success) seen.push(parsed.data.seq);
  });
  await vi.waitFor(() => expect(heard).toHaveLength(1), { timeout: 60_000 });
  for (const round of [1, 2, 3]) {
    for (const _ of numbers(1, 20)) log.add();
    await vi.waitFor(() => expect(seen).toHaveLength(40 * round - 20), { timeout: 60_000 });
    breakAll();
    // These come while nobody reads.
    for (const _ of numbers(1, 20)) log.add();
    await vi.waitFor(() => expect(seen).toHaveLength(40 * round), { timeout: 60_000 });
  }
  expect(seen).toEqual(numbers(1, 120));
  expect(resumed).toEqual([null, '20', '60', '100']);
}, 200_000);
