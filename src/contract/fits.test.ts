// Is a quick yes always the schema's own?

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fitsOf } from './fits.ts';
import { isoDay, negative, sourceShown, unixSeconds } from './wire.ts';

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
  ['a list of three', z.array(z.int()).length(3)],
  ['a union', z.union([z.string(), z.null()])],
  ['an object', z.strictObject({ a: z.string(), b: z.int().optional() })],
  ['a source', sourceShown],
  ['a claim', negative(z.boolean(), { restsOn: ['list'] })],
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

test.each(SCHEMAS)('of %s nothing fits that the schema refuses', (_, schema) => {
  const fits = fitsOf(schema);
  const agrees = (value: unknown) => {
    const parsed = schema.safeParse(value);
    if (fits(value)) expect([value, parsed.success]).toEqual([value, true]);
  };
  for (const value of ODD) agrees(value);
  fc.assert(fc.property(fc.anything(), agrees));
});

test.each(SCHEMAS)(
  'of %s all that the schema takes fits, but for fields left undefined',
  (_, schema) => {
    const fits = fitsOf(schema);
    const taken = ODD.filter((value) => schema.safeParse(value).success);
    expect(taken.length).toBeGreaterThan(0);
    for (const value of taken) {
      const undefinedField = typeof value === 'object' && value !== null && 'b' in value;
      expect([value, fits(value) || undefinedField]).toEqual([value, true]);
    }
  },
);
