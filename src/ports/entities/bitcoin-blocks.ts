// Answers one question: which transactions do these blocks of Bitcoin hold, owners of inputs too.
// A block comes whole or not at all; an input whose spent output was not given makes it no block.

import type { Why } from '../../evidence/reasons.ts';

/** An input's spent output, or an output. `null`: no address (a bare script, an OP_RETURN). */
export type BitcoinCoin = {
  readonly address: string | null;
  /** Satoshis. */
  readonly value: bigint;
};

/**
 * An input: the coin that it spends, and how far its signatures bind it to the others. `whole`:
 * every one of them signs all inputs and outputs. `in_part`: one signs fewer (`ANYONECANPAY`,
 * `SINGLE`, `NONE`), or none was found. `null`: the source does not tell them.
 */
export type BitcoinInput = BitcoinCoin & { readonly signed: 'whole' | 'in_part' | null };

/** One transaction; a coinbase has no inputs. */
export type BitcoinTransaction = {
  readonly tx: string;
  readonly block: number;
  /** Unix seconds of its block. */
  readonly at: number;
  readonly coinbase: boolean;
  readonly inputs: readonly BitcoinInput[];
  readonly outputs: readonly BitcoinCoin[];
};

/** Transactions of one block. `whole`: all of them are here, which the source has shown. */
export type BitcoinBlock = {
  readonly block: number;
  readonly at: number;
  readonly whole: boolean;
  readonly transactions: readonly BitcoinTransaction[];
};

/** Why a source of blocks ended before its end. `fault` names no path, host or credential. */
export class BlocksFault extends Error {
  readonly fault: string;
  constructor(fault: string) {
    super(fault);
    this.name = 'BlocksFault';
    this.fault = fault;
  }
}

/** What was refused, by reason, with the number of transactions. */
type RefusedTransactions = ReadonlyMap<string, number>;

/**
 * A source of blocks in rising order. `blocks` throws `BlocksFault` where it cannot go on; what was
 * given before stands.
 */
export type BitcoinBlocks = {
  readonly blocks: (signal: AbortSignal) => AsyncIterable<BitcoinBlock>;
  readonly refused: () => RefusedTransactions;
};

/** What an import has done so far. */
export type BlocksImported = {
  readonly blocks: number;
  /** Blocks of which not all transactions came: what they tie is kept, and they stay open. */
  readonly blocks_in_part: number;
  /** Blocks that were held before. */
  readonly blocks_held: number;
  readonly transactions: number;
  readonly joint: number;
  readonly ties: number;
  readonly refused: RefusedTransactions;
};

/** How an import ended. What was kept before a fault stands. */
export type BlocksOutcome =
  | { readonly outcome: 'completed' | 'stopped'; readonly imported: BlocksImported }
  | { readonly outcome: 'fault'; readonly imported: BlocksImported; readonly fault: string }
  | { readonly outcome: 'unread'; readonly imported: BlocksImported; readonly why: Why };

/** Told after each harvest that was kept. */
export type BlocksWatch = {
  readonly signal: AbortSignal;
  readonly onProgress: (imported: BlocksImported) => void;
};

/** A Bitcoin Core node as a source: blocks from `fromBlock` to `toBlock`, or to its final tip. */
export type BitcoinNode = (fromBlock: number, toBlock: number | null) => BitcoinBlocks;

/** Files of bitcoin-etl as a source. */
export type BitcoinFiles = (paths: readonly string[]) => BitcoinBlocks;
