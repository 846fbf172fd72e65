import { expect, test } from 'vitest';
import { imported, importedTableKeeps, valueIn } from '../../ports/imported-table.suite.ts';
import { launchCorpusKeeps, launchOf, type SuiteLaunches } from '../../ports/launches.suite.ts';
import type { Launch } from '../../ports/launches.ts';
import type { TableStore } from '../../ports/tables.ts';
import { IMPORTED_AT, onEachEngine, servedFrom } from '../../testing/imported-tables.ts';
import { memoryLaunchCorpus } from '../../testing/twins/launches.ts';
import { launchCorpus } from './launches.ts';

const ROWS = {
  first: launchOf('mint-a', 'wallet-a', false),
  second: launchOf('mint-b', 'wallet-b', true),
  third: launchOf('mint-c', 'wallet-c', false),
  shownAs: ({ deployer }: Launch) => deployer,
};

async function served(store: TableStore<Launch>, world: SuiteLaunches, max?: number) {
  const origin = world.simulated ? 'simulated' : 'observed';
  if (world.launches !== null) await imported(store, 'one', world.launches, { origin });
  const table = servedFrom(launchCorpus, store, max);
  await table.poll();
  return table;
}

async function lookedUp(store: TableStore<Launch>, wallets: readonly string[]) {
  const table = servedFrom(launchCorpus, store);
  await table.poll();
  return valueIn(await table.lookUp(wallets));
}

async function countsIn(store: TableStore<Launch>) {
  const { found } = await lookedUp(store, ['wallet-a', 'wallet-b']);
  return [...found.values()];
}

launchCorpusKeeps('a memory', async (world) =>
  memoryLaunchCorpus({ ...world, as_of: IMPORTED_AT }),
);

onEachEngine(({ empty, database }) => {
  importedTableKeeps('the table of launches', ROWS, () => empty(launchCorpus));
  launchCorpusKeeps('a corpus held in memory', async (world) =>
    served(await empty(launchCorpus), world),
  );
  launchCorpusKeeps('a corpus too large for memory', async (world) =>
    served(await empty(launchCorpus), world, 1),
  );

  const early = launchOf('mint-a', 'wallet-a', null);
  const later = { last_checked_at: early.last_checked_at + 60 };
  const outcome = async (...checks: readonly Launch[]) => {
    const store = await empty(launchCorpus);
    for (const check of checks) await imported(store, 'one', [check]);
    return countsIn(store);
  };

  test('a later check settles a launch', async () => {
    const died = { ...launchOf('mint-a', 'wallet-a', false), ...later };
    expect(await outcome(early, died)).toEqual([
      { deployer: 'wallet-a', launches_settled: 1, died: 1 },
    ]);
  });

  test('a settled launch stays settled when a later check is blind', async () => {
    const died = launchOf('mint-a', 'wallet-a', false);
    expect(await outcome(died, { ...early, ...later })).toEqual([
      { deployer: 'wallet-a', launches_settled: 1, died: 1 },
    ]);
  });

  test('an earlier check that comes late changes nothing', async () => {
    const lived = { ...launchOf('mint-a', 'wallet-a', true), ...later };
    expect(await outcome(lived, launchOf('mint-a', 'wallet-a', false))).toEqual([
      { deployer: 'wallet-a', launches_settled: 1, died: 0 },
    ]);
  });

  test('of a mint that several imports saw only the best row is kept', async () => {
    const store = await empty(launchCorpus);
    await imported(store, 'one', [ROWS.first, launchOf('mint-d', 'wallet-a', true)]);
    await imported(store, 'one', [ROWS.first, launchOf('mint-d', 'wallet-a', null), ROWS.second]);
    const kept = await database().query<{ mint: string; import_id: number }>(
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
    const store = await empty(launchCorpus);
    await imported(store, 'one', [launchOf('mint-a', 'wallet-a', null)]);
    await imported(store, 'two', [launchOf('mint-a', 'wallet-b', false)]);
    expect(await countsIn(store)).toEqual([{ deployer: 'wallet-b', launches_settled: 1, died: 1 }]);
  });

  test('more wallets than a page are loaded, each once', async () => {
    const store = await empty(launchCorpus);
    const launches = Array.from({ length: 6_001 }, (_, i) =>
      launchOf(`mint-${i}`, `wallet-${i % 5_003}`, i % 2 === 0),
    );
    await imported(store, 'one', launches);
    const wallets = launches.map(({ deployer }) => deployer);
    const { found, settled_launches } = await lookedUp(store, wallets);
    expect([found.size, settled_launches]).toEqual([5_003, 6_001]);
  });
});
