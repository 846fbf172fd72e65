// Two processes that serve the edge over one PostgreSQL and one warehouse: an answer is made of the
// question and the record alone, tried filters are counted by membership, and the ranker that was
// published last is in force in both.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { sharesFrom } from './evidence/random.ts';
import { rankerArtefact, trainRanker } from './features/ranker/training.ts';
import { DETECTOR_KINDS } from './ports/emitted-calls.ts';
import { CANDLE_MS, type SeriesStore } from './ports/series.ts';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { remoteWarehouse } from './stores/warehouse/engine/remote.ts';
import { warehouseSeries } from './stores/warehouse/series/market-series.ts';
import { evm } from './testing/addresses.ts';
import { noiseOpens } from './testing/edge-records.ts';
import { FIRST_WEEK, inventCalls } from './testing/emissions.ts';
import { type Fleet, makeFleet, settingsOfFleet } from './testing/fleet.ts';
import { createStoresIn } from './testing/fresh-warehouse.ts';
import { keepCalls } from './testing/kept-calls.ts';
import { fetchPatiently } from './testing/patient-fetch.ts';
import { NO_POSTGRES, testPostgres } from './testing/postgres.ts';
import { MAIN, onlySettings, runPrinting, startProgram } from './testing/program.ts';
import { startWarehouseFront, type WarehouseFront } from './testing/warehouse-front.ts';
import { type StartedExplorer, startExplorer } from './world/explorer-api.ts';
import { WORLD_SEED, worldPublicationAt } from './world/listed-parties.ts';
import { sdnXml } from './world/sdn-publication.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
/** Enough for a machine that has much else to do. */
const PATIENT = { timeout: 120_000, interval: 1_000 };

const WEEKS = 24;
const CALLS = inventCalls({ weeks: WEEKS, aWeek: 16, tells: 0.9 }, 29);
const ASSETS = ['BTC', 'ETH', 'SOL'];
const WEEK_H = 7 * 24;
const HOURS = (WEEKS + 1) * WEEK_H;
const HOLE = { from: 10 * WEEK_H, to: 11 * WEEK_H };
const CALLERS = 500;
const AT_ONCE = 8;

const QUESTIONS = [
  '/edge/backtest.json?days=365',
  '/edge/backtest.json?days=365&kinds=liq,whale&cost_bps=2.5',
  '/edge/backtest.json?days=90&asset=ETH&direction=short',
  '/edge/backtest.json?days=365&horizon_h=24&trials=1000',
  '/edge/backtest.json?list=filters&days=365',
  '/edge/replay.json',
  '/edge/replay.json?date=2025-03-03',
  '/edge/performance.json',
  '/api/ml-rank?pair=BTC',
  '/api/ml-rank?pair=SOL-USD',
] as const;

const added = z.object({ membership_id: z.string() });
const minted = z.object({ key: z.string() });
const trained = z.looseObject({ version: z.string() });
const ranked = z.looseObject({ model_version: z.string().nullable(), rank: z.int().nullable() });
const counted = z.looseObject({
  counted: z.object({ distinct: z.int(), since: z.string() }).nullable(),
  deflated: z.looseObject({ trials: z.int() }),
});

describe.skipIf(NO_POSTGRES !== null)(`two processes ${NO_POSTGRES ?? ''}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'exhibit-edge-'));
  let front: WarehouseFront;
  let explorer: StartedExplorer;
  let series: SeriesStore;
  let fleet: Fleet;
  let env: { readonly [name: string]: string };
  let opens: readonly (readonly number[])[];

  const place = () => ({ cwd: home, env: { ...env, EXHIBIT_DATA_DIR: join(home, 'operator') } });
  const urlOf = (name: string) => String(fleet.urls.get(name));

  async function ask(name: string, path: string, key?: string): Promise<string> {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const answer = await fetchPatiently(urlOf(name) + path, { headers });
    expect(answer.status).toBe(200);
    return await answer.text();
  }
  const askAll = (name: string) => Promise.all(QUESTIONS.map((path) => ask(name, path)));

  /** Keeps hours of the candles of an asset. */
  async function addCandles(at: number, fromHour: number, toHour: number): Promise<void> {
    const timeOf = (hour: number) => FIRST_WEEK * 1_000 + hour * CANDLE_MS;
    const rows = Array.from({ length: toHour - fromHour }, (_, n) => {
      const open = String(opens[at]?.[fromHour + n]);
      const same = { open, high: open, low: open, close: open };
      return { at: timeOf(fromHour + n), ...same, volume: '1' };
    });
    const name = { venue: 'hyperliquid', series: 'candles', of: String(ASSETS[at]) } as const;
    const kept = await series.add(name, rows, {
      covered: [{ from: timeOf(fromHour), to: timeOf(toHour) }],
      received_at: timeOf(HOURS),
      source: 'a venue of the test',
      origin: 'observed',
    });
    expect(kept.checked).toBe(true);
  }

  beforeAll(async () => {
    const listFile = join(home, 'sdn.xml');
    writeFileSync(listFile, sdnXml(worldPublicationAt(Math.floor(Date.now() / 1e3), WORLD_SEED)));
    const database = await (await testPostgres()).freshDatabase();
    await createStoresIn(join(home, 'shared'));
    front = await startWarehouseFront(join(home, 'shared/warehouse'));
    explorer = await startExplorer({
      headOf: () => 1,
      timeOf: () => FIRST_WEEK,
      rowsOf: () => [],
      rowsOfToken: () => [],
    });
    env = onlySettings(
      settingsOfFleet({
        database,
        warehouse: front.url,
        list: listFile,
        explorer: explorer.blockscout(1),
        token: evm('token'),
      }),
    );
    const { status, err } = await startProgram(['migrate'], place()).ended;
    expect(status, err).toBe(0);
    const control = openPostgres(database);
    await keepCalls(control, CALLS, { simulated: false });
    await control.close();
    series = warehouseSeries(remoteWarehouse(front.url), () => FIRST_WEEK);
    const shares = sharesFrom(3);
    opens = ASSETS.map(() => noiseOpens(HOURS, shares));
    for (const at of ASSETS.keys()) {
      await addCandles(at, 0, HOLE.from);
      if (at > 0) await addCandles(at, HOLE.from, HOLE.to);
      await addCandles(at, HOLE.to, HOURS);
    }
    fleet = await makeFleet({ roles: { one: 'serve', two: 'serve' }, main: MAIN, env, home });
    await fleet.start('one');
    await fleet.start('two');
  });
  afterAll(async () => {
    await fleet?.close();
    await front?.close();
    await explorer?.close();
    rmSync(home, { recursive: true, force: true });
  });

  test('say the same bytes, and 500 callers without a key change nothing', async () => {
    const before = await askAll('one');
    expect(new Set(before).size).toBe(QUESTIONS.length);
    expect(await askAll('two')).toEqual(before);
    const shares = sharesFrom(500);
    const draw = () => {
      const words = [`days=${1 + Math.floor(shares() * 365)}`];
      if (shares() < 0.5) words.push(`kinds=${DETECTOR_KINDS[Math.floor(shares() * 4)]}`);
      if (shares() < 0.5) words.push(`asset=${ASSETS[Math.floor(shares() * 3)]}`);
      if (shares() < 0.5) words.push(`min_conviction=0.${5 + Math.floor(shares() * 5)}`);
      return `/edge/backtest.json?${words.join('&')}`;
    };
    const asked = new Set<string>();
    for (let callers = 0; callers < CALLERS; callers += AT_ONCE) {
      const paths = Array.from({ length: Math.min(AT_ONCE, CALLERS - callers) }, draw);
      for (const path of paths) asked.add(path);
      // One process has many more callers than the other.
      const told = await Promise.all(
        paths.map((path, n) => ask(n % AT_ONCE === 0 ? 'two' : 'one', path)),
      );
      for (const text of told) expect(counted.parse(JSON.parse(text)).counted).toBeNull();
    }
    expect(asked.size).toBeGreaterThan(CALLERS / 2);
    expect(await askAll('one')).toEqual(before);
    expect(await askAll('two')).toEqual(before);
  });

  test('count the filters of a membership once, whichever of its keys is sent to which', async () => {
    const member = async () =>
      (await runPrinting(added, ['members', 'add', '--plan', 'desk'], place())).membership_id;
    const [mine, other] = [await member(), await member()];
    const mint = async (membership: string) =>
      (await runPrinting(minted, ['keys', 'create', '--membership', membership], place())).key;
    const keys = [await mint(mine), await mint(mine), await mint(mine)];
    const foreign = await mint(other);
    const [path, unlisted] = [String(QUESTIONS[0]), '/edge/backtest.json?days=365&cost_bps=7'];
    const before = await ask('one', path);
    const countBy = async (name: string, of: string, key: string) =>
      counted.parse(JSON.parse(await ask(name, of, key))).counted?.distinct;
    for (const [n, key] of keys.entries()) {
      const [here, there] = n % 2 === 0 ? ['one', 'two'] : ['two', 'one'];
      expect(await countBy(String(here), path, key)).toBe(n === 0 ? 1 : 2);
      expect(await countBy(String(there), unlisted, key)).toBe(2);
    }
    expect(await countBy('two', path, foreign)).toBe(1);
    const { since } = z
      .object({ since: z.string() })
      .parse(counted.parse(JSON.parse(await ask('one', path, keys[2]))).counted);
    expect(counted.parse(JSON.parse(await ask('two', path, keys[0]))).counted).toEqual({
      distinct: 2,
      since,
    });
    expect(await ask('one', path)).toBe(before);
    expect(await ask('two', path)).toBe(before);
  });

  test('rank by the ranker that was published last, after a restart too', async () => {
    const versionsNow = async () =>
      await Promise.all(
        ['one', 'two'].map(async (name) => {
          const told = await ask(name, '/api/ml-rank?pair=BTC');
          return ranked.parse(JSON.parse(told));
        }),
      );
    for (const { model_version, rank } of await versionsNow()) {
      expect([model_version, rank]).toEqual([null, null]);
    }
    const made: string[] = [];
    for (const seed of ['1', '2']) {
      const file = join(home, `ranker-${seed}.json`);
      const words = ['rank', 'train', '--out', file, '--seed', seed];
      const { version } = await runPrinting(trained, words, place());
      made.push(version);
      await runPrinting(z.looseObject({}), ['rank', 'publish', file], place());
      const [one, two] = await versionsNow();
      expect([one?.model_version, two?.model_version]).toEqual([version, version]);
      expect(Number(one?.rank)).toBeGreaterThan(0);
      expect(two).toEqual(one);
    }
    expect(new Set(made).size).toBe(2);
    const before = await askAll('one');
    await fleet.kill('two');
    await fleet.start('two');
    expect(await askAll('two')).toEqual(before);
  });

  test('do not publish a ranker of simulated calls over real ones', async () => {
    const before = await ask('one', '/api/ml-rank?pair=ETH');
    const file = join(home, 'simulated.json');
    const order = { seed: 1, splitAt: null, codeVersion: '0.0.0' };
    const madeUp = CALLS.map((call) => ({ ...call, simulated: true }));
    const artefact = rankerArtefact(trainRanker(madeUp, order));
    writeFileSync(file, artefact.text);
    const { status, err } = await startProgram(['rank', 'publish', file], place()).ended;
    expect(status).toBe(1);
    expect(err).toContain(
      `${artefact.version} learnt from simulated calls: it ranks nothing real.`,
    );
    expect(await ask('two', '/api/ml-rank?pair=ETH')).toBe(before);
  });

  test('say the same of candles that came after one of them had looked', async () => {
    const path = String(QUESTIONS[0]);
    const holed = await ask('one', path);
    expect(holed).toContain('"hours_unread":');
    await addCandles(0, HOLE.from, HOLE.to);
    await fleet.kill('two');
    await fleet.start('two');
    const filled = await ask('two', path);
    expect(filled).not.toBe(holed);
    await vi.waitFor(async () => expect(await ask('one', path)).toBe(filled), PATIENT);
  });
});
