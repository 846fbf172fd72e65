// A process that screens watched addresses is killed again and again in the middle of it, while
// the list changes under it: each change is told once, in the log and to the chats, without a gap.

import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchlistTable } from './features/watchlist/watchlist.store.ts';
import type { Database } from './stores/control/engine/database.ts';
import { migrate } from './stores/control/engine/migrate.ts';
import { openPglite } from './stores/control/engine/pglite.ts';
import { evm } from './testing/addresses.ts';
import { LIVE } from './testing/control-store.ts';
import { addIntegration, waitingFor } from './testing/integrations.ts';
import { startScript } from './testing/killed-script.ts';
import { freshPgliteDirectory, MIGRATIONS } from './testing/postgres.ts';
import { rowsAs } from './testing/rows-as.ts';
import { trialsOf } from './testing/trials.ts';

const DIST = new URL('../dist/', import.meta.url).href;
/** How often it is killed: the suite has a little time for it, a trial of its own has more. */
const KILLS = trialsOf('EXHIBIT_TEST_KILLS', 2, 25);
const ADDRESSES = 20;
const MEMBERSHIP = 'mem_1';
const CHAT = 'int_1';
const CONTEXT = { simulated: false, nowMs: Date.now };

/**
 * The program of the killed process: the job over a store on disk, under a list of all or of none.
 */
const SCREENER = `
const [dist, directory, version, listed] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { setTimeout: wait } = await import('node:timers/promises');
const { read, unread } = await load('evidence/reading.js');
const { why } = await load('evidence/reasons.js');
const { openPglite } = await load('stores/control/engine/pglite.js');
const { leaseTable } = await load('stores/control/leases.js');
const { watchScreeningTable } = await load('features/watchlist/watchlist.store.js');
const { rescreenRounds } = await load('features/watchlist/rescreen.job.js');
const source = { name: 'Memory', url: 'memory:', as_of: 0, kind: 'table', simulated: false };
const say = (port, value) => read(value, { port, source });
const silent = (port) => unread(port, why('store_unreadable', { what: 'It', fault: 'down' }));
const facts = { name: 'A list', published: '2026-09-20', sha256: version };
const entry = (address) => ({ address, entity: 'Somebody', uid: '1', programs: [] });
const look = async (addresses) => say('sanctions_list', {
  list: facts,
  found: new Map(listed === 'all' ? addresses.map((one) => [one, [entry(one)]]) : []),
});
const database = await openPglite(directory);
const context = { simulated: false, nowMs: () => Date.now() };
const screening = watchScreeningTable(database, context, () => undefined);
rescreenRounds({
  ports: {
    sanctionsList: { lookUp: look, listed: async () => silent('sanctions_list') },
    otherLists: { lookUp: async () => silent('other_lists') },
    exchangeLabels: { lookUp: async () => silent('exchange_labels') },
    flaggedAddresses: { lookUp: async () => silent('flagged_addresses') },
    transferHistory: {
      chainsRead: async () => silent('transfer_history'),
      neighbourhoods: async (all) => new Map(all.map((one) => [one, silent('transfer_history')])),
    },
    entityClusters: { clusterOf: async () => silent('entity_clusters') },
    counterpartyRing: { meet: async () => silent('counterparty_ring') },
  },
  screening: {
    ...screening,
    due: async (asked) => {
      const due = await screening.due(asked);
      if (asked.of === 'tables' && due.checked && due.value.length === 0) console.log('ended');
      return due;
    },
    commit: async (screened) => { console.log('begun'); return screening.commit(screened); },
  },
  versions: {
    now: async () => say('served_versions', { list: { read: true, facts }, tables: [] }),
  },
  clusterChains: [],
  leases: { ...leaseTable(database, version, context), take: async (...args) => {
    const others = "update leases set held_until = '-infinity' where holder <> $1";
    await database.query(others, [version]);
    return leaseTable(database, version, context).take(...args);
  } },
  refresh: async () => undefined,
  simulated: false, now: () => Math.floor(Date.now() / 1000), walkMs: 1000,
  everyS: 0.01, sleep: (ms) => wait(ms),
  onFault: ({ reason }) => console.log('failed ' + reason),
  onBug: (error) => console.log('failed ' + error),
}, 'tables');
`;

test(
  'tells each change once in the log and to the chats, and leaves no gap',
  async () => {
    const directory = await freshPgliteDirectory();
    const first = await openPglite(directory);
    await migrate(first, MIGRATIONS, LIVE);
    await addIntegration(first, CHAT, MEMBERSHIP);
    const watchlist = watchlistTable(first, CONTEXT);
    for (let n = 0; n < ADDRESSES; n += 1) {
      await watchlist.add(MEMBERSHIP, evm(`watched ${n}`), ADDRESSES);
    }
    await first.close();
    await screenedToTheEnd(directory, 'v0', 'none');
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await screenedUntilKilled(directory, kill);
    }
    await screenedToTheEnd(directory, 'end', 'all');

    const opened = await openPglite(directory);
    const last = await expectOnce(opened);
    expect([...last.values()]).toEqual(Array.from({ length: ADDRESSES }, () => 'entered'));
    await opened.close();
    await rm(dirname(directory), { recursive: true });
  },
  120_000 + KILLS * 20_000,
);

/** Holds the log against the chats, and gives the last change of each address. */
async function expectOnce(database: Database): Promise<ReadonlyMap<string, string>> {
  const rows = await rowsAs<{ seq: number; watch_id: string; change: string }>(
    database,
    'select seq::float8 as seq, watch_id, change from watch_changes order by seq',
  );
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1));
  const last = new Map<string, string>();
  for (const { watch_id, change } of rows) {
    expect(change).toBe(last.get(watch_id) === 'entered' ? 'left' : 'entered');
    last.set(watch_id, change);
  }
  const told = await waitingFor(database, CHAT);
  expect(told.map((key) => key.split(':')[0])).toEqual(rows.map(({ watch_id }) => watch_id));
  expect(new Set(told).size).toBe(told.length);
  return last;
}

/** Runs the job until it has begun some addresses, and kills it in the middle of the last. */
async function screenedUntilKilled(directory: string, kill: number): Promise<void> {
  const child = startScript(SCREENER, DIST, directory, `v${kill}`, kill % 2 === 0 ? 'none' : 'all');
  let begun = 0;
  for await (const line of child.lines) {
    if (line === 'ended') break;
    expect(line).toBe('begun');
    begun += 1;
    if (begun > 2 + (kill % 17)) break;
  }
  await wait((kill * 13) % 40);
  await child.kill();
}

async function screenedToTheEnd(
  directory: string,
  version: string,
  listed: 'all' | 'none',
): Promise<void> {
  const child = startScript(SCREENER, DIST, directory, version, listed);
  for await (const line of child.lines) {
    if (line === 'ended') break;
    expect(line).toBe('begun');
  }
  await child.kill();
}
