import { expect, test, vi } from 'vitest';
import { Read, Unread } from '../../evidence/reading.ts';
import type { FollowReports } from '../../ports/indexing.ts';
import { followReportsIn, onEachEngine } from '../../testing/control-store.ts';
import { openPostgres } from './engine/postgres.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TOLD = { chain: 'base', state: 'following', reason: null } as const;
const BLOCKS = { last_block: 5, head_block: 7 };

async function all(reports: FollowReports) {
  const reading = await reports.all();
  if (!(reading instanceof Read)) throw new Error(reading.why.reason);
  return reading.value;
}

onEachEngine((name, fresh) => {
  test(`${name}: a report says since when it is so, and a new reason begins anew`, async () => {
    const database = fresh();
    const reports = followReportsIn(database);
    expect(await all(reports)).toEqual([]);
    await reports.tell({ ...TOLD, ...BLOCKS });
    await database.query('update follow_reports set since = to_timestamp(1700000000)');
    await reports.tell({ ...TOLD, ...BLOCKS, last_block: 6 });
    expect(await all(reports)).toEqual([
      { ...TOLD, ...BLOCKS, last_block: 6, since: 1_700_000_000 },
    ]);
    await reports.tell({ ...TOLD, ...BLOCKS, state: 'held_up', reason: 'Its node is away.' });
    const [held] = await all(reports);
    expect(held).toMatchObject({ state: 'held_up', reason: 'Its node is away.' });
    expect(held?.since).toBeGreaterThan(1_700_000_000);
  });

  test(`${name}: a follower of which nothing more was heard is stopped since its last word`, async () => {
    const database = fresh();
    const reports = followReportsIn(database);
    await reports.tell({ ...TOLD, ...BLOCKS });
    await database.query(
      "update follow_reports set told_at = now() - interval '91 seconds', since = 'epoch'",
    );
    const [gone] = await all(reports);
    expect(gone).toMatchObject({
      state: 'stopped',
      reason: 'Nothing more was heard of the process that followed base.',
    });
    expect(gone?.since).toBeGreaterThan(1_700_000_000);
  });
});

test('a table that cannot be asked is silence, never that nothing is followed', async () => {
  const gone = openPostgres('postgres://nobody@127.0.0.1:1/none');
  expect(await followReportsIn(gone).all()).toBeInstanceOf(Unread);
  await gone.close();
});
