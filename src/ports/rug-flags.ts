// A table that nobody has ever written is read as such; a window that was scored in part is a part.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../chain/chain.ts';
import type { UnixSeconds } from '../chain/time.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import type { TableLookUp } from './tables.ts';

/** The name of this port in readings and contracts. */
export type RugFlagsPort = 'rug_flags';

const seconds = z.int().nonnegative();
const count = z.int().nonnegative();
const chain = z.enum(CHAIN_NAMES);

/** Whether what became of an earlier launch of the deployer was known when a launch was scored. */
export const DEPLOYER_HISTORIES = ['settled', 'none'] as const;
export type DeployerHistory = (typeof DEPLOYER_HISTORIES)[number];

/** The two kinds of deployers, for people: `with earlier launches whose fate was known`. */
export const HISTORY_WORDS: { readonly [history in DeployerHistory]: string } = {
  settled: 'with earlier launches whose fate was known',
  none: 'without such launches: the score rests on the launch itself',
};

/** The strongest evidence of a score: a feature with its value, in numbers and in words. */
export const topEvidence = z.strictObject({
  feature: z.string(),
  /** `null` where the feature has no value: a first launch has no earlier ones. */
  value: z.number().nullable(),
  /** By how much it moves the log-odds of the score. */
  contribution: z.number(),
  statement: z.string(),
});
export type TopEvidence = z.output<typeof topEvidence>;

/** A launch that the model flags. Amounts in US dollars. */
export const launchFlag = z.strictObject({
  chain,
  /** The wallet that launched it. */
  address: z.string(),
  token: z.string(),
  launched_at: seconds,
  /** Pooled liquidity as last observed; `null` where it is not known. */
  liquidity_usd: z.number().nullable(),
  /** From 0 to 1: the chance of what the model's card states. */
  score: z.number(),
  /** Whether the fate of an earlier launch of its deployer was known; `null`: it was not kept. */
  deployer_history: z.enum(DEPLOYER_HISTORIES).nullable(),
  first_flagged_at: seconds,
  last_scored_at: seconds,
  top_evidence: topEvidence,
  model_version: z.string(),
  /** Whether the token stands on the reviewed list of established ones. */
  is_listed_token: z.boolean(),
});
export type LaunchFlag = z.output<typeof launchFlag>;

/** The scored launches of a chain in the window. Only chains that were ever scored are named. */
export const scoredChain = z.strictObject({
  chain,
  /** When its last run ended. */
  last_scored_at: seconds,
  model_version: z.string(),
  scored: count,
  /** Flagged by the model and suppressed by the scorer, as established tokens. */
  suppressed: count,
  /** Launches of which an input was not read: nothing is said of them. */
  unscored: count,
  /** Wallets that wait to be scored. */
  waiting: count,
});
export type ScoredChain = z.output<typeof scoredChain>;

/** A window of the table. `chains` is empty where no scorer has ever written. */
export type FlagWindow = {
  readonly chains: readonly ScoredChain[];
  /** Those last scored in the window, the highest score first. */
  readonly flags: readonly LaunchFlag[];
};

export type RugFlags = {
  /** The last `windowS` seconds. */
  readonly inWindow: (windowS: number) => Promise<Partly<FlagWindow, RugFlagsPort>>;
};

// A missing wallet was not flagged only if the observation of launches was complete.

/** The name of this port in readings and contracts. */
export type LaunchWatchPort = 'launch_watch';

/**
 * The sources that observe launches. `explorer` and `queue`: the walks of wallets; `node` and
 * `collection`: new launches of a chain; `venue`: their outcomes.
 */
export const WATCHED_SOURCES = ['explorer', 'node', 'venue', 'collection', 'queue'] as const;
export type WatchedSource = (typeof WATCHED_SOURCES)[number];

/** Whether launches were watched. */
export type LaunchWatch = {
  /**
   * The unwatched parts of the last `windowS` seconds for a source, in words; empty: it watched all
   * of them, up to the date of the reading. Covers the chains of the model in force.
   */
  readonly gapsOf: (
    source: WatchedSource,
    windowS: number,
  ) => Promise<Reading<readonly string[], LaunchWatchPort>>;
};

// The log is one for all processes. Its numbers begin at 1 and have no gap; its oldest events go.

/** The name of this port in readings. */
export type FlagEventsPort = 'flag_events';

/** The retention of events: this many of the newest, and none older than this. */
export const FLAG_EVENTS_KEPT = { eventsMax: 10_000, ageMaxS: 24 * 60 * 60 } as const;
/** Events that may be appended, or read, at once. */
export const FLAG_EVENTS_AT_ONCE_MAX = 1_000;

type Subject = {
  readonly chain: ChainName;
  /** The wallet that launched the token. */
  readonly address: string;
  readonly token: string;
  /** The model that flagged it. */
  readonly model_version: string;
  readonly simulated: boolean;
};

/** A flag, with the one piece of evidence that weighs most, in words and numbers. */
export type NewFlag = Subject & {
  readonly kind: 'flag';
  /** From 0 to 1: the chance of what the model's card states. */
  readonly score: number;
  readonly evidence: string;
  /** Whether the fate of an earlier launch of its deployer was known; `null`: it was not kept. */
  readonly deployer_history: DeployerHistory | null;
  readonly flagged_at: UnixSeconds;
};

/** A flag taken back because what it rested on is gone: a block that left the chain, mostly. */
export type NewRetraction = Subject & {
  readonly kind: 'retraction';
  /** The number under which the flag was told. */
  readonly retracts: number;
  readonly reason: string;
  readonly retracted_at: UnixSeconds;
};

/** That all flags of a model are withdrawn. Those that stand are taken back one by one after it. */
export type NewWithdrawal = {
  readonly kind: 'withdrawal';
  readonly model_version: string;
  readonly simulated: boolean;
  readonly reason: string;
  readonly withdrawn_at: UnixSeconds;
};

/** The events that may be appended. */
export type NewFlagEvent = NewFlag | NewRetraction | NewWithdrawal;

/** An event under its number. */
export type FlagEvent = NewFlagEvent & { readonly seq: number };

/** Both ends of the log: `newest` is 0 while nothing was ever told, `oldest` can still be had. */
export type FlagLogBounds = { readonly newest: number; readonly oldest: number | null };

/** Events that follow each other, and both ends of the log when they were read. */
export type FlagEventChunk = FlagLogBounds & { readonly events: readonly FlagEvent[] };

export type FlagEvents = {
  /** The first events after a number, `FLAG_EVENTS_AT_ONCE_MAX` of them at most. */
  readonly after: (seq: number) => Promise<Reading<FlagEventChunk, FlagEventsPort>>;
  readonly bounds: () => Promise<Reading<FlagLogBounds, FlagEventsPort>>;
  /** Lets go of what is too old; the newest number stays. */
  readonly prune: () => Promise<Reading<true, FlagEventsPort>>;
};

// A miss means that no imported table names the address, which clears it of nothing.

/** The name of this port in readings and contracts. */
export type FlaggedAddressesPort = 'flagged_addresses';

/** One row of a table, with where it comes from. */
export type FlaggedRow = {
  readonly address: string;
  /** The chain that the source names, or `null` where it names none. */
  readonly chain: string | null;
  /** The source's name for it: `Fake_Phishing1772`, `xToken Exploiter`. */
  readonly tag: string;
  /** The source's word for the kind: `phish-hack`, `exploit`, `heist`. */
  readonly category: string;
  readonly is_contract: boolean | null;
  /** The creator of the contract, and its transaction, if the source names them. */
  readonly creator: string | null;
  readonly creation_tx: string | null;
  readonly source: string;
  readonly source_url: string | null;
  /** ISO 8601 day on which the source dates the row, or on which it was imported. */
  readonly first_seen: string;
};

/** The result of a look-up, each by `matchKey` of the requested address. */
export type FlaggedLookUp = {
  readonly table_rows: number;
  readonly found: ReadonlyMap<string, readonly FlaggedRow[]>;
  /** Rows of contracts that name the address as their creator. */
  readonly created: ReadonlyMap<string, readonly FlaggedRow[]>;
};

/** The table of flagged addresses. Readable once an import of it has completed. */
export type FlaggedAddresses = TableLookUp<FlaggedAddressesPort, FlaggedLookUp>;
