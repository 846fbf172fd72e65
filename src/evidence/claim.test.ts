// Does a claim say what its reading allows, and carry what it rests on?

import { describe, expect, test } from 'vitest';
import { claim } from './claim.ts';
import { part, type Reading, read, unread } from './reading.ts';
import { why } from './reasons.ts';
import type { Source } from './source.ts';

const SOURCE: Source = {
  name: 'A list',
  url: 'https://example.org',
  as_of: 1,
  kind: 'observation',
  simulated: false,
};
const ORIGIN = { port: 'list', source: SOURCE } as const;
const WHY = why('timed_out', { what: 'The list', limit: '1 s' });

describe('a claim', () => {
  test('on what was read says the value, and names port and source', () => {
    const said = claim(read(['a'], ORIGIN), (names) => names.length);
    expect(said.looked).toBe(true);
    expect(said.shown).toBe(1);
    expect(said.ports).toEqual(new Set(['list']));
    expect(said.sources).toEqual([SOURCE]);
  });

  test('on what was not read says the other value, told why, and has no source', () => {
    const said = claim(
      unread('list', WHY),
      () => 'read',
      (because) => because.code,
    );
    expect(said.looked).toBe(false);
    expect(said.shown).toBe('timed_out');
    expect(said.ports).toEqual(new Set(['list']));
    expect(said.sources).toEqual([]);
  });

  test('on what stopped early says the other value, but names the source that was read', () => {
    const said = claim(
      part(['a'], ORIGIN, WHY),
      () => 'read',
      () => 'cut',
    );
    expect(said.looked).toBe(false);
    expect(said.shown).toBe('cut');
    expect(said.sources).toEqual([SOURCE]);
  });

  test('with nothing to say where nothing was read is a bug that stops the answer', () => {
    const silent: Reading<string[], 'list'> = unread('list', WHY);
    // @ts-expect-error the types refuse it; this is what is left where a cast has got past them
    expect(() => claim(silent, () => false)).toThrow('a silent reading has nothing to say');
  });
});
