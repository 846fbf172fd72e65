import { expect, test, vi } from 'vitest';
import { Read, Unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import { LAUNCHED_WITH, launchOf, walkOf } from '../../testing/deployer-worlds.ts';
import { rowsAs } from '../../testing/rows-as.ts';
import { deployerRecordTable, deployerWalkTable } from './deployers.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const [ONE, OTHER] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const;
const FAILED = { at: STILL_NOW, reason: 'It failed.' };

/** The queue, with the seconds after which each is due. */
const DUE = `
  select address, attempts, round(extract(epoch from due_at - control_now()))::int4 as due
    from deployer_queue`;
type Due = { readonly address: string; readonly attempts: number; readonly due: number };

onEachEngine((name, fresh) => {
  function stores() {
    const database = fresh();
    const records = deployerRecordTable(database, CONTEXT, null);
    const walks = deployerWalkTable(database, CONTEXT);
    return { database, records, walks };
  }
  async function reasonOf(
    records: ReturnType<typeof deployerRecordTable>,
    address: string,
    askedBy = 'somebody',
  ) {
    const reading = await records.recordOf(address, askedBy);
    return reading.checked ? 'a record' : reading.why.reason;
  }

  test(`${name}: an address without a record is queued, once, and says so`, async () => {
    const { records, walks } = stores();
    const queued = expect.stringContaining('It is queued to be walked.');
    expect(await reasonOf(records, ONE)).toEqual(queued);
    expect(await reasonOf(records, ONE)).toEqual(queued);
    expect(await walks.take(60)).toMatchObject({ value: ONE });
    expect(await walks.take(60)).toMatchObject({ value: null });
  });

  test(`${name}: whoever may not have an address walked queues nobody, and is told so`, async () => {
    const { records, walks } = stores();
    const reading = await records.heldOf(ONE);
    expect(reading).toBeInstanceOf(Unread);
    if (!reading.checked) expect(reading.why.reason).not.toContain('queued');
    expect(await walks.take(60)).toMatchObject({ value: null });
    await walks.commit(walkOf(ONE, { launches: [launchOf('a', 'live')] }));
    expect(await records.heldOf(ONE)).toBeInstanceOf(Read);
  });

  test(`${name}: a committed record is whole, dated by its walk, and ends the queue`, async () => {
    const { records, walks } = stores();
    const walk = walkOf(ONE, {
      launches: [launchOf('a', 'died', { liquidity_usd: 12.34 })],
      skipped: [{ address: OTHER, reason: 'undetermined' }],
    });
    await records.recordOf(ONE, 'somebody');
    expect((await walks.commit(walk)).checked).toBe(true);
    const reading = await records.recordOf(ONE, 'somebody');
    expect(reading).toBeInstanceOf(Read);
    if (reading.checked) expect(reading.value).toEqual({ ...walk, failed: null });
    expect(await walks.take(60)).toMatchObject({ value: null });
  });

  test(`${name}: a record that a newer version wrote is unread, and says so`, async () => {
    const { database, records, walks } = stores();
    await walks.commit(walkOf(ONE, {}));
    for (const newer of [`jsonb_set(walk::jsonb, '{more}', '1')::text`, `'{'`]) {
      await database.query(`update deployer_records set walk = ${newer}`);
      for (const reading of [
        await records.recordOf(ONE, 'somebody'),
        await records.heldOf(ONE),
        await walks.walkBefore(ONE),
      ]) {
        expect(reading).toBeInstanceOf(Unread);
        if (!reading.checked) expect(reading.why.code).toBe('stored_form_unknown');
      }
    }
    // What this version then walks is a record again.
    expect((await walks.commit(walkOf(ONE, {}))).checked).toBe(true);
    expect(await records.heldOf(ONE)).toBeInstanceOf(Read);
  });

  test(`${name}: a record keeps what each was launched with`, async () => {
    const { records, walks } = stores();
    const walk = walkOf(ONE, {
      launches: [
        launchOf('a', 'live', { launched_with: LAUNCHED_WITH }),
        launchOf('b', 'live', { launched_with: { state: 'unknown', cause: 'no_pool' } }),
        launchOf('c', 'live', { launched_with: { state: 'unread', reason: 'It failed.' } }),
        launchOf('d', 'live'),
      ],
    });
    await walks.commit(walk);
    const reading = await records.recordOf(ONE, 'somebody');
    if (reading.checked) expect(reading.value).toEqual({ ...walk, failed: null });
    expect(reading.checked).toBe(true);
  });

  test(`${name}: a failed walk keeps the record before it, and names the failure`, async () => {
    const { records, walks } = stores();
    const walk = walkOf(ONE, { launches: [launchOf('a', 'live')] });
    await walks.commit(walk);
    await walks.fail(ONE, FAILED, 'more');
    const reading = await records.recordOf(ONE, 'somebody');
    if (reading.checked) expect(reading.value).toEqual({ ...walk, failed: FAILED });
    expect(reading.checked).toBe(true);
    await walks.commit(walk);
    const again = await records.recordOf(ONE, 'somebody');
    if (again.checked) expect(again.value.failed).toBeNull();
    expect(again.checked).toBe(true);
  });

  test(`${name}: whoever launched lately is walked again, once, in turn with those who were asked for`, async () => {
    const { records, walks } = stores();
    const nowS = STILL_NOW;
    const dayS = 86_400;
    const kept = (address: string, launchedAt: number, capturedAt: number) => {
      const launches = [launchOf('a', 'live', { created_at: launchedAt })];
      const walk: Parameters<typeof walks.commit>[0] = walkOf(address, { launches });
      return walks.commit({ ...walk, captured_at: capturedAt });
    };
    const [long, fresh, due] = ['3', '4', '5'].map((digit) => `0x${digit.repeat(40)}`);
    await kept(String(long), nowS - 31 * dayS, nowS - 2 * dayS);
    await kept(String(fresh), nowS - dayS, nowS - 60);
    await kept(String(due), nowS - 29 * dayS, nowS - dayS);
    await records.recordOf(ONE, 'somebody');
    expect(await walks.take(60)).toMatchObject({ value: ONE });
    expect(await walks.take(60)).toMatchObject({ value: due });
    expect(await walks.take(60)).toMatchObject({ value: long });
    expect(await walks.take(60)).toMatchObject({ value: null });
    await walks.fail(String(due), { at: nowS, reason: 'It failed.' }, 'more');
    expect(await walks.take(60)).toMatchObject({ value: null });
  });

  test(`${name}: whoever was found empty, or launched long ago, is walked again unasked`, async () => {
    const { walks } = stores();
    const hour = 3_600;
    const old = [launchOf('a', 'live', { created_at: STILL_NOW - 40 * 24 * hour })];
    await walks.commit({ ...walkOf(ONE, {}), captured_at: STILL_NOW - 11 * hour });
    await walks.commit({ ...walkOf(OTHER, { launches: old }), captured_at: STILL_NOW - 13 * hour });
    expect(await walks.take(60)).toMatchObject({ value: OTHER });
    expect(await walks.take(60)).toMatchObject({ value: null });
  });

  test(`${name}: an older walk that ends late does not replace a newer record`, async () => {
    const { records, walks } = stores();
    const newer = walkOf(ONE, { launches: [launchOf('a', 'live')] });
    await walks.commit(newer);
    await walks.commit({ ...walkOf(ONE, {}), captured_at: newer.captured_at - 1 });
    const reading = await records.recordOf(ONE, 'somebody');
    if (reading.checked) expect(reading.value.launches).toHaveLength(1);
    expect(reading.checked).toBe(true);
  });

  test(`${name}: a failed walk is due later, tells its reason, and is given up in the end`, async () => {
    const { database, records, walks } = stores();
    await records.recordOf(ONE, 'somebody');
    await walks.fail(ONE, FAILED, 'more');
    expect(await walks.take(60)).toMatchObject({ value: null });
    expect(await reasonOf(records, ONE)).toContain('Attempt 1 to walk it failed: It failed.');
    for (let attempt = 2; attempt <= 20; attempt += 1) await walks.fail(ONE, FAILED, 'more');
    const rows = await database.query('select * from deployer_queue');
    expect(rows).toEqual([]);
  });

  test(`${name}: a walk by a command that fails is tried again where a record says so, and nowhere else`, async () => {
    const { database, records, walks } = stores();
    const queued = () => rowsAs<Due>(database, DUE);
    await walks.commit(walkOf(ONE, {}));
    await walks.fail(OTHER, FAILED, 'more');
    expect(await queued()).toEqual([]);
    await walks.fail(ONE, FAILED, 'more');
    expect(await queued()).toEqual([{ address: ONE, attempts: 1, due: 20 }]);
    await walks.fail(ONE, FAILED, 'more');
    expect(await queued()).toEqual([{ address: ONE, attempts: 2, due: 20 }]);
    await walks.commit(walkOf(ONE, {}));
    expect(await queued()).toEqual([]);
    const reading = await records.recordOf(ONE, 'somebody');
    expect(reading.checked ? reading.value.failed : reading.why).toBeNull();
  });

  test(`${name}: a walk that a silent source cut is due again within half a minute, and later in the end`, async () => {
    const { database, records, walks } = stores();
    const cut = why('provider_failed', { provider: 'Venue', fault: 'refused the connection' });
    const launches = Array.from({ length: 300 }, (_, n) => launchOf(`a${n}`, 'unchecked'));
    const walk = walkOf(ONE, { launches });
    const due = async () => {
      const rows = await rowsAs<{ address: string; due: number }>(
        database,
        `select address, round(extract(epoch from due_at - control_now()))::int4 as due
           from deployer_queue`,
      );
      return rows.map(({ address, due: s }) => [address, s]);
    };
    for (const s of [...Array(5).fill(20), 40, 80, 160, 320, ...Array(10).fill(640)]) {
      expect((await walks.commit(walk, cut)).checked).toBe(true);
      expect(await due()).toEqual([[ONE, s]]);
      expect(await walks.take(60)).toMatchObject({ value: null });
      await database.query("update deployer_queue set due_at = control_now() - interval '1 s'");
      expect(await walks.take(60)).toMatchObject({ value: ONE });
    }
    await walks.commit(walk, cut);
    expect(await due()).toEqual([]);
    await walks.commit(walk, cut);
    await walks.commit(walkOf(ONE, { launches: [launchOf('a', 'died')] }));
    expect(await due()).toEqual([]);
    const reading = await records.recordOf(ONE, 'somebody');
    if (reading.checked) expect(reading.value.launches).toMatchObject([{ outcome: 'died' }]);
    expect(reading.checked).toBe(true);
  });

  test(`${name}: a walk of few contracts that was cut is due within half a minute for longer`, async () => {
    const { database, walks } = stores();
    const cut = why('provider_failed', { provider: 'Node', fault: 'HTTP 502' });
    const walk = walkOf(ONE, { launches: [launchOf('a', 'unchecked')] });
    const dues: number[] = [];
    for (let attempt = 1; attempt < 40; attempt += 1) {
      await walks.commit(walk, cut);
      dues.push(...(await rowsAs<Due>(database, DUE)).map(({ due }) => due));
    }
    expect(dues).toEqual([...Array(25).fill(20), 40, 80, 160, 320, ...Array(10).fill(640)]);
    await walks.commit(walk, cut);
    expect(await rowsAs<Due>(database, DUE)).toEqual([]);
  });

  test(`${name}: a source that stays silent is asked its one question within a minute, however often`, async () => {
    const { database, walks } = stores();
    const cut = why('provider_failed', { provider: 'Node', fault: 'HTTP 502' });
    await walks.commit(walkOf(ONE, { launches: [launchOf('a', 'unchecked')] }), cut);
    for (let asked = 0; asked < 100; asked += 1) await walks.fail(ONE, FAILED, 'one_question');
    expect(await rowsAs<Due>(database, DUE)).toEqual([{ address: ONE, attempts: 1, due: 20 }]);
    // The more wait, the later each is asked: ten a second of all, and within a minute.
    for (const [from, upTo, due] of [
      [1, 300, 30],
      [301, 2_000, 45],
    ] as const) {
      await database.query(
        `insert into deployer_queue (address, asked_at, due_at, asked_by, failure)
         select 'x' || n, control_now(), control_now(), 'somebody', 'It failed.'
           from generate_series($1::int, $2::int) n`,
        [from, upTo],
      );
      await walks.fail(ONE, FAILED, 'one_question');
      const [row] = await rowsAs<Due>(database, `${DUE} where address = '${ONE}'`);
      expect(row).toEqual({ address: ONE, attempts: 1, due });
    }
  });

  test(`${name}: walks that were cut take no room of those who ask`, async () => {
    const { database, walks } = stores();
    await database.query(
      `insert into deployer_queue (address, asked_at, due_at)
       select 'x' || n, control_now(), control_now() from generate_series(1, 500) n`,
    );
    const cut = why('provider_failed', { provider: 'Venue', fault: 'refused the connection' });
    expect((await walks.commit(walkOf(ONE, {}), cut)).checked).toBe(true);
    const [row] = await rowsAs<{ n: bigint }>(database, 'select count(*) as n from deployer_queue');
    expect(Number(row?.n)).toBe(500);
    expect((await walks.commit(walkOf('x7', {}), cut)).checked).toBe(true);
    const rows = await rowsAs<{ attempts: number }>(
      database,
      "select attempts from deployer_queue where address = 'x7'",
    );
    expect(rows).toEqual([{ attempts: 1 }]);
  });

  test(`${name}: what was taken and never ended is due again, and nobody takes it twice`, async () => {
    const { database, records, walks } = stores();
    await records.recordOf(ONE, 'somebody');
    await records.recordOf(OTHER, 'somebody');
    const taken = await Promise.all([walks.take(60), walks.take(60), walks.take(60)]);
    const values = taken.map((one) => (one.checked ? one.value : 'unread'));
    expect(values.sort()).toEqual([ONE, OTHER, null].sort());
    await database.query("update deployer_queue set due_at = control_now() - interval '1 second'");
    expect(await walks.take(60)).toMatchObject({ checked: true });
  });

  test(`${name}: the queue is bounded, in all and by caller, and whoever finds it full is told`, async () => {
    const { database, records } = stores();
    const fill = (askedBy: string, from: number, to: number) =>
      database.query(
        `insert into deployer_queue (address, asked_at, due_at, asked_by)
         select 'x' || n, control_now(), control_now(), $1
         from generate_series($2::int, $3::int) n`,
        [askedBy, from, to],
      );
    await fill('busy', 1, 200);
    const full = expect.stringContaining('It was not queued: 200 addresses that this caller');
    expect(await reasonOf(records, ONE, 'busy')).toEqual(full);
    expect(await reasonOf(records, ONE)).toContain('It is queued to be walked.');
    await fill('others', 201, 4_999);
    expect(await reasonOf(records, OTHER)).toEqual(full);
    const [row] = await rowsAs<{ n: bigint }>(database, 'select count(*) as n from deployer_queue');
    expect(Number(row?.n)).toBe(5_000);
  });

  test(`${name}: whoever floods the queue waits for the others, as those walked again do not`, async () => {
    const { records, walks } = stores();
    const nowS = STILL_NOW;
    const again = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`);
    for (const address of again) {
      const launches = [launchOf('one', 'live', { created_at: nowS - 3_600 })];
      await walks.commit({ ...walkOf(address, { launches }), captured_at: nowS - 86_400 });
    }
    const asked = (n: number) => `0x${String(n).padStart(40, '0')}`;
    for (let n = 0; n < 20; n += 1) await records.recordOf(asked(n), 'flood');
    await records.recordOf(ONE, 'quiet');
    await records.recordOf(OTHER, 'late');
    const taken: unknown[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const next = await walks.take(60);
      taken.push(next.checked ? next.value : next.why.reason);
    }
    expect(taken.slice(0, 6)).toEqual(expect.arrayContaining([...again, ONE, OTHER]));
    expect(taken.filter((address) => String(address).startsWith('0x0'))).toHaveLength(3);
  });

  test(`${name}: a question about a record older than six hours has its address walked again`, async () => {
    const { records, walks } = stores();
    const empty = (hours: number) => ({
      ...walkOf(ONE, {}),
      captured_at: STILL_NOW - hours * 3_600,
    });
    await walks.commit(empty(7));
    expect(await records.heldOf(ONE)).toBeInstanceOf(Read);
    expect(await walks.take(60)).toMatchObject({ value: null });
    expect(await records.recordOf(ONE, 'somebody')).toBeInstanceOf(Read);
    expect(await walks.take(60)).toMatchObject({ value: ONE });
    await walks.commit(empty(5));
    await records.recordOf(ONE, 'somebody');
    expect(await walks.take(60)).toMatchObject({ value: null });
  });

  test(`${name}: a store that is silent is unread, never a missing record`, async () => {
    const { database, records } = stores();
    database.silence('it is away');
    expect(await records.recordOf(ONE, 'somebody')).toBeInstanceOf(Unread);
    database.silence(null);
  });
});
