// A process that scores launches is killed again and again in the middle of it: flags and events
// stay one, no number is missing, and in the end every wallet was scored once.

import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { deployerWalkTable } from './stores/control/deployers.ts';
import type { Database } from './stores/control/engine/database.ts';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPglite } from './stores/control/engine/pglite.ts';
import { LIVE } from './testing/control-store.ts';
import { launchOf, walkOf } from './testing/deployer-worlds.ts';
import { eventsAfter } from './testing/flag-events.ts';
import { startScript } from './testing/killed-script.ts';
import { freshPgliteDirectory, MIGRATIONS } from './testing/postgres.ts';
import { rowsAs } from './testing/rows-as.ts';
import { levelOf, SMALL_MODEL } from './testing/rug-models.ts';
import { trialsOf } from './testing/trials.ts';

const DIST = new URL('../dist/', import.meta.url).href;
/** How often it is killed: the suite has a little time for it, a trial of its own has more. */
const KILLS = trialsOf('EXHIBIT_TEST_KILLS', 2, 25);
const WALLETS = 20 * KILLS;
const NEW_EACH = 3;
const DAY_S = 86_400;
const HOUR_S = 3_600;

const MODEL = { ...SMALL_MODEL, card: { ...SMALL_MODEL.card, level: levelOf(0.7) } };

/** The program of the killed process: the job over a store on disk. */
const SCORER = `
const [dist, directory, model] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { setTimeout: wait } = await import('node:timers/promises');
const { read } = await load('evidence/reading.js');
const { openPglite } = await load('stores/control/engine/pglite.js');
const { launchScoringTable } = await load('stores/control/launch-scoring.js');
const { scoreRounds } = await load('features/rugs/score.job.js');
const source = { name: 'Memory', url: 'memory:', as_of: 0, kind: 'table', simulated: false };
const say = (port, value) => read(value, { port, source });
const database = await openPglite(directory);
const context = { simulated: false, nowMs: () => Date.now() };
const scoring = launchScoringTable(database, context, () => undefined);
scoreRounds({
  scoring: {
    ...scoring,
    commit: async (scored) => { console.log('begun'); return scoring.commit(scored); },
    end: async (run) => { console.log('ended'); return scoring.end(run); },
  },
  established: { among: async () => say('established_tokens', new Set()) },
  inForce: async () => say('published_model', {
    version: 'rug-1', model: JSON.parse(model), withdrawn: null,
  }),
  now: () => Math.floor(Date.now() / 1000),
  everyS: 0.01, sleep: (ms) => wait(ms),
  onNotScored: ({ why }) => console.log('failed ' + why.reason),
  onBug: (error) => console.log('failed ' + error),
});
`;

test(
  'leaves no flag without its event, no event without its flag, and no gap',
  async () => {
    const directory = await freshPgliteDirectory();
    const first = await openPglite(directory);
    await migrate(first, MIGRATIONS, LIVE);
    await commitWallets(first);
    await first.close();

    for (let kill = 0; kill < KILLS; kill += 1) await scoredUntilKilled(directory, kill);
    const between = await openPglite(directory);
    expect(await expectWhole(between)).toBeLessThan(WALLETS * NEW_EACH);
    await between.close();
    await scoredToTheEnd(directory);

    const opened = await openPglite(directory);
    expect(await expectWhole(opened)).toBe(WALLETS * NEW_EACH);
    await opened.close();
    await rm(dirname(directory), { recursive: true });
  },
  60_000 + KILLS * 10_000,
);

/** Wallets that each let one token die long ago, and launched others an hour ago. */
async function commitWallets(database: Database): Promise<void> {
  const now = Math.floor(Date.now() / 1_000);
  const walks = deployerWalkTable(database, { simulated: false, nowMs: () => Date.now() });
  for (let n = 0; n < WALLETS; n += 1) {
    const launches = Array.from({ length: NEW_EACH }, (_, i) =>
      launchOf(`new ${n} ${i}`, 'live', { created_at: now - HOUR_S }),
    );
    const old = launchOf(`old ${n}`, 'died', { created_at: now - 90 * DAY_S });
    const address = `0x${n.toString(16).padStart(40, 'a')}`;
    await walks.commit({ ...walkOf(address, { launches: [...launches, old] }), captured_at: now });
  }
}

/** Holds flags against events, and tells how many there are. */
async function expectWhole(database: Database): Promise<number> {
  const flags = await rowsAs<{ address: string; seq: number }>(
    database,
    `select address, flag_seq::float8 as seq from launch_scores where outcome = 'flagged'
     order by flag_seq`,
  );
  const events = await eventsAfter(database, 0);
  expect(events.map(({ seq, address }) => ({ address, seq }))).toEqual(flags);
  expect(flags.map(({ seq }) => seq)).toEqual(flags.map((_, i) => i + 1));
  const each = new Map<string, number>();
  for (const { address } of flags) each.set(address, (each.get(address) ?? 0) + 1);
  expect(new Set(each.values()).size).toBeLessThanOrEqual(1);
  const scored = await database.query('select address from scored_wallets');
  expect(scored).toHaveLength(each.size);
  return flags.length;
}

/** Runs the job until it has begun some wallets, and kills it in the middle of the last. */
async function scoredUntilKilled(directory: string, kill: number): Promise<void> {
  const child = startScript(SCORER, DIST, directory, JSON.stringify(MODEL));
  let begun = 0;
  for await (const line of child.lines) {
    expect(line).toBe('begun');
    begun += 1;
    if (begun > 2 + (kill % 7)) break;
  }
  await wait((kill * 13) % 40);
  await child.kill();
}

async function scoredToTheEnd(directory: string): Promise<void> {
  const child = startScript(SCORER, DIST, directory, JSON.stringify(MODEL));
  for await (const line of child.lines) {
    if (line === 'ended') break;
    expect(line).toBe('begun');
  }
  await child.kill();
}
