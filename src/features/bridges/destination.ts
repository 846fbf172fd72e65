// Finds the other side of what an address sent through a bridge: by the other chain's logs, by the
// payments that the warehouse holds of its recipient, or by the word of the protocol's status page.
// That nothing arrived is said only after the other chain was read to the end of the time in which
// it could have; until then it is on its way. A status page's word is named as its own.

import { parseEvmAddress } from '../../chain/address.ts';
import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { all, both, decide, map, type Partly, Read, rowsSeen } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME } from '../../evidence/waiting.ts';
import {
  type ArrivalLog,
  BRIDGE_CHAINS,
  type BridgeArrivals,
  type BridgeArrivalsPort,
  type BridgeChain,
  type BridgeProtocol,
  type Payment,
  type PaymentsFound,
  type RegistryRow,
  type StatusQuery,
  type TransactionReceipts,
} from '../../ports/bridges.ts';
import { carrierOf, isCarried } from './protocols/circle.ts';
import {
  type DecodedEvent,
  type DecodedReceipt,
  decodeReceipt,
  EVENT_LAYOUTS,
} from './protocols/decode.ts';
import { ZERO_ADDRESS } from './protocols/layout.ts';
import { isWrapped } from './protocols/wallets.ts';
import { movesAssets, type RegistryIndex, registryIndex } from './registry.ts';
import type { Arrival } from './shapes.ts';
import type { Contact, Contacts } from './trace.ts';

/** The ports that tell of the other side. */
export type ArrivalPorts = {
  readonly bridgeArrivals: BridgeArrivals;
  readonly transactionReceipts: TransactionReceipts;
};

type Sent = {
  readonly event: DecodedEvent;
  readonly chain: BridgeChain;
  readonly tx: string;
  /** Unix seconds. */
  readonly at: number;
};

type Outcome = Exclude<Arrival['state'], 'messaging_only' | null>;

/** The other side of something that was sent, with the reading that its state rests on. */
export type Destination = Readonly<Pick<Arrival, 'chain' | 'tx' | 'matched_by'>> & {
  /** `null` where nothing can be said. */
  readonly state: Read<Outcome, BridgeArrivalsPort> | 'messaging_only' | null;
  /** Why nothing can be said, and what else is said of it. */
  readonly reasons: readonly Why[];
};

function unknownDestination(chain: string | null, ...reasons: readonly Why[]): Destination {
  return { chain, tx: null, state: null, matched_by: null, reasons };
}

function matchedDestination(
  chain: string | null,
  tx: string | null,
  by: Read<unknown, BridgeArrivalsPort>,
  matched_by: Arrival['matched_by'],
  ...reasons: readonly Why[]
): Destination {
  return { chain, tx, state: map(by, () => 'matched'), matched_by, reasons };
}

function unpaidDestination(
  chain: string,
  head: Read<{ readonly head_time: number }, BridgeArrivalsPort>,
  until: number,
): Destination {
  // A chain whose newest block is older than the end of the time may still pay it.
  const state = map(head, ({ head_time }) => (head_time <= until ? 'in_flight' : 'unmatched'));
  return { chain, tx: null, state, matched_by: null, reasons: [] };
}

/** The destination of a message: whether it moved anything is its application's doing. */
function messageDestination(chain: string | null): Destination {
  return { chain, tx: null, state: 'messaging_only', matched_by: null, reasons: [] };
}

/** A protocol without a deadline of its own is waited for this long. */
const WAIT_S = 7 * 24 * 3_600;
/** Clocks of chains differ: a fill may bear an earlier time than its deposit. */
const CLOCKS_APART_S = 600;

/** Protocols whose own word tells until when a deposit may be filled. */
const WITH_DEADLINE: readonly BridgeProtocol[] = ['across'];

/** The moments between which it may arrive, in Unix seconds. */
function windowOf({ event, at }: Pick<Sent, 'event' | 'at'>) {
  const { protocol, promised } = event;
  const own = promised === null || !WITH_DEADLINE.includes(protocol) ? null : promised.deadline;
  return { since: at - CLOCKS_APART_S, until: own === null ? at + WAIT_S : own };
}

/** Matches ids that one side alone writes: NTT's of a deposit. */
const OF_ONE_SIDE = /^ntt:/;
/** The contract that sends as the token bridge does, and logs nothing of what it pays. */
const NFT_BRIDGE = 'NFT Bridge';

type JoinRule = 'message_id' | 'fill_rules';

/** The rule that may join an event with its other side; `null` if the event holds too little. */
function ruleOf(sent: DecodedEvent): JoinRule | null {
  const { promised, event, message_id, name } = sent;
  if (message_id !== null && !OF_ONE_SIDE.test(message_id) && name !== NFT_BRIDGE) {
    return 'message_id';
  }
  const isWhole = promised !== null && promised.recipient !== null && promised.amount !== null;
  return isWhole && BY_RULES.includes(event) ? 'fill_rules' : null;
}

/** Events without an id whose terms the other side's event repeats, one by one. */
const BY_RULES: readonly string[] = ['TransferSentToL2'];

/** Whether an arrival is what was sent: on its path, by its id or its terms, and on those terms. */
function isOtherSide(sent: DecodedEvent, arrival: DecodedEvent, rule: JoinRule): boolean {
  if (arrival.kind !== 'bridge' || arrival.direction !== 'in') return false;
  if (arrival.protocol !== sent.protocol || arrival.destination !== sent.destination) return false;
  if (arrival.origin !== null && arrival.origin !== sent.origin) return false;
  if (rule === 'message_id' && arrival.message_id !== sent.message_id) return false;
  if (rule === 'fill_rules' && arrival.message_id !== null) return false;
  return keepsTerms(sent, arrival);
}

function keepsTerms({ promised }: DecodedEvent, { logged, promised: repeated }: DecodedEvent) {
  if (promised === null) return true;
  const { user: recipient, amount } = logged;
  const kept = repeated === null ? { recipient, amount, deadline: null } : repeated;
  return (
    agree(promised.recipient, kept.recipient) &&
    agree(promised.amount, kept.amount) &&
    agree(promised.deadline, kept.deadline)
  );
}

function agree<T>(a: T | null, b: T | null): boolean {
  return a === null || b === null || a === b;
}

/**
 * Since when every token bridge of Wormhole logs redemptions, in Unix seconds. The event came with
 * wormhole-foundation/wormhole#3173 (August 2023) and was on all five chains before 2024.
 */
const REDEMPTIONS_LOGGED_SINCE = Date.UTC(2024, 0, 1) / 1_000;

/** Both versions of Celer's vaults and pegged tokens pay each other. */
const CELER_PEGGED = [
  ...['OriginalTokenVault', 'OriginalTokenVaultV2'],
  ...['PeggedTokenBridge', 'PeggedTokenBridgeV2'],
];

/** The registry's names of the contracts that may pay what a contract sent. */
function payersOf({ protocol, name, destination }: DecodedEvent): readonly string[] {
  if (protocol === 'celer' && CELER_PEGGED.includes(name)) return CELER_PEGGED;
  const layer = destination === 'ethereum' ? 'L1 Bridge' : 'L2 Bridge';
  return [protocol === 'hop' ? name.replace(/^L[12] Bridge/, layer) : name];
}

/** Why it may not be denied that something arrived, though all that is listed was read. */
function whyUndeniable(event: DecodedEvent, at: number, there: readonly RegistryRow[]): Why | null {
  const { protocol, destination, message_id } = event;
  // Circle's one contract of a chain brings all that it carries there, and logs each.
  if (message_id !== null && isCarried(message_id)) return null;
  if (protocol === 'wormhole' && at < REDEMPTIONS_LOGGED_SINCE) {
    return why('destination_not_joined', { event: event.event });
  }
  const missing = payersOf(event).find((payer) => !there.some(({ name }) => name === payer));
  if (missing === undefined) return null;
  return why('payer_not_listed', {
    contract: `${protocol} ${missing}`,
    chain: String(destination),
  });
}

/** Something that the address sent; `event` is `null` where none of its receipt tells of it. */
export type Deposit = {
  readonly contact: Contact;
  readonly event: DecodedEvent | null;
  readonly destination: Destination;
};

/** How many deposits one answer looks for on the other side: the newest. */
const DESTINATIONS_MAX = 10;

type SentItem = Omit<Deposit, 'destination'>;

/** The newest deposits of a trace, at most `most`, each with its other side. */
export async function findDeposits(
  ports: ArrivalPorts,
  { bridging, messaging }: Contacts,
  rows: readonly RegistryRow[],
  most: number,
  signal: AbortSignal,
): Promise<Deposit[]> {
  const items = [...itemsSent(bridging), ...itemsSent(messaging)];
  const withEvent = new Set(
    items.filter(({ event }) => event !== null).map(({ contact }) => contact.transfer.tx),
  );
  const sent = items
    // Other payments in a transaction with an event are the fee of a message.
    .filter(({ contact, event }) => event !== null || !withEvent.has(contact.transfer.tx))
    .sort((a, b) => b.contact.transfer.at - a.contact.transfer.at)
    .slice(0, most);
  const capped = why('destinations_capped', { limit: String(DESTINATIONS_MAX) });
  let searched = 0;
  return Promise.all(
    sent.map(async ({ contact, event }): Promise<Deposit> => {
      if (event !== null) searched += 1;
      const destination =
        event !== null && searched > DESTINATIONS_MAX
          ? unknownDestination(event.destination, capped)
          : await findInTime(ports, rows, { contact, event }, signal);
      return { contact, event, destination };
    }),
  );
}

/** Each event that sent something, once; and each transfer of which no event is known to tell. */
function itemsSent(contacts: readonly Contact[]): SentItem[] {
  const met = new Set<string>();
  const out = contacts.filter(({ direction }) => direction === 'out');
  return out.flatMap((contact): SentItem[] => {
    const events = contact.events?.filter(({ kind }) => kind === 'bridge');
    if (events === undefined || events.length === 0) return [{ contact, event: null }];
    return events.flatMap((event) => {
      const key = `${contact.transfer.tx} ${event.log_index}`;
      if (met.has(key)) return [];
      met.add(key);
      return [{ contact, event }];
    });
  });
}

async function findInTime(
  ports: ArrivalPorts,
  rows: readonly RegistryRow[],
  { contact, event }: SentItem,
  signal: AbortSignal,
): Promise<Destination> {
  const { row, events, transfer } = contact;
  if (row.role === 'messaging') return messageDestination(null);
  if (events === null) return unknownDestination(null, why('deposit_receipt_unread'));
  if (event === null) return unknownDestination(null, why('deposit_not_told'));
  const { tx, at } = transfer;
  const sent = { event, chain: row.chain, tx, at };
  const found = await inTime(() => findDestination(ports, rows, sent, signal), signal);
  if (found !== OUT_OF_TIME) return found;
  return unknownDestination(event.destination, why('arrivals_out_of_time'));
}

/** Finds where an event arrived whose block is known and whose time the chain's node tells. */
export async function findArrival(
  ports: ArrivalPorts,
  rows: readonly RegistryRow[],
  { block, ...sent }: SentUntimed & { readonly block: number },
  signal: AbortSignal,
): Promise<Arrival> {
  const { event, chain } = sent;
  if (event.kind === 'message') return arrivalFrom(messageDestination(event.destination));
  const time = await ports.bridgeArrivals.timeOf(chain, block, signal);
  if (time instanceof Read) {
    return arrivalFrom(await findDestination(ports, rows, { ...sent, at: time.value }, signal));
  }
  // Logs are looked for from a moment on; a page knows a deposit by its id alone.
  const untimed = unknownDestination(event.destination, time.why);
  return arrivalFrom(await askStatusPage(ports.bridgeArrivals, sent, untimed, signal));
}

function arrivalFrom({ state, reasons, ...rest }: Destination): Arrival {
  const word = state instanceof Read ? state.value : state;
  return { ...rest, state: word, reason: joinReasons(reasons) };
}

/** Reasons as one text; `null` for none. */
export function joinReasons(reasons: readonly Why[]): string | null {
  return reasons.length === 0 ? null : reasons.map(({ reason }) => reason).join(' ');
}

/**
 * Finds the other side of what was sent: in the chain's logs, where these tell nothing among the
 * payments that the warehouse holds, then on the status page.
 */
export async function findDestination(
  ports: ArrivalPorts,
  rows: readonly RegistryRow[],
  sent: Sent,
  signal: AbortSignal,
): Promise<Destination> {
  if (sent.event.kind === 'message') return messageDestination(sent.event.destination);
  let found = await matchByLogs(ports.bridgeArrivals, rows, sent, signal);
  if (found.state === null) found = await matchByPayments(ports, rows, sent, found, signal);
  return askStatusPage(ports.bridgeArrivals, sent, found, signal);
}

type SentUntimed = Omit<Sent, 'at'>;

async function askStatusPage(
  arrivals: BridgeArrivals,
  sent: SentUntimed,
  logged: Destination,
  signal: AbortSignal,
): Promise<Destination> {
  if (logged.tx !== null || arrivals.pageOf(sent.event.protocol) === null) return logged;
  // The word of a status page beside what the logs tell: it convicts, and never denies for good.
  // Where it is set and silent, it might have told of an arrival that no listed contract logged.
  const status = await arrivals.statusOf(statusQuery(sent), signal);
  const { chain, state, reasons } = logged;
  if (!(status instanceof Read)) return unknownDestination(chain, ...reasons, status.why);
  const { page, state: onPage, tx, word } = status.value;
  const inLogs = state instanceof Read ? state.value : null;
  if (onPage === 'paid') return matchedDestination(chain, tx, status, page, ...reasons);
  if (onPage === 'under_way') {
    if (inLogs === 'in_flight') return logged;
    const open = map(status, (): Outcome => 'in_flight');
    return { chain, tx: null, state: open, matched_by: page, reasons };
  }
  const says = why('status_page_says', { page, word });
  // A stopped transfer is not in flight, and a denial by the logs stands.
  if (onPage === 'stopped' && inLogs === 'in_flight') return unknownDestination(chain, says);
  return { ...logged, reasons: [...reasons, says] };
}

function statusQuery({ event, chain, tx }: SentUntimed): StatusQuery {
  const { protocol, message_id, promised, destination } = event;
  const isWhole = promised !== null && promised.recipient !== null && promised.amount !== null;
  const terms = isWhole
    ? { recipient: String(promised.recipient), amount: String(promised.amount) }
    : null;
  return { protocol, chain, tx, message_id, destination_id: chainIdOf(destination), terms };
}

const EIP155 = /^eip155:(\d+)$/;

function chainIdOf(chain: string | null): number | null {
  const own = BRIDGE_CHAINS.find((one) => one === chain);
  if (own !== undefined) return CHAINS[own].chain_id;
  const id = EIP155.exec(String(chain))?.[1];
  return id === undefined ? null : Number(id);
}

async function matchByLogs(
  arrivals: BridgeArrivals,
  rows: readonly RegistryRow[],
  { event, at }: Sent,
  signal: AbortSignal,
): Promise<Destination> {
  const { protocol, destination } = event;
  const chain = BRIDGE_CHAINS.find((one) => one === destination);
  if (chain === undefined) {
    const named = destination === null ? 'a chain that it does not name' : destination;
    return unknownDestination(destination, why('destination_not_covered', { chain: named }));
  }
  const rule = ruleOf(event);
  const carrier = carrierOf(event.message_id, chain);
  if (rule === null || carrier === 'none there') {
    return unknownDestination(chain, why('destination_not_joined', { event: event.event }));
  }
  const listed = rows.filter(
    (row) => row.chain === chain && row.protocol === protocol && movesAssets(row),
  );
  const { contracts, topics } = carrier ?? {
    contracts: [...new Set(listed.map(({ address }) => address))],
    topics: topicsOf(protocol),
  };
  if (contracts.length === 0) {
    const missing = why('registry_row_missing', { chain: `${protocol} on ${chain}` });
    return unknownDestination(chain, missing);
  }
  const { since, until } = windowOf({ event, at });
  const index = registryIndex(rows);
  const isOther = (log: ArrivalLog) =>
    eventsOf(chain, log, index).some((arrival) => isOtherSide(event, arrival, rule));
  const query = { chain, contracts, topics, since, until, wanted: isOther };
  const reading = decide(await arrivals.lookUp(query, signal), ({ found }) => found.length > 0);
  if (!(reading instanceof Read)) return unknownDestination(chain, reading.why);
  const [paid] = reading.value.found;
  if (paid !== undefined) return matchedDestination(chain, paid.tx, reading, rule);
  const undeniable = whyUndeniable(event, at, listed);
  if (undeniable !== null) return unknownDestination(chain, undeniable);
  return unpaidDestination(chain, reading, until);
}

function topicsOf(protocol: BridgeProtocol): string[] {
  const own = EVENT_LAYOUTS.filter((one) => one.protocol === protocol && one.kind === 'bridge');
  return [...new Set(own.map(({ topic }) => topic))];
}

function eventsOf(
  chain: EvmChainName,
  { tx, block, log }: ArrivalLog,
  index: RegistryIndex,
): readonly DecodedEvent[] {
  const unknown = { from: ZERO_ADDRESS, to: null, value: 0n, input: null, success: true };
  return decodeReceipt({ chain, tx, block, ...unknown, logs: [log] }, index).events;
}

/** How many receipts are read for one deposit: first of payments that fit its terms. */
const RECEIPTS_READ_MAX = 12;

/** Protocols that pay another than their deposit names, where its sender signs for that. */
const PAYEE_MAY_CHANGE: readonly BridgeProtocol[] = ['across'];

type PaymentSearch = {
  readonly sent: Sent;
  readonly chain: BridgeChain;
  readonly rows: readonly RegistryRow[];
  readonly index: RegistryIndex;
  readonly reading: Partly<PaymentsFound, BridgeArrivalsPort>;
};

type ReceiptReadings = Awaited<ReturnType<TransactionReceipts['lookUp']>>;

/**
 * Finds the other side of what the logs left open among the payments to its recipient. A transfer
 * names no deposit: the receipts of payments do, and are joined as logs are. Without them one
 * payment is taken for it only where a contract of the protocol paid exactly its terms. That
 * nothing arrived is said only where everything that its recipient was paid was looked at.
 */
async function matchByPayments(
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
  const search = { sent, chain, rows, reading, index: registryIndex(rows) };
  const besideLogs = (found: Destination | Why): Destination => {
    if (!('code' in found)) return { ...found, reasons: [...unlogged.reasons, ...found.reasons] };
    const isKnown = unlogged.reasons.some(({ reason }) => reason === found.reason);
    return isKnown ? unlogged : unknownDestination(chain, ...unlogged.reasons, found);
  };
  const paid = rowsSeen(map(reading, ({ payments }) => payments));
  if (paid === null) {
    const open = whyOpen(search);
    if (open !== null) return besideLogs(open);
    if (!(reading instanceof Read)) return besideLogs(reading.why);
    return besideLogs(unpaidDestination(chain, reading, window.until));
  }
  const hashes = transactionsOf(paid, search);
  const rule = ruleOf(event);
  const readings: ReceiptReadings =
    rule === null
      ? new Map()
      : await transactionReceipts.lookUp(chain, hashes.slice(0, RECEIPTS_READ_MAX), signal);
  const isPaidIn = ({ events }: DecodedReceipt) =>
    rule !== null && events.some((one) => isOtherSide(event, one, rule));
  const decoded = new Map<string, DecodedReceipt>();
  for (const [tx, reading] of readings) {
    if (!(reading instanceof Read)) continue;
    const receipt = map(reading, (facts) => decodeReceipt(facts, search.index));
    decoded.set(tx, receipt.value);
    const met = decide(both({ payments: search.reading, receipt }), (one) => isPaidIn(one.receipt));
    if (!(met instanceof Read) || !isPaidIn(receipt.value)) continue;
    return besideLogs(matchedDestination(chain, tx, met, rule));
  }
  const open = hashes.filter((tx) => !decoded.has(tx));
  if (open.length > 0) return besideLogs(matchByTerms(search, paid, open));
  return besideLogs(concludeAllRead(search, readings, decoded));
}

/** The payee of an event; without one, its sender, who may be the same person. */
function payeeOf({ promised, user }: DecodedEvent): string | null {
  return promised === null || promised.recipient === null ? user : promised.recipient;
}

/** The transactions of payments: those that fit the terms first, then those of the protocol. */
function transactionsOf(paid: readonly Payment[], search: PaymentSearch): string[] {
  const rank = (one: Payment) => {
    if (fits(one, search)) return 0;
    return isOfProtocol(one, search) ? 1 : 2;
  };
  const ordered = paid.toSorted((a, b) => rank(a) - rank(b) || a.at - b.at);
  return [...new Set(ordered.map(({ tx }) => tx))];
}

function fits({ token, amount, at }: Payment, { sent, chain }: PaymentSearch): boolean {
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

function isOfProtocol({ from, block }: Payment, { sent, chain, index }: PaymentSearch): boolean {
  const rows = index.at(chain, from, block);
  return rows.some((row) => row.protocol === sent.event.protocol && movesAssets(row));
}

function matchByTerms(
  search: PaymentSearch,
  paid: readonly Payment[],
  open: readonly string[],
): Destination | Why {
  const { sent, chain, reading } = search;
  const fitting = paid.filter((one) => open.includes(one.tx) && fits(one, search));
  const [fit] = fitting;
  const hashes = new Set(fit === undefined ? open : fitting.map(({ tx }) => tx));
  const transactions = String(hashes.size);
  if (fit === undefined) return why('payments_unread', { transactions, chain });
  // A relayer's own wallet pays most fills: such a payment is anybody's who pays as much.
  const isOnly = fitting.length === 1 && isOfProtocol(fit, search);
  if (!isOnly || !(reading instanceof Read)) {
    return why('payments_fit', { transactions, chain, tx: fit.tx });
  }
  const byTerms = why('paid_by_terms', { protocol: sent.event.protocol });
  return matchedDestination(chain, fit.tx, reading, 'transfer_rules', byTerms);
}

/** Why payments to a recipient do not show that nothing arrived, whatever they are. */
function whyOpen({ sent, chain, reading }: PaymentSearch): Why | null {
  if (!(reading instanceof Read)) return reading.why;
  const { event } = sent;
  const { protocol, promised } = event;
  if (promised === null || promised.recipient === null) {
    return why('payee_not_named', { event: event.event, chain });
  }
  return PAYEE_MAY_CHANGE.includes(protocol) ? why('payee_may_change', { protocol }) : null;
}

function concludeAllRead(
  search: PaymentSearch,
  readings: ReceiptReadings,
  decoded: ReadonlyMap<string, DecodedReceipt>,
): Destination | Why {
  const { sent, chain, rows, reading } = search;
  const { event, at } = sent;
  const there = rows.filter((row) => row.chain === chain && row.protocol === event.protocol);
  const open = whyOpen(search) ?? whyUndeniable(event, at, there.filter(movesAssets));
  if (open !== null) return open;
  const strange = [...decoded.values()].flatMap(({ unknown, off_registry }) => {
    return [...unknown, ...off_registry].filter(({ protocol }) => protocol === event.protocol);
  })[0];
  if (strange !== undefined) return why('bridge_event_unknown', { contract: strange.contract });
  const whole = both({ reading, receipts: all([...readings.values()]) });
  if (!(whole instanceof Read)) return whole.why;
  const head = map(whole, (one) => one.reading);
  return unpaidDestination(chain, head, windowOf(sent).until);
}
