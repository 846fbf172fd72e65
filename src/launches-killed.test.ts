// A process that collects and settles launches is killed again and again in the middle of it: no
// launch is lost or kept twice, none is half settled, and in the end all of them are there.

import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { LAUNCH_WINDOW_S } from './features/tables/launches.ts';
import { type Database, onlyRow } from './stores/control/engine/database.ts';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPglite } from './stores/control/engine/pglite.ts';
import { launchCollectionTable } from './stores/control/launch-collection.ts';
import { LIVE } from './testing/control-store.ts';
import { freshPgliteDirectory, MIGRATIONS } from './testing/postgres.ts';
import { rowsAs } from './testing/rows-as.ts';
import { trialsOf } from './testing/trials.ts';

const DIST = new URL('../dist/', import.meta.url).href;
/** How often it is killed: the suite has a little time for it, a trial of its own has more. */
const KILLS = trialsOf('EXHIBIT_TEST_KILLS', 3, 25);
const LAUNCHES = 40 * KILLS;
const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const DAY_S = 86_400;

/** The program of the killed process: both jobs over a store on disk, with slow sources. */
const COLLECTOR = `
const [dist, directory, launches, now] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { setTimeout: wait } = await import('node:timers/promises');
const { read } = await load('evidence/reading.js');
const { openPglite } = await load('stores/control/engine/pglite.js');
const { launchCollectionTable, LAUNCH_NOTES } = await load('stores/control/launch-collection.js');
const { tableStore } = await load('stores/control/imported-tables.js');
const { launchCorpus } = await load('features/tables/launches.js');
const { collectLaunches, settleLaunches } = await load('features/launches/rounds.job.js');
const source = { name: 'Slow', url: 'memory:', as_of: 0, kind: 'observation', simulated: false };
const say = async (port, value) => { await wait(1); return read(value, { port, source }); };
const launched = (n) => Number(now) - 2 * 86400 + n;
const all = Array.from({ length: Number(launches) }, (_, n) => ({
  signature: 'sig-' + n, at: launched(n), failed: false,
}));
const feed = {
  listed: (account, after) => {
    const from = after === null ? 0 : all.findIndex(({ signature }) => signature === after) + 1;
    const listing = { transactions: all.slice(from), met: true, asked_at: Number(now) };
    return say('launch_feed', listing);
  },
  launchesOf: (signature) => {
    const n = Number(signature.slice(4));
    const made = { made_by: 'pump.create', credited_by: 'creation' };
    const launch = { mint: 'mint-' + n, deployer: 'wallet-' + n % 7, ...made };
    console.log('read');
    const whole = { ...launch, signature, slot: n, launched_at: launched(n) };
    return say('launch_feed', { launches: [whole], unread: [] });
  },
};
const database = await openPglite(directory);
const clock = () => Number(now);
const context = { simulated: false, nowMs: () => clock() * 1000 };
// The launches of a killed round are due again at once.
await database.query('update collected_launches set due_at = $1', [new Date(clock() * 1000)]);
const windows = { windowS: 86400, lateS: 3 * 86400 };
const collection = launchCollectionTable(database, context, windows);
const rounds = {
  pollMs: 5, sleep: (ms) => wait(ms),
  onFailure: (what, why) => console.log('failed ' + what + ' ' + why.reason),
  onBug: (error) => console.log('failed ' + error),
};
collectLaunches({
  ...rounds, feed, collection, accounts: ['account'], onCollected: () => undefined,
  limits: { transactionsMax: 500, stepMax: 7, attemptsMax: 3 },
});
settleLaunches({
  ...rounds, collection, origin: 'observed', now: clock,
  listings: { stateOf: () => say('launch_listings', 'gone') },
  table: tableStore(database, launchCorpus, clock, LAUNCH_NOTES),
  limits: { launchesMax: 5, atOnce: 2 },
});
`;

/** The contents of the store, checked for consistency. */
async function held(database: Database): Promise<{ kept: number; settled: number }> {
  const row = onlyRow(
    await rowsAs<{
      kept: number;
      settled: number;
      imported: number;
      unmatched: number;
      place: string | null;
    }>(
      database,
      `
      select (select count(*)::int4 from collected_launches) as kept,
             (select count(*)::int4 from collected_launches where settled) as settled,
             (select count(*)::int4 from launches l join table_imports i on i.id = l.import_id
               where i.completed_at is not null) as imported,
             (select count(*)::int4 from collected_launches c where c.settled and not exists (
               select 1 from launches l join table_imports i on i.id = l.import_id
                where l.mint = c.mint and l.settled and i.completed_at is not null)) as unmatched,
             (select signature from launch_cursors) as place`,
    ),
  );
  const { kept, settled, imported, unmatched, place } = row;
  // The place in the list is behind the last launch that was kept, and before the next.
  expect(place).toBe(kept === 0 ? null : `sig-${kept - 1}`);
  expect(unmatched).toBe(0);
  expect(imported).toBe(settled);
  return { kept, settled };
}

test(
  'loses no launch, keeps none twice and settles none by half',
  async () => {
    const directory = await freshPgliteDirectory();
    const made = await openPglite(directory);
    await migrate(made, MIGRATIONS, LIVE);
    await made.close();
    let before = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      await runUntilKilled(directory, 12 + 5 * (kill % 3));
      const opened = await openPglite(directory);
      const { kept } = await held(opened);
      expect(kept).toBeGreaterThanOrEqual(before);
      before = kept;
      await opened.close();
    }
    expect(before).toBeGreaterThan(0);
    await runUntilKilled(directory, null);
    const opened = await openPglite(directory);
    const { kept, settled } = await held(opened);
    expect(kept).toBe(LAUNCHES);
    const windows = { windowS: LAUNCH_WINDOW_S, lateS: 3 * DAY_S };
    const context = { simulated: false, nowMs: () => NOW * 1_000 };
    const due = await launchCollectionTable(opened, context, windows).takeDue(LAUNCHES, 60);
    if (!due.checked) throw new Error(due.why.reason);
    expect(due.value.length).toBeLessThanOrEqual(LAUNCHES - settled);
    await opened.close();
    await rm(dirname(directory), { recursive: true });
  },
  60_000 + KILLS * 10_000,
);

/** Runs both jobs until so many transactions were read, or all of them, and kills them then. */
async function runUntilKilled(directory: string, reads: number | null): Promise<void> {
  const args = ['--input-type=module', '-e', COLLECTOR, DIST, directory];
  const child = spawn(process.execPath, [...args, String(LAUNCHES), String(NOW)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout });
  let read = 0;
  const quiet = { timer: setTimeout(() => undefined, 0) };
  for await (const line of lines) {
    expect(line).toBe('read');
    read += 1;
    if (reads !== null && read >= reads) break;
    // A process that runs to its end stays silent afterwards.
    clearTimeout(quiet.timer);
    if (reads === null) quiet.timer = setTimeout(() => child.kill('SIGKILL'), 4_000);
  }
  clearTimeout(quiet.timer);
  child.kill('SIGKILL');
  await gone;
}
