// Answers one question: what did these contracts log on a chain between two moments.
// A stretch that was not read to its end is a part: what lies beyond it is not known.

import type { EvmChainName } from '../../chain/chain.ts';
import type { Partly, Reading } from '../../evidence/reading.ts';
import type { ReceiptLog } from './transaction-receipts.ts';

/** The name of this port in readings and contracts. */
export type BridgeArrivalsPort = 'bridge_arrivals';

/** What is asked of a chain: logs of these contracts under one of these first topics. */
export type ArrivalsAsked = {
  readonly chain: EvmChainName;
  readonly contracts: readonly string[];
  readonly topics: readonly string[];
  /** Unix seconds. The blocks from the first to the last of these moments are read. */
  readonly since: number;
  readonly until: number;
};

/** One log, and the transaction that made it. */
export type ArrivalLog = {
  readonly tx: string;
  readonly block: number;
  readonly log: ReceiptLog;
};

/** The logs that were found, and how far the chain had come. */
export type ArrivalLogs = {
  readonly logs: readonly ArrivalLog[];
  /** Unix seconds of the chain's newest block. */
  readonly head_time: number;
};

/** What contracts logged, whichever node tells it. */
export type BridgeArrivals = {
  readonly lookUp: (
    asked: ArrivalsAsked,
    signal: AbortSignal,
  ) => Promise<Partly<ArrivalLogs, BridgeArrivalsPort>>;
  /** Unix seconds of a block. */
  readonly timeOf: (
    chain: EvmChainName,
    block: number,
    signal: AbortSignal,
  ) => Promise<Reading<number, BridgeArrivalsPort>>;
};
