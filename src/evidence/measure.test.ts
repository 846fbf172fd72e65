// Is each literal empty or zero that has a name the right one?

import { expect, test } from 'vitest';
import * as measure from './measure.ts';

test('counting begins at one with the first, and each further one adds one', () => {
  const counts = new Map<string, number>();
  measure.tally(counts, 'a');
  measure.tally(counts, 'b');
  measure.tally(counts, 'a');
  expect([...counts]).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
});

test('collecting keeps what stands under a key, in order', () => {
  const lists = new Map<string, number[]>();
  measure.collect(lists, 'a', 1);
  measure.collect(lists, 'a', 2);
  measure.collect(lists, 'b', 3);
  expect([...lists]).toEqual([
    ['a', [1, 2]],
    ['b', [3]],
  ]);
});

test('a table holds nothing under a key that it lacks, and nobody can add to that nothing', () => {
  const table = new Map([['a', [1]]]);
  expect(measure.rowsUnder(table, 'a')).toEqual([1]);
  expect(measure.rowsUnder(table, 'b')).toEqual([]);
  expect(Object.isFrozen(measure.rowsUnder(table, 'b'))).toBe(true);
});

test('a rate of nothing measured is null, never zero', () => {
  expect(measure.rate(0, 0)).toBeNull();
  expect(measure.rate(0, 4)).toBe(0);
  expect(measure.rate(1, 4)).toBe(0.25);
});

test('what is not there gives no member, no list and no text, and is kept apart from what is empty', () => {
  expect(measure.present([0, null, '', undefined, false])).toEqual([0, '', false]);
  expect(measure.listFrom(null, () => ['a'])).toEqual([]);
  expect(measure.listFrom(0, (n) => [n])).toEqual([0]);
  expect(measure.listOrNone(undefined)).toEqual([]);
  expect(measure.listOrNone(['a'])).toEqual(['a']);
  expect(measure.textOrEmpty(null)).toBe('');
  expect(measure.textOrEmpty('a')).toBe('a');
});
