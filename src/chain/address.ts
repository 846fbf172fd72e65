// Is this text an address, of which kind, and under which key are two of them compared?
// The only file that makes an address out of a string: the branded types cannot be had elsewhere.
// It trims nothing and repairs nothing. A text that it cannot name is null, never a guess.

import { base58, bech32, bech32m, createBase58check, hex } from '@scure/base';
import { encodeBase58 } from './base58.ts';
import { CASHADDR_PREFIX, CASHADDR_VERSION, encodeCashaddr } from './cashaddr.ts';
import { keccak256, sha256 } from './digest.ts';
import { SYSTEM_ADDRESSES, SYSTEM_PREFIXES } from './system-address.ts';

declare const kindOf: unique symbol;
type Branded<Kind extends string> = string & { readonly [kindOf]: Kind };

/** `0x` and 40 hex characters in lower case. */
export type EvmAddress = Branded<'evm'>;
/** Base58 of exactly 32 bytes; its case is part of it. */
export type SolanaAddress = Branded<'solana'>;
/** Main-network base58check (P2PKH, P2SH), or bech32 and bech32m in lower case. */
export type BitcoinAddress = Branded<'bitcoin'>;
/** Base58check with version 0x41: `T` and 33 characters. */
export type TronAddress = Branded<'tron'>;

/** An address together with its kind. */
export type ParsedAddress =
  | { kind: 'evm'; address: EvmAddress }
  | { kind: 'solana'; address: SolanaAddress }
  | { kind: 'bitcoin'; address: BitcoinAddress }
  | { kind: 'tron'; address: TronAddress };
/** The four kinds of address that are recognised. */
export type AddressKind = ParsedAddress['kind'];

const EVM_CHARS = 42;
const HEX_FROM = 2;
const CODE_0 = 48;
const CODE_LOWER_X = 120;
const ASCII_CODES = 128;
const HEX_PLAIN = 1;
const HEX_UPPER = 2;

// The class of each ASCII code: 0 is no hex digit. A table is twice as fast as comparisons here.
const HEX_CLASS = new Uint8Array(ASCII_CODES);
for (const digit of '0123456789abcdef') HEX_CLASS[digit.charCodeAt(0)] = HEX_PLAIN;
for (const digit of 'ABCDEF') HEX_CLASS[digit.charCodeAt(0)] = HEX_UPPER;

/**
 * An EVM address in lower case, or null. Case is not checked (a wrong EIP-55 checksum passes);
 * the prefix is `0x`, never `0X`. A loop over codes, because a bulk screen calls it for each item.
 */
export function parseEvmAddress(text: string): EvmAddress | null {
  if (text.length !== EVM_CHARS) return null;
  if (text.charCodeAt(0) !== CODE_0 || text.charCodeAt(1) !== CODE_LOWER_X) return null;
  let classes = 0;
  for (let i = HEX_FROM; i < EVM_CHARS; i++) {
    const hexClass = HEX_CLASS[text.charCodeAt(i)];
    if (hexClass === undefined || hexClass === 0) return null;
    classes |= hexClass;
  }
  return (classes === HEX_PLAIN ? text : text.toLowerCase()) as EvmAddress;
}

const BASE58_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{25,44}$/;
const BASE58CHECK_BYTES = 25;
const CHECKSUM_BYTES = 4;
const SOLANA_BYTES = 32;
const VERSION_P2PKH = 0x00;
const VERSION_P2SH = 0x05;
const VERSION_TRON = 0x41;

/** Whether the last four bytes are the double SHA-256 checksum of the ones before. */
function hasChecksum(bytes: Uint8Array): boolean {
  const end = bytes.length - CHECKSUM_BYTES;
  const sum = sha256(sha256(bytes.subarray(0, end)));
  for (let i = 0; i < CHECKSUM_BYTES; i++) {
    if (sum[i] !== bytes[end + i]) return false;
  }
  return true;
}

/**
 * The bytes decide: 25 with a checksum are Bitcoin's or Tron's, 32 are Solana's, so no string is
 * of two kinds. The pattern bounds the length, since decoding is quadratic.
 */
function parseBase58(text: string): ParsedAddress | null {
  if (!BASE58_PATTERN.test(text)) return null;
  const bytes = base58.decode(text);
  if (bytes.length === SOLANA_BYTES) return { kind: 'solana', address: text as SolanaAddress };
  if (bytes.length !== BASE58CHECK_BYTES || !hasChecksum(bytes)) return null;
  const version = bytes[0];
  if (version === VERSION_TRON) return { kind: 'tron', address: text as TronAddress };
  if (version === VERSION_P2PKH || version === VERSION_P2SH) {
    return { kind: 'bitcoin', address: text as BitcoinAddress };
  }
  return null;
}

const SEGWIT_HRP = 'bc';
const SEGWIT_CHARS_MAX = 90;
const WITNESS_VERSION_MAX = 16;
const PROGRAM_BYTES_MIN = 2;
const PROGRAM_BYTES_MAX = 40;
const V0_PROGRAM_BYTES = [20, 32];

/**
 * A main-network witness address by BIP-141, BIP-173 and BIP-350: version 0 in bech32 with 20 or
 * 32 bytes, versions 1 to 16 in bech32m with 2 to 40. All in upper case is the same address.
 */
function parseSegwit(text: string): ParsedAddress | null {
  const plain = bech32.decodeUnsafe(text, SEGWIT_CHARS_MAX);
  const decoded = plain === undefined ? bech32m.decodeUnsafe(text, SEGWIT_CHARS_MAX) : plain;
  if (decoded === undefined || decoded.prefix !== SEGWIT_HRP) return null;
  const [version, ...words] = decoded.words;
  if (version === undefined || version > WITNESS_VERSION_MAX) return null;
  if ((version === 0) !== (plain !== undefined)) return null;
  const program = bech32.fromWordsUnsafe(words);
  if (!(program instanceof Uint8Array)) return null;
  const length = program.length;
  if (length < PROGRAM_BYTES_MIN || length > PROGRAM_BYTES_MAX) return null;
  if (version === 0 && !V0_PROGRAM_BYTES.includes(length)) return null;
  return { kind: 'bitcoin', address: text.toLowerCase() as BitcoinAddress };
}

/**
 * The address that a text is, with its kind; null where it is none of the four. EVM and bech32
 * addresses come back in lower case, all others exactly as they are. Nothing is trimmed.
 */
export function parseAddress(text: string): ParsedAddress | null {
  const evm = parseEvmAddress(text);
  if (evm !== null) return { kind: 'evm', address: evm };
  if (text.startsWith('bc1') || text.startsWith('BC1')) {
    const segwit = parseSegwit(text);
    if (segwit !== null) return segwit;
  }
  return parseBase58(text);
}

const CODE_LOWER_A = 97;
const ASCII_CASE = 32;
const NIBBLE_UPPER_FROM = 8;

/** The address in EIP-55 letter case. */
export function checksumAddress(address: EvmAddress): string {
  const hash = keccak256(address.slice(HEX_FROM));
  const codes = [CODE_0, CODE_LOWER_X];
  for (let i = HEX_FROM; i < EVM_CHARS; i++) {
    const digit = i - HEX_FROM;
    // Of each byte the high half comes first.
    const nibble = (Number(hash[digit >> 1]) >>> ((digit & 1) === 0 ? 4 : 0)) & 0xf;
    const code = address.charCodeAt(i);
    const raised = nibble >= NIBBLE_UPPER_FROM && code >= CODE_LOWER_A;
    codes.push(raised ? code - ASCII_CASE : code);
  }
  return String.fromCharCode(...codes);
}

const SOLANA_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/**
 * What may be wrong with a text that is no address: `solana_letter_case` where it has a Solana
 * address's characters and length but is not 32 bytes, as happens when its case was lost. Null
 * where nothing can be said: a lost case that happens to be 32 bytes is another valid address.
 */
export function describeMisform(text: string): 'solana_letter_case' | null {
  if (!SOLANA_PATTERN.test(text)) return null;
  return parseAddress(text) === null ? 'solana_letter_case' : null;
}

// The bech32 code is defined up to this length. Addresses of other chains (Cardano, Zcash) are
// longer than the 90 characters that BIP-173 allows Bitcoin's.
const BECH32_CHARS_MAX = 1023;
const LOWER_CASE_PATTERN = /[a-z]/;
const UPPER_CASE_PATTERN = /[A-Z]/;

/** Whether a text has upper-case letters and no lower-case ones. */
function isUpperCase(text: string): boolean {
  return !LOWER_CASE_PATTERN.test(text) && UPPER_CASE_PATTERN.test(text);
}

/**
 * The key under which a listed string and a query are compared: EVM addresses in lower case, and
 * so a bech32 or bech32m string of any chain that is all in upper case; everything else exactly
 * as it is, bech32 in mixed case included, which is malformed.
 */
export function matchKey(text: string): string {
  const evm = parseEvmAddress(text);
  if (evm !== null) return evm;
  if (text.length > BECH32_CHARS_MAX || !isUpperCase(text)) return text;
  const decoded =
    bech32.decodeUnsafe(text, BECH32_CHARS_MAX) ?? bech32m.decodeUnsafe(text, BECH32_CHARS_MAX);
  return decoded === undefined ? text : text.toLowerCase();
}

/**
 * Another spelling of an address. `same_account`: the same account of the same chain.
 * `same_key`: the account that the same key controls elsewhere.
 */
export type EquivalentForm = {
  form: 'eip55' | 'tron_base58' | 'evm_hex' | 'tron_hex' | 'cashaddr' | 'cashaddr_prefixed';
  address: string;
  relation: 'same_key' | 'same_account';
};

const base58check = createBase58check(sha256);

/** The bytes behind the version byte of a base58check address that was parsed. */
function payloadOf(address: TronAddress | BitcoinAddress): Uint8Array {
  return base58check.decode(address).subarray(1);
}

/** The account of these 20 bytes on Tron, in base58check. */
function tronAddress(body: Uint8Array): string {
  const whole = new Uint8Array(BASE58CHECK_BYTES);
  whole[0] = VERSION_TRON;
  whole.set(body, 1);
  const checksum = sha256(sha256(whole.subarray(0, -CHECKSUM_BYTES)));
  whole.set(checksum.subarray(0, CHECKSUM_BYTES), BASE58CHECK_BYTES - CHECKSUM_BYTES);
  return encodeBase58(whole);
}

/** A Bitcoin key hash as Bitcoin Cash prints it, without and with its prefix. */
function cashForms(address: BitcoinAddress): EquivalentForm[] {
  // Of main-network addresses only those of a key hash (P2PKH) begin with 1.
  if (!address.startsWith('1')) return [];
  const bare = encodeCashaddr(CASHADDR_VERSION.p2pkh, payloadOf(address));
  return [
    { form: 'cashaddr', address: bare, relation: 'same_key' },
    { form: 'cashaddr_prefixed', address: `${CASHADDR_PREFIX}:${bare}`, relation: 'same_key' },
  ];
}

/** The other spellings under which a list may hold the same key or account. */
export function equivalentForms(parsed: ParsedAddress): EquivalentForm[] {
  switch (parsed.kind) {
    case 'evm': {
      const body = hex.decode(parsed.address.slice(HEX_FROM));
      const tron = tronAddress(body);
      return [
        { form: 'eip55', address: checksumAddress(parsed.address), relation: 'same_account' },
        { form: 'tron_base58', address: tron, relation: 'same_key' },
      ];
    }
    case 'tron': {
      const body = hex.encode(payloadOf(parsed.address));
      return [
        { form: 'evm_hex', address: `0x${body}`, relation: 'same_key' },
        { form: 'tron_hex', address: `41${body}`, relation: 'same_account' },
      ];
    }
    case 'bitcoin':
      return cashForms(parsed.address);
    case 'solana':
      return [];
  }
}

/**
 * Whether an address is a chain's own or nobody's: never a node, a counterparty, a cluster
 * member, a funder or the subject of a label. EVM addresses in any case; the rest exactly.
 */
export function isSystemAddress(address: string): boolean {
  const evm = parseEvmAddress(address);
  if (evm === null) return SYSTEM_ADDRESSES.has(address);
  return SYSTEM_PREFIXES.some((prefix) => evm.startsWith(prefix)) || SYSTEM_ADDRESSES.has(evm);
}
