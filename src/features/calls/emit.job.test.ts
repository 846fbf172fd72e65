// What is emitted live and what a run over the stored record calls are the same, byte for byte,
// whatever was down meanwhile; and what became of each call is told once.

import { expect, test, vi } from 'vitest';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { EMISSION_LEASE, type EmittedCall } from '../../ports/emitted-calls.ts';
import type { SeriesName } from '../../ports/series.ts';
import { leasesIn, onEachEngine } from '../../testing/control-store.ts';
import { memoryEmission, OWN_LEASE, wholeHours } from '../../testing/emission-store.ts';
import type { SeriesBatch } from '../../testing/look-ahead.ts';
import { type RecordedSeries, recordedSeries } from '../../testing/recorded-series.ts';
import { type MarketPlan, simulateMarkets } from '../../world/markets.ts';
import { emissionTable, emittedCallTable } from './calls.store.ts';
import { type EmitParts, emitOnce } from './emit.job.ts';
import { replayCalls } from './replay.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 240_000 });

const SIGNAL = new AbortController().signal;
const HOUR_S = 3_600;
const HOUR = HOUR_S * 1_000;
const FROM_S = 1_760_000_400;
const FROM = FROM_S * 1_000;
/** Two weeks of history, then the days that are lived through. */
const BEFORE_H = 15 * 24;
const LIVED_H = 60 * 24;
const PLAN: MarketPlan = {
  seed: 3,
  assets: ['ETH', 'MADE'],
  from: FROM,
  hours: BEFORE_H + LIVED_H,
  reversion: 0.08,
  revises: { venue: 'hyperliquid', oneOf: 40 },
  delists: { asset: 'MADE', at: FROM + (BEFORE_H + 40 * 24) * HOUR },
  silent: {
    venue: 'hyperliquid',
    from: FROM + (BEFORE_H + 20 * 24) * HOUR,
    to: FROM + (BEFORE_H + 21 * 24 + 7) * HOUR,
  },
};

function arrivals(plan: MarketPlan): SeriesBatch[] {
  const markets = simulateMarkets(plan);
  const span = { from: plan.from, to: plan.from + plan.hours * HOUR };
  const used = ({ venue, series }: SeriesName) =>
    ['hyperliquid', 'chain'].includes(venue) || series === 'liquidations';
  return markets.names
    .filter(used)
    .flatMap((name) => markets.batches(name, span).map((batch) => ({ name, ...batch })))
    .sort((a, b) => a.received_at - b.received_at);
}

/** Has what arrived until a time be received, further each time. */
function feed(series: RecordedSeries, all: readonly SeriesBatch[]): (until: number) => void {
  let arrived = 0;
  return (until) => {
    const left = all.slice(arrived);
    const later = left.findIndex(({ received_at }) => received_at > until);
    const more = later === -1 ? left : left.slice(0, later);
    arrived += more.length;
    series.receive(more);
  };
}

/** The days on which nobody ran, and that on which the store of series was away. */
const DOWN = [10, 11];
const STORE_AWAY = 30;

function partsOver(
  series: RecordedSeries,
  now: () => number,
): EmitParts & { store: ReturnType<typeof memoryEmission> } {
  const store = memoryEmission();
  return {
    store,
    versions: store.versions,
    series,
    gather: async (name, span, signal) => {
      return { reading: await series.read(name, span, { signal }), fault: null };
    },
    leases: OWN_LEASE,
    assets: PLAN.assets,
    now,
  };
}

test('sixty days with outages: live and from the record the same calls', async () => {
  const all = arrivals(PLAN);
  const series = recordedSeries([]);
  let now = 0;
  const receive = feed(series, all);
  const parts = partsOver(series, () => now);
  const first = FROM_S + BEFORE_H * HOUR_S;
  const AWAY = unread('market_series', why('store_unreadable', { what: 'It', fault: 'away' }));
  for (let hour = 0; hour < LIVED_H; hour += 1) {
    const day = Math.floor(hour / 24);
    if (DOWN.includes(day)) continue;
    // Some minutes past its tick, and not always the same.
    now = first + hour * HOUR_S + 900 + 130 + ((hour * 37) % 900);
    receive(now * 1_000);
    const isAway = day === STORE_AWAY;
    const given = isAway ? { ...parts, series: { read: async () => AWAY } } : parts;
    const made = await emitOnce(given, SIGNAL);
    if (made === null || 'reason' in made) expect(isAway).toBe(true);
    // The same hour again makes nothing twice.
    if (hour % 50 === 0 && !isAway) {
      expect(await emitOnce(parts, SIGNAL)).toMatchObject({ ticks: 0, calls: 0 });
    }
  }
  receive(Number.POSITIVE_INFINITY);
  const calls = [...parts.store.calls.values()];
  const kinds = new Set(calls.map(({ kind }) => kind));
  expect([...kinds].sort()).toContain('funding');
  expect(kinds.size).toBeGreaterThan(1);
  expect(calls.length).toBeGreaterThan(20);
  for (const { inputs, emitted_at } of calls) {
    expect(inputs.every((one) => one.received_at_ms <= emitted_at * 1_000)).toBe(true);
  }
  const span = { from: first, to: first + LIVED_H * HOUR_S };
  const replay = await replayCalls(parts, span, SIGNAL);
  expect(replay).toMatchObject({ emitted: calls.length, replayed: calls.length, differences: [] });
  // Down for two days, the store away for one; a version is in force from the first round on.
  const ran = LIVED_H - 3 * 24 - 1;
  expect(replay).toMatchObject({ ticks: 4 * ran });
  // While the venue was silent nothing was read whole; what chains tell does not trade without it.
  const whole = wholeHours(parts.store.kept);
  expect(Number(whole.get('funding'))).toBeLessThan(ran - 30);
  expect(Number(whole.get('funding'))).toBeGreaterThan(ran - 240);
  expect(delistedCalls(calls)).toEqual([]);
});

/** Calls on the asset that was taken off, from then on. */
function delistedCalls(calls: readonly EmittedCall[]): readonly EmittedCall[] {
  const off = Number(PLAN.delists?.at) / 1_000;
  return calls.filter(({ asset, emitted_at }) => asset === 'MADE' && emitted_at >= off);
}

test('a record that was changed afterwards is told by the replay', async () => {
  const all = arrivals({ ...PLAN, hours: BEFORE_H + 48, silent: null, delists: null });
  const series = recordedSeries(all);
  let now = 0;
  const parts = partsOver(series, () => now);
  const first = FROM_S + BEFORE_H * HOUR_S;
  for (let hour = 0; hour < 46; hour += 1) {
    now = first + hour * HOUR_S + 1_100;
    await emitOnce(parts, SIGNAL);
  }
  const span = { from: first, to: first + 48 * HOUR_S };
  const before = await replayCalls(parts, span, SIGNAL);
  expect(before).toMatchObject({ differences: [] });
  // Rows that bear a time of receipt before they were there: what a cut by receipt cannot see.
  const forged = all.map((batch) => {
    if (batch.name.series !== 'marks') return batch;
    return { ...batch, rows: batch.rows.map((row) => ({ ...row, price: '1' })) };
  });
  const told = await replayCalls({ ...parts, series: recordedSeries(forged) }, span, SIGNAL);
  if ('reason' in told) throw new Error(told.reason);
  expect(told.emitted).toBeGreaterThan(0);
  expect(told.differences.map(({ found }) => found)).toContain('only_emitted');
  expect(told.differences.map(({ found }) => found)).toContain('only_replayed');
});

test('what became of a call is told once, and a later revision stands beside it', async () => {
  const quiet = { silent: null, delists: null, revises: null };
  const all = arrivals({ ...PLAN, ...quiet, hours: BEFORE_H + 14 * 24 });
  const series = recordedSeries([]);
  let now = 0;
  const receive = feed(series, all);
  const parts = { ...partsOver(series, () => now) };
  const first = FROM_S + BEFORE_H * HOUR_S;
  const outcomes = new Map<string, unknown>();
  for (let hour = 0; hour < 13 * 24; hour += 1) {
    now = first + hour * HOUR_S + 1_100;
    receive(now * 1_000);
    await emitOnce(parts, SIGNAL);
    for (const { call_id, outcome } of parts.store.calls.values()) {
      if (outcome.state !== 'closed') continue;
      const { restated: _, ...told } = outcome;
      const before = outcomes.get(call_id);
      if (before !== undefined) expect(told).toEqual(before);
      outcomes.set(call_id, told);
    }
  }
  expect(outcomes.size).toBeGreaterThan(3);
  const [some] = [...parts.store.calls.values()].filter(
    ({ outcome }) => outcome.state === 'closed',
  );
  if (some?.outcome.state !== 'closed') throw new Error('test: nothing was closed');
  expect(some.outcome.restated).toBe(null);
  const { entry, entry_at_ms, exit } = some.outcome;
  const open = String(Number(entry) * 2);
  // The venue tells its later word to whoever asks for what is held already.
  parts.gather = async (name, span, signal, reach) => {
    if (reach === 'all' && name.series === 'candles' && name.of === some.asset) {
      const rows = [{ at: entry_at_ms, open, high: open, low: open, close: open, volume: '1' }];
      series.receive([{ name, received_at: now * 1_000, rows, covered: [] }]);
    }
    return { reading: await series.read(name, span, { signal }), fault: null };
  };
  const at = await restateOver(24);
  expect(parts.store.calls.get(some.call_id)?.outcome).toMatchObject({
    entry,
    exit,
    restated: { entry: open, exit, restated_at: at[0] },
  });
  expect([at.length, await restateOver(24)]).toEqual([1, []]);

  /** When something was restated within so many hours: each call is looked at once a day. */
  async function restateOver(hours: number): Promise<readonly number[]> {
    const times: number[] = [];
    for (let hour = 0; hour < hours; hour += 1) {
      now += HOUR_S;
      const made = await emitOnce({ ...parts, assets: ['ETH'] }, SIGNAL);
      if (made !== null && 'restated' in made && made.restated > 0) times.push(now);
    }
    return times;
  }
});

onEachEngine((name, fresh) => {
  test(`${name}: two processes make each tick and each call once between them`, async () => {
    const database = fresh();
    const context = { simulated: false, nowMs: () => FROM };
    const all = arrivals({ ...PLAN, assets: ['BTC', 'ETH'], hours: BEFORE_H + 30, silent: null });
    const store = emissionTable(database, context);
    const { versions, changedSince } = emittedCallTable(database, context);
    let now = 0;
    const series = recordedSeries(all);
    const alone = { ...partsOver(series, () => now), assets: ['BTC', 'ETH'] };
    const process = (holder: string): EmitParts => {
      return { ...alone, store, versions, leases: leasesIn(database, holder) };
    };
    const processes = [process('one'), process('other')];
    const first = FROM_S + BEFORE_H * HOUR_S;
    for (let hour = 0; hour < 12; hour += 1) {
      now = first + hour * HOUR_S + 1_100;
      await Promise.all(processes.map((one) => emitOnce(one, SIGNAL)));
      await emitOnce(alone, SIGNAL);
    }
    const kept = await changedSince(0, 1_000);
    if (!kept.checked) throw new Error(kept.why.reason);
    const ids = kept.value.calls.map(({ call_id }) => call_id).sort();
    expect(ids).toEqual([...alone.store.calls.keys()].sort());
    expect(ids.length).toBeGreaterThan(0);
    const runs = await store.runs({ from: first, to: first + 12 * HOUR_S });
    expect(runs).toMatchObject({ checked: true, value: { length: 4 } });
    const held = await leasesIn(database, 'third').take(EMISSION_LEASE, 60);
    expect(held.checked && held.value !== null).toBe(true);
  });
});
