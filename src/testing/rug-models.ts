import { createHash } from 'node:crypto';
import { DAY_S, HOUR_S } from '../chain/time.ts';
import { sharesFrom } from '../evidence/random.ts';
import { read } from '../evidence/reading.ts';
import type { TrainingRow } from '../features/rug-model/examples.ts';
import type { Figure } from '../ports/boosted-trees.ts';
import type {
  Evaluation,
  FlagFates,
  FlagLevel,
  ModelPart,
  ModelWithdrawal,
  PublishedModels,
  RugModel,
} from '../ports/rug-model.ts';
import { STILL_NOW } from './clock.ts';
import { lotteryOf } from './lottery.ts';

const FIGURE: Figure = { value: 0.5, low: 0.4, high: 0.6 };
const PART: ModelPart = { rows: 4, died: 2, from: STILL_NOW, to: STILL_NOW };
const MEASURES = {
  auc: FIGURE,
  precision_at_k: { value: 0.5, low: 0.4, high: 0.6, k: 4, tied_at_k: 0 },
  brier: FIGURE,
};
const TEST: Evaluation = {
  rows: 4,
  deployers: 4,
  died: 2,
  died_share: FIGURE,
  model: MEASURES,
  reliability: [],
  reliability_by_deployer: [],
  by_history: [],
  baselines: [],
  resamples: 10,
  seed: 1,
  comparisons: 4,
};

/** The card of a model that flags from a score on. */
export function levelOf(score_from: number, change: Partial<FlagLevel> = {}): FlagLevel {
  return {
    score_from,
    launches: 1_000,
    deployers: 900,
    died: 920,
    died_share: { value: 0.92, low: 0.9, high: 0.94 },
    gap: { value: 0.07, low: 0.06, high: 0.08 },
    expected: { flags: 200, low: 0.87, high: 0.96 },
    ...change,
  };
}

/** What became of the flags of a model of which none has settled. */
export const NO_FATES: FlagFates = {
  settled: 0,
  died: 0,
  unknown: 0,
  deployers: { flagged: { settled: 0, died: 0 }, passed: { settled: 0, died: 0 } },
};

/** A model of two trees: one splits by the deployer's death rate, then both by liquidity. */
export const SMALL_MODEL: RugModel = {
  features: ['deployer_death_rate_before', 'liquidity_usd'],
  base: 0.2,
  trees: [
    [
      { feature: 0, at_most: 0.5, missing: 'left', left: 1, right: 2, rows: 10, gain: 3 },
      { feature: 1, at_most: 1_000, missing: 'right', left: 3, right: 4, rows: 6, gain: 1 },
      { leaf: 1.2, rows: 4 },
      { leaf: 0.4, rows: 2 },
      { leaf: -0.9, rows: 4 },
    ],
    [
      { feature: 1, at_most: 5_000, missing: 'left', left: 1, right: 2, rows: 10, gain: 2 },
      { leaf: 0.3, rows: 7 },
      { leaf: -0.6, rows: 3 },
    ],
  ],
  calibration: { slope: 0.9, intercept: 0.1 },
  card: {
    data: {
      sha256: 'a'.repeat(64),
      rows: 16,
      deployers: 4,
      chains: ['ethereum'],
      from: STILL_NOW,
      to: STILL_NOW,
      simulated: false,
    },
    target: {
      statement: 'That the launch dies within 7 days of its launch.',
      horizon_h: 168,
      scored_within_h: 24,
    },
    split: {
      at: STILL_NOW,
      train: PART,
      stop: PART,
      calibrate: PART,
      test: PART,
      left_out: { scored_late: 0, unsettled: 0, settled_after_split: 0 },
    },
    training: {
      seed: 1,
      trees: 2,
      depth_max: 2,
      shrinkage: 0.1,
      row_share: 1,
      lambda: 1,
      hessian_min: 1,
      bins: 8,
      patience: 2,
    },
    features: [],
    test: TEST,
    level: levelOf(0.7),
    evidence_min: 0.1,
    code_version: '0.0.0',
  },
};

/** The text of an artefact, as its file holds it. */
export function artefactText(model: object, schema = 'exhibit-rug-model/2'): string {
  const inner = JSON.stringify(model);
  const sha256 = createHash('sha256').update(inner).digest('hex');
  return `{"schema":"${schema}","sha256":"${sha256}","model":${inner}}\n`;
}

/** Launches of made-up deployers, some of whom let most of theirs die; the same for the seed. */
export function inventLaunches(count: number, seed: number): readonly TrainingRow[] {
  const lottery = lotteryOf(seed);
  const observedUntil = STILL_NOW;
  const first = observedUntil - 400 * DAY_S;
  return Array.from({ length: count }, (_, at): TrainingRow => {
    const who = lottery.below(Math.ceil(count / 4));
    const launchedAt = first + Math.floor((at * 300 * DAY_S) / count);
    const liquidity = 500 + lottery.below(40) * 500;
    const died = lottery.happens(who % 3 === 0 ? 0.95 : liquidity < 8_000 ? 0.85 : 0.1);
    const after = HOUR_S * (1 + lottery.below(20 * 24));
    return {
      chain: 'ethereum',
      token: `0x${String(at).padStart(40, '0')}`,
      deployer: `0x${String(who).padStart(40, '0')}`,
      launched_at: launchedAt,
      scored_at: launchedAt,
      outcome: died ? 'died' : 'live',
      observed_until: observedUntil,
      died_at: died ? launchedAt + after : null,
      deployer_funded_at: null,
      liquidity_usd: lottery.happens(0.1) ? null : liquidity,
      ether_pooled: null,
      holder_top10_share: null,
      owner_can_mint: null,
      owner_can_block: null,
      ownership_renounced: null,
    };
  });
}

/** The launches with the fates of one another: what is known of one tells nothing of its own. */
export function shuffleFates(rows: readonly TrainingRow[], seed: number): TrainingRow[] {
  const draw = sharesFrom(seed);
  const order = rows.map((_, at) => [draw(), at] as const).sort(([a], [b]) => a - b);
  return rows.map((row, at) => {
    const other = rows[Number(order[at]?.[1])];
    const after =
      other === undefined || other.died_at === null ? null : other.died_at - other.launched_at;
    return {
      ...row,
      outcome: after === null ? 'live' : 'died',
      died_at: after === null ? null : row.launched_at + after,
      observed_until: Math.max(row.observed_until, row.launched_at + Number(after)),
    };
  });
}

type InForce = {
  readonly level?: FlagLevel | null;
  readonly withdrawn?: ModelWithdrawal | null;
};

/** The model in force, of these chains. */
export function modelInForce(
  chains: readonly string[],
  version = 'rug-1',
  { level = SMALL_MODEL.card.level, withdrawn = null }: InForce = {},
): PublishedModels['inForce'] {
  const card = { ...SMALL_MODEL.card, level, data: { ...SMALL_MODEL.card.data, chains } };
  const of = { text: '', published_at: STILL_NOW, withdrawn };
  const model = { ...of, version, model: { ...SMALL_MODEL, card } };
  const source = { name: 'model', url: 'test:', as_of: STILL_NOW, kind: 'table' } as const;
  const origin = { port: 'published_model', source: { ...source, simulated: false } } as const;
  const reading = read(model, origin);
  return async () => reading;
}
