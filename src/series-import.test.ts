import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { EXIT } from './command/command.ts';
import { Read, unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import {
  type SeriesServices,
  seriesImport,
  seriesStatus,
} from './features/series/series.command.ts';
import { jsonIn } from './sources/http/fetch.ts';
import { warehouseSeries } from './stores/warehouse/series/market-series.ts';
import { seriesFiles } from './stores/warehouse/series/series-files.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { ran } from './testing/recording-io.ts';
import { silentSeries } from './testing/twins/series.ts';

const NOW = Date.UTC(2026, 0, 2) / 1_000;
const SIGNAL = new AbortController().signal;
const warehouse = await freshWarehouse();
const folder = await mkdtemp(join(tmpdir(), 'exhibit-test-series-'));
afterAll(async () => {
  await warehouse.close();
  await rm(folder, { recursive: true, force: true });
});
const store = warehouseSeries(warehouse, () => NOW);
const services = (over: Partial<SeriesServices['series']> = {}): SeriesServices => ({
  series: { simulated: false, now: () => NOW, files: seriesFiles(warehouse), store, ...over },
});
beforeEach(async () => {
  const call = { timeoutMs: 30_000 };
  for (const table of ['market_series', 'market_coverage']) {
    await warehouse.command(`TRUNCATE TABLE ${table}`, call);
  }
});

const COMMANDS = [seriesImport, seriesStatus];
const OF_BTC = '--venue hyperliquid --series candles --asset BTC';
const HEAD = 'open_time,open,high,low,close,volume,close_time,returns';

function lineOf(hour: number, close = '100.5'): string {
  const time = `2026-01-01 ${String(hour).padStart(2, '0')}:00:00+00:00`;
  return `${time},100.0,101,99.5,${close},12.5,x,0.1`;
}

function csv(...lines: readonly string[]): string {
  return `${[HEAD, ...lines].join('\n')}\n`;
}

async function put(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(folder, name), content);
  return name;
}

const run = (line: string, of = services()) => ran(line, COMMANDS, of, { cwd: folder });
const runJson = (line: string, of = services()) =>
  ran(`${line} --json`, COMMANDS, of, { cwd: folder });

test('the same hours come out of CSV, packed CSV, JSON lines and Parquet', async () => {
  const text = csv(lineOf(0), lineOf(1), lineOf(3));
  const files = [await put('a.csv', text), await put('b.csv.gz', gzipSync(text))];
  const rows = [0, 1, 3].map((hour) => {
    const [time, open, high, low, close, volume] = lineOf(hour).split(',');
    return { t: Date.parse(String(time)), o: open, h: Number(high), l: low, c: close, v: volume };
  });
  files.push(await put('c.jsonl', rows.map((one) => `${JSON.stringify(one)}\n`).join('')));
  await warehouse.command(
    `INSERT INTO FUNCTION file('${join(folder, 'd.parquet')}', 'Parquet')
     SELECT toDateTime64('2026-01-01', 3, 'UTC') + 3600 * arrayJoin([0, 1, 3]) AS open_time,
       100.0 AS open, 101.0 AS high, 99.5 AS low, 100.5 AS close, 12.5 AS volume`,
    { timeoutMs: 30_000 },
  );
  for (const file of [...files, 'd.parquet']) {
    const told = await runJson(`series import ${file} ${OF_BTC}`);
    expect(told.errors).toEqual([]);
    expect(jsonIn(String(told.lines[0]))).toMatchObject({
      venue: 'hyperliquid',
      series: 'candles',
      asset: 'BTC',
      origin: 'observed',
      rows: 3,
      rows_refused: 0,
      from: '2026-01-01T00:00:00Z',
      to: '2026-01-01T04:00:00Z',
      holes: [{ from: '2026-01-01T02:00:00Z', to: '2026-01-01T03:00:00Z' }],
    });
    expect(told.status).toBe(EXIT.done);
  }
  const span = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 1, 2) };
  const name = { venue: 'hyperliquid', series: 'candles', of: 'BTC' } as const;
  const reading = await store.read(name, span, { signal: SIGNAL });
  expect(reading instanceof Read && reading.value.rows[0]).toMatchObject({ volume: '12.5' });
});

test('the same file again changes nothing, another word is a revision', async () => {
  await put('first.csv', csv(lineOf(0), lineOf(1)));
  await put('second.csv', csv(lineOf(0), lineOf(1, '100.75')));
  const told = await run(`series import first.csv ${OF_BTC}`);
  expect(told.lines).toEqual([
    'Imported 2 rows of candles.',
    'series     candles of BTC at hyperliquid, observed',
    'from       2026-01-01T00:00:00Z',
    'to         2026-01-01T02:00:00Z',
    'holes      0 (0 h)',
    'new        2',
    'revised    0',
    'unchanged  0',
    'repeated   0',
    'refused    0',
  ]);
  const counts = async (file: string) => {
    const { lines } = await runJson(`series import ${file} ${OF_BTC}`);
    return jsonIn(String(lines[0]));
  };
  expect(await counts('first.csv')).toMatchObject({ added: 0, revised: 0, unchanged: 2 });
  expect(await counts('second.csv')).toMatchObject({ added: 0, revised: 1, unchanged: 1 });
});

test('a zone tells the times of wall clocks, and is refused beside an offset', async () => {
  const local = ['00:00', '01:00', '01:00', '02:00'].map((at) => {
    return `2020-10-25 ${at}:00,100.0,101,99.5,100.5,12.5,x,0.1`;
  });
  await put('local.csv', csv(...local));
  const zoned = await runJson(`series import local.csv ${OF_BTC} --tz Asia/Jerusalem`);
  expect(jsonIn(String(zoned.lines[0]))).toMatchObject({
    rows: 4,
    from: '2020-10-24T21:00:00Z',
    to: '2020-10-25T01:00:00Z',
    holes: [],
  });
  const unzoned = await run(`series import local.csv ${OF_BTC}`);
  expect(unzoned.status).toBe(EXIT.failed);
  expect(unzoned.errors.at(0)).toMatch(/^local.csv: row 1: no_offset: .*--tz/);
  await put('utc.csv', csv(lineOf(0)));
  const both = await run(`series import utc.csv ${OF_BTC} --tz Asia/Jerusalem`);
  expect(both.status).toBe(EXIT.failed);
  expect(both.errors.at(0)).toMatch(/^utc.csv: row 1: offset_and_zone/);
  const nowhere = await run(`series import utc.csv ${OF_BTC} --tz Nowhere/Land`);
  expect(nowhere.status).toBe(EXIT.badUsage);
});

describe('nothing is imported', () => {
  test.each([
    ['a file that is not there', 'missing.csv', null],
    ['an empty file', 'empty.csv', ''],
    ['a web page', 'page.csv', '<!DOCTYPE html>\n<html></html>'],
    ['cut JSON', 'cut.jsonl', '{"t":1767225600000,"o":1,"h":1,"l":1,"c":1,"v"'],
    ['no Parquet', 'cut.parquet', 'PAR1 and nothing else'],
    ['cut gzip', 'cut.csv.gz', gzipSync(csv(lineOf(0))).subarray(0, 30)],
    ['a file of no row', 'head.csv', csv()],
    ['a file of refused rows', 'refused.csv', csv('soon,1,1,1,1,1,x,0')],
  ])('of %s', async (_, name, content) => {
    if (content !== null) await put(name, content);
    const told = await run(`series import ${name} ${OF_BTC}`);
    expect(told.status).toBe(EXIT.failed);
    expect(told.lines).toEqual([]);
    expect(told.errors.length).toBeGreaterThan(0);
    expect(await store.held(SIGNAL)).toMatchObject({ value: [] });
  });

  test('where one of several files cannot be read, or the store is silent', async () => {
    await put('good.csv', csv(lineOf(0)));
    const told = await run(`series import good.csv missing.csv ${OF_BTC}`);
    expect(told.status).toBe(EXIT.failed);
    expect(await store.held(SIGNAL)).toMatchObject({ value: [] });
    const cause = why('store_unreadable', { what: 'The transfer warehouse', fault: 'it is away' });
    const away = services({ store: silentSeries(cause).marketSeries });
    expect(await run(`series import good.csv ${OF_BTC}`, away)).toMatchObject({
      status: EXIT.failed,
      lines: [],
      errors: [cause.reason],
    });
  });
});

describe('status', () => {
  test('tells each series, from when to when, and the hours that are missing', async () => {
    await put('a.csv', csv(lineOf(0), lineOf(1), lineOf(3)));
    await run(`series import a.csv ${OF_BTC}`);
    const told = await run('series status');
    expect(told.status).toBe(EXIT.done);
    expect(told.lines[1]).toMatch(/^candles of BTC at hyperliquid +3 +2026-01-01T00:00:00Z .* 1 h/);
    const { lines } = await runJson('series status');
    expect(jsonIn(String(lines[0]))).toEqual({
      venue: 'hyperliquid',
      series: 'candles',
      of: 'BTC',
      rows: 3,
      revisions: 3,
      origin: 'observed',
      from: '2026-01-01T00:00:00Z',
      to: '2026-01-01T04:00:00Z',
      holes: [{ from: '2026-01-01T02:00:00Z', to: '2026-01-01T03:00:00Z' }],
      gone: [],
      received: '2026-01-02T00:00:00Z',
    });
  });

  test('says that nothing is kept where that was read, and that it was not read else', async () => {
    expect((await run('series status')).lines).toEqual(['No market series is kept.']);
    const cause = why('store_unreadable', { what: 'The transfer warehouse', fault: 'it is away' });
    const silent = { ...store, held: async () => unread('market_series' as const, cause) };
    expect(await run('series status', services({ store: silent }))).toEqual({
      status: EXIT.couldNotCheck,
      lines: [],
      errors: [cause.reason],
    });
  });
});
