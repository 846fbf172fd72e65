// The shapes of the rug model: its artefact with the card, its features, the publications of
// versions, and the launches that are scored. An artefact never changes: its version is made of its
// own hash, so that a score names the exact trees behind it.

import { z } from 'zod';
import type { ChainName } from '../chain/chain.ts';
import { DAY_S, type UnixSeconds } from '../chain/time.ts';
import type { Reading } from '../evidence/reading.ts';
import {
  type Artefact,
  type Figure,
  figure,
  type ModelFormat,
  modelTrees,
} from './boosted-trees.ts';
import { DEPLOYER_HISTORIES, type DeployerHistory, type TopEvidence } from './rug-flags.ts';

/** The format of the artefact's file. */
const MODEL_SCHEMA = 'exhibit-rug-model/2';

/** The version of an artefact: `rug-2-` and the first 12 digits of its SHA-256. */
function modelVersion(sha256: string): string {
  return `rug-2-${sha256.slice(0, 12)}`;
}

/** The form of a version, of whichever format. */
export const MODEL_VERSION = /^rug-[0-9]{1,2}-[0-9a-f]{12}$/;

/** Where the card of a version is answered, and where people read it. */
export function modelCardPath(version: string): string {
  return `/api/models/rug/${version}`;
}
export function modelPagePath(version: string): string {
  return `/models/rug/${version}`;
}

/** The one sentence that defines a score, wherever one is shown. */
export const SCORE_SENTENCE =
  'A score is the chance, from 0 to 1, that a launch dies within the horizon that the card of ' +
  'its model states, counted from the launch.';

/** Hours as people tell them: whole days from two days on. */
export function hoursText(hours: number): string {
  if (hours === 1) return '1 hour';
  return hours >= 48 && hours % 24 === 0 ? `${hours / 24} days` : `${hours} hours`;
}

const count = z.int().nonnegative();
const share = z.number().min(0).max(1);
const seconds = count;

/** The quality of scores. `auc` is `null` if all rows have one outcome. */
const measures = z.strictObject({
  auc: figure.nullable(),
  precision_at_k: figure.extend({ k: count, tied_at_k: count }),
  brier: figure,
});
export type Measures = Readonly<z.output<typeof measures>>;

/** A row of the reliability table: launches of like scores, and how many of them died. */
const reliabilityRow = z.strictObject({
  score_from: share,
  score_to: share,
  launches: count,
  mean_score: share,
  died: count,
  died_share: figure,
  /** How far its share lies over that of all launches, over resamples by deployer. */
  gap: figure,
});
export type ReliabilityRow = Readonly<z.output<typeof reliabilityRow>>;

/** Deployers whose launches have like scores on average, each counted once. */
const deployerRow = z.strictObject({
  score_from: share,
  score_to: share,
  deployers: count,
  mean_score: share,
  /** The mean over deployers of the share of their launches that died. */
  died_share: figure,
});
export type DeployerRow = Readonly<z.output<typeof deployerRow>>;

/** Launches of one kind of deployer. */
const historyRow = z.strictObject({
  history: z.enum(DEPLOYER_HISTORIES),
  launches: count,
  deployers: count,
  died: count,
  died_share: figure.nullable(),
  mean_score: share.nullable(),
  auc: figure.nullable(),
});
export type HistoryRow = Readonly<z.output<typeof historyRow>>;

/** A baseline, and how far the model is from it; the intervals hold for all `comparisons`. */
const baseline = z.strictObject({
  name: z.enum(['base_rate', 'deployer_death_rate']),
  statement: z.string(),
  ...measures.shape,
  auc_gain: figure.nullable(),
  brier_gain: figure,
});
export type Baseline = Readonly<z.output<typeof baseline>>;

/** Scores held against outcomes. */
const evaluation = z.strictObject({
  rows: count,
  deployers: count,
  died: count,
  died_share: figure,
  model: measures,
  reliability: z.array(reliabilityRow).readonly(),
  reliability_by_deployer: z.array(deployerRow).readonly(),
  by_history: z.array(historyRow).readonly(),
  baselines: z.array(baseline).readonly(),
  /** Resamples behind the intervals, drawn by deployer, and their seed. */
  resamples: count,
  seed: count,
  /** Differences from baselines that were looked at; their intervals are wide enough for all. */
  comparisons: count,
});
export type Evaluation = Readonly<z.output<typeof evaluation>>;

/** One part of the rows, in the order in which they were scored. */
const part = z.strictObject({ rows: count, died: count, from: seconds, to: seconds });
export type ModelPart = Readonly<z.output<typeof part>>;

/** A feature as the card tells it. */
const cardFeature = z.strictObject({
  name: z.string(),
  unit: z.string(),
  measured: count,
  splits: count,
  /** Share of the gain of all splits. */
  gain: share,
  /** The AUC of the feature alone in the test part; `null` if it cannot be computed. */
  auc_alone: share.nullable(),
});
export type CardFeature = Readonly<z.output<typeof cardFeature>>;

/**
 * The target of training and scoring. An earlier launch seen alive at the horizon's age has settled
 * too.
 */
const target = z.strictObject({
  statement: z.string(),
  /** Hours from the launch within which it dies. */
  horizon_h: count.positive(),
  /** Hours after its launch within which a launch is scored; an older one is not. */
  scored_within_h: count.positive(),
});
export type ModelTarget = Readonly<z.output<typeof target>>;

/** Settled flags whose share that died is held to what the card expects. */
export const DRIFT_FLAGS = 200;
/** So many of these are by one deployer at most: nobody fills them alone. */
export const DRIFT_FLAGS_OF_ONE = 20;
/**
 * Deployers whose newest settled flag is held against the newest launch that was passed of others
 * in the same time, of whom there are so many at least.
 */
export const DRIFT_DEPLOYERS = 400;
export const DRIFT_PASSED_MIN = 200;

/** From which score on launches are flagged, and what became of those in the test part. */
const level = z.strictObject({
  score_from: share,
  launches: count,
  deployers: count,
  died: count,
  died_share: figure,
  /** How far that lies over the share of all launches, over resamples by deployer. */
  gap: figure,
  /** Between which shares of so many later flags should die, where nothing has changed. */
  expected: z.strictObject({ flags: count.positive(), low: share, high: share }),
});
export type FlagLevel = Readonly<z.output<typeof level>>;

/** The parts of the launches that a model is made of, from the oldest to the newest. */
export const MODEL_PARTS = ['train', 'stop', 'calibrate', 'test'] as const;

/** The facts behind an artefact. Times are Unix seconds. */
export const modelCardShape = z.strictObject({
  data: z.strictObject({
    /** Of the rows in the order of time, whatever their order in the file. */
    sha256: z.string().length(64),
    rows: count,
    deployers: count,
    chains: z.array(z.string()).min(1).readonly(),
    from: seconds,
    to: seconds,
    simulated: z.boolean(),
  }),
  /** The event whose probability the score is. */
  target,
  split: z.strictObject({
    /** Launches scored from here on are the test part. */
    at: seconds,
    train: part,
    stop: part,
    calibrate: part,
    test: part,
    left_out: z.strictObject({
      /** Scored later after their launch than the target says. */
      scored_late: count,
      /** Neither seen dead within the horizon nor seen alive after it. */
      unsettled: count,
      /** Scored before the split, with a horizon that ends after it. */
      settled_after_split: count,
    }),
  }),
  training: z.strictObject({
    seed: count,
    trees: count,
    depth_max: count,
    shrinkage: z.number(),
    row_share: share,
    lambda: z.number(),
    hessian_min: z.number(),
    bins: count,
    patience: count,
  }),
  features: z.array(cardFeature).readonly(),
  test: evaluation,
  /** `null`: from no row of the table on did more die than of all; nothing is flagged. */
  level: level.nullable(),
  /** A flag names evidence that raises the log-odds by so much at least. */
  evidence_min: z.number().positive(),
  code_version: z.string(),
});
export type ModelCard = Readonly<z.output<typeof modelCardShape>>;

/** An artefact of the rug model. */
export type ModelArtefact = Artefact<RugModel>;

// A feature that was not measured is missing (`null`), which is never zero.

/** The unit of a feature. `yes_no` is 1 or 0. */
export type FeatureUnit = 'count' | 'share' | 'hours' | 'usd' | 'yes_no';

/** One feature. `missing` says when it has no value. */
export type RugFeature = {
  readonly name: string;
  /** Its name for people. */
  readonly title: string;
  readonly unit: FeatureUnit;
  readonly meaning: string;
  readonly missing: string;
  /** 1: the score may only rise with it; 0: it may go either way. */
  readonly monotone: 0 | 1;
  /** Of which chains the scorer of this service reads it; of others every value is missing. */
  readonly read_of: readonly ChainName[];
};

/** The chains whose launches are collected here. */
export const SCORED_CHAINS = ['ethereum', 'solana'] as const satisfies readonly ChainName[];
export type ScoredChainName = (typeof SCORED_CHAINS)[number];

const NO_RECORD = 'The launches of its deployer were not read.';

/** The features, in the order in which a model names them. */
export const RUG_FEATURES = [
  {
    name: 'deployer_launches_before',
    title: 'Earlier launches of the deployer',
    unit: 'count',
    meaning: 'Launches by the same deployer before this one.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED_CHAINS,
  },
  {
    name: 'deployer_launches_in_week_before',
    title: 'Launches of the deployer in the week before',
    unit: 'count',
    meaning: 'Launches by the same deployer in the seven days before this one.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED_CHAINS,
  },
  {
    name: 'deployer_settled_before',
    title: 'Earlier launches of the deployer with a known fate',
    unit: 'count',
    meaning: 'Of its earlier launches, those that had died, or lived through the horizon.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED_CHAINS,
  },
  {
    name: 'deployer_died_before',
    title: 'Earlier launches of the deployer that had died',
    unit: 'count',
    meaning: 'Of its earlier launches, those that had died by then.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED_CHAINS,
  },
  {
    name: 'deployer_death_rate_before',
    title: 'Share of the deployer’s settled launches that had died',
    unit: 'share',
    meaning: 'Died of settled among its earlier launches.',
    missing: 'The launches of its deployer were not read, or none before had settled.',
    monotone: 1,
    read_of: SCORED_CHAINS,
  },
  {
    name: 'deployer_hours_since_launch',
    title: 'Time since the deployer’s launch before',
    unit: 'hours',
    meaning: 'Since the launch before by the same deployer.',
    missing: 'The launches of its deployer were not read, or this is the first.',
    monotone: 0,
    read_of: SCORED_CHAINS,
  },
  {
    name: 'deployer_hours_since_first',
    title: 'Time since the deployer’s first launch',
    unit: 'hours',
    meaning: 'Since the first launch by the same deployer.',
    missing: 'The launches of its deployer were not read, or this is the first.',
    monotone: 0,
    read_of: SCORED_CHAINS,
  },
  {
    name: 'deployer_funded_hours_before',
    title: 'Time since the deployer was first funded',
    unit: 'hours',
    meaning: 'From the first funds of the deployer’s address to the launch.',
    missing: 'When the deployer was first funded was not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'liquidity_usd',
    title: 'Liquidity pooled at launch',
    unit: 'usd',
    meaning: 'Liquidity pooled at launch, both sides.',
    missing: 'The liquidity at launch was not read or could be another’s, or had no price.',
    monotone: 0,
    read_of: ['ethereum'],
  },
  {
    name: 'ether_pooled_whole',
    title: 'Whether a whole number of ether was pooled at launch',
    unit: 'yes_no',
    meaning: 'Whether the ether that was pooled at launch is a whole number, to the last wei.',
    missing:
      'The ether pooled at launch was not read or could be another’s, or it was another coin.',
    monotone: 0,
    read_of: ['ethereum'],
  },
  {
    name: 'holder_top10_share',
    title: 'Share of the ten largest holders',
    unit: 'share',
    meaning: 'Share of the supply with the ten largest holders, pools and burned coins apart.',
    missing: 'The holders were not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'owner_can_mint',
    title: 'Whether somebody can make more of it',
    unit: 'yes_no',
    meaning: 'Whether somebody may make more of the token.',
    missing: 'The powers over the contract were not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'owner_can_block',
    title: 'Whether somebody can stop transfers',
    unit: 'yes_no',
    meaning: 'Whether somebody may stop holders from transferring.',
    missing: 'The powers over the contract were not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'ownership_renounced',
    title: 'Whether it names no owner',
    unit: 'yes_no',
    meaning: 'Whether the contract has an owner function that names nobody.',
    missing: 'The owner was not read, or the contract tells none.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'token_hours',
    title: 'Age when it was scored',
    unit: 'hours',
    meaning: 'Age of the token when it was scored.',
    missing: 'The time of the launch was not read.',
    monotone: 0,
    read_of: SCORED_CHAINS,
  },
] as const satisfies readonly RugFeature[];

export type FeatureName = (typeof RUG_FEATURES)[number]['name'];

/** A trained model. `base` and leaves are log-odds. */
export const rugModelShape = z.strictObject({
  features: z
    .array(z.enum(RUG_FEATURES.map(({ name }) => name)))
    .min(1)
    .readonly(),
  base: z.number(),
  trees: modelTrees,
  /** Makes log-odds of a chance from what the trees add up to. */
  calibration: z.strictObject({ slope: z.number().positive(), intercept: z.number() }),
  card: modelCardShape,
});
export type RugModel = Readonly<z.output<typeof rugModelShape>>;

export const RUG_FORMAT: ModelFormat<RugModel> = {
  schema: MODEL_SCHEMA,
  version: modelVersion,
  shape: rugModelShape,
};

/** The features of one launch at the moment of scoring; `null` is missing. */
export type Features = { readonly [name in FeatureName]: number | null };

/** The name of a feature for people. */
export function featureTitle(name: string): string {
  const feature = RUG_FEATURES.find((one) => one.name === name);
  return feature === undefined ? name : feature.title;
}

/** From which score on launches are flagged, or that none is, fact by fact. */
export function levelFacts(level: FlagLevel | null): (readonly [string, string])[] {
  if (level === null) return [['level', NO_LEVEL]];
  const { score_from, launches, deployers, died_share, gap, expected } = level;
  const { flags, low, high } = expected;
  const [least, most] = [low, high].map((share) => `${(100 * share).toFixed(1)}%`);
  return [
    ['level', `flags from a score of ${score_from.toFixed(3)} on`],
    ['flagged there', `${launches} launches by ${deployers} deployers`],
    ['of them died', `${hundredths(died_share, '%')}, ${hundredths(gap, '')} points over all`],
    [
      'expected',
      `${least} to ${most} of the last ${flags} settled flags die, else they are withdrawn`,
    ],
  ];
}

const NO_LEVEL = 'no level qualifies: nothing is flagged';

/** A share in hundredths, with the ends of its interval. */
export function hundredths({ value, low, high }: Figure, unit: '%' | ''): string {
  const [said, from, to] = [value, low, high].map((one) => (100 * Number(one)).toFixed(1));
  return low === null || high === null ? `${said}${unit}` : `${said}${unit} (${from} to ${to})`;
}

// Versions are kept for ever and never change; the newest publication names the one in force.

/** The name of this port in readings and contracts. */
export type PublishedModelPort = 'published_model';

/** That flags of a model are withdrawn: its settled flags died otherwise than its card expects. */
export type ModelWithdrawal = { readonly withdrawn_at: UnixSeconds; readonly reason: string };

/** The model in force. `withdrawn`: it flags nothing. */
export type PublishedModel = ModelArtefact & {
  readonly published_at: UnixSeconds;
  readonly withdrawn: ModelWithdrawal | null;
};

/** A version that was published once. */
export type KeptModel = PublishedModel & {
  readonly in_force: boolean;
  readonly fates: FlagFates;
};

/** Launches of which it was seen whether they died, and those of them that did. */
export type Settled = { readonly settled: number; readonly died: number };

/** The outcomes of a model's newest flags whose horizon has passed. */
export type FlagFates = Settled & {
  /** Among as new flags, those of which nobody saw it. `settled` are `DRIFT_FLAGS` at most. */
  readonly unknown: number;
  /** Deployers by the newest settled launch of theirs that was flagged, and that was passed. */
  readonly deployers: { readonly flagged: Settled; readonly passed: Settled };
};

export type PublishedModels = {
  /**
   * The one in force. Unread with `model_not_published` where none ever was, with
   * `model_unusable` where what was published cannot be read by this version.
   */
  readonly inForce: () => Promise<Reading<PublishedModel, PublishedModelPort>>;
  /** A version; `null`: none of that name was ever published. Unread as `inForce` is. */
  readonly find: (version: string) => Promise<Reading<KeptModel | null, PublishedModelPort>>;
  /**
   * Keeps an artefact and puts it in force; one that is in force already stays as it is, and one
   * whose flags were withdrawn is not put in force again.
   */
  readonly publish: (
    artefact: ModelArtefact,
  ) => Promise<Reading<'published' | 'in_force_already' | 'withdrawn', PublishedModelPort>>;
};

// The scores of a wallet and the events about them are stored in one transaction.

/** The name of this port in readings. */
export type LaunchScoringPort = 'launch_scoring';

/** The age up to which the liquidity at launch is read. */
export const NEW_FOR_S = 30 * DAY_S;

/** One launch on record, as it was last observed. */
export type LaunchOnRecord = {
  readonly token: string;
  readonly launched_at: UnixSeconds;
  readonly liquidity_usd: number | null;
  /** Pooled when it was launched, both sides; `null` where that was not read or nobody can tell. */
  readonly launched_with_usd: number | null;
  /** The ether of it, in whole ether as decimal text; `null` also where it was another coin. */
  readonly launched_with_ether: string | null;
  /** Why that was not read, where a source was silent; `null` in every other case. */
  readonly launched_with_unread: string | null;
  /** Whether a venue lists it, or listed it; `null` where that was not read. */
  readonly listed: boolean | null;
  /** The outcome; `null` if it is not known yet. */
  readonly seen: { readonly as: 'died' | 'live'; readonly at: UnixSeconds } | null;
};

/** A wallet of which something became known since it was scored last. */
export type WalletToScore = {
  readonly chain: ScoredChainName;
  readonly address: string;
  readonly observed_at: UnixSeconds;
  readonly launches: readonly LaunchOnRecord[];
  /** The unread launches, in words; `null` if all were read. */
  readonly unread: string | null;
  readonly record: LaunchRecord;
};

/** The tokens of a record that are not among its launches. */
export type LaunchRecord = {
  /** Whether every launch of the wallet is among them, so that no other token is one. */
  readonly is_whole: boolean;
  /** Tokens that were read and are no launch of the wallet. */
  readonly disowned: readonly string[];
};

type Subject = Pick<LaunchOnRecord, 'token' | 'launched_at' | 'liquidity_usd'>;

/** A model's result for a launch. */
export type ScoredLaunch = Subject &
  (
    | {
        readonly outcome: 'flagged';
        readonly score: number;
        readonly top_evidence: TopEvidence;
        readonly deployer_history: DeployerHistory;
      }
    | { readonly outcome: 'passed' | 'suppressed'; readonly score: number }
    /** An input was not read: nothing is said of it. */
    | { readonly outcome: 'unscored'; readonly reason: string }
  );

/**
 * A model's result for a wallet. `on_record`: the tokens of all of its launches, scored or not;
 * `unlisted`: tokens that were read and that no venue ever listed.
 */
export type ScoredWallet = Omit<WalletToScore, 'launches' | 'unread'> & {
  readonly model_version: string;
  readonly scored_at: UnixSeconds;
  readonly launches: readonly ScoredLaunch[];
  readonly on_record: readonly string[];
  readonly unlisted: readonly string[];
  /** Hours after its launch at which the fate of a flagged one is settled. */
  readonly horizon_h: number;
  /** The outcomes of its launches, as far as they are known. */
  readonly seen: readonly {
    readonly token: string;
    readonly as: 'died' | 'live';
    readonly at: UnixSeconds;
  }[];
};

/** The changes of a commit. `false`: another process had already scored the same. */
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

/** The model that scores, and the age of a launch up to which it does. */
export type ScoringModel = Pick<ModelArtefact, 'version'> &
  Pick<RugModel['card']['target'], 'scored_within_h'>;

export type LaunchScoring = {
  /** Wallets whose launches this model has not scored as they are on record now. */
  readonly due: (
    chain: ScoredChainName,
    by: ScoringModel,
    most: number,
  ) => Promise<Reading<Due, LaunchScoringPort>>;
  /** Writes what is said of a wallet, with its events, all of it or nothing. */
  readonly commit: (scored: ScoredWallet) => Promise<Reading<Committed, LaunchScoringPort>>;
  readonly end: (run: ScorerRun) => Promise<Reading<true, LaunchScoringPort>>;
  /** The outcomes of a model's newest flags. */
  readonly fates: (version: string) => Promise<Reading<FlagFates, LaunchScoringPort>>;
  /**
   * Withdraws the flags of a model, which is told once, and takes back some that stand. Tells how
   * many were taken back: none where none is left.
   */
  readonly withdraw: (told: {
    readonly version: string;
    readonly reason: string;
    readonly withdrawn_at: UnixSeconds;
    readonly fates: FlagFates;
  }) => Promise<Reading<number, LaunchScoringPort>>;
};

/** The dependencies of a scorer beside a model. */
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
