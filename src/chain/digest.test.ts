import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keccak256, sha256 } from './digest.ts';

describe('a hash is that of another implementation', () => {
  test('Keccak-256, of bytes of any length and of a text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(keccak256(bytes)).toEqual(keccak_256(bytes));
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(keccak256(text)).toEqual(keccak_256(new TextEncoder().encode(text)));
      }),
    );
  });

  test('SHA-256, of bytes of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(Buffer.from(sha256(bytes))).toEqual(createHash('sha256').update(bytes).digest());
      }),
    );
  });
});

test('a hash stays as it is when the next one is made', () => {
  const first = keccak256('one');
  const copy = Uint8Array.from(first);
  keccak256('two');
  expect(first).toEqual(copy);
  const digest = sha256(Uint8Array.of(1));
  const kept = Uint8Array.from(digest);
  sha256(Uint8Array.of(2));
  expect(digest).toEqual(kept);
});
