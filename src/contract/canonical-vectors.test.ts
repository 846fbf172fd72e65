// Is the canonical form that of RFC 8785, by vectors that nobody here chose? And does no change of
// a bundle go unnoticed?

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashBundle } from '../chain/call-hash.ts';
import { keccak256 } from '../chain/digest.ts';
import { randomBundle } from '../testing/random-bundles.ts';
import { NO_SHARED_DATA, SHARED_DATA } from '../testing/shared-data.ts';
import { trialsOf } from '../testing/trials.ts';
import {
  CanonicalRefusal,
  type CanonicalValue,
  parseCanonical,
  writeCanonical,
} from './canonical.ts';

const FOLDER = join(SHARED_DATA, 'vectors/rfc8785');
const absent = !existsSync(FOLDER);
const SUITE = absent ? [] : readdirSync(join(FOLDER, 'input')).sort();
const fileOf = (folder: string, name: string) => readFileSync(join(FOLDER, folder, name));
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text));
const jsonOf = (bytes: Uint8Array) => {
  const value: unknown = JSON.parse(Buffer.from(bytes).toString());
  return value;
};

describe.skipIf(absent)(
  absent ? `the suite of RFC 8785 (skipped: ${NO_SHARED_DATA})` : 'the suite of RFC 8785',
  () => {
    test('has its six documents, and each output is given in hex too', () => {
      expect(SUITE).toEqual(
        ['arrays', 'french', 'structures', 'unicode', 'values', 'weird'].map((n) => `${n}.json`),
      );
      for (const name of SUITE) {
        const hex = fileOf('outhex', name.replace('.json', '.txt')).toString();
        expect(fileOf('output', name).toString('hex')).toBe(hex.replaceAll(/\s/g, ''));
      }
    });

    test.each(SUITE.filter((name) => name !== 'values.json'))(
      '%s is written byte for byte, and read back',
      (name) => {
        const output = fileOf('output', name);
        const value = jsonOf(fileOf('input', name)) as CanonicalValue;
        expect(Buffer.from(writeCanonical(value))).toEqual(output);
        expect(parseCanonical(output)).toEqual({ ok: true, value });
      },
    );

    test.each(['arrays.json', 'french.json', 'unicode.json', 'weird.json'])(
      'the input %s means the same, and is other bytes',
      (name) => {
        const said = parseCanonical(fileOf('input', name));
        if (said.ok || said.fault !== 'not_canonical') throw new Error('another fault, or none');
        expect(Buffer.from(said.canonical)).toEqual(fileOf('output', name));
      },
    );

    test('its fractions are refused by writer and parser, and the rest of that document is written', () => {
      for (const name of ['values.json', 'structures.json']) {
        expect(parseCanonical(fileOf('input', name))).toMatchObject({ fault: 'not_integer' });
      }
      expect(parseCanonical(fileOf('output', 'values.json'))).toMatchObject({
        fault: 'not_integer',
      });
      const { numbers, ...rest } = Object(jsonOf(fileOf('input', 'values.json')));
      expect(() => writeCanonical(numbers)).toThrow('a fraction or an exponent');
      const output = fileOf('output', 'values.json').toString();
      const without = output.replace(/"numbers":\[[^\]]*\],/, '');
      expect(without).not.toBe(output);
      expect(Buffer.from(writeCanonical(rest)).toString()).toBe(without);
    });
  },
);

/** The numbers of the reference suite's generator, and the text that ECMAScript gives each. */
function* generatedNumbers(count: number): Generator<readonly [hex: string, number: number]> {
  const first = readFileSync(new URL('vectors/es6-numbers.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => line.split(' '))
    .map((hex) => Buffer.from(hex, 'hex').readBigUInt64BE());
  const second = Array.from({ length: 2_000 }, (_, i) => 0x0010_0000_0000_0000n + BigInt(i));
  const double = new DataView(new ArrayBuffer(8));
  const numberOf = (bits: bigint) => {
    double.setBigUint64(0, bits);
    return [bits.toString(16), double.getFloat64(0)] as const;
  };
  let left = count;
  for (const bits of [...first, ...second].slice(0, count)) {
    left -= 1;
    yield numberOf(bits);
  }
  let block = Buffer.alloc(32);
  while (left > 0) {
    block = createHash('sha256').update(block).digest();
    for (const at of [0, 8, 16, 24]) {
      const made = numberOf(block.readBigUInt64LE(at));
      if (made[1] === 0 || !Number.isFinite(made[1]) || left === 0) continue;
      left -= 1;
      yield made;
    }
  }
}

test('of 100,000 generated numbers the whole ones are written as ECMAScript does, and no other is', () => {
  const series = createHash('sha256');
  let written = 0;
  for (const [hex, number] of generatedNumbers(100_000)) {
    const expected = String(number);
    series.update(`${hex},${expected}\n`);
    const said = parseCanonical(bytesOf(expected));
    if (Number.isSafeInteger(number)) {
      written += 1;
      const isRead = said.ok && Buffer.from(writeCanonical(number)).toString() === expected;
      if (!isRead) throw new Error(`${hex} was not written, or not read`);
      continue;
    }
    const fault = Number.isInteger(number) ? 'unsafe_integer' : 'not_integer';
    const readFault = /[.e]/.test(expected) ? 'not_integer' : fault;
    const isRefused = !said.ok && said.fault === readFault && faultOf(number) === fault;
    if (!isRefused) throw new Error(`${hex} was not refused`);
  }
  expect(series.digest('hex')).toBe(
    // The checksum that the suite publishes of its first 100,000 lines.
    '22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7',
  );
  expect(written).toBeGreaterThan(5);
});

function faultOf(value: CanonicalValue): string | null {
  try {
    writeCanonical(value);
    return null;
  } catch (fault) {
    if (fault instanceof CanonicalRefusal) return fault.fault;
    throw fault;
  }
}

// What is the same content is told by another reader than ours: JSON.parse, where it reads the
// document as a strict reader may.

/** The content as text in which only order and spelling are gone; `null`: nobody should read it. */
function contentOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const sorted = (_: string, one: unknown) =>
      typeof one !== 'object' || one === null || Array.isArray(one)
        ? one
        : Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value, sorted);
  } catch {
    return null;
  }
}

/** The same hash by WebAssembly, ten times as fast. */
const hashOf = (bytes: Uint8Array) => Buffer.from(keccak256(bytes)).toString('hex');

/** How many other values each byte is given. */
const VALUES = trialsOf('EXHIBIT_TEST_CHANGES', 1, 255);

test('each change of one byte of 200 bundles is noticed, and told as the same content only where it is', () => {
  const outcomes = new Set<string>();
  for (const [which, bundle] of fc.sample(randomBundle, { numRuns: 200, seed: 27 }).entries()) {
    const bytes = writeCanonical(bundle);
    const hash = hashOf(bytes);
    expect(`0x${hash}`).toBe(hashBundle(bytes));
    const content = contentOf(bytes);
    for (const [at, was] of bytes.entries()) {
      const other = bytes.slice();
      for (let i = 0; i < VALUES; i += 1) {
        // Any bit of it, or all 255 other values.
        const flip = VALUES === 1 ? 1 << ((at + which) % 8) : 1 + ((at + which + i) % 255);
        other[at] = was ^ flip;
        if (hashOf(other) === hash) throw new Error(`byte ${at} ^ ${flip}: the same hash`);
        const said = parseCanonical(other);
        const isSame =
          !said.ok && said.fault === 'not_canonical' && hashOf(said.canonical) === hash;
        const isOtherwiseSame = !said.ok && contentOf(other) === content;
        if (isSame !== isOtherwiseSame) {
          throw new Error(`bundle ${which}, byte ${at} ^ ${flip}: told wrongly`);
        }
        outcomes.add(said.ok ? 'other content' : said.fault);
      }
    }
  }
  const seen = ['other content', 'not_canonical', 'not_integer', 'not_json', 'not_utf8'];
  expect([...outcomes].sort()).toEqual(expect.arrayContaining(seen));
});

test('a bundle in another order, escape or frame is the same content; any other spelling is another', () => {
  for (const bundle of fc.sample(randomBundle, { numRuns: 200, seed: 28 })) {
    const marked = { ...bundle, marks: { a: 1, b: '\u00e9' } };
    const bytes = writeCanonical(marked);
    const hash = hashBundle(bytes);
    const text = Buffer.from(bytes).toString();
    const toldOf = (other: string) => {
      const said = parseCanonical(bytesOf(other));
      if (said.ok) return hashBundle(bytesOf(other)) === hash ? 'verifies' : 'other content';
      if (said.fault !== 'not_canonical') return said.fault;
      return hashBundle(said.canonical) === hash ? 'same content' : 'other content';
    };
    const marks = '"marks":{"a":1,"b":"\u00e9"}';
    const changed = (by: string) => toldOf(text.replace(marks, `"marks":${by}`));
    expect(text).toContain(marks);
    expect(toldOf(text)).toBe('verifies');
    expect(changed('{"b":"\u00e9","a":1}')).toBe('same content');
    expect(changed('{"a":1,"b":"\\u00e9"}')).toBe('same content');
    expect(changed('{"a":1,"b":"\\u00E9"}')).toBe('same content');
    expect(changed('{"a": 1,"b":"\u00e9"}')).toBe('same content');
    expect(toldOf(`${text}\n`)).toBe('same content');
    expect(changed('{"a":1,"a":1,"b":"\u00e9"}')).toBe('equal_keys');
    expect(changed('{"a":1,"a":2,"b":"\u00e9"}')).toBe('equal_keys');
    expect(changed('{"a":1.0,"b":"\u00e9"}')).toBe('not_integer');
    expect(changed('{"a":1e0,"b":"\u00e9"}')).toBe('not_integer');
    expect(changed('{"a":1,"b":"e\u0301"}')).toBe('other content');
    expect(toldOf(`${text}${text}`)).toBe('after_the_value');
    expect(toldOf(`\ufeff${text}`)).toBe('byte_order_mark');
  }
});
