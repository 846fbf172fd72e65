// Prints a model's card and an evaluation for people. Each figure stands beside its interval, each
// share beside its denominator.

import { formatIsoDate } from '../chain/time.ts';
import type { Figure } from '../ports/boosted-trees.ts';
import { HISTORY_WORDS } from '../ports/rug-flags.ts';
import {
  type Evaluation,
  type FlagLevel,
  featureTitle,
  hundredths,
  levelFacts,
  type Measures,
  MODEL_PARTS,
  type ModelArtefact,
  type ModelCard,
} from '../ports/rug-model.ts';
import { factLines, tableLines } from './output.ts';

type How = { readonly colour: boolean; readonly width?: number | undefined };

export function cardLines({ version, model }: ModelArtefact, how: How): string[] {
  const { card } = model;
  const { data, split } = card;
  return [
    ...factLines(
      [
        ['version', version],
        ['code version', card.code_version],
        ['target', card.target.statement],
        ['data', `${data.rows} launches by ${data.deployers} deployers, ${data.chains.join(', ')}`],
        ['sha256', data.sha256],
        ['window', `${formatIsoDate(data.from)} to ${formatIsoDate(data.to)}`],
        ['simulated', data.simulated ? 'yes: made-up launches' : 'no'],
        ['split', formatIsoDate(split.at)],
        ['left out', omissionText(card)],
        ...MODEL_PARTS.map((name) => {
          const { rows, died, from, to } = split[name];
          const span = `${formatIsoDate(from)} to ${formatIsoDate(to)}`;
          return [name, `${rows} launches, ${died} died; ${span}`] as const;
        }),
        ['trees', trainingText(card)],
        ['evidence', `a flag names some that raises the log-odds by ${card.evidence_min} or more`],
        ...levelFacts(card.level),
      ],
      how,
    ),
    '',
    ...featureLines(card, how),
    ...suspectLines(card),
    '',
    'Held against the test part, which came later:',
    ...evaluationLines(card.test, how),
  ];
}

function omissionText({ split: { left_out } }: ModelCard): string {
  const { scored_late, unsettled, settled_after_split } = left_out;
  return (
    `${scored_late} launches scored too late, ${unsettled} of which the fate is not known, ` +
    `${settled_after_split} whose horizon ends after the split`
  );
}

/** The outcomes of the launches that a model flags in an evaluation. */
export function flaggedText(flagged: FlagLevel | null): string {
  if (flagged === null) return 'It flags none of them.';
  const { score_from, launches, died_share, gap } = flagged;
  return (
    `Flagged from a score of ${score_from.toFixed(3)} on: ${launches} launches, of which ` +
    `${hundredths(died_share, '%')} died, ${hundredths(gap, '')} points more than of all.`
  );
}

function trainingText({ training }: ModelCard): string {
  const { trees, depth_max, shrinkage, row_share, lambda, bins, patience, seed } = training;
  return (
    `${trees}, depth ${depth_max}, shrinkage ${shrinkage}, row share ${row_share}, ` +
    `lambda ${lambda}, ${bins} bins, patience ${patience}, seed ${seed}`
  );
}

function featureLines({ features, split }: ModelCard, how: How): string[] {
  const columns = [
    { title: 'feature' },
    { title: 'unit' },
    { title: `measured of ${split.train.rows}`, right: true },
    { title: 'splits', right: true },
    { title: 'gain', right: true },
    { title: 'auc alone', right: true },
  ];
  const byGain = [...features].sort((a, b) => b.gain - a.gain);
  const rows = byGain.map(({ name, unit, measured, splits, gain, auc_alone }) => [
    featureTitle(name),
    unit,
    measured,
    splits,
    gain.toFixed(3),
    auc_alone === null ? null : auc_alone.toFixed(3),
  ]);
  return tableLines(columns, rows, how);
}

/** From here on one feature alone tells more than is known at a launch. */
const SUSPECT_AUC = 0.99;

/** Warns of a feature that by itself tells almost every fate. */
export function suspectLines({ features }: ModelCard): string[] {
  return features
    .filter(({ auc_alone }) => auc_alone !== null && auc_alone > SUSPECT_AUC)
    .map(
      ({ name, auc_alone }) =>
        `Suspect: ${featureTitle(name)} (${name}) alone has an AUC of ${auc_alone?.toFixed(3)}. ` +
        'Look whether it was known at the launch.',
    );
}

export function evaluationLines(found: Evaluation, how: How): string[] {
  const { rows, deployers, died, died_share, resamples, seed, comparisons } = found;
  const columns = [
    { title: '' },
    { title: 'AUC' },
    { title: `precision at ${found.model.precision_at_k.k}` },
    { title: 'Brier' },
    { title: 'AUC gain of the model' },
    { title: 'Brier gain of the model' },
  ];
  return [
    `${rows} launches by ${deployers} deployers, ${died} died: ${figure(died_share)}.`,
    ...tableLines(
      columns,
      [
        ['model', ...measureCells(found.model), null, null],
        ...found.baselines.map((one) => [
          one.name,
          ...measureCells(one),
          one.auc_gain === null ? null : figure(one.auc_gain),
          figure(one.brier_gain),
        ]),
      ],
      how,
    ),
    '',
    'By launch:',
    ...reliabilityLines(found, how),
    '',
    'By deployer, each counted once:',
    ...deployerLines(found, how),
    '',
    'By what is known of the deployer:',
    ...historyLines(found, how),
    '',
    `Intervals at 95%. AUC and Brier: ${resamples} resamples by deployer, seed ${seed}. Shares: ` +
      'Wilson,',
    'over what the launches are worth where some are of one deployer. Gains: ' +
      `${comparisons} comparisons, each`,
    `at ${(100 - 5 / comparisons).toFixed(2)}%, so that all hold together at 95%.`,
  ];
}

function measureCells({ auc, precision_at_k, brier }: Measures): (string | null)[] {
  const { k, tied_at_k } = precision_at_k;
  const tied = tied_at_k === 0 ? '' : `, place ${k} tied by ${tied_at_k}`;
  return [auc === null ? null : figure(auc), `${figure(precision_at_k)}${tied}`, figure(brier)];
}

const columnsOf = (titles: readonly string[]) =>
  titles.map((title, at) => ({ title, right: at > 0 && at < titles.length - 1 }));

function reliabilityLines({ reliability }: Evaluation, how: How): string[] {
  const columns = ['scores', 'launches', 'mean score', 'died', 'share that died', 'over all'];
  const rows = reliability.map((one) => [
    rangeText(one),
    one.launches,
    one.mean_score.toFixed(3),
    one.died,
    figure(one.died_share),
    figure(one.gap),
  ]);
  return tableLines(columnsOf(columns), rows, how);
}

function deployerLines({ reliability_by_deployer: table }: Evaluation, how: How): string[] {
  const rows = table.map((one) => [
    rangeText(one),
    one.deployers,
    one.mean_score.toFixed(3),
    figure(one.died_share),
  ]);
  return tableLines(columnsOf(['scores', 'deployers', 'mean score', 'share that died']), rows, how);
}

function historyLines({ by_history }: Evaluation, how: How): string[] {
  const columns = ['deployers', 'launches', 'of', 'died', 'mean score', 'AUC', 'share that died'];
  const rows = by_history.map((one) => [
    HISTORY_WORDS[one.history],
    one.launches,
    one.deployers,
    one.died,
    one.mean_score === null ? null : one.mean_score.toFixed(3),
    one.auc === null ? null : figure(one.auc),
    one.died_share === null ? null : figure(one.died_share),
  ]);
  return tableLines(columnsOf(columns), rows, how);
}

function rangeText({ score_from, score_to }: { score_from: number; score_to: number }): string {
  return `${score_from.toFixed(3)} to ${score_to.toFixed(3)}`;
}

function figure({ value, low, high }: Figure): string {
  const ends = low === null || high === null ? '' : ` (${low.toFixed(4)} to ${high.toFixed(4)})`;
  return `${value.toFixed(4)}${ends}`;
}
