// Whatever comes together, leaves and fails: each caller gets what a lone caller would have got, or
// is told that it was not read, and no reading costs a second call within the time that it holds.

import { describe, expect, test } from 'vitest';
import { Part, type Partly, part, Read, read, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { askerOf, signalFor } from '../../evidence/waiting.ts';
import { lotteryOf } from '../../testing/lottery.ts';
import { trialsOf } from '../../testing/trials.ts';
import { heldMethod, roughBytes, sharedReadings } from './held-readings.ts';
import { BudgetSpent, type CallBudget, ProviderFault } from './provider.ts';

const HELD_MS = 60_000;
/** A reading that began so long ago is not waited for by those who come. */
const JOINED_MS = 30_000;
const KEYS = ['a', 'b', 'c'];
const CALLS_OF_A_READING = 3;
const STEPS = 120;
const WORLDS = trialsOf('EXHIBIT_HELD_WORLDS', 400, 10_000);

/** What a key is at a time: it changes all the time, so that each value says when it was read. */
type Seen = { readonly key: string; readonly from: number };

type Caller = {
  readonly key: string;
  readonly came: number;
  readonly callsMax: number;
  readonly hangUp: AbortController;
  ended: { readonly at: number; readonly seen: Seen | null; readonly error: unknown } | null;
};

/** A provider whose calls come to their end one at a time, when the test says so. */
function world(seed: number) {
  const lottery = lotteryOf(seed);
  let now = 0;
  const callers: Caller[] = [];
  const works: { key: string; from: number; ended: number | null; failed: boolean }[] = [];
  const faults: { key: string; at: number }[] = [];
  const pending: { key: string; end: (isFault: boolean) => void }[] = [];
  const shared = sharedReadings<Seen>({
    entriesMax: KEYS.length,
    bytesMax: 10_000,
    nowMs: () => now,
    holdMs: (_, wasStopped) => (wasStopped ? 0 : HELD_MS),
    bytesOf: () => 1,
    isCutShort: () => false,
  });

  const callOf = (key: string, budget: CallBudget) =>
    new Promise<void>((resolve, reject) => {
      budget.spend();
      const stop = () => reject(budget.signal.reason);
      budget.signal.addEventListener('abort', stop, { once: true });
      pending.push({
        key,
        end: (isFault) => {
          if (budget.signal.aborted || !isFault) return resolve();
          faults.push({ key, at: now });
          reject(new ProviderFault('is down', 'passing'));
        },
      });
    });
  const readKey = (key: string) => async (budget: CallBudget) => {
    const work = { key, from: now, ended: null as number | null, failed: true };
    works.push(work);
    try {
      for (let calls = 0; calls < CALLS_OF_A_READING; calls += 1) await callOf(key, budget);
      work.failed = false;
      return { key, from: work.from };
    } finally {
      work.ended = now;
    }
  };

  const come = async (key: string, callsMax: number): Promise<void> => {
    const hangUp = new AbortController();
    const caller: Caller = { key, came: now, callsMax, hangUp, ended: null };
    callers.push(caller);
    let calls = 0;
    const spend = () => {
      if (calls >= callsMax)
        throw new BudgetSpent('calls', why('call_budget', { limit: String(callsMax) }));
      calls += 1;
    };
    const budget = { asker: null, signal: hangUp.signal, spend, end: () => undefined };
    try {
      const seen = await shared.ask(key, budget, readKey(key));
      caller.ended = { at: now, seen, error: null };
    } catch (error) {
      caller.ended = { at: now, seen: null, error };
    }
  };
  const settle = async () => {
    for (let turns = 0; turns < 20; turns += 1) await null;
  };
  const step = async () => {
    const waiting = callers.filter(({ ended }) => ended === null);
    const at = <T>(list: readonly T[]) => list[Math.floor(lottery.share() * list.length)];
    const what = lottery.share();
    if (what < 0.35) void come(String(at(KEYS)), what < 0.1 ? CALLS_OF_A_READING - 2 : 99);
    else if (what < 0.45) at(waiting)?.hangUp.abort(new BudgetSpent('time', why('time_budget')));
    else if (what < 0.85) {
      const [one] = pending.splice(Math.floor(lottery.share() * pending.length), 1);
      one?.end(lottery.share() < 0.15);
    } else now += Math.ceil(lottery.share() * 20_000);
    await settle();
  };
  const drain = async () => {
    while (pending.length > 0) {
      pending.shift()?.end(false);
      await settle();
    }
  };
  return { step, drain, callers, works, faults, now: () => now };
}

describe('any order of callers, hang-ups and faults', () => {
  test('gives each caller what a lone one would have got, of the time at which it may ask', async () => {
    let seenCount = 0;
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const { step, drain, callers, faults } = world(seed);
      for (let n = 0; n < STEPS; n += 1) await step();
      await drain();
      for (const { key, came, callsMax, hangUp, ended } of callers) {
        expect(ended, `seed ${seed}: a caller waits for ever`).not.toBeNull();
        if (ended === null) continue;
        const { at, seen, error } = ended;
        if (seen !== null) {
          seenCount += 1;
          expect(seen.key).toBe(key);
          expect(seen.from).toBeGreaterThan(came - HELD_MS);
          continue;
        }
        if (error instanceof ProviderFault) {
          const own = faults.filter((one) => one.key === key && one.at >= came && one.at <= at);
          expect(own, `seed ${seed}: a fault of before it came`).not.toEqual([]);
          continue;
        }
        expect(error).toBeInstanceOf(BudgetSpent);
        const isOwn = hangUp.signal.aborted || callsMax < CALLS_OF_A_READING;
        expect(isOwn, `seed ${seed}: another's end ended it`).toBe(true);
      }
    }
    expect(seenCount).toBeGreaterThan(WORLDS);
  });

  test('reads nothing again while it is read or held, and stops what nobody waits for', async () => {
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const { step, drain, callers, works } = world(seed);
      for (let n = 0; n < STEPS; n += 1) await step();
      for (const { hangUp } of callers) hangUp.abort(new BudgetSpent('time', why('time_budget')));
      await drain();
      for (const key of KEYS) {
        const own = works.filter((one) => one.key === key);
        for (const [i, work] of own.entries()) {
          expect(work.ended, `seed ${seed}: work goes on for nobody`).not.toBeNull();
          const before = own.slice(0, i).filter(({ failed }) => !failed);
          const held = before.filter(({ from, ended }) => {
            const age = work.from - from;
            return age < (Number(ended) >= work.from ? JOINED_MS : HELD_MS);
          });
          expect(held, `seed ${seed}: ${key} was read again`).toEqual([]);
        }
      }
    }
  });
});

const PORT = 'facts';
const SOURCE = { name: 'x', url: 'x', as_of: 7, kind: 'observation', simulated: false } as const;
const origin = { port: PORT, source: SOURCE } as const;
const silent = () => unread(PORT, why('time_budget'));
type Told = Partly<number, typeof PORT>;

/** A method that answers one reading after another, and how often it was asked. */
function method(answers: readonly Told[], timeMs = 10_000) {
  let now = 0;
  let calls = 0;
  const holding = { heldMs: HELD_MS, timeMs, nowMs: () => now };
  const ask = heldMethod<readonly [string], Told>(
    holding,
    async () => {
      const answer = answers[Math.min(calls, answers.length - 1)];
      calls += 1;
      return answer ?? silent();
    },
    silent,
  );
  const { signal } = new AbortController();
  return {
    ask: (name = 'one') => ask([name], signal),
    wait: (ms: number) => {
      now += ms;
    },
    calls: () => calls,
  };
}

describe('a held method', () => {
  const cut = part(1, origin, why('row_cap', { address: 'x', limit: '1' }));
  test.each([
    ['whole', read(1, origin)],
    ['cut', cut],
    ['answered with nothing', unread(PORT, why('creation_not_found', { source: 'x' }))],
  ])('asks once for a reading that is %s, and again after its time', async (_, reading) => {
    const { ask, wait, calls } = method([reading]);
    expect([await ask(), await ask()]).toEqual([reading, reading]);
    wait(HELD_MS - 1);
    await ask();
    expect(calls()).toBe(1);
    await ask('another');
    expect(calls()).toBe(2);
    wait(1);
    await ask();
    expect(calls()).toBe(3);
  });

  test.each([
    ['silence', unread(PORT, why('provider_failed', { provider: 'x', fault: 'y' }))],
    ['a part that its time cut short', part(1, origin, why('time_budget'))],
  ])('does not hold %s', async (_, reading) => {
    const { ask, calls } = method([reading, read(2, origin)]);
    expect(await ask()).toBe(reading);
    expect(await ask()).toBeInstanceOf(Read);
    expect(calls()).toBe(2);
  });

  test('tells a caller whose time is over that it was not read, and reads on for the other', async () => {
    let end = (_: Told): void => undefined;
    const slow = heldMethod<readonly [string], Told>(
      { heldMs: HELD_MS, timeMs: 10_000, nowMs: () => 0 },
      () => new Promise((resolve) => (end = resolve)),
      silent,
    );
    const [first, second] = [new AbortController(), new AbortController()];
    const answers = [slow(['x'], first.signal), slow(['x'], second.signal)];
    first.abort();
    const left = await answers[0];
    expect(left).toBeInstanceOf(Unread);
    expect(left instanceof Unread ? left.why.code : null).toBe('time_budget');
    end(read(3, origin));
    expect(await answers[1]).toBeInstanceOf(Read);
  });

  test('works for a caller who waits as soon as one has come', async () => {
    let of: AbortSignal | null = null;
    const slow = heldMethod<readonly [string], Told>(
      { heldMs: HELD_MS, timeMs: 10_000, nowMs: () => 0 },
      (_, signal) => {
        of = signal;
        return new Promise(() => undefined);
      },
      silent,
    );
    const { signal } = new AbortController();
    void slow(['x'], signalFor('a watchlist', signal));
    await null;
    await null;
    await null;
    if (of === null) throw new Error('test: it was not asked');
    expect(askerOf(of)?.name).toBe('a watchlist');
    void slow(['x'], signal);
    await null;
    expect(askerOf(of)).toBeNull();
  });
});

test('what is held stays within its entries and its bytes, the oldest leaving first', async () => {
  let reads = 0;
  const shared = sharedReadings<string>({
    entriesMax: 3,
    bytesMax: 100,
    nowMs: () => 0,
    holdMs: () => HELD_MS,
    bytesOf: (text) => text.length,
    isCutShort: () => false,
  });
  const { signal } = new AbortController();
  const budget = { asker: null, signal, spend: () => undefined, end: () => undefined };
  const ask = (key: string, bytes: number) =>
    shared.ask(key, budget, async () => {
      reads += 1;
      return 'x'.repeat(bytes);
    });
  for (const key of ['a', 'b', 'c', 'd', 'd', 'c', 'b']) await ask(key, 1);
  expect(reads).toBe(4);
  expect(shared.find('a')).toBeNull();
  await ask('large', 80);
  expect(['b', 'c', 'd', 'large'].map((key) => shared.find(key) !== null)).toEqual([
    false,
    true,
    true,
    true,
  ]);
  await ask('too large', 200);
  expect([shared.find('too large'), shared.find('large') !== null]).toEqual([null, true]);
});

test('the room of a reading grows with what it tells, a part as well as a whole one', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ tx: `0x${n}` }));
  const bytes = [1, 100].map((count) => roughBytes(read(rows(count), origin)));
  expect(Number(bytes[1])).toBeGreaterThan(20 * Number(bytes[0]));
  const cut = part(rows(100), origin, why('time_budget'));
  expect(cut).toBeInstanceOf(Part);
  expect(roughBytes(cut)).toBe(bytes[1]);
});
