// Answers one question: what became of something that was sent, as another chain's logs show it,
// as transfers that are held of that chain do, or as its protocol's status page says. A stretch
// that was not read to its end is a part: what lies beyond it is not known.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { BridgeProtocol } from './bridge-registry.ts';
import type { ReceiptLog } from './transaction-receipts.ts';

/** The name of this port in readings and contracts. */
export type BridgeArrivalsPort = 'bridge_arrivals';

/** What is asked of a chain: a log of these contracts under one of these first topics. */
export type ArrivalsQuery = {
  readonly chain: EvmChainName;
  readonly contracts: readonly string[];
  readonly topics: readonly string[];
  /** Unix seconds. The blocks from the first to the last of these moments are read. */
  readonly since: number;
  readonly until: number;
  /** Whether a log is what is looked for: the reading ends at the first that is. */
  readonly wanted: (log: ArrivalLog) => boolean;
};

/** One log, and the transaction that made it. */
export type ArrivalLog = {
  readonly tx: string;
  readonly block: number;
  readonly log: ReceiptLog;
};

/** What was found, and how far the chain had come. */
export type ArrivalFound = {
  /** The log that was looked for, or none. */
  readonly found: readonly ArrivalLog[];
  /** Unix seconds of the chain's newest block. */
  readonly head_time: number;
};

/** What is asked of transfers that are held: what an address was paid between two moments. */
export type PaymentsQuery = {
  readonly chain: EvmChainName;
  readonly recipient: string;
  /** Unix seconds. */
  readonly since: number;
  readonly until: number;
};

/** One payment, as a transfer tells it: it names no event and no deposit. */
export type Payment = {
  readonly tx: string;
  readonly block: number;
  /** Unix seconds. */
  readonly at: number;
  readonly from: string;
  /** The token's contract; `null` for the chain's own coin. */
  readonly token: string | null;
  /** In smallest units. */
  readonly amount: bigint;
};

/** What an address was paid, the oldest first, and how far the chain is held. */
export type PaymentsFound = {
  readonly payments: readonly Payment[];
  /** Unix seconds of the newest block that is held. */
  readonly head_time: number;
};

/** The status pages of protocols: a page's word is its own, never a chain's. */
export const STATUS_PAGES = [
  'across_status',
  'layerzero_scan',
  'wormholescan',
  'cbridge_status',
  'synapse_explorer',
  'hop_status',
] as const;
export type StatusPage = (typeof STATUS_PAGES)[number];

/** What a status page is asked about: one deposit. */
export type StatusQuery = {
  readonly protocol: BridgeProtocol;
  readonly chain: EvmChainName;
  /** The transaction that sent it. */
  readonly tx: string;
  readonly message_id: string | null;
  /** The EIP-155 id of the chain that its event names; `null` where it names none of those. */
  readonly destination_id: number | null;
  /** By what it is known where it has no id; `amount` is decimal text, smallest units. */
  readonly terms: { readonly recipient: string; readonly amount: string } | null;
};

/** What a page says of it, in our word and in its own. Only what was paid has a transaction. */
export type DepositStatus = {
  readonly page: StatusPage;
  readonly state: 'paid' | 'under_way' | 'stopped' | 'unknown';
  /** The transaction on the other chain. */
  readonly tx: string | null;
  readonly word: string;
};

/** What contracts logged, what recipients were paid, and what status pages say. */
export type BridgeArrivals = {
  /** Read where the log was found, or where the whole stretch was read without it. */
  readonly lookUp: (
    asked: ArrivalsQuery,
    signal: AbortSignal,
  ) => Promise<Partly<ArrivalFound, BridgeArrivalsPort>>;
  /** Read where every transfer of the chain between these moments, of every kind, is held. */
  readonly paidTo: (
    asked: PaymentsQuery,
    signal: AbortSignal,
  ) => Promise<Partly<PaymentsFound, BridgeArrivalsPort>>;
  /** Unix seconds of a block. */
  readonly timeOf: (
    chain: EvmChainName,
    block: number,
    signal: AbortSignal,
  ) => Promise<Reading<number, BridgeArrivalsPort>>;
  /** The page that may be asked of a protocol's deposits; `null` where none is set. */
  readonly pageOf: (protocol: BridgeProtocol) => StatusPage | null;
  readonly statusOf: (
    asked: StatusQuery,
    signal: AbortSignal,
  ) => Promise<Reading<DepositStatus, BridgeArrivalsPort>>;
};
