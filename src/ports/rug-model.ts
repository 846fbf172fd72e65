// An artefact never changes: its version is made of its own hash, so that a score names the exact
// trees behind it.

import type { ChainName } from '../chain/chain.ts';
import { DAY_S, type UnixSeconds } from '../chain/time.ts';
import type { Reading } from '../evidence/reading.ts';
import type { TopEvidence } from './rug-flags.ts';

/** The format of the artefact's file. */
export const MODEL_SCHEMA = 'exhibit-rug-model/1';

/** The version of an artefact: `rug-1-` and the first 12 digits of its SHA-256. */
export function modelVersion(sha256: string): string {
  return `rug-1-${sha256.slice(0, 12)}`;
}

/**
 * A node of a tree. `rows` are the training rows that came to it. A split sends a value of
 * `at_most` or less to `left`, another to `right`, and a missing one as `missing` says.
 */
export type ModelNode =
  | { readonly leaf: number; readonly rows: number }
  | {
      /** Its place in the model's `features`. */
      readonly feature: number;
      readonly at_most: number;
      readonly missing: 'left' | 'right';
      readonly left: number;
      readonly right: number;
      readonly rows: number;
      readonly gain: number;
    };

/** A tree: its root first, each child behind its parent. */
export type ModelTree = readonly ModelNode[];

/** A figure with its interval at 95%; the ends are `null` where none can be told. */
export type Figure = {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
};

/** A row of the reliability table: launches of like scores, and how many of them died. */
export type ReliabilityRow = {
  readonly score_from: number;
  readonly score_to: number;
  readonly launches: number;
  readonly mean_score: number;
  readonly died: number;
  readonly died_share: Figure;
};

/** How well scores tell what died. `auc` is `null` where all rows have one outcome. */
export type Measures = {
  readonly auc: Figure | null;
  readonly precision_at_k: Figure & { readonly k: number; readonly tied_at_k: number };
  readonly brier: Figure;
};

/** A baseline, and how far the model is from it; the intervals hold for all `comparisons`. */
export type Baseline = Measures & {
  readonly name: 'base_rate' | 'deployer_death_rate';
  readonly statement: string;
  readonly auc_gain: Figure | null;
  readonly brier_gain: Figure;
};

/** Scores held against outcomes. */
export type Evaluation = {
  readonly rows: number;
  readonly deployers: number;
  readonly died: number;
  readonly died_share: Figure;
  readonly model: Measures;
  readonly reliability: readonly ReliabilityRow[];
  readonly baselines: readonly Baseline[];
  /** Resamples behind the intervals, drawn by deployer, and their seed. */
  readonly resamples: number;
  readonly seed: number;
  /** Differences from baselines that were looked at; their intervals are wide enough for all. */
  readonly comparisons: number;
};

/** One part of the rows, in the order in which they were scored. */
export type ModelPart = {
  readonly rows: number;
  readonly died: number;
  readonly from: UnixSeconds;
  readonly to: UnixSeconds;
};

/** A feature as the card tells it. */
export type CardFeature = {
  readonly name: string;
  readonly unit: string;
  readonly measured: number;
  readonly splits: number;
  /** Share of the gain of all splits. */
  readonly gain: number;
  /** How well it alone tells what died in the test part; `null` where it cannot be told. */
  readonly auc_alone: number | null;
};

/** What stands behind an artefact. */
export type ModelCard = {
  readonly data: {
    readonly sha256: string;
    readonly rows: number;
    readonly deployers: number;
    readonly chains: readonly string[];
    readonly from: UnixSeconds;
    readonly to: UnixSeconds;
    readonly simulated: boolean;
  };
  /** What the score is the chance of. */
  readonly target: string;
  readonly split: {
    /** Launches scored from here on are the test part. */
    readonly at: UnixSeconds;
    /** From which age a launch of the same deployer that was seen alive had settled. */
    readonly settle_days: number;
    /** Whether fates were learnt as they were seen last, or as they were visible at the split. */
    readonly fates: 'last_seen' | 'at_split';
    readonly train: ModelPart;
    readonly stop: ModelPart;
    readonly calibrate: ModelPart;
    readonly test: ModelPart;
    /** Rows before the split that were too young at it for their fate to be visible. */
    readonly left_out: number;
  };
  readonly training: {
    readonly seed: number;
    readonly trees: number;
    readonly depth_max: number;
    readonly shrinkage: number;
    readonly row_share: number;
    readonly lambda: number;
    readonly hessian_min: number;
    readonly bins: number;
    readonly patience: number;
  };
  readonly features: readonly CardFeature[];
  readonly test: Evaluation;
  readonly code_version: string;
};

/** A trained model. `base` and leaves are log-odds. */
export type RugModel = {
  readonly features: readonly string[];
  readonly base: number;
  readonly trees: readonly ModelTree[];
  /** Makes log-odds of a chance from what the trees add up to; `slope` is over zero. */
  readonly calibration: { readonly slope: number; readonly intercept: number };
  readonly card: ModelCard;
};

/** An artefact: a model with its version, and its file's text to the byte. */
export type ModelArtefact = {
  readonly version: string;
  readonly model: RugModel;
  readonly text: string;
};

// A feature that was not measured is missing (`null`), which is never zero.

/** How a feature is counted. `yes_no` is 1 or 0. */
export type FeatureUnit = 'count' | 'share' | 'hours' | 'usd' | 'yes_no';

/** One feature. `missing` says when it has no value. */
export type RugFeature = {
  readonly name: string;
  readonly unit: FeatureUnit;
  readonly meaning: string;
  readonly missing: string;
  /** 1: the score may only rise with it; 0: it may go either way. */
  readonly monotone: 0 | 1;
  /** Of which chains the scorer of this service reads it; of others every value is missing. */
  readonly read_of: readonly ChainName[];
};

const SCORED = ['ethereum', 'solana'] as const;
const NO_RECORD = 'The launches of its deployer were not read.';

/** The features, in the order in which a model names them. */
export const RUG_FEATURES = [
  {
    name: 'deployer_launches_before',
    unit: 'count',
    meaning: 'Launches by the same deployer before this one.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_launches_in_week_before',
    unit: 'count',
    meaning: 'Launches by the same deployer in the seven days before this one.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_settled_before',
    unit: 'count',
    meaning: 'Of its earlier launches, those that had died, or lived through the settling time.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_died_before',
    unit: 'count',
    meaning: 'Of its earlier launches, those that had died by then.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_death_rate_before',
    unit: 'share',
    meaning: 'Died of settled among its earlier launches.',
    missing: 'The launches of its deployer were not read, or none before had settled.',
    monotone: 1,
    read_of: SCORED,
  },
  {
    name: 'deployer_hours_since_launch',
    unit: 'hours',
    meaning: 'Since the launch before by the same deployer.',
    missing: 'The launches of its deployer were not read, or this is the first.',
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_hours_since_first',
    unit: 'hours',
    meaning: 'Since the first launch by the same deployer.',
    missing: 'The launches of its deployer were not read, or this is the first.',
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_funded_hours_before',
    unit: 'hours',
    meaning: 'From the first funds of the deployer’s address to the launch.',
    missing: 'When the deployer was first funded was not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'liquidity_usd',
    unit: 'usd',
    meaning: 'Liquidity pooled at launch, both sides.',
    missing: 'The liquidity at launch was not read or could be another’s, or had no price.',
    monotone: 0,
    read_of: ['ethereum'],
  },
  {
    name: 'holder_top10_share',
    unit: 'share',
    meaning: 'Share of the supply with the ten largest holders, pools and burned coins apart.',
    missing: 'The holders were not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'owner_can_mint',
    unit: 'yes_no',
    meaning: 'Whether somebody may make more of the token.',
    missing: 'The powers over the contract were not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'owner_can_block',
    unit: 'yes_no',
    meaning: 'Whether somebody may stop holders from transferring.',
    missing: 'The powers over the contract were not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'ownership_renounced',
    unit: 'yes_no',
    meaning: 'Whether the contract has an owner function that names nobody.',
    missing: 'The owner was not read, or the contract tells none.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'token_hours',
    unit: 'hours',
    meaning: 'Age of the token when it was scored.',
    missing: 'The time of the launch was not read.',
    monotone: 0,
    read_of: SCORED,
  },
] as const satisfies readonly RugFeature[];

/** The name of a feature. */
export type FeatureName = (typeof RUG_FEATURES)[number]['name'];

/** What is known of one launch at the moment it is scored; `null` is missing. */
export type Features = { readonly [name in FeatureName]: number | null };

// Versions are kept for ever and never change; the newest publication names the one in force.

/** The name of this port in readings and contracts. */
export type PublishedModelPort = 'published_model';

/** The model in force. */
export type PublishedModel = ModelArtefact & { readonly published_at: UnixSeconds };

/** The published models. */
export type PublishedModels = {
  /**
   * The one in force. Unread with `model_not_published` where none ever was, with
   * `model_unusable` where what was published cannot be read by this version.
   */
  readonly inForce: () => Promise<Reading<PublishedModel, PublishedModelPort>>;
  /** Keeps an artefact and puts it in force; one that is in force already stays as it is. */
  readonly publish: (
    artefact: ModelArtefact,
  ) => Promise<Reading<'published' | 'in_force_already', PublishedModelPort>>;
};

// What a model says of a wallet is written in one piece, with the events that tell of it.

/** The name of this port in readings. */
export type LaunchScoringPort = 'launch_scoring';

/** The chains whose launches are collected here. */
export const SCORED_CHAINS = ['ethereum', 'solana'] as const satisfies readonly ChainName[];
export type ScoredChainName = (typeof SCORED_CHAINS)[number];

/** A launch is scored until it is so old. */
export const NEW_FOR_S = 30 * DAY_S;

/** One launch on record, as it was last observed. */
export type LaunchOnRecord = {
  readonly token: string;
  readonly launched_at: UnixSeconds;
  readonly liquidity_usd: number | null;
  /** Pooled when it was launched, both sides; `null` where that was not read or nobody can tell. */
  readonly launched_with_usd: number | null;
  /** Why that was not read, where a source was silent; `null` in every other case. */
  readonly launched_with_unread: string | null;
  /** Whether a venue lists it, or listed it; `null` where that was not read. */
  readonly listed: boolean | null;
  /** What became of it; `null` where that is not known yet. */
  readonly seen: { readonly as: 'died' | 'live'; readonly at: UnixSeconds } | null;
};

/** A wallet of which something became known since it was scored last. */
export type WalletToScore = {
  readonly chain: ScoredChainName;
  readonly address: string;
  readonly observed_at: UnixSeconds;
  readonly launches: readonly LaunchOnRecord[];
  /** What of its launches was not read, in words; `null` where all of them were. */
  readonly unread: string | null;
};

type Subject = Pick<LaunchOnRecord, 'token' | 'launched_at' | 'liquidity_usd'>;

/** What a model says of a launch. */
export type ScoredLaunch = Subject &
  (
    | { readonly outcome: 'flagged'; readonly score: number; readonly top_evidence: TopEvidence }
    | { readonly outcome: 'passed' | 'suppressed'; readonly score: number }
    /** An input was not read: nothing is said of it. */
    | { readonly outcome: 'unscored'; readonly reason: string }
  );

/** What a model says of a wallet, and which of its launches are on record at all. */
export type ScoredWallet = Omit<WalletToScore, 'launches' | 'unread'> & {
  readonly model_version: string;
  readonly scored_at: UnixSeconds;
  readonly launches: readonly ScoredLaunch[];
  readonly on_record: readonly string[];
};

/** What a commit changed. `false`: another process had scored the same already. */
export type Committed = { readonly flagged: number; readonly retracted: number } | false;

/** A run over a chain, noted when it has ended. */
export type ScorerRun = {
  readonly chain: ScoredChainName;
  readonly began_at: UnixSeconds;
  readonly model_version: string;
  readonly wallets: number;
  readonly scored: number;
  readonly flagged: number;
  readonly suppressed: number;
  readonly unscored: number;
  readonly retracted: number;
  readonly waiting: number;
};

/** Wallets that are due, and how many there are in all. */
export type Due = { readonly wallets: readonly WalletToScore[]; readonly due: number };

/** Where scores are kept. */
export type LaunchScoring = {
  /** Wallets whose launches this model has not scored as they are on record now. */
  readonly due: (
    chain: ScoredChainName,
    modelVersion: string,
    most: number,
  ) => Promise<Reading<Due, LaunchScoringPort>>;
  /** Writes what is said of a wallet, with its events, all of it or nothing. */
  readonly commit: (scored: ScoredWallet) => Promise<Reading<Committed, LaunchScoringPort>>;
  readonly end: (run: ScorerRun) => Promise<Reading<true, LaunchScoringPort>>;
};

/** What a scorer rests on beside a model. */
export type ScoringParts = {
  readonly scoring: LaunchScoring;
  readonly established: EstablishedTokens;
};

/** The name of this port in readings. */
export type EstablishedTokensPort = 'established_tokens';

/** A token of a chain; its address in the form that `parseAddress` gives. */
type TokenOnChain = { readonly chain: ChainName; readonly token: string };

/** The reviewed list. */
export type EstablishedTokens = {
  /** Those of the tokens that stand on it, as they were given. */
  readonly among: <T extends TokenOnChain>(
    tokens: readonly T[],
  ) => Promise<Reading<ReadonlySet<T>, EstablishedTokensPort>>;
};
