// On 16,409 real launches: does what is learnt of the first part tell the later one, beside what
// needs no model, and is nothing used that was known only later?

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_S } from './chain/time.ts';
import { trainingFile } from './features/rug-model/examples.ts';
import { modelTrain } from './features/rug-model/model.command.ts';
import { DEFAULTS, trainModel } from './features/rug-model/train.ts';
import type { ModelCard } from './ports/rug-model.ts';
import { localTableFiles } from './sources/files/files.ts';
import { readModelFile } from './sources/files/model-artefact.ts';
import { evmLaunchLayout } from './testing/evm-launch-layout.ts';
import { EVM_LAUNCHES } from './testing/evm-launches.ts';
import { ran } from './testing/recording-io.ts';
import { shuffleFates } from './testing/rug-models.ts';
import { trialsOf } from './testing/trials.ts';

const GOLDEN = '719edca133a899d8d79eec9ae7f6f131c2ebed4f82442e83f349f78a6c46e0ea';
const absent = !existsSync(EVM_LAUNCHES);
const title = absent ? 'recorded launches (skipped: no shared data)' : 'recorded launches';

describe.skipIf(absent)(title, () => {
  let cwd = '';
  let card: ModelCard;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'exhibit-test-model-'));
    await writeFile(join(cwd, 'launches.csv'), await evmLaunchLayout());
    const services = {
      training: { files: localTableFiles(), codeVersion: '0.0.0' },
    };
    const { status, errors } = await ran(
      'model train --data launches.csv --split 2021-05-01 --json',
      [modelTrain],
      services,
      { cwd },
    );
    expect({ status, errors }).toEqual({ status: 0, errors: [] });
    const read = await readModelFile(join(cwd, 'rug-model.json'));
    if (!read.checked) throw new Error(read.why.reason);
    card = read.value.model.card;
  }, 120_000);
  afterAll(() => rm(cwd, { recursive: true, force: true }));

  test('the artefact is, to the byte, what earlier versions of this service made', async () => {
    const bytes = await readFile(join(cwd, 'rug-model.json'));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(GOLDEN);
  });

  test('every launch is in a part of its own or its fate was not known at the split', async () => {
    const { at, train, stop, calibrate, test: later, left_out } = card.split;
    const parts = [train, stop, calibrate, later];
    expect(parts.map(({ rows }) => rows)).toEqual([6_255, 1_340, 1_341, 6_779]);
    expect(left_out).toEqual({ scored_late: 0, unsettled: 0, settled_after_split: 694 });
    for (const [n, { from }] of parts.entries()) {
      expect(from).toBeGreaterThan(parts[n - 1]?.to ?? 0);
    }
    expect(calibrate.to + 7 * DAY_S).toBeLessThanOrEqual(at);
    const lines = (await readFile(EVM_LAUNCHES, 'utf8')).trim().split(/\r?\n/).slice(1);
    expect(lines).toHaveLength(parts.reduce((sum, { rows }) => sum + rows, 694));
  });

  test('the later part is put into a better order than by either baseline', () => {
    const { model, baselines, rows, died } = card.test;
    expect([rows, died]).toEqual([6_779, 5_746]);
    expect(model.auc?.low).toBeGreaterThan(0.7);
    for (const { auc_gain } of baselines) expect(auc_gain?.low).toBeGreaterThan(0.05);
    expect(model.precision_at_k.value).toBeGreaterThan(0.97);
    // How many die of the later part is not known beforehand: no gain, no loss, in Brier score.
    for (const { brier_gain } of baselines) {
      expect(brier_gain.low).toBeLessThan(0);
      expect(brier_gain.high).toBeGreaterThan(0);
    }
  });

  test('flagged launches died more often than all, by a gap that leaves zero', () => {
    const { level, test: later } = card;
    expect(level).toMatchObject({ launches: 3_359, deployers: 2_427 });
    expect(level?.gap.low).toBeGreaterThan(0.08);
    expect(level?.died_share.value).toBeGreaterThan(later.died_share.value + 0.05);
    const from = later.reliability.filter((row) => row.score_from >= Number(level?.score_from));
    for (const { gap } of from) expect(gap.low).toBeGreaterThan(0);
    const below = later.reliability.at(-from.length - 1);
    expect(below?.gap.low).toBeLessThan(0);
  });

  test('both tables rise within their intervals, and each deployer is of one kind', () => {
    const { reliability, reliability_by_deployer, by_history, rows, deployers } = card.test;
    for (const table of [reliability, reliability_by_deployer]) {
      for (const [at, row] of table.entries()) {
        for (const lower of table.slice(0, at)) {
          expect(row.died_share.high).toBeGreaterThanOrEqual(Number(lower.died_share.low));
        }
      }
    }
    const counted = reliability_by_deployer.reduce((sum, row) => sum + row.deployers, 0);
    expect(counted).toBe(deployers);
    expect(by_history.map(({ launches }) => launches)).toEqual([1_040, 5_739]);
    expect(by_history.reduce((sum, { launches }) => sum + launches, 0)).toBe(rows);
    for (const { auc } of by_history) expect(auc?.low).toBeGreaterThan(0.6);
  });

  test('no feature tells by itself what only the future knows', () => {
    for (const { name, auc_alone } of card.features) {
      expect(auc_alone === null || auc_alone < 0.9, name).toBe(true);
    }
  });

  test('of shuffled fates hardly any give a level', async () => {
    const file = await trainingFile(localTableFiles(), join(cwd, 'launches.csv'));
    if (file.end !== 'read') throw new Error('the layout is not read');
    const trials = trialsOf('EXHIBIT_TEST_SHUFFLES', 3, 100);
    const order = { ...DEFAULTS, splitAt: card.split.at, simulated: false, codeVersion: '0.0.0' };
    let levels = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const { card: of } = await trainModel(shuffleFates(file.rows, 1_000 + trial), order);
      if (of.level !== null) levels += 1;
    }
    expect(levels).toBeLessThanOrEqual(Math.floor(trials / 20));
  }, 3_600_000);
});
