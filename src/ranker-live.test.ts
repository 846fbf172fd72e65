// A ranker is trained, held against later calls and published by commands beside a running service,
// which answers by it from then on, after a restart too.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { openPglite } from './stores/control/engine/pglite.ts';
import { inventCalls } from './testing/emissions.ts';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { keepCalls } from './testing/kept-calls.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { type Program, startProgram } from './testing/program.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

/** A service that simulates prepares its world; the machine may have much else to do. */
const PATIENT = { timeout: 400_000, interval: 200 };

const CALLS = inventCalls({ weeks: 24, aWeek: 16, tells: 0.9 }, 29);
/** One that simulates, with the edge alone, which emits calls of its own on another asset. */
const SETTINGS = {
  EXHIBIT_SIMULATE: 'true',
  EXHIBIT_SURFACES: 'edge',
  EXHIBIT_EDGE_ASSETS: 'DOGE',
  EXHIBIT_PORT: '0',
};

const figure = z.object({ value: z.number(), low: z.number(), high: z.number() });
const holdout = z.looseObject({ ndcg: figure, random: z.number(), queries: z.int() });
const trained = z.object({
  version: z.string(),
  file: z.string(),
  card: z.looseObject({
    data: z.looseObject({ calls: z.int(), weeks: z.int(), simulated: z.boolean() }),
    holdout,
  }),
});
const evaluated = z.object({ version: z.string(), from: z.string(), holdout });
const published = z.object({ version: z.string(), outcome: z.string() });
const answer = z.looseObject({
  rank: z.int().nullable(),
  of: z.int().nullable(),
  contributions: z
    .object({
      score: z.number(),
      base: z.number(),
      features: z.array(z.object({ feature: z.string(), contribution: z.number() })),
    })
    .nullable(),
  holdout: z.looseObject({ ndcg: z.number().nullable(), random: z.number().nullable() }),
  model_version: z.string().nullable(),
  reason: z.string().nullable(),
  data_mode: z.string(),
});

describe('a ranker of calls', () => {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-ranker-'));
  const artefact = join(home, 'call-ranker.json');
  const place = { cwd: home, env: { ...SETTINGS, EXHIBIT_DATA_DIR: join(home, 'data') } };
  let service: Program;

  const base = () => String(/Base URL\s+(http\S+)/.exec(service.out())?.[1]);
  const ask = (pair: string) => fetchPatiently(`${base()}/api/ml-rank?pair=${pair}`);
  async function rankOf(pair: string) {
    const told = await ask(pair);
    expect(told.status).toBe(200);
    return answer.parse(await told.json());
  }
  const run = (...words: string[]) => startProgram(['rank', ...words], place).ended;
  async function runAs<S extends z.ZodType>(shape: S, ...words: string[]): Promise<z.output<S>> {
    const { status, out, err } = await run(...words, '--json');
    expect(status, err).toBe(0);
    return shape.parse(JSON.parse(out));
  }
  const start = async () => {
    service = startProgram(['up'], place);
    await vi.waitFor(() => expect(service.out()).toContain('Base URL'), PATIENT);
  };

  beforeAll(async () => {
    await createStoresIn(join(home, 'data/simulated'));
    const control = await openPglite(join(home, 'data/simulated/control'));
    await keepCalls(control, CALLS, { simulated: true });
    await control.close();
    await start();
  });
  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.ended;
    rmSync(home, { recursive: true, force: true });
  });

  test('untrained, the service names the command, and calls no pair ranked', async () => {
    expect(await rankOf('BTC-USD')).toMatchObject({
      pair: 'BTC-USD',
      rank: null,
      of: null,
      percentile: null,
      contributions: null,
      training: { calls: CALLS.length, weeks: 24, until: null },
      holdout: { ndcg: null, interval: null, random: null, queries: 0 },
      model_version: null,
      reason:
        'A ranker is awaited: the operator runs `exhibit rank train` and `exhibit rank publish`.',
      data_mode: 'simulated',
    });
    const none = await run('evaluate');
    expect(none.status).toBe(3);
    expect(none.err).toContain('No ranker was published here.');
  });

  test('nothing was emitted for a pair: 404, trained or not', async () => {
    const told = await ask('XRP-USD');
    expect([told.status, await told.json()]).toEqual([
      404,
      { error: 'Nothing was emitted for this pair. That is a fact about the record of calls.' },
    ]);
  });

  test('trained and published, it puts the newest call of each pair in an order', async () => {
    const made = await runAs(trained, 'train', '--out', artefact);
    expect(made.card.data).toMatchObject({ calls: CALLS.length, weeks: 24, simulated: true });
    // What one input tells is learnt: the interval lies over an order by lot.
    expect(made.card.holdout.ndcg.low).toBeGreaterThan(made.card.holdout.random);
    expect((await rankOf('BTC')).model_version).toBeNull();
    const held = await runAs(evaluated, 'evaluate', '--model', artefact);
    expect(held).toMatchObject({ version: made.version, holdout: made.card.holdout });

    expect(await runAs(published, 'publish', artefact)).toEqual({
      version: made.version,
      outcome: 'published',
    });
    for (const pair of ['BTC', 'ETH', 'SOL']) {
      const told = await rankOf(pair);
      expect(told).toMatchObject({
        model_version: made.version,
        holdout: { ndcg: made.card.holdout.ndcg.value, random: made.card.holdout.random },
        reason: null,
      });
      expect(Number(told.rank)).toBeGreaterThanOrEqual(1);
      expect(Number(told.rank)).toBeLessThanOrEqual(Number(told.of));
      const { score, base, features } = z
        .object({ made: answer.shape.contributions.unwrap() })
        .parse({ made: told.contributions }).made;
      const sum = features.reduce((all, { contribution }) => all + contribution, base);
      expect(sum).toBeCloseTo(score, 9);
      expect(features.some(({ contribution }) => contribution !== 0)).toBe(true);
    }
    expect((await ask('XRP')).status).toBe(404);
    expect((await runAs(evaluated, 'evaluate')).version).toBe(made.version);
    expect((await runAs(published, 'publish', artefact)).outcome).toBe('in_force_already');
  });

  test('the same record and seed give the same bytes, another seed another version', async () => {
    const again = join(home, 'again.json');
    await runAs(trained, 'train', '--out', again);
    expect(readFileSync(again, 'utf8')).toBe(readFileSync(artefact, 'utf8'));
    const other = await runAs(trained, 'train', '--out', again, '--seed', '2');
    expect(other.version).not.toBe((await rankOf('BTC')).model_version);
  });

  test('a file that is no artefact is not published, and changes nothing', async () => {
    const before = await (await ask('ETH')).text();
    const notes = join(home, 'notes.json');
    writeFileSync(notes, '{}');
    const damaged = await run('publish', notes);
    expect(damaged.status).toBe(3);
    expect((await run('publish', join(home, 'nowhere.json'))).status).toBe(3);
    expect(await (await ask('ETH')).text()).toBe(before);
  });

  test('after a restart the same ranker is in force', async () => {
    const before = await rankOf('SOL');
    service.child.kill('SIGTERM');
    await service.ended;
    // What was published is kept, whatever becomes of the file.
    rmSync(artefact);
    await start();
    expect(await rankOf('SOL')).toEqual(before);
  });
});
