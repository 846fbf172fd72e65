import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lotteryOf } from '../testing/lottery.ts';
import {
  type ParsedRule,
  parseRule,
  printRule,
  RULE_LIMITS,
  type RuleNode,
  type RuleVocabulary,
} from './rules.ts';

const FIELDS: RuleVocabulary = new Map([
  ['asset', { type: 'name', means: 'An asset.' }],
  ['kind', { type: 'word', words: ['funding', 'liq'], means: 'A kind.' }],
  ['data.listed', { type: 'flag', means: 'Whether it is listed.' }],
  ['exchange', { type: 'text', means: 'An exchange.' }],
  [
    'conviction',
    { type: 'number', units: [{ written: '', unit: null, assumed: false }], means: 'From 0 to 1.' },
  ],
  [
    'funding',
    {
      type: 'number',
      means: 'A rate.',
      units: [
        { written: '', unit: '%/8h', assumed: true },
        { written: '%', unit: '%/8h', assumed: true },
        { written: '%/8h', unit: '%/8h', assumed: false },
        { written: '%/h', unit: '%/h', assumed: false },
        { written: 'bps', unit: 'bps/8h', assumed: true },
      ],
    },
  ],
]);

const parse = (text: string) => parseRule(text, FIELDS);

function nodesOf(text: string): readonly RuleNode[] {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error.message}`);
  return parsed.nodes;
}

function errorOf(text: string) {
  const parsed = parse(text);
  if (parsed.ok) throw new Error(`${text}: it is a rule`);
  return parsed.error;
}

const ASSET = (value: string): RuleNode => ({
  op: 'compare',
  field: 'asset',
  is: '=',
  value: { type: 'name', value },
});

describe('a rule', () => {
  test('is a list of parts of which the last is the whole', () => {
    expect(nodesOf('asset = BTC and not (kind in (liq, funding) or asset = 1INCH)')).toEqual([
      ASSET('BTC'),
      {
        op: 'in',
        field: 'kind',
        values: [
          { type: 'word', value: 'liq' },
          { type: 'word', value: 'funding' },
        ],
      },
      ASSET('1INCH'),
      { op: 'or', of: [1, 2] },
      { op: 'not', of: [3] },
      { op: 'and', of: [0, 4] },
    ]);
  });

  test('binds `and` closer than `or`, and `not` closest', () => {
    expect(nodesOf('asset = A or asset = B and asset = C')).toEqual(
      nodesOf('asset = A or (asset = B and asset = C)'),
    );
    expect(nodesOf('not asset = A and asset = B')).toEqual(
      nodesOf('(not asset = A) and asset = B'),
    );
    expect(nodesOf('asset = A or asset = B or asset = C').at(-1)).toEqual({
      op: 'or',
      of: [0, 1, 2],
    });
  });

  test.each([
    ['0.05', { value: '0.05', unit: '%/8h', assumed: true }],
    ['0.05%', { value: '0.05', unit: '%/8h', assumed: true }],
    ['0.05%/8h', { value: '0.05', unit: '%/8h', assumed: false }],
    ['0.050 %/h', { value: '0.050', unit: '%/h', assumed: false }],
    ['-5bps', { value: '-5', unit: 'bps/8h', assumed: true }],
    ['-5 bps', { value: '-5', unit: 'bps/8h', assumed: true }],
  ])('keeps the number and says what of its unit was assumed: %s', (text, value) => {
    for (const is of ['=', '!=', '<', '<=', '>', '>='] as const) {
      expect(nodesOf(`funding ${is} ${text}`)).toEqual([
        { op: 'compare', field: 'funding', is, value: { type: 'number', ...value } },
      ]);
    }
  });

  test('needs no blank where two tokens cannot be read as one', () => {
    expect(nodesOf('not(asset=BTC)and(funding>=-0.1% or data.listed=true)')).toEqual(
      nodesOf('not ( asset = BTC ) and ( funding >= -0.1 % or data.listed = true )'),
    );
    expect(nodesOf('exchange="a b"and exchange!=\'"\'\nor\tasset="BTC"')).toEqual(
      nodesOf('exchange = "a b" and exchange != \'"\' or asset = BTC'),
    );
  });

  test('takes words of the grammar as names of assets', () => {
    expect(nodesOf('asset in (in, and, not) and asset = or')).toHaveLength(3);
  });

  test('asks whether a field was read', () => {
    expect(nodesOf('funding is unknown or data.listed is known')).toEqual([
      { op: 'unknown', field: 'funding' },
      { op: 'known', field: 'data.listed' },
      { op: 'or', of: [0, 1] },
    ]);
  });
});

describe('an error', () => {
  const JOINED = ['"and"', '"or"', 'the end'];
  const BEGINNING = ['a field', '"not"', '"("'];
  const NAMES = [...FIELDS.keys()];
  const WORD_SIGNS = ['"!="', '"="', '"in"', '"not in"', '"is"'];
  const PLAIN = ['letters of one script, as keyboards write them'];
  const UNITS = ['"%"', '"%/8h"', '"%/h"', '"bps"'];
  const SEEN = ['a visible character'];
  test.each<[string, string, number, number, readonly string[]]>([
    ['nothing', '', 1, 1, BEGINNING],
    ['blanks', ' \n  ', 2, 3, BEGINNING],
    ['a name that is no field', 'asset = A or\n  price > 1', 2, 3, NAMES],
    ['a name of every object', '__proto__ = A', 1, 1, NAMES],
    ['a method of every object', 'constructor is known', 1, 1, NAMES],
    ['a path into every object', 'data.__proto__ = true', 1, 1, NAMES],
    ['a name in capitals', 'Asset = A', 1, 1, NAMES],
    ['a field without more', 'asset', 1, 6, WORD_SIGNS],
    ['an order of names', 'asset < A', 1, 7, WORD_SIGNS],
    ['two equals signs', 'asset == A', 1, 8, ['1 to 20 letters of ASCII and digits']],
    ['a word of another field', 'kind = long', 1, 8, ['funding', 'liq']],
    ['a word that goes on', 'kind = funding_rate', 1, 8, ['funding', 'liq']],
    ['a number that is none', 'conviction > NaN', 1, 14, ['a number']],
    ['a number without an end', 'conviction > Infinity', 1, 14, ['a number']],
    ['an exponent', 'conviction > 1e999', 1, 15, ['a number without a unit']],
    ['an exponent of a rate', 'funding > 1e999', 1, 12, UNITS],
    ['a hexadecimal number', 'conviction > 0x10', 1, 15, ['a number without a unit']],
    ['no digit behind a point', 'conviction > 1.', 1, 16, ['a digit']],
    ['no digit before a point', 'conviction > .5', 1, 14, ['a number']],
    ['two points', 'conviction > 1.2.3', 1, 17, ['a number without a unit']],
    ['a unit of nothing here', 'funding > 5 %/7h', 1, 13, UNITS],
    ['a unit that the field lacks', 'conviction > 5%', 1, 15, ['a number without a unit']],
    ['a rule that goes on', 'asset = A asset = B', 1, 11, JOINED],
    ['a bracket too many', '(asset = A))', 1, 12, JOINED],
    ['a bracket too few', '(asset = A', 1, 11, ['"and"', '"or"', '")"']],
    ['nothing in brackets', '()', 1, 2, BEGINNING],
    ['an empty list', 'asset in ()', 1, 11, ['1 to 20 letters of ASCII and digits']],
    ['a comma too many', 'asset in (A,)', 1, 13, ['1 to 20 letters of ASCII and digits']],
    ['a list without an end', 'asset in (A', 1, 12, ['","', '")"']],
    ['a text without an end', 'exchange = "a', 1, 14, ['"']],
    ['a text over two lines', 'exchange = "a\nb"', 1, 14, ['"']],
    ['a text of nothing', 'exchange = ""', 1, 13, ['a character']],
    ['a letter that looks like a', '\u0430sset = A', 1, 1, BEGINNING],
    ['a letter that looks like A', 'asset = \u0410', 1, 9, ['1 to 20 letters of ASCII and digits']],
    ['letters that look alike in a text', 'exchange = "Bin\u0430nce"', 1, 16, PLAIN],
    ['letters of another width', 'exchange = "\u{1d400}\uff21"', 1, 13, PLAIN],
    ['columns behind letters of four bytes', 'exchange = "\u{20000}\u{20001}" x', 1, 17, JOINED],
    ['a bidirectional mark', 'asset = A \u202eor asset = B', 1, 11, SEEN],
    ['an invisible character in a text', 'exchange = "a\u200bb"', 1, 14, SEEN],
    ['a blank that is no space', 'asset\u00a0= A', 1, 6, SEEN],
    ['an invisible character behind other errors', '?? \u2066', 1, 4, SEEN],
    ['a zero', 'asset = A\u0000', 1, 10, SEEN],
    ['half of a character', 'exchange = "\ud800"', 1, 13, SEEN],
    ['lines of another system', 'asset = A\r\nand', 2, 4, BEGINNING],
  ])('tells line, column and what was expected of %s', (_, text, line, column, expected) => {
    const error = errorOf(text);
    expect(error).toEqual({ message: expect.stringMatching(/\.$/), line, column, expected });
  });

  test.each([
    ['characters', ' '.repeat(2_001), 2_001, ['at most 2000 characters']],
    ['brackets', '('.repeat(200), 33, ['at most 32 levels of "(" and "not"']],
    ['words of not', 'not '.repeat(33), 129, ['at most 32 levels of "(" and "not"']],
    [
      'comparisons',
      Array.from({ length: 65 }, () => 'asset=A').join(' and '),
      64 * 12 + 1,
      ['at most 64 comparisons'],
    ],
    [
      'values',
      `asset in (${Array.from({ length: 101 }, () => 'A').join(',')})`,
      211,
      ['at most 100 values'],
    ],
    ['digits', `conviction > ${'1'.repeat(41)}`, 14, ['at most 40 characters']],
  ])('says that there are too many %s', (_, text, column, expected) => {
    expect(errorOf(text)).toMatchObject({ line: 1, column, expected });
  });

  test.each([
    ['characters', `asset = A${' '.repeat(1_991)}`],
    ['characters of four bytes', `exchange = "${'\u{20000}'.repeat(1_987)}"`],
    ['brackets', `${'('.repeat(32)}asset = A${')'.repeat(32)}`],
    ['comparisons', Array.from({ length: 64 }, () => 'asset=A').join(' and ')],
    ['values', `asset in (${Array.from({ length: 100 }, () => 'A').join(',')})`],
  ])('is none of the most %s that a rule may have', (_, text) => {
    expect(parse(text)).toMatchObject({ ok: true });
  });
});

/** Rules by the grammar, as people and programs write them. */
function inventRule(seed: number): string {
  const { below, happens, oneOf } = lotteryOf(seed);
  const blank = () => oneOf(['', ' ', '  ', '\n', '\t']);
  const number = () => oneOf(['0', '-1', '0.05', '12.50', '007']);
  const rate = () => `${number()}${oneOf(['', '%', '%/8h', ' %/h', 'bps'])}`;
  const name = () => oneOf(['BTC', '"ETH"', "'1INCH'", 'and', 'kPEPE']);
  const word = () => oneOf(['"a b"', "'\"'", '"Ж"', '"and"']);
  const list = (one: () => string) =>
    `(${Array.from({ length: 1 + below(4) }, one).join(`${blank()},${blank()}`)})`;
  const compared = (field: string, one: () => string, signs: readonly string[]) => {
    if (happens(0.15)) return `${field} is ${oneOf(['known', 'unknown'])}`;
    if (happens(0.3)) return `${field} ${oneOf(['in', 'not in'])}${blank()}${list(one)}`;
    return `${field}${blank()}${oneOf(signs)}${blank()}${one()}`;
  };
  const comparison = () =>
    oneOf([
      () => compared('asset', name, ['=', '!=']),
      () => compared('kind', () => oneOf(['funding', 'liq']), ['=', '!=']),
      () => compared('exchange', word, ['=', '!=']),
      () => compared('data.listed', () => oneOf(['true', 'false']), ['=']),
      () => compared('conviction', number, ['=', '!=', '<', '<=', '>', '>=']),
      () => compared('funding', rate, ['<', '<=', '>', '>=']),
    ])();
  const grow = (depth: number): string => {
    if (depth === 0 || happens(0.3)) return comparison();
    if (happens(0.2)) return `not ${grow(depth - 1)}`;
    const join = oneOf([' and ', ' or ']);
    const parts = Array.from({ length: 2 + below(2) }, () => grow(depth - 1));
    const text = parts.join(join);
    return happens(0.7) ? `(${blank()}${text}${blank()})` : text;
  };
  return grow(1 + below(4));
}

test('printing a tree and parsing it again gives the tree', () => {
  let [rules, refused] = [0, 0];
  for (let seed = 1; seed <= 5_000; seed += 1) {
    const text = inventRule(seed);
    const parsed = parse(text);
    if (!parsed.ok) {
      // What was made by the grammar fails by its size alone.
      expect(parsed.error.expected.join(), text).toMatch(/^at most/);
      refused += 1;
      continue;
    }
    rules += 1;
    const printed = printRule(parsed.nodes, FIELDS);
    expect(parse(printed), text).toEqual(parsed);
    expect(printRule(nodesOf(printed), FIELDS)).toBe(printed);
  }
  expect(rules).toBeGreaterThan(4_000);
  expect(refused).toBeLessThan(1_000);
});

test('a rule as long as one may be is printed within its length', () => {
  const wide = [
    Array.from({ length: 64 }, (_, at) => `exchange="${at}"`).join('and '),
    `asset in(${Array.from({ length: 100 }, () => 'ABCDEFGHIJKLMNOP').join(',')})`,
    `${'not('.repeat(15)}asset=A or asset=B${')'.repeat(15)}`,
  ];
  for (const text of wide) {
    const rest = RULE_LIMITS.characters - text.length - 1;
    const whole = `${text} ${' '.repeat(rest)}`;
    const printed = printRule(nodesOf(whole), FIELDS);
    expect(printed.length).toBeLessThanOrEqual(RULE_LIMITS.characters);
    expect(nodesOf(printed)).toEqual(nodesOf(text));
  }
  const full = `exchange="${'x'.repeat(981)}"${'and exchange="y"'.repeat(63)}`;
  expect(full).toHaveLength(RULE_LIMITS.characters);
  expect(printRule(nodesOf(full), FIELDS).length).toBeLessThanOrEqual(full.length);
});

/** Texts that are nearly rules: cut, doubled, with characters of others put in. */
function spoil(text: string, seed: number): string {
  const { below, oneOf } = lotteryOf(seed);
  const at = below(text.length + 1);
  const odd = oneOf([
    '(',
    ')',
    '"',
    'not ',
    'and',
    '\u202e',
    '\u0430',
    '1e9',
    '%',
    '\u{1f600}',
    '\\',
  ]);
  return oneOf([
    () => text.slice(0, at),
    () => `${text.slice(0, at)}${odd.repeat(1 + below(300))}${text.slice(at)}`,
    () => `${text} or ${text}`.repeat(1 + below(20)),
    () => [...text].reverse().join(''),
    () => text.slice(0, at) + text.slice(at + 1),
  ])();
}

function isPlaced(text: string, parsed: ParsedRule): boolean {
  if (parsed.ok) return true;
  const { line, column, expected, message } = parsed.error;
  const own = text.split('\n')[line - 1];
  const inside = own !== undefined && column >= 1 && column <= [...own].length + 1;
  return inside && expected.length > 0 && message.length > 0;
}

test('100,000 texts are each parsed or refused at a place of theirs', () => {
  let accepted = 0;
  for (let seed = 1; seed <= 100_000; seed += 1) {
    const text = spoil(inventRule(seed), seed);
    const parsed = parse(text);
    if (!isPlaced(text, parsed)) expect.fail(`${JSON.stringify(text)}: ${JSON.stringify(parsed)}`);
    accepted += Number(parsed.ok);
  }
  expect(accepted).toBeGreaterThan(5_000);
  expect(accepted).toBeLessThan(90_000);
});

test('no text of any characters is thrown at', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) =>
      isPlaced(text, parse(text)),
    ),
  );
});

test('a longer text takes steps in proportion, whatever it repeats', () => {
  // Counted in characters that are looked at, since times of a machine vary.
  for (const piece of ['(', 'not ', 'a', '"', '1', 'asset=A or ', ' ', '%', 'asset in (A,']) {
    const steps = (length: number) => countReads(piece.repeat(length).slice(0, length));
    const [short, long] = [steps(400), steps(1_600)];
    expect(long, piece).toBeLessThan(5 * short + 20_000);
  }
});

/** How often the parser looks at a character. */
function countReads(text: string): number {
  let reads = 0;
  const { charAt, startsWith, slice } = String.prototype;
  const counted = Object.assign(Object(text), {
    charAt: (at: number) => {
      reads += 1;
      return charAt.call(text, at);
    },
    startsWith: (token: string, at: number) => {
      reads += token.length;
      return startsWith.call(text, token, at);
    },
    slice: (from: number, to: number) => {
      reads += Math.max(0, to - from);
      return slice.call(text, from, to);
    },
  });
  parseRule(counted, FIELDS);
  return reads;
}
