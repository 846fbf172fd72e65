// Is what is hashed written in one way only, and read by nobody in two?

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CANONICAL_BYTES_MAX,
  type CanonicalValue,
  parseCanonical,
  writeCanonical,
} from './canonical.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (value: CanonicalValue) => new TextDecoder().decode(writeCanonical(value));
const faultOf = (text: string) => {
  const said = parseCanonical(bytesOf(text));
  return said.ok ? 'canonical' : said.fault;
};
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const nestedValue = (depth: number): CanonicalValue =>
  depth === 0 ? null : [nestedValue(depth - 1)];

/** Whole characters of every plane, those of escapes more often. */
const characters = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text).toString()),
  fc.string({
    unit: fc.constantFrom('"', '\\', '/', '\u0000', '\u001f', '\u007f', 'é', 'e\u0301'),
  }),
);
const values = fc.letrec<{ value: CanonicalValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<CanonicalValue>(null, true, false),
    characters,
    fc.maxSafeInteger(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(characters, tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('the writer', () => {
  test('sorts by UTF-16 code units, escapes what must be, and writes no space', () => {
    expect(textOf({ '\ufb33': 1, '\u{1f600}': 2, a: [true, null], B: '\u000b\n"\\/é' })).toBe(
      '{"B":"\\u000b\\n\\"\\\\/é","a":[true,null],"\u{1f600}":2,"\ufb33":1}',
    );
    expect(textOf({ ['__proto__']: 1 })).toBe('{"__proto__":1}');
    expect([textOf(-0), textOf({}), textOf([])]).toEqual(['0', '{}', '[]']);
  });

  test('refuses what two readers could read differently, and what is too large', () => {
    const holes: CanonicalValue[] = [];
    holes.length = 1;
    const refused: readonly (readonly [unknown, string])[] = [
      [0.5, 'not_integer'],
      [Number.NaN, 'not_integer'],
      [Number.POSITIVE_INFINITY, 'not_integer'],
      [2 ** 53, 'unsafe_integer'],
      [-(2 ** 53), 'unsafe_integer'],
      ['\ud800', 'lone_surrogate'],
      [{ '\udc00': 1 }, 'lone_surrogate'],
      [undefined, 'not_json'],
      [{ a: undefined }, 'not_json'],
      [holes, 'not_json'],
      [new Date(0), 'not_json'],
      [new Map(), 'not_json'],
      [1n, 'not_json'],
      [nestedValue(9), 'too_deep'],
      ['x'.repeat(CANONICAL_BYTES_MAX - 1), 'too_large'],
    ];
    for (const [value, fault] of refused) {
      expect(() => writeCanonical(value as CanonicalValue)).toThrow(
        expect.objectContaining({ name: 'CanonicalRefusal', fault }),
      );
    }
    expect(writeCanonical('x'.repeat(CANONICAL_BYTES_MAX - 2))).toHaveLength(CANONICAL_BYTES_MAX);
    expect(writeCanonical(nestedValue(8))).toHaveLength(20);
  });
});

describe('the parser', () => {
  test('reads what the writer wrote, as JSON.parse does', () => {
    fc.assert(
      fc.property(values, (value) => {
        const bytes = writeCanonical(value);
        const said = parseCanonical(bytes);
        const value_: unknown = JSON.parse(new TextDecoder().decode(bytes));
        expect(said).toEqual({ ok: true, value: value_ });
      }),
    );
  });

  test.each([
    ['', 'not_json'],
    ['tru', 'not_json'],
    ["{'a':1}", 'not_json'],
    ['{"a":1,}', 'not_json'],
    ['[1 2]', 'not_json'],
    ['[01]', 'after_the_value or not_json'],
    ['"\n"', 'not_json'],
    ['"\\x"', 'not_json'],
    ['"open', 'not_json'],
    ['{"a":1}{"b":2}', 'after_the_value'],
    ['{} x', 'after_the_value'],
    ['\ufeff{}', 'byte_order_mark'],
    ['{"a":1,"a":1}', 'equal_keys'],
    ['{"a":1,"\\u0061":2}', 'equal_keys'],
    ['"\\ud83d"', 'lone_surrogate'],
    ['{"\\udc00":1}', 'lone_surrogate'],
    ['1.0', 'not_integer'],
    ['[1e2]', 'not_integer'],
    ['9007199254740992', 'unsafe_integer'],
    [nested(9), 'too_deep'],
    [`"${'x'.repeat(CANONICAL_BYTES_MAX - 1)}"`, 'too_large'],
  ])('refuses %j: %s', (text, fault) => {
    const faults = fault.split(' or ');
    const said = parseCanonical(bytesOf(text));
    if (said.ok) throw new Error('was read');
    expect(faults).toContain(said.fault);
    expect(said.says).not.toContain('same content');
  });

  test('refuses bytes that are no UTF-8', () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0x80, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ]) {
      expect(parseCanonical(Uint8Array.from(bytes))).toMatchObject({ fault: 'not_utf8' });
    }
  });

  test('says "same content, other bytes" of what means the same, and gives its canonical bytes', () => {
    const canonical = '{"a":"é/","b":[0,null]}';
    expect(faultOf(canonical)).toBe('canonical');
    for (const other of [
      '{"b":[0,null],"a":"é/"}',
      '{"a":"\\u00e9/","b":[0,null]}',
      '{"a":"é\\/","b":[0,null]}',
      '{"a":"é/","b":[-0,null]}',
      '{"a":"é/","b":[0,null]}\n',
      ' {"a":"é/", "b":[0,null]}',
    ]) {
      expect([other, parseCanonical(bytesOf(other))]).toEqual([
        other,
        {
          ok: false,
          fault: 'not_canonical',
          says: 'not canonical: same content, other bytes',
          canonical: bytesOf(canonical),
        },
      ]);
    }
  });

  test('takes two spellings of one character for two contents', () => {
    const [one, other] = ['"é"', '"e\u0301"'].map((text) => parseCanonical(bytesOf(text)));
    expect([one, other]).toEqual([
      { ok: true, value: 'é' },
      { ok: true, value: 'e\u0301' },
    ]);
  });
});
