// Is each form of address known by its own checksum, and by no other form's?
// The addresses are encoded here anew, by big integers and the reference code of each
// specification: nothing of what is tested is used to make them.

import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  describeMisform,
  matchKey,
  otherForms,
  parseAddress,
  parseKnownAddress,
} from './address.ts';
import { type CoinForm, parseCoinAddress } from './coin-address.ts';

const RUNS = 2_000;
const SEED = 20_261_122;
const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const RIPPLE_DIGITS = 'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz';
const WORDS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const joined = (...parts: (Uint8Array | readonly number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

function inBase58(bytes: Uint8Array, digits = DIGITS): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (; number > 0n; number /= 58n) text = digits.charAt(Number(number % 58n)) + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return digits.charAt(0).repeat(zeros) + text;
}

function checksummed(version: readonly number[], body: Uint8Array, digits = DIGITS): string {
  const payload = joined(version, body);
  return inBase58(joined(payload, sha256(sha256(payload)).subarray(0, 4)), digits);
}

const BLOCK_CHARS = [0, 2, 3, 5, 6, 7, 9, 10, 11];

function inMonero(version: number, body: Uint8Array): string {
  const payload = joined([version], body);
  const whole = joined(payload, keccak_256(payload).subarray(0, 4));
  let text = '';
  for (let at = 0; at < whole.length; at += 8) {
    const block = whole.subarray(at, at + 8);
    const digits = block.every((byte) => byte === 0) ? '' : inBase58(block).replace(/^1+/, '');
    text += digits.padStart(Number(BLOCK_CHARS[block.length]), '1');
  }
  return text;
}

function inWords(bytes: Uint8Array): number[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const padded = bits.padEnd(Math.ceil(bits.length / 5) * 5, '0');
  return (padded.match(/.{5}/g) ?? []).map((word) => Number.parseInt(word, 2));
}

// BIP-173's reference.
function bech32Polymod(words: readonly number[]): number {
  const terms = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  let sum = 1;
  for (const word of words) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ word;
    terms.forEach((term, i) => {
      if ((top >>> i) & 1) sum ^= term;
    });
  }
  return sum;
}

function inBech32(prefix: string, words: readonly number[], constant: number): string {
  const codes = Array.from(prefix, (letter) => letter.charCodeAt(0));
  const spread = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
  const sum = bech32Polymod([...spread, ...words, 0, 0, 0, 0, 0, 0]) ^ constant;
  const check = Array.from({ length: 6 }, (_, i) => (sum >>> (5 * (5 - i))) & 31);
  return `${prefix}1${[...words, ...check].map((word) => WORDS.charAt(word)).join('')}`;
}

function inSegwit(prefix: string, version: number, program: Uint8Array): string {
  return inBech32(prefix, [version, ...inWords(program)], version === 0 ? 1 : 0x2bc830a3);
}

// The reference of spec/cashaddr.md, in its own big integers.
function inCash(version: number, hash: Uint8Array): string {
  const terms = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];
  const prefix = Array.from('bitcoincash', (letter) => letter.charCodeAt(0) & 31);
  const words = inWords(joined([version], hash));
  let sum = 1n;
  for (const word of [...prefix, 0, ...words, 0, 0, 0, 0, 0, 0, 0, 0]) {
    const top = sum >> 35n;
    sum = ((sum & 0x07ffffffffn) << 5n) ^ BigInt(word);
    terms.forEach((term, i) => {
      if ((top >> BigInt(i)) & 1n) sum ^= term;
    });
  }
  sum ^= 1n;
  const check = Array.from({ length: 8 }, (_, i) => Number((sum >> BigInt(5 * (7 - i))) & 31n));
  return [...words, ...check].map((word) => WORDS.charAt(word)).join('');
}

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
/** Bytes drawn evenly: of the usual ones many are zero, which a nearly valid text may be too. */
const drawn = (length: number) =>
  fc
    .bigInt(0n, (1n << 256n) - 1n)
    .map((n) => joined(sha256(Buffer.from(String(n))), sha256(Buffer.from(`${n}.`))))
    .map((both) => both.subarray(0, length));
const hash = fc.oneof(bytes(20), drawn(20));
const inVersion = (...version: number[]) => hash.map((body) => checksummed(version, body));
const witness = (prefix: string) =>
  fc.oneof(
    fc.oneof(hash, drawn(32)).map((program) => inSegwit(prefix, 0, program)),
    drawn(32).map((program) => inSegwit(prefix, 1, program)),
  );

type Form = CoinForm | 'evm' | 'tron' | 'solana';

/** Every form that the list uses, or that its chains have. */
const FORMS: { readonly [form in Form]: fc.Arbitrary<string> } = {
  evm: hash.map((body) => `0x${Buffer.from(body).toString('hex')}`),
  tron: inVersion(0x41),
  solana: drawn(32).map((key) => inBase58(key)),
  bitcoin_p2pkh: inVersion(0x00),
  bitcoin_p2sh: inVersion(0x05),
  bitcoin_segwit: witness('bc'),
  litecoin_p2pkh: inVersion(0x30),
  litecoin_p2sh: inVersion(0x32),
  litecoin_segwit: witness('ltc'),
  dogecoin_p2pkh: inVersion(0x1e),
  dogecoin_p2sh: inVersion(0x16),
  verge_p2sh: inVersion(0x21),
  dash_p2pkh: inVersion(0x4c),
  dash_p2sh: inVersion(0x10),
  bitcoin_gold_p2pkh: inVersion(0x26),
  bitcoin_gold_p2sh: inVersion(0x17),
  bitcoin_gold_segwit: witness('btg'),
  zcash_p2pkh: inVersion(0x1c, 0xb8),
  zcash_p2sh: inVersion(0x1c, 0xbd),
  zcash_sprout: drawn(64).map((body) => checksummed([0x16, 0x9a], body)),
  zcash_sapling: drawn(43).map((body) => inBech32('zs', inWords(body), 1)),
  cashaddr: fc.oneof(
    hash.map((body) => inCash(0, body)),
    hash.map((body) => inCash(8, body)),
    drawn(32).map((body) => inCash(11, body)),
  ),
  ripple: hash.map((body) => checksummed([0x00], body, RIPPLE_DIGITS)),
  monero: fc.oneof(
    drawn(64).map((keys) => inMonero(18, keys)),
    drawn(64).map((keys) => inMonero(42, keys)),
  ),
  monero_integrated: fc
    .tuple(drawn(64), bytes(8))
    .map(([keys, payment]) => inMonero(19, joined(keys, payment))),
};
const NAMES = Object.keys(FORMS) as Form[];

/** The form that a text is taken for, or null. */
function formOf(text: string): string | null {
  const parsed = parseAddress(text);
  const coin = parseCoinAddress(text);
  if (parsed === null) return coin === null ? null : coin.form;
  if (parsed.kind !== 'bitcoin') return coin === null ? parsed.kind : `${parsed.kind} and another`;
  return coin === null ? 'bitcoin without a form' : coin.form;
}

/** Bech32 and cash addresses may stand in capitals, as QR codes have them. */
const HAS_CAPITALS = /_segwit|sapling|cashaddr/;
const assertEach = (property: fc.IProperty<unknown>) =>
  fc.assert(property, { numRuns: RUNS, seed: SEED });

describe('2,000 valid addresses of each form', () => {
  test.each(NAMES)('%s is taken for that form alone, in capitals too where it may be', (form) => {
    assertEach(
      fc.property(FORMS[form], (text) => {
        expect(formOf(text)).toBe(form);
        expect(parseKnownAddress(text)?.address).toBe(text);
        expect(matchKey(text)).toBe(text);
        if (!HAS_CAPITALS.test(form)) return;
        expect(formOf(text.toUpperCase())).toBe(form);
        expect(parseKnownAddress(text.toUpperCase())?.address).toBe(text);
        expect(matchKey(text.toUpperCase())).toBe(text);
      }),
    );
  });

  test.each(NAMES)('%s is found from each of its other forms, and has no form twice', (form) => {
    fc.assert(
      fc.property(FORMS[form], (text) => {
        const known = parseKnownAddress(text);
        if (known === null) throw new Error('not known');
        const forms = otherForms(known);
        expect(new Set(forms.map((one) => one.address)).size).toBe(forms.length);
        for (const { form: name, address, relation } of forms) {
          // Tron's form in hex is read by no chain's users; an account has no payment's number.
          if (name === 'tron_hex' || form === 'monero_integrated') continue;
          expect(relation).toBe('same_key');
          const back = parseKnownAddress(address);
          if (back === null) throw new Error(`${name} is not known`);
          expect(otherForms(back).map((one) => one.address)).toContain(text);
        }
      }),
      { numRuns: RUNS / 10, seed: SEED },
    );
  });
});

/** What a hand, a reader or a program does to an address. */
const SLIPS: readonly ((text: string, at: number, letter: string) => string)[] = [
  (text, at, letter) => text.slice(0, at) + letter + text.slice(at + 1),
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at) => text.slice(0, at + 1) + text.slice(at),
  (text, at, letter) => text.slice(0, at) + letter + text.slice(at),
  (text, at) => text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2),
  (text, at) => text.slice(0, at) + swapped(text.charAt(at)) + text.slice(at + 1),
];
const swapped = (letter: string) =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
// What nothing but its length and its letters can tell from another address of its kind.
const WITHOUT_CHECKSUM: readonly Form[] = ['evm', 'solana'];

describe('2,000 nearly valid addresses of each form', () => {
  const letters = fc.constantFrom(...DIGITS, '0', 'l');
  const slips = fc.tuple(fc.constantFrom(...SLIPS), fc.nat({ max: 110 }), letters, fc.boolean());
  const checksummedForms = NAMES.filter((form) => !WITHOUT_CHECKSUM.includes(form));

  test.each(checksummedForms)('%s with one slip is no address of any form', (form) => {
    assertEach(
      fc.property(FORMS[form], slips, (valid, [slip, place, letter, capitals]) => {
        const text = capitals && HAS_CAPITALS.test(form) ? valid.toUpperCase() : valid;
        const changed = slip(text, place % text.length, letter);
        fc.pre(changed !== text && changed.toLowerCase() !== valid);
        expect(formOf(changed)).toBeNull();
        expect(matchKey(changed)).not.toBe(valid);
      }),
    );
  });

  test('an EVM address of another length, prefix or digit is no address', () => {
    assertEach(
      fc.property(
        FORMS.evm,
        fc.nat({ max: 41 }),
        fc.constantFrom('g', 'x', ' ', 'O'),
        (t, at, x) => {
          for (const text of [t.slice(0, at) + x + t.slice(at + 1), t.slice(0, -1), `${t}0`]) {
            if (text !== t) expect(formOf(text)).toBeNull();
          }
        },
      ),
    );
  });

  test('a Solana address is no other form with one slip, and none with one more byte', () => {
    assertEach(
      fc.property(FORMS.solana, slips, drawn(33), (text, [slip, place, letter], longer) => {
        const changed = slip(text, place % text.length, letter);
        expect([null, 'solana']).toContain(formOf(changed));
        expect(formOf(inBase58(longer))).toBeNull();
        expect(formOf(inBase58(longer.subarray(0, 31)))).toBeNull();
      }),
    );
  });
});

describe('texts that two forms could claim', () => {
  test('bech32 of any prefix in one letter case is no Solana address, whatever its bytes', () => {
    const prefixes = fc.constantFrom('ltc', 'btg', 'dgb', 'vtc', 'osmo', 'juno', 'akash', 'tb');
    let met = 0;
    assertEach(
      fc.property(prefixes, drawn(20), fc.boolean(), (prefix, body, plain) => {
        const lower = inBech32(prefix, [0, ...inWords(body)], plain ? 1 : 0x2bc830a3);
        for (const text of [lower, lower.toUpperCase()]) {
          expect(parseAddress(text)).toBeNull();
          if (/^[1-9A-HJ-NP-Za-km-z]{43,44}$/.test(text)) {
            met += 1;
            expect(describeMisform(text)).not.toBe('solana_letter_case');
          }
        }
      }),
    );
    expect(met).toBeGreaterThan(100);
  });

  // An address of the right program without a character that base58 lacks, of 32 bytes in base58.
  test('a listed ltc1 address in capitals is the same address, and no Solana key', () => {
    let met = 0;
    assertEach(
      fc.property(drawn(20), (body) => {
        const lower = inSegwit('ltc', 0, body);
        const capitals = lower.toUpperCase();
        if (!capitals.includes('0')) met += 1;
        expect(parseKnownAddress(capitals)).toEqual({ kind: 'other', address: lower });
      }),
    );
    expect(met).toBeGreaterThan(100);
  });
});
