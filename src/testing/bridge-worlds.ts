// For each fact of the trace what holds that fact alone.

import type { ArrivalLog, DepositStatus, Payment, ReceiptFacts } from '../ports/bridges.ts';
import type { HistoryTransfer } from '../ports/history.ts';
import { BOB, PAIRS, TOKEN } from './bridge-pairs.ts';
import { STILL_NOW } from './clock.ts';
import { inOrder, logOf, movedLog } from './event-logs.ts';
import { BRIDGE, FAR_BRIDGE, FAR_PAYER, MESSENGER, PAYER, PROVIDERS } from './twins/bridges.ts';

type Change = Partial<HistoryTransfer>;

/** The subjects of the worlds, and the makers of their transfers. */
type BridgeCast = {
  readonly subject: string;
  readonly near: string;
  readonly poison: Change;
  readonly spam: Change;
  readonly transferOf: (from: string, to: string, change?: Change) => HistoryTransfer;
};

/** A world: what is planted, and which claims of the trace that contradicts. */
type BridgeWorld = {
  readonly name: string;
  readonly said: readonly string[];
  readonly transfers: readonly HistoryTransfer[];
  readonly receipts?: readonly ReceiptFacts[];
  /** The logs on the other chain. */
  readonly arrivals?: readonly ArrivalLog[];
  /** The payments on the other chain, which then has no node. */
  readonly paid?: readonly (Payment & { readonly to: string })[];
  /** The answer of a status page, by the sending transaction. */
  readonly pages?: ReadonlyMap<string, DepositStatus>;
  /** The list item that contradicts a claim. */
  readonly item?: string;
};

const TOTALS = ['out_usd', 'in_usd', 'transfers', 'transactions'].map((one) => `totals.${one}`);

/** A log of the bridge of no layout that is known. */
const STRANGE_LOG = { address: BRIDGE, topics: [`0x${'5'.repeat(64)}`], data: '0x', index: 0 };

/** The receipt of a transfer to the bridge. */
function receiptOf(
  { tx, block, from, to }: HistoryTransfer,
  logs: ReceiptFacts['logs'],
): ReceiptFacts {
  const facts = { chain: 'ethereum', tx, block, from, to } as const;
  return { ...facts, value: 0n, input: null, success: true, logs };
}

const AMOUNT = 70_000_000n;

/** A deposit of a token, its receipt, and its fill on the other chain. */
function depositOf(
  { subject, transferOf }: BridgeCast,
  { what = 'Across', here = BRIDGE, there = FAR_BRIDGE } = {},
) {
  const pair = PAIRS.find((one) => one.what === what);
  if (pair === undefined) throw new Error('no pair');
  const deadline = STILL_NOW + DAY_S;
  const terms = { recipient: BOB, amount: AMOUNT - 1n, origin: 1, id: 9, deadline };
  const token = { kind: 'token', token: TOKEN, symbol: 'USDC', decimals: 6 } as const;
  const sent = transferOf(subject, here, { ...token, raw_amount: AMOUNT, has_market: true });
  const logs = inOrder(movedLog(TOKEN, subject, here, AMOUNT), logOf(here, ...pair.sent(terms)));
  const log = logOf(there, ...pair.arrived(terms, sent.tx, here));
  return { sent, receipt: receiptOf(sent, logs), fill: { tx: FAR_TX, block: 5, log } };
}

const DAY_S = 86_400;
const PAGE_SAYS: DepositStatus = {
  page: 'across_status',
  state: 'paid',
  tx: `0x${'e'.repeat(64)}`,
  word: 'filled',
};
const FAR_TX = `0x${'f'.repeat(64)}`;

/** Worlds in which a node is missing, and what the warehouse holds of the other chain tells. */
function heldWorlds(cast: BridgeCast): readonly BridgeWorld[] {
  const at = { what: 'cBridge', here: PAYER, there: FAR_PAYER };
  const { sent, receipt, fill } = depositOf(cast, at);
  const paid = { tx: FAR_TX, block: fill.block, at: sent.at, from: FAR_PAYER, to: BOB };
  const read = { ...receiptOf({ ...sent, ...paid }, [fill.log]), chain: 'base' as const };
  const said = ['bridges', 'contacts', 'deposits[].destination.state'];
  return [
    {
      name: 'sent something through a pool, and the payment of it is held',
      said,
      transfers: [sent],
      receipts: [receipt, read],
      paid: [{ ...paid, token: TOKEN, amount: AMOUNT - 2n }],
      item: sent.tx,
    },
    {
      name: 'sent something through a pool, and a payment is held without its receipt',
      said,
      transfers: [sent],
      receipts: [receipt],
      paid: [{ ...paid, token: TOKEN, amount: AMOUNT - 2n }],
      item: sent.tx,
    },
    {
      name: 'sent something through a pool, and nobody was paid',
      said: ['bridges', 'contacts', 'contacts_count'],
      transfers: [sent],
      receipts: [receipt],
      paid: [],
    },
  ];
}

/** Worlds in which the subject sent something to another chain. */
function sentWorlds(cast: BridgeCast): readonly BridgeWorld[] {
  const { sent: deposit, receipt, fill } = depositOf(cast);
  return [
    {
      name: 'sent something through a bridge, and it arrived',
      said: ['bridges', 'contacts', 'deposits[].destination.state'],
      transfers: [deposit],
      receipts: [receipt],
      arrivals: [fill],
      item: deposit.tx,
    },
    {
      name: 'sent something through a bridge, whose page says that it arrived',
      said: ['bridges', 'contacts', 'deposits[].destination.state'],
      transfers: [deposit],
      receipts: [receipt],
      pages: new Map([[deposit.tx, PAGE_SAYS]]),
      item: deposit.tx,
    },
    {
      name: 'sent something through a bridge that is on its way',
      said: ['bridges', 'contacts', 'contacts_count'],
      transfers: [deposit],
      receipts: [receipt],
    },
  ];
}

/** Worlds in which the subject deals with bridges, or seems to. */
export function bridgeWorlds(cast: BridgeCast): readonly BridgeWorld[] {
  const { subject, near, poison, spam, transferOf } = cast;
  const paid = transferOf(subject, BRIDGE);
  const sent = transferOf(subject, near);
  const unpriced = { ...spam, initiator: subject, has_market: null };
  return [
    {
      name: 'paid a bridge, and was paid by it',
      said: [
        ...['bridges', 'protocols_seen', 'contacts', 'contacts_count', 'total_usd', 'rows_scanned'],
        ...[...TOTALS, 'receipts.complete'],
      ],
      transfers: [transferOf(BRIDGE, subject, { initiator: subject }), paid],
    },
    {
      name: 'paid a bridge, whose receipt was read',
      said: ['bridges', 'protocols_seen', 'contacts', 'contacts_count'],
      transfers: [paid],
      receipts: [receiptOf(paid, [])],
    },
    ...sentWorlds(cast),
    ...heldWorlds(cast),
    {
      name: 'paid a bridge in a token without a price',
      said: ['unpriced_transfers'],
      transfers: [transferOf(subject, BRIDGE, unpriced)],
    },
    {
      name: 'paid for a message',
      said: ['bridges', 'messaging_only'],
      transfers: [transferOf(subject, MESSENGER)],
    },
    {
      name: 'paid a pool of providers',
      said: ['liquidity_actions'],
      transfers: [transferOf(subject, PROVIDERS)],
    },
    {
      name: 'poisoned in a bridge’s name',
      said: ['transfers_left_out.zero_value'],
      transfers: [transferOf(BRIDGE, subject, poison), sent],
      receipts: [receiptOf(sent, [])],
    },
    {
      name: 'sent spam in a bridge’s name',
      said: ['transfers_left_out.no_market_token'],
      transfers: [transferOf(BRIDGE, subject, spam), sent],
      receipts: [receiptOf(sent, [])],
    },
    {
      name: 'paid a bridge that logged something unknown',
      said: ['receipts.unknown_events'],
      transfers: [paid],
      receipts: [receiptOf(paid, [STRANGE_LOG])],
    },
  ];
}
