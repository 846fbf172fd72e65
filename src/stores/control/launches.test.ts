import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { why } from '../../evidence/reasons.ts';
import {
  launchCorpusKeeps,
  launchOf,
  type SuiteLaunches,
} from '../../ports/launches/launches.suite.ts';
import type { CorpusTable, CorpusTablePort, Launch } from '../../ports/launches/table.ts';
import {
  endOf,
  factsOf,
  imported,
  importTableKeeps,
  type MadeTable,
  numbered,
  valueIn,
} from '../../ports/tables/table-import.suite.ts';
import { memoryLaunchCorpus } from '../../testing/memory/launch-corpus.ts';
import { memoryCorpusTable } from '../../testing/memory/launch-table.ts';
import {
  freshPgliteDirectory,
  NO_POSTGRES,
  type TestPostgres,
  testPostgres,
} from '../../testing/postgres.ts';
import { corpusSnapshot, WALLETS_IN_MEMORY_MAX } from '../snapshots/launches.ts';
import type { Database } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { openPglite } from './engine/pglite.ts';
import { openPostgres } from './engine/postgres.ts';
import { corpusStore } from './launches.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../migrations/control');
const LIVE = { simulated: false, secret_fingerprint: 'aaaa', previous_fingerprint: null };
const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const POLL_MS = 10;
const CLOSED = async () => undefined;

// Each row is of a wallet of its own, so that what readers see can be told from the counts.
const ROWS = {
  first: launchOf('mint-a', 'wallet-a', false),
  second: launchOf('mint-b', 'wallet-b', true),
  third: launchOf('mint-c', 'wallet-c', false),
  shownAs: ({ deployer }: Launch) => deployer,
};

function madeOf(table: CorpusTable): MadeTable<Launch, CorpusTablePort> {
  const seen = async () => {
    const counts = valueIn(await table.countsOf(['wallet-a', 'wallet-b', 'wallet-c']));
    return counts.map(({ deployer }) => deployer);
  };
  return { table, seen, close: CLOSED };
}

async function served(table: CorpusTable, world: SuiteLaunches, walletsInMemoryMax: number) {
  if (world.launches !== null) {
    const origin = world.simulated ? 'simulated' : 'observed';
    const { id } = valueIn(await table.begin({ ...factsOf('one'), origin }));
    valueIn(await table.stage(id, numbered(...world.launches)));
    valueIn(await table.complete(id, endOf(world.launches.length)));
  }
  const snapshot = snapshotOf(table, walletsInMemoryMax);
  await snapshot.poll();
  return { corpus: snapshot.corpus, close: CLOSED };
}

function snapshotOf(table: CorpusTable, walletsInMemoryMax = WALLETS_IN_MEMORY_MAX) {
  return corpusSnapshot({ table, pollMs: POLL_MS, walletsInMemoryMax, onFault: () => undefined });
}

describe('launches in memory', () => {
  launchCorpusKeeps('the memory', async ({ launches, simulated }) => ({
    corpus: memoryLaunchCorpus({ launches, simulated, as_of: NOW }),
    close: CLOSED,
  }));
  importTableKeeps('the memory', ROWS, async () => madeOf(memoryCorpusTable().table));
  launchCorpusKeeps('a snapshot of the memory', (world) =>
    served(memoryCorpusTable().table, world, WALLETS_IN_MEMORY_MAX),
  );
  settling('the memory', async () => memoryCorpusTable().table);

  test('while the store is silent what was loaded goes on answering', async () => {
    const { table, fallSilent } = memoryCorpusTable();
    const { corpus, poll } = snapshotOf(table);
    await imported(table, 'one', [ROWS.first]);
    await poll();
    fallSilent(why('store_unreadable', { what: 'The store', fault: 'it is down' }));
    await poll();
    expect([...valueIn(await corpus.lookUp(['wallet-a'])).found.keys()]).toEqual(['wallet-a']);
  });
});

/** How a later check of a launch takes the place of an earlier one. */
function settling(name: string, fresh: () => Promise<CorpusTable>) {
  const early = launchOf('mint-a', 'wallet-a', null);
  const later = { last_checked_at: early.last_checked_at + 60 };
  const outcome = async (...checks: readonly Launch[]) => {
    const table = await fresh();
    for (const check of checks) await imported(table, 'one', [check]);
    return valueIn(await table.countsOf(['wallet-a']));
  };

  test(`a later check settles a launch in ${name}`, async () => {
    const died = { ...launchOf('mint-a', 'wallet-a', false), ...later };
    expect(await outcome(early, died)).toEqual([
      { deployer: 'wallet-a', launches_settled: 1, died: 1 },
    ]);
  });

  test(`a settled launch stays settled in ${name} when a later check is blind`, async () => {
    const died = launchOf('mint-a', 'wallet-a', false);
    expect(await outcome(died, { ...early, ...later })).toEqual([
      { deployer: 'wallet-a', launches_settled: 1, died: 1 },
    ]);
  });

  test(`an earlier check that comes late changes nothing in ${name}`, async () => {
    const lived = { ...launchOf('mint-a', 'wallet-a', true), ...later };
    expect(await outcome(lived, launchOf('mint-a', 'wallet-a', false))).toEqual([
      { deployer: 'wallet-a', launches_settled: 1, died: 0 },
    ]);
  });
}

function stored(name: string, opened: () => Promise<Database>, closed: () => Promise<void>) {
  describe(`launches in ${name}`, () => {
    let database: Database;
    beforeAll(async () => {
      database = await opened();
      await migrate(database, MIGRATIONS, LIVE);
    }, 120_000);
    afterAll(async () => {
      await database.close();
      await closed();
    });
    const fresh = async () => {
      await database.query('truncate exchange_labels, launches, table_imports cascade');
      return corpusStore(database, () => NOW);
    };

    importTableKeeps(name, ROWS, async () => madeOf(await fresh()));
    launchCorpusKeeps(`a snapshot of ${name}`, async (world) =>
      served(await fresh(), world, WALLETS_IN_MEMORY_MAX),
    );
    launchCorpusKeeps(`a corpus of ${name} too large for memory`, async (world) =>
      served(await fresh(), world, 1),
    );
    settling(name, fresh);

    test('of a mint that several imports saw only the best row is kept', async () => {
      const table = await fresh();
      await imported(table, 'one', [ROWS.first, launchOf('mint-d', 'wallet-a', true)]);
      await imported(table, 'one', [ROWS.first, launchOf('mint-d', 'wallet-a', null), ROWS.second]);
      const kept = await database.query<{ mint: string; import_id: number }>(
        'select mint, i.id - (select min(id) from table_imports) as import from launches ' +
          'join table_imports i on i.id = import_id order by mint',
      );
      expect(kept).toEqual([
        { mint: 'mint-a', import: 1 },
        { mint: 'mint-b', import: 1 },
        { mint: 'mint-d', import: 0 },
      ]);
    });

    test('a mint whose better row names another wallet counts for that wallet alone', async () => {
      const table = await fresh();
      await imported(table, 'one', [launchOf('mint-a', 'wallet-a', null)]);
      await imported(table, 'two', [launchOf('mint-a', 'wallet-b', false)]);
      const counts = valueIn(await table.countsOf(['wallet-a', 'wallet-b']));
      expect(counts).toEqual([{ deployer: 'wallet-b', launches_settled: 1, died: 1 }]);
    });

    test('more wallets than a page are loaded, each once', async () => {
      const table = await fresh();
      const launches = Array.from({ length: 6_001 }, (_, i) =>
        launchOf(`mint-${i}`, `wallet-${i % 5_003}`, i % 2 === 0),
      );
      await imported(table, 'one', launches);
      const snapshot = snapshotOf(table);
      await snapshot.poll();
      const wallets = launches.map(({ deployer }) => deployer);
      const { found, settled_launches } = valueIn(await snapshot.corpus.lookUp(wallets));
      expect([found.size, settled_launches]).toEqual([5_003, 6_001]);
    });
  });
}

let directory = '';
stored(
  'the embedded store',
  async () => {
    directory = await freshPgliteDirectory();
    return openPglite(directory);
  },
  () => rm(dirname(directory), { recursive: true }),
);

describe.skipIf(NO_POSTGRES !== null)('a server (or skipped: no PostgreSQL server)', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await testPostgres();
  }, 120_000);
  stored(
    'PostgreSQL',
    async () => openPostgres(await server.freshDatabase()),
    () => server.stop(),
  );
});
