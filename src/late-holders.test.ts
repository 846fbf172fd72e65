// A holder of a lease is paused, another one takes the lease, and the first wakes up: it writes
// nothing. The same is tried with the check taken out of the statements, where each write lands:
// so the check is what holds it back.

import { expect, test, vi } from 'vitest';
import { Read, type Reading } from './evidence/reading.ts';
import { anchorTable } from './features/anchoring/anchors.store.ts';
import { hashVersion, makeEmission } from './features/calls/call.ts';
import { emissionTable } from './features/calls/calls.store.ts';
import { signalProductionTable } from './features/signals/signals.store.ts';
import { WATCH_LEASES } from './features/watchlist/shapes.ts';
import { watchlistTable, watchScreeningTable } from './features/watchlist/watchlist.store.ts';
import { ANCHOR_LEASE } from './ports/anchoring.ts';
import { EMISSION_LEASE } from './ports/emitted-calls.ts';
import { SIGNAL_LEASE } from './ports/signals.ts';
import type { Database, Session } from './stores/control/engine/database.ts';
import { FENCE } from './stores/control/leases.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW } from './testing/clock.ts';
import { controlOnServer, leasesIn } from './testing/control-store.ts';
import { rowsAs } from './testing/rows-as.ts';
import { emissionOf, signalOf } from './testing/signals.ts';
import { emittedCallOf, outcomeOf } from './testing/twins/emitted-calls.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const HOUR_S = 3_600;
const AT = Math.floor(STILL_NOW / HOUR_S) * HOUR_S;
const TARGET = { chain: 'ethereum', address: evm('target').toLowerCase() } as const;

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const read = await reading;
  if (!(read instanceof Read)) throw new Error(`test: unread: ${read.why.reason}`);
  return read.value;
}

const VERSION = hashVersion({
  version: 'funding-1',
  kind: 'funding',
  bar: '0.5',
  cooldown_h: 24,
  horizon_h: 24,
  parameters: { threshold_8h: '0.0005' },
  text: 'A rule.',
});

function tickOf(epoch: number) {
  const { call_id: _, hash: __, leaf: ___, outcome: ____, ...said } = emittedCallOf({});
  const calls = [makeEmission({ ...said, emitted_at: AT })];
  const hour = { from: AT, to: AT + HOUR_S, whole: true, assets: ['BTC'] };
  const run = { kind: 'funding', detector_version: 'funding-1', ...hour } as const;
  return { epoch, run, calls, dispatches: new Map(), at: AT + 120 };
}

/** What a holder writes under its lease, after what has to stand before. */
type LateWrite = {
  readonly lease: string;
  readonly prepare?: (database: Database, epoch: number) => Promise<unknown>;
  readonly write: (database: Database, epoch: number) => Promise<unknown>;
};

const PLACE = { chain_id: 8453, contract: evm('contract'), sender: evm('sender') };
const SEND = {
  ...PLACE,
  origin: 'log.example/log/1',
  root: `0x${'11'.repeat(32)}`,
  size: 10,
  nonce: 3,
  gas: 50_000n,
};
const signed = (n: string) => ({ tx: `0x${n}`, raw: '0x02', max_fee_wei: 9n, tip_wei: 1n });
const begin = (database: Database, epoch: number) =>
  value(anchorTable(database, CONTEXT).begin({ ...SEND, signed: signed('a1') }, epoch));
const publish = (database: Database) =>
  value(emissionTable(database, CONTEXT).publishVersions([VERSION], AT - HOUR_S));
const emitTick = async (database: Database, epoch: number) => {
  await publish(database);
  return value(emissionTable(database, CONTEXT).emit(tickOf(epoch)));
};
const [CALL] = tickOf(0).calls.map(({ call_id }) => call_id);
const CLOSED = outcomeOf({ emitted_at: AT, horizon_h: 24 }, { gross_return: '0.01', exit: '99' });
const settleCall = (database: Database, epoch: number) => {
  if (CLOSED.state === 'open') throw new Error('test: not closed');
  return value(emissionTable(database, CONTEXT).settle(String(CALL), CLOSED, epoch));
};
const queueTarget = (database: Database) =>
  database.query(
    `insert into signal_targets (chain, address, queued_at, due_at)
     values ($1, $2, control_now(), control_now())`,
    [TARGET.chain, TARGET.address],
  );

function watchedUnder(of: 'tables' | 'hops'): LateWrite {
  return {
    lease: WATCH_LEASES[of],
    prepare: async (database) => {
      await database.query(
        `insert into memberships (membership_id, status, plan, created_at, updated_at)
         values ('mem_1', 'active', 'desk', now(), now())`,
      );
      await value(watchlistTable(database, CONTEXT).add('mem_1', evm('watched'), 5));
    },
    write: async (database, epoch) => {
      const screening = watchScreeningTable(database, CONTEXT, () => undefined);
      const asked = { of, signature: 'newer', limit: 5, againS: 900 } as const;
      const [watch] = await value(screening.due(asked));
      if (watch === undefined) throw new Error('test: nothing is due');
      const signature = { of, is: 'newer' };
      const found = { watch, parts: [], signature, changes: [], dispatches: [], epoch };
      return value(screening.commit(found));
    },
  };
}

const LATE_WRITES: { readonly [what: string]: LateWrite } = {
  'a signal': {
    lease: SIGNAL_LEASE,
    write: (database, epoch) => {
      const signal = signalOf({ address: TARGET.address });
      const late = emissionOf(signal, { round: { epoch, againS: null } });
      return value(signalProductionTable(database, CONTEXT).emit(late));
    },
  },
  'letting a target of signals go': {
    lease: SIGNAL_LEASE,
    prepare: queueTarget,
    write: (database, epoch) =>
      value(signalProductionTable(database, CONTEXT).settle(TARGET, null, epoch)),
  },
  'the end of a round of signals': {
    lease: SIGNAL_LEASE,
    write: (database, epoch) => value(signalProductionTable(database, CONTEXT).endRound(epoch)),
  },
  'a tick of calls': { lease: EMISSION_LEASE, prepare: publish, write: emitTick },
  'the outcome of a call': { lease: EMISSION_LEASE, prepare: emitTick, write: settleCall },
  'the restated outcome of a call': {
    lease: EMISSION_LEASE,
    prepare: async (database, epoch) => {
      await emitTick(database, epoch);
      await settleCall(database, epoch);
    },
    write: (database, epoch) => {
      if (CLOSED.state !== 'closed') throw new Error('test: not closed');
      const { state: _, closed_at: __, restated: ___, ...closing } = CLOSED;
      const restated = { ...closing, exit: '98', restated_at: AT + 50 * HOUR_S };
      return value(emissionTable(database, CONTEXT).restate(String(CALL), restated, epoch));
    },
  },
  'tables of a watched address': watchedUnder('tables'),
  'walks of a watched address': watchedUnder('hops'),
  'an anchor that begins': { lease: ANCHOR_LEASE, write: begin },
  'a replacement of an anchor': {
    lease: ANCHOR_LEASE,
    prepare: begin,
    write: async (database, epoch) => {
      const sends = anchorTable(database, CONTEXT);
      const [open] = await value(sends.open());
      if (open === undefined) throw new Error('test: nothing is open');
      return value(sends.replace(open, signed('b2'), epoch));
    },
  },
  'an anchor that is in a block': {
    lease: ANCHOR_LEASE,
    prepare: begin,
    write: (database, epoch) =>
      value(anchorTable(database, CONTEXT).mark(SEND, 'submitted', epoch)),
  },
  'the end of an anchor': {
    lease: ANCHOR_LEASE,
    prepare: begin,
    write: (database, epoch) => {
      const end = { status: 'failed', reason: 'refused' } as const;
      return value(anchorTable(database, CONTEXT).end(SEND, end, epoch));
    },
  },
};

/** The store as it would be without the check: the statement finds every lease held. */
function withoutFence(database: Database): Database {
  const open = (session: Session): Session => ({
    ...session,
    query: (sql, params) =>
      sql === FENCE ? session.query('select 1 as one') : session.query(sql, params),
  });
  return {
    ...database,
    transaction: (work, limits) => database.transaction((session) => work(open(session)), limits),
  };
}

/** Every row of the store but the leases themselves. */
async function contentsOf(database: Database): Promise<string> {
  const named = await rowsAs<{ name: string }>(
    database,
    `select tablename as name from pg_tables where schemaname = 'public'
       and tablename not in ('leases', 'migrations', 'deployment') order by 1`,
  );
  const each = named.map(
    ({ name }) =>
      `select '${name}' as of, coalesce(string_agg(to_jsonb(t)::text, ' ' order by
         to_jsonb(t)::text), '') as rows from ${name} t`,
  );
  return JSON.stringify(await database.query(`${each.join(' union all ')} order by 1`));
}

async function takeLease(database: Database, holder: string, lease: string): Promise<number> {
  const taken = await value(leasesIn(database, holder).take(lease, 60));
  if (taken === null) throw new Error('test: the lease is taken');
  return taken.epoch;
}

const fresh = controlOnServer();

test.each(Object.entries(LATE_WRITES))(
  '%s: the check alone holds back whoever wakes up late',
  async (_, { lease, prepare, write }) => {
    const database = fresh();
    const late = await takeLease(database, 'paused', lease);
    await prepare?.(database, late);
    await database.query("update leases set held_until = now() - interval '1 second'");
    expect(await takeLease(database, 'other', lease)).toBeGreaterThan(late);
    const before = await contentsOf(database);
    await write(database, late);
    expect(await contentsOf(database)).toBe(before);
    await write(withoutFence(database), late);
    expect(await contentsOf(database)).not.toBe(before);
  },
);
