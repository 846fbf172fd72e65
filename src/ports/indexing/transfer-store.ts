// Answers one question: how do facts of chains get into this deployment, each of them once?
// A fact that is written again changes nothing, whichever source, order or crash brings it back.
// Refuses to guess what is held: coverage is recorded apart, by whoever knows that it is whole.

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { Transfer, TransferKind } from '../../chain/transfer.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { ImportOrigin } from '../../evidence/source.ts';

/** The name of this port in readings. */
export type TransferStorePort = 'transfer_store';

/**
 * A transfer with who signed its transaction, `null` where the source does not say. `success:
 * false` may be written: it is never served, and it overrules a row of the same transfer that did
 * not know.
 */
export type TransferFact = Transfer & { readonly initiator: string | null };

/**
 * A contract that came into being. `initiator` signed the transaction; `creator` ran the create.
 */
export type HeldCreation = {
  readonly chain: ChainName;
  readonly created: string;
  readonly creator: string;
  readonly initiator: string | null;
  /** `null` for what a chain made outside of any transaction. */
  readonly tx_hash: string | null;
  readonly block: number;
  readonly block_hash: string | null;
  readonly block_time: UnixSeconds;
};

/** A block's header. */
export type BlockFact = {
  readonly chain: ChainName;
  readonly number: number;
  readonly hash: string;
  readonly parent_hash: string | null;
  readonly time: UnixSeconds;
};

/** Who signed a transaction, and whether it succeeded; it completes transfers that do not say. */
export type TransactionFact = {
  readonly chain: ChainName;
  readonly tx_hash: string;
  readonly block: number;
  readonly initiator: string;
  readonly success: boolean | null;
};

/**
 * Facts to write, which must be final. Whole transactions only: the store numbers equal rows of a
 * transaction (`numberTransfers`), for which all of a kind must be in one batch. Rows that are
 * equal in their position too are one row.
 */
export type Facts = {
  readonly transfers: readonly TransferFact[];
  readonly creations: readonly HeldCreation[];
  readonly blocks: readonly BlockFact[];
  readonly transactions: readonly TransactionFact[];
};

/** Whence facts come. `source` is shown to people: a product and a host or a file name, no path. */
export type Provenance = {
  readonly source: string;
  readonly origin: ImportOrigin;
  readonly import_id: string;
};

/** What was written. Rows that were there before count like new ones. */
export type AppendResult = {
  readonly transfers: number;
  readonly creations: number;
  /** Transfers left out because another hash is held for their block: they are of a lost fork. */
  readonly of_another_fork: number;
};

/** Blocks of a chain whose transfers of a kind are all held. `to_time` is the last block's. */
export type HeldRange = {
  readonly chain: ChainName;
  readonly kind: TransferKind;
  readonly from_block: number;
  readonly to_block: number;
  readonly to_time: UnixSeconds;
  readonly source: string;
  readonly origin: ImportOrigin;
};

/** Blocks of a chain whose transfers of one address and a kind were all read. */
export type AddressRange = HeldRange & {
  readonly address: string;
  /** Whether `from_block` is the chain's first block or the address's proven first activity. */
  readonly from_first: boolean;
  /** Whether the source's window ended before its rows did; such a range proves nothing held. */
  readonly truncated: boolean;
  readonly read_at: UnixSeconds;
};

/** What was read live of one address: its transfers, the ranges which they fill, their tokens. */
export type LiveHistory = {
  readonly transfers: readonly TransferFact[];
  readonly ranges: readonly AddressRange[];
  readonly tokens: readonly TokenFact[];
};

/** What is known of a token. `has_market` is `null` where no price source was read. */
export type TokenFact = {
  readonly chain: ChainName;
  readonly token: string;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly has_market: boolean | null;
  readonly read_at: UnixSeconds;
};

/** A header as the followed chain knows it. */
export type TipHeader = Omit<BlockFact, 'chain' | 'parent_hash'> & { readonly parent_hash: string };

/** A block of the tip with its facts, which may be undone until it is final. */
export type TipBlock = TipHeader & {
  readonly transfers: readonly TransferFact[];
  readonly creations: readonly HeldCreation[];
};

/** How a chain is followed: from which block on, and which kinds of transfer its node tells. */
export type Following = {
  readonly chain: ChainName;
  readonly from_block: number;
  readonly kinds: readonly TransferKind[];
  readonly source: string;
  readonly origin: ImportOrigin;
};

/**
 * Where following stands. Blocks up to `final_block` are final (`null` before the first); `tip` are
 * those above it, lowest first, each the parent of the next. The next block to apply is the one
 * after the last of them.
 */
export type Cursor = Following & {
  readonly final_block: number | null;
  readonly final_hash: string | null;
  readonly tip: readonly TipHeader[];
};

/**
 * What became of blocks. `refused`: nothing was written, because they do not begin right behind the
 * cursor (`gap`), not on its last hash or not each on the one before (`parent_differs`), or because
 * a final block would be undone (`final`).
 */
export type Moved =
  | { readonly moved: true; readonly cursor: Cursor }
  | {
      readonly moved: false;
      readonly refused: 'gap' | 'parent_differs' | 'final';
      readonly cursor: Cursor;
    };

/**
 * A follower's time with a chain. `epoch` is greater than that of every follower before it.
 * `settle` ends once no statement of an earlier follower can still be running.
 */
export type Tenure = { readonly epoch: number; readonly settle: () => Promise<void> };

/** What is held of one chain; `origin` is `simulated` if any of it is. */
export type HeldChain = {
  readonly chain: ChainName;
  /** The lowest and the highest block of any transfer or range held. */
  readonly from_block: number;
  readonly to_block: number;
  readonly transfers: number;
  readonly origin: ImportOrigin;
  /** Ranges held in full, the followed tip included; adjoining ones joined. */
  readonly coverage: readonly Omit<HeldRange, 'chain' | 'source'>[];
  /** Where following stands, `null` where the chain is not followed. */
  readonly following: { readonly final_block: number | null; readonly tip_block: number } | null;
};

/**
 * The store of transfers. Each method is written once it is read; an unread one may have been
 * written in part and is simply called again. A chain has one follower, that of the newest epoch.
 */
export type TransferStore = {
  /** Writes final facts. It records no coverage. */
  readonly appendImported: (
    facts: Facts,
    provenance: Provenance,
  ) => Promise<Reading<AppendResult, TransferStorePort>>;
  /** Records ranges whose facts are written already. */
  readonly recordCoverage: (
    ranges: readonly HeldRange[],
  ) => Promise<Reading<true, TransferStorePort>>;
  /** Records ranges of single addresses whose facts are written already. */
  readonly recordAddressCoverage: (
    ranges: readonly AddressRange[],
  ) => Promise<Reading<true, TransferStorePort>>;
  /** Writes what was read live of one address, then its ranges. All of it must be final. */
  readonly appendLive: (history: LiveHistory) => Promise<Reading<true, TransferStorePort>>;
  readonly recordTokens: (
    tokens: readonly TokenFact[],
  ) => Promise<Reading<true, TransferStorePort>>;
  /**
   * The times of blocks whose headers are held, in Unix seconds. One that is not held, or of which
   * two headers are, is not in the answer.
   */
  readonly blockTimes: (
    chain: ChainName,
    numbers: readonly number[],
  ) => Promise<Reading<ReadonlyMap<number, UnixSeconds>, TransferStorePort>>;

  /** Where following stands; `null` where the chain was never followed. */
  readonly cursor: (chain: ChainName) => Promise<Reading<Cursor | null, TransferStorePort>>;
  /**
   * Begins following, or goes on where it stood: `from_block` counts only the first time. It must
   * be called before the others on each start. From then on nothing that a follower of an earlier
   * epoch writes counts, whenever its writes arrive; that follower is unread from its next step on.
   */
  readonly follow: (
    following: Following,
    tenure: Tenure,
  ) => Promise<Reading<Cursor, TransferStorePort>>;
  /** Adds blocks that are final already, right behind the cursor, which must have no tip. */
  readonly applyFinal: (
    chain: ChainName,
    blocks: readonly TipBlock[],
  ) => Promise<Reading<Moved, TransferStorePort>>;
  /** Adds blocks to the tip, all of them or none. The first block followed may have any parent. */
  readonly applyTip: (
    chain: ChainName,
    blocks: readonly TipBlock[],
  ) => Promise<Reading<Moved, TransferStorePort>>;
  /** Undoes every block of the tip above `toBlock`. */
  readonly rollBack: (
    chain: ChainName,
    toBlock: number,
  ) => Promise<Reading<Moved, TransferStorePort>>;
  /**
   * Makes the tip final up to a block, which may be above it or below: then it does what it can.
   */
  readonly finalise: (
    chain: ChainName,
    upToBlock: number,
  ) => Promise<Reading<Moved, TransferStorePort>>;

  readonly status: () => Promise<Reading<readonly HeldChain[], TransferStorePort>>;
};
