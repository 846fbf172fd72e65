// A damaged row, a store that is down and a deadline that passed: each route of the edge that rests
// on it says so under its own name and for no cache, and the others are whole.

import { describe, expect, test } from 'vitest';
import { createGate } from './access/gate.ts';
import { deriveSecrets } from './access/secret.ts';
import { CONTRACTS, handlerOf } from './compose/list.ts';
import { Reply } from './contract/answer.ts';
import { NOBODY } from './contract/route.ts';
import { Read, type Reading } from './evidence/reading.ts';
import { hashVersion, makeEmission } from './features/calls/call.ts';
import { emissionTable, emittedCallTable } from './features/calls/calls.store.ts';
import {
  edgeBacktestHandler,
  edgePerformanceHandler,
  edgeReplayHandler,
} from './features/edge/edge.route.ts';
import { WORK_APART } from './features/edge/feature.ts';
import { edgeTrialTable } from './features/edge/trials.store.ts';
import { mlRankHandler } from './features/ranker/ml-rank.route.ts';
import { rankerTable } from './features/ranker/ranker.store.ts';
import { EMISSION_LEASE } from './ports/emitted-calls.ts';
import { type Database, type Session, StoreUnavailable } from './stores/control/engine/database.ts';
import { STILL_NOW } from './testing/clock.ts';
import { accessIn, embeddedControl, leasesIn, type TestStore } from './testing/control-store.ts';
import { createTestHttp } from './testing/http-server.ts';
import { emittedCallOf } from './testing/twins/emitted-calls.ts';
import { memorySeriesStore } from './testing/twins/series.ts';

const fresh = embeddedControl();
const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const HOUR_S = 3_600;
const AT = Math.floor(STILL_NOW / HOUR_S) * HOUR_S;
const HANDLERS = ['backtest', 'replay', 'performance', 'ml_rank'] as const;
type Handler = (typeof HANDLERS)[number];

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const told = await reading;
  if (!(told instanceof Read)) throw new Error(`test: unread: ${told.why.reason}`);
  return told.value;
}

/** A control store with one call, and what each handler says over it. */
async function opened() {
  const control = fresh();
  const store = emissionTable(control, CONTEXT);
  const {
    call_id: _,
    hash: __,
    leaf: ___,
    outcome: ____,
    ...said
  } = emittedCallOf({
    emitted_at: AT,
  });
  const version = hashVersion({
    version: said.detector_version,
    kind: said.kind,
    bar: said.bar,
    cooldown_h: 24,
    horizon_h: said.horizon_h,
    parameters: {},
    text: 'A rule.',
  });
  await value(store.publishVersions([version], AT - HOUR_S));
  const lease = await value(leasesIn(control, 'one').take(EMISSION_LEASE, 60));
  if (lease === null) throw new Error('test: no lease');
  const run = { from: AT, to: AT + HOUR_S, whole: true, assets: ['BTC'] };
  await value(
    store.emit({
      epoch: lease.epoch,
      run: { kind: said.kind, detector_version: said.detector_version, ...run },
      calls: [makeEmission(said)],
      dispatches: new Map(),
      at: AT,
    }),
  );
  return control;
}

async function ask(control: TestStore): Promise<Readonly<Record<Handler, unknown>>> {
  const ports = {
    emittedCalls: emittedCallTable(control, CONTEXT),
    marketSeries: memorySeriesStore(),
    edgeTrials: edgeTrialTable(control, CONTEXT),
    publishedRankers: rankerTable(control, CONTEXT, () => 'no artefact that this version reads'),
  };
  const request = { now: () => STILL_NOW, signal: new AbortController().signal };
  const asked = { params: {}, query: {}, body: undefined };
  const replies = await Promise.all([
    edgeBacktestHandler(ports, WORK_APART)(asked, request, NOBODY),
    edgeReplayHandler(ports)(asked, request, NOBODY),
    edgePerformanceHandler(ports)(asked, request, NOBODY),
    mlRankHandler(ports)({ ...asked, query: { pair: 'BTC' } }, request, NOBODY),
  ]);
  const bodies = replies.map((reply) => {
    if (!(reply instanceof Reply)) throw new Error('test: refused');
    expect(reply.status).toBe(200);
    return reply.body;
  });
  return Object.fromEntries(HANDLERS.map((name, at) => [name, bodies[at]])) as Record<
    Handler,
    unknown
  >;
}

/** The handlers that answer that something was not read, with what they say. */
async function failures(control: TestStore): Promise<Readonly<Record<string, string>>> {
  const told = Object.entries(await ask(control)).flatMap(([name, body]) => {
    const { handler, error, ...rest } = Object(body);
    if (handler === undefined) return [];
    expect(rest).toEqual({});
    expect(handler).toBe(name);
    return [[name, String(error)] as const];
  });
  return Object.fromEntries(told);
}

const DAMAGED = 'holds this in a form that this version does not read.';
const RECORD = `The record of calls ${DAMAGED}`;

test('what is whole is answered by all', async () => {
  expect(await failures(await opened())).toEqual({});
});

test('a damaged call is said by each that rests on the record', async () => {
  const control = await opened();
  await control.query(`
    insert into emitted_calls select
      'call_' || repeat('0', 32), '0x' || repeat('0', 64), kind, asset, venue, direction,
      conviction, 'oops', emitted_at + 1, horizon_h, detector_version, bar, window_number + 1,
      inputs, features, simulated, leaf + 1
    from emitted_calls`);
  await control.query(
    `insert into call_changes select max(place) + 1, 'call_' || repeat('0', 32) from call_changes`,
  );
  expect(await failures(control)).toEqual(
    Object.fromEntries(HANDLERS.map((name) => [name, RECORD])),
  );
});

test('a damaged version is said by those that look at versions, not by the ranker', async () => {
  const control = await opened();
  await control.query(`
    insert into detector_versions
    select 'funding-2', kind, bar, cooldown_h, horizon_h, '[]'::jsonb, text,
      '0x' || repeat('0', 64), leaf + 9, in_force_from
    from detector_versions`);
  expect(await failures(control)).toEqual({
    backtest: RECORD,
    replay: RECORD,
    performance: RECORD,
  });
});

test('a damaged ranker is said by the ranker alone', async () => {
  const control = await opened();
  await control.query(
    `insert into ranker_models (version, artefact, hash, leaf)
     values ('rank-1', '{}', '0x' || repeat('0', 64), 99)`,
  );
  await control.query(
    "insert into ranker_publications (version, published_at) values ('rank-1', now())",
  );
  expect(await failures(control)).toEqual({
    ml_rank: expect.stringMatching(/^The published ranker of calls rank-1 could not be read: /),
  });
});

test.each(['it is down', 'it did not answer within 5 s'])(
  'where %s, each says so',
  async (fault) => {
    const control = await opened();
    control.silence(fault);
    const told = await failures(control);
    expect(Object.keys(told)).toEqual([...HANDLERS]);
    for (const error of Object.values(told)) expect(error).toContain(fault);
    control.silence(null);
    expect(await failures(control)).toEqual({});
  },
);

/** What the store answers one handler while it fails for it. */
const FAULTS: Readonly<Record<string, (query: Session['query']) => Session['query']>> = {
  'the store is down': () => async () => {
    throw new StoreUnavailable('it is down', 'ECONNREFUSED');
  },
  'a deadline passed': () => async () => {
    throw new StoreUnavailable('it did not answer within 5 s', 'ETIMEDOUT');
  },
  'a row is corrupt':
    (query) =>
    async (...asked) => {
      const rows = await query(...asked);
      return rows.map((row) =>
        'conviction' in Object(row) ? { ...row, conviction: 'oops' } : row,
      );
    },
};
const SAYS: Readonly<Record<string, string>> = {
  'the store is down': 'it is down',
  'a deadline passed': 'it did not answer within 5 s',
  'a row is corrupt': DAMAGED,
};
const PATHS = {
  backtest: '/edge/backtest.json',
  replay: '/edge/replay.json',
  performance: '/edge/performance.json',
  ml_rank: '/api/ml-rank?pair=BTC',
  rules: '/edge/rules.json?rule=kind%20%3D%20liq',
} as const;

const ROUTES = {
  backtest: 'edge_backtest',
  replay: 'edge_replay',
  performance: 'edge_performance',
  ml_rank: 'ml_rank',
  rules: 'edge_rules',
} as const;

/** The routes over one store, which fails for one handler alone. */
function serveOver(control: TestStore, failing: Handler | null, fault: string) {
  const portsFor = (name: string) => {
    const query: Session['query'] = (...asked) => control.query(...asked);
    const spoil = FAULTS[fault];
    if (spoil === undefined) throw new Error('test: no such fault');
    const own: Database = { ...control, query: name === failing ? spoil(query) : query };
    return {
      emittedCalls: emittedCallTable(own, CONTEXT),
      marketSeries: memorySeriesStore(),
      edgeTrials: edgeTrialTable(own, CONTEXT),
      publishedRankers: rankerTable(own, CONTEXT, () => 'no artefact that this version reads'),
    };
  };
  const secrets = deriveSecrets('a root secret of the tests', null);
  const { keys, quota } = accessIn(control, () => STILL_NOW * 1_000);
  return createTestHttp({
    mounted: Object.keys(PATHS).map((name) => {
      const route = CONTRACTS.find((one) => one.name === ROUTES[name as keyof typeof PATHS]);
      if (route === undefined) throw new Error(`test: no ${name}`);
      return { route, handle: handlerOf(route.name, portsFor(name)) };
    }),
    gate: createGate({ keys, quota, secrets, durable: true }, () => STILL_NOW),
    now: () => STILL_NOW,
  });
}

describe.each(Object.keys(FAULTS))('where %s for one handler', (fault) => {
  test.each(HANDLERS)(
    '%s alone says so, for no cache, and each other one is whole',
    async (name) => {
      const control = await opened();
      const askAll = async (failing: Handler | null) => {
        const app = serveOver(control, failing, fault);
        const told = await Promise.all(
          Object.entries(PATHS).map(async ([of, url]) => {
            const { statusCode, headers, body } = await app.inject({ method: 'GET', url });
            return [of, { status: statusCode, kept: headers['cache-control'], body }] as const;
          }),
        );
        await app.close();
        return new Map(told);
      };
      const whole = await askAll(null);
      const broken = await askAll(name);
      for (const [of, told] of broken) {
        if (of !== name) {
          expect([of, told]).toEqual([of, whole.get(of)]);
          continue;
        }
        expect([told.status, told.kept]).toEqual([200, 'no-store']);
        expect(JSON.parse(told.body)).toEqual({
          error: expect.stringContaining(String(SAYS[fault])),
          handler: name,
        });
      }
      // What is whole may be kept by whoever passes it on.
      expect(whole.get('replay')?.kept).toMatch(/^public/);
    },
  );
});
