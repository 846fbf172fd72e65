// The commands of the rug model over a real control store and real files: what each prints and how
// it ends, and what /health says of it.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { DAY_S } from './chain/time.ts';
import { Refusal } from './contract/refusals.ts';
import { healthHandler } from './features/health/health.route.tsx';
import { rugModelCardHandler, rugModelPageHandler } from './features/rug-model/card.route.tsx';
import type { TrainingRow } from './features/rug-model/examples.ts';
import { rugModelFeature } from './features/rug-model/feature.ts';
import { modelTrain } from './features/rug-model/model.command.ts';
import { viewWindow } from './features/rugs/leaderboard.route.tsx';
import { scoreOnce } from './features/rugs/score.job.ts';
import { RUG_FEATURES, SCORE_SENTENCE } from './ports/rug-model.ts';
import { localTableFiles } from './sources/files/files.ts';
import { artefactIn, readModelFile } from './sources/files/model-artefact.ts';
import type { Database } from './stores/control/engine/database.ts';
import { launchScoringTable } from './stores/control/launch-scoring.ts';
import { rugFlagTable } from './stores/control/rug-flags.ts';
import { rugModelTable } from './stores/control/rug-models.ts';
import { STILL_NOW } from './testing/clock.ts';
import { embeddedControl } from './testing/control-store.ts';
import { allEventsAfter } from './testing/flag-events.ts';
import { REVIEWED_TOKENS } from './testing/launch-scores.ts';
import { ran } from './testing/recording-io.ts';
import { artefactText, inventLaunches, SMALL_MODEL } from './testing/rug-models.ts';
import { TEST_SERVICE } from './testing/service.ts';
import {
  KEPT_VERSION,
  memoryLaunchWatch,
  memoryPublishedModels,
  memoryRugFlags,
  SCORED,
  WATCHED,
} from './testing/twins/rug-flags.ts';
import { worldLaunchHistoryCsv } from './world/launch-history.ts';
import { WORLD_SEED } from './world/listed-parties.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const COLUMNS = [
  ...['chain', 'token', 'deployer', 'launched_at', 'outcome', 'died_at', 'observed_until'],
  'liquidity_usd',
] as const;

function csvOf(rows: readonly TrainingRow[]): string {
  const cells = (row: TrainingRow) => COLUMNS.map((name) => (row[name] === null ? '' : row[name]));
  return `${[COLUMNS, ...rows.map(cells)].map((line) => line.join(',')).join('\n')}\n`;
}

const FACTS = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
const fresh = embeddedControl();
const ROWS = inventLaunches(600, 3);
const training = { files: localTableFiles(), codeVersion: '0.0.0' };
let cwd = '';
let model: Parameters<(typeof rugModelFeature)['commands'][2]['run']>[2]['model'];

function command(line: string, of: { readonly simulated?: boolean } = {}) {
  return ran(line, rugModelFeature.commands, { model: { ...model, ...of } }, { cwd });
}
const train = (line: string) => ran(`model train ${line}`, [modelTrain], { training }, { cwd });

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'exhibit-test-model-'));
  await writeFile(join(cwd, 'launches.csv'), csvOf(ROWS));
  const made = await train('--data launches.csv --seed 5');
  expect(made.errors).toEqual([]);
});
afterAll(() => rm(cwd, { recursive: true, force: true }));
const context = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
let database: ReturnType<typeof fresh>;
beforeEach(() => {
  database = fresh();
  model = {
    published: rugModelTable(database, context),
    readFile: readModelFile,
    trainingFiles: training.files,
    simulated: false,
  };
});

/** The one document that a command printed. */
function documentIn(lines: readonly string[]): unknown {
  const held: unknown = JSON.parse(lines.join(''));
  return held;
}

async function health() {
  const facts = { ...TEST_SERVICE, modelInForce: model.published.inForce };
  const asked = { now: () => STILL_NOW, signal: new AbortController().signal };
  const reply = await healthHandler(facts)({ params: {}, query: {}, body: undefined }, asked, {
    kind: 'nobody',
  });
  if (reply instanceof Refusal) throw new Error('test: health was refused');
  const text = Buffer.from(reply.bytes()).toString();
  return z.looseObject({ model: z.unknown() }).parse(JSON.parse(text)).model;
}

describe('where no model is published', () => {
  test.each(['model card', 'model evaluate --data launches.csv'])('%s exits 3', async (line) => {
    expect(await command(line)).toEqual({
      status: 3,
      lines: [],
      errors: ['No rug model has been published on this deployment; nothing is scored.'],
    });
  });

  test('/health says so', async () => {
    expect(await health()).toEqual({
      published: false,
      version: null,
      reason: 'No rug model has been published on this deployment; nothing is scored.',
      card: null,
      withdrawn: null,
    });
  });
});

describe('a model that was trained', () => {
  test('is published once, is what /health names, and shows its card', async () => {
    const { version } = artefactIn(await readFile(join(cwd, 'rug-model.json'), 'utf8'));
    expect((await command('model publish rug-model.json --json')).lines).toEqual([
      JSON.stringify({ version, outcome: 'published' }),
    ]);
    expect((await command('model publish rug-model.json')).lines).toEqual([
      `${version} was in force already.`,
    ]);
    expect(await health()).toEqual({
      published: true,
      version,
      reason: null,
      card: `/api/models/rug/${version}`,
      withdrawn: null,
    });
    const card = documentIn((await command('model card --json')).lines);
    expect(card).toMatchObject({
      version,
      card: {
        data: { rows: 600, chains: ['ethereum'], simulated: false },
        training: { seed: 5 },
        code_version: '0.0.0',
      },
    });
    const told = (await command('model card')).lines.join('\n');
    for (const word of ['precision at 100', 'base_rate', 'deployer_death_rate', 'mean score']) {
      expect(told).toContain(word);
    }
  });

  test('that leans on what the scorer reads of its chain is published without a word', async () => {
    const { status, errors } = await command('model publish rug-model.json');
    expect({ status, errors }).toEqual({ status: 0, errors: [] });
  });

  test('that leans on what the scorer does not read of its chain is published with a warning', async () => {
    const solana = ROWS.map((row) => ({ ...row, chain: 'solana' }));
    await writeFile(join(cwd, 'solana.csv'), csvOf(solana));
    await train('--data solana.csv --out solana.json --seed 5');
    const { model: learnt } = artefactIn(await readFile(join(cwd, 'solana.json'), 'utf8'));
    const liquidity = learnt.card.features.find(({ name }) => name === 'liquidity_usd');
    const share = (100 * Number(liquidity?.gain)).toFixed(0);
    const { status, errors } = await command('model publish solana.json');
    expect(status).toBe(0);
    expect(errors).toEqual([
      expect.stringContaining(
        `has ${share}% of its gain from what the scorer of this service does not read of solana ` +
          '(liquidity_usd).',
      ),
      'Its scores here are not those of its card. Leave these columns out of the file to train on.',
    ]);
  });

  test('is the same file for the same launches and seed, whatever their order', async () => {
    await writeFile(join(cwd, 'again.csv'), csvOf([...ROWS].reverse()));
    await train('--data again.csv --out again.json --seed 5');
    const [one, again] = await Promise.all(
      ['rug-model.json', 'again.json'].map((name) => readFile(join(cwd, name), 'utf8')),
    );
    expect(again).toBe(one);
  });

  test('is never held against what it learnt from, whatever the file', async () => {
    await command('model publish rug-model.json');
    const { version, model: learnt } = artefactIn(
      await readFile(join(cwd, 'rug-model.json'), 'utf8'),
    );
    const { test: table, split, data } = learnt.card;
    const whole = await command('model evaluate --data launches.csv --json');
    expect(documentIn(whole.lines)).toMatchObject({
      ...table,
      sha256: data.sha256,
      left_out: { earlier: 600 - split.test.rows },
      in_card: split.test.rows,
      flagged: learnt.card.level,
    });
    // Another file with the same launches: one fewer, and one changed.
    const [gone, changed, ...rest] = ROWS;
    await writeFile(
      join(cwd, 'other.csv'),
      csvOf([...rest, { ...changed, liquidity_usd: 1 } as TrainingRow]),
    );
    const other = documentIn((await command('model evaluate --data other.csv --json')).lines);
    expect(other).toMatchObject({ left_out: { earlier: 599 - split.test.rows } });
    expect(gone?.launched_at).toBeLessThan(split.at);
    await writeFile(join(cwd, 'learnt.csv'), csvOf(ROWS.slice(0, 300)));
    expect(await command('model evaluate --data learnt.csv')).toMatchObject({
      status: 1,
      errors: [expect.stringMatching(/^No launch of the file can be counted from /)],
    });
    expect(await command('model evaluate --data launches.csv --from 2020-01-01')).toMatchObject({
      status: 1,
      errors: [expect.stringMatching(new RegExp(`^${version} learnt from launches until `))],
    });
    const day = new Date((split.at + 30 * DAY_S) * 1_000).toISOString().slice(0, 10);
    const late = await command(`model evaluate --data launches.csv --from ${day} --json`);
    const counted = ROWS.filter((row) => row.launched_at >= Date.parse(day) / 1_000).length;
    expect(documentIn(late.lines)).toMatchObject({ rows: counted });
  });
});

describe('a model whose flags did not die as its card expects', () => {
  test('is withdrawn, and says so on the stream, to /health, on the page and by its card', async () => {
    await writeFile(join(cwd, 'small.json'), artefactText(SMALL_MODEL));
    const { version } = artefactIn(artefactText(SMALL_MODEL));
    expect((await command('model publish small.json')).status).toBe(0);
    const { published } = model;
    const scoring = launchScoringTable(database, context, () => undefined);
    const now = () => STILL_NOW;
    const established = REVIEWED_TOKENS;
    const parts = { scoring, established, inForce: published.inForce, now };
    const signal = new AbortController().signal;
    await settle(database, { version, died: 100, lived: 99 });
    expect(await scoreOnce(parts, signal)).toEqual([]);
    expect(await health()).toMatchObject({ version, withdrawn: null });
    // The two hundredth settles.
    await settle(database, { version, died: 0, lived: 1 });
    expect(await scoreOnce(parts, signal)).toEqual([]);
    const reason =
      `The flags of ${version} were withdrawn: of its last 200 settled flags 100 died (50.0%), ` +
      'and its card expects 87.0% to 96.0%.';
    expect(await allEventsAfter(database, 0)).toMatchObject([{ kind: 'withdrawal', reason }]);
    expect(await health()).toEqual({
      published: true,
      version,
      reason: null,
      card: `/api/models/rug/${version}`,
      withdrawn: reason,
    });
    const rugFlags = rugFlagTable(database, context, {
      listed: established,
      inForce: published.inForce,
    });
    const said = await viewWindow({ rugFlags, launchWatch: memoryLaunchWatch(WATCHED) }, STILL_NOW);
    expect('reason' in said ? said.reason : null).toBe(
      `${reason} Nothing is flagged until another model is published.`,
    );
    const card = rugModelPageHandler({ publishedModels: published }, FACTS);
    const reply = await card(
      { params: { version }, query: {}, body: undefined },
      { now, signal },
      {
        kind: 'nobody',
      },
    );
    if (reply instanceof Refusal) throw new Error('test: the page was refused');
    expect(Buffer.from(reply.bytes()).toString()).toContain(
      `<strong>Withdrawn.</strong> ${reason}`,
    );
    expect(await command('model publish small.json')).toEqual({
      status: 1,
      lines: [],
      errors: [`The flags of ${version} were withdrawn: it is not put in force again.`],
    });
  });

  test('is withdrawn where flags die as often as what is passed, and stands where they do not', async () => {
    await writeFile(join(cwd, 'small.json'), artefactText(SMALL_MODEL));
    const { version } = artefactIn(artefactText(SMALL_MODEL));
    await command('model publish small.json');
    const scoring = launchScoringTable(database, context, () => undefined);
    const { published } = model;
    const parts = { scoring, established: REVIEWED_TOKENS, inForce: published.inForce };
    const look = () => scoreOnce({ ...parts, now: () => STILL_NOW }, new AbortController().signal);
    const pageText = async () => {
      const reply = await rugModelPageHandler({ publishedModels: published }, FACTS)(
        { params: { version }, query: {}, body: undefined },
        { now: () => STILL_NOW, signal: new AbortController().signal },
        { kind: 'nobody' },
      );
      if (reply instanceof Refusal) throw new Error('test: the page was refused');
      return Buffer.from(reply.bytes()).toString();
    };
    // Of flags 92 in 100 die, as the card expects, whatever of the launches that are passed.
    await settle(database, { version, died: 368, lived: 31 });
    await settle(database, { version, died: 180, lived: 20, flagged: false });
    expect(await look()).toEqual([]);
    expect(await health()).toMatchObject({ withdrawn: null });
    expect(await pageText()).toContain(
      '399, of which 368 died; 200, of which 180 died: not compared before 400 and 200 have settled',
    );
    await settle(database, { version, died: 0, lived: 100, flagged: false });
    await settle(database, { version, died: 0, lived: 1 });
    // The four hundredth has settled, and 60 in 100 of what was passed died: that is a difference.
    expect(await look()).toEqual([]);
    expect(await health()).toMatchObject({ withdrawn: null });
    expect(await pageText()).toContain('400, of which 368 died; 300, of which 180 died<');
    await settle(database, { version, died: 900, lived: 0, flagged: false });
    expect(await look()).toEqual([]);
    const reason =
      `The flags of ${version} were withdrawn: of the newest settled flags, one of a deployer, ` +
      '368 of 400 (92.0%) died, and of what it passed in the same time, one of a deployer, 1080 ' +
      'of 1200 (90.0%): 2.0 (-1.5 to 4.9) points more, which does not leave zero.';
    expect(await health()).toMatchObject({ withdrawn: reason });
    expect(await allEventsAfter(database, 0)).toMatchObject([{ kind: 'withdrawal', reason }]);
    expect(await pageText()).toContain(`<strong>Withdrawn.</strong> ${reason}`);
  });

  type Settling = { version: string; died: number; lived: number; flagged?: boolean };

  /** Launches of deployers of their own, whose horizons have passed. */
  async function settle(
    database: Database,
    { version, died, lived, flagged = true }: Settling,
  ): Promise<void> {
    await database.query(
      `insert into launch_fates (model_version, chain, token, address, flagged, settles_at, fate)
       select $1, 'ethereum', m.held || 't' || n, m.held || 'a' || n, $4::boolean,
         '2026-01-01T00:00:00Z', case when n * $2::int / $3::int > (n - 1) * $2::int / $3::int
           then 'died' else 'live' end
       from generate_series(1, $3::int) as n, (select count(*) as held from launch_fates) as m`,
      [version, died, died + lived, flagged],
    );
  }
});

describe('a file that cannot be used', () => {
  const line = (...cells: string[]) => `${COLUMNS.join(',')}\n${cells.join(',')}\n`;
  test.each([
    [
      'a column beside the layout',
      'chain,token,deployer,launched_at,outcome,observed_until,tx_count\ne,t,d,1,live,2,9\n',
      'Line 2: tx_count is no column of the training layout.',
    ],
    [
      'a death without its date',
      line('e', 't', 'd', '1', 'died', '', '9', ''),
      'Line 2: outcome is died, and died_at is missing.',
    ],
    [
      'a death before the launch',
      line('e', 't', 'd', '5', 'died', '4', '9', ''),
      'Line 2: died_at is before it was scored.',
    ],
    [
      'a death that nobody can have seen yet',
      line('e', 't', 'd', '5', 'died', '10', '9', ''),
      'Line 2: died_at is after observed_until.',
    ],
    [
      'a word for a fate that is none',
      line('e', 't', 'd', '5', 'rugged', '', '9', ''),
      'Line 2: outcome cannot be read.',
    ],
    [
      'a token twice',
      `${line('e', 't', 'd', '5', 'live', '', '9', '')}e,t,d,6,live,,9,\n`,
      'Line 3: the token stands in line 2 too.',
    ],
    ['no row', `${COLUMNS.join(',')}\n`, 'It holds no launch.'],
  ])('with %s is refused by name, and nothing is written', async (_, text, fault) => {
    await writeFile(join(cwd, 'bad.csv'), text);
    const made = await train('--data bad.csv --out bad.json');
    expect(made).toMatchObject({ status: 1, lines: [], errors: [fault] });
    await expect(readFile(join(cwd, 'bad.json'))).rejects.toThrow('ENOENT');
  });

  test('that is not there exits 3', async () => {
    expect((await train('--data nowhere.csv')).status).toBe(3);
    expect((await command('model publish nowhere.json')).status).toBe(3);
  });

  test('that is a cut artefact is published nowhere', async () => {
    await writeFile(join(cwd, 'cut.json'), artefactText(SMALL_MODEL).slice(0, 400));
    expect(await command('model publish cut.json')).toEqual({
      status: 3,
      lines: [],
      errors: ['The file could not be read: it is not whole: its JSON does not end.'],
    });
    expect(await health()).toMatchObject({ published: false });
  });
});

test('guides, contract, caveat and pages define a score by one sentence', async () => {
  const files = ['guides/rug-model.md', 'guides/leaderboard.md', 'guides/stream.md'];
  const texts = await Promise.all(
    [...files, 'reference/openapi.json'].map((name) =>
      readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8'),
    ),
  );
  const sentence = SCORE_SENTENCE.replace(/\.$/, '');
  for (const text of texts) expect(text.replace(/\s+/g, ' ')).toContain(sentence);
  const kept = memoryPublishedModels();
  const asked = { now: () => STILL_NOW, signal: new AbortController().signal };
  const input = { params: { version: KEPT_VERSION }, query: {}, body: undefined };
  const nobody = { kind: 'nobody' } as const;
  for (const handler of [
    rugModelCardHandler({ publishedModels: kept }),
    rugModelPageHandler({ publishedModels: kept }, FACTS),
  ]) {
    const reply = await handler(input, asked, nobody);
    if (reply instanceof Refusal) throw new Error('test: the card was refused');
    expect(Buffer.from(reply.bytes()).toString()).toContain(SCORE_SENTENCE);
  }
  const rugFlags = memoryRugFlags({ ...WATCHED, chains: [SCORED], flags: [] });
  const window = { rugFlags, launchWatch: memoryLaunchWatch(WATCHED) };
  const said = await viewWindow(window, STILL_NOW);
  expect('caveat' in said ? said.caveat : null).toContain(SCORE_SENTENCE);
});

test('a model of made-up launches is published where all is made up, and nowhere else', async () => {
  await writeFile(join(cwd, 'world.csv'), worldLaunchHistoryCsv(WORLD_SEED));
  const made = await train(
    '--data world.csv --out world.json --origin simulated --horizon 4 --json',
  );
  expect(made).toMatchObject({ status: 0, errors: [] });
  const told = documentIn(made.lines);
  expect(told).toMatchObject({ card: { data: { simulated: true } } });
  const text = await readFile(join(cwd, 'world.json'), 'utf8');
  const { version, model: learnt } = artefactIn(text);
  // The model uses only features that the scorer reads, and predicts well enough to flag somebody.
  const used = learnt.card.features.filter(({ splits }) => splits > 0).map(({ name }) => name);
  const read = RUG_FEATURES.filter((one) => one.read_of.some((chain) => chain === 'ethereum')).map(
    ({ name }) => name,
  );
  expect(read).toEqual(expect.arrayContaining(used));
  expect(learnt.card.level?.score_from).toBeGreaterThan(0.6);
  expect(learnt.card.target.statement).toBe(
    'That the launch dies within 4 hours of its launch, as scored within 24 hours of it.',
  );
  expect(await command('model publish world.json')).toEqual({
    status: 1,
    lines: [],
    errors: [`${version} learnt from simulated launches: it scores nothing real.`],
  });
  expect(await health()).toMatchObject({ published: false });
  expect((await command('model publish world.json', { simulated: true })).status).toBe(0);
});
