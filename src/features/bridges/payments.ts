// Is something that was sent among the payments that the warehouse holds of its recipient?
// A transfer names no deposit: receipts of what was paid do, and are joined as logs are. Without
// them one payment is taken for it only where a contract of the protocol paid exactly its terms.
// That nothing arrived is said only where everything that its recipient was paid was looked at.

import { parseEvmAddress } from '../../chain/address.ts';
import { all, both, decided, map, type Partly, Read, seen } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  BridgeArrivals,
  BridgeArrivalsPort,
  PaidTo,
  Payment,
} from '../../ports/bridges/bridge-arrivals.ts';
import {
  BRIDGE_CHAINS,
  type BridgeChain,
  type BridgeProtocol,
  type RegistryRow,
} from '../../ports/bridges/bridge-registry.ts';
import type { TransactionReceipts } from '../../ports/bridges/transaction-receipts.ts';
import {
  type Destination,
  isOtherSide,
  notTold,
  type Outcome,
  openOrOver,
  ruleOf,
  type Sent,
  windowOf,
} from './other-side.ts';
import { whyUndeniable } from './payers.ts';
import { type DecodedEvent, type DecodedReceipt, decodeReceipt } from './protocols/decode.ts';
import { isWrapped } from './protocols/movements.ts';
import { movesAssets, type RegistryIndex, registryIndex } from './registry.ts';

/** The ports that tell of the other side. */
export type ArrivalPorts = {
  readonly bridgeArrivals: BridgeArrivals;
  readonly transactionReceipts: TransactionReceipts;
};

/** How many receipts are read for one deposit: of what fits its terms first. */
const RECEIPTS_READ_MAX = 12;

/** Protocols that pay another than their deposit names, where its sender signs for that. */
const PAYEE_MAY_CHANGE: readonly BridgeProtocol[] = ['across'];

/** What is asked about, where it may be paid, and what can be known of it. */
type Looked = {
  readonly sent: Sent;
  readonly chain: BridgeChain;
  readonly rows: readonly RegistryRow[];
  readonly index: RegistryIndex;
  readonly reading: Partly<PaidTo, BridgeArrivalsPort>;
};

type ReceiptReadings = Awaited<ReturnType<TransactionReceipts['lookUp']>>;

/** The other side of what the logs left open, as the payments to its recipient tell it. */
export async function byPayments(
  { bridgeArrivals, transactionReceipts }: ArrivalPorts,
  rows: readonly RegistryRow[],
  sent: Sent,
  unlogged: Destination,
  signal: AbortSignal,
): Promise<Destination> {
  const { event } = sent;
  const chain = BRIDGE_CHAINS.find((one) => one === event.destination);
  const recipient = parseEvmAddress(String(payeeOf(event)));
  if (chain === undefined || recipient === null) return unlogged;
  const window = windowOf(sent);
  const reading = await bridgeArrivals.paidTo({ chain, recipient, ...window }, signal);
  const looked = { sent, chain, rows, reading, index: registryIndex(rows) };
  const beside = (said: Destination | Why): Destination => {
    if (!('code' in said)) return { ...said, reasons: [...unlogged.reasons, ...said.reasons] };
    const isTold = unlogged.reasons.some(({ reason }) => reason === said.reason);
    return isTold ? unlogged : notTold(chain, ...unlogged.reasons, said);
  };
  const paid = seen(map(reading, ({ payments }) => payments));
  if (paid === null) return beside(withoutPayment(looked));
  const hashes = transactionsOf(paid, looked);
  const rule = ruleOf(event);
  const readings: ReceiptReadings =
    rule === null
      ? new Map()
      : await transactionReceipts.lookUp(chain, hashes.slice(0, RECEIPTS_READ_MAX), signal);
  const decoded = new Map<string, DecodedReceipt>();
  for (const [tx, receipt] of readings) {
    if (!(receipt instanceof Read)) continue;
    const told = map(receipt, (facts) => decodeReceipt(facts, looked.index));
    decoded.set(tx, told.value);
    const met = decided(both({ reading, told }), (one) => isPaidIn(one.told, event));
    if (!(met instanceof Read) || !isPaidIn(told.value, event)) continue;
    const state = map(met, (): Outcome => 'matched');
    return beside({ chain, tx, state, matched_by: rule, reasons: [] });
  }
  const open = hashes.filter((tx) => !decoded.has(tx));
  if (open.length > 0) return beside(byTerms(looked, paid, open));
  return beside(allRead(looked, readings, decoded));
}

/** Whether a receipt holds the other side of what was sent. */
function isPaidIn({ events }: DecodedReceipt, sent: DecodedEvent): boolean {
  const rule = ruleOf(sent);
  return rule !== null && events.some((one) => isOtherSide(sent, one, rule));
}

/** Whom it pays; where its event does not name them, its sender: that may be the same person. */
function payeeOf({ promised, user }: DecodedEvent): string | null {
  return promised === null || promised.recipient === null ? user : promised.recipient;
}

/** What was paid, by transaction: what fits the terms first, then what the protocol paid. */
function transactionsOf(paid: readonly Payment[], looked: Looked): string[] {
  const rank = (one: Payment) => {
    if (fits(one, looked)) return 0;
    return isOfProtocol(one, looked) ? 1 : 2;
  };
  const ordered = paid.toSorted((a, b) => rank(a) - rank(b) || a.at - b.at);
  return [...new Set(ordered.map(({ tx }) => tx))];
}

/** Whether a payment has asset and amount of what was promised, and came in its time. */
function fits({ token, amount, at }: Payment, { sent, chain }: Looked): boolean {
  const { promised } = sent.event;
  return (
    promised !== null &&
    promised.recipient !== null &&
    promised.amount === amount &&
    promised.asset !== null &&
    // A wallet is paid the coin itself where its wrapped form was promised.
    (token === null ? isWrapped(chain, promised.asset) : token === promised.asset) &&
    promised.deadline !== null &&
    at <= promised.deadline
  );
}

function isOfProtocol({ from, block }: Payment, { sent, chain, index }: Looked): boolean {
  const rows = index.at(chain, from, block);
  return rows.some((row) => row.protocol === sent.event.protocol && movesAssets(row));
}

/** What transfers alone tell, where receipts of these transactions were not read. */
function byTerms(looked: Looked, paid: readonly Payment[], open: readonly string[]) {
  const { sent, chain, reading } = looked;
  const fitting = paid.filter((one) => open.includes(one.tx) && fits(one, looked));
  const [fit] = fitting;
  const transactions = String(
    new Set((fit === undefined ? open : fitting.map(txOf)).values()).size,
  );
  if (fit === undefined) return why('payments_unread', { transactions, chain });
  // A relayer's own wallet pays most fills: such a payment is anybody's who pays as much.
  const isOnly = fitting.length === 1 && isOfProtocol(fit, looked);
  if (!isOnly || !(reading instanceof Read)) {
    return why('payments_fit', { transactions, chain, tx: fit.tx });
  }
  const state = map(reading, (): Outcome => 'matched');
  const reasons = [why('paid_by_terms', { protocol: sent.event.protocol })];
  return { chain, tx: fit.tx, state, matched_by: 'transfer_rules' as const, reasons };
}

function txOf({ tx }: Payment): string {
  return tx;
}

/** Why payments to a recipient do not tell that nothing arrived, whatever they are. */
function whyOpen({ sent, chain, reading }: Looked): Why | null {
  if (!(reading instanceof Read)) return reading.why;
  const { event } = sent;
  const { protocol, promised } = event;
  if (promised === null || promised.recipient === null) {
    return why('payee_not_named', { event: event.event, chain });
  }
  return PAYEE_MAY_CHANGE.includes(protocol) ? why('payee_may_change', { protocol }) : null;
}

/** Where the recipient was paid nothing at all, whoever might have paid it. */
function withoutPayment(looked: Looked): Destination | Why {
  const { sent, chain, reading } = looked;
  const open = whyOpen(looked);
  if (open !== null) return open;
  if (!(reading instanceof Read)) return reading.why;
  const { until } = windowOf(sent);
  const state = map(reading, ({ head_time }) => openOrOver(head_time, until));
  return { chain, tx: null, state, matched_by: null, reasons: [] };
}

/** Where the receipt of everything that the recipient was paid was read, and none is of it. */
function allRead(
  looked: Looked,
  readings: ReceiptReadings,
  decoded: ReadonlyMap<string, DecodedReceipt>,
): Destination | Why {
  const { sent, chain, rows, reading } = looked;
  const { event, at } = sent;
  const there = rows.filter((row) => row.chain === chain && row.protocol === event.protocol);
  const open = whyOpen(looked) ?? whyUndeniable(event, at, there.filter(movesAssets));
  if (open !== null) return open;
  const strange = [...decoded.values()].flatMap(({ unknown, off_registry }) => {
    return [...unknown, ...off_registry].filter(({ protocol }) => protocol === event.protocol);
  })[0];
  if (strange !== undefined) return why('bridge_event_unknown', { contract: strange.contract });
  const whole = both({ reading, receipts: all([...readings.values()]) });
  if (!(whole instanceof Read)) return whole.why;
  const { until } = windowOf(sent);
  const state = map(whole, (one) => openOrOver(one.reading.head_time, until));
  return { chain, tx: null, state, matched_by: null, reasons: [] };
}
