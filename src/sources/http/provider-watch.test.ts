// A provider is silent from its first failure until it answers, and an hour in which nobody asked
// it holds no calls: it is no hour in which it answered.

import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { HOUR_S } from '../../chain/time.ts';
import type { CallOutcome } from '../../ports/providers.ts';
import { jsonRpc, RPC_LIMITS } from './json-rpc.ts';
import { askJson, attempt, ProviderFault, providerGuard, withBudget } from './provider.ts';
import { HOURS_KEPT, providerWatch } from './provider-watch.ts';

const START = 497_000 * HOUR_S;
const FACTS = { name: 'An explorer', url: 'https://x', ports: ['a'], carries: null };
const DOWN = { outcome: 'failed', fault: 'answered 503' } as const;

function watchFrom(start: number) {
  const clock = { now: start };
  const watch = providerWatch(() => clock.now);
  const end = watch.watch(FACTS);
  const report = () => {
    const [only, ...others] = watch.reports();
    if (only === undefined || others.length > 0) throw new Error('test: not one provider');
    return only;
  };
  return { clock, watch, end, report };
}

describe('a provider', () => {
  test('that nobody asked has no calls in any hour, and is told since when it is watched', () => {
    const { clock, report } = watchFrom(START + 60);
    clock.now += 2 * HOUR_S;
    expect(report()).toEqual({
      ...FACTS,
      state: 'not_asked',
      silent_since: null,
      fault: null,
      last_answered: null,
      watched_since: START + 60,
      hours: [0, 1, 2].map((hour) => ({ from: START + hour * HOUR_S, calls: null })),
    });
  });

  test('is silent since its first failure after its last answer, and no more once it answers', () => {
    const { clock, end, report } = watchFrom(START);
    end({ outcome: 'answered' });
    clock.now += HOUR_S;
    end(DOWN);
    clock.now += HOUR_S;
    end({ outcome: 'failed', fault: 'refused the connection' });
    end({ outcome: 'stopped' });
    expect(report()).toMatchObject({
      state: 'silent',
      silent_since: START + HOUR_S,
      fault: 'refused the connection',
      last_answered: START,
    });
    clock.now += 2 * HOUR_S;
    end({ outcome: 'answered' });
    expect(report()).toMatchObject({
      state: 'answered',
      silent_since: null,
      fault: null,
      last_answered: START + 4 * HOUR_S,
    });
    expect(report().hours.map(({ calls }) => calls)).toEqual([
      { answered: 1, failed: 0, stopped: 0 },
      { answered: 0, failed: 1, stopped: 0 },
      { answered: 0, failed: 1, stopped: 1 },
      null,
      { answered: 1, failed: 0, stopped: 0 },
    ]);
  });

  test('whose calls were all stopped before they ended has neither answered nor failed', () => {
    const { end, report } = watchFrom(START);
    end({ outcome: 'stopped' });
    expect(report()).toMatchObject({ state: 'unanswered', silent_since: START, fault: null });
  });

  test('is kept for a day of hours however long it is asked', () => {
    const { clock, end, report } = watchFrom(START);
    for (let hour = 0; hour < 3 * HOURS_KEPT; hour += 1) {
      end({ outcome: 'answered' });
      clock.now += HOUR_S;
    }
    const { hours } = report();
    expect(hours).toHaveLength(HOURS_KEPT);
    expect(hours.filter(({ calls }) => calls === null)).toHaveLength(1);
    clock.now += 2 * HOURS_KEPT * HOUR_S;
    expect(report().hours.every(({ calls }) => calls === null)).toBe(true);
    expect(report().hours).toHaveLength(HOURS_KEPT);
  });

  test('that is named twice is one, with the ports of both', () => {
    const { watch, report } = watchFrom(START);
    watch.watch({ ...FACTS, ports: ['b', 'a'] })({ outcome: 'answered' });
    expect(report()).toMatchObject({ ports: ['a', 'b'], state: 'answered' });
  });
});

describe('a call', () => {
  const open: { close: () => void }[] = [];
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
  });

  async function serving(status: number, body: string): Promise<URL> {
    const server = createServer((_, response) => response.writeHead(status).end(body));
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const at = server.address();
    if (at === null || typeof at === 'string') throw new Error('test: no port');
    return new URL(`http://127.0.0.1:${at.port}/secret`);
  }

  const limits = { callsPerS: 1_000, retriesMax: 1, backoffMs: 1, failuresMax: 2, restMs: 60_000 };
  const signal = new AbortController().signal;

  test('under a guard counts by its end, a repetition too, and one that was not made does not', async () => {
    const ends: CallOutcome[] = [];
    const guard = providerGuard(
      limits,
      () => performance.now(),
      (end) => ends.push(end),
    );
    const ask = (url: URL) =>
      attempt(ProviderFault, () =>
        withBudget({ callsMax: 9, timeMs: 5_000, signal }, (budget) => {
          const bounds = { deadlineMs: 2_000, bytesMax: 1_000 };
          return askJson({ guard, budget, url, body: null, limits: bounds }, (answer) => answer);
        }),
      );
    await ask(await serving(200, '{}'));
    await ask(await serving(503, ''));
    // It failed twice, and is left alone.
    await ask(await serving(200, '{}'));
    const fault = 'answered 503';
    expect(ends).toEqual([
      { outcome: 'answered' },
      { outcome: 'failed', fault },
      { outcome: 'failed', fault },
    ]);
  });

  test('to a node counts its own error as an answer, and anything else as a failure', async () => {
    const ends: CallOutcome[] = [];
    const ask = async (url: URL) => {
      const options = { url, headers: {}, limits: { ...RPC_LIMITS, attemptsMax: 1 } };
      const sleep = async () => undefined;
      const rpc = jsonRpc({ ...options, sleep, onCallEnd: (end) => ends.push(end) });
      open.push(rpc);
      await attempt(ProviderFault, () => rpc.call({ method: 'm', params: [] }, signal));
    };
    await ask(await serving(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"x"}}'));
    await ask(await serving(502, 'no'));
    expect(ends).toEqual([{ outcome: 'answered' }, { outcome: 'failed', fault: 'answered 502' }]);
  });
});
