import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressMap } from './address-map.ts';

/** Texts that often share their ends, which are what is hashed. */
const text = fc.oneof(
  fc.string({ maxLength: 10 }),
  fc.tuple(fc.string({ maxLength: 3 }), fc.constantFrom('', 'abcdefgh', 'bcdefgh')).map((parts) => {
    return parts.join('');
  }),
);

describe('a map by address', () => {
  it('holds what a plain map holds, and misses what it misses, through every growth', () => {
    const property = fc.property(
      fc.array(fc.tuple(text, fc.integer()), { maxLength: 400 }),
      fc.array(text, { maxLength: 100 }),
      (rows, asked) => {
        const [own, plain] = [new AddressMap<number>(), new Map<string, number>()];
        for (const [address, value] of rows) {
          own.set(address, value);
          plain.set(address, value);
        }
        expect([...own]).toEqual([...plain]);
        for (const address of [...asked, ...plain.keys()]) {
          expect(own.get(address)).toBe(plain.get(address));
          expect(own.has(address)).toBe(plain.has(address));
        }
      },
    );
    fc.assert(property, { numRuns: 200 });
  });

  it('finds each of a hundred thousand addresses again', () => {
    const map = new AddressMap<number>();
    const addressOf = (i: number) => `0x${i.toString(16).padStart(40, '0')}`;
    for (let i = 0; i < 100_000; i++) map.set(addressOf(i), i);
    const lost = Array.from({ length: 100_000 }, (_, i) => i).filter(
      (i) => map.get(addressOf(i)) !== i,
    );
    expect(lost).toEqual([]);
  });

  it('still holds what is deleted as missing, and takes it in again', () => {
    const map = new AddressMap<number>().set('a', 1);
    expect(map.delete('a')).toBe(true);
    expect(map.get('a')).toBeUndefined();
    expect(map.set('a', 2).get('a')).toBe(2);
    map.clear();
    expect(map.has('a')).toBe(false);
  });
});
