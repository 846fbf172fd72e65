import { sha256 } from '@noble/hashes/sha2.js';
import { base58, bech32, bech32m, createBase58check, hex } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CASHADDR_VERSION,
  encodeBase58,
  encodeCashaddr,
  isBech32,
  readBase58,
} from './coin-address.ts';

test('base58 is read as the library reads it, of any length', () => {
  const digit = fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz');
  fc.assert(
    fc.property(fc.array(digit, { maxLength: 200 }), fc.nat({ max: 5 }), (digits, zeros) => {
      const text = '1'.repeat(zeros) + digits.join('');
      expect([...readBase58(text)]).toEqual([...base58.decode(text)]);
    }),
  );
});

test('a text is bech32 where the library reads it so, a slip or other case included', () => {
  const words = fc.array(fc.nat({ max: 31 }), { maxLength: 70 });
  const prefix = fc.constantFrom('bc', 'ltc', 'zs', 'a1b', 'addr');
  const slip = fc.tuple(fc.nat({ max: 80 }), fc.constantFrom(...'1qpzQb!Bé'));
  fc.assert(
    fc.property(words, prefix, fc.boolean(), slip, fc.nat({ max: 3 }), (all, hrp, isM, at, how) => {
      const text = (isM ? bech32m : bech32).encode(hrp, all, 1_023);
      const [place, letter] = at;
      const slipped = text.slice(0, place) + letter + text.slice(place + 1);
      const told = [text, text.toUpperCase(), slipped, text.slice(place)][how] as string;
      const codes = [bech32, bech32m];
      expect(isBech32(told)).toBe(codes.some((code) => code.decodeUnsafe(told, 1_023)));
    }),
    { numRuns: 2_000 },
  );
});

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

const { p2pkh, p2sh } = CASHADDR_VERSION;

// The specification's table of address translation (spec/cashaddr.md, version 1.1).
const TRANSLATED: [number, string, string][] = [
  [p2pkh, '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu', 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'],
  [p2pkh, '1KXrWXciRDZUpQwQmuM1DbwsKDLYAYsVLR', 'qr95sy3j9xwd2ap32xkykttr4cvcu7as4y0qverfuy'],
  [p2pkh, '16w1D5WRVKJuZUsSRzdLp9w3YGcgoxDXb', 'qqq3728yw0y47sqn6l2na30mcw6zm78dzqre909m2r'],
  [p2sh, '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC', 'ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq'],
  [p2sh, '3LDsS579y7sruadqu11beEJoTjdFiFCdX4', 'pr95sy3j9xwd2ap32xkykttr4cvcu7as4yc93ky28e'],
  [p2sh, '31nwvkZwyPdgzjBJZXfDmSWsC4ZLKpYyUw', 'pqq3728yw0y47sqn6l2na30mcw6zm78dzq5ucqzc37'],
];

describe('encodeCashaddr', () => {
  test.each(TRANSLATED)('version %i of %s is %s', (version, legacy, cash) => {
    const hash = createBase58check(sha256).decode(legacy).subarray(1);
    expect(encodeCashaddr(version, hash)).toBe(cash);
  });

  test("the specification's vector of 20 bytes", () => {
    const hash = hex.decode('f5bf48b397dae70be82b3cca4793f8eb2b6cdac9');
    expect(encodeCashaddr(p2pkh, hash)).toBe('qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2');
  });

  test('different hashes and versions have different addresses of 42 characters', () => {
    const hash = fc.uint8Array({ minLength: 20, maxLength: 20 });
    const other = (one: Uint8Array) => Uint8Array.from(one, (byte, i) => (i === 7 ? ~byte : byte));
    fc.assert(
      fc.property(hash, (one) => {
        const address = encodeCashaddr(p2pkh, one);
        expect(address).toMatch(/^q[02-9ac-hj-np-z]{41}$/);
        expect(encodeCashaddr(p2sh, one)).not.toBe(address);
        expect(encodeCashaddr(p2pkh, other(one))).not.toBe(address);
      }),
    );
  });

  test('a hash of another length is refused', () => {
    expect(() => encodeCashaddr(p2pkh, new Uint8Array(19))).toThrow(RangeError);
    expect(() => encodeCashaddr(p2pkh, new Uint8Array(32))).toThrow(RangeError);
  });
});
