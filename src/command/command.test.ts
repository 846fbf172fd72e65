import { describe, expect, test } from 'vitest';
import { part, read, unread } from '../evidence/reading.ts';
import { ran, recordingIo } from '../testing/recording-io.ts';
import {
  anyText,
  atLeastOne,
  defineCommand,
  EXIT,
  fail,
  filePath,
  flag,
  mandatory,
  numberWithin,
  optional,
  several,
  wordIn,
} from './command.ts';
import { printRecord, printRows } from './output.ts';

const bake = defineCommand({
  name: 'bread bake',
  summary: 'Bake bread.',
  example: 'exhibit bread bake rye --hours 2',
  arguments: {
    grain: mandatory('GRAIN', 'what it is baked of', wordIn(['rye', 'wheat'])),
    names: several('NAME', null, anyText),
  },
  options: {
    hours: mandatory(
      'N',
      'how long it is baked, counted from when the oven is hot',
      numberWithin(1, 9),
    ),
    recipe: optional(
      'FILE',
      `a recipe of your own, ${'which is long, '.repeat(8)}and read`,
      filePath,
    ),
    note: several('TEXT', 'a note; may be repeated', anyText),
    'dry-run': flag('bake nothing'),
  },
  json: 'one object',
  notes: ['Exit status 1: there is no oven.'],
  run: async (values, io, oven: { readonly isHot: boolean }) =>
    oven.isHot ? printRecord(values, io, 'Baked.') : fail(io, 'There is no oven.'),
});

const HOT = { isHot: true };

describe('a declared command', () => {
  test('has its usage and its help from its arguments and options', () => {
    expect(bake.usage).toBe(
      'exhibit bread bake GRAIN [NAME]… --hours N [--recipe FILE] [--note TEXT]… [--dry-run] [--json]',
    );
    expect(bake.details).toEqual([
      'GRAIN           what it is baked of',
      '--hours N       how long it is baked, counted from when the oven is hot',
      '--recipe FILE   a recipe of your own, which is long, which is long, which is long, which is long,',
      '                which is long, which is long, which is long, which is long, and read',
      '--note TEXT     a note; may be repeated',
      '--dry-run       bake nothing',
      '--json          one object',
      'Exit status 1: there is no oven.',
    ]);
  });

  test('gets its values by name, absent ones as null, false or an empty list', async () => {
    expect(await ran('bread bake rye --hours 2 --json', [bake], HOT)).toEqual({
      status: EXIT.done,
      lines: ['{"grain":"rye","names":[],"hours":2,"recipe":null,"note":[],"dry-run":false}'],
      errors: [],
    });
    const line =
      'bread bake rye a b --hours 2 --hours 3 --recipe x --note a --note b --dry-run --json';
    expect((await ran(line, [bake], HOT, { cwd: '/bakery' })).lines).toEqual([
      '{"grain":"rye","names":["a","b"],"hours":3,"recipe":"/bakery/x","note":["a","b"],' +
        '"dry-run":true}',
    ]);
  });

  test('that cannot do it says why and exits 1', async () => {
    expect(await ran('bread bake rye --hours 2', [bake], { isHot: false })).toEqual({
      status: EXIT.failed,
      lines: [],
      errors: ['There is no oven.'],
    });
  });

  test.each([
    ['bread bake --hours 2', 'GRAIN is missing.'],
    ['bread bake rye', '--hours is missing.'],
    ['bread bake oats --hours 2', 'GRAIN takes one of: rye, wheat.'],
    ['bread bake rye --hours 10', '--hours takes a whole number from 1 to 9.'],
    ['bread bake rye --hours 2 --oven', "Unknown option '--oven'"],
  ])('%s is bad usage', async (line, problem) => {
    const { status, lines, errors } = await ran(line, [bake], HOT);
    expect({ status, lines }).toEqual({ status: EXIT.badUsage, lines: [] });
    expect(errors[0]).toContain(`bread bake: ${problem}`);
  });

  test('refuses more arguments than it has, and fewer than one where one must stand', async () => {
    const grind = defineCommand({
      name: 'grind',
      summary: 'Grind.',
      example: 'exhibit grind rye',
      json: null,
      arguments: { grains: atLeastOne('GRAIN', null, anyText) },
      run: async ({ grains }, io, _: null) => printRecord({ grains }, io, ['grains']),
    });
    expect(grind.usage).toBe('exhibit grind GRAIN…');
    expect((await ran('grind', [grind], null)).errors[0]).toBe('grind: GRAIN is missing.');
    expect((await ran('grind rye oats', [grind], null)).lines).toEqual(['grains  rye, oats']);
    const rest = defineCommand({
      name: 'rest',
      summary: 'Rest.',
      example: 'exhibit rest',
      run: async (_values, _io, _: null) => EXIT.done,
    });
    expect((await ran('rest a', [rest], null)).errors[0]).toBe(
      'rest: 1 more argument than expected.',
    );
  });
});

describe('the printer', () => {
  const source = { name: 'oven', url: '', as_of: 0, kind: 'table', simulated: false } as const;
  const origin = { port: 'loaves', source };
  const LOAVES = [
    {
      loaf_id: 'a',
      baked_at: 1_763_700_000,
      eaten: true,
      by: ['x', 'y'],
      grams: 900,
      sold_at: null,
    },
  ];
  type Loaf = (typeof LOAVES)[number];
  const how: Parameters<typeof printRows<Loaf, string>>[2] = {
    none: 'No loaf is held.',
    columns: [
      'loaf_id',
      'baked_at',
      'sold_at',
      'eaten',
      'by',
      ['weight', ({ grams }: Loaf) => `${grams} g`],
    ],
  };

  test('shows a list as a table, headed by the names of its fields', () => {
    const io = recordingIo();
    expect(printRows(read(LOAVES, origin), io, how)).toBe(EXIT.done);
    expect(io.lines).toEqual([
      'loaf  baked                 sold  eaten  by    weight',
      'a     2025-11-21 04:40 UTC  –     yes    x, y  900 g',
    ]);
  });

  test('writes each row as JSON, with ISO times', () => {
    const io = recordingIo({ json: true });
    expect(printRows(read(LOAVES, origin), io, how)).toBe(EXIT.done);
    expect(io.lines).toEqual([
      '{"loaf_id":"a","baked_at":"2025-11-21T04:40:00Z","eaten":true,"by":["x","y"],"grams":900,' +
        '"sold_at":null}',
    ]);
  });

  test('says that a list is empty only where it was read', () => {
    const io = recordingIo();
    expect(printRows(read([], origin), io, how)).toBe(EXIT.done);
    expect(io.lines).toEqual(['No loaf is held.']);
    for (const json of [true, false]) {
      const silent = recordingIo({ json });
      const why = { code: 'store_unreadable', reason: 'The oven is cold.' } as const;
      expect(printRows(unread('loaves', why), silent, how)).toBe(EXIT.couldNotCheck);
      expect(silent).toMatchObject({ lines: [], errors: ['The oven is cold.'] });
      const cut = recordingIo({ json });
      expect(printRows(part(LOAVES, origin, why), cut, how)).toBe(EXIT.couldNotCheck);
      expect(cut.lines).toHaveLength(json ? 1 : 2);
      expect(cut.errors).toEqual(['The oven is cold.']);
    }
  });

  test('shows a record as lines', () => {
    const io = recordingIo();
    expect(printRecord({ loaf_id: 'a', grams: 900 }, io, ['loaf_id', 'grams'])).toBe(EXIT.done);
    expect(io.lines).toEqual(['loaf   a', 'grams  900']);
  });
});
