// The table of the contracts that are known to belong to a bridge protocol.
// A contract that is not on the table may still be a bridge's: the table is partial by nature.

import { z } from 'zod';
import type { EvmChainName } from '../chain/chain.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import type { RefusedLine } from './tables.ts';

/** The name of this port in readings and contracts. */
export type BridgeRegistryPort = 'bridge_registry';

export const BRIDGE_PROTOCOLS = [
  'across',
  'stargate',
  'hop',
  'synapse',
  'celer',
  'wormhole',
  'layerzero',
] as const;
export type BridgeProtocol = (typeof BRIDGE_PROTOCOLS)[number];

export const BRIDGE_CHAINS = ['ethereum', 'arbitrum', 'base', 'bsc', 'polygon'] as const;
export type BridgeChain = (typeof BRIDGE_CHAINS)[number];

/**
 * The role of a contract in its protocol: it holds the liquidity that pays users, takes bridged
 * assets into custody, passes calls on, is a token that bridges itself (or a pool whose shares are
 * one, so that a holder need not bridge), deals with liquidity providers only, or only passes
 * messages.
 */
export const BRIDGE_ROLES = [
  'liquidity',
  'lock',
  'router',
  'token',
  'providers',
  'messaging',
] as const;
export type BridgeRole = (typeof BRIDGE_ROLES)[number];

/** One row: a contract on a chain. */
export const registryRow = z.strictObject({
  chain: z.enum(BRIDGE_CHAINS),
  /** In lower case. */
  address: z.string(),
  protocol: z.enum(BRIDGE_PROTOCOLS),
  /** The protocol's name for it; for one contract per asset, the asset in brackets at the end. */
  name: z.string(),
  role: z.enum(BRIDGE_ROLES),
  /** The first block from which it counts; `null`, not known: from the chain's first. */
  valid_from_block: z.int().nonnegative().nullable(),
  /** Chains that are not covered where the protocol has the same address: EIP-155 ids. */
  also_on: z.array(z.int().positive()).readonly(),
  /** Public pages or repository paths. */
  sources: z.array(z.string()).min(1).readonly(),
  /** The day of the last review, ISO 8601. */
  reviewed: z.string(),
  note: z.string().nullable(),
});
export type RegistryRow = z.output<typeof registryRow>;

/** The table as it was loaded. */
export type RegistryTable = {
  /** SHA-256 of the file, in hex. */
  readonly id: string;
  readonly rows: readonly RegistryRow[];
  /** The newest review of a row, ISO 8601. */
  readonly reviewed: string;
  /** How many rows of the file the rules refused. */
  readonly refused: number;
};

/** The table. Readable once a file of it was loaded that holds a row. */
export type BridgeRegistry = {
  readonly table: () => Promise<Reading<RegistryTable, BridgeRegistryPort>>;
};

/** The rows of a file: those that the rules take, and each one that they refuse. */
export type ValidatedRows = {
  readonly rows: readonly RegistryRow[];
  readonly refused: readonly RefusedLine[];
};

/** The sentence of each refusal of a row, by its code. */
export const REGISTRY_REFUSALS = {
  unreadable_row: 'the row has not the columns of the table',
  bad_checksum: 'the address is none, or not in EIP-55 letter case',
  unknown_chain: `the chain is none of ${BRIDGE_CHAINS.join(', ')}`,
  unknown_protocol: `the protocol is none of the seven: ${BRIDGE_PROTOCOLS.join(', ')}`,
  unknown_role: `the role is none of ${BRIDGE_ROLES.join(', ')}`,
  system_address: 'the address is nobody’s, a precompile’s or the chain’s own',
  no_source: 'no source stands beside it, or one that is no page and no path',
  bad_review: 'the day of its review is no day',
  bad_block: 'the block from which it is valid is no block number',
  bad_chain_ids: 'the other chains are no EIP-155 ids with a space between',
  bad_text: 'a text is empty, too long, or has characters that cannot be shown',
  duplicate: 'an earlier row has the same chain, address and role',
  token_contract: 'the address is a token’s, which everybody who holds it deals with',
  amm_pool: 'the address is a pool’s of an automated market maker, where tokens are swapped',
  no_code: 'no contract stands at the address',
} as const;
export type RowRefusal = keyof typeof REGISTRY_REFUSALS;

/** The facts of a node about a contract of the table. */
export type ContractFacts = {
  readonly code: boolean;
  /** Answers `totalSupply()` and `decimals()` as an ERC-20 token does. */
  readonly token: boolean;
  /** Answers as a pool of an automated market maker does. */
  readonly pool: boolean;
  /** Whether it logged one of the events asked about in its newest blocks. */
  readonly events: boolean;
};

/** Asks a node about a contract. */
export type ContractProbe = {
  readonly chain: BridgeChain;
  readonly look: (
    address: string,
    topics: readonly string[],
    signal: AbortSignal,
  ) => Promise<Reading<ContractFacts, 'contract_probe'>>;
};

/** The name of this port in readings and contracts. */
export type BridgeArrivalsPort = 'bridge_arrivals';

/** The log query of a chain: logs of these contracts under one of these first topics. */
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

/** The arrivals, and the head of the chain. */
export type ArrivalFound = {
  /** The log that was looked for, or none. */
  readonly found: readonly ArrivalLog[];
  /** Unix seconds of the chain's newest block. */
  readonly head_time: number;
};

/** The query of held transfers: payments to an address between two moments. */
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

/** The payments to an address, the oldest first, and the extent to which the chain is held. */
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

/** The query of a status page: one deposit. */
export type StatusQuery = {
  readonly protocol: BridgeProtocol;
  readonly chain: EvmChainName;
  /** The transaction that sent it. */
  readonly tx: string;
  readonly message_id: string | null;
  /** The EIP-155 id of the chain that its event names; `null` where it names none of those. */
  readonly destination_id: number | null;
  /** The terms that identify it without an id; `amount` is decimal text, smallest units. */
  readonly terms: { readonly recipient: string; readonly amount: string } | null;
};

/**
 * The page's status of a deposit, in our word and its own. Only a paid deposit has a transaction.
 */
export type DepositStatus = {
  readonly page: StatusPage;
  readonly state: 'paid' | 'under_way' | 'stopped' | 'unknown';
  /** The transaction on the other chain. */
  readonly tx: string | null;
  readonly word: string;
};

/** Logged arrivals, payments of recipients, and the statements of status pages. */
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

// A node that does not know a transaction has said nothing about it: such a one is unread.

/** The name of this port in readings and contracts. */
export type TransactionReceiptsPort = 'transaction_receipts';

/** One log of a receipt. Hex is `0x` and lower case; `topics` holds at most four words. */
export type ReceiptLog = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly index: number;
};

/** A transaction together with its receipt. Addresses in lower case. */
export type ReceiptFacts = {
  readonly chain: EvmChainName;
  readonly tx: string;
  readonly block: number;
  readonly from: string;
  /** `null` where it made a contract. */
  readonly to: string | null;
  /** Wei that it carried itself. */
  readonly value: bigint;
  /** The call data, hex: `0x` and lower case; `null` where it was not told. */
  readonly input: string | null;
  /** `null` where the receipt is of a time that told no status. */
  readonly success: boolean | null;
  readonly logs: readonly ReceiptLog[];
};

/** The most transactions of one look-up. */
export const RECEIPTS_ASK_MAX = 64;

/** Receipts, whichever node or explorer gives them. */
export type TransactionReceipts = {
  /**
   * A reading for each hash, by hash; at most `RECEIPTS_ASK_MAX` of them (RangeError). Once the
   * signal is aborted, whatever was not read yet is unread.
   */
  readonly lookUp: (
    chain: EvmChainName,
    hashes: readonly string[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, Reading<ReceiptFacts, TransactionReceiptsPort>>>;
};
