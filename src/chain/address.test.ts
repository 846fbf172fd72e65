import { readFileSync } from 'node:fs';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58, bech32, bech32m, createBase58check, hex } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AddressKind,
  checksumAddress,
  describeMisform,
  type EvmAddress,
  isSystemAddress,
  matchKey,
  parseAddress,
  parseEvmAddress,
  SYSTEM_ADDRESSES,
  SYSTEM_PREFIXES,
} from './address.ts';

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
  test('base58 of a Solana length that is not 32 bytes may have lost its case', () => {
    expect(describeMisform(LOST)).toBe('solana_letter_case');
    expect(describeMisform('z'.repeat(44))).toBe('solana_letter_case');
    expect(describeMisform('1'.repeat(33))).toBe('solana_letter_case');
    expect(describeMisform('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T')).toBe('solana_letter_case');
  });

  test('an address of any kind is not misformed', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(describeMisform(text)).toBeNull();
      }),
    );
  });

  test('nothing is said of a text outside the pattern', () => {
    for (const text of ['', LOST.replace('e', '0'), LOST.slice(13), `${LOST}1`, `${LOST}\n`]) {
      expect(describeMisform(text)).toBeNull();
    }
  });
});

describe('matchKey', () => {
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
