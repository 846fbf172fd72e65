// A store that lost what a machine has seen is called put back, whatever it has grown to since;
// what ended then and opens again is named, until it ends.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { DAY_S, HOUR_S } from './chain/time.ts';
import { restoredSaid } from './compose/checks.ts';
import { Read, Unread } from './evidence/reading.ts';
import { isWhy } from './features/restores/restores.command.ts';
import { MARK_EACH_S, viewRestores, watchOnce } from './features/restores/watch-store.ts';
import { SEEN_KEPT_S } from './ports/store-marks.ts';
import { seenStoreFile, storeMarkTable } from './stores/control/store-marks.ts';
import { STILL_NOW } from './testing/clock.ts';
import { accessIn, clockAt, controlOnServer } from './testing/control-store.ts';
import { NO_POSTGRES } from './testing/postgres.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const home = mkdtempSync(join(tmpdir(), 'exhibit-restores-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe.skipIf(NO_POSTGRES !== null)(`on PostgreSQL ${NO_POSTGRES ?? ''}`, () => {
  const fresh = controlOnServer();

  test('a store without the last mark of a machine was put back, and names what opens again', async () => {
    const database = fresh();
    let time = STILL_NOW;
    const context = { simulated: false, nowMs: () => time * 1_000 };
    const at = async (seconds: number) => {
      time = seconds;
      await database.query(clockAt(seconds));
    };
    let ids = 0;
    const parts = {
      marks: storeMarkTable(database, context),
      seen: seenStoreFile(home, context),
      makeId: () => {
        ids += 1;
        return `mark ${ids}`;
      },
      now: () => time,
    };
    const { keys, memberships, quota } = accessIn(database, context.nowMs);
    const member = { membership_id: 'mem_1', plan: 'desk', status: 'active', at: time } as const;
    await memberships.record(member);
    for (const [n, id] of ['key_1', 'key_2'].entries()) {
      const added = await keys.add(
        {
          id,
          holder: { kind: 'sc', membership_id: 'mem_1' },
          secret: { hash: new Uint8Array(32).fill(n), pepper: 'aaaa' },
          prefix: `sc_${n}`,
          created_at: time,
          expires_at: time + 10_000_000,
          name: null,
        },
        5,
      );
      expect(added.checked).toBe(true);
    }
    const since = async () => {
      const reading = await quota.usesSince();
      return reading instanceof Read ? reading.value : Number.NaN;
    };
    expect(await watchOnce(parts)).toEqual({ isPutBack: false });
    const before = await since();
    const yesterday = time;
    await at(time + MARK_EACH_S + 1);
    await keys.revoke('key_1', time, null);
    expect(await watchOnce(parts)).toEqual({ isPutBack: false });
    const quiet = await viewRestores(parts);
    expect(quiet).toEqual({ isWatched: true, restores: [], open_again: [] });

    // The store of yesterday, which has gone on for a while before this machine looks.
    await database.query(`delete from store_marks where id = 'mark 2'`);
    await database.query(`update api_keys set revoked_at = null where id = 'key_1'`);
    const seen = time;
    await at(time + 1_000);
    await parts.marks.mark('of another machine');
    expect(await watchOnce(parts)).toEqual({ isPutBack: true });
    expect(await watchOnce(parts)).toEqual({ isPutBack: false });
    const open = { what: 'key' as const, id: 'key_1', name: 'sc_0', ended_at: seen };
    expect(await viewRestores(parts)).toEqual({
      isWatched: true,
      restores: [
        {
          held_to: yesterday,
          seen_to: seen,
          noticed_at: time,
          accepted_at: null,
          accepted_why: null,
        },
      ],
      open_again: [open],
    });
    expect(before).not.toBe(time);
    expect(await since()).toBeGreaterThanOrEqual(time);
    expect(await parts.marks.accept('It was the disk.', [open])).toMatchObject({ value: 1 });
    expect(await parts.marks.accept('Twice.', [])).toMatchObject({ value: 0 });
    expect(await viewRestores(parts)).toMatchObject({
      restores: [{ accepted_at: time, accepted_why: 'It was the disk.' }],
      open_again: [open],
    });
    await keys.revoke('key_1', time, null);
    expect(await viewRestores(parts)).toMatchObject({ open_again: [] });
  });

  test('a machine that left no mark of late cannot tell, and says so', async () => {
    const database = fresh();
    let time = STILL_NOW;
    const context = { simulated: false, nowMs: () => time * 1_000 };
    const folder = mkdtempSync(join(home, 'new-'));
    const seen = seenStoreFile(folder, context);
    const marks = storeMarkTable(database, context);
    const parts = { marks, seen, makeId: () => 'the first', now: () => time };
    const view = async () => {
      const told = await viewRestores(parts);
      if (isWhy(told)) throw new Error(told.reason);
      return { isWatched: told.isWatched, ...restoredSaid(told) };
    };
    await database.query(clockAt(time));
    expect(await view()).toMatchObject({ isWatched: false, state: 'absent' });
    expect(await watchOnce(parts)).toEqual({ isPutBack: false });
    expect(await view()).toMatchObject({ isWatched: true, state: 'ok' });
    // A machine that was off for longer than marks are kept.
    time += SEEN_KEPT_S + 1;
    await database.query(clockAt(time));
    expect(await view()).toMatchObject({
      isWatched: false,
      state: 'absent',
      says: expect.stringContaining('cannot tell'),
    });
  });

  test('what ended is asked from the last mark on, and what ended before it stays', async () => {
    const database = fresh();
    let time = STILL_NOW;
    const context = { simulated: false, nowMs: () => time * 1_000 };
    const folder = mkdtempSync(join(home, 'since-'));
    const seen = seenStoreFile(folder, context);
    const table = storeMarkTable(database, context);
    const asked: number[] = [];
    const ended = (since: number) => {
      asked.push(since);
      return table.ended(since);
    };
    let ids = 0;
    const makeId = () => String(++ids);
    const parts = { marks: { ...table, ended }, seen, makeId, now: () => time };
    await database.query(clockAt(time));
    const { memberships } = accessIn(database, context.nowMs);
    const member = { membership_id: 'mem_1', plan: 'desk', at: time } as const;
    await memberships.record({ ...member, status: 'inactive' });
    expect(await watchOnce(parts)).toEqual({ isPutBack: false });
    time += 2 * DAY_S;
    await database.query(clockAt(time));
    expect(await watchOnce(parts)).toEqual({ isPutBack: false });
    expect(await watchOnce(parts)).toEqual({ isPutBack: false });
    expect(asked).toEqual([0, STILL_NOW - HOUR_S, time - HOUR_S]);
    const kept = await seen.read();
    expect(kept instanceof Read && kept.value.ended.map(({ id }) => id)).toEqual(['mem_1']);
  });

  test('a folder that cannot be read is no store that was put back', async () => {
    const context = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
    const seen = seenStoreFile(join(home, 'missing', 'folder'), context);
    expect(await seen.write({ mark: null, ended: [] })).toBeInstanceOf(Unread);
    const marks = storeMarkTable(fresh(), context);
    const parts = { marks, seen, makeId: () => 'one', now: () => STILL_NOW };
    expect(await watchOnce(parts)).toMatchObject({ code: 'store_unreadable' });
  });
});
