import { describe, expect, test } from 'vitest';
import { imported, importedTableKeeps, valueIn } from '../../ports/imported-table.suite.ts';
import { launchCorpusKeeps, launchOf, type SuiteLaunches } from '../../ports/launches.suite.ts';
import type { Launch } from '../../ports/launches.ts';
import type { TableStore } from '../../ports/tables.ts';
import { IMPORTED_AT, onEachEngine, serveTable, storeOf } from '../../testing/imported-tables.ts';
import { rowsAs } from '../../testing/rows-as.ts';
import { memoryLaunchCorpus } from '../../testing/twins/launches.ts';
import { LAUNCH_WINDOW_S, launchAnswer, launchCorpus } from './launches.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const MINT = 'FWZedVtyKQtP4CXhT7XDnLidRADrJknmZGA2qNjpTPg8';
const WALLET = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';
const LAUNCHED = Date.UTC(2026, 10, 1) / 1_000;

const TOLD = { source: 'one', source_url: null, otherwise: null, imported_at: NOW };

/** A database whose statements are heard before they are asked. */
function overHeard(
  database: Parameters<typeof storeOf>[0],
  hear: (sql: string) => void,
): typeof database {
  return {
    ...database,
    query: (...call) => {
      hear(call[0]);
      return database.query(...call);
    },
  };
}

type Fields = { readonly [name: string]: string };

function rawRow(more: Fields) {
  const fields = {
    mint: MINT,
    deployer: WALLET,
    launched_at: '2026-11-01T00:00:00Z',
    listed_after_window: 'false',
    last_checked_at: '2026-11-03T00:00:00Z',
    ...more,
  };
  return { line: 1, fields: new Map(Object.entries(fields)) };
}

function judged(more: Fields, layout: 'rows' | 'tagpack' = 'rows') {
  const verdict = launchCorpus.judge(TOLD)(rawRow(more), layout);
  return 'code' in verdict ? verdict : verdict.row;
}

describe('a row of the corpus', () => {
  test('is a launch, settled once its window had passed and the answer is known', () => {
    expect(judged({})).toEqual({
      mint: MINT,
      deployer: WALLET,
      launched_at: LAUNCHED,
      listed_after_window: false,
      last_checked_at: LAUNCHED + 172_800,
      settled: true,
    });
  });

  test.each<[name: string, more: Fields, settled: boolean]>([
    [
      'checked exactly when its window had passed',
      { last_checked_at: `${LAUNCHED + LAUNCH_WINDOW_S}` },
      true,
    ],
    ['checked a second before', { last_checked_at: `${LAUNCHED + LAUNCH_WINDOW_S - 1}` }, false],
    ['whose listing is not known', { listed_after_window: '' }, false],
    ['whose listing is written null', { listed_after_window: 'null' }, false],
    ['still listed', { listed_after_window: 'TRUE' }, true],
    [
      'with times in an offset of their own',
      { last_checked_at: '2026-11-02T02:00:00+02:00' },
      true,
    ],
    ['with fractions of a second', { launched_at: '2026-11-01T00:00:00.123456Z' }, true],
  ])('%s', (_name, more, settled) => {
    expect(judged(more)).toMatchObject({ settled });
  });

  test.each<[name: string, more: Fields, code: string, about: string]>([
    ['no mint', { mint: '' }, 'missing_field', 'mint'],
    ['no time of launch', { launched_at: '' }, 'missing_field', 'launched_at'],
    [
      'a deployer whose case was lost',
      { deployer: WALLET.toLowerCase() },
      'bad_address',
      'deployer',
    ],
    ['an EVM deployer', { deployer: `0x${'1'.repeat(40)}` }, 'wrong_form_for_chain', 'deployer'],
    ['the system program as deployer', { deployer: '1'.repeat(32) }, 'system_address', 'deployer'],
    ['a time in words', { launched_at: 'yesterday' }, 'bad_time', 'launched_at'],
    ['a time without an offset', { launched_at: '2026-11-01T00:00:00' }, 'bad_time', 'launched_at'],
    ['milliseconds', { launched_at: `${LAUNCHED}000` }, 'bad_time', 'launched_at'],
    [
      'a launch before the chain',
      { launched_at: '2019-01-01T00:00:00Z' },
      'bad_time',
      'launched_at',
    ],
    ['a check in the future', { last_checked_at: `${NOW + 1}` }, 'bad_time', 'last_checked_at'],
    [
      'a check before the launch',
      { last_checked_at: `${LAUNCHED - 1}` },
      'bad_time',
      'last_checked_at',
    ],
    ['a listing that is no flag', { listed_after_window: '1' }, 'bad_flag', 'listed_after_window'],
  ])('is refused for %s', (_name, more, code, about) => {
    expect(judged(more)).toEqual({ code, about });
  });

  test('does not come from a TagPack', () => {
    expect(judged({}, 'tagpack')).toMatchObject({ code: 'unreadable_row' });
  });
});

test('a wallet is flagged where every settled launch died, else on record', () => {
  const answer = (launches_settled: number, died: number) =>
    launchAnswer({ deployer: WALLET, launches_settled, died });
  expect([answer(1, 1), answer(7, 7)]).toEqual(['flagged', 'flagged']);
  expect([answer(1, 0), answer(7, 6)]).toEqual(['record', 'record']);
});

test('an import of launches is dated by the newest check in it', () => {
  expect(launchCorpus.judge(TOLD)(rawRow({}), 'rows')).toMatchObject({
    dated_at: LAUNCHED + 172_800,
  });
});

const ROWS = {
  first: launchOf('mint-a', 'wallet-a', false),
  second: launchOf('mint-b', 'wallet-b', true),
  third: launchOf('mint-c', 'wallet-c', false),
  shownAs: ({ deployer }: Launch) => deployer,
};

async function served(store: TableStore<Launch>, world: SuiteLaunches, max?: number) {
  const origin = world.simulated ? 'simulated' : 'observed';
  if (world.launches !== null) await imported(store, 'one', world.launches, { origin });
  const table = serveTable(launchCorpus, store, max);
  await table.poll();
  return table;
}

async function lookedUp(store: TableStore<Launch>, wallets: readonly string[]) {
  const table = serveTable(launchCorpus, store);
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

onEachEngine(({ empty, database, fallSilent }) => {
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
    const kept = await rowsAs<{ mint: string; import_id: number }>(
      database(),
      'select mint, i.id - (select min(id) from table_imports) as import from launches ' +
        'join table_imports i on i.id = import_id order by mint',
    );
    expect(kept).toEqual([
      { mint: 'mint-a', import: 1 },
      { mint: 'mint-b', import: 1 },
      { mint: 'mint-d', import: 0 },
    ]);
  });

  test('an import asks the store no more often, however many were made before it', async () => {
    await empty(launchCorpus);
    const asked: string[] = [];
    const heard = overHeard(database(), (sql) => void asked.push(sql));
    const store = storeOf(heard, launchCorpus, () => NOW);
    const statements: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      asked.length = 0;
      await imported(store, 'one', [launchOf(`mint-${n}`, 'wallet-a', true)]);
      statements.push(asked.length);
    }
    expect(statements.at(-1)).toBe(statements[2]);
  });

  test('what an import could not forget any more is forgotten after the next one', async () => {
    await empty(launchCorpus);
    let isEnding = false;
    const ending = overHeard(database(), (sql) => {
      if (isEnding && sql.includes('delete from launches')) fallSilent(true);
    });
    const store = storeOf(ending, launchCorpus, () => NOW);
    await imported(store, 'one', [launchOf('mint-a', 'wallet-a', null)]);
    isEnding = true;
    await imported(store, 'one', [launchOf('mint-a', 'wallet-a', true)]);
    const rows = () => database().query("select from launches where mint = 'mint-a'");
    fallSilent(false);
    isEnding = false;
    expect(await rows()).toHaveLength(2);
    await imported(store, 'one', [launchOf('mint-b', 'wallet-a', true)]);
    expect(await rows()).toHaveLength(1);
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
