// An answer that is kept never outlives a write: neither one that ended nor one under way.

import { describe, expect, test } from 'vitest';
import { untilWritten } from './insert-source.ts';

/** A question that is answered by hand, and an executor whose writes are counted by hand. */
function world() {
  let writes: number | null = 0;
  let asked = 0;
  const open: (() => void)[] = [];
  const question = untilWritten({ writes: () => writes }, async () => {
    asked += 1;
    const told = asked;
    await new Promise<void>((resolve) => open.push(resolve));
    return told;
  });
  const begun = async () => {
    for (let tries = 0; tries < 100 && open.length === 0; tries += 1) await Promise.resolve();
  };
  const answer = async () => {
    await begun();
    const next = open.shift();
    if (next === undefined) throw new Error('test: nothing was asked');
    next();
  };
  return {
    question,
    begun,
    answer,
    write: (now: number | null) => {
      writes = now;
    },
  };
}

describe('an answer', () => {
  test('stands while nothing is written, and is asked again after a write', async () => {
    const { question, answer, write } = world();
    const first = question();
    await answer();
    expect(await first).toBe(1);
    expect(await question()).toBe(1);
    write(1);
    const second = question();
    await answer();
    expect(await second).toBe(2);
  });

  test('is not kept where a write was under way, or began while it was asked', async () => {
    const { question, begun, answer, write } = world();
    write(null);
    const during = question();
    await answer();
    expect(await during).toBe(1);
    write(1);
    const across = question();
    await begun();
    write(2);
    await answer();
    expect(await across).toBe(2);
    const after = question();
    await answer();
    expect(await after).toBe(3);
  });

  test('of a question under way is given to nobody who asked after it began', async () => {
    const { question, answer, write } = world();
    write(null);
    const first = question();
    await Promise.resolve();
    const [second, third] = [question(), question()];
    await answer();
    await answer();
    expect(await first).toBe(1);
    expect([await second, await third]).toEqual([2, 2]);
  });

  test('that failed is no answer for whoever asks next', async () => {
    let fails = true;
    const question = untilWritten({ writes: () => 0 }, async () => {
      if (fails) throw new Error('the engine is gone');
      return 'there';
    });
    await expect(question()).rejects.toThrow('gone');
    fails = false;
    expect(await question()).toBe('there');
  });
});
