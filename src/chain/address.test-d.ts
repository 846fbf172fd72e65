import {
  type BitcoinAddress,
  checksumAddress,
  type EvmAddress,
  equivalentForms,
  parseAddress,
  parseEvmAddress,
  type SolanaAddress,
  type TronAddress,
} from './address.ts';

import type { Transfer } from './transfer.ts';

// Each line under an expected error is a lie that must not compile.

export function anUnparsedAddressIsNoAddress(text: string): void {
  // @ts-expect-error a string was not parsed
  checksumAddress(text);
  // @ts-expect-error a literal was not parsed either
  const address: EvmAddress = '0x0000000000000000000000000000000000000000';
  // @ts-expect-error parsing may have failed
  checksumAddress(parseEvmAddress(text));
  // @ts-expect-error a kind is not enough
  equivalentForms({ kind: 'evm', address: text });
  checksumAddress(address);
}

export function oneKindIsNotAnother(
  solana: SolanaAddress,
  bitcoin: BitcoinAddress,
  tron: TronAddress,
): void {
  // @ts-expect-error a Solana address is no EVM address
  checksumAddress(solana);
  // @ts-expect-error nor is a Bitcoin address
  checksumAddress(bitcoin);
  // @ts-expect-error nor is a Tron address
  checksumAddress(tron);
  // @ts-expect-error the kind says what the address is
  equivalentForms({ kind: 'tron', address: bitcoin });
}

export function aKindNarrowsItsAddress(text: string): string | null {
  const parsed = parseAddress(text);
  // @ts-expect-error an address of any kind is not an EVM address yet
  if (parsed !== null) checksumAddress(parsed.address);
  return parsed?.kind === 'evm' ? checksumAddress(parsed.address) : null;
}

export function aTransferStandsSomewhere(transfer: Transfer): Transfer {
  // @ts-expect-error without a transaction it needs its block's hash and its index there
  return { ...transfer, tx_hash: null, block_hash: null, position: null };
}
