// Makes up addresses that are well-formed for their network, from a digest of a seed and a name:
// nobody holds a key of one.

import { createHash } from 'node:crypto';
import { checksumAddress, equivalentForms, parseEvmAddress } from '../chain/address.ts';

/** The networks whose addresses the world makes up. */
export const MADE_UP_FORMS = [
  'evm',
  'evm_checksum',
  'solana',
  'tron',
  'bitcoin',
  'bitcoin_bech32',
  'litecoin',
  'dash',
  'zcash',
  'monero',
] as const;
export type MadeUpForm = (typeof MADE_UP_FORMS)[number];

const ACCOUNT_BYTES = 20;
const VERSION = { bitcoin: [0x00], litecoin: [0x30], dash: [0x4c], zcash: [0x1c, 0xb8] } as const;

/** The same seed, form and name give the same address, for ever. */
export function inventAddress(seed: string, form: MadeUpForm, name: string): string {
  const bytes = sha256(Buffer.from(`${seed}\n${form}\n${name}`, 'utf8'));
  const account = bytes.subarray(0, ACCOUNT_BYTES);
  switch (form) {
    case 'evm':
      return `0x${account.toString('hex')}`;
    case 'evm_checksum':
      return checksumAddress(evmOf(account));
    case 'solana':
      return base58(bytes);
    case 'tron':
      return tronOf(account);
    case 'bitcoin_bech32':
      return bech32(account);
    case 'monero':
      return moneroLike(bytes);
    default:
      return base58check(Buffer.concat([Buffer.from(VERSION[form]), account]));
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function evmOf(account: Buffer) {
  const address = parseEvmAddress(`0x${account.toString('hex')}`);
  if (address === null) throw new Error('a made-up account is no EVM address');
  return address;
}

function tronOf(account: Buffer): string {
  const forms = equivalentForms({ kind: 'evm', address: evmOf(account) });
  const tron = forms.find(({ form }) => form === 'tron_base58');
  if (tron === undefined) throw new Error('an EVM account has no Tron form');
  return tron.address;
}

const BASE58_DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CHECKSUM_BYTES = 4;

function base58(bytes: Buffer): string {
  let number = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (number > 0n) {
    text = BASE58_DIGITS.charAt(Number(number % 58n)) + text;
    number /= 58n;
  }
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(Math.max(0, zeros)) + text;
}

function base58check(payload: Buffer): string {
  const sum = sha256(sha256(payload)).subarray(0, CHECKSUM_BYTES);
  return base58(Buffer.concat([payload, sum]));
}

const MONERO_CHARS = 95;

/** The outer form of a Monero address: nobody here looks further than its letters. */
function moneroLike(bytes: Buffer): string {
  const digits = base58(Buffer.concat([bytes, sha256(bytes), sha256(sha256(bytes))]));
  return `4${digits.slice(0, MONERO_CHARS - 1)}`;
}

const BECH32_DIGITS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const BECH32_TERMS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** The prefix `bc`, spread over five-bit words as the checksum wants it. */
const PREFIX_WORDS = [3, 3, 0, 2, 3];
const CHECKSUM_WORDS = 6;

/** A witness address of version 0 (BIP-173). */
function bech32(program: Buffer): string {
  const words = [0, ...fiveBitWords(program)];
  const sum =
    polymod([...PREFIX_WORDS, ...words, ...new Array<number>(CHECKSUM_WORDS).fill(0)]) ^ 1;
  const check = Array.from(
    { length: CHECKSUM_WORDS },
    (_, i) => (sum >>> (5 * (CHECKSUM_WORDS - 1 - i))) & 31,
  );
  return `bc1${[...words, ...check].map((word) => BECH32_DIGITS.charAt(word)).join('')}`;
}

function fiveBitWords(bytes: Buffer): number[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const words = bits.match(/.{5}/g);
  if (words === null) throw new Error('a program of no bytes');
  return words.map((word) => Number.parseInt(word, 2));
}

function polymod(words: readonly number[]): number {
  return words.reduce((sum, word) => {
    const top = sum >>> 25;
    const shifted = ((sum & 0x1ffffff) << 5) ^ word;
    return BECH32_TERMS.reduce(
      (mixed, term, i) => ((top >>> i) & 1 ? mixed ^ term : mixed),
      shifted,
    );
  }, 1);
}
