// Sums the transfers between an address and labelled exchange wallets, exactly and by exchange.
// Transfers that the edge rule leaves out (poisoning and spam) make no activity and are counted
// apart.

import { addDecimals } from '../../chain/amount.ts';
import type { TransferDirection } from '../../chain/transfer.ts';
import { collect, tally } from '../../evidence/measure.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import type { ExchangeLabel } from '../../ports/tables.ts';
import { compareText, type LeftOutRule, sift } from '../history/edge-rule.ts';
import { exchangeKey } from '../tables/labels.ts';

/** Transfers to and from one exchange. Times are Unix seconds. */
export type ExchangeContact = {
  /** The exchange as the label that most of the transfers met spells it. */
  readonly entity: string;
  /** Newest first; at least one. */
  readonly transfers: readonly ContactTransfer[];
  readonly transfers_in: number;
  readonly transfers_out: number;
  /** Decimal text; `null` where transfers were seen and none of them has a price. */
  readonly usd_in: string | null;
  readonly usd_out: string | null;
  readonly unpriced_transfers: number;
  readonly first_seen: number;
  readonly last_seen: number;
};

/** A transfer with an exchange's wallet, as seen from the subject. */
export type ContactTransfer = {
  readonly transfer: HistoryTransfer;
  readonly direction: TransferDirection;
  readonly wallet: ExchangeLabel;
};

/** The activity of one address with all exchanges. */
export type ExchangeActivity = {
  /** The exchange with the most transfers first. */
  readonly contacts: readonly ExchangeContact[];
  /** Transfers with exchange wallets that the edge rule leaves out. */
  readonly leftOut: Readonly<Record<LeftOutRule, number>>;
};

/** The transfers of an address that are no poisoning, no spam and did not fail. */
export function keptTransfers(
  subject: string,
  transfers: readonly HistoryTransfer[],
): {
  readonly kept: readonly HistoryTransfer[];
  readonly left: ReturnType<typeof sift>['leftOut'];
} {
  const { leftOut } = sift([subject], transfers);
  const dropped = new Set(leftOut.map(({ transfer }) => transfer));
  const kept = transfers.filter((one) => one.success !== false && !dropped.has(one));
  return { kept, left: leftOut };
}

/** The transfers between an address and exchanges, by exchange. */
export function exchangeActivity(
  subject: string,
  transfers: readonly HistoryTransfer[],
  labelOf: (address: string) => ExchangeLabel | null,
): ExchangeActivity {
  const { kept, left } = keptTransfers(subject, transfers);
  const met = new Map<string, ContactTransfer[]>();
  for (const transfer of kept) {
    const direction = transfer.from === subject ? 'out' : 'in';
    const wallet = labelOf(direction === 'out' ? transfer.to : transfer.from);
    if (wallet !== null) collect(met, exchangeKey(wallet.entity), { transfer, direction, wallet });
  }
  const leftOut = { zero_value: 0, no_market_token: 0 };
  for (const { transfer, why } of left) {
    const other = transfer.from === subject ? transfer.to : transfer.from;
    if (labelOf(other) !== null) leftOut[why] += 1;
  }
  const contacts = [...met.values()]
    .map(contactOf)
    .sort((a, b) => b.transfers.length - a.transfers.length || compareText(a.entity, b.entity));
  return { contacts, leftOut };
}

function contactOf(transfers: readonly ContactTransfer[]): ExchangeContact {
  const incoming = transfers.filter(({ direction }) => direction === 'in');
  const outgoing = transfers.filter(({ direction }) => direction === 'out');
  const times = transfers.map(({ transfer }) => transfer.at);
  const spellings = new Map<string, number>();
  for (const { wallet } of transfers) tally(spellings, wallet.entity);
  const [most] = [...spellings].sort((a, b) => b[1] - a[1] || compareText(a[0], b[0]));
  if (most === undefined) throw new Error('exchanges: a contact without a transfer');
  return {
    entity: most[0],
    transfers,
    transfers_in: incoming.length,
    transfers_out: outgoing.length,
    usd_in: usdOf(incoming),
    usd_out: usdOf(outgoing),
    unpriced_transfers: transfers.filter(({ transfer }) => transfer.usd === null).length,
    first_seen: times.reduce((a, b) => Math.min(a, b)),
    last_seen: times.reduce((a, b) => Math.max(a, b)),
  };
}

/** The sum over the priced transfers; no transfer at all sums to zero, none priced to nothing. */
function usdOf(transfers: readonly ContactTransfer[]): string | null {
  const priced = transfers.flatMap(({ transfer }) => (transfer.usd === null ? [] : [transfer.usd]));
  if (priced.length === 0 && transfers.length > 0) return null;
  return priced.reduce(addDecimals, '0');
}
