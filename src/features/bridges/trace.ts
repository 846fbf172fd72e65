// Which bridges did an address deal with on a chain, and which transactions show it?
// It refuses to say that none was touched unless the registry and the whole history of the address
// on that chain were read. A contract that is not on the registry is not looked for.

import { addDecimals } from '../../chain/amount.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/deadline.ts';
import { collect, present } from '../../evidence/measure.ts';
import {
  both,
  map,
  type Partly,
  Read,
  seen,
  some,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { BridgeArrivals } from '../../ports/bridges/bridge-arrivals.ts';
import type {
  BridgeChain,
  BridgeProtocol,
  BridgeRegistry,
  BridgeRegistryPort,
  RegistryTable,
} from '../../ports/bridges/bridge-registry.ts';
import {
  RECEIPTS_MAX,
  type TransactionReceipts,
  type TransactionReceiptsPort,
} from '../../ports/bridges/transaction-receipts.ts';
import type {
  CoverageRange,
  TransferHistory,
  TransferHistoryPort,
} from '../../ports/history/transfer-history.ts';
import { type AddressHistory, addressHistory } from '../history/address-history.ts';
import {
  type Contact,
  type Contacts,
  contactsIn,
  transactionsToRead,
  withReceipts,
} from './contacts.ts';
import { type DecodedReceipt, decodeReceipt } from './protocols/decode.ts';
import { familyOf, movesAssets, registryIndex } from './registry.ts';

/** The ports that a trace reads. */
export type BridgePorts = {
  readonly bridgeRegistry: BridgeRegistry;
  readonly transferHistory: TransferHistory;
  readonly transactionReceipts: TransactionReceipts;
  readonly bridgeArrivals: BridgeArrivals;
};

/** The ports without which nothing can be said. */
export type TracePort = BridgeRegistryPort | TransferHistoryPort;

/** What is asked. The signal ends the reading's time. */
type TraceAsked = {
  readonly address: string;
  readonly chain: BridgeChain;
  readonly signal: AbortSignal;
};

/** How many receipts one trace reads: of contacts first, then of the newest candidates. */
const TRACE_RECEIPTS_MAX = 2 * RECEIPTS_MAX;

/** The dealings with one family of contracts of a protocol. `usd` is over priced transfers only. */
export type BridgeDealings = {
  readonly protocol: BridgeProtocol;
  readonly name: string;
  readonly direction: 'out' | 'in' | 'both';
  readonly transfers: number;
  readonly transactions: number;
  /** Decimal text; `null` where none of them is priced. */
  readonly usd: string | null;
  readonly unpriced_transfers: number;
  /** Unix seconds. */
  readonly first_seen: number;
  readonly last_seen: number;
  readonly contracts: readonly string[];
  readonly messaging_only: boolean;
};

/** The outcome of a trace. */
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

/** How far the receipts were read, of contacts and of candidates. */
export type ReceiptsTold = {
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

/** A trace: what it says, and what its receipts came to; `null` where there was none to read. */
type Traced = {
  readonly trace: Partly<Trace, TracePort>;
  readonly receipts: ReceiptsTold | null;
};

/** Traces one address on one chain. */
export async function bridgeTrace(ports: BridgePorts, asked: TraceAsked): Promise<Traced> {
  const { address, chain, signal } = asked;
  const [table, history] = await Promise.all([
    tableInTime(ports.bridgeRegistry, chain, signal),
    addressHistory(ports.transferHistory, address, { signal, chains: [chain] }),
  ]);
  const joined: Partly<Held, TracePort> = both({ table, history });
  const first = seen(map(joined, (held) => [{ held, contacts: contactsOf(asked, held) }]));
  if (first === null) return { trace: map(joined, (held) => traceOf(held, asked)), receipts: null };
  const [{ held, contacts }] = first;
  const wanted = transactionsToRead(contacts, Number.POSITIVE_INFINITY);
  if (wanted.length === 0) {
    return { trace: map(joined, (one) => traceOf(one, asked)), receipts: null };
  }
  const hashes = wanted.slice(0, TRACE_RECEIPTS_MAX);
  const readings = await receiptsInTime(ports.transactionReceipts, chain, hashes, signal);
  const index = registryIndex(held.table.rows);
  const decoded = new Map<string, DecodedReceipt>();
  for (const [tx, reading] of readings) {
    if (reading instanceof Read) decoded.set(tx, decodeReceipt(reading.value, index));
  }
  const trace = map(joined, (one) => traceOf(one, asked, decoded));
  const receipts = receiptsTold(wanted.length, readings, decoded);
  const missed = missedBy(contacts, decoded, receipts, held.table.rows, chain);
  return { trace: missed === null ? trace : weaken(trace, missed), receipts };
}

/** Why there may be bridging that was not seen: a candidate's receipt was not read or not told. */
function missedBy(
  { candidates }: Contacts,
  decoded: ReadonlyMap<string, DecodedReceipt>,
  receipts: ReceiptsTold,
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

type Held = { readonly table: RegistryTable; readonly history: AddressHistory };

async function tableInTime(registry: BridgeRegistry, chain: BridgeChain, signal: AbortSignal) {
  const table = await inTime(() => registry.table(), signal);
  if (table === OUT_OF_TIME) return unread('bridge_registry' as const, STOPPED_BY_TIME);
  const covers = !(table instanceof Read) || table.value.rows.some((row) => row.chain === chain);
  // A chain without a row was not looked at: that is no table without a contact.
  return covers
    ? table
    : unread('bridge_registry' as const, why('registry_row_missing', { chain }));
}

type ReceiptReadings = Awaited<ReturnType<TransactionReceipts['lookUp']>>;

async function receiptsInTime(
  receipts: TransactionReceipts,
  chain: BridgeChain,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<ReceiptReadings> {
  const parts: (readonly string[])[] = [];
  for (let from = 0; from < hashes.length; from += RECEIPTS_MAX) {
    parts.push(hashes.slice(from, from + RECEIPTS_MAX));
  }
  const looked = () => Promise.all(parts.map((part) => receipts.lookUp(chain, part, signal)));
  const readings = await inTime(looked, signal);
  if (readings !== OUT_OF_TIME) return new Map(readings.flatMap((one) => [...one]));
  const late = unread('transaction_receipts' as const, STOPPED_BY_TIME);
  return new Map(hashes.map((hash) => [hash, late]));
}

function contactsOf({ address, chain }: TraceAsked, { table, history }: Held): Contacts {
  return contactsIn(address, chain, history.transfers, registryIndex(table.rows));
}

function traceOf(
  held: Held,
  asked: TraceAsked,
  receipts: ReadonlyMap<string, DecodedReceipt> | null = null,
): Trace {
  const { table, history } = held;
  const plain = contactsOf(asked, held);
  const contacts =
    receipts === null
      ? plain
      : withReceipts(asked.address, plain, receipts, registryIndex(table.rows));
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

/** The dealings by family, the newest first. */
function dealings(contacts: readonly Contact[], messaging_only: boolean): BridgeDealings[] {
  const families = new Map<string, Contact[]>();
  for (const contact of contacts) {
    collect(families, `${contact.row.protocol} ${familyOf(contact.row)}`, contact);
  }
  return [...families.values()]
    .map((own) => dealingsOf(own, messaging_only))
    .sort((a, b) => b.last_seen - a.last_seen);
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
    ...sumOf(contacts),
    first_seen: Math.min(...times),
    last_seen: Math.max(...times),
    contracts: [...new Set(contacts.map(({ row }) => row.address))].sort(),
    messaging_only,
  };
}

/** What transfers come to: their number, their transactions, and USD over those with a price. */
type Sum = Pick<BridgeDealings, 'transfers' | 'transactions' | 'usd' | 'unpriced_transfers'>;

/** Adds up contacts. The USD of none, or of unpriced ones alone, is `null`. */
export function sumOf(contacts: readonly Contact[]): Sum {
  const priced = present(contacts.map(({ transfer }) => transfer.usd));
  const [first, ...rest] = priced;
  return {
    transfers: contacts.length,
    transactions: new Set(contacts.map(({ transfer }) => transfer.tx)).size,
    usd: first === undefined ? null : rest.reduce(addDecimals, first),
    unpriced_transfers: contacts.length - priced.length,
  };
}

/** The blocks of which every kind of transfer is held; `null` where that is not one range. */
function spanOf(coverage: readonly CoverageRange[]): Pick<Trace, 'from_block' | 'to_block'> {
  const spans = (['native', 'token', 'internal'] as const).map((kind) =>
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

function receiptsTold(
  wanted: number,
  readings: ReceiptReadings,
  decoded: ReadonlyMap<string, DecodedReceipt>,
): ReceiptsTold {
  const asked = [...readings.values()];
  const silent = asked.find((one) => one instanceof Unread);
  const cut =
    wanted > asked.length ? why('receipts_capped', { limit: String(asked.length) }) : null;
  const whole = map(some(asked), () => null);
  return {
    wanted,
    read: decoded.size,
    unknown_events: [...decoded.values()].flatMap(({ unknown }) => unknown).length,
    reading: cut === null ? whole : unread('transaction_receipts' as const, cut),
    why: silent instanceof Unread ? silent.why : cut,
  };
}
