// How do a model's card and an evaluation look to people?
// Each figure stands beside its interval, each share beside what it is a share of.

import { formatIsoDate } from '../chain/time.ts';
import type { Evaluation, Figure, Measures, ModelArtefact, ModelCard } from '../ports/rug-model.ts';
import { factLines, tableLines } from './output.ts';

type How = { readonly colour: boolean };

/** The lines of a card. */
export function cardLines({ version, model }: ModelArtefact, how: How): string[] {
  const { card } = model;
  const { data, split } = card;
  return [
    ...factLines([
      ['version', version],
      ['code version', card.code_version],
      ['target', card.target],
      ['data', `${data.rows} launches by ${data.deployers} deployers, ${data.chains.join(', ')}`],
      ['sha256', data.sha256],
      ['window', `${formatIsoDate(data.from)} to ${formatIsoDate(data.to)}`],
      ['simulated', data.simulated ? 'yes: made-up launches' : 'no'],
      ['split', `${formatIsoDate(split.at)}, settled after ${split.settle_days} days`],
      ['fates', FATES_TOLD[split.fates]],
      ['left out', `${split.left_out} launches`],
      ...(['train', 'stop', 'calibrate', 'test'] as const).map((name) => {
        const { rows, died, from, to } = split[name];
        const span = `${formatIsoDate(from)} to ${formatIsoDate(to)}`;
        return [name, `${rows} launches, ${died} died; ${span}`] as const;
      }),
      ['trees', trainingText(card)],
    ]),
    '',
    ...featureLines(card, how),
    ...suspectLines(card),
    '',
    'Held against the test part, which came later:',
    ...evaluationLines(card.test, how),
  ];
}

const FATES_TOLD = {
  last_seen: 'learnt as they were seen last, which is after the split',
  at_split: 'learnt as they were visible at the split; launches too young at it are left out',
} as const;

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
    name,
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
        `Suspect: ${name} alone has an AUC of ${auc_alone?.toFixed(3)}. ` +
        'Look whether it was known at the launch.',
    );
}

/** The lines of an evaluation. */
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
    ...reliabilityLines(found, how),
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

function reliabilityLines({ reliability }: Evaluation, how: How): string[] {
  const columns = ['scores', 'launches', 'mean score', 'died', 'share that died'].map(
    (title, at) => ({ title, right: at > 0 && at < 4 }),
  );
  const rows = reliability.map((one) => [
    `${one.score_from.toFixed(3)} to ${one.score_to.toFixed(3)}`,
    one.launches,
    one.mean_score.toFixed(3),
    one.died,
    figure(one.died_share),
  ]);
  return tableLines(columns, rows, how);
}

function figure({ value, low, high }: Figure): string {
  const ends = low === null || high === null ? '' : ` (${low.toFixed(4)} to ${high.toFixed(4)})`;
  return `${value.toFixed(4)}${ends}`;
}
