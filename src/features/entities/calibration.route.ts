// Answers the page /entities/calibration: the table of weights as it is published.

import { listFrom, rate } from '../../evidence/measure.ts';
import type { PublishedCalibration } from './calibration.contract.ts';
import {
  CALIBRATION,
  type Calibration,
  DATA_SETS,
  intervalOf,
  NETWORK,
  RECALL,
} from './calibration.ts';

/** The table as the page shows it. */
export function publishedCalibration(): PublishedCalibration {
  return {
    rows: CALIBRATION.map((row) => {
      const { heuristic, form, weight, basis } = row;
      return { heuristic, form, weight, basis, counted: countedOf(row) };
    }),
    recall: RECALL.flatMap(({ interval, ...row }) =>
      listFrom(interval, (ends) => [{ ...row, ...ends }]),
    ),
    sets: SETS_SHOWN.map((name) => {
      const counts = name === 'token_network' ? networkText() : null;
      return { name, counts, ...DATA_SETS[name] };
    }),
  };
}

const SETS_SHOWN = ['wallet_population', 'account_population', 'token_network'] as const;

function countedOf(row: Calibration) {
  const interval = intervalOf(row);
  const share = row.measured === null ? null : rate(row.measured.right, row.measured.n);
  if (row.measured === null || interval === null || share === null) return null;
  return { ...row.measured, ...interval, share };
}

function networkText(): string {
  const { inferred, shared, later, pairs } = NETWORK;
  return (
    `${inferred} deposit addresses are inferred there, ${shared} of them with several payers. Of ` +
    `${later.n} that were inferred by the earlier four fifths and sent again later, ` +
    `${later.right} sent to that exchange alone. Of the pairs of payers into one, ` +
    `${pairs.joined} deal with each other or share another account, ${pairs.parted} have ` +
    `accounts apart at the same exchange, and ${pairs.open} show neither, so that this network ` +
    'does not tell how often two payers are one.'
  );
}
