// A process that delivers to chats is killed again and again in the middle of it: every dispatch
// arrives, in order for each chat, at least once.

import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPglite } from './stores/control/engine/pglite.ts';
import { LIVE } from './testing/control-store.ts';
import { DIST } from './testing/flag-events.ts';
import { addIntegration, appendTo, dispatchOf, targetNamed } from './testing/integrations.ts';
import { freshPgliteDirectory, MIGRATIONS } from './testing/postgres.ts';
import { trialsOf } from './testing/trials.ts';
import { type StartedChats, startChats } from './world/chat-api.ts';

/** How often it is killed: the suite has a little time for it, a trial of its own has more. */
const KILLS = trialsOf('EXHIBIT_TEST_KILLS', 3, 25);
const CHATS = ['int_1', 'int_2', 'int_3'];
/** Enough for some to wait at each kill. */
const EACH = 15 + KILLS * 8;

const DELIVERER = `
const [dist, directory, roots] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { openPglite } = await load('stores/control/engine/pglite.js');
const { deliveryTable } = await load('stores/control/outbox.js');
const { chatPlatforms } = await load('sources/chat/platforms.js');
const { deliverUntilStopped, DELIVERY_PACE } = await load('features/integrations/deliver.job.js');
const root = (name) => ({ url: new URL(JSON.parse(roots)[name]), onCallEnd: () => undefined });
const database = await openPglite(directory);
const context = { simulated: false, nowMs: Date.now };
const fail = (why) => { console.error(why); process.exit(1); };
const webhook_id = (id) => id.replaceAll(/\\D/g, '').padStart(18, '900000000000000000');
deliverUntilStopped({
  deliveries: deliveryTable(database, String(process.pid), context),
  platforms: chatPlatforms({
    roots: {
      slack_hooks: root('slack'), slack_api: root('slack'),
      discord: root('discord'), telegram: root('telegram'),
    },
    simulated: false,
    now: () => 0,
  }),
  opened: (_, id) => ({
    platform: 'discord', webhook_id: webhook_id(id), webhook_token: 'd'.repeat(68),
  }),
  sealed: fail,
  base: 'https://exhibit.example',
  pace: {
    ...DELIVERY_PACE, held_s: 1, backoff_s: 0.01,
    between_s: { slack: 0, discord: 0, telegram: 0 },
  },
  nowMs: () => performance.now(),
  pollMs: 2,
  tidyMs: 1000,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  onFailure: fail,
  onBug: fail,
});
for (;;) {
  const [{ n }] = await database.query('select count(*)::int as n from deliveries');
  console.log(n);
  await new Promise((resolve) => setTimeout(resolve, 20));
}
`;

test(
  'a killed deliverer leaves nothing untold, and each chat is told in order',
  async () => {
    const chats = await startChats();
    // One post in nine fails, so that what failed is retried across kills too.
    let posts = 0;
    chats.fault(() => {
      posts += 1;
      return posts % 9 === 0 ? 'error500' : null;
    });
    const directory = await freshPgliteDirectory();
    const prepared = await openPglite(directory);
    await migrate(prepared, MIGRATIONS, LIVE);
    for (const id of CHATS) await addIntegration(prepared, id, 'mem_1');
    const keys = Array.from({ length: EACH }, (_, i) => `k${i}`);
    await appendTo(
      prepared,
      keys.map((key) => dispatchOf(key)),
    );
    await prepared.close();
    for (let kill = 0; kill < KILLS; kill += 1) await deliverUntilKilled(directory, chats, kill);
    const killed = chats.posted.length;
    await deliverUntilKilled(directory, chats, null);
    await chats.close();
    await rm(dirname(directory), { recursive: true });
    // The kills fell into the middle of it.
    expect(killed).toBeGreaterThan(0);
    expect(killed).toBeLessThan(EACH * CHATS.length);
    for (const id of CHATS) {
      const told = toldTo(chats, id);
      const repeats = told.filter((key, i) => key === told[i - 1]).length;
      expect(repeats).toBeLessThanOrEqual(KILLS);
      expect(told.filter((key, i) => key !== told[i - 1])).toEqual(keys);
    }
  },
  120_000 + KILLS * 10_000,
);

function toldTo({ posted }: StartedChats, id: string): string[] {
  const { webhook_id } = Object(targetNamed(id)) as { webhook_id: string };
  const said = posted.filter(({ to }) => to === webhook_id);
  return said.map(({ body }) => /Told under (\w+)/.exec(JSON.stringify(body))?.[1] ?? '');
}

/** Has a process deliver; kills it in the middle, or (`null`) once nothing waits any more. */
async function deliverUntilKilled(
  directory: string,
  chats: StartedChats,
  kill: number | null,
): Promise<void> {
  const roots = JSON.stringify(chats.roots);
  const args = ['--input-type=module', '-e', DELIVERER, DIST, directory, roots];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  // After some posts, another number each time.
  const enough = kill === null ? Number.POSITIVE_INFINITY : chats.posted.length + 3 + (kill % 9);
  const looking = setInterval(() => {
    if (chats.posted.length >= enough) child.kill('SIGKILL');
  }, 1);
  for await (const line of createInterface({ input: child.stdout })) {
    if (kill === null && line === '0') child.kill('SIGKILL');
  }
  await gone;
  clearInterval(looking);
}
