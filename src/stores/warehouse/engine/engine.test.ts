import { describe, expect, test } from 'vitest';
import { openSlots } from './engine.ts';

const CALL = { timeoutMs: 60_000 };

/** Work that ends when it is told to. */
function task() {
  let end: (value: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const seen: { stop?: AbortSignal } = {};
  const work = (stop: AbortSignal) => {
    seen.stop = stop;
    return ended;
  };
  return { work, end, seen };
}

describe('slots', () => {
  test('run in the order of asking, no more at once than there are', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 5 });
    const tasks = [task(), task(), task()];
    const answers = tasks.map(({ work }) => slots.run(CALL, work));
    expect(slots.load()).toEqual({ inFlight: 1, waiting: 2 });
    const begun = () => tasks.map(({ seen }) => seen.stop !== undefined);
    for (const [i, { end }] of tasks.entries()) {
      expect(begun()).toEqual(tasks.map((_, at) => at <= i));
      end(`${i}`);
      expect(await answers[i]).toBe(`${i}`);
    }
    expect(slots.load()).toEqual({ inFlight: 0, waiting: 0 });
  });

  test('a full queue answers overloaded at once', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const first = task();
    void slots.run(CALL, first.work);
    void slots.run(CALL, task().work);
    await expect(slots.run(CALL, task().work)).rejects.toMatchObject({ code: 'overloaded' });
  });

  test('a caller that gives up is let go; its slot stays taken until the work has ended', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const { work, end, seen } = task();
    const stop = new AbortController();
    const answer = slots.run({ ...CALL, signal: stop.signal }, work);
    stop.abort();
    await expect(answer).rejects.toMatchObject({ code: 'aborted' });
    expect(seen.stop?.aborted).toBe(true);
    expect(slots.load().inFlight).toBe(1);
    end('late');
    await slots.run(CALL, async () => 'next');
    expect(slots.load().inFlight).toBe(0);
  });

  test('work that fails after its caller has gone troubles nobody, and frees its slot', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const answer = slots.run({ timeoutMs: 1 }, async (stop) => {
      await new Promise((resolve) => stop.addEventListener('abort', resolve));
      throw new Error('too late');
    });
    await expect(answer).rejects.toMatchObject({ code: 'timeout' });
    expect(await slots.run(CALL, async () => 'next')).toBe('next');
  });

  test('closing waits for the work, refuses new calls, and in the end lets the callers go', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const quick = task();
    const answer = slots.run(CALL, quick.work);
    const closed = slots.close(60_000);
    await expect(slots.run(CALL, task().work)).rejects.toMatchObject({ code: 'closed' });
    quick.end('done');
    await closed;
    expect(await answer).toBe('done');

    const other = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const stuck = [other.run(CALL, task().work), other.run(CALL, task().work)];
    void other.close(1);
    for (const one of stuck) await expect(one).rejects.toMatchObject({ code: 'closed' });
  });
});
