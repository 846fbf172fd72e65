import { expect, test } from 'vitest';
import { type Soon, whenThere } from './waiting.ts';

test('what is there is gone on with at once, and what comes later when it comes', async () => {
  const now: Soon<number> = whenThere(1, (value) => value + 1);
  expect(now).toBe(2);
  const later: Soon<number> = whenThere(Promise.resolve(1), (value) => value + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(2);
});

test('a fault stays a fault, thrown where it is there now and rejected where it comes later', async () => {
  const broken = (): number => {
    throw new Error('broken');
  };
  expect(() => whenThere(1, broken)).toThrow('broken');
  await expect(whenThere(Promise.resolve(1), broken)).rejects.toThrow('broken');
  await expect(whenThere(Promise.reject(new Error('lost')), broken)).rejects.toThrow('lost');
});
