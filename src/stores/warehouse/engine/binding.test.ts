import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bindParams, identifier, quoteSql } from './executor.ts';

describe('a bound value', () => {
  test('becomes a cast literal of its declared type', () => {
    const params = { a: 'x', n: null, b: 2n ** 200n, l: ["it's", 'b'] };
    const sql = 'SELECT {a:String}, {n:Nullable(String)}, { b : UInt256 }, {l:Array(String)}';
    expect(bindParams(sql, params)).toBe(
      `SELECT _CAST('x', 'String'), _CAST(NULL, 'Nullable(String)'), _CAST('${2n ** 200n}', ` +
        `'UInt256'), _CAST('[\\'it\\\\\\'s\\',\\'b\\']', 'Array(String)')`,
    );
  });

  test('is put nowhere inside quoted text, quoted names and comments', () => {
    const sql = `SELECT '{a:X}', "{a:X}", \`{a:X}\`, 'it\\'s {a:X}', 'x''{a:X}' -- {a:X}\n/* {a:X} */`;
    expect(bindParams(sql, undefined)).toBe(sql);
  });

  test('cannot end its literal, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const literal = quoteSql(text);
        const inside = literal.slice(1, -1).replace(/\\[\s\S]/g, '');
        expect(literal.startsWith("'") && literal.endsWith("'")).toBe(true);
        expect(inside).not.toContain("'");
        expect(inside).not.toContain('\\');
      }),
    );
  });

  test('is refused where it is not a number', () => {
    expect(() => bindParams('{a:Float64}', { a: Number.NaN })).toThrow('PARAM_NOT_FINITE');
  });
});

describe('a bound name', () => {
  test('is a plain one', () => {
    expect(bindParams('SELECT 1 FROM {t:Identifier}', { t: 'sides_local' })).toContain(
      'sides_local',
    );
  });

  test.each(['a b', 'a;', '', '1a', 'a.b', 'a`'])('is refused otherwise: "%s"', (name) => {
    expect(() => identifier(name)).toThrow('BAD_NAME');
  });
});
