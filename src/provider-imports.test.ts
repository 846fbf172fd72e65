// A file of calls is taken in row by row, received now, and each refused row is named.

import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { formatIsoTime, HOUR_S } from './chain/time.ts';
import { Read } from './evidence/reading.ts';
import { callProductionTable, providerCallTable } from './features/providers/calls.store.ts';
import {
  type CallImport,
  importCalls,
  type RefusedCall,
} from './features/providers/import-calls.ts';
import { scoreCalls } from './features/providers/score.ts';
import type { SeriesSpan } from './ports/series.ts';
import { localTableFiles } from './sources/files/files.ts';
import { STILL_NOW } from './testing/clock.ts';
import { embeddedControl, type TestStore } from './testing/control-store.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const HEAD = 'asset,direction,horizon_h,called_at,probability,id';
const SOON = formatIsoTime(STILL_NOW - 60);
const folder = mkdtempSync(join(tmpdir(), 'exhibit-test-calls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const fresh = embeddedControl();
let database: TestStore;
let now = STILL_NOW;
beforeEach(() => {
  database = fresh();
  now = STILL_NOW;
});
const context = { simulated: false, nowMs: () => now * 1_000 };

async function take(text: string, name = 'calls.csv') {
  const path = join(folder, name);
  await writeFile(path, text);
  const refused: RefusedCall[] = [];
  const calls = callProductionTable(database, context);
  const parts = { files: localTableFiles(), calls, now: () => now };
  const taken = await importCalls(parts, { path, provider: 'letter' }, (row) => refused.push(row));
  return { taken, refused };
}
const counts = (taken: unknown) => taken as CallImport;

async function kept() {
  const page = await callProductionTable(database, context).counted(-1, 1_000);
  if (!(page instanceof Read)) throw new Error('test: unread');
  return page.value;
}

test('a row is a call about the price, with the probability of the event', async () => {
  const { taken } = await take(
    `${HEAD}\nkPEPE,long,24,${SOON},0.62,a\nETH,short,4,${SOON},0.7,b\nSOL,short,4,${SOON},,c\n`,
  );
  expect(taken).toEqual({ added: 3, known: 0, retrospective: 0, refused: 0 });
  expect(
    (await kept()).map(({ subject, says, probability }) => [subject, says, probability]),
  ).toEqual([
    ['kPEPE', true, 0.62],
    ['ETH', false, 0.3],
    ['SOL', false, null],
  ]);
});

test('JSON lines are read too', async () => {
  const row = { asset: 'BTC', direction: 'long', horizon_h: 24, called_at: SOON, id: 'a' };
  const { taken } = await take(`${JSON.stringify(row)}\n`, 'calls.jsonl');
  expect(taken).toEqual({ added: 1, known: 0, retrospective: 0, refused: 0 });
});

test('the same row again changes nothing, and an edited one is a second call beside it', async () => {
  const first = `BTC,long,24,${SOON},0.62,a\n`;
  await take(`${HEAD}\n${first}`);
  now += 3 * HOUR_S;
  const again = await take(`${HEAD}\n${first}BTC,short,24,${SOON},0.62,a\n`);
  expect(again.taken).toEqual({ added: 1, known: 1, retrospective: 2, refused: 0 });
  const all = await kept();
  expect(all.map(({ says, prospective }) => [says, prospective])).toEqual([
    [true, true],
    [false, false],
  ]);
});

test('a call with an old date is retrospective: nobody says afterwards what will be', async () => {
  const old = formatIsoTime(STILL_NOW - 30 * HOUR_S);
  const { taken } = await take(`${HEAD}\nBTC,long,24,${old},,a\n`);
  expect(counts(taken).retrospective).toBe(1);
  const [call] = await kept();
  expect(call).toMatchObject({ prospective: false, received_at: STILL_NOW });
});

test.each([
  ['asset', `BTC PERP,long,24,${SOON},,a`],
  ['direction', `BTC,up,24,${SOON},,a`],
  ['horizon_h', `BTC,long,0,${SOON},,a`],
  ['horizon_h', `BTC,long,721,${SOON},,a`],
  ['horizon_h', `BTC,long,1.5,${SOON},,a`],
  ['called_at', 'BTC,long,24,2026-11-21 08:00,,a'],
  ['called_at', 'BTC,long,24,2026-13-41T08:00:00Z,,a'],
  ['called_at', `BTC,long,24,${formatIsoTime(STILL_NOW + 1)},,a`],
  ['probability', `BTC,long,24,${SOON},1.1,a`],
  ['probability', `BTC,long,24,${SOON},-0.1,a`],
  ['probability', `BTC,long,24,${SOON},often,a`],
  ['id', `BTC,long,24,${SOON},,`],
  ['id', `BTC,long,24,${SOON},,${'x'.repeat(201)}`],
])('a row with another %s is refused by its line and field: %s', async (field, row) => {
  const { taken, refused } = await take(`${HEAD}\nETH,long,4,${SOON},,z\n${row}\n`);
  expect(taken).toEqual({ added: 1, known: 0, retrospective: 0, refused: 1 });
  expect(refused).toEqual([
    { line: 3, problem: expect.stringMatching(new RegExp(`^${field}: expected `)) },
  ]);
});

test('a column that nobody knows is refused, not dropped', async () => {
  const { refused } = await take(`${HEAD},stop_loss\nBTC,long,24,${SOON},,a,90000\n`);
  expect(refused).toEqual([
    { line: 2, problem: expect.stringMatching(/^stop_loss: unknown column; expected asset, /) },
  ]);
});

test('a file that is not there takes nothing in, with its reason', async () => {
  const calls = callProductionTable(database, context);
  const parts = { files: localTableFiles(), calls, now: () => now };
  const order = { path: join(folder, 'none.csv'), provider: 'letter' };
  expect(await importCalls(parts, order, () => undefined)).toMatchObject({
    reason: expect.stringContaining('there is no such file'),
  });
  expect(await kept()).toEqual([]);
});

test('a call is scored by whole candles alone, and is explained by them', async () => {
  await take(`${HEAD}\nBTC,long,4,${SOON},0.8,a\n`);
  const calls = callProductionTable(database, context);
  const entry = Math.ceil((STILL_NOW - 60) / HOUR_S) * HOUR_S;
  const at = (seconds: number, open: string) => ({ at: seconds * 1_000, open });
  const candles = [at(entry, '100'), at(entry + 4 * HOUR_S, '101')];
  let holes: SeriesSpan[] = [];
  const score = (rows: typeof candles | null) =>
    scoreCalls(
      { calls, candlesOf: async () => (rows === null ? null : { rows, holes }), now: () => now },
      new AbortController().signal,
    );
  expect(await score(candles)).toEqual({ scored: 0, unscorable: 0, pending: 0 });
  now = entry + 6 * HOUR_S;
  expect(await score(null)).toEqual({ scored: 0, unscorable: 0, pending: 1 });
  // A hole among its hours, and none outside them, keeps a call waiting.
  holes = [{ from: (entry + HOUR_S) * 1_000, to: (entry + 2 * HOUR_S) * 1_000 }];
  expect(await score(candles)).toEqual({ scored: 0, unscorable: 0, pending: 1 });
  holes = [{ from: (entry - HOUR_S) * 1_000, to: entry * 1_000 }];
  expect(await score(candles)).toEqual({ scored: 1, unscorable: 0, pending: 0 });
  // What was decided stays, whatever is read later.
  expect(await score([at(entry, '100'), at(entry + 4 * HOUR_S, '99')])).toEqual({
    scored: 0,
    unscorable: 0,
    pending: 0,
  });
  const [row] = await database.query('select call_id from provider_calls');
  const found = await providerCallTable(database, context).find(Object(row).call_id);
  expect(found).toMatchObject({
    value: {
      outcome: { state: 'scored', happened: true, rests_on: { entry: '100', exit: '101' } },
    },
  });
});

test('calls on one asset read its candles once, and no asset holds up another', async () => {
  const rows = ['BTC,long,4', 'BTC,short,9', 'kPEPE,long,4', 'kpepe,long,4'];
  await take(`${HEAD}\n${rows.map((row, n) => `${row},${SOON},,${n}`).join('\n')}\n`);
  const calls = callProductionTable(database, context);
  const entry = Math.ceil((STILL_NOW - 60) / HOUR_S) * HOUR_S;
  now = entry + 20 * HOUR_S;
  const candles = Array.from({ length: 20 }, (_, hour) => {
    return { at: (entry + hour * HOUR_S) * 1_000, open: String(100 + hour) };
  });
  const asked: unknown[] = [];
  const candlesOf = async (asset: string, from: number, to: number) => {
    asked.push([asset, (from - entry) / HOUR_S, (to - entry) / HOUR_S]);
    return asset === 'kpepe' ? null : { rows: candles, holes: [] };
  };
  const told = await scoreCalls({ calls, candlesOf, now: () => now }, new AbortController().signal);
  expect(told).toEqual({ scored: 3, unscorable: 0, pending: 1 });
  expect(asked.toSorted()).toEqual([
    ['BTC', 0, 12],
    ['kPEPE', 0, 7],
    ['kpepe', 0, 7],
  ]);
});
