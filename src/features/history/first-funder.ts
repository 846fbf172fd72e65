// Who paid an address its first coins? The one rule by which every answer says so.
// It is the payer of the value, whoever signed, by a history that was read from its first block:
// one that is cut could have anything before what it shows.

import { isSystemAddress } from '../../chain/address.ts';
import { map, Part, type Partly, unread } from '../../evidence/reading.ts';
import type { HistoryTransfer, TransferHistoryPort } from '../../ports/history/transfer-history.ts';
import type { AddressHistory } from './address-history.ts';

type History = Partly<AddressHistory, TransferHistoryPort>;

/**
 * A history that says what came first: one that is cut could have anything before what it shows,
 * so it is unread here. Made-up history is shown as the made-up whole that it is.
 */
export function sinceFirst(history: History): History {
  if (!(history instanceof Part) || history.why.code === 'simulated') return history;
  return unread('transfer_history', history.why);
}

/**
 * The first transfer that paid coins to the address: its `from` is the first funder. `null` where
 * nothing came, or something is missing of the history.
 */
export function firstFundingTransfer({
  address,
  transfers,
  gaps,
}: AddressHistory): HistoryTransfer | null {
  if (gaps.length > 0) return null;
  const paid = transfers.filter(
    ({ kind, from, to, raw_amount, success }) =>
      kind !== 'token' &&
      to === address &&
      raw_amount > 0n &&
      success !== false &&
      !isSystemAddress(from),
  );
  const last = paid.at(-1);
  return last === undefined ? null : last;
}

/** The reading of that transfer. */
export function fundingOf(history: History): Partly<HistoryTransfer | null, TransferHistoryPort> {
  return map(sinceFirst(history), firstFundingTransfer);
}
