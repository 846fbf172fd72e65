// Is what is written always what the schema takes, and JSON's own writing of it?

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { claim } from '../evidence/claim.ts';
import { read } from '../evidence/reading.ts';
import type { Source } from '../evidence/source.ts';
import { claimedWordsOfAsked, isoDay, negative, sourceShown, unixSeconds } from './wire.ts';
import { dataWriterOf, type Write, writerOf } from './writer.ts';

const SCHEMAS: readonly (readonly [string, z.ZodType])[] = [
  ['a text', z.string()],
  ['a text of a length', z.string().min(2).max(3)],
  ['a day', isoDay],
  ['a number', z.number()],
  ['a number between', z.number().gt(0).lte(1)],
  ['a whole number', z.int().positive()],
  ['a time', unixSeconds],
  ['a flag', z.boolean().nullable()],
  ['a word', z.enum(['a', 'b'])],
  ['a literal', z.literal(true)],
  ['a list', z.array(z.string()).min(1).max(2)],
  ['a list that is read only', z.array(z.string()).readonly()],
  ['a list of three', z.array(z.int()).length(3)],
  ['a union', z.union([z.string(), z.null()])],
  [
    'a union of objects',
    z.union([z.strictObject({ a: z.int() }), z.strictObject({ a: z.string() })]),
  ],
  ['an object', z.strictObject({ a: z.string(), b: z.int().optional() })],
  ['a source', sourceShown],
  ['a record', z.record(z.string(), z.number())],
  ['an address of the web', z.strictObject({ url: z.url() })],
  ['a pattern with a memory', z.string().regex(/^a/g)],
];

const ODD: readonly unknown[] = [
  ...[undefined, null, true, false, 0, -0, 1, -1, 0.5, 2, Number.NaN, Number.POSITIVE_INFINITY],
  ...[2 ** 53, 1n, '', 'a', 'ab', 'abc', 'abcd', '2026-11-21', '21.11.2026', [], ['a'], [1, 2, 3]],
  ...[['a', 'b', 'c'], [1.5, 2, 3], {}, { a: 'x' }, { a: 'x', b: 1 }, { a: 'x', b: undefined }],
  ...[{ a: 'x', b: 1.5 }, { a: 'x', c: 1 }, { a: 2 }, { a: 3 }, { url: 'https://example.org' }],
  ...[{ url: 'no' }, { name: 'n', url: 'u', as_of: 1 }, { name: '', url: 'u', as_of: 1 }],
  ...[Object.assign([1], { a: 'x' }), new Date(0), () => 1],
];

const written = (schema: z.ZodType, value: unknown) => writerOf(schema, 'data')(value, new Set());

function writtenOrRefused(write: Write, value: unknown): string | null {
  try {
    return write(value, new Set());
  } catch (fault) {
    expect(String(fault)).toMatch(/^Error: answer: not as the contract declares it: data/);
    return null;
  }
}

test.each(SCHEMAS)(
  'of %s nothing is written that the schema refuses, or otherwise',
  (_, schema) => {
    const write = writerOf(schema, 'data');
    const agrees = (value: unknown) => {
      const text = writtenOrRefused(write, value);
      if (text === null) return;
      expect([value, schema.safeParse(value).success]).toEqual([value, true]);
      const mine: unknown = JSON.parse(text);
      const own: unknown = JSON.parse(JSON.stringify(value));
      expect(mine).toEqual(own);
    };
    for (const value of ODD) agrees(value);
    fc.assert(fc.property(fc.anything(), agrees));
  },
);

test.each(SCHEMAS)('of %s all that the schema takes is written', (_, schema) => {
  const taken = ODD.filter((value) => schema.safeParse(value).success);
  expect(taken.length).toBeGreaterThan(0);
  for (const value of taken) expect(written(schema, value)).toBe(JSON.stringify(value));
});

// Half of a pair is no character, and JSON writes it as an escape.
const half = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

test('any text and any number is written as JSON writes it', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.string({ unit: half }));
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      expect(written(z.array(z.string()), texts)).toBe(JSON.stringify(texts));
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })), (numbers) => {
      expect(written(z.array(z.number()), numbers)).toBe(JSON.stringify(numbers));
    }),
  );
});

const LISTED = negative(z.boolean(), { restsOn: ['list'] });

describe('a declaration', () => {
  const declared = (schema: z.ZodType) => () =>
    writerOf(z.strictObject({ rows: z.array(z.strictObject({ field: schema })) }), 'data');

  test.each<[string, z.ZodType]>([
    ['default', z.array(z.string()).default([])],
    ['catch', z.boolean().catch(false)],
    ['pipe', z.string().transform((text) => text.length)],
    ['pipe', z.string().pipe(z.string())],
    ['tuple', z.tuple([LISTED])],
    ['map', z.map(z.string(), LISTED)],
    ['lazy', z.lazy(() => LISTED)],
    ['intersection', z.intersection(z.strictObject({}), z.strictObject({}))],
    ['unknown', z.unknown()],
    ['bigint', z.bigint()],
    ['number', z.coerce.number()],
    ['optional', z.array(z.string().optional())],
  ])('with the schema kind "%s" stops, with the place and the kind', (kind, schema) => {
    expect(declared(schema)).toThrow(/^contract: data\.rows\[\]\.field/);
    expect(declared(schema)).toThrow(`schema kind "${kind}"`);
  });

  test.each<[string, z.ZodType]>([
    ['custom', z.strictObject({ a: z.int() }).refine(({ a }) => a % 2 === 0)],
    ['overwrite', z.string().trim()],
  ])('with the check "%s" stops, with the place and the check', (check, schema) => {
    expect(declared(schema)).toThrow(/^contract: data\.rows\[\]\.field/);
    expect(declared(schema)).toThrow(`check "${check}"`);
  });

  test('refuses an object that takes fields it does not declare', () => {
    expect(declared(z.looseObject({ a: z.string() }))).toThrow('does not declare');
    expect(declared(z.object({ a: z.string() }))).toThrow('does not declare');
    expect(declared(z.object({}).catchall(LISTED))).toThrow('does not declare');
  });

  test.each<[string, z.ZodType, string]>([
    ['a record', z.record(z.string(), LISTED), 'inside a record'],
    ['a union', z.union([LISTED, z.string()]), 'inside a union'],
    [
      'another claim',
      negative(z.array(z.strictObject({ listed: LISTED })), { restsOn: ['list'] }),
      'inside a claim',
    ],
  ])('refuses a claim inside %s, where it could not be found', (_, schema, message) => {
    expect(declared(schema)).toThrow(message);
  });

  test('refuses a schema that nests without end', () => {
    let schema: z.ZodType = z.string();
    for (let depth = 0; depth < 20; depth++) schema = z.array(schema);
    expect(declared(schema)).toThrow('nests too deep');
  });
});

describe('what is not fit', () => {
  const data = z.strictObject({
    rows: z.array(z.strictObject({ name: z.string().min(2), count: z.int().positive() })).min(1),
    by_name: z.record(z.string(), z.number()).optional(),
  });
  const row = { name: 'ab', count: 1 };

  test.each<[object, string]>([
    [{}, 'data.rows: expected a list'],
    [{ rows: [] }, 'data.rows: Too small'],
    [{ rows: [null] }, 'data.rows[]: expected an object'],
    [{ rows: [row, { ...row, name: 'a' }] }, 'data.rows[].name: Too small'],
    [{ rows: [{ ...row, name: 7 }] }, 'data.rows[].name: expected string'],
    [{ rows: [{ ...row, count: '1' }] }, 'data.rows[].count: expected number'],
    [{ rows: [{ ...row, count: 1.5 }] }, 'data.rows[].count: Invalid input: expected int'],
    [{ rows: [{ ...row, secret: 's' }] }, 'data.rows[]: expected no field that is not declared'],
    [{ rows: [row], by_name: { a: 'x' } }, 'data.by_name: '],
    [{ rows: [row], by_name: new Map() }, 'data.by_name: '],
  ])('%j is refused by its place', (value, message) => {
    const words = `answer: not as the contract declares it: ${message}`;
    expect(() => written(data, value)).toThrow(words);
  });
});

describe('a claim', () => {
  const source: Source = {
    name: 'A list',
    url: 'https://example.org',
    as_of: 1,
    kind: 'table',
    simulated: false,
  };
  const listed = LISTED;
  const said = (value: boolean) => claim(read(value, { port: 'list', source }), (held) => held);
  const row = z.strictObject({ listed, note: z.string() });

  test('is written as its value, and its sources are kept', () => {
    const sources = new Set<Source>();
    const text = writerOf(row, 'data')({ listed: said(false), note: 'n' }, sources);
    expect(text).toBe('{"listed":false,"note":"n"}');
    expect([...sources]).toEqual([source]);
  });

  test('inside what is read only is taken as anywhere else', () => {
    const text = written(z.array(row).readonly(), [{ listed: said(true), note: 'n' }]);
    expect(text).toBe('[{"listed":true,"note":"n"}]');
  });

  test('that is missing, or rests on too little, is refused by its place', () => {
    expect(() => written(row, { listed: false, note: 'n' })).toThrow('answer: data.listed is said');
    const other = claim(read(false, { port: 'labels', source }), (held) => held);
    expect(() => written(row, { listed: other, note: 'n' })).toThrow('does not rest on list');
  });

  test('of a question that may be limited rests on one of its ports, and on none is refused', () => {
    const rests = { restsOn: ['list'], limitedTo: ['list', 'labels'] } as const;
    const state = z.strictObject({ state: claimedWordsOfAsked(['ok', 'none'], ['none'], rests) });
    const none = (port: string) => claim(read('none', { port, source }), (word) => word);
    expect(written(state, { state: none('labels') })).toBe('{"state":"none"}');
    expect(() => written(state, { state: none('history') })).toThrow(
      'rests on none of list, labels',
    );
    expect(() => written(state, { state: 'none' })).toThrow('answer: data.state is said');
  });

  test('inside an object that items share gives its sources in each answer', () => {
    const shared = { listed: said(false), note: 'n' };
    const write = writerOf(z.array(row), 'data');
    for (const _time of [1, 2]) {
      const sources = new Set<Source>();
      expect(write([shared, shared], sources)).toBe(JSON.stringify([false, false].map(shown)));
      expect([...sources]).toEqual([source]);
    }
  });

  test('an object that was changed since the last answer is written as it is now', () => {
    const write = writerOf(row, 'data');
    const changing = { listed: said(false), note: 'before' };
    write(changing, new Set());
    changing.note = 'after';
    expect(write(changing, new Set())).toContain('after');
  });

  test('items that end alike are written as each of them alone', () => {
    const item = z.strictObject({
      id: z.string(),
      note: z.string().optional(),
      count: z.int().nullable(),
      tags: z.array(z.string()),
      listed,
      word: z.enum(['a', 'b']),
    });
    const write = writerOf(z.array(item), 'data');
    const alone = writerOf(item, 'data');
    const tags = [[], ['é', '"'], ['x']];
    const claims = [said(true), said(false)];
    const drawn = fc.record(
      {
        id: fc.string(),
        note: fc.option(fc.constantFrom('n', '\u2028'), { nil: undefined }),
        count: fc.constantFrom(1, 2, null),
        tags: fc.constantFrom(...tags),
        listed: fc.constantFrom(...claims),
        word: fc.constantFrom('a', 'b'),
      },
      { requiredKeys: ['id', 'count', 'tags', 'listed', 'word'] },
    );
    fc.assert(
      fc.property(fc.array(drawn, { maxLength: 40 }), (items) => {
        const expected = items.map((one) => alone(one, new Set()));
        expect(write(items, new Set())).toBe(`[${expected.join()}]`);
      }),
    );
    const same = { id: 'x', count: 1, tags: [], listed: said(true), word: 'a' };
    const more = { ...same, other: 1 };
    expect(() => write([same, same, { ...same }, more], new Set())).toThrow('not declared');
    const { tags: left, ...less } = same;
    expect(() => write([same, { ...same }, { ...same }, less], new Set())).toThrow('data[].tags');
    expect(left).toEqual([]);
  });

  test('behind the caveat labels it: it is written when all sources are known', () => {
    const data = z.strictObject({ caveat: z.string().min(1), listed });
    const names = (sources: ReadonlySet<Source>) => `${[...sources].map(({ name }) => name)}: `;
    const write = dataWriterOf(data, 'data', names);
    const texts = write({ caveat: 'c', listed: said(true) }, new Set());
    expect(texts).toEqual(['{"listed":true,"caveat":"A list: c"}']);
    expect(() => write({ caveat: '', listed: said(true) }, new Set())).toThrow('data.caveat');
  });
});

function shown(listed: boolean) {
  return { listed, note: 'n' };
}

test('data with long lists comes in pieces, none of them long, which are its JSON together', () => {
  const item = z.strictObject({ name: z.string(), parts: z.array(z.string()) });
  const list = z.array(item).min(1);
  const data = z.strictObject({ first: list, n: z.int(), second: list, caveat: z.string() });
  const write = dataWriterOf(data, 'data', () => '');
  const itemsOf = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ name: `ü ${i}\0`, parts: ['a', 'b'.repeat(900)] }));
  const [long, short] = [itemsOf(400), itemsOf(2)];
  for (const [first, second] of [
    [long, long],
    [short, long],
    [long, short],
    [short, short],
  ]) {
    const value = { first, n: 1, second, caveat: 'c' };
    const texts = write(value, new Set());
    expect(texts.join('')).toBe(JSON.stringify(value));
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThan(2 ** 17);
  }
  expect(() => write({ first: long, n: 1, second: [], caveat: 'c' }, new Set())).toThrow('second');
  // What a refused value left behind is in no later one.
  const value = { first: short, n: 1, second: long, caveat: 'c' };
  expect(write(value, new Set()).join('')).toBe(JSON.stringify(value));
});
