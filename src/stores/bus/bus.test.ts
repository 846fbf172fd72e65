// Do processes call and count each other over a real PostgreSQL, and lose nothing but time without
// it?

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { busKeeps } from '../../ports/bus.suite.ts';
import type { Bus } from '../../ports/streams.ts';
import { LIVE } from '../../testing/control-store.ts';
import {
  cuttable,
  MIGRATIONS,
  NO_POSTGRES,
  type TestPostgres,
  testPostgres,
} from '../../testing/postgres.ts';
import type { Database } from '../control/engine/database.ts';
import { migrate } from '../control/engine/migrate.ts';
import { openPostgres } from '../control/engine/postgres.ts';
import { inProcessBus } from './in-process.ts';
import { postgresBus } from './postgres.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Within the time of a test; the machine may have much else to do. */
const PATIENT = { timeout: 20_000, interval: 20 };

/** Counts the calls of a bus. */
function callsOf(bus: Bus): () => number {
  let calls = 0;
  bus.listen(() => {
    calls += 1;
  });
  return () => calls;
}

busKeeps('in process', async () => inProcessBus(() => 0));

describe.skipIf(NO_POSTGRES !== null)(`over PostgreSQL ${NO_POSTGRES ?? ''}`, () => {
  let server: TestPostgres;
  const closing: (Bus | Database)[] = [];
  beforeAll(async () => {
    server = await testPostgres();
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
  });
  afterAll(() => server.stop());

  /** A process's bus, once it reaches the server. */
  async function joined(url: string): Promise<Bus> {
    const database = openPostgres(url);
    const bus = postgresBus({ database, url, onFault: () => undefined });
    closing.push(bus, database);
    await answers(bus);
    return bus;
  }
  const answers = (bus: Bus) =>
    vi.waitFor(async () => expect((await bus.others('free')).checked).toBe(true), PATIENT);
  const fresh = async () => {
    const url = await server.freshDatabase();
    const database = openPostgres(url);
    await migrate(database, MIGRATIONS, LIVE);
    await database.close();
    return url;
  };
  const free = (own: number) => ({ holder: 'token:1', tier: 'free', own });

  busKeeps('PostgreSQL', async () => joined(await fresh()));

  test('a call reaches every process of the deployment, and no other deployment', async () => {
    const here = await fresh();
    const [one, two, other] = await Promise.all([
      joined(here),
      joined(here),
      joined(await fresh()),
    ]);
    const [own, heard, elsewhere] = [callsOf(one), callsOf(two), callsOf(other)];
    one.callAll();
    await vi.waitFor(() => expect(heard()).toBe(1), PATIENT);
    expect([own(), elsewhere()]).toEqual([1, 0]);
  });

  test('processes hold together what one of them may hold', async () => {
    const here = await fresh();
    const [one, two] = await Promise.all([joined(here), joined(here)]);
    await one.hold(free(7), 10);
    expect(await two.hold(free(3), 10)).toMatchObject({ value: { granted: true, others: 7 } });
    expect(await two.hold(free(4), 10)).toMatchObject({ value: { granted: false, others: 7 } });
    await two.hold(free(3), null);
    expect(await one.others('free')).toMatchObject({ value: 3 });
    expect(await one.hold(free(8), 10)).toMatchObject({ value: { granted: false } });
    await two.hold(free(0), null);
    expect(await one.hold(free(10), 10)).toMatchObject({ value: { granted: true, others: 0 } });
  });

  test('of many that ask at once, no more are let in than may be', async () => {
    const here = await fresh();
    const buses = await Promise.all(Array.from({ length: 8 }, () => joined(here)));
    const said = await Promise.all(buses.map((bus) => bus.hold(free(1), 5)));
    const granted = said.map((one) => (one.checked ? one.value.granted : null));
    expect(granted.filter((one) => one === true)).toHaveLength(5);
    expect(granted.filter((one) => one === false)).toHaveLength(3);
  });

  test('the last that was said counts, in whatever order the server hears it', async () => {
    const here = await fresh();
    const [one, two] = await Promise.all([joined(here), joined(here)]);
    for (let round = 0; round < 40; round += 1) {
      const owns = [3, 2, 1, 0, 1, 2, round % 5].map((own) => one.hold(free(own), null));
      await Promise.all(owns);
      const others = await two.others('free');
      expect(others.checked ? others.value : others.why).toBe(round % 5);
    }
  });

  test('what a process that was killed held is forgotten', async () => {
    const here = await fresh();
    const [gone, stays] = await Promise.all([joined(here), joined(here)]);
    await gone.hold(free(7), null);
    const database = openPostgres(here);
    closing.push(database);
    expect(await stays.others('free')).toMatchObject({ value: 7 });
    await database.query("update held_streams set ends_at = ends_at - interval '30 s'");
    expect(await stays.others('free')).toMatchObject({ value: 0 });
    expect(await stays.hold(free(10), 10)).toMatchObject({ value: { granted: true, others: 0 } });
  });

  test('a server that comes back empty is told again what is held, and calls go on', async () => {
    const here = await fresh();
    const wire = await cuttable(here);
    const [one, two] = await Promise.all([joined(wire.url), joined(wire.url)]);
    await one.hold(free(7), 10);
    wire.cut();
    await vi.waitFor(async () => {
      expect(await two.hold(free(1), 10)).toBeInstanceOf(Unread);
    }, PATIENT);
    expect(await one.hold(free(8), null)).toBeInstanceOf(Unread);
    const database = openPostgres(here);
    closing.push(database);
    await database.query('truncate held_streams');
    await wire.restore();
    await Promise.all([answers(one), answers(two)]);
    await vi.waitFor(async () => {
      expect(await two.hold(free(1), 10)).toMatchObject({ value: { others: 8 } });
    }, PATIENT);
    const heard = callsOf(two);
    await vi.waitFor(() => {
      one.callAll();
      expect(heard()).toBeGreaterThan(0);
    }, PATIENT);
    wire.cut();
  });

  test('a server that answers nothing is silence, and is not waited for', async () => {
    const wire = await cuttable(await fresh());
    const bus = await joined(wire.url);
    wire.freeze(true);
    expect(await bus.hold(free(1), 10)).toBeInstanceOf(Unread);
    expect(await bus.others('free')).toBeInstanceOf(Unread);
    wire.freeze(false);
    await answers(bus);
    wire.cut();
  });
});
