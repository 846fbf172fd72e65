// Answers one question: what is an artefact of the rug model, and what does its card tell?
// An artefact never changes: its version is made of its own hash, so that a score names the exact
// trees behind it.

import type { UnixSeconds } from '../../chain/time.ts';

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
