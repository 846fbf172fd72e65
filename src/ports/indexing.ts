// A fact that is written again changes nothing, whichever source, order or crash brings it back.
// Refuses to guess what is held: coverage is recorded apart, by whoever knows that it is whole.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName, EVM_CHAINS, type EvmChainName } from '../chain/chain.ts';
import type { UnixSeconds } from '../chain/time.ts';
import { TRANSFER_KINDS, type Transfer, type TransferKind } from '../chain/transfer.ts';
import type { Reading } from '../evidence/reading.ts';
import { REASON_CODES, type Why } from '../evidence/reasons.ts';
import type { ImportOrigin } from '../evidence/source.ts';

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

/** The signer of a transaction, and its success; it completes transfers without them. */
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

/** The written rows. Rows that existed before count like new ones. */
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

/** The live history of one address: its transfers, the ranges that they fill, their tokens. */
export type LiveHistory = {
  readonly transfers: readonly TransferFact[];
  readonly ranges: readonly AddressRange[];
  readonly tokens: readonly TokenFact[];
};

/** The facts of a token. `has_market` is `null` if no price source was read. */
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

/** The following of a chain: its first block, and the kinds of transfer that its node gives. */
export type Following = {
  readonly chain: ChainName;
  readonly from_block: number;
  readonly kinds: readonly TransferKind[];
  readonly source: string;
  readonly origin: ImportOrigin;
  /** Kinds that this source shows and does not prove: what it was followed for is withdrawn. */
  readonly unproved?: readonly TransferKind[];
};

/**
 * Where following stands. Blocks up to `final_block` are final (`null` before the first); `tip` are
 * those above it, lowest first, each the parent of the next. The next block to apply is the one
 * after the last of them.
 */
export type FollowCursor = Following & {
  readonly final_block: number | null;
  readonly final_hash: string | null;
  readonly tip: readonly TipHeader[];
};

/**
 * The result of moving blocks. `refused`: nothing was written, because they do not begin right
 * after the cursor (`gap`), do not each link to the block before (`parent_differs`), or a final
 * block would be undone (`final`).
 */
export type Moved =
  | { readonly moved: true; readonly cursor: FollowCursor }
  | {
      readonly moved: false;
      readonly refused: 'gap' | 'parent_differs' | 'final';
      readonly cursor: FollowCursor;
    };

/**
 * A follower's time with a chain. `epoch` is greater than that of every follower before it.
 * `settle` ends once no statement of an earlier follower can still be running.
 */
export type Tenure = { readonly epoch: number; readonly settle: () => Promise<void> };

/** The held data of one chain; `origin` is `simulated` if any of it is. */
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
  readonly cursor: (chain: ChainName) => Promise<Reading<FollowCursor | null, TransferStorePort>>;
  /**
   * Begins following, or goes on where it stood: `from_block` counts only the first time. It must
   * be called before the others on each start. From then on nothing that a follower of an earlier
   * epoch writes counts, whenever its writes arrive; that follower is unread from its next step on.
   */
  readonly follow: (
    following: Following,
    tenure: Tenure,
  ) => Promise<Reading<FollowCursor, TransferStorePort>>;
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

// A chain that is followed block by block: what its node tells, and what its follower reports.
// A node tells a block whole or not at all: one that it cannot tell in full is no empty block.

/** The name of this port in readings. */
export type ChainNodePort = 'chain_node';

/** The node's newest block, and the newest that it will not take back (`null` on a young chain). */
export type Heads = {
  readonly latest: number;
  readonly latest_time: UnixSeconds;
  readonly final: number | null;
};

/** Logs that look like transfers and have the shape of none. */
const misshapenLogs = z.object({ misshapen: z.int() }).readonly();
export type MisshapenLogs = z.output<typeof misshapenLogs>;

/** Blocks one after the other, each the parent of the next, with every transfer in them. */
export type ReadBlocks = {
  readonly blocks: readonly TipBlock[];
  readonly left_out: MisshapenLogs;
};

/**
 * Which kinds of transfer a node tells in full, from a block on up to `to_block` (`null`: of all
 * above). Behind it the node tells others, and is opened again.
 */
export type NodeReach = {
  readonly kinds: readonly TransferKind[];
  readonly to_block: number | null;
  /** Kinds that it shows in a form that tells nothing of what is missing. */
  readonly unproved?: readonly TransferKind[];
};

/**
 * A node. `moved` says that the chain changed while it was read, or that a block asked for is not
 * there (any more): ask for the heads again. Unread: the node failed, or is of another chain.
 */
export type ChainNode = {
  readonly chain: ChainName;
  /** The node as it may be shown: scheme and host. */
  readonly source: string;
  /**
   * Finds out which kinds of transfer the node tells from a block on. It comes before the others,
   * on each start, after each failure and behind its reach; it refuses a node of another chain.
   */
  readonly open: (
    fromBlock: number | null,
    signal: AbortSignal,
  ) => Promise<Reading<NodeReach, ChainNodePort>>;
  readonly heads: (signal: AbortSignal) => Promise<Reading<Heads, ChainNodePort>>;
  /** The header at a height; `null` where the node has no such block. */
  readonly header: (
    block: number,
    signal: AbortSignal,
  ) => Promise<Reading<TipHeader | null, ChainNodePort>>;
  /** The blocks from one height to another, both included, at most `BLOCKS_AT_ONCE_MAX`. */
  readonly blocks: (
    from: number,
    to: number,
    signal: AbortSignal,
  ) => Promise<Reading<ReadBlocks | 'moved', ChainNodePort>>;
};

/** How many blocks may be asked for at once. */
export const BLOCKS_AT_ONCE_MAX = 64;

const blockOrNone = z.int().nonnegative().nullable();
const whyHeldUp = z.object({ code: z.enum(REASON_CODES), reason: z.string() }).readonly();

/**
 * Where following a chain stands. Block numbers are `null` before the first. `lag_blocks` and
 * `lag_s` are measured from the node's head and from now, and grow while a node is silent.
 */
export const followState = z
  .object({
    chain: z.string(),
    source: z.string(),
    /** Which kinds of transfer its node tells, `null` before it was asked. */
    kinds: z.array(z.enum(TRANSFER_KINDS)).readonly().nullable(),
    head_block: blockOrNone,
    last_block: blockOrNone,
    last_time: z.number().nullable(),
    final_block: blockOrNone,
    lag_blocks: blockOrNone,
    lag_s: z.number().nullable(),
    /** Since this start: blocks and transfers written, re-orgs met, blocks undone in them. */
    blocks: z.int(),
    transfers: z.int(),
    reorgs: z.int(),
    blocks_undone: z.int(),
    left_out: misshapenLogs,
    /** Why the last attempt did not succeed; `null` where it did. */
    fault: whyHeldUp.nullable(),
  })
  .readonly();
export type FollowState = z.output<typeof followState>;

/** The observer of following, and its stop signal. `onState` is called after each step. */
export type FollowWatch = {
  readonly onState: (state: FollowState) => void;
  readonly signal: AbortSignal;
};

/**
 * The end of following: it was stopped, or it cannot continue by itself. In the second case a block
 * that was final here is not on the node's chain; no held data was changed.
 */
export const followEnd = z.discriminatedUnion('end', [
  z.object({ end: z.literal('stopped'), state: followState }),
  z.object({ end: z.literal('broken'), state: followState, why: whyHeldUp }),
]);
export type FollowEnd = z.output<typeof followEnd>;

/** A chain that can be followed here, by its name. `from_block` counts on the first start only. */
export type Followable = {
  readonly chain: string;
  readonly follow: (from_block: number | null, watch: FollowWatch) => Promise<FollowEnd>;
};

/** The name of this port in readings. */
export type FollowReportsPort = 'follow_reports';

/**
 * The state of following. `held_up`: a known fault; the follower continues by itself. `stopped`: it
 * cannot continue by itself, or has ended.
 */
export const FOLLOW_STATES = ['following', 'held_up', 'stopped'] as const;

export const followReport = z.strictObject({
  chain: z.enum(CHAIN_NAMES),
  state: z.enum(FOLLOW_STATES),
  /** Why it does not go on; `null` where it does. */
  reason: z.string().nullable(),
  last_block: z.int().nullable(),
  head_block: z.int().nullable(),
  /** Unix seconds: from when on it has been so, for this reason. */
  since: z.int(),
});
export type FollowReport = z.output<typeof followReport>;
/** The last report of each chain. One of which nothing more was heard is told as stopped. */
export type FollowReports = {
  readonly tell: (report: Omit<FollowReport, 'since'>) => Promise<Reading<true, FollowReportsPort>>;
  readonly all: () => Promise<Reading<readonly FollowReport[], FollowReportsPort>>;
};

/** A report is told again at least so often; after three times as long the follower is gone. */
export const REPORT_EACH_S = 30;

// Imports of chain exports into the transfer store: what is asked of one, what it came to, and how
// it is taken out again. Blocks are held in full only where the files prove it or the operator says
// so.

/**
 * The state of an import. `begun`: it has not ended, and the same command continues it.
 * `forgetting`: it is being removed, or was when its process ended.
 */
export const IMPORT_STATES = ['begun', 'completed', 'forgetting', 'forgotten'] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

/** An import by its id. Counts are those of its end, 0 before. */
export type ListedImport = {
  readonly import_id: string;
  readonly chain: ChainName;
  readonly source: string;
  readonly origin: ImportOrigin;
  readonly state: ImportState;
  readonly rows: number;
  readonly rows_refused: number;
  readonly transfers: number;
  /** Unix seconds. */
  readonly began_at: number;
  readonly changed_at: number;
};

/** The imports of a warehouse, the newest first. */
export type ImportList = {
  readonly imports: () => Promise<Reading<readonly ListedImport[], TransferStorePort>>;
};

/** The kinds of file that are imported, and those which are known and left aside. */
export type BulkDataset =
  | 'token_transfers'
  | 'traces'
  | 'transactions'
  | 'native_transfers'
  | 'contracts'
  | 'blocks'
  | 'left_aside';

/** The chains whose exports have a known layout. */
export const BULK_CHAINS: readonly EvmChainName[] = EVM_CHAINS;

/** The order of an import. Paths are absolute: files, folders, or patterns with `*` or `?`. */
export type BulkImportOrder = {
  readonly paths: readonly string[];
  readonly chain: EvmChainName;
  readonly origin: ImportOrigin;
  /** The blocks that the operator declares these files to hold in full. */
  readonly declared: { readonly from_block: number; readonly to_block: number } | null;
  /** Whether the operator declares that cryo's files were made with `--exclude-failed`. */
  readonly failed_excluded: boolean;
};

/**
 * How far an import is: files are looked into first, where there are several. `fraction` is of its
 * phase, from 0 to 1; rows are those that are written.
 */
type BulkProgress = {
  readonly phase: 'looking' | 'importing';
  readonly rows: number;
  readonly fraction: number;
};

/** The progress of an import, and its stop signal. */
export type BulkImportWatch = {
  readonly onNote: (line: string) => void;
  readonly onProgress: (progress: BulkProgress) => void;
  readonly signal: AbortSignal;
};

/** A file of an import by its base name. */
export type ImportedFile = {
  readonly name: string;
  readonly layout: string;
  readonly dataset: BulkDataset;
  readonly rows: number;
};

/** The result of an import. Counts are by a stable code. */
export type BulkImportRecord = {
  readonly import_id: string;
  readonly files: readonly ImportedFile[];
  readonly rows: number;
  readonly rows_refused: number;
  readonly refused: ReadonlyMap<string, number>;
  /** The rows that are no transfer: failed and delegated calls, for instance. */
  readonly left_out: ReadonlyMap<string, number>;
  /** Transfers and creations written, those which were held before included. */
  readonly transfers: number;
  readonly creations: number;
  readonly of_another_fork: number;
  readonly coverage: readonly HeldRange[];
  /** The file of refused rows, which holds the first of them; `null` where there are none. */
  readonly refused_file: string | null;
};

/**
 * The end of an import. After `unread` and `stopped` the same import continues from there; its
 * written rows stay, and no coverage of it is recorded before the end.
 */
export type BulkImportOutcome =
  | { readonly outcome: 'completed'; readonly record: BulkImportRecord }
  | { readonly outcome: 'unread'; readonly why: Why }
  | { readonly outcome: 'stopped' };

/** Imports files of chain exports into the transfer store. Several may go side by side. */
export type BulkImport = (
  order: BulkImportOrder,
  watch: BulkImportWatch,
) => Promise<BulkImportOutcome>;

/** The order to forget: blocks of a chain, both ends included, or the rows of an import. */
export type ForgetOrder =
  | { readonly chain: ChainName; readonly from_block: number; readonly to_block: number }
  | { readonly import_id: string };

/** Blocks of a kind that are no longer held in full; `source` is who had said so. */
export type Withdrawn = Pick<HeldRange, 'kind' | 'from_block' | 'to_block' | 'source'>;

/** The other origin of some blocks. */
export const STAYING_BECAUSE = ['followed', 'held_in_full', 'another_import'] as const;

/** Blocks of which the rows of a kind stay: whoever else brought them vouches for them. */
export type Staying = {
  readonly because: (typeof STAYING_BECAUSE)[number];
  readonly kind: TransferKind;
  readonly blocks: number;
};

/** The rows that forgetting would remove, or has removed. */
export type Forgotten = {
  readonly chain: ChainName;
  readonly import_id: string | null;
  /** The lowest and the highest block that it touches. */
  readonly from_block: number;
  readonly to_block: number;
  /** Transfers that are held of these blocks and go. */
  readonly transfers: number;
  readonly withdrawn: readonly Withdrawn[];
  /** Ranges of single addresses that touch these blocks; they are read anew when asked for. */
  readonly addresses: number;
  readonly staying: readonly Staying[];
};

/**
 * Takes blocks out of the warehouse. `plan` changes nothing; `null`: no such import is listed, or
 * it wrote nothing. An unread `forget` may have been done in part: coverage is gone then, rows may
 * not be, and the same order takes out the rest.
 */
export type Forgetting = {
  readonly plan: (order: ForgetOrder) => Promise<Reading<Forgotten | null, TransferStorePort>>;
  /** The signal ends it between two steps. */
  readonly forget: (
    order: ForgetOrder,
    signal: AbortSignal,
  ) => Promise<Reading<Forgotten | null, TransferStorePort>>;
};

// A lease ends by itself, so that one whose holder was killed is free again.

/** The name of this port in readings. */
export type LeasesPort = 'leases';

/**
 * A lease that is held. `epoch` is greater than that of every holder before, whatever became of it;
 * it stays while the lease is held. `released`: nobody held it before, or who did has let it go.
 */
export type Lease = { readonly epoch: number; readonly released: boolean };

/** Leases by name; each process is a holder of its own. */
export type Leases = {
  /**
   * Takes a lease for so many seconds, or holds the own one for longer. `null`: another holder has
   * it and has not let it end.
   */
  readonly take: (name: string, forS: number) => Promise<Reading<Lease | null, LeasesPort>>;
  /** Lets the own lease end; one that another holder has is left alone. */
  readonly release: (name: string) => Promise<Reading<true, LeasesPort>>;
};
