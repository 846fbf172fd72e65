// Addresses of chains that the list knows and that no walk follows, and of Bitcoin, whose forms its
// kin took over with other version bytes. Each form is known by its own checksum; nothing is
// trimmed or repaired.

import { base58, base58xmr, base58xrp, bech32, bech32m } from '@scure/base';
import { keccak256, sha256 } from './digest.ts';

// Base58 is written and read here, because a screen does so for each address.

const BASE58_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ZERO = BASE58_ALPHABET.charAt(0);
const BASE = 58;
/** Longer than anything that is an address, so that the work is bounded. */
const BYTES_MAX = 128;

// The number is held in limbs of three bytes and divided by four digits at once, which are written
// as two pairs: every product stays below 2^53, and there are a twelfth of the divisions that byte
// by byte and digit by digit would take. Nothing here waits, so one set of limbs serves all.
const LIMB_BYTES = 3;
const LIMB = 2 ** 24;
const PAIR = BASE ** 2;
const DIVISOR = PAIR ** 2;
const PAIRS = Array.from(BASE58_ALPHABET).flatMap((high) =>
  Array.from(BASE58_ALPHABET, (low) => high + low),
);
const limbs = new Float64Array(Math.ceil(BYTES_MAX / LIMB_BYTES));

/** Bytes in base58, a leading `1` for each leading zero byte (the Bitcoin alphabet). */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length > BYTES_MAX) throw new RangeError('base58: more bytes than an address has');
  const count = fillLimbs(bytes);
  let digits = '';
  for (let first = leadingZeros(limbs, 0, count); first < count; ) {
    let rest = 0;
    for (let i = first; i < count; i++) {
      const value = rest * LIMB + Number(limbs[i]);
      const quotient = Math.floor(value / DIVISOR);
      limbs[i] = quotient;
      rest = value - quotient * DIVISOR;
    }
    first = leadingZeros(limbs, first, count);
    const high = Math.floor(rest / PAIR);
    digits = `${PAIRS[high]}${PAIRS[rest - high * PAIR]}${digits}`;
  }
  let padding = 0;
  while (digits.charAt(padding) === ZERO) padding += 1;
  return ZERO.repeat(leadingZeros(bytes, 0, bytes.length)) + digits.slice(padding);
}

const DIGITS_ONLY = /^[1-9A-HJ-NP-Za-km-z]*$/;

/** The bytes that a text of base58 digits writes; `null` for any other text. */
export function decodeBase58(text: string): Uint8Array | null {
  return DIGITS_ONLY.test(text) ? readBase58(text) : null;
}

const DIGIT_OF = new Uint8Array(128);
for (const [value, digit] of Array.from(BASE58_ALPHABET).entries()) {
  DIGIT_OF[digit.charCodeAt(0)] = value;
}
const DIGITS_AT_ONCE = 4;
/** Longer texts are no addresses; they are left to the library, which bounds nothing. */
const CHARS_MAX = 170;

/** The bytes of a text that is known to be of base58 digits alone. */
export function readBase58(text: string): Uint8Array {
  if (text.length > CHARS_MAX) return base58.decode(text);
  const { length } = text;
  let zeros = 0;
  while (zeros < length && text.charAt(zeros) === ZERO) zeros += 1;
  // The lowest limb comes first: four digits are multiplied in at once.
  let count = 0;
  for (let at = zeros; at < length; ) {
    let [group, factor] = [0, 1];
    for (const end = Math.min(at + DIGITS_AT_ONCE, length); at < end; at++) {
      group = group * BASE + Number(DIGIT_OF[text.charCodeAt(at)]);
      factor *= BASE;
    }
    let carry = group;
    for (let i = 0; i < count; i++) {
      const value = Number(limbs[i]) * factor + carry;
      carry = Math.floor(value / LIMB);
      limbs[i] = value - carry * LIMB;
    }
    if (carry > 0) limbs[count++] = carry;
  }
  let topBytes = 0;
  for (let top = count === 0 ? 0 : Number(limbs[count - 1]); top > 0; top >>>= 8) topBytes += 1;
  const bytes = new Uint8Array(zeros + (count === 0 ? 0 : (count - 1) * LIMB_BYTES + topBytes));
  let to = bytes.length - 1;
  for (let i = 0; i < count; i++) {
    let limb = Number(limbs[i]);
    for (let byte = 0; byte < LIMB_BYTES && to >= zeros; byte++) {
      bytes[to] = limb & 0xff;
      limb >>>= 8;
      to -= 1;
    }
  }
  return bytes;
}

const SIGNATURE_BYTES = 64;
const SIGNATURE_CHARS_MAX = 88;

/** Whether a text is a signature of Solana, which names a transaction. */
export function isSolanaSignature(text: string): boolean {
  return text.length <= SIGNATURE_CHARS_MAX && decodeBase58(text)?.length === SIGNATURE_BYTES;
}

/** Fills the limbs with a number, its highest limb first, and tells how many it takes. */
function fillLimbs(bytes: Uint8Array): number {
  const count = Math.ceil(bytes.length / LIMB_BYTES);
  let from = bytes.length - count * LIMB_BYTES;
  for (let limb = 0; limb < count; limb++) {
    let value = 0;
    for (const end = from + LIMB_BYTES; from < end; from++) {
      value = value * 256 + (from < 0 ? 0 : Number(bytes[from]));
    }
    limbs[limb] = value;
  }
  return count;
}

function leadingZeros(values: Uint8Array | Float64Array, from: number, end: number): number {
  let at = from;
  while (at < end && values[at] === 0) at += 1;
  return at;
}

// The checksum of base58check is the first four bytes of a double SHA-256, as Bitcoin and its kin
// have it.

const CHECKSUM_BYTES = 4;

/** The bytes before a checksum that fits them, or null where it does not. */
export function checkedPayload(bytes: Uint8Array): Uint8Array | null {
  const end = bytes.length - CHECKSUM_BYTES;
  if (end <= 0) return null;
  const sum = sha256(sha256(bytes.subarray(0, end)));
  for (let i = 0; i < CHECKSUM_BYTES; i++) {
    if (sum[i] !== bytes[end + i]) return null;
  }
  return bytes.subarray(0, end);
}

/** The bytes of a text in base58 whose checksum fits; null where it does not. */
export function checkedBase58(text: string): Uint8Array | null {
  return checkedPayload(readBase58(text));
}

/** A version and a body with their checksum behind them. */
export function withChecksum(version: readonly number[], body: Uint8Array): Uint8Array {
  const end = version.length + body.length;
  const whole = new Uint8Array(end + CHECKSUM_BYTES);
  whole.set(version);
  whole.set(body, version.length);
  whole.set(sha256(sha256(whole.subarray(0, end))).subarray(0, CHECKSUM_BYTES), end);
  return whole;
}

/** A version and a body in base58, with their checksum. */
export function encodeBase58check(version: readonly number[], body: Uint8Array): string {
  return encodeBase58(withChecksum(version, body));
}

// Bech32 is read here for the same reason as base58. A checksum of either code is tried at once.

const BECH32_ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const NO_WORD = 255;
const WORD_OF = new Uint8Array(128).fill(NO_WORD);
for (const [value, letter] of Array.from(BECH32_ALPHABET).entries()) {
  WORD_OF[letter.charCodeAt(0)] = value;
}
const BECH32_GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const BECH32_SUM = 1;
const BECH32M_SUM = 0x2bc830a3;
const BECH32_SUM_WORDS = 6;
const BECH32_CHARS_MIN = 8;
const PREFIX_CODE_MIN = 33;
const PREFIX_CODE_MAX = 126;
const LOWER = /[a-z]/;
const UPPER = /[A-Z]/;

/** A text of bech32, or of bech32m (`isM`): its prefix in lower case, and its words. */
type Bech32 = {
  readonly prefix: string;
  readonly words: readonly number[];
  readonly isM: boolean;
};

function bech32Step(sum: number, word: number): number {
  const top = sum >>> 25;
  let next = ((sum & 0x1ffffff) << 5) ^ word;
  for (let bit = 0; bit < BECH32_GENERATORS.length; bit++) {
    if (((top >> bit) & 1) === 1) next ^= Number(BECH32_GENERATORS[bit]);
  }
  return next;
}

/** Reads a text whose checksum fits; null for any other text, and one in mixed case. */
function readBech32(text: string, charsMax: number): Bech32 | null {
  const sep = text.lastIndexOf('1');
  if (sep < 1 || text.length < BECH32_CHARS_MIN || text.length > charsMax) return null;
  const end = text.length - BECH32_SUM_WORDS;
  if (end <= sep) return null;
  const isUpper = UPPER.test(text);
  if (isUpper && LOWER.test(text)) return null;
  const lower = isUpper ? text.toLowerCase() : text;
  let sum = 1;
  for (let i = 0; i < sep; i++) {
    const code = lower.charCodeAt(i);
    if (code < PREFIX_CODE_MIN || code > PREFIX_CODE_MAX) return null;
    sum = bech32Step(sum, code >> 5);
  }
  sum = bech32Step(sum, 0);
  for (let i = 0; i < sep; i++) sum = bech32Step(sum, lower.charCodeAt(i) & 31);
  const words: number[] = [];
  for (let i = sep + 1; i < lower.length; i++) {
    const word = WORD_OF[lower.charCodeAt(i)];
    if (word === undefined || word === NO_WORD) return null;
    sum = bech32Step(sum, word);
    if (i < end) words.push(word);
  }
  if (sum !== BECH32_SUM && sum !== BECH32M_SUM) return null;
  return { prefix: lower.slice(0, sep), words, isM: sum === BECH32M_SUM };
}

// Bech32 and bech32m by BIP-141, BIP-173 and BIP-350. A text in upper case is the same address, as
// QR codes have it; one in mixed case is malformed.

/** The prefixes of the chains whose addresses name a witness program. */
const WITNESS_PREFIXES = { bitcoin: 'bc', litecoin: 'ltc', bitcoin_gold: 'btg' } as const;
/** A chain whose addresses name a witness program. */
export type WitnessChain = keyof typeof WITNESS_PREFIXES;
/** All of them. */
export const WITNESS_CHAINS = [
  'bitcoin',
  'litecoin',
  'bitcoin_gold',
] as const satisfies readonly WitnessChain[];

/** A witness program: its version, and 2 to 40 bytes. */
export type Witness = { readonly version: number; readonly program: Uint8Array };

const SEGWIT_CHARS_MAX = 90;
const WITNESS_VERSION_MAX = 16;
const PROGRAM_BYTES_MIN = 2;
const PROGRAM_BYTES_MAX = 40;
const V0_PROGRAM_BYTES = [20, 32];

const WITNESS_BEGINNING = /^(?:(?:bc|ltc|btg)1|(?:BC|LTC|BTG)1)/;
/**
 * A main-network witness address: version 0 in bech32 with 20 or 32 bytes, versions 1 to 16 in
 * bech32m with 2 to 40. Null for any other text.
 */
export function parseWitness(text: string): { chain: WitnessChain; witness: Witness } | null {
  if (!WITNESS_BEGINNING.test(text)) return null;
  const decoded = readBech32(text, SEGWIT_CHARS_MAX);
  if (decoded === null) return null;
  const { prefix, words, isM } = decoded;
  const chain = WITNESS_CHAINS.find((one) => WITNESS_PREFIXES[one] === prefix);
  const [version] = words;
  if (chain === undefined || version === undefined || version > WITNESS_VERSION_MAX) return null;
  if ((version === 0) === isM) return null;
  const program = bytesOf(words.slice(1));
  if (program === null) return null;
  const { length } = program;
  if (length < PROGRAM_BYTES_MIN || length > PROGRAM_BYTES_MAX) return null;
  if (version === 0 && !V0_PROGRAM_BYTES.includes(length)) return null;
  return { chain, witness: { version, program } };
}

/** The address of a witness program on a chain, in lower case. */
export function encodeWitness(chain: WitnessChain, { version, program }: Witness): string {
  const code = version === 0 ? bech32 : bech32m;
  return code.encode(WITNESS_PREFIXES[chain], [version, ...code.toWords(program)]);
}

const SAPLING_PREFIX = 'zs';
const SAPLING_BYTES = 43;

/** Whether a text is a shielded address of Zcash's Sapling (bech32, 43 bytes; ZIP-32). */
export function isSapling(text: string): boolean {
  const decoded = readBech32(text, SEGWIT_CHARS_MAX);
  if (decoded === null || decoded.isM || decoded.prefix !== SAPLING_PREFIX) return false;
  return bytesOf(decoded.words)?.length === SAPLING_BYTES;
}

// The bech32 code is defined up to this length. Addresses of other chains (Cardano, Zcash) are
// longer than the 90 characters that BIP-173 allows Bitcoin's.
const BECH32_CHARS_MAX = 1023;

/** Whether the checksum of bech32 or bech32m fits a text, under whatever prefix. */
export function isBech32(text: string): boolean {
  return readBech32(text, BECH32_CHARS_MAX) !== null;
}

// CashAddr by github.com/bitcoincashorg/bitcoincash.org spec/cashaddr.md; the versions that take
// tokens: CHIP-2022-02-CashTokens.

/** The prefix of the main network; it is part of the checksum and may be left out in writing. */
export const CASHADDR_PREFIX = 'bitcoincash';

/** Version bytes of 20-byte hashes: of a public key and of a script. */
export const CASHADDR_VERSION = { p2pkh: 0, p2sh: 8 } as const;

const CASHADDR_ALPHABET = BECH32_ALPHABET;
const GENERATORS = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];
const CHECKSUM_WORDS = 8;
const CASHADDR_HASH_BYTES = 20;
const WORD_BITS = 5;
const PREFIX_WORDS = Array.from(CASHADDR_PREFIX, (letter) => letter.charCodeAt(0) & 31);

/** The 40-bit checksum over five-bit words, as the specification's PolyMod. */
function polymod(words: readonly number[]): bigint {
  let c = 1n;
  for (const word of words) {
    const top = Number(c >> 35n);
    c = ((c & 0x07ffffffffn) << 5n) ^ BigInt(word);
    GENERATORS.forEach((generator, bit) => {
      if ((top >> bit) & 1) c ^= generator;
    });
  }
  return c ^ 1n;
}

/** Bytes as five-bit words, the last one padded with zero bits. */
function wordsOf(bytes: Uint8Array): number[] {
  const words: number[] = [];
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= WORD_BITS; ) {
      bits -= WORD_BITS;
      words.push((held >> bits) & 31);
    }
  }
  if (bits > 0) words.push((held << (WORD_BITS - bits)) & 31);
  return words;
}

/** Five-bit words as bytes, or null where what is left over is no padding. */
function bytesOf(words: readonly number[]): Uint8Array | null {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const word of words) {
    held = ((held << WORD_BITS) | word) & 0xfff;
    bits += WORD_BITS;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  const rest = held & ((1 << bits) - 1);
  return bits < WORD_BITS && rest === 0 ? Uint8Array.from(bytes) : null;
}

/**
 * The payload of a cash address of a 20-byte hash, without its prefix, as sanctions lists print
 * it. Throws a RangeError for a hash of another length.
 */
export function encodeCashaddr(version: number, hash: Uint8Array): string {
  if (hash.length !== CASHADDR_HASH_BYTES)
    throw new RangeError('a cash address is made of 20 bytes');
  const words = wordsOf(Uint8Array.of(version, ...hash));
  const template = new Array<number>(CHECKSUM_WORDS).fill(0);
  const sum = polymod([...PREFIX_WORDS, 0, ...words, ...template]);
  for (let i = CHECKSUM_WORDS - 1; i >= 0; i--) {
    words.push(Number((sum >> BigInt(WORD_BITS * i)) & 31n));
  }
  return words.map((word) => CASHADDR_ALPHABET.charAt(word)).join('');
}

/** The version bits that say for which output a hash stands; the length bits are apart. */
const OUTPUT_BITS = 0x78;
const LENGTH_BITS = 0x07;
const OUTPUT_OF_BITS: ReadonlyMap<number, CashHash['of']> = new Map([
  [0 << 3, 'key_hash'],
  [1 << 3, 'script_hash'],
  // The same outputs, for wallets that take tokens.
  [2 << 3, 'key_hash'],
  [3 << 3, 'script_hash'],
]);
/** Bytes of the hash by the length bits, of the lengths that are in use. */
const HASH_BYTES_OF_BITS: ReadonlyMap<number, number> = new Map([
  [0, 20],
  [3, 32],
]);
// 20 bytes make 42 characters, 32 make 61.
const SPELLING = /^(?:bitcoincash:)?([02-9ac-hj-np-z]{42}|[02-9ac-hj-np-z]{61})$/;

/** A hash that a cash address names. */
export type CashHash = { readonly of: 'key_hash' | 'script_hash'; readonly hash: Uint8Array };

/**
 * The hash of a cash address with or without its prefix, in lower case or all in upper case, and
 * the address without its prefix in lower case. Null for any other text.
 */
export function parseCashaddr(text: string): { address: string; holder: CashHash } | null {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return null;
  const address = SPELLING.exec(lower)?.[1];
  if (address === undefined) return null;
  const words = Array.from(address, (letter) => CASHADDR_ALPHABET.indexOf(letter));
  if (polymod([...PREFIX_WORDS, 0, ...words]) !== 0n) return null;
  const bytes = bytesOf(words.slice(0, -CHECKSUM_WORDS));
  const version = bytes?.[0];
  if (bytes === null || version === undefined) return null;
  const of = OUTPUT_OF_BITS.get(version & OUTPUT_BITS);
  const hash = bytes.subarray(1);
  const fits = hash.length === HASH_BYTES_OF_BITS.get(version & LENGTH_BITS);
  // The highest bit is reserved: with it set no mask finds the version.
  if (of === undefined || version > (OUTPUT_BITS | LENGTH_BITS) || !fits) return null;
  return { address, holder: { of, hash } };
}

/**
 * The recipient of an address: the same hash or program is the same holder on every chain that has
 * it.
 */
export type Holder = CashHash | { readonly of: 'witness'; readonly witness: Witness };

/** The forms in base58 whose body is a hash of 20 bytes: version bytes, and what is hashed. */
export const HASH_FORMS = [
  { form: 'bitcoin_p2pkh', version: [0x00], of: 'key_hash' },
  { form: 'bitcoin_p2sh', version: [0x05], of: 'script_hash' },
  { form: 'litecoin_p2pkh', version: [0x30], of: 'key_hash' },
  { form: 'litecoin_p2sh', version: [0x32], of: 'script_hash' },
  // Verge writes its key hashes as Dogecoin does, and its script hashes otherwise.
  { form: 'dogecoin_p2pkh', version: [0x1e], of: 'key_hash' },
  { form: 'dogecoin_p2sh', version: [0x16], of: 'script_hash' },
  { form: 'verge_p2sh', version: [0x21], of: 'script_hash' },
  { form: 'dash_p2pkh', version: [0x4c], of: 'key_hash' },
  { form: 'dash_p2sh', version: [0x10], of: 'script_hash' },
  { form: 'bitcoin_gold_p2pkh', version: [0x26], of: 'key_hash' },
  { form: 'bitcoin_gold_p2sh', version: [0x17], of: 'script_hash' },
  { form: 'zcash_p2pkh', version: [0x1c, 0xb8], of: 'key_hash' },
  { form: 'zcash_p2sh', version: [0x1c, 0xbd], of: 'script_hash' },
] as const;

/** A form of address, by chain and output. */
export type CoinForm =
  | (typeof HASH_FORMS)[number]['form']
  | `${WitnessChain}_segwit`
  | 'cashaddr'
  | 'ripple'
  | 'monero'
  | 'monero_integrated'
  | 'zcash_sprout'
  | 'zcash_sapling';

/** An address as it is compared, its form, and whom it pays where another form can say so too. */
export type CoinAddress = {
  readonly form: CoinForm;
  readonly address: string;
  readonly holder: Holder | null;
};

const HASH_BYTES = 20;
const SHORT_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{25,36}$/;

/** The address whose payload this is: a version of one or two bytes and a hash of 20. */
export function hashAddress(text: string, payload: Uint8Array): CoinAddress | null {
  const versionBytes = payload.length - HASH_BYTES;
  const known = HASH_FORMS.find(
    ({ version }) =>
      version.length === versionBytes && version.every((byte, i) => payload[i] === byte),
  );
  if (known === undefined) return null;
  const hash = payload.subarray(versionBytes);
  return { form: known.form, address: text, holder: { of: known.of, hash } };
}

function parseHashForm(text: string): CoinAddress | null {
  if (!SHORT_PATTERN.test(text)) return null;
  const payload = checkedBase58(text);
  return payload === null ? null : hashAddress(text, payload);
}

const RIPPLE_PATTERN = /^r[1-9A-HJ-NP-Za-km-z]{24,34}$/;
/** The version of an account's address (XRPL, "Base58 Encodings"). */
export const RIPPLE_VERSION = [0x00] as const;

function parseRipple(text: string): CoinAddress | null {
  if (!RIPPLE_PATTERN.test(text)) return null;
  const payload = checkedPayload(base58xrp.decode(text));
  if (payload === null || payload.length !== RIPPLE_VERSION.length + HASH_BYTES) return null;
  if (payload[0] !== RIPPLE_VERSION[0]) return null;
  return { form: 'ripple', address: text, holder: { of: 'key_hash', hash: payload.subarray(1) } };
}

/** The version of an account's own address on Monero's main network. */
export const MONERO_VERSION = 18;
const MONERO_PATTERN = /^[48](?:[1-9A-HJ-NP-Za-km-z]{94}|[1-9A-HJ-NP-Za-km-z]{105})$/;
const MONERO_CHECKSUM_BYTES = 4;
/** Version bytes of Monero's main network, and the bytes of each address without its checksum. */
const MONERO_FORMS = [
  { form: 'monero', version: MONERO_VERSION, bytes: 65 },
  // A subaddress.
  { form: 'monero', version: 42, bytes: 65 },
  { form: 'monero_integrated', version: 19, bytes: 73 },
] as const;

/** The payload of a Monero address whose checksum (Keccak-256) fits, or null. */
export function moneroPayload(text: string): Uint8Array | null {
  if (!MONERO_PATTERN.test(text)) return null;
  let bytes: Uint8Array;
  try {
    bytes = base58xmr.decode(text);
  } catch {
    // A block of eleven characters may hold more than its eight bytes.
    return null;
  }
  const end = bytes.length - MONERO_CHECKSUM_BYTES;
  const sum = keccak256(bytes.subarray(0, end));
  for (let i = 0; i < MONERO_CHECKSUM_BYTES; i++) {
    if (sum[i] !== bytes[end + i]) return null;
  }
  return bytes.subarray(0, end);
}

/** The address of a payload, with its checksum. */
export function moneroAddress(payload: Uint8Array): string {
  const sum = keccak256(payload).subarray(0, MONERO_CHECKSUM_BYTES);
  return base58xmr.encode(Uint8Array.of(...payload, ...sum));
}

function parseMonero(text: string): CoinAddress | null {
  const payload = moneroPayload(text);
  if (payload === null) return null;
  const known = MONERO_FORMS.find(
    ({ version, bytes }) => payload[0] === version && payload.length === bytes,
  );
  return known === undefined ? null : { form: known.form, address: text, holder: null };
}

const SPROUT_PATTERN = /^zc[1-9A-HJ-NP-Za-km-z]{93}$/;
const SPROUT_VERSION = [0x16, 0x9a] as const;
const SPROUT_BYTES = 66;

function parseShielded(text: string): CoinAddress | null {
  if (isSapling(text)) {
    return { form: 'zcash_sapling', address: text.toLowerCase(), holder: null };
  }
  if (!SPROUT_PATTERN.test(text)) return null;
  const payload = checkedBase58(text);
  if (payload === null || payload.length !== SPROUT_BYTES) return null;
  if (SPROUT_VERSION.some((byte, i) => payload[i] !== byte)) return null;
  return { form: 'zcash_sprout', address: text, holder: null };
}

function parseSegwit(text: string): CoinAddress | null {
  const parsed = parseWitness(text);
  if (parsed === null) return null;
  const { chain, witness } = parsed;
  const { version, program } = witness;
  const ofKey = version === 0 && program.length === HASH_BYTES;
  const holder: Holder = ofKey ? { of: 'key_hash', hash: program } : { of: 'witness', witness };
  return { form: `${chain}_segwit`, address: text.toLowerCase(), holder };
}

/** The address that a text is by one of these forms, or null. Cash addresses lose their prefix. */
export function parseCoinAddress(text: string): CoinAddress | null {
  const found = parseHashForm(text) ?? parseSegwit(text) ?? parseRipple(text);
  if (found !== null) return found;
  const cash = parseCashaddr(text);
  if (cash !== null) return { form: 'cashaddr', ...cash };
  return parseMonero(text) ?? parseShielded(text);
}
