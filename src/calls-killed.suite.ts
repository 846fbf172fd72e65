// Processes that emit the calls of detectors and are killed and paused among others: the job of the
// product over its stores, by a clock of which an hour passes in two seconds, over funding that has
// other assets called each hour.

import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import { HOUR_S, MS_PER_S } from './chain/time.ts';
import type { Database } from './stores/control/engine/database.ts';
import { DIST } from './testing/flag-events.ts';
import { startScript } from './testing/killed-script.ts';
import { rowsAs } from './testing/rows-as.ts';

/** Of so many assets each is called once a day, and so many of them in an hour. */
const ASSETS = 24;
const EACH_HOUR = 4;
const AHEAD_S = 30 * 24 * HOUR_S;

/**
 * The program of a process. It prints each call that it was told is kept, how often nothing was
 * written because the tick was another's, and each fault of the job.
 */
const EMITTER = `
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
const [dist, url, beganMs, beginsS, assetCount, eachHour, leaseMaxS] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { openPostgres } = await load('stores/control/engine/postgres.js');
const { leaseTable } = await load('stores/control/leases.js');
const { emissionTable, emittedCallTable } = await load('features/calls/calls.store.js');
const { emitRounds } = await load('features/calls/emit.job.js');
const { read, unread } = await load('evidence/reading.js');
const { whyNotHeld } = await load('ports/series-coverage.js');
const HOUR = 3600000;
const say = (line) => console.log(JSON.stringify(line));
const now = () => Number(beginsS) + Math.floor((Date.now() - Number(beganMs)) * 1.8);
const assets = Array.from({ length: Number(assetCount) }, (_, n) => 'A' + n);
const source = { name: 'k', url: 'k:', as_of: 0, kind: 'table', simulated: false };
const hoursOf = ({ from, to }) => {
  const first = Math.ceil(from / HOUR) * HOUR;
  return Array.from({ length: Math.ceil((to - from) / HOUR) }, (_, n) => first + n * HOUR);
};
const isCalled = (of, at) => {
  const groups = assets.length / Number(eachHour);
  return Number(of.slice(1)) % groups === (at / HOUR) % groups;
};
const PRICE = { open: '100', high: '100', low: '100', close: '100', volume: '1' };
const ROWS = {
  listings: (of, { to }) => [{ at: to - 2 * HOUR, state: 'trading', price: '100' }],
  marks: (of, span) => hoursOf(span).map((at) => ({ at, price: '100' })),
  candles: (of, span) => hoursOf(span).map((at) => ({ at, ...PRICE })),
  funding: (of, span) => hoursOf(span).map((at) => ({
    at, rate: isCalled(of, at) ? '0.001' : '0.00001', interval_s: 3600 })),
};
const series = {
  read: async (name, span) => {
    const rows = ROWS[name.series];
    if (rows === undefined) return unread('market_series', whyNotHeld(name, span));
    const told = rows(name.of, span).map((row) => ({ ...row, received_at: row.at, revision: 0 }));
    return read({ ...span, rows: told, holes: [] }, { port: 'market_series', source });
  },
};
const database = openPostgres(url);
const context = { simulated: false, nowMs: () => now() * 1000, leaseMaxS: Number(leaseMaxS) };
const table = emissionTable(database, context);
const store = {
  ...table,
  emit: async (tick) => {
    // Whoever is paused here wakes up when the tick is long another's.
    await wait(50);
    const kept = await table.emit(tick);
    if (kept.checked) say(kept.value === null ? { late: true } : { calls: kept.value });
    return kept;
  },
};
emitRounds({
  store,
  versions: emittedCallTable(database, context).versions,
  series,
  gather: async (name, span) => ({ reading: await series.read(name, span), fault: null }),
  leases: leaseTable(database, randomUUID(), context),
  assets,
  now,
  everyS: 0.05,
  sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
  onRound: () => undefined,
  onFault: ({ reason }) => say({ fault: reason }),
  onBug: (fault) => say({ bug: String(fault) }),
});
`;

const printed = z.object({
  calls: z.array(z.string()).optional(),
  late: z.literal(true).optional(),
  fault: z.string().optional(),
  bug: z.string().optional(),
});

/** Starts processes that emit calls, by their names. */
export function startEmitters(url: string, names: readonly string[], leaseMaxS: number) {
  const beganMs = Date.now();
  const beginsS = Math.floor(beganMs / MS_PER_S / HOUR_S) * HOUR_S + AHEAD_S;
  const given = [url, beganMs, beginsS, ASSETS, EACH_HOUR, leaseMaxS].map(String);
  const acknowledged: string[] = [];
  const bugs: string[] = [];
  const counts = { late: 0, faults: 0 };
  const start = () => {
    const script = startScript(EMITTER, DIST, ...given);
    script.lines.on('line', (text) => {
      const { calls, late, fault, bug } = printed.parse(JSON.parse(text));
      if (calls !== undefined) acknowledged.push(...calls);
      if (late !== undefined) counts.late += 1;
      if (fault !== undefined) counts.faults += 1;
      if (bug !== undefined) bugs.push(bug);
    });
    return script;
  };
  const running = new Map(names.map((name) => [name, start()]));
  const runningAs = (name: string) => {
    const one = running.get(name);
    if (one === undefined) throw new Error(`test: nobody is called ${name}`);
    return one;
  };
  return {
    /** Ends one at once; another takes its place. */
    kill: async (name: string) => {
      await runningAs(name).kill();
      running.set(name, start());
    },
    pause: (name: string) => runningAs(name).pause(),
    resume: (name: string) => runningAs(name).resume(),
    end: async () => {
      // Whoever has just woken up has a round in which to write what it held.
      await wait(2 * MS_PER_S);
      await Promise.all([...running.values()].map((one) => one.kill()));
    },
    /** Each call that was acknowledged is there, and each that is there stands once everywhere. */
    expectOnce: async (control: Database) => {
      const calls = await rowsAs<{ call_id: string; asset: string; at: number; leaf: bigint }>(
        control,
        `select call_id, asset, emitted_at::float8 as at, leaf from emitted_calls order by leaf`,
      );
      const ids = calls.map(({ call_id }) => call_id);
      expect([bugs, new Set(acknowledged).size]).toEqual([[], acknowledged.length]);
      expect(ids).toEqual(expect.arrayContaining(acknowledged));
      // By what each is about, so that a second call of the same is seen under any id.
      const days = calls.map(({ asset, at }) => `${asset} ${Math.floor(at / (24 * HOUR_S))}`);
      expect(new Set(days).size).toBe(days.length);
      const leaves = await rowsAs<{ id: string; leaf_index: bigint }>(
        control,
        "select id, leaf_index from log_leaves where id like 'call_%' order by leaf_index",
      );
      expect(leaves.map(({ id, leaf_index }) => [id, Number(leaf_index)])).toEqual(
        calls.map(({ call_id, leaf }) => [call_id, Number(leaf)]),
      );
      const told = await rowsAs<{ key: string }>(
        control,
        "select key from dispatches where kind = 'call' order by key",
      );
      expect(told.map(({ key }) => key)).toEqual(ids.map((id) => `call:${id}`).sort());
      expect(acknowledged.length).toBeGreaterThan(0);
      return { calls: calls.length, ...counts };
    },
  };
}

export type Emitters = ReturnType<typeof startEmitters>;
