// A tick stands with its calls and their leaves, or not at all; and what was said stays said.

import { expect, test, vi } from 'vitest';
import type { Reading } from '../../evidence/reading.ts';
import { Read } from '../../evidence/reading.ts';
import {
  type DetectorRun,
  type DetectorVersion,
  EMISSION_LEASE,
  type EmissionStatement,
  type EmissionTick,
} from '../../ports/emitted-calls.ts';
import type { Database } from '../../stores/control/engine/database.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { leasesIn, onEachEngine } from '../../testing/control-store.ts';
import { emittedCallOf, outcomeOf } from '../../testing/twins/emitted-calls.ts';
import { callDispatch, hashVersion, makeEmission } from './call.ts';
import { emissionTable, emittedCallTable } from './calls.store.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const HOUR_S = 3_600;
const AT = Math.floor(STILL_NOW / HOUR_S) * HOUR_S;
const VERSION: DetectorVersion = {
  version: 'funding-1',
  kind: 'funding',
  bar: '0.5',
  cooldown_h: 24,
  horizon_h: 24,
  parameters: { threshold_8h: '0.0005' },
  text: 'A rule.',
};

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const read = await reading;
  if (!(read instanceof Read)) throw new Error(`test: unread: ${read.why.reason}`);
  return read.value;
}

async function opened(database: Database) {
  const store = emissionTable(database, CONTEXT);
  await value(store.publishVersions([hashVersion(VERSION)], AT - HOUR_S));
  const lease = await value(leasesIn(database, 'one').take(EMISSION_LEASE, 60));
  if (lease === null) throw new Error('test: no lease');
  return { store, calls: emittedCallTable(database, CONTEXT), epoch: lease.epoch };
}

const run = (hour: number, more: Partial<DetectorRun> = {}): DetectorRun => ({
  kind: 'funding',
  detector_version: 'funding-1',
  from: AT + hour * HOUR_S,
  to: AT + (hour + 1) * HOUR_S,
  whole: true,
  assets: ['BTC', 'ETH'],
  ...more,
});

function saidOf(said: Partial<EmissionStatement>): EmissionStatement {
  const { call_id: _, hash: __, leaf: ___, outcome: ____, ...rest } = emittedCallOf(said);
  return rest;
}

function tickOf(
  epoch: number,
  hour: number,
  said: readonly Partial<EmissionStatement>[],
  more: Partial<DetectorRun> = {},
): EmissionTick {
  const calls = said.map((one) => makeEmission(saidOf({ emitted_at: AT + hour * HOUR_S, ...one })));
  const dispatches = new Map(calls.map((call) => [call.call_id, callDispatch(call)]));
  return { epoch, run: run(hour, more), calls, dispatches, at: AT + hour * HOUR_S + 120 };
}

const leavesIn = (database: Database) =>
  database.query(`
    select leaf_index::int4 as leaf_index, kind, '0x' || encode(hash, 'hex') as hash, id
    from log_leaves order by leaf_index`);

onEachEngine((name, fresh) => {
  test(`${name}: a call is read as it was said, behind its version in the log`, async () => {
    const database = fresh();
    const { store, calls, epoch } = await opened(database);
    const tick = tickOf(epoch, 0, [{}]);
    const [made] = tick.calls;
    if (made === undefined) throw new Error('test: no call');
    expect(await value(store.emit(tick))).toEqual([made.call_id]);
    const kept = { ...made.said, call_id: made.call_id, hash: made.hash, leaf: 1 };
    expect(await value(calls.find(made.call_id))).toEqual({ ...kept, outcome: { state: 'open' } });
    expect(await value(calls.newestOf('BTC'))).toMatchObject({ call_id: made.call_id });
    expect(await value(calls.newestOf('ETH'))).toBe(null);
    expect(await value(calls.find('call_none'))).toBe(null);
    const version = hashVersion(VERSION);
    expect(await value(calls.versions())).toEqual([
      { ...version, leaf: 0, in_force_from: AT - HOUR_S },
    ]);
    expect(await leavesIn(database)).toEqual([
      { leaf_index: 0, kind: 6, hash: version.hash, id: 'funding-1' },
      { leaf_index: 1, kind: 3, hash: made.hash, id: made.call_id },
    ]);
  });

  test(`${name}: one call of a kind, asset, direction and version stands in a window`, async () => {
    const database = fresh();
    const { store, calls, epoch } = await opened(database);
    const first = await value(store.emit(tickOf(epoch, 0, [{ price: '100' }])));
    const second = await value(store.emit(tickOf(epoch, 1, [{ price: '101' }])));
    const other = await value(store.emit(tickOf(epoch, 2, [{ window: 1 }, { direction: 'long' }])));
    expect([first?.length, second, other?.length]).toEqual([1, [], 2]);
    expect((await value(calls.changedSince(0, 10))).calls.map(({ price }) => price)).toEqual([
      ...['100', '100', '100'],
    ]);
  });

  test(`${name}: a tick is made once, and by nobody who lost the lease`, async () => {
    const database = fresh();
    const { store, calls, epoch } = await opened(database);
    expect(await value(store.emit(tickOf(epoch - 1, 0, [{}])))).toBe(null);
    expect(await leavesIn(database)).toHaveLength(1);
    expect(await value(store.emit(tickOf(epoch, 0, [{}])))).toHaveLength(1);
    expect(await value(store.emit(tickOf(epoch, 0, [{ direction: 'long' }])))).toBe(null);
    expect((await value(calls.changedSince(0, 10))).calls).toHaveLength(1);
  });

  test(`${name}: stretches join while nothing changes, and ran tells whole ones`, async () => {
    const { store, calls, epoch } = await opened(fresh());
    const hours = [
      [0, {}],
      [1, {}],
      [2, { whole: false }],
      [3, {}],
      [4, { assets: ['BTC'] }],
      [6, { assets: ['BTC'] }],
    ] as const;
    for (const [hour, more] of hours) await value(store.emit(tickOf(epoch, hour, [], more)));
    const span = { from: AT, to: AT + 10 * HOUR_S };
    expect((await value(store.runs(span))).map(({ from, to }) => [from, to])).toEqual(
      [
        [0, 2],
        [2, 3],
        [3, 4],
        [4, 5],
        [6, 7],
      ].map((ends) => ends.map((h) => AT + h * HOUR_S)),
    );
    expect(await value(calls.ran())).toEqual({
      funding: [
        { from: AT, to: AT + 2 * HOUR_S },
        { from: AT + 3 * HOUR_S, to: AT + 5 * HOUR_S },
        { from: AT + 6 * HOUR_S, to: AT + 7 * HOUR_S },
      ],
      liq: [],
      netflow: [],
      whale: [],
    });
  });

  test(`${name}: the first outcome stays beside a restatement, and readers hear of both`, async () => {
    const database = fresh();
    const { store, calls, epoch } = await opened(database);
    const [id = ''] = listOf(await value(store.emit(tickOf(epoch, 0, [{}]))));
    const due = { emitted_at: AT, horizon_h: 24 };
    const outcome = outcomeOf(due, { gross_return: '0.01', exit: '99' });
    if (outcome.state !== 'closed') throw new Error('test: not closed');
    const none = { due: 0, leaf: 0 };
    expect(await value(store.undecided(AT + 24 * HOUR_S - 1, none, 10))).toEqual([]);
    expect(await value(store.undecided(AT + 24 * HOUR_S, none, 10))).toHaveLength(1);
    expect(await value(store.settle(id, outcome, epoch - 1))).toBe(false);
    expect(await value(store.settle(id, outcome, epoch))).toBe(true);
    const other = { state: 'unpriced', cause: 'no_exit_candle', closed_at: AT } as const;
    expect(await value(store.settle(id, other, epoch))).toBe(false);
    expect(await value(store.undecided(AT + 99 * HOUR_S, none, 10))).toEqual([]);
    expect(await value(store.closed(AT, -1, 10))).toMatchObject([{ call_id: id, outcome }]);
    const { state: _, closed_at: __, restated: ___, ...closing } = outcome;
    const restated = {
      ...closing,
      exit: '98',
      gross_return: '0.02',
      restated_at: AT + 50 * HOUR_S,
    };
    expect(await value(store.restate(id, restated, epoch))).toBe(true);
    expect(await value(calls.find(id))).toMatchObject({ outcome: { ...outcome, restated } });
    const whole = await value(calls.changedSince(0, 10));
    expect([whole.place, whole.calls.length]).toEqual([3, 1]);
    const later = await value(calls.changedSince(2, 10));
    expect(later.calls).toMatchObject([{ call_id: id, outcome: { restated } }]);
    expect(await value(calls.changedSince(3, 10))).toEqual({ calls: [], place: 3 });
  });

  test(`${name}: what was said cannot be changed or taken away`, async () => {
    const database = fresh();
    const { store, epoch } = await opened(database);
    const [id = ''] = listOf(await value(store.emit(tickOf(epoch, 0, [{}]))));
    const unpriced = { state: 'unpriced', cause: 'no_entry_candle', closed_at: AT } as const;
    await value(store.settle(id, unpriced, epoch));
    for (const statement of [
      `update detector_versions set bar = '0.1'`,
      `update emitted_calls set direction = 'long'`,
      `update call_outcomes set cause = 'no_exit_candle'`,
      'delete from call_outcomes',
      'delete from emitted_calls',
      'delete from call_changes',
    ]) {
      await expect(database.query(statement), statement).rejects.toThrow('only added');
    }
  });

  test(`${name}: a version is published once, and never with other parameters`, async () => {
    const database = fresh();
    const { store } = await opened(database);
    expect(await value(store.publishVersions([hashVersion(VERSION)], AT))).toBe(0);
    const raised = hashVersion({ ...VERSION, bar: '0.6' });
    await expect(store.publishVersions([raised], AT)).rejects.toThrow('another version');
    expect(await leavesIn(database)).toHaveLength(1);
  });

  test(`${name}: a chat that asks for calls is told of each once`, async () => {
    const database = fresh();
    const { store, epoch } = await opened(database);
    await database.query(
      `insert into memberships (membership_id, status, plan, created_at, updated_at)
       values ('m1', 'active', 'desk', now(), now())`,
    );
    await database.query(
      `insert into integrations (id, membership_id, platform, place, sealed, sealed_by, kinds,
         created_at)
       values ('i1', 'm1', 'slack', 'a place', '', 'aaaa', '{call}', now()),
         ('i2', 'm1', 'slack', 'a place', '', 'aaaa', '{flag,watch,signal}', now())`,
    );
    const tick = tickOf(epoch, 0, [{}]);
    await value(store.emit(tick));
    await value(store.emit({ ...tick, run: run(1) }));
    expect(
      await database.query(`
        select q.integration_id, d.kind, d.key from deliveries q
        join dispatches d on d.id = q.dispatch_id`),
    ).toEqual([{ integration_id: 'i1', kind: 'call', key: `call:${tick.calls[0]?.call_id}` }]);
  });
});

function listOf(ids: readonly string[] | null): readonly string[] {
  if (ids === null) throw new Error('test: nothing was kept');
  return ids;
}
