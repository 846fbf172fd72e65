// Launches on record are counted by the month of their launch, once each, and what is not known of
// one is in no count.

import { expect, test, vi } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import { launchOf, walkOf } from '../../testing/deployer-worlds.ts';
import { putCorpus } from '../../testing/launch-scores.ts';
import { deployerWalkTable } from './deployers.ts';
import type { Database } from './engine/database.ts';
import { launchMonthTable } from './launch-collection.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ONE = `0x${'1'.repeat(40)}`;
const AUGUST = Date.UTC(2026, 7, 31, 23, 59, 59) / 1_000;
const LONG_AGO = Date.UTC(2025, 8, 30) / 1_000;

function monthsIn(database: Database, nowMs = () => STILL_NOW * 1_000) {
  return launchMonthTable(database, { simulated: false, nowMs });
}

async function commit(database: Database): Promise<void> {
  const walks = deployerWalkTable(database, { simulated: false, nowMs: () => STILL_NOW * 1_000 });
  await walks.commit(
    walkOf(ONE, {
      launches: [
        launchOf('a', 'live'),
        launchOf('b', 'died'),
        launchOf('c', 'never_listed'),
        launchOf('d', 'unchecked'),
        launchOf('e', 'died', { created_at: AUGUST }),
        launchOf('f', 'died', { created_at: LONG_AGO }),
      ],
    }),
  );
}

onEachEngine((name, fresh) => {
  test(`${name}: counts records and the corpus by month, within the span`, async () => {
    const database = fresh();
    await commit(database);
    const launched = STILL_NOW - 86_400;
    await putCorpus(database, [
      ['m1', 'wallet', launched, true, STILL_NOW],
      ['m2', 'wallet', launched, false, STILL_NOW],
      ['m3', 'wallet', launched, null, STILL_NOW],
    ]);
    const months = await monthsIn(database).newest(12);
    expect(months.checked && months.value).toEqual([
      { chain: 'ethereum', month: '2026-08', listed: 1, died: 1, unchecked: 0 },
      { chain: 'ethereum', month: '2026-09', listed: 2, died: 1, unchecked: 1 },
      { chain: 'solana', month: '2026-09', listed: 2, died: 1, unchecked: 1 },
    ]);
  });

  test(`${name}: the tables are read once a minute, and a silence is not kept`, async () => {
    const database = fresh();
    let now = STILL_NOW * 1_000;
    const months = monthsIn(database, () => now);
    database.silence('it is away');
    expect(await months.newest(12)).toBeInstanceOf(Unread);
    database.silence(null);
    expect(await months.newest(12)).toMatchObject({ value: [] });
    await commit(database);
    expect(await months.newest(12)).toMatchObject({ value: [] });
    now += 60_000;
    const later = await months.newest(12);
    expect(later.checked && later.value.length).toBe(2);
  });
});
