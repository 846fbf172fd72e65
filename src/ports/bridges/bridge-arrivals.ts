// Answers one question: which log of these contracts, between two moments, is what is looked for.
// A stretch that was not read to its end is a part: what lies beyond it is not known.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { ReceiptLog } from './transaction-receipts.ts';

/** The name of this port in readings and contracts. */
export type BridgeArrivalsPort = 'bridge_arrivals';

/** What is asked of a chain: a log of these contracts under one of these first topics. */
export type ArrivalsAsked = {
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

/** What contracts logged, whichever node tells it. */
export type BridgeArrivals = {
  /** Read where the log was found, or where the whole stretch was read without it. */
  readonly lookUp: (
    asked: ArrivalsAsked,
    signal: AbortSignal,
  ) => Promise<Partly<ArrivalFound, BridgeArrivalsPort>>;
  /** Unix seconds of a block. */
  readonly timeOf: (
    chain: EvmChainName,
    block: number,
    signal: AbortSignal,
  ) => Promise<Reading<number, BridgeArrivalsPort>>;
};
