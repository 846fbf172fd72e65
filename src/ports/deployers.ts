// A record is committed whole, with the time at which it was captured, and does not expire. An
// address that was never walked has no record, which says nothing about it.

import { z } from 'zod';
import type { UnixSeconds } from '../chain/time.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import type { Why } from '../evidence/reasons.ts';
import type { Prices } from './history.ts';

/** The name of this port in readings and contracts. */
export type DeployerRecordsPort = 'deployer_records';

/** The only chain whose deployers are walked. */
export const DEPLOYER_CHAIN = 'ethereum';

/**
 * The outcome of a launch. `unchecked`: the venue did not answer, or did not report the deciding
 * liquidity; that is never a death.
 */
export const LAUNCH_OUTCOMES = ['live', 'died', 'never_listed', 'unchecked'] as const;
export type LaunchOutcome = (typeof LAUNCH_OUTCOMES)[number];

/**
 * Why nobody can say what a token was launched with. `unasked`: no venue lists it, or it is old.
 * `no_pool`: the exchange that is read has no pool of it with a coin that counts.
 * `not_by_deployer`: somebody else put the first liquidity in. `older_pool`: another pool may be
 * the first. `unpriced`: no price of the coin is known at that time.
 */
export const LAUNCHED_WITH_UNKNOWN = [
  'unasked',
  'no_pool',
  'not_by_deployer',
  'older_pool',
  'unpriced',
] as const;

const seconds = z.int().nonnegative();
const usdOrNone = z.number().nonnegative().nullable();
const countOrNone = z.int().nonnegative().nullable();

/** The coin of a first pool whose amount is ether: wrapped ether of Ethereum. */
export const WRAPPED_ETHER = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';

/**
 * The liquidity of a token at launch. `usd`: both sides, decimal text. `amount`: of the coin alone,
 * in whole units. `price`: the basis of the price. `unread`: a source was silent.
 */
const launchedWith = z.discriminatedUnion('state', [
  z.strictObject({
    state: z.literal('known'),
    usd: z.string(),
    pool: z.string(),
    coin: z.string(),
    amount: z.string(),
    tx: z.string(),
    at: seconds,
    price: z.string(),
  }),
  z.strictObject({ state: z.literal('unknown'), cause: z.enum(LAUNCHED_WITH_UNKNOWN) }),
  z.strictObject({ state: z.literal('unread'), reason: z.string() }),
]);
export type LaunchedWith = z.output<typeof launchedWith>;

/** One token that the deployer launched. Addresses in lower case, amounts in US dollars. */
const observedLaunch = z.strictObject({
  address: z.string(),
  created_at: seconds,
  /** The deployer's own factory that made it; `null` where the deployer made it directly. */
  factory: z.string().nullable(),
  outcome: z.enum(LAUNCH_OUTCOMES),
  /** Over the pools in which it is the base token; `null` where no pool tells it. */
  liquidity_usd: usdOrNone,
  volume_usd_24h: usdOrNone,
  /** `null` where its transfers could not be read. */
  transfers_observed: countOrNone,
  transfers_truncated: z.boolean().nullable(),
  launched_with: launchedWith,
});
export type ObservedLaunch = z.output<typeof observedLaunch>;

/** Why a contract is no launch of this deployer. */
export const SKIP_REASONS = [
  'not_an_erc20',
  'attribution_mismatch',
  'reverted_creation',
  'undetermined',
] as const;
const skipped = z.strictObject({ address: z.string(), reason: z.enum(SKIP_REASONS) });
export type Skipped = z.output<typeof skipped>;

/**
 * The observations of one walk. Each examined contract stands once, in `launches` or in `skipped`.
 */
export const deployerWalk = z.strictObject({
  address: z.string(),
  captured_at: seconds,
  /** The pooled liquidity below which a listed launch has died. */
  exit_liquidity_usd: z.number().positive(),
  launches: z.array(observedLaunch).readonly(),
  skipped: z.array(skipped).readonly(),
  /** Contracts that the address made itself and is credited with. */
  direct_creations: z.int().nonnegative(),
  factories_walked: z.int().nonnegative(),
  /** Whether something was left out, so that every count is a floor. */
  truncated: z.boolean(),
  truncated_factories: z.array(z.string()).readonly(),
  /** The providers: names with scheme and host. */
  providers: z.array(z.string()).readonly(),
  /**
   * Tokens that a venue listed at this walk or at one before: none of them is ever "never listed".
   * Left out of what version 0.2.0 kept.
   */
  listed_once: z.array(z.string()).readonly().optional(),
  /**
   * Contracts of the address that made tokens which a venue listed, at this walk or at one before.
   * Left out of what version 0.2.0 kept.
   */
  factories_once: z.array(z.string()).readonly().optional(),
  /**
   * Why it was not read whether an exchange had made a pair of the launches that no venue lists;
   * `null` where it was. Left out of what version 0.2.0 kept.
   */
  pairs_unread: z.string().nullable().optional(),
  /**
   * Every contract made from then on was listed and determined; `null`: a list of them was cut. It
   * is later than all that the address signed where a contract of its own was not asked what it
   * made.
   * Left out of what version 0.2.0 kept.
   */
  read_from: seconds.nullable().optional(),
});
export type DeployerWalk = z.output<typeof deployerWalk>;

/** The unread parts of a walk: whether it was cut, and the number of undetermined contracts. */
export function omissionsIn({ launches, skipped, truncated }: DeployerWalk) {
  const unchecked = launches.filter(({ outcome }) => outcome === 'unchecked').length;
  const undetermined = skipped.filter(({ reason }) => reason === 'undetermined').length;
  return {
    truncated,
    unchecked,
    undetermined,
    isWhole: !truncated && unchecked + undetermined === 0,
  };
}

/** Whether a walk read every contract that its wallet made in the last `forS` seconds before it. */
export function readsAllOf(walk: DeployerWalk, forS: number): boolean {
  const { read_from, captured_at } = walk;
  if (read_from === undefined) return omissionsIn(walk).isWhole;
  return read_from !== null && read_from <= captured_at - forS;
}

/** A walk that came to nothing, later than the record that stands. */
export type FailedWalk = { readonly at: UnixSeconds; readonly reason: string };

/** A walk as it is committed, and the failure of a later one. */
export type CommittedRecord = DeployerWalk & { readonly failed: FailedWalk | null };

/** A question about a record that is older than this has the address walked again, in seconds. */
export const RECORD_FRESH_S = 21_600;

export type DeployerRecords = {
  /**
   * The record of an address of `DEPLOYER_CHAIN`. Where there is none, or one older than
   * `RECORD_FRESH_S`, the address is put into the queue of walks; the unread reading says so, or
   * why it was not. `askedBy` names the caller: each has its turn, and room for so many.
   */
  readonly recordOf: (
    address: string,
    askedBy: string,
  ) => Promise<Reading<CommittedRecord, DeployerRecordsPort>>;
  /** The same for whoever may not have an address walked: who has no record is not queued. */
  readonly heldOf: (address: string) => Promise<Reading<CommittedRecord, DeployerRecordsPort>>;
};

// Everything here is asked while a record is made, never while it is served.

/** One contract that a transaction or another contract made. Addresses in lower case. */
export type MadeContract = {
  readonly address: string;
  readonly tx: string;
  readonly block: number;
  readonly at: UnixSeconds;
  /** Whether the creation was undone, so that no contract came of it. */
  readonly reverted: boolean;
};

/**
 * The account that the chain credits with a contract, its signer; `null`: a relay, for somebody
 * else.
 */
export type Maker = { readonly signer: string | null };

/** What an address made itself, and until when it can have had others make something for it. */
export type DirectCreations = {
  /** The creations by transactions of its own without a receiver, oldest first. */
  readonly made: readonly MadeContract[];
  /** The time of its newest transaction that was not undone; `null`: there is none. */
  readonly signed_at: UnixSeconds | null;
};

/** The contracts that an address created, and their creators by the chain. */
export type DeployerCreations = {
  readonly madeDirectly: (
    address: string,
    signal: AbortSignal,
  ) => Promise<Partly<DirectCreations, 'deployer_creations'>>;
  /** The creations of a contract itself, in anybody's transactions. */
  readonly madeBy: (
    factory: string,
    signal: AbortSignal,
  ) => Promise<Partly<readonly MadeContract[], 'deployer_creations'>>;
  /** The makers of these contracts; of one that has no entry nobody is credited. */
  readonly makersOf: (
    contracts: readonly string[],
    signal: AbortSignal,
  ) => Promise<Reading<ReadonlyMap<string, Maker>, 'deployer_creations'>>;
};

/**
 * The kind of a contract, by its code and its answers. `no_code`: it destroyed itself; `undecided`:
 * it answers every call, so that its answers show nothing.
 */
export type ContractKind = 'erc20' | 'other' | 'no_code' | 'undecided';

export type ContractKinds = {
  readonly kindOf: (
    contract: string,
    signal: AbortSignal,
  ) => Promise<Reading<ContractKind, 'contract_kinds'>>;
};

/** How many transfers of a token one query shows, and whether there are more. */
export type TransfersObserved = { readonly count: number; readonly truncated: boolean };

export type TokenTransfers = {
  readonly observed: (
    token: string,
    signal: AbortSignal,
  ) => Promise<Reading<TransfersObserved, 'token_transfers'>>;
};

/** A pool of a token. Amounts in US dollars; `null` where the venue does not tell one. */
export type ListedPool = {
  /** As the venue names it, in lower case; on some exchanges that is no address of a contract. */
  readonly address: string | null;
  readonly created_at: UnixSeconds | null;
  /** Which side of the pool the token is: what the venue tells is of the base side. */
  readonly side: 'base' | 'quote';
  readonly liquidity_usd: number | null;
  readonly volume_usd_24h: number | null;
};

export type Venue = {
  /** The pools of a token; none means that the venue looked and lists no pair of it. */
  readonly poolsOf: (
    token: string,
    signal: AbortSignal,
  ) => Promise<Reading<readonly ListedPool[], 'venue'>>;
};

/** The first liquidity of a token's first pool. Addresses in lower case. */
export type FirstLiquidity = {
  readonly pool: string;
  /** The other token of the pool, and as which token it is priced: `null` is the chain's coin. */
  readonly coin: string;
  readonly priced_as: string | null;
  /** Of the coin, in whole units as decimal text. */
  readonly amount: string;
  readonly tx: string;
  readonly at: UnixSeconds;
  /** The signer of that transaction. */
  readonly signer: string;
  /** Whether the exchange had made a pool of the token with a coin that does not count. */
  readonly others_before: boolean;
};

export type LaunchPools = {
  /** By the pools with coins that count; `null` where none of them has ever held anything. */
  readonly firstLiquidity: (
    token: string,
    signal: AbortSignal,
  ) => Promise<Reading<FirstLiquidity | null, 'launch_pools'>>;
};

/** Which tokens an exchange has made a pair of, by what the exchanges themselves log. */
export type PairCreations = {
  /** Those of the tokens, from a block on to a fresh head; of none it is read only that one. */
  readonly among: (
    tokens: readonly string[],
    fromBlock: number,
    signal: AbortSignal,
  ) => Promise<Reading<ReadonlySet<string>, 'pair_creations'>>;
};

/** Which contracts are public launchpads: whoever uses one is not credited with its maker's. */
export type Launchpads = {
  readonly among: (
    contracts: readonly string[],
  ) => Promise<Reading<ReadonlySet<string>, 'launchpads'>>;
};

/** Everything that a walk asks. */
export type WalkSources = {
  readonly creations: DeployerCreations;
  readonly kinds: ContractKinds;
  readonly transfers: TokenTransfers;
  readonly venue: Venue;
  /** `null` where no node is set that could be asked. */
  readonly pairs: PairCreations | null;
  readonly launchpads: Launchpads;
  readonly launchPools: LaunchPools;
  readonly prices: Pick<Prices, 'historical'>;
};

// A walk that was taken and never ended is due again; only a record that is whole is kept.

/** The name of this port in readings. */
export type DeployerWalksPort = 'deployer_walks';

/** The end of a walk. `failed`: it had no result, or its result could not be stored. */
export type WalkEnd =
  | { readonly end: 'committed'; readonly walk: DeployerWalk }
  | { readonly end: 'failed'; readonly why: Why }
  /** The caller stopped the walk: nothing is recorded. */
  | { readonly end: 'stopped' };

/** Walks an address and commits what it came to. */
export type WalkAndCommit = (address: string, signal: AbortSignal) => Promise<WalkEnd>;

/** What a failed walk cost: one question, of a source that cut the walk before, or more. */
export type WalkCost = 'one_question' | 'more';

/** The durable queue of walks, and the place where records are committed. */
export type DeployerWalks = {
  /** The walk that is committed; `null` where none ever was. */
  readonly walkBefore: (
    address: string,
  ) => Promise<Reading<DeployerWalk | null, DeployerWalksPort>>;
  /** Takes the next address that is due for so many seconds; `null` where nobody is. */
  readonly take: (forS: number) => Promise<Reading<string | null, DeployerWalksPort>>;
  /**
   * Commits a record in place of any before, and ends the walk's place in the queue. `cut`: why a
   * source did not answer all that the walk asked; then it is due again soon, a few times.
   */
  readonly commit: (walk: DeployerWalk, cut?: Why) => Promise<Reading<true, DeployerWalksPort>>;
  /**
   * Notes a failed walk: a record that stands is kept; one in the queue is due again later, and
   * within a minute where only one question was asked, of a source that is still silent.
   */
  readonly fail: (
    address: string,
    failed: FailedWalk,
    cost: WalkCost,
  ) => Promise<Reading<true, DeployerWalksPort>>;
};

// The record of a wallet rests on the launches that this deployment recorded: a wallet without one
// has not been cleared. Where collection has fallen behind, what is not found was not looked for.

/** The name of this port in readings and contracts. */
export type WalletLaunchesPort = 'wallet_launches';

/** A launch whose window had passed when the venue was asked. */
export const settledLaunch = z.strictObject({
  mint: z.string(),
  launched_at: z.int(),
  /** When it was checked. */
  settled_at: z.int(),
  listed_after_window: z.boolean(),
});
export type SettledLaunch = Readonly<z.output<typeof settledLaunch>>;

/** So many launches, and how many of them were still listed after their window. */
export const measuredLaunches = z.strictObject({ launches: z.int(), listed: z.int() });
export type Measured = z.output<typeof measuredLaunches>;

/** Settled launches before a split, the wallets that made them, and how many are flagged. */
export const launchesBefore = z.strictObject({
  launches: z.int(),
  wallets: z.int(),
  flagged_wallets: z.int(),
});

/**
 * The value of the flag on launches of a later window. `flagged`: launches of wallets whose settled
 * launches before the split had all died; `rest`: all others.
 */
export type HoldOut = {
  /** An ISO 8601 day: launches from its first second on are held out. */
  readonly split: string;
  readonly flagged: Measured;
  readonly rest: Measured;
  readonly history: z.output<typeof launchesBefore>;
};

/** The collection from the chain, with its gaps. */
export const collection = z.strictObject({
  since: z.number(),
  /** Up to when every watched account was read. */
  reached_at: z.number(),
  gaps: z.int(),
  /** Seconds that the gaps cover, summed over the watched accounts. */
  missed_s: z.number(),
});
export type Collection = z.output<typeof collection>;

/** The state of the corpus behind every answer about a wallet. */
export type CorpusState = {
  readonly settled_launches: number;
  /** `null` where nothing was ever collected here: all launches came by import. */
  readonly collection: Collection | null;
  /** `null` where no launch was held out. */
  readonly hold_out: HoldOut | null;
};

export type WalletRecord = {
  readonly corpus: CorpusState;
  readonly settled: number;
  /** Of these, no longer listed when they were checked. */
  readonly died: number;
  /** Mints on record whose window has not passed, or of which the venue has not told. */
  readonly waiting: readonly string[];
  /** The newest settled launches, up to `ENTRIES_MAX`. */
  readonly entries: readonly SettledLaunch[];
};

/** How many of a wallet's launches are shown. */
export const WALLET_ENTRIES_MAX = 500;
/** How many that wait are read of a wallet: a day has room for no more. */
export const WAITING_MAX = 100_000;

export const mintLaunch = z.strictObject({
  deployer: z.string(),
  launched_at: z.int(),
  /** The transaction that launched it; `null` where an import told of it. */
  signature: z.string().nullable(),
});
export type MintLaunch = Readonly<z.output<typeof mintLaunch>>;

export type WalletLaunches = {
  /** The launches of a wallet, by its exact address. */
  readonly of: (wallet: string) => Promise<Reading<WalletRecord, WalletLaunchesPort>>;
  /** The launcher of a mint, settled or not; `null`: no launch of it is on record. */
  readonly launchOf: (
    mint: string,
  ) => Promise<
    Reading<
      { readonly corpus: CorpusState; readonly launch: MintLaunch | null },
      WalletLaunchesPort
    >
  >;
};

/** Measures the flag against what came later. */
export type FlagEvaluation = {
  /** On the launches from a day on; `null`: from the day that leaves a quarter of them. */
  readonly heldOut: (split: string | null) => Promise<Reading<HoldOut | null, WalletLaunchesPort>>;
};
