import { setMaxListeners } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { signalFor } from '../../evidence/waiting.ts';
import { StatusFault } from './fetch.ts';
import { FetchFault } from './outbound-call.ts';
import { BudgetSpent, callBudget, ProviderFault, providerGuard } from './provider.ts';

const LIMITS = { callsPerS: 10_000, retriesMax: 1, backoffMs: 1, failuresMax: 3, restMs: 60_000 };

function budget(over: Partial<Parameters<typeof callBudget>[0]> = {}) {
  const signal = new AbortController().signal;
  return callBudget({ callsMax: 100, timeMs: 5_000, signal, ...over });
}

async function errorOf(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => null,
    (reason: unknown) => reason,
  );
}

function guarded(over: Partial<typeof LIMITS> = {}) {
  let now = 1_000;
  const guard = providerGuard({ ...LIMITS, ...over }, () => now);
  return { guard, wait: (ms: number) => (now += ms) };
}

describe('an upstream failure', () => {
  test('is asked again, as often as the limits say, then told', async () => {
    const { guard } = guarded();
    let asked = 0;
    const error = await errorOf(
      guard.ask(budget(), async () => {
        asked += 1;
        throw new FetchFault('answered HTML, not JSON');
      }),
    );
    expect(error instanceof ProviderFault && error.fault).toBe('answered HTML, not JSON');
    expect(asked).toBe(2);
  });

  test('a refusal is not asked again', async () => {
    const { guard } = guarded();
    let asked = 0;
    const refused = async () => {
      asked += 1;
      throw new ProviderFault('Invalid API Key', 'lasting');
    };
    expect(await errorOf(guard.ask(budget(), refused))).toBeInstanceOf(ProviderFault);
    expect(asked).toBe(1);
  });

  test('a wait longer than a request can bear is a failure at once', async () => {
    const { guard } = guarded();
    const late = async () => {
      throw new StatusFault(429, 3_600_000, null);
    };
    const error = await errorOf(guard.ask(budget(), late));
    expect(error instanceof ProviderFault && error.fault).toContain('rate limit');
  });

  test('a bug is thrown as it is', async () => {
    const { guard } = guarded();
    const bug = new RangeError('a bug');
    const broken = async () => {
      throw bug;
    };
    expect(await errorOf(guard.ask(budget(), broken))).toBe(bug);
  });
});

describe('a provider that keeps failing', () => {
  test('is left alone, with its last fault named, and asked again after its rest', async () => {
    const { guard, wait } = guarded({ retriesMax: 0 });
    let asked = 0;
    const question = async () => {
      asked += 1;
      if (asked <= 3) throw new FetchFault('answered 500');
      return 'well again';
    };
    for (let i = 0; i < 3; i += 1) await errorOf(guard.ask(budget(), question));
    const error = await errorOf(guard.ask(budget(), question));
    expect(error instanceof ProviderFault && error.fault).toContain('answered 500');
    expect(asked).toBe(3);
    wait(60_001);
    expect(await guard.ask(budget(), question)).toBe('well again');
  });
});

describe('a budget', () => {
  test('counts calls, retries too', async () => {
    const { guard } = guarded({ retriesMax: 5 });
    const failing = async () => {
      throw new FetchFault('answered 500');
    };
    const error = await errorOf(guard.ask(budget({ callsMax: 2 }), failing));
    expect(error instanceof BudgetSpent && error.of).toBe('calls');
  });

  test('ends what is waiting when its time ends or its caller hangs up', async () => {
    const { guard } = guarded();
    const forever = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new FetchFault('the question was stopped')));
      });
    const late = await errorOf(guard.ask(budget({ timeMs: 10 }), forever));
    expect(late instanceof BudgetSpent && late.of).toBe('time');
    const hung = new AbortController();
    const waiting = errorOf(guard.ask(budget({ signal: hung.signal }), forever));
    hung.abort();
    const stopped = await waiting;
    expect(stopped instanceof BudgetSpent && stopped.of).toBe('time');
  });

  test('ends a wait for the provider’s rate', async () => {
    const { guard } = guarded({ callsPerS: 0.001 });
    await guard.ask(budget(), async () => 1);
    const error = await errorOf(guard.ask(budget({ timeMs: 10 }), async () => 2));
    expect(error instanceof BudgetSpent && error.of).toBe('time');
  });

  test('of a caller that stops waiting gives its turn to the next', async () => {
    const { guard } = guarded({ callsPerS: 20 });
    await guard.ask(budget(), async () => 1);
    const hung = new AbortController();
    setMaxListeners(0, hung.signal);
    const left = Array.from({ length: 200 }, () =>
      errorOf(guard.ask(budget({ signal: hung.signal }), async () => 2)),
    );
    hung.abort();
    for (const error of await Promise.all(left)) expect(error).toBeInstanceOf(BudgetSpent);
    // Behind the turns of the 200 it would wait for ten seconds, twice its budget.
    expect(await guard.ask(budget({ timeMs: 5_000 }), async () => 3)).toBe(3);
  });

  test('shared by many calls at once prints no warning of a leak', async () => {
    const warnings: Error[] = [];
    const keep = (warning: Error) => warnings.push(warning);
    process.on('warning', keep);
    const { guard } = guarded({ callsPerS: 1_000 });
    const one = budget();
    await Promise.all(Array.from({ length: 30 }, () => guard.ask(one, async () => 1)));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', keep);
    expect(warnings).toEqual([]);
  });
});

describe('a rate that many share', () => {
  /** Asks as often as is said at once; each turn is written down under the asker's name. */
  function askers(callsPerS: number) {
    const guard = providerGuard({ ...LIMITS, callsPerS }, () => performance.now());
    const turns: string[] = [];
    const ask = (name: string, calls: number): Promise<unknown> => {
      const { signal } = new AbortController();
      const own = budget({ signal: name === 'caller' ? signal : signalFor(name, signal) });
      const one = () => guard.ask(own, async () => turns.push(name));
      return Promise.all(Array.from({ length: calls }, one));
    };
    return { turns, ask };
  }

  test('is a caller’s first, who waits for an answer, whatever waits before', async () => {
    const { turns, ask } = askers(100);
    const flood = ask('watchlist', 30);
    await ask('caller', 3);
    expect(turns.filter((name) => name === 'watchlist').length).toBeLessThanOrEqual(2);
    await flood;
    expect(turns).toHaveLength(33);
  });

  test('leaves others every second turn at most while callers are there, and else all', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const guard = providerGuard({ ...LIMITS, callsPerS: 10 }, Date.now);
    let turns = 0;
    const { signal } = new AbortController();
    const flood = budget({ callsMax: 1_000, signal: signalFor('watchlist', signal) });
    for (let i = 0; i < 300; i += 1) void guard.ask(flood, async () => (turns += 1));
    await vi.advanceTimersByTimeAsync(1_000);
    const alone = turns;
    const asked = guard.ask(budget(), async () => 'a caller');
    await vi.advanceTimersByTimeAsync(4_000);
    expect([await asked, alone, turns - alone]).toEqual(['a caller', 11, 20]);
  });

  test('is given to askers by turns, however many calls one of them waits with', async () => {
    const { turns, ask } = askers(200);
    const many = ask('many', 40);
    await Promise.all([ask('few', 5), ask('another', 5)]);
    // Of 5 and 5 calls the last comes when the one with many had as many turns as either.
    expect(turns.filter((name) => name === 'many').length).toBeLessThanOrEqual(7);
    await many;
  });

  test('does not end a wait for a turn by the time of a request where no caller waits', async () => {
    const { signal } = new AbortController();
    const guard = providerGuard({ ...LIMITS, callsPerS: 20 }, () => performance.now());
    const own = budget({ timeMs: 1, signal: signalFor('watchlist', signal) });
    for (let i = 0; i < 3; i += 1) await guard.ask(own, async () => i);
    expect(own.signal.aborted).toBe(false);
  });
});
