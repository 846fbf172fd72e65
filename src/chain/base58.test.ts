import { base58 } from '@scure/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeBase58 } from './coin-address.ts';

test('any bytes are written as the library writes them, leading zeros included', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat({ max: 6 }), (bytes, zeros) => {
      const padded = Uint8Array.from([...new Uint8Array(zeros), ...bytes]);
      expect(encodeBase58(padded)).toBe(base58.encode(padded));
    }),
  );
});

test('more bytes than an address has are refused', () => {
  expect(() => encodeBase58(new Uint8Array(129))).toThrow(RangeError);
});
