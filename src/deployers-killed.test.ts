// A process that walks deployers is killed again and again in the middle of it: whoever it was
// asked for has a whole record in the end, and nobody ever had half of one.

import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { deployerRecordTable, deployerWalkTable } from './stores/control/deployers.ts';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPglite } from './stores/control/engine/pglite.ts';
import { LIVE } from './testing/control-store.ts';
import { startScript } from './testing/killed-script.ts';
import { freshPgliteDirectory, MIGRATIONS } from './testing/postgres.ts';
import { rowsAs } from './testing/rows-as.ts';
import { trialsOf } from './testing/trials.ts';

const DIST = new URL('../dist/', import.meta.url).href;
/** How often it is killed: the suite has a little time for it, a trial of its own has more. */
const KILLS = trialsOf('EXHIBIT_TEST_KILLS', 3, 25);
const DEPLOYERS = 3 * KILLS;
const LAUNCHES = 40;
const CONTEXT = { simulated: false, nowMs: () => Date.now() };

/** The program of the killed process: the job over a store on disk, with slow sources. */
const WALKER = `
const [dist, directory, launches] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { setTimeout: wait } = await import('node:timers/promises');
const { read } = await load('evidence/reading.js');
const { openPglite } = await load('stores/control/engine/pglite.js');
const { deployerWalkTable } = await load('stores/control/deployers.js');
const { walker, walkQueue } = await load('features/deployers/walks.job.js');
const now = () => Math.floor(Date.now() / 1000);
const source = { name: 'Slow', url: 'memory:', as_of: 0, kind: 'observation', simulated: false };
const say = async (port, value) => { await wait(1); return read(value, { port, source }); };
const contracts = (address) => Array.from({ length: Number(launches) }, (_, n) => ({
  address: '0x' + address.slice(2, 36) + String(n).padStart(6, '0'),
  tx: '0x', block: n, at: n, reverted: false,
}));
const sources = {
  creations: {
    madeDirectly: (address) => {
      return say('deployer_creations', { made: contracts(address), signed_at: null });
    },
    madeBy: () => say('deployer_creations', []),
    makersOf: (list) => {
      const makers = list.map((one) => [one, { signer: current }]);
      return say('deployer_creations', new Map(makers));
    },
  },
  kinds: { kindOf: () => say('contract_kinds', 'erc20') },
  transfers: { observed: () => say('token_transfers', { count: 3, truncated: false }) },
  venue: { poolsOf: () => say('venue', [{ side: 'base', liquidity_usd: 5, volume_usd_24h: 1 }]) },
  launchpads: { among: () => say('launchpads', new Set()) },
};
let current = '';
const database = await openPglite(directory);
// The address of a killed walk is due again at once.
await database.query("update deployer_queue set due_at = now()");
const walks = deployerWalkTable(database, { simulated: false, nowMs: () => Date.now() });
const bounds = { contractsMax: 100, askedMax: 200, launchedWithMax: 100 };
const limits = { ...bounds, atOnce: 4, exitLiquidityUsd: 1000 };
const walk = walker({ sources, walks, limits, now });
walkQueue({
  walks, pollMs: 5, sleep: (ms) => wait(ms),
  walk: (address, signal) => {
    current = address;
    console.log('begun');
    return walk(address, signal);
  },
  onFailure: (address, why) => console.log('failed ' + why.reason),
  onBug: (error) => console.log('failed ' + error),
});
`;

test(
  'leaves no half record, and walks everybody in the end',
  async () => {
    const directory = await freshPgliteDirectory();
    const addresses = Array.from(
      { length: DEPLOYERS },
      (_, n) => `0x${n.toString(16).padStart(40, 'a')}`,
    );
    const asked = await openPglite(directory);
    await migrate(asked, MIGRATIONS, LIVE);
    const records = deployerRecordTable(asked, CONTEXT, null);
    for (const address of addresses) await records.recordOf(address, 'somebody');
    await asked.close();

    for (let kill = 0; kill < KILLS; kill += 1) await walkedUntilKilled(directory, kill);

    const opened = await openPglite(directory);
    const held = deployerRecordTable(opened, CONTEXT, null);
    let whole = 0;
    for (const address of addresses) {
      const reading = await held.recordOf(address, 'somebody');
      if (!reading.checked) continue;
      whole += 1;
      expect(reading.value.launches).toHaveLength(LAUNCHES);
      expect(reading.value.skipped).toEqual([]);
    }
    // Every address without a record waits in the queue, and none with a record does.
    const queue = await rowsAs<{ address: string }>(opened, 'select address from deployer_queue');
    expect(whole + queue.length).toBe(DEPLOYERS);
    expect(queue.length).toBeLessThan(DEPLOYERS);
    await opened.query('update deployer_queue set due_at = now()');
    const walks = deployerWalkTable(opened, CONTEXT);
    for (const _ of queue) expect(await walks.take(60)).toMatchObject({ checked: true });
    await opened.close();
    await rm(dirname(directory), { recursive: true });
  },
  60_000 + KILLS * 5_000,
);

/** Runs the job until it has begun a few walks, and kills it in the middle of the last. */
async function walkedUntilKilled(directory: string, kill: number): Promise<void> {
  const child = startScript(WALKER, DIST, directory, String(LAUNCHES));
  let begun = 0;
  for await (const line of child.lines) {
    expect(line).toBe('begun');
    begun += 1;
    if (begun > kill % 3) break;
  }
  await wait((kill * 17) % 90);
  await child.kill();
}
