import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addDecimals,
  compareDecimals,
  divideDecimals,
  formatUnits,
  multiplyDecimals,
  parseDecimal,
  parseRawAmount,
  plainDecimal,
  UINT256_MAX,
} from './amount.ts';

const rawAmount = fc.bigInt({ min: 0n, max: UINT256_MAX });
const signed = fc.bigInt({ min: -UINT256_MAX, max: UINT256_MAX });
const decimals = fc.integer({ min: 0, max: 255 });
const decimal = fc.tuple(signed, fc.integer({ min: 0, max: 30 })).map(([raw, d]) => ({
  raw,
  d,
  text: formatUnits(raw, d),
}));

describe('parseRawAmount', () => {
  test('every 256-bit integer is read from decimal and hex digits', () => {
    fc.assert(
      fc.property(rawAmount, (raw) => {
        expect(parseRawAmount(raw.toString())).toBe(raw);
        expect(parseRawAmount(`0x${raw.toString(16)}`)).toBe(raw);
        expect(parseRawAmount(`0x${raw.toString(16).toUpperCase().padStart(64, '0')}`)).toBe(raw);
      }),
    );
    expect(parseRawAmount('0')).toBe(0n);
    expect(parseRawAmount('007')).toBe(7n);
  });

  test('what is no integer of 256 bits is null, never a number near it', () => {
    const beyond = UINT256_MAX + 1n;
    const texts = ['', ' ', '0x', '0X1', '-1', '+1', '1.0', '1e18', '1_000', '1,000', ' 1', '1\n'];
    const more = ['0b1', '0o7', 'ff', '0xfg', '1n', 'NaN', 'Infinity', '١', '１'];
    const large = [beyond.toString(), `0x${beyond.toString(16)}`, '1'.repeat(79), '0'.repeat(79)];
    for (const text of [...texts, ...more, ...large]) expect(parseRawAmount(text)).toBeNull();
    expect(parseRawAmount(UINT256_MAX.toString())).toBe(UINT256_MAX);
  });
});

describe('formatUnits', () => {
  test('writes exactly, without trailing zeros, exponent or grouping', () => {
    const rows: [bigint, number, string][] = [
      [0n, 0, '0'],
      [0n, 18, '0'],
      [1n, 0, '1'],
      [1n, 18, '0.000000000000000001'],
      [1500n, 3, '1.5'],
      [1000n, 3, '1'],
      [123456789012345678901234567890n, 18, '123456789012.34567890123456789'],
      [-1500n, 3, '-1.5'],
      [-1n, 2, '-0.01'],
      [UINT256_MAX, 0, UINT256_MAX.toString()],
    ];
    for (const [raw, places, text] of rows) expect(formatUnits(raw, places)).toBe(text);
  });

  test('no digit is lost: the raw amount can be had back', () => {
    fc.assert(
      fc.property(signed, decimals, (raw, places) => {
        const text = formatUnits(raw, places);
        const [whole = '', fraction = ''] = text.split('.');
        expect(BigInt(`${whole}${fraction.padEnd(places, '0')}`)).toBe(raw);
        expect(text).toMatch(/^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
        expect(parseDecimal(text)).toBe(text);
      }),
    );
  });

  test('decimals that no token can have are a bug, not an amount', () => {
    for (const places of [-1, 256, 1.5, Number.NaN]) {
      expect(() => formatUnits(1n, places)).toThrow(RangeError);
    }
  });
});

describe('decimal strings', () => {
  test('are read into their shortest form', () => {
    const rows = ['1 1', '01.50 1.5', '0.0 0', '-0 0', '-0.10 -0.1', '10 10', '000 0'];
    for (const row of rows) {
      const [text, shortest] = row.split(' ');
      expect(parseDecimal(String(text))).toBe(shortest);
    }
  });

  test('are refused with an exponent, a bare point, a plus, white space or another script', () => {
    const texts = ['', '.', '.5', '5.', '+1', '1e3', '1E-9', ' 1', '1 ', '1,5', '--1', '0x1', '١'];
    for (const text of [...texts, 'NaN', '1.2.3', '1'.repeat(401)]) {
      expect(parseDecimal(text)).toBeNull();
    }
  });

  test('add and multiply exactly, where floating point does not', () => {
    expect(addDecimals('0.1', '0.2')).toBe('0.3');
    expect(addDecimals('9007199254740993', '0.000000000000000001')).toBe(
      '9007199254740993.000000000000000001',
    );
    expect(addDecimals('1.5', '-1.50')).toBe('0');
    expect(multiplyDecimals('1.1', '1.1')).toBe('1.21');
    expect(multiplyDecimals('-2.5', '4')).toBe('-10');
  });

  test('keep the laws of arithmetic', () => {
    fc.assert(
      fc.property(decimal, decimal, decimal, (a, b, c) => {
        const sum = addDecimals(a.text, b.text);
        expect(addDecimals(b.text, a.text)).toBe(sum);
        expect(addDecimals(sum, c.text)).toBe(addDecimals(a.text, addDecimals(b.text, c.text)));
        expect(multiplyDecimals(c.text, sum)).toBe(
          addDecimals(multiplyDecimals(c.text, a.text), multiplyDecimals(c.text, b.text)),
        );
      }),
    );
  });

  test('compare by value, not by text', () => {
    expect(compareDecimals('10', '9')).toBe(1);
    expect(compareDecimals('1.0', '1')).toBe(0);
    expect(compareDecimals('-0.000000000000000001', '0')).toBe(-1);
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const left = a.raw * 10n ** BigInt(b.d);
        const right = b.raw * 10n ** BigInt(a.d);
        expect(compareDecimals(a.text, b.text)).toBe(left < right ? -1 : left > right ? 1 : 0);
      }),
    );
  });

  test('what is no decimal is a bug, not a zero', () => {
    expect(() => addDecimals('1', '')).toThrow(TypeError);
    expect(() => multiplyDecimals('1e3', '1')).toThrow(TypeError);
    expect(() => compareDecimals('1', 'x')).toThrow(TypeError);
  });
});

test('a decimal keeps its value, whatever its exponent', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const plain = plainDecimal(String(value));
      expect(Number(plain)).toBe(value + 0);
      expect(plain).toMatch(/^-?\d+(\.\d+)?$/);
    }),
  );
  expect(plainDecimal('1e-05')).toBe('0.00001');
  expect(plainDecimal('12856.0')).toBe('12856.0');
  expect(plainDecimal('1.5E3')).toBe('1500');
  for (const none of ['', 'NaN', 'inf', '1,5', '0x10', '1e', '--1']) {
    expect(plainDecimal(none)).toBeNull();
  }
});

test('a quotient is cut after so many digits, towards zero', () => {
  expect(divideDecimals('108', '101', 12)).toBe('1.069306930693');
  expect(divideDecimals('-1', '3', 4)).toBe('-0.3333');
  expect(divideDecimals('2', '-3', 4)).toBe('-0.6666');
  expect(divideDecimals('0.0006', '0.001', 4)).toBe('0.6');
  expect(divideDecimals('5', '0.25', 0)).toBe('20');
  expect(() => divideDecimals('1', '0.00', 4)).toThrow(RangeError);
});
