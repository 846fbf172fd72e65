// Traces which bridges an address dealt with on a chain, and which transactions show it.
// A contact is a transfer with a contract of the registry as its other end, or one that an event of
// such a contract names. What poisoning and spam made is left out, and counted. That no bridge was
// touched is said only where the registry and the whole history of the address were read.

import { addDecimals } from '../../chain/amount.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { PAYMENT_KINDS, type TransferDirection } from '../../chain/transfer.ts';
import { collect, present } from '../../evidence/measure.ts';
import {
  both,
  map,
  type Partly,
  Read,
  rowsSeen,
  some,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, portInTime, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import {
  type BridgeArrivals,
  type BridgeChain,
  type BridgeRegistry,
  type BridgeRegistryPort,
  RECEIPTS_ASK_MAX,
  type RegistryRow,
  type RegistryTable,
  type TransactionReceipts,
  type TransactionReceiptsPort,
} from '../../ports/bridges.ts';
import type {
  CoverageRange,
  HistoryTransfer,
  TransferHistory,
  TransferHistoryPort,
} from '../../ports/history.ts';
import { type AddressHistory, addressHistory } from '../history/address-history.ts';
import { type LeftOutRule, sift } from '../history/edge-rule.ts';
import { type DecodedEvent, type DecodedReceipt, decodeReceipt } from './protocols/decode.ts';
import { NATIVE } from './protocols/layout.ts';
import { familyOf, movesAssets, type RegistryIndex, registryIndex } from './registry.ts';
import type { BridgeDealings } from './shapes.ts';

/** A transfer with a bridge, as seen from the subject. */
export type Contact = {
  readonly transfer: HistoryTransfer;
  /** The contract, in the first of its roles that counts. */
  readonly row: RegistryRow;
  readonly direction: TransferDirection;
  /**
   * `transfer`: the contract is its other end. `event`: another is, and an event of the contract in
   * the same transaction says that it is what the subject bridged.
   */
  readonly basis: 'transfer' | 'event';
  /** The protocol's events that name it; `null` where the receipt was not read. */
  readonly events: readonly DecodedEvent[] | null;
};

/** The contacts of a history, sorted out. */
export type Contacts = {
  readonly bridging: readonly Contact[];
  /** With contracts that only pass messages: fees, and what came back of them. */
  readonly messaging: readonly Contact[];
  /** With contracts, or by events, of liquidity providers. */
  readonly provided: readonly Contact[];
  readonly left_out: Readonly<Record<LeftOutRule, number>>;
  /**
   * Transfers of which only an event can tell whether they are bridging: what others paid to the
   * subject, mints and burns, what it paid to others, who may have passed it on to a bridge.
   */
  readonly candidates: readonly HistoryTransfer[];
};

/** Sorts the transfers of an address, newest first, by the registry's contracts on one chain. */
export function sortContacts(
  address: string,
  chain: BridgeChain,
  transfers: readonly HistoryTransfer[],
  registry: RegistryIndex,
): Contacts {
  const left_out = { zero_value: 0, no_market_token: 0 };
  const bridging: Contact[] = [];
  const messaging: Contact[] = [];
  const provided: Contact[] = [];
  const candidates: HistoryTransfer[] = [];
  for (const transfer of transfers) {
    if (transfer.chain !== chain || transfer.success === false) continue;
    const direction = transfer.from === address ? 'out' : 'in';
    const other = direction === 'out' ? transfer.to : transfer.from;
    const rows = registry.at(chain, other, transfer.block);
    const unwanted = sift([address], [transfer]).leftOut[0];
    const row = rows.find(movesAssets) ?? rows[0];
    if (unwanted !== undefined) {
      // Only what seems to touch a bridge is counted.
      if (row !== undefined) left_out[unwanted.why] += 1;
      continue;
    }
    // A holder of a token that bridges itself may call its contract without bridging.
    if (row === undefined || row.role === 'token') {
      if (transfer.raw_amount > 0n && other !== address) candidates.push(transfer);
      continue;
    }
    const list = movesAssets(row) ? bridging : row.role === 'providers' ? provided : messaging;
    list.push({ transfer, row, direction, basis: 'transfer', events: null });
  }
  return { bridging, messaging, provided, left_out, candidates };
}

/** The transactions whose receipts tell most: those of contacts first, then of candidates. */
export function transactionsToRead(contacts: Contacts, most: number, of?: 'candidates'): string[] {
  const { bridging, candidates } = contacts;
  const sure = of === 'candidates' ? [] : bridging.map(({ transfer }) => transfer);
  const wanted = [...sure, ...candidates];
  return [...new Set(wanted.map(({ tx }) => tx))].slice(0, most);
}

/** Adds events to contacts, and contacts that only an event shows; leaves out what is none. */
export function addReceipts(
  address: string,
  contacts: Contacts,
  receipts: ReadonlyMap<string, DecodedReceipt>,
  registry: RegistryIndex,
): Contacts {
  const bridging: Contact[] = [];
  const provided = [...contacts.provided];
  for (const contact of contacts.bridging) {
    const receipt = receipts.get(contact.transfer.tx);
    if (receipt === undefined) {
      bridging.push(contact);
      continue;
    }
    const events = receipt.events.filter(
      (event) => event.protocol === contact.row.protocol && isAbout(event, address, contact),
    );
    (events.length > 0 && areOfProviders(events) ? provided : bridging).push({
      ...contact,
      events,
    });
  }
  for (const transfer of contacts.candidates) {
    const receipt = receipts.get(transfer.tx);
    if (receipt === undefined) continue;
    const contact = contactByEvent(address, transfer, receipt, registry);
    if (contact !== null) (areOfProviders(contact.events) ? provided : bridging).push(contact);
  }
  bridging.sort((a, b) => b.transfer.at - a.transfer.at || b.transfer.block - a.transfer.block);
  return { ...contacts, bridging, provided };
}

function areOfProviders(events: readonly DecodedEvent[]): boolean {
  return events.every(({ kind }) => kind === 'liquidity');
}

/** A transfer that an event of the same transaction says to be what the subject bridged. */
function contactByEvent(
  address: string,
  transfer: HistoryTransfer,
  receipt: DecodedReceipt,
  registry: RegistryIndex,
): (Contact & { readonly events: readonly DecodedEvent[] }) | null {
  const direction = transfer.from === address ? 'out' : 'in';
  const events = receipt.events.filter(
    (event) => event.user === address && isAbout(event, address, { transfer, direction }),
  );
  const [event] = events;
  if (event === undefined) return null;
  const own = registry.at(transfer.chain, event.contract, transfer.block).find(movesAssets);
  return { transfer, row: own ?? event.row, direction, basis: 'event', events };
}

function isAbout(
  event: DecodedEvent,
  address: string,
  { transfer, direction }: Pick<Contact, 'transfer' | 'direction'>,
): boolean {
  const { kind, logged } = event;
  if (kind === 'message' || event.direction !== direction) return false;
  const users = [event.user, logged.user];
  if (!users.includes(address) && event.user !== null) return false;
  return [event, logged].some(({ asset, amount }) => isOfAsset(transfer, asset, amount));
}

function isOfAsset(
  { kind, token, raw_amount }: HistoryTransfer,
  asset: string | null,
  amount: bigint | null,
): boolean {
  const own = kind === 'token' ? token : NATIVE;
  if (asset !== null && asset !== own) return false;
  if (amount === null) return asset !== null;
  // The coins of a transaction may include the fee of a message beside the bridged amount.
  return kind === 'native' ? raw_amount >= amount : raw_amount === amount;
}

/** The ports that a trace reads. */
export type BridgePorts = {
  readonly bridgeRegistry: BridgeRegistry;
  readonly transferHistory: TransferHistory;
  readonly transactionReceipts: TransactionReceipts;
  readonly bridgeArrivals: BridgeArrivals;
};

/** The ports without which nothing can be said. */
export type TracePort = BridgeRegistryPort | TransferHistoryPort;

/** How many receipts one trace reads: of contacts first, then of the newest candidates. */
const TRACE_RECEIPTS_MAX = 2 * RECEIPTS_ASK_MAX;

export type Trace = {
  readonly contacts: Contacts;
  readonly bridges: readonly BridgeDealings[];
  readonly rows_scanned: number;
  readonly provenance: AddressHistory['provenance'];
  readonly from_block: number | null;
  readonly to_block: number | null;
  readonly table: Pick<RegistryTable, 'id' | 'reviewed'> & { readonly rows: number };
  /** The registry by which it was traced. */
  readonly registry: RegistryTable['rows'];
};

/** How far the receipts of contacts and of candidates were read. */
export type ReceiptsSummary = {
  /** Transactions whose receipts are wanted, and those of them whose receipts were read. */
  readonly wanted: number;
  readonly read: number;
  /** Logs of registry contracts in them whose layout is not known. */
  readonly unknown_events: number;
  /** A whole reading only where every receipt that is wanted was read. */
  readonly reading: Partly<null, TransactionReceiptsPort>;
  /** Why some were not read; `null` where all of them were. */
  readonly why: Why | null;
};

/** A trace and what its receipts came to; `null` where there was none to read. */
type TraceResult = {
  readonly trace: Partly<Trace, TracePort>;
  readonly receipts: ReceiptsSummary | null;
};

/** Traces one address on one chain, until the signal ends its time. */
export async function traceBridges(
  ports: BridgePorts,
  address: string,
  chain: BridgeChain,
  signal: AbortSignal,
): Promise<TraceResult> {
  const [table, history] = await Promise.all([
    readTable(portInTime('bridge_registry', ports.bridgeRegistry, signal), chain),
    addressHistory(ports.transferHistory, address, { signal, chains: [chain] }),
  ]);
  return traceHistory(ports, { table, history }, { address, chain, signal });
}

/** What a trace is made of: the registry, and the history of one address on its chain or more. */
export type TraceReadings = {
  readonly table: Partly<RegistryTable, BridgeRegistryPort>;
  readonly history: Partly<AddressHistory, TransferHistoryPort>;
};

type TraceRequest = {
  readonly address: string;
  readonly chain: BridgeChain;
  readonly signal: AbortSignal;
  /** Reads no receipt of what is a contact without one: for whoever shows no event of it. */
  readonly receiptsOf?: 'candidates';
};

/**
 * Traces what was read of one address. Whoever tells of bridges asks it: none denies what another
 * sees.
 */
export async function traceHistory(
  ports: Pick<BridgePorts, 'transactionReceipts'>,
  { table, history }: TraceReadings,
  { address, chain, signal, receiptsOf }: TraceRequest,
): Promise<TraceResult> {
  const inputs: Partly<TraceInputs, TracePort> = map(both({ table, history }), (one) => {
    const index = registryIndex(one.table.rows);
    return { ...one, index, contacts: sortContacts(address, chain, one.history.transfers, index) };
  });
  const known = rowsSeen(
    map(inputs, (one) => [
      { ...one, wanted: transactionsToRead(one.contacts, Number.POSITIVE_INFINITY, receiptsOf) },
    ]),
  );
  if (known === null || known[0].wanted.length === 0) {
    return { trace: map(inputs, (one) => makeTrace(one, one.contacts)), receipts: null };
  }
  const [{ contacts, index, wanted }] = known;
  const hashes = wanted.slice(0, TRACE_RECEIPTS_MAX);
  const readings = await readReceipts(ports.transactionReceipts, chain, hashes, signal);
  const decoded = new Map<string, DecodedReceipt>();
  for (const [tx, reading] of readings) {
    if (reading instanceof Read) decoded.set(tx, decodeReceipt(reading.value, index));
  }
  const trace = map(inputs, (one) =>
    makeTrace(one, addReceipts(address, one.contacts, decoded, index)),
  );
  const receipts = summarizeReceipts(wanted.length, readings, decoded);
  const missing = whyIncomplete(contacts, decoded, receipts, known[0].table.rows, chain);
  return { trace: missing === null ? trace : weaken(trace, missing), receipts };
}

function whyIncomplete(
  { candidates }: Contacts,
  decoded: ReadonlyMap<string, DecodedReceipt>,
  receipts: ReceiptsSummary,
  rows: RegistryTable['rows'],
  chain: BridgeChain,
): Why | null {
  const moving = new Set(
    rows.filter((row) => row.chain === chain && movesAssets(row)).map(({ address }) => address),
  );
  for (const { tx } of candidates) {
    const receipt = decoded.get(tx);
    if (receipt === undefined) return receipts.why;
    const strange = receipt.unknown.find(({ contract }) => moving.has(contract));
    if (strange !== undefined) return why('bridge_event_unknown', { contract: strange.contract });
  }
  return null;
}

type TraceInputs = {
  readonly table: RegistryTable;
  readonly history: AddressHistory;
  readonly index: RegistryIndex;
  readonly contacts: Contacts;
};

async function readTable(registry: BridgeRegistry, chain: BridgeChain) {
  const table = await registry.table();
  const covers = !(table instanceof Read) || table.value.rows.some((row) => row.chain === chain);
  // A chain without a row was not looked at: that is no table without a contact.
  return covers
    ? table
    : unread('bridge_registry' as const, why('registry_row_missing', { chain }));
}

type ReceiptReadings = Awaited<ReturnType<TransactionReceipts['lookUp']>>;

async function readReceipts(
  receipts: TransactionReceipts,
  chain: BridgeChain,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<ReceiptReadings> {
  const parts: (readonly string[])[] = [];
  for (let from = 0; from < hashes.length; from += RECEIPTS_ASK_MAX) {
    parts.push(hashes.slice(from, from + RECEIPTS_ASK_MAX));
  }
  const lookUp = () => Promise.all(parts.map((part) => receipts.lookUp(chain, part, signal)));
  const readings = await inTime(lookUp, signal);
  if (readings !== OUT_OF_TIME) return new Map(readings.flatMap((one) => [...one]));
  const late = unread('transaction_receipts' as const, STOPPED_BY_TIME);
  return new Map(hashes.map((hash) => [hash, late]));
}

function makeTrace({ table, history }: TraceInputs, contacts: Contacts): Trace {
  return {
    contacts,
    bridges: [...dealings(contacts.bridging, false), ...dealings(contacts.messaging, true)],
    rows_scanned: history.transfers.length,
    provenance: history.provenance,
    ...spanOf(history.coverage),
    table: { id: table.id, reviewed: table.reviewed, rows: table.rows.length },
    registry: table.rows,
  };
}

function dealings(contacts: readonly Contact[], messaging_only: boolean): BridgeDealings[] {
  const families = new Map<string, Contact[]>();
  for (const contact of contacts) {
    collect(families, `${contact.row.protocol} ${familyOf(contact.row)}`, contact);
  }
  const newest = (own: readonly Contact[]) => Math.max(...own.map(({ transfer }) => transfer.at));
  return [...families.values()]
    .sort((a, b) => newest(b) - newest(a))
    .map((own) => dealingsOf(own, messaging_only));
}

function dealingsOf(contacts: readonly Contact[], messaging_only: boolean): BridgeDealings {
  const [first] = contacts;
  if (first === undefined) throw new TypeError('bridges: a family without a contact');
  const times = contacts.map(({ transfer }) => transfer.at);
  const directions = new Set(contacts.map(({ direction }) => direction));
  return {
    protocol: first.row.protocol,
    name: familyOf(first.row),
    direction: directions.size > 1 ? 'both' : first.direction,
    ...sumContacts(contacts),
    first_seen: formatIsoTime(Math.min(...times)),
    last_seen: formatIsoTime(Math.max(...times)),
    contracts: [...new Set(contacts.map(({ row }) => row.address))].sort(),
    messaging_only,
  };
}

/** The number of transfers and their transactions, and USD over those with a price. */
export type Sum = Pick<BridgeDealings, 'transfers' | 'transactions' | 'usd' | 'unpriced_transfers'>;

/** Adds up contacts. The USD of none, or of unpriced ones alone, is `null`. */
export function sumContacts(contacts: readonly Contact[]): Sum {
  const priced = present(contacts.map(({ transfer }) => transfer.usd));
  const [first, ...rest] = priced;
  return {
    transfers: contacts.length,
    transactions: new Set(contacts.map(({ transfer }) => transfer.tx)).size,
    usd: first === undefined ? null : Number(rest.reduce(addDecimals, first)),
    unpriced_transfers: contacts.length - priced.length,
  };
}

/** The blocks of which every kind of transfer is held; `null` where that is not one range. */
function spanOf(coverage: readonly CoverageRange[]): Pick<Trace, 'from_block' | 'to_block'> {
  const spans = PAYMENT_KINDS.map((kind) =>
    joinedRange(coverage.filter((one) => one.kind === kind)),
  );
  let from_block = 0;
  let to_block = Number.MAX_SAFE_INTEGER;
  for (const span of spans) {
    if (span === null) return { from_block: null, to_block: null };
    from_block = Math.max(from_block, span.from);
    to_block = Math.min(to_block, span.to);
  }
  return from_block > to_block ? { from_block: null, to_block: null } : { from_block, to_block };
}

function joinedRange(ranges: readonly CoverageRange[]): { from: number; to: number } | null {
  const ordered = [...ranges].sort((a, b) => a.from_block - b.from_block);
  const [first] = ordered;
  if (first === undefined) return null;
  let to = first.to_block;
  for (const range of ordered) {
    if (range.from_block > to + 1) return null;
    to = Math.max(to, range.to_block);
  }
  return { from: first.from_block, to };
}

function summarizeReceipts(
  wanted: number,
  readings: ReceiptReadings,
  decoded: ReadonlyMap<string, DecodedReceipt>,
): ReceiptsSummary {
  const all = [...readings.values()];
  const silent = all.find((one) => one instanceof Unread);
  const cut = wanted > all.length ? why('receipts_capped', { limit: String(all.length) }) : null;
  const whole = map(some(all), () => null);
  return {
    wanted,
    read: decoded.size,
    unknown_events: [...decoded.values()].flatMap(({ unknown }) => unknown).length,
    reading: cut === null ? whole : unread('transaction_receipts' as const, cut),
    why: silent instanceof Unread ? silent.why : cut,
  };
}
