// Services of whom it is known how right they are, over two days of the simulated markets: the
// leaderboard shows what is true of each, and whoever knew it afterwards gains nothing.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { HOUR_S, MS_PER_S } from './chain/time.ts';
import { Read } from './evidence/reading.ts';
import { makeBoard } from './features/providers/board.ts';
import { callProductionTable, providerCallTable } from './features/providers/calls.store.ts';
import { importCalls } from './features/providers/import-calls.ts';
import { scoreCalls } from './features/providers/score.ts';
import { type BoardRow, countedBoard } from './features/providers/shapes.ts';
import { localTableFiles } from './sources/files/files.ts';
import { jsonIn } from './sources/http/fetch.ts';
import { STILL_NOW } from './testing/clock.ts';
import { embeddedControl } from './testing/control-store.ts';
import {
  CALLED_HORIZON_H,
  type ListedCall,
  listedCalls,
  MARKET_CALLERS,
  type MarketCaller,
  willRise,
} from './world/market-callers.ts';
import { isWorldCoin, worldCandles } from './world/traders.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });

const HOURS = 48;
/** Each list is looked at a minute after its calls are said. */
const LOOKED_AT_S = 660;
const NEVER = new AbortController().signal;
const fresh = embeddedControl();
const folder = mkdtempSync(join(tmpdir(), 'exhibit-test-callers-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What each service said first of a call, by its name for it, and when it was said. */
const firstWords = new Map<MarketCaller, Map<string, ListedCall>>();
let prospective: readonly BoardRow[] = [];
let retrospective: readonly BoardRow[] = [];
let end = 0;

beforeAll(async () => {
  const database = fresh();
  const began = Math.floor(STILL_NOW / HOUR_S) * HOUR_S;
  let now = began;
  const context = { simulated: true, nowMs: () => now * MS_PER_S };
  const calls = callProductionTable(database, context);
  const parts = { files: localTableFiles(), calls, now: () => now };
  const candlesOf = async (asset: string, from: number, to: number) => {
    if (!isWorldCoin(asset)) return null;
    const read = worldCandles(asset, from * MS_PER_S, Math.min(to, now) * MS_PER_S);
    const rows = read.map(({ at, open }) => ({ at, open: open.toFixed(10) }));
    const hole = { from: now * MS_PER_S, to: to * MS_PER_S };
    return { rows, holes: to > now ? [hole] : [] };
  };
  for (let hour = 0; hour < HOURS; hour += 1) {
    now = began + hour * HOUR_S + LOOKED_AT_S;
    for (const caller of MARKET_CALLERS) {
      const listed = listedCalls(caller, now).filter(({ called_at }) => {
        return Date.parse(called_at) >= began * MS_PER_S;
      });
      const words = firstWords.get(caller) ?? new Map<string, ListedCall>();
      firstWords.set(caller, words);
      for (const one of listed) if (!words.has(one.id)) words.set(one.id, one);
      if (listed.length === 0) continue;
      const path = join(folder, `${caller}.jsonl`);
      writeFileSync(path, listed.map((one) => JSON.stringify(one)).join('\n'));
      const taken = await importCalls(parts, { path, provider: caller }, () => undefined);
      expect(taken).toMatchObject({ refused: 0 });
    }
  }
  await scoreCalls({ calls, candlesOf, now: () => now }, NEVER);
  expect(await makeBoard({ calls, now: () => now })).toBeNull();
  const board = await providerCallTable(database, context).board();
  if (!(board instanceof Read) || board.value.kept === null) throw new Error('test: no board');
  ({ rows: prospective, retrospective } = countedBoard.parse(
    jsonIn(board.value.kept.text),
  ).windows.all);
  end = now;
});

const rowOf = (rows: readonly BoardRow[], provider: MarketCaller) =>
  rows.find((row) => row.provider === provider);

/** What is true of the first words of a service whose end has come, by the markets themselves. */
function truthOf(caller: MarketCaller) {
  const decided = [...(firstWords.get(caller)?.values() ?? [])].filter(({ called_at }) => {
    const until = Math.ceil(Date.parse(called_at) / MS_PER_S / HOUR_S) + CALLED_HORIZON_H + 3;
    return until * HOUR_S <= end;
  });
  const hits = decided.filter(({ asset, called_at, direction }) => {
    return willRise(asset, Date.parse(called_at) / MS_PER_S) === (direction === 'long');
  });
  return { scored: decided.length, hits: hits.length };
}

test.each(['seer', 'contrary', 'lucky', 'rewriter'] as const)(
  'of %s the board tells what the markets say of its first words',
  (caller) => {
    const truth = truthOf(caller);
    expect(truth.scored).toBeGreaterThan(1);
    expect(rowOf(prospective, caller)).toMatchObject(truth);
  },
);

test('who is right stands first, who was lucky behind, who is wrong last', () => {
  const order = prospective.map(({ provider }) => provider);
  expect(order[0]).toBe('seer');
  expect(order.at(-1)).toBe('contrary');
  expect(rowOf(prospective, 'lucky')).toMatchObject({ hit_rate: 1 });
  const [seer, contrary] = [rowOf(prospective, 'seer'), rowOf(prospective, 'contrary')];
  expect(seer?.hit_rate).toBeGreaterThan(0.6);
  expect(contrary?.hit_rate).toBeLessThan(0.4);
  // Guessing a half of each gives 0.25.
  expect(seer?.brier).toBeLessThan(0.25);
  expect(contrary?.brier).toBeGreaterThan(0.25);
});

test('who says it late is right in no rate, however right he is', () => {
  expect(rowOf(prospective, 'latecomer')).toBeUndefined();
  expect(rowOf(retrospective, 'latecomer')).toMatchObject({ hit_rate: 1 });
});

test('who corrects the past keeps his first word, and his corrections stand apart', () => {
  const first = rowOf(prospective, 'rewriter');
  const corrected = rowOf(retrospective, 'rewriter');
  expect(first?.hit_rate).toBeLessThan(0.75);
  expect(first?.calls).toBe(firstWords.get('rewriter')?.size);
  expect(corrected).toMatchObject({ hit_rate: 1 });
  expect(corrected?.scored).toBe(Number(first?.scored) - Number(first?.hits));
});

test('who says nothing has no row, and no rate of zero', () => {
  const all = [...prospective, ...retrospective];
  expect(all.filter(({ provider }) => provider === 'silent')).toEqual([]);
});
