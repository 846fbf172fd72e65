import { describe, expect, test } from 'vitest';
import { coalesce, type Load } from './warehouse-rows.ts';

const LIMITS = { waitMs: 1, keysMax: 10, divideFrom: 10, loadsMax: 1 };
const never = new AbortController().signal;

type Held = {
  readonly keys: readonly string[];
  readonly signal: AbortSignal;
  readonly answer: () => void;
  readonly fail: (fault: Error) => void;
};

/** A load that is answered by hand: each key by itself in capitals. */
function byHand() {
  const loads: Held[] = [];
  const load: Load<string> = (keys, signal) =>
    new Promise((resolve, reject) => {
      const answer = () => resolve(new Map(keys.map((key) => [key, key.toUpperCase()])));
      loads.push({ keys, signal, answer, fail: reject });
    });
  const begun = async (count: number): Promise<Held[]> => {
    for (let turn = 0; turn < 1_000 && loads.length < count; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return loads;
  };
  return { load, begun };
}

async function endOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => 'answered',
    (fault: unknown) => fault,
  );
}

describe('reads at the same time', () => {
  test('become one load, and each is given its own keys', async () => {
    const { load, begun } = byHand();
    const ask = coalesce(load, LIMITS);
    const both = [ask(['a', 'b'], never), ask(['b', 'c'], never)];
    const [first] = await begun(1);
    expect(first?.keys).toEqual(['a', 'b', 'c']);
    first?.answer();
    const [one, two] = await Promise.all(both);
    expect([...(one ?? [])].sort()).toEqual([
      ['a', 'A'],
      ['b', 'B'],
    ]);
    expect([...(two ?? [])].sort()).toEqual([
      ['b', 'B'],
      ['c', 'C'],
    ]);
  });

  test('that come while one is loaded go together into the next, not into that one', async () => {
    const { load, begun } = byHand();
    const ask = coalesce(load, LIMITS);
    const first = ask(['a'], never);
    const [running] = await begun(1);
    const later = [ask(['a'], never), ask(['d'], never)];
    running?.answer();
    await first;
    const [, second] = await begun(2);
    expect(second?.keys).toEqual(['a', 'd']);
    second?.answer();
    await Promise.all(later);
  });

  test('past the most keys of a load are split, and answered whole', async () => {
    const { load, begun } = byHand();
    const ask = coalesce(load, { ...LIMITS, keysMax: 2, divideFrom: 1 });
    const answer = ask(['a', 'b', 'c'], never);
    const [first] = await begun(1);
    expect(first?.keys).toEqual(['a', 'b']);
    first?.answer();
    const [, second] = await begun(2);
    expect(second?.keys).toEqual(['c']);
    second?.answer();
    expect((await answer).size).toBe(3);
  });

  test('are divided among the loads that may run beside each other', async () => {
    const { load, begun } = byHand();
    const ask = coalesce(load, { ...LIMITS, divideFrom: 2, loadsMax: 2 });
    const answer = ask(['a', 'b', 'c', 'd'], never);
    const loads = await begun(2);
    expect(loads.map(({ keys }) => keys)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    for (const one of loads) one.answer();
    expect((await answer).size).toBe(4);
  });

  test('all learn of a load that failed', async () => {
    const { load, begun } = byHand();
    const ask = coalesce(load, LIMITS);
    const ends = [endOf(ask(['a'], never)), endOf(ask(['b'], never))];
    const [first] = await begun(1);
    const fault = new Error('lost');
    first?.fail(fault);
    expect(await Promise.all(ends)).toEqual([fault, fault]);
  });
});

describe('who gives up', () => {
  test('is let go at once, while the others are still answered', async () => {
    const { load, begun } = byHand();
    const ask = coalesce(load, LIMITS);
    const stop = new AbortController();
    const gone = endOf(ask(['a'], stop.signal));
    const stays = ask(['b'], never);
    const [first] = await begun(1);
    stop.abort(new Error('hung up'));
    expect(await gone).toEqual(new Error('hung up'));
    expect(first?.signal.aborted).toBe(false);
    first?.answer();
    expect((await stays).get('b')).toBe('B');
  });

  test('last stops the load', async () => {
    const { load, begun } = byHand();
    const ask = coalesce(load, LIMITS);
    const stops = [new AbortController(), new AbortController()];
    const ends = stops.map(({ signal }) => endOf(ask(['a'], signal)));
    const [first] = await begun(1);
    for (const stop of stops) stop.abort();
    await Promise.all(ends);
    expect(first?.signal.aborted).toBe(true);
  });

  test('before a load begins is not asked for', async () => {
    const { load, begun } = byHand();
    const ask = coalesce(load, LIMITS);
    const stop = new AbortController();
    const gone = endOf(ask(['a'], stop.signal));
    stop.abort();
    await gone;
    const stays = ask(['b'], never);
    const [first] = await begun(1);
    expect(first?.keys).toEqual(['b']);
    first?.answer();
    await stays;
  });

  test('beforehand is refused, and nobody is asked', async () => {
    const { load, begun } = byHand();
    const ask = coalesce(load, LIMITS);
    expect(await endOf(ask(['a'], AbortSignal.abort('late')))).toBe('late');
    expect(await begun(0)).toEqual([]);
  });
});
