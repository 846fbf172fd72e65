// Decides which transfers between two addresses are edges of the walk. Address poisoning and spam
// make false neighbours, so two kinds of transfer are left out, and no others: a transfer with an
// unknown signer or an unknown market stays. An NFT is an edge only if the subject's side is known
// to have signed: receiving one shows nothing.

import { compareDecimals } from '../../chain/amount.ts';
import { CHAIN_NAMES } from '../../chain/chain.ts';
import { type HistoryTransfer, isSignedBy, signerOf } from '../../ports/history.ts';

/** The rule under which a transfer is no edge. */
export const LEFT_OUT_RULES = ['zero_value', 'no_market_token'] as const;
export type LeftOutRule = (typeof LEFT_OUT_RULES)[number];

/** A transfer that is no edge, with the rule. */
export type LeftOut = { readonly transfer: HistoryTransfer; readonly why: LeftOutRule };

/**
 * Sifts the transfers between an address and its counterparty. `side` is the path from the subject
 * to that address, both included: what one of them signed is never unwanted. `isSigned` is who says
 * whether one of them did. What failed is no transfer. The largest transfer stands for the edge.
 */
export function sift(
  side: readonly string[],
  transfers: readonly HistoryTransfer[],
  isSigned: typeof isSignedBy = isSignedBy,
): { readonly edge: HistoryTransfer | null; readonly leftOut: readonly LeftOut[] } {
  const leftOut: LeftOut[] = [];
  let edge: HistoryTransfer | null = null;
  for (const transfer of transfers) {
    if (transfer.success === false) continue;
    if (transfer.kind === 'nft' && !side.some((one) => isSigned(one, transfer) === true)) continue;
    const why = ruleAgainst(side, transfer, isSigned);
    if (why !== null) leftOut.push({ transfer, why });
    else if (edge === null || compareTransfers(transfer, edge) < 0) edge = transfer;
  }
  return { edge, leftOut };
}

function ruleAgainst(
  side: readonly string[],
  transfer: HistoryTransfer,
  isSigned: typeof isSignedBy,
): LeftOutRule | null {
  if (transfer.kind === 'nft' || !hangsOnSigner(transfer)) return null;
  // A side that may have signed the transfer may have wanted it.
  if (side.some((one) => isSigned(one, transfer) !== false)) return null;
  if (transfer.raw_amount === 0n) return 'zero_value';
  return signerOf(transfer) === transfer.to ? null : 'no_market_token';
}

/** Whether it is for its signer to say if a transfer is an edge; any other is, whoever signed. */
export function hangsOnSigner({ kind, raw_amount, has_market }: HistoryTransfer): boolean {
  return kind === 'nft' || raw_amount === 0n || (kind === 'token' && has_market === false);
}

/**
 * Puts the larger transfer first: one that moved something, then by USD with the unpriced last,
 * then one known to have succeeded, then the newest; what is left is settled by its names.
 */
export function compareTransfers(a: HistoryTransfer, b: HistoryTransfer): number {
  return (
    Number(b.raw_amount > 0n) - Number(a.raw_amount > 0n) ||
    compareValues(a.usd, b.usd) ||
    Number(b.success === true) - Number(a.success === true) ||
    b.at - a.at ||
    CHAIN_NAMES.indexOf(a.chain) - CHAIN_NAMES.indexOf(b.chain) ||
    compareText(nameOf(a), nameOf(b))
  );
}

/** Puts the larger USD value (decimal text) first, and the unpriced last. */
export function compareValues(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compareDecimals(b, a);
}

/** Puts texts in the order of their codes, whatever the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function nameOf({ tx, kind, token, from, to, raw_amount, token_id }: HistoryTransfer): string {
  return JSON.stringify([tx, kind, token, from, to, raw_amount.toString(), String(token_id)]);
}
