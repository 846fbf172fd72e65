// A process that appends to the log of flags is killed again and again in the middle of it: the
// numbers go on without a gap, and what was said to be stored is there.

import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPglite } from './stores/control/engine/pglite.ts';
import { LIVE } from './testing/control-store.ts';
import { APPENDER, DIST, eventsAfter } from './testing/flag-events.ts';
import { freshPgliteDirectory, MIGRATIONS } from './testing/postgres.ts';
import { rowsAs } from './testing/rows-as.ts';
import { trialsOf } from './testing/trials.ts';

/** How often it is killed: the suite has a little time for it, a trial of its own has more. */
const KILLS = trialsOf('EXHIBIT_TEST_KILLS', 4, 25);

test(
  'a log whose appender is killed has every number once, and all that was said to be stored',
  async () => {
    const directory = await freshPgliteDirectory();
    const prepared = await openPglite(directory);
    await migrate(prepared, MIGRATIONS, LIVE);
    await prepared.close();
    let stored = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      stored = Math.max(stored, await appendedUntilKilled(directory, kill));
    }
    const opened = await openPglite(directory);
    const events = await eventsAfter(opened, 0);
    const [log] = await rowsAs<{ newest: bigint }>(opened, 'select newest from flag_log');
    await opened.close();
    await rm(dirname(directory), { recursive: true });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(Number(log?.newest)).toBe(events.length);
    expect(stored).toBeGreaterThan(0);
    expect(events.length).toBeGreaterThanOrEqual(stored);
  },
  60_000 + KILLS * 10_000,
);

/** Has a process append, kills it in the middle, and tells the last number that it said. */
async function appendedUntilKilled(directory: string, kill: number): Promise<number> {
  const args = ['--input-type=module', '-e', APPENDER, DIST, directory];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  let said = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const isFirst = said === 0;
    said = Number(line);
    if (!isFirst) continue;
    // Somewhere in what follows, another time each time.
    void wait(20 + ((kill * 37) % 150)).then(() => child.kill('SIGKILL'));
  }
  await gone;
  return said;
}
