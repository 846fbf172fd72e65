// Does a contract's plan find every claim, and refuse each value that no claim stands behind?

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Claim, claim } from '../evidence/claim.ts';
import { all, both, part, read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import type { Source } from '../evidence/source.ts';
import { claimMeta, denies, planOf, unwrap } from './plan.ts';
import { checked, checkedOrNull, claimedWords, negative } from './wire.ts';

const LIST = { restsOn: ['list'] } as const;
const flag = negative(z.boolean(), LIST);
const WHY = why('timed_out', { what: 'The list', limit: '1 s' });

function source(name: string): Source {
  return { name, url: 'https://example.org', as_of: 1, kind: 'table', simulated: false };
}

const listRead = read(['a'], { port: 'list', source: source('list') });
const labelsRead = read(['b'], { port: 'labels', source: source('labels') });

function unwrapped(schema: z.ZodType, value: unknown): unknown {
  return unwrap(planOf(schema), value, new Set(), 'data');
}

describe('a plan', () => {
  test('finds a claim in an object, a list, and behind what may be null or left out', () => {
    const claimed = { kind: 'claim', meta: { rests_on: ['list'], rule: 'negative' } };
    expect(planOf(flag)).toEqual(claimed);
    expect(planOf(z.array(flag))).toEqual({ kind: 'list', item: claimed });
    expect(planOf(flag.nullable())).toEqual({ kind: 'maybe', inner: claimed });
    expect(planOf(flag.optional())).toEqual({ kind: 'maybe', inner: claimed });
    expect(planOf(z.strictObject({ a: z.string(), b: flag }))).toEqual({
      kind: 'object',
      fields: [['b', claimed]],
    });
  });

  test('keeps the claim of a schema that is refined, described or marked further', () => {
    for (const schema of [flag.refine(() => true), flag.describe('d'), flag.meta({ title: 't' })]) {
      expect(claimMeta(schema)).toEqual({ rests_on: ['list'], rule: 'negative' });
    }
  });

  test('without claims is plain', () => {
    const schema = z.strictObject({
      text: z.string(),
      list: z.array(z.int()),
      byName: z.record(z.string(), z.number()),
      either: z.union([z.literal('a'), z.null()]),
    });
    expect(planOf(schema)).toEqual({ kind: 'plain' });
  });

  test.each<[string, z.ZodType, string]>([
    ['a record', z.record(z.string(), flag), 'inside a record'],
    ['a union', z.union([flag, z.string()]), 'inside a union'],
    ['another claim', negative(z.array(z.strictObject({ flag })), LIST), 'inside a claim'],
  ])('refuses a claim inside %s, where it could not be found', (_, schema, message) => {
    expect(() => planOf(schema)).toThrow(message);
  });

  test.each<[string, z.ZodType]>([
    ['default', z.array(z.string()).default([])],
    ['catch', z.boolean().catch(false)],
    ['transform', z.string().transform((text) => text.length)],
    ['pipe', z.string().pipe(z.string())],
    ['tuple', z.tuple([flag])],
    ['map', z.map(z.string(), flag)],
    ['lazy', z.lazy(() => flag)],
    ['intersection', z.intersection(z.strictObject({}), z.strictObject({}))],
  ])('refuses %s, a kind of schema that it does not know', (_, schema) => {
    expect(() => planOf(z.strictObject({ field: schema }))).toThrow('which no plan knows');
  });

  test('refuses an object that takes fields it does not declare', () => {
    expect(() => planOf(z.looseObject({ a: z.string() }))).toThrow('does not declare');
    expect(() => planOf(z.object({}).catchall(flag))).toThrow('does not declare');
  });

  test('refuses a schema that nests without end', () => {
    let schema: z.ZodType = z.string();
    for (let depth = 0; depth < 20; depth++) schema = z.array(schema);
    expect(() => planOf(schema)).toThrow('nests too deep');
  });
});

describe('unwrapping', () => {
  test('puts the plain value where the claim stood, and collects each source once', () => {
    const sources = new Set<Source>();
    const schema = z.strictObject({ one: flag, many: z.array(flag), note: z.string() });
    const listed = claim(listRead, () => false);
    const value = { one: listed, many: [listed, listed], note: 'n' };
    const plain = unwrap(planOf(schema), value, sources, 'data');
    expect(plain).toEqual({ one: false, many: [false, false], note: 'n' });
    expect([...sources].map((one) => one.name)).toEqual(['list']);
  });

  test('leaves what is null or left out as it is', () => {
    expect(unwrapped(flag.nullable(), null)).toBeNull();
    expect(unwrapped(z.strictObject({ a: flag.optional() }), {})).toEqual({});
  });

  test.each([false, true, 0, '', null, undefined, [], {}])(
    'refuses a hand-made %j where a claim has to stand',
    (value) => {
      expect(() => unwrapped(flag, value)).toThrow('without the reading that it rests on');
    },
  );

  test('refuses a claim on another port, or on fewer than the field names', () => {
    const schema = negative(z.boolean(), { restsOn: ['list', 'labels'] });
    const whole = claim(
      both({ list: listRead, labels: labelsRead }),
      () => false,
      () => true,
    );
    expect(unwrapped(schema, whole)).toBe(false);
    expect(() =>
      unwrapped(
        schema,
        claim(listRead, () => false),
      ),
    ).toThrow('rest on labels');
    expect(() =>
      unwrapped(
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
    expect(unwrapped(schema, silent)).toBeNull();
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
      expect(() => unwrapped(flag, said)).toThrow('denies something that was not read');
    }
  });

  test('refuses a claim whose reading has no source: a list of no readings reads nothing', () => {
    const nothing = both({ list: listRead, none: all<string, 'labels'>([]) });
    expect(
      unwrapped(
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
      unwrapped(
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
    expect(unwrapped(checked(LIST), false)).toBe(false);
    expect(unwrapped(checkedOrNull(LIST), null)).toBeNull();
    expect(unwrapped(word, 'silent')).toBe('silent');
    expect(() => unwrapped(checked(LIST), true)).toThrow('without the reading');
    expect(() => unwrapped(checkedOrNull(LIST), true)).toThrow('without the reading');
    expect(() => unwrapped(word, 'miss')).toThrow('without the reading');
    expect(
      unwrapped(
        word,
        claim(listRead, () => 'miss'),
      ),
    ).toBe('miss');
  });

  test('refuses what has another shape than the plan, naming the place', () => {
    expect(() => unwrapped(z.array(flag), {})).toThrow('data is not a list');
    expect(() =>
      unwrapped(z.strictObject({ inner: z.strictObject({ flag }) }), { inner: null }),
    ).toThrow('data.inner is missing');
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
