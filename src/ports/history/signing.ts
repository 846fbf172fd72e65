// Who signed the transaction of a transfer?
// Explorers name no signer of token and internal transfers. An address whose own transactions are
// all told did not sign a transaction that is missing among them.

import { isEvmChain } from '../../chain/chain.ts';
import type { CoveredNeighbourhood, HistoryTransfer } from './transfer-history.ts';

/** Who signed the transaction; the sender of an EVM transaction's own value signed it. */
export function signerOf({ chain, kind, initiator, from }: HistoryTransfer): string | null {
  if (initiator !== null) return initiator;
  return kind === 'native' && isEvmChain(chain) ? from : null;
}

/** Whether an address signed the transaction; `null` where that is not known. */
export function isSignedBy(address: string, transfer: HistoryTransfer): boolean | null {
  const signer = signerOf(transfer);
  if (signer !== null) return signer === address;
  return transfer.unsigned_by === address ? false : null;
}

/**
 * Says of any transfer whether an address signed it, by the address's own history: also of one
 * between others.
 */
export function signingOf({
  address,
  counterparties,
  signs_within,
}: Omit<CoveredNeighbourhood, 'gaps'>): (transfer: HistoryTransfer) => boolean | null {
  let own: ReadonlySet<string> | null = null;
  return (transfer) => {
    const told = isSignedBy(address, transfer);
    if (told !== null) return told;
    if (own === null) own = new Set(counterparties.flatMap((one) => signedIn(address, one)));
    if (own.has(nameOf(transfer))) return true;
    const { chain, block } = transfer;
    const isWithin = signs_within.some((range) => {
      return range.chain === chain && range.from_block <= block && block <= range.to_block;
    });
    return isWithin ? false : null;
  };
}

function signedIn(
  address: string,
  { transfers }: CoveredNeighbourhood['counterparties'][number],
): string[] {
  return transfers.filter((one) => signerOf(one) === address).map(nameOf);
}

function nameOf({ chain, tx }: HistoryTransfer): string {
  return `${chain} ${tx}`;
}
