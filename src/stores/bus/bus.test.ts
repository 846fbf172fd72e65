// Do processes call and count each other over a real Redis, and lose nothing but time without it?

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { busKeeps } from '../../ports/bus.suite.ts';
import type { Bus } from '../../ports/streams.ts';
import { NO_REDIS, type TestRedis, testRedis } from '../../testing/redis.ts';
import { inProcessBus } from './in-process.ts';
import { redisBus } from './redis.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Within the time of a test; the machine may have much else to do. */
const PATIENT = { timeout: 20_000, interval: 20 };

/** Counts the calls of a bus. */
function callsOf(bus: Bus): () => number {
  let calls = 0;
  bus.listen(() => {
    calls += 1;
  });
  return () => calls;
}

busKeeps('in process', async () => inProcessBus(() => 0));

describe.skipIf(NO_REDIS !== null)(`over Redis ${NO_REDIS ?? ''}`, () => {
  let redis: TestRedis;
  let deployments = 0;
  const buses: Bus[] = [];
  beforeAll(async () => {
    redis = await testRedis();
  });
  afterEach(async () => {
    for (const bus of buses.splice(0)) await bus.close();
  });
  afterAll(() => redis.stop());

  /** A process's bus, once it reaches the server. */
  async function joined(deployment: string): Promise<Bus> {
    const bus = redisBus({ url: redis.url, deployment, onFault: () => undefined });
    buses.push(bus);
    await answers(bus);
    return bus;
  }
  const answers = (bus: Bus) =>
    vi.waitFor(async () => expect((await bus.others('free')).checked).toBe(true), PATIENT);
  const fresh = () => {
    deployments += 1;
    return `deployment-${deployments}`;
  };
  const free = (own: number) => ({ holder: 'token:1', tier: 'free', own });

  busKeeps('Redis', () => joined(fresh()));

  test('a call reaches every process of the deployment, and no other deployment', async () => {
    const here = fresh();
    const [one, two, other] = await Promise.all([joined(here), joined(here), joined(fresh())]);
    const [heard, elsewhere] = [callsOf(two), callsOf(other)];
    // Who has just joined begins with the calls of then.
    await vi.waitFor(() => {
      one.callAll();
      expect(heard()).toBeGreaterThan(0);
    }, PATIENT);
    expect(elsewhere()).toBe(0);
  });

  test('processes hold together what one of them may hold', async () => {
    const here = fresh();
    const [one, two] = await Promise.all([joined(here), joined(here)]);
    await one.hold(free(7), 10);
    expect(await two.hold(free(3), 10)).toMatchObject({ value: { granted: true, others: 7 } });
    expect(await two.hold(free(4), 10)).toMatchObject({ value: { granted: false, others: 7 } });
    await two.hold(free(3), null);
    expect(await one.others('free')).toMatchObject({ value: 3 });
    expect(await one.hold(free(8), 10)).toMatchObject({ value: { granted: false } });
    await two.hold(free(0), null);
    expect(await one.hold(free(10), 10)).toMatchObject({ value: { granted: true, others: 0 } });
  });

  test('a server that comes back empty is told again what is held, and calls go on', async () => {
    const here = fresh();
    const [one, two] = await Promise.all([joined(here), joined(here)]);
    await one.hold(free(7), 10);
    await redis.stop();
    await vi.waitFor(async () => {
      expect(await two.hold(free(1), 10)).toBeInstanceOf(Unread);
    }, PATIENT);
    expect(await one.hold(free(8), null)).toBeInstanceOf(Unread);
    await redis.start();
    await Promise.all([answers(one), answers(two)]);
    await vi.waitFor(async () => {
      expect(await two.hold(free(1), 10)).toMatchObject({ value: { others: 8 } });
    }, PATIENT);
    const heard = callsOf(two);
    await vi.waitFor(() => {
      one.callAll();
      expect(heard()).toBeGreaterThan(0);
    }, PATIENT);
  });

  test('a server that answers nothing is silence, and is not waited for', async () => {
    const bus = await joined(fresh());
    redis.freeze(true);
    try {
      expect(await bus.hold(free(1), 10)).toBeInstanceOf(Unread);
      expect(await bus.others('free')).toBeInstanceOf(Unread);
    } finally {
      redis.freeze(false);
    }
  });
});
