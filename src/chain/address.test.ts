import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32, bech32m, createBase58check, hex } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formsLottery } from '../testing/forms-lottery.ts';
import { lotteryOf } from '../testing/lottery.ts';
import { SHARED_DATA } from '../testing/shared-data.ts';
import { trialsOf } from '../testing/trials.ts';
import {
  type AddressKind,
  checksumAddress,
  describeMisform,
  type EvmAddress,
  equivalentForms,
  isSystemAddress,
  type KnownAddress,
  matchKey,
  otherForms,
  parseAddress,
  parseEvmAddress,
  parseKnownAddress,
  SYSTEM_ADDRESSES,
  SYSTEM_PREFIXES,
} from './address.ts';
import { type CoinForm, parseCoinAddress } from './coin-address.ts';

/** The lines of a table under vectors/; a line in quotes is a JSON string. */
function linesOf(name: string): string[] {
  const text = readFileSync(new URL(`./vectors/${name}.txt`, import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines.length, `${name} has rows`).toBeGreaterThan(1);
  return lines.map((line) => {
    if (!line.startsWith('"')) return line;
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'string') throw new TypeError(`${name}: not a string: ${line}`);
    return value;
  });
}

function evm(text: string): EvmAddress {
  const address = parseEvmAddress(text);
  if (address === null) throw new TypeError(`not an EVM address: ${text}`);
  return address;
}

const base58check = createBase58check(sha256);
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const evmText = bytes(20).map((body) => `0x${hex.encode(body)}`);
const tronText = bytes(20).map((body) => base58check.encode(Uint8Array.of(0x41, ...body)));
const legacyText = fc
  .tuple(fc.constantFrom(0x00, 0x05), bytes(20))
  .map(([version, body]) => base58check.encode(Uint8Array.of(version, ...body)));
const solanaText = bytes(32).map((key) => base58.encode(key));
const segwitText = fc.oneof(
  fc
    .oneof(bytes(20), bytes(32))
    .map((program) => bech32.encode('bc', [0, ...bech32.toWords(program)])),
  fc
    .tuple(fc.integer({ min: 1, max: 16 }), fc.uint8Array({ minLength: 2, maxLength: 40 }))
    .map(([version, program]) => bech32m.encode('bc', [version, ...bech32m.toWords(program)])),
);
const bitcoinText = fc.oneof(legacyText, segwitText);
const anyText = fc.oneof(evmText, tronText, bitcoinText, solanaText);
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

describe('parseAddress', () => {
  test.each(linesOf('evm-valid'))('EVM, in lower case: %s', (text) => {
    expect(parseAddress(text)).toEqual({ kind: 'evm', address: text.toLowerCase() });
  });

  test.each(linesOf('bitcoin-valid'))('Bitcoin, bech32 in lower case: %s', (text) => {
    const address = /^bc1/i.test(text) ? text.toLowerCase() : text;
    expect(parseAddress(text)).toEqual({ kind: 'bitcoin', address });
  });

  test.each(linesOf('tron-valid'))('Tron, exactly as it is: %s', (line) => {
    const [address] = line.split(' ');
    expect(parseAddress(String(address))).toEqual({ kind: 'tron', address });
  });

  test.each(linesOf('solana-valid'))('Solana, exactly as it is: %s', (text) => {
    expect(parseAddress(text)).toEqual({ kind: 'solana', address: text });
  });

  const invalid = ['evm-invalid', 'bitcoin-invalid', 'tron-invalid', 'solana-invalid'];
  test.each(invalid.flatMap(linesOf))('no address of any kind: %j', (text) => {
    expect(parseAddress(text)).toBeNull();
  });

  const kinds: [AddressKind, fc.Arbitrary<string>][] = [
    ['evm', evmText],
    ['tron', tronText],
    ['bitcoin', bitcoinText],
    ['solana', solanaText],
  ];
  test.each(kinds)('every encoded %s address is of that kind, and unchanged', (kind, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseAddress(text)).toEqual({ kind, address: text });
      }),
    );
  });

  test('parsing an address again changes nothing, whatever text it came from', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string()), fc.boolean(), (text, upper) => {
        const first = parseAddress(upper ? text.toUpperCase() : text);
        if (first !== null) expect(parseAddress(first.address)).toEqual(first);
      }),
    );
  });

  test('one changed character of a base58check address is never an address of its kinds', () => {
    const position = fc.nat({ max: 33 });
    const letter = fc.constantFrom(...ALPHABET);
    fc.assert(
      fc.property(fc.oneof(tronText, legacyText), position, letter, (text, at, other) => {
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        fc.pre(at < text.length && changed !== text);
        expect(parseAddress(changed)).toBeNull();
        expect(matchKey(changed)).not.toBe(matchKey(text));
      }),
    );
  });

  test('a changed case of base58 is never the same address nor the same key', () => {
    const position = fc.nat({ max: 43 });
    const swap = (letter: string) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
    fc.assert(
      fc.property(fc.oneof(tronText, legacyText, solanaText), position, (text, at) => {
        const one = text.slice(0, at) + swap(text.charAt(at)) + text.slice(at + 1);
        for (const changed of [one, text.toLowerCase(), text.toUpperCase()]) {
          if (changed === text) continue;
          expect(parseAddress(changed)?.address).not.toBe(text);
          expect(matchKey(changed)).not.toBe(matchKey(text));
        }
      }),
    );
  });

  test('base58 is an address where and only where its bytes are', () => {
    const length = fc.integer({ min: 0, max: 44 });
    const body = length.chain((n) => bytes(n));
    fc.assert(
      fc.property(body, (key) => {
        const kind = parseAddress(base58.encode(key))?.kind;
        expect(kind).toBe(key.length === 32 ? 'solana' : undefined);
      }),
    );
  });

  test('a valid checksum is not enough: version and length decide, and the whole prefix', () => {
    const payload = fc.integer({ min: 0, max: 26 }).chain((n) => bytes(n));
    fc.assert(
      fc.property(fc.constantFrom(0x00, 0x05, 0x30, 0x41, 0x6f), payload, (version, body) => {
        const known = version === 0x00 || version === 0x05 ? 'bitcoin' : undefined;
        const kind = version === 0x41 ? 'tron' : known;
        const text = base58check.encode(Uint8Array.of(version, ...body));
        expect(parseAddress(text)?.kind).toBe(body.length === 20 ? kind : undefined);
      }),
    );
    const words = [0, ...bech32.toWords(new Uint8Array(32))];
    expect(parseAddress(bech32.encode('bc', words))?.kind).toBe('bitcoin');
    expect(parseAddress(bech32.encode('bc1', words))).toBeNull();
  });

  test('a text of any other length or script is null and does not throw', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 });
    fc.assert(
      fc.property(text, (other) => {
        expect(parseAddress(other)).toBeNull();
      }),
    );
    expect(parseAddress('1'.repeat(1_000_000))).toBeNull();
    expect(parseAddress(`bc1${'q'.repeat(1_000_000)}`)).toBeNull();
  });
});

describe('checksumAddress', () => {
  test.each(linesOf('evm-valid').slice(0, 8))('EIP-55: %s', (text) => {
    expect(checksumAddress(evm(text.toLowerCase()))).toBe(text);
  });
});

describe('describeMisform', () => {
  const LOST = 'epjfwdd5aufqssqem2qn1xzybapc8g4weggkzwytdt1v';
  test('base58 that is not 32 bytes may have lost its case, or characters', () => {
    for (const text of [LOST.slice(13), `${LOST}1`, LOST + LOST]) {
      expect(describeMisform(text)).toBe('solana_letter_case');
    }
    expect(describeMisform(LOST)).toBe('solana_letter_case');
    expect(describeMisform('z'.repeat(44))).toBe('solana_letter_case');
    expect(describeMisform('1'.repeat(33))).toBe('solana_letter_case');
    expect(describeMisform('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T')).toBe('solana_letter_case');
  });

  test('an address of any kind is not misformed', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(describeMisform(text)).toBe('form_not_recognised');
      }),
    );
  });

  test('nothing more is said of a text that is no base58, of a word or of a file', () => {
    for (const text of ['', LOST.replace('e', '0'), 'word', LOST.repeat(3), `${LOST}\n`]) {
      expect(describeMisform(text)).toBe('form_not_recognised');
    }
  });
});

describe('matchKey', () => {
  test('leaves every address as it was parsed, and every other form of one as it was made', () => {
    const { draw } = formsLottery(lotteryOf(31), 0);
    for (let i = 0; i < 20_000; i++) {
      const known = parseKnownAddress(draw());
      if (known === null) continue;
      const texts = [known, ...otherForms(known)].map(({ address }) => address);
      expect(texts.map(matchKey)).toEqual(texts);
    }
  });

  test('EVM addresses compare in lower case, but for an upper-case prefix', () => {
    fc.assert(
      fc.property(evmText, (text) => {
        expect(matchKey(`0x${text.slice(2).toUpperCase()}`)).toBe(text);
        expect(matchKey(checksumAddress(evm(text)))).toBe(text);
        expect(matchKey(`0X${text.slice(2)}`)).toBe(`0X${text.slice(2)}`);
      }),
    );
  });

  test.each(linesOf('bech32-valid'))('bech32 of any chain compares in lower case: %s', (text) => {
    expect(matchKey(text)).toBe(text.toLowerCase());
    expect(matchKey(text.toUpperCase())).toBe(text.toLowerCase());
  });

  test.each(linesOf('bech32-invalid'))('a wrong checksum is kept exactly: %j', (text) => {
    expect(matchKey(text)).toBe(text);
  });

  test('bech32 in mixed case is malformed, and kept exactly', () => {
    const mixed = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4';
    expect(matchKey(mixed)).toBe(mixed);
  });

  test('a key is its own key, and two spellings of one address have one key', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string()), fc.boolean(), (text, upper) => {
        const spelled = upper ? text.toUpperCase() : text;
        const key = matchKey(spelled);
        expect(matchKey(key)).toBe(key);
        const address = parseAddress(spelled)?.address;
        if (address !== undefined) expect(key).toBe(address);
      }),
    );
  });
});

describe('isSystemAddress', () => {
  test('every row of the table is an address of a known kind, in its own spelling', () => {
    expect(SYSTEM_ADDRESSES.size).toBeGreaterThan(50);
    for (const row of SYSTEM_ADDRESSES) {
      expect(parseAddress(row)?.address).toBe(row);
      expect(isSystemAddress(row)).toBe(true);
    }
  });

  test('a range begins and ends where it should', () => {
    const zeros = (count: number) => '0'.repeat(count);
    const inside = [
      `0x${zeros(40)}`,
      `0x${zeros(36)}ffff`,
      `0x${zeros(36)}dEaD`,
      `0x42${zeros(38)}`,
      `0x42${zeros(34)}FFFF`,
      `0x20${zeros(36)}c8`,
      `0x20${zeros(22)}${'f'.repeat(16)}`,
      '0xc0D3C0d3C0d3C0D3c0d3C0d3c0D3C0d3c0d30000',
    ];
    const outside = [
      `0x${zeros(35)}10000`,
      `0x42${zeros(33)}10000`,
      `0x20${zeros(21)}1${zeros(16)}`,
      `0x21${zeros(38)}`,
      '0xc0D3C0d3C0d3C0D3c0d3C0d3c0D3C0d3c0d20000',
      `0X${zeros(40)}`,
    ];
    for (const address of inside) expect(isSystemAddress(address), address).toBe(true);
    for (const address of outside) expect(isSystemAddress(address), address).toBe(false);
    for (const prefix of SYSTEM_PREFIXES) expect(prefix).toMatch(/^0x[0-9a-f]{24,36}$/);
  });

  test('EVM rows match in any case, Solana rows in theirs alone', () => {
    expect(isSystemAddress('0xA4B05FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF')).toBe(true);
    expect(isSystemAddress('sysvarc1ock11111111111111111111111111111111')).toBe(false);
  });

  test("people's addresses are not the chain's: the deposit contract, a token, a wallet", () => {
    expect(isSystemAddress('0x00000000219ab540356cbb839cbe05303d7705fa')).toBe(false);
    expect(isSystemAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')).toBe(false);
    expect(isSystemAddress('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).toBe(false);
    expect(isSystemAddress('')).toBe(false);
  });
});

// Is each form of address known by its own checksum, and by no other form's?
// The addresses are encoded here anew, by big integers and the reference code of each
// specification: nothing of what is tested is used to make them.

describe('address forms', () => {
  const ALL_RUNS = 2_000;
  const RUNS = trialsOf('EXHIBIT_TEST_ADDRESSES', 400, ALL_RUNS);
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
    if (parsed.kind !== 'bitcoin')
      return coin === null ? parsed.kind : `${parsed.kind} and another`;
    return coin === null ? 'bitcoin without a form' : coin.form;
  }

  /** Bech32 and cash addresses may stand in capitals, as QR codes have them. */
  const HAS_CAPITALS = /_segwit|sapling|cashaddr/;
  const assertEach = (property: fc.IProperty<unknown>) =>
    fc.assert(property, { numRuns: RUNS, seed: SEED });
  const assertAll = (property: fc.IProperty<unknown>) =>
    fc.assert(property, { numRuns: ALL_RUNS, seed: SEED });

  describe(`${RUNS} valid addresses of each form`, () => {
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

  /** Mistakes that people, scanners and programs make in an address. */
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
  // Forms whose addresses differ only in length and letters, because they have no checksum.
  const WITHOUT_CHECKSUM: readonly Form[] = ['evm', 'solana'];

  describe(`${RUNS} nearly valid addresses of each form`, () => {
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
      assertAll(
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
      assertAll(
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
});

describe('equivalent form', () => {
  function known(text: string): KnownAddress {
    const address = parseKnownAddress(text);
    if (address === null) throw new TypeError(`not an address: ${text}`);
    return address;
  }

  const formsOf = (text: string) => equivalentForms(known(text));
  const hash = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const tronText = hash.map((body) => base58check.encode(Uint8Array.of(0x41, ...body)));

  describe('EVM and Tron', () => {
    const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    const USDT_HEX = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c';

    test('a Tron address has the same key in hex', () => {
      expect(formsOf(USDT)).toEqual([
        { form: 'evm_hex', address: `0x${USDT_HEX}`, relation: 'same_key' },
        { form: 'tron_hex', address: `41${USDT_HEX}`, relation: 'same_account' },
      ]);
    });

    test('an EVM address has its checksum form and the Tron address of its key', () => {
      expect(formsOf(`0x${USDT_HEX}`)).toEqual([
        {
          form: 'eip55',
          address: '0xa614f803B6FD780986A42c78Ec9c7f77e6DeD13C',
          relation: 'same_account',
        },
        { form: 'tron_base58', address: USDT, relation: 'same_key' },
      ]);
    });

    test('from Tron to EVM and back is the same address', () => {
      fc.assert(
        fc.property(tronText, (text) => {
          const [hexForm] = formsOf(text);
          const back = formsOf(String(hexForm?.address));
          expect(back.map((form) => form.address)).toContain(text);
        }),
      );
    });
  });

  // The best known key, the generator itself: its hash is that of BIP-173's example, and its
  // addresses stand in the documents and explorers of each chain.
  const ONE_KEY = {
    bitcoin_p2pkh: '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH',
    litecoin_p2pkh: 'LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ',
    dogecoin_p2pkh: 'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE',
    dash_p2pkh: 'XmN7PQYWKn5MJFna5fRYgP6mxT2F7xpekE',
    bitcoin_gold_p2pkh: 'GUXByHDZLvU4DnVH9imSFckt3HEQ5cFgE5',
    zcash_p2pkh: 't1UYsZVJkLPeMjxEtACvSxfWuNmddpWfxzs',
    cashaddr: 'qp63uahgrxged4z5jswyt5dn5v3lzsem6cy4spdc2h',
    bitcoin_segwit: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    litecoin_segwit: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
  };
  // That the forms which this leaves out are right is shown where they are encoded independently
  // (`address-forms.test.ts`).
  describe('Bitcoin and its kin', () => {
    test.each(Object.entries(ONE_KEY))('%s of one key hash has all the others', (form, address) => {
      const told = formsOf(address).map((one) => [one.form, one.address, one.relation]);
      const others = Object.entries(ONE_KEY).filter(([name]) => name !== form);
      for (const [name, text] of others) expect(told).toContainEqual([name, text, 'same_key']);
      expect(told.map(([name]) => name)).not.toContain(form);
      // Those of the list above, the Ripple account and Bitcoin Gold's witness address.
      expect(told).toHaveLength(Object.keys(ONE_KEY).length + 1);
    });

    test('a script hash has the same on each chain, in the old form of Litecoin as well', () => {
      const told = formsOf('MJiPwX84iBe4WnFDwsYGgtnz1XonPhUqhf').map(({ address }) => address);
      expect(told).toContain('3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC');
      expect(told).toContain('ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq');
      expect(told).toHaveLength(7);
    });

    test('a witness program that is no key hash has the same on the chains that have witnesses', () => {
      expect(formsOf('bc1pfeessrawgf').map(({ form }) => form)).toEqual([
        'litecoin_segwit',
        'bitcoin_gold_segwit',
      ]);
    });

    test('a Solana key has no other spelling', () => {
      expect(formsOf('So11111111111111111111111111111111111111112')).toEqual([]);
    });
  });

  describe('spellings of one address', () => {
    const BARE = 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a';
    const spelled = [
      `bitcoincash:${BARE}`,
      `BITCOINCASH:${BARE.toUpperCase()}`,
      BARE.toUpperCase(),
    ];

    test.each(spelled)(
      'a cash address has one key, with its prefix and in capitals: %s',
      (text) => {
        expect(matchKey(text)).toBe(BARE);
        expect(known(text)).toEqual({ kind: 'other', address: BARE });
        expect(formsOf(text)).toEqual(formsOf(BARE));
      },
    );

    test('one that takes tokens is another form of the one that does not', () => {
      // CHIP-2022-02-CashTokens: the same hash under version 16.
      const told = formsOf('zpm2qsznhks23z7629mms6s4cwef74vcwvrqekrq9w');
      expect(told.map(({ address }) => address)).toContain(BARE);
    });

    test('every form is as it is compared, so that a list is asked in its own spelling', () => {
      const texts = [...Object.values(ONE_KEY), 'bc1pfeessrawgf', `0x${'a1'.repeat(20)}`];
      for (const { form, address } of texts.flatMap(formsOf)) {
        if (form !== 'eip55') expect(matchKey(address)).toBe(address);
      }
    });

    test('a Monero address with a payment number is the account without it', () => {
      // Monero's own documentation of integrated addresses gives this pair.
      const account =
        '4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge';
      const integrated =
        '4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK';
      expect(formsOf(integrated)).toEqual([
        { form: 'monero', address: account, relation: 'same_account' },
      ]);
    });
  });
});

// Real rows: the addresses of one issue of the sanctions list, extracted independently.
const FILE = `${SHARED_DATA}/ofac/2025-03-04/reference_addresses.csv`;
const absent = !existsSync(FILE);
const COLUMNS = /,\d{4}-\d{2}-\d{2},([A-Z]+),(\S+)$/;

function rows(): { asset: string; address: string }[] {
  const lines = readFileSync(FILE, 'utf8').trimEnd().split('\n').slice(1);
  return lines.map((line) => {
    const [, asset, address] = COLUMNS.exec(line.trimEnd()) ?? [];
    if (asset === undefined || address === undefined) throw new TypeError(`row: ${line}`);
    return { asset, address };
  });
}

describe.skipIf(absent)('listed addresses (or skipped: no shared data)', () => {
  test('of 717 rows 34 are of other chains, and all but one are of a known form', () => {
    const others = rows().filter(({ address }) => parseAddress(address) === null);
    expect(rows()).toHaveLength(717);
    expect(others).toHaveLength(34);
    const otherChains = ['BCH', 'BTG', 'DASH', 'LTC', 'XMR', 'XRP', 'XVG', 'ZEC'];
    for (const { asset } of others) expect(otherChains).toContain(asset);
    const unknown = rows().filter(({ address }) => parseKnownAddress(address) === null);
    // A transaction's hash, which the publisher gives as an address.
    expect(unknown.map(({ asset, address }) => [asset, address.length])).toEqual([['XMR', 64]]);
  });

  test('currency codes are not chains: the form decides, whatever the code says', () => {
    const kinds = new Set(
      rows()
        .filter(({ asset }) => asset === 'USDT' || asset === 'XBT')
        .map(({ asset, address }) => `${asset} ${parseAddress(address)?.kind}`),
    );
    expect(kinds).toContain('USDT tron');
    expect(kinds).toContain('USDT evm');
    expect(kinds).toContain('XBT bitcoin');
  });

  test('no two of the 701 distinct addresses share a key, but for EVM ones in two cases', () => {
    const spellings = new Set(rows().map(({ address }) => address));
    const folded = [...spellings].map((text) =>
      text.startsWith('0x') ? text.toLowerCase() : text,
    );
    expect(spellings.size).toBe(701);
    expect(new Set([...spellings].map(matchKey))).toEqual(new Set(folded));
  });

  test('every row of a known form has forms that are other strings than the row', () => {
    for (const { address } of rows()) {
      const known = parseKnownAddress(address);
      if (known === null) continue;
      for (const form of equivalentForms(known)) {
        if (form.form !== 'eip55') expect(form.address).not.toBe(address);
      }
    }
  });
});
