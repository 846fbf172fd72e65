// Is what is written always what the schema takes, and JSON's own writing of it?

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { claim } from '../evidence/claim.ts';
import { read } from '../evidence/reading.ts';
import type { Source } from '../evidence/source.ts';
import { isoDay, negative, sourceShown, unixSeconds } from './wire.ts';
import { dataWriterOf, writerOf } from './writer.ts';

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
  ['an object', z.strictObject({ a: z.string(), b: z.int().optional() })],
  ['a source', sourceShown],
  ['what only the schema knows', z.record(z.string(), z.number())],
  ['an address of the web', z.strictObject({ url: z.url() })],
  ['a refined object', z.strictObject({ a: z.int() }).refine(({ a }) => a % 2 === 0)],
  ['a pattern with a memory', z.string().regex(/^a/g)],
  ['a loose object', z.looseObject({ a: z.int() })],
];

const ODD: readonly unknown[] = [
  ...[undefined, null, true, false, 0, -0, 1, -1, 0.5, 2, Number.NaN, Number.POSITIVE_INFINITY],
  ...[2 ** 53, 1n, '', 'a', 'ab', 'abc', 'abcd', '2026-11-21', '21.11.2026', [], ['a'], [1, 2, 3]],
  ...[['a', 'b', 'c'], [1.5, 2, 3], {}, { a: 'x' }, { a: 'x', b: 1 }, { a: 'x', b: undefined }],
  ...[{ a: 'x', b: 1.5 }, { a: 'x', c: 1 }, { a: 2 }, { a: 3 }, { url: 'https://example.org' }],
  ...[{ url: 'no' }, { name: 'n', url: 'u', as_of: 1 }, { name: '', url: 'u', as_of: 1 }],
  ...[Object.assign([1], { a: 'x' }), new Date(0), () => 1],
];

const writingFor = (sources = new Set<Source>()) => ({ sources, ascii: true });
const written = (schema: z.ZodType, value: unknown) =>
  writerOf(schema, 'data')(value, writingFor());

test.each(SCHEMAS)(
  'of %s nothing is written that the schema refuses, or otherwise',
  (_, schema) => {
    const write = writerOf(schema, 'data');
    const agrees = (value: unknown) => {
      const text = write(value, writingFor());
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

test.each(SCHEMAS)(
  'of %s all that the schema takes is written, but for fields left undefined',
  (_, schema) => {
    const taken = ODD.filter((value) => schema.safeParse(value).success);
    expect(taken.length).toBeGreaterThan(0);
    for (const value of taken) {
      const undefinedField = typeof value === 'object' && value !== null && 'b' in value;
      expect([value, written(schema, value) !== null || undefinedField]).toEqual([value, true]);
    }
  },
);

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

test('a text is told to be ASCII only where every sign of it is, the one before as well', () => {
  const schema = z.array(z.strictObject({ a: z.string(), b: z.enum(['x', 'ä']).optional() }));
  const write = writerOf(schema, 'data');
  const text = fc.oneof(fc.string(), fc.constantFrom('ä', '\u{1f600}', '\u007f', '\ud800', 'x'));
  const row = fc.record({ a: text, b: fc.constantFrom('x', 'ä') }, { requiredKeys: ['a'] });
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const writing = writingFor();
      const json = write([...rows, ...rows], writing);
      const isAscii = json !== null && Buffer.byteLength(json) === json.length;
      if (writing.ascii) expect([json, isAscii]).toEqual([json, true]);
      if (rows.every(({ a, b }) => /^\w*$/.test(a) && b !== 'ä')) expect(writing.ascii).toBe(true);
    }),
  );
});

describe('a claim', () => {
  const source: Source = {
    ...{ name: 'A list', url: 'https://example.org', as_of: 1, kind: 'table', simulated: false },
  };
  const listed = negative(z.boolean(), { restsOn: ['list'] });
  const said = (value: boolean) => claim(read(value, { port: 'list', source }), (held) => held);
  const row = z.strictObject({ listed, note: z.string() });

  test('is written as its value, and its sources are kept', () => {
    const sources = new Set<Source>();
    const text = writerOf(row, 'data')({ listed: said(false), note: 'n' }, writingFor(sources));
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

  test('inside an object that items share gives its sources in each answer', () => {
    const shared = { listed: said(false), note: 'n' };
    const write = writerOf(z.array(row), 'data');
    for (const _time of [1, 2]) {
      const sources = new Set<Source>();
      expect(write([shared, shared], writingFor(sources))).toBe(
        JSON.stringify([false, false].map(shown)),
      );
      expect([...sources]).toEqual([source]);
    }
  });

  test('an object that was changed since the last answer is written as it is now', () => {
    const write = writerOf(row, 'data');
    const changing = { listed: said(false), note: 'before' };
    write(changing, writingFor());
    changing.note = 'after';
    expect(write(changing, writingFor())).toContain('after');
  });

  test('behind the caveat changes it: it is written when all sources are known', () => {
    const data = z.strictObject({ caveat: z.string().min(1), listed });
    const named = (caveat: string, sources: ReadonlySet<Source>) =>
      `${[...sources].map(({ name }) => name).join()}: ${caveat}`;
    const write = dataWriterOf(data, 'data', named);
    const text = write({ caveat: 'c', listed: said(true) }, writingFor());
    expect(text).toBe('{"listed":true,"caveat":"A list: c"}');
    expect(write({ caveat: '', listed: said(true) }, writingFor())).toBeNull();
  });
});

function shown(listed: boolean) {
  return { listed, note: 'n' };
}
