// A text is parsed once while it stands, another text under its key is parsed anew, and the keys
// that nobody asked for longest are let go.

import { expect, test } from 'vitest';
import { keepParses } from './kept-parses.ts';

test('gives the value of the text that stands under the key now', () => {
  const parsed: string[] = [];
  const parse = keepParses((text) => {
    parsed.push(text);
    if (text === 'broken') throw new Error('broken');
    return { text };
  }, 2);
  const first = parse('a', 'one');
  expect(parse('a', 'one')).toBe(first);
  expect(parse('b', 'one')).toEqual(first);
  expect(parse('a', 'two')).toEqual({ text: 'two' });
  expect(() => parse('a', 'broken')).toThrow('broken');
  expect(() => parse('a', 'broken')).toThrow('broken');
  expect(parse('a', 'two')).toEqual({ text: 'two' });
  expect(parsed).toEqual(['one', 'one', 'two', 'broken', 'broken']);
  parse('c', 'three');
  parse('a', 'two');
  parse('b', 'one');
  expect(parsed.slice(5)).toEqual(['three', 'one']);
});
