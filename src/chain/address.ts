// Is this text an address, of which kind, and under which key are two of them compared?
// The only file that makes an address out of a string: the branded types cannot be had elsewhere.
// It trims nothing and repairs nothing. A text that it cannot name is null, never a guess.

import { base58 } from '@scure/base';
import { checkedPayload } from './base58check.ts';
import { CASHADDR_PREFIX, parseCashaddr } from './cashaddr.ts';
import { hashAddress, parseCoinAddress } from './coin-address.ts';
import { keccak256 } from './digest.ts';
import { isBech32, parseWitness } from './segwit.ts';
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
const SOLANA_BYTES = 32;
/** The version byte of Tron's addresses. */
export const TRON_VERSION = 0x41;

const LETTERS = /[A-Za-z]/g;
const CAPITALS = /[A-Z]/g;
const NOT_PADDING = /[^1]/g;
/** Characters of a whole key, and letters among them, from which on their case says something. */
const KEY_CHARS_MIN = 40;
const KEY_LETTERS_MIN = 16;

/**
 * Whether a text has one letter case, but for one letter at most: of the keys of 32 bytes one in a
 * thousand million is written so. Cash addresses, bech32 in capitals and Solana addresses whose
 * case was lost are, also with a slip.
 */
function isOfOneCase(text: string): boolean {
  if (count(text, NOT_PADDING) < KEY_CHARS_MIN) return false;
  const letters = count(text, LETTERS);
  const capitals = count(text, CAPITALS);
  return letters >= KEY_LETTERS_MIN && (capitals <= 1 || capitals >= letters - 1);
}

function count(text: string, pattern: RegExp): number {
  const found = text.match(pattern);
  return found === null ? 0 : found.length;
}

/**
 * The bytes decide: 25 with a checksum are Bitcoin's or Tron's, 32 are Solana's. Solana's have no
 * checksum, so a text that another form's checksum fits, or would fit but for a slip, is none of
 * them, whatever its bytes. The pattern bounds the length, since decoding is quadratic.
 */
function parseBase58(text: string): ParsedAddress | null {
  if (!BASE58_PATTERN.test(text)) return null;
  const bytes = base58.decode(text);
  if (bytes.length === SOLANA_BYTES) {
    if (isOfOneCase(text) || isBech32(text)) return null;
    return { kind: 'solana', address: text as SolanaAddress };
  }
  const payload = bytes.length === BASE58CHECK_BYTES ? checkedPayload(bytes) : null;
  if (payload === null) return null;
  if (payload[0] === TRON_VERSION) return { kind: 'tron', address: text as TronAddress };
  const form = hashAddress(text, payload)?.form;
  const ofBitcoin = form === 'bitcoin_p2pkh' || form === 'bitcoin_p2sh';
  return ofBitcoin ? { kind: 'bitcoin', address: text as BitcoinAddress } : null;
}

/**
 * The address that a text is, with its kind; null where it is none of the four. EVM and bech32
 * addresses come back in lower case, all others exactly as they are. Nothing is trimmed.
 */
export function parseAddress(text: string): ParsedAddress | null {
  const evm = parseEvmAddress(text);
  if (evm !== null) return { kind: 'evm', address: evm };
  if (parseWitness(text)?.chain !== 'bitcoin') return parseBase58(text);
  return { kind: 'bitcoin', address: text.toLowerCase() as BitcoinAddress };
}

/** An address of one of the four kinds, or one of another chain that is screened by the list. */
export type KnownAddress = ParsedAddress | { kind: 'other'; address: string };

/** The address that a text is by any form whose checksum is known; null for any other text. */
export function parseKnownAddress(text: string): KnownAddress | null {
  const parsed = parseAddress(text);
  if (parsed !== null) return parsed;
  const coin = parseCoinAddress(text);
  return coin === null ? null : { kind: 'other', address: coin.address };
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
 * address's characters and length, as happens when its case was lost. Null where nothing can be
 * said: a bech32 address of a chain that is not screened has one case too.
 */
export function describeMisform(text: string): 'solana_letter_case' | null {
  if (!SOLANA_PATTERN.test(text) || parseKnownAddress(text) !== null) return null;
  return isBech32(text) ? null : 'solana_letter_case';
}

const LOWER_CASE_PATTERN = /[a-z]/;
const UPPER_CASE_PATTERN = /[A-Z]/;

/** Whether a text has upper-case letters and no lower-case ones. */
function isUpperCase(text: string): boolean {
  return !LOWER_CASE_PATTERN.test(text) && UPPER_CASE_PATTERN.test(text);
}

/**
 * The key under which a listed string and a query are compared: EVM addresses in lower case, and
 * so a bech32 or bech32m string of any chain that is all in upper case, and a cash address, which
 * also loses its prefix; everything else exactly as it is, bech32 in mixed case included, which is
 * malformed.
 */
export function matchKey(text: string): string {
  const evm = parseEvmAddress(text);
  if (evm !== null) return evm;
  const upper = isUpperCase(text);
  if (upper && isBech32(text)) return text.toLowerCase();
  if (!upper && !text.startsWith(CASHADDR_PREFIX)) return text;
  const cash = parseCashaddr(text);
  return cash === null ? text : cash.address;
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
