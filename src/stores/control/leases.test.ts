import { expect, test, vi } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { leasesKeep } from '../../ports/leases.suite.ts';
import { leasesIn, onEachEngine } from '../../testing/control-store.ts';
import { openPostgres } from './engine/postgres.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

onEachEngine((name, fresh) => {
  leasesKeep(name, async () => {
    const database = fresh();
    return {
      one: leasesIn(database, 'one'),
      other: leasesIn(database, 'other'),
      letEnd: async () => {
        await database.query("update leases set held_until = now() - interval '1 second'");
      },
    };
  });
});

test('a table that cannot be asked is silence, and never a lease', async () => {
  const gone = openPostgres('postgres://nobody@127.0.0.1:1/none');
  expect(await leasesIn(gone, 'one').take('x', 1)).toBeInstanceOf(Unread);
  await gone.close();
});
