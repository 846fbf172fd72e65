// Is every claim found, and each value refused that no claim stands behind?

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Claim, claim } from '../evidence/claim.ts';
import { all, both, part, read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import type { Source } from '../evidence/source.ts';
import { checkedFlag, checkedFlagOrNull, claimedWords, negative } from './wire.ts';
import { claimMeta, denies, writerOf } from './writer.ts';

const LIST = { restsOn: ['list'] } as const;
const flag = negative(z.boolean(), LIST);
const WHY = why('timed_out', { what: 'The list', limit: '1 s' });

function source(name: string): Source {
  return { name, url: 'https://example.org', as_of: 1, kind: 'table', simulated: false };
}

const listRead = read(['a'], { port: 'list', source: source('list') });
const labelsRead = read(['b'], { port: 'labels', source: source('labels') });

function taken(schema: z.ZodType, value: unknown, sources = new Set<Source>()): unknown {
  return JSON.parse(writerOf(schema, 'data')(value, sources));
}

test('the claim of a schema that is refined, described or marked further is kept', () => {
  for (const schema of [flag.refine(() => true), flag.describe('d'), flag.meta({ title: 't' })]) {
    expect(claimMeta(schema)).toEqual({ rests_on: ['list'], rule: 'negative' });
  }
});

describe('taking claims', () => {
  test('puts the plain value where the claim stood, and collects each source once', () => {
    const sources = new Set<Source>();
    const schema = z.strictObject({ one: flag, many: z.array(flag), note: z.string() });
    const listed = claim(listRead, () => false);
    const value = { one: listed, many: [listed, listed], note: 'n' };
    const plain = taken(schema, value, sources);
    expect(plain).toEqual({ one: false, many: [false, false], note: 'n' });
    expect([...sources].map((one) => one.name)).toEqual(['list']);
  });

  test('leaves what is null or left out as it is', () => {
    expect(taken(flag.nullable(), null)).toBeNull();
    expect(taken(z.strictObject({ a: flag.optional() }), {})).toEqual({});
    expect(taken(z.strictObject({ a: flag.optional() }), { a: undefined })).toEqual({});
  });

  test.each([false, true, 0, '', null, undefined, [], {}])(
    'refuses a hand-made %j where a claim has to stand',
    (value) => {
      expect(() => taken(flag, value)).toThrow('without the reading that it rests on');
    },
  );

  test('refuses a claim on another port, or on fewer than the field names', () => {
    const schema = negative(z.boolean(), { restsOn: ['list', 'labels'] });
    const whole = claim(
      both({ list: listRead, labels: labelsRead }),
      () => false,
      () => true,
    );
    expect(taken(schema, whole)).toBe(false);
    expect(() =>
      taken(
        schema,
        claim(listRead, () => false),
      ),
    ).toThrow('rest on labels');
    expect(() =>
      taken(
        flag,
        claim(labelsRead, () => false),
      ),
    ).toThrow('rest on list');
  });

  test('takes what silence may say, though the silent reading names one of the ports alone', () => {
    const schema = negative(z.boolean().nullable(), { restsOn: ['list', 'labels'] });
    const half = both({ list: listRead, labels: unread('labels', WHY) });
    const silent = claim(
      half,
      () => false,
      () => null,
    );
    expect(taken(schema, silent)).toBeNull();
  });

  test('refuses a denial that was not read to its end, whatever the types were told', () => {
    const silent: Claim<boolean, boolean, 'list'>[] = [
      claim(
        unread('list', WHY),
        () => true,
        () => false,
      ),
      claim(
        part([], { port: 'list', source: source('list') }, WHY),
        () => true,
        () => false,
      ),
    ];
    for (const said of silent) {
      expect(() => taken(flag, said)).toThrow('denies something that was not read');
    }
  });

  test('refuses a claim whose reading has no source: a list of no readings reads nothing', () => {
    const nothing = both({ list: listRead, none: all<string, 'labels'>([]) });
    expect(
      taken(
        flag,
        claim(
          nothing,
          () => false,
          () => true,
        ),
      ),
    ).toBe(false);
    const alone = all<string, 'list'>([]);
    expect(() =>
      taken(
        flag,
        claim(
          alone,
          () => false,
          () => true,
        ),
      ),
    ).toThrow(/does not rest/);
  });

  test('a flag may be false without a claim, never true; a word likewise', () => {
    const word = claimedWords(['hit', 'miss', 'silent'], ['miss'], LIST);
    expect(taken(checkedFlag(LIST), false)).toBe(false);
    expect(taken(checkedFlagOrNull(LIST), null)).toBeNull();
    expect(taken(word, 'silent')).toBe('silent');
    expect(() => taken(checkedFlag(LIST), true)).toThrow('without the reading');
    expect(() => taken(checkedFlagOrNull(LIST), true)).toThrow('without the reading');
    expect(() => taken(word, 'miss')).toThrow('without the reading');
    expect(
      taken(
        word,
        claim(listRead, () => 'miss'),
      ),
    ).toBe('miss');
  });
});

describe('what denies', () => {
  const meta = { rests_on: ['list'], rule: 'negative' } as const;

  test.each([[false], [0], [-0], [0n], [''], ['0'], ['0.00'], [[]], [{}]])('%s denies', (value) => {
    expect(denies(meta, value)).toBe(true);
  });

  test.each([[true], [1], [1n], ['a'], ['0.01'], ['10'], [[0]], [{ a: 0 }], [null]])(
    '%s does not deny',
    (value) => {
      expect(denies(meta, value)).toBe(false);
    },
  );

  test('a flag denies where it says that it was looked at, a word where it is claimed', () => {
    expect(denies({ ...meta, rule: 'checked' }, true)).toBe(true);
    expect(denies({ ...meta, rule: 'checked' }, false)).toBe(false);
    expect(denies({ ...meta, rule: 'literals', claimed: ['miss'] }, 'miss')).toBe(true);
    expect(denies({ ...meta, rule: 'literals', claimed: ['miss'] }, 'hit')).toBe(false);
  });
});
