// Answers one question: what did these transactions do, as their receipts tell it.
// A node that does not know a transaction has said nothing about it: such a one is unread.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Reading } from '../../evidence/reading.ts';

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
