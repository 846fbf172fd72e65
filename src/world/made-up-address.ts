// Makes up addresses that are well-formed for their network, from a digest of a seed and a name:
// nobody holds a key of one.

import { createHash } from 'node:crypto';
import { base58, bech32 } from '@scure/base';
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
      return base58.encode(bytes);
    case 'tron':
      return tronOf(account);
    case 'bitcoin_bech32':
      return bech32.encode('bc', [0, ...bech32.toWords(account)]);
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

const CHECKSUM_BYTES = 4;

function base58check(payload: Buffer): string {
  const sum = sha256(sha256(payload)).subarray(0, CHECKSUM_BYTES);
  return base58.encode(Buffer.concat([payload, sum]));
}

const MONERO_CHARS = 95;

/** The outer form of a Monero address: nobody here looks further than its letters. */
function moneroLike(bytes: Buffer): string {
  const digits = base58.encode(Buffer.concat([bytes, sha256(bytes), sha256(sha256(bytes))]));
  return `4${digits.slice(0, MONERO_CHARS - 1)}`;
}
