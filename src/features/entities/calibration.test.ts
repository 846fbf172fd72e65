// Every number of the weights is what the rules measure, and the docs and the page say the same.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { TIE_FORMS } from '../../ports/entities.ts';
import { accountMeasures, type Measures, walletMeasures } from '../../testing/entity-measures.ts';
import { calibrationPage, publishedCalibration } from './calibration.route.tsx';

import {
  CALIBRATION,
  type DataSet,
  intervalOf,
  type LinkCalibration,
  NETWORK,
  POPULATION_SEED,
  RECALL,
} from './calibration.ts';

const DOCS = fileURLToPath(new URL('../../../docs/concepts/entities.md', import.meta.url));
const FACTS = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
const DIGITS = 3;

/** The numbers of a data set as the table of weights has them. */
function told(on: DataSet): Measures {
  const rows = CALIBRATION.flatMap(({ form, measured }) =>
    measured?.on === on ? [[form, { right: measured.right, n: measured.n }] as const] : [],
  );
  const recall = RECALL.filter((one) => one.on === on);
  return {
    forms: new Map(rows),
    recall: new Map(recall.map(({ heuristic, found, of }) => [heuristic, { found, of }])),
  };
}

/** A row of the docs. */
function rowOf(row: LinkCalibration): string {
  const { heuristic, form, weight, basis, measured } = row;
  const interval = intervalOf(row);
  const count = measured === null ? '–' : `${measured.right} of ${measured.n}`;
  const range =
    interval === null ? '–' : `${interval.low.toFixed(DIGITS)}–${interval.high.toFixed(DIGITS)}`;
  const on = measured === null ? '–' : DATA[measured.on];
  return `| \`${heuristic}\` | \`${form}\` | ${weight} | ${basis} | ${count} | ${range} | ${on} |`;
}

const DATA = {
  wallet_population: 'simulated wallets',
  account_population: 'simulated accounts',
  token_network: 'token network',
} as const;

describe('the table of weights', () => {
  test('has a row for each form, and no weight above what was measured of it', () => {
    const forms = Object.values(TIE_FORMS).flat();
    expect(CALIBRATION.map(({ form }) => form).sort()).toEqual([...forms].sort());
    for (const row of CALIBRATION) {
      const interval = intervalOf(row);
      if (interval !== null) expect(row.weight).toBeLessThanOrEqual(interval.low);
      if (row.basis === 'measured') expect(row.measured).not.toBeNull();
    }
  });

  test('has the numbers that the rules give on simulated wallets', () => {
    expect(walletMeasures(POPULATION_SEED)).toEqual(told('wallet_population'));
  });

  test('has the numbers that the rules give on simulated accounts', async () => {
    expect(await accountMeasures(POPULATION_SEED)).toEqual(told('account_population'));
  });

  test('stands in the docs, number by number', () => {
    const docs = readFileSync(DOCS, 'utf8');
    for (const row of CALIBRATION) expect(docs).toContain(rowOf(row));
    for (const { heuristic, found, of, interval } of RECALL) {
      const range = [interval?.low, interval?.high].map((end) => end?.toFixed(DIGITS)).join('–');
      expect(docs).toContain(`| \`${heuristic}\` | ${found} of ${of} | ${range} |`);
    }
    const { inferred, shared, later, pairs } = NETWORK;
    const words = docs.replace(/\s+/g, ' ');
    expect(words).toContain(`finds ${inferred} deposit addresses, ${shared} of them with several`);
    expect(words).toContain(`${later.right} of ${later.n} that were inferred`);
    expect(words).toContain(`${pairs.joined} deal with each other`);
    expect(words).toContain(`${pairs.open} show neither`);
  });
});

describe('the page of calibration', () => {
  const shown = calibrationPage(FACTS, publishedCalibration());

  test('shows every form with its weight, basis and count, and draws those counted', () => {
    for (const { form, measured } of CALIBRATION) {
      expect(shown).toContain(`<code>${form}</code>`);
      if (measured !== null) expect(shown).toContain(`<td>${measured.right} of ${measured.n}</td>`);
    }
    const counted = CALIBRATION.filter(({ measured }) => measured !== null);
    expect(shown.match(/<circle/g)).toHaveLength(counted.length);
  });

  test('has nothing inline and nothing from another host', () => {
    expect(shown).not.toMatch(/ style=| on\w+=|<script(?! async src="\/assets\/)|<style/);
    expect(shown.match(/(?:src|href)="(?!\/|#|data:,)[^"]*"/g)).toBeNull();
  });
});
