// On 16,409 real launches: does what is learnt of the first part tell the later one, beside what
// needs no model, and is nothing used that was known only later?

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modelTrain } from './features/rug-model/model.command.ts';
import type { ModelCard } from './ports/rug-model.ts';
import { localTableFiles } from './sources/files/files.ts';
import { readModelFile } from './sources/files/model-artefact.ts';
import { evmLaunchLayout } from './testing/evm-launch-layout.ts';
import { EVM_LAUNCHES } from './testing/evm-launches.ts';
import { ran } from './testing/recording-io.ts';

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
      'model train --data launches.csv --json',
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

  test('every launch of the file is in a part of its own, in the order of time', async () => {
    const { train, stop, calibrate, test: later, left_out } = card.split;
    expect([train, stop, calibrate, later].map(({ rows }) => rows)).toEqual([
      8_040, 1_723, 1_723, 4_923,
    ]);
    expect(left_out).toBe(0);
    const lines = (await readFile(EVM_LAUNCHES, 'utf8')).trim().split(/\r?\n/).slice(1);
    // Of each launch the reserve at the snapshot stands six cells from the end: a recount by text.
    const dead = lines.filter((line) => Number(line.split(',').at(-6)) < 0.25).length;
    const died = [train, stop, calibrate, later].reduce((sum, part) => sum + part.died, 0);
    expect([lines.length, dead, died]).toEqual([16_409, 15_046, 15_046]);
  });

  test('the later part is put into a better order than by either baseline', () => {
    const { model, baselines, rows, died } = card.test;
    expect([rows, died]).toEqual([4_923, 4_542]);
    expect(model.auc?.low).toBeGreaterThan(0.62);
    for (const { auc_gain } of baselines) expect(auc_gain?.low).toBeGreaterThan(0.05);
    expect(model.precision_at_k.value).toBeGreaterThan(0.97);
    // The level of the later part is not known beforehand: no gain, and no loss, in Brier score.
    for (const { brier_gain } of baselines) {
      expect(brier_gain.low).toBeLessThan(0);
      expect(brier_gain.high).toBeGreaterThan(0);
    }
  });

  test('no feature tells by itself what only the future knows', () => {
    for (const { name, auc_alone } of card.features) {
      expect(auc_alone === null || auc_alone < 0.9, name).toBe(true);
    }
  });
});
