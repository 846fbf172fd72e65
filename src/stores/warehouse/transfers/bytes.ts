// How is an address or a hash written in the warehouse, and how is it read back?
// As bytes where its chain writes bytes in hexadecimal (EVM), else as its text: nothing is decoded
// that could be told apart only by its letters' case.

import { written } from '../../../evidence/measure.ts';

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const HEX_PREFIX = '0x';
const ADDRESS_DIGITS = 40;
const HASH_DIGITS = 64;

/** The stored bytes of an address or a token in hexadecimal; empty for `null`. */
export function addressHex(address: string | null): string {
  const text = written(address);
  return EVM_ADDRESS.test(text) ? text.slice(HEX_PREFIX.length) : textHex(text);
}

/** The stored bytes of a hash in hexadecimal; empty for `null`. */
export function hashHex(hash: string | null): string {
  const text = written(hash);
  return HASH.test(text) ? text.slice(HEX_PREFIX.length) : textHex(text);
}

/** The bytes of a text in hexadecimal. */
export function textHex(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex');
}

/** The address or token whose stored bytes these are, in lower-case hexadecimal. */
export function addressOf(hex: string): string {
  return hex.length === ADDRESS_DIGITS ? HEX_PREFIX + hex : hexText(hex);
}

/** The hash whose stored bytes these are. */
export function hashOf(hex: string): string {
  return hex.length === HASH_DIGITS ? HEX_PREFIX + hex : hexText(hex);
}

/** The text whose bytes these are. */
function hexText(hex: string): string {
  return Buffer.from(hex, 'hex').toString('utf8');
}
