import { describe, expect, test } from 'vitest';
import { collect } from '../../evidence/measure.ts';
import { Part, Read, Unread } from '../../evidence/reading.ts';
import {
  exchangeLabelsKeep,
  labelOf,
  type SuiteLabels,
} from '../../ports/exchange-labels.suite.ts';
import {
  endOf,
  factsOf,
  imported,
  importedTableKeeps,
  numbered,
  rowsThatCount,
  valueIn,
} from '../../ports/imported-table.suite.ts';
import type { FlaggedRow } from '../../ports/rug-flags.ts';
import type {
  ChangesRequest,
  ExchangeLabel,
  LabelChange,
  LabelChanges,
  TableStore,
} from '../../ports/tables.ts';
import { evm } from '../../testing/addresses.ts';
import {
  IMPORTED_AT,
  keptTables,
  onEachEngine,
  serveTable,
} from '../../testing/imported-tables.ts';
import { flaggedRow, memoryFlaggedAddresses } from '../../testing/twins/rug-flags.ts';
import { memoryExchangeLabels } from '../../testing/twins/tables.ts';
import { flaggedAddresses } from './flagged-rows.ts';
import { exchangeLabels } from './labels.ts';

const DAY_S = 86_400;
const A = '0x1111111111111111111111111111111111111111';
const B = '0x2222222222222222222222222222222222222222';
const C = '0x3333333333333333333333333333333333333334';
const MAKER = evm('maker');

const label = (address: string, source = 'one') => labelOf(address, source);
const flag = (address: string, creator: string | null = null) =>
  flaggedRow(address, { creator, source: 'one' });
const addressOf = ({ address }: { readonly address: string }) => address;

const LABELS = { first: label(A), second: label(B), third: label(C), shownAs: addressOf };
const FLAGS = { first: flag(A), second: flag(B), third: flag(C), shownAs: addressOf };

const ALL: ChangesRequest = { beforeId: null, matchKey: null, limit: 100 };

function changed(address: string, over: Partial<ExchangeLabel> = {}): ExchangeLabel {
  return { ...label(address), ...over };
}

function shown({ change, address, label, before }: LabelChange): string {
  const was = before === null ? '' : ` (was ${before.label})`;
  return `${change} ${address.slice(0, 4)} ${label}${was}`;
}

/** Imports the labels source by source, and serves them. */
async function served(store: TableStore<ExchangeLabel>, world: SuiteLabels, max?: number) {
  const sources = new Map<string, ExchangeLabel[]>();
  for (const one of world.labels === null ? [] : world.labels) collect(sources, one.source, one);
  const origin = world.simulated ? 'simulated' : 'observed';
  for (const [source, labels] of sources) await imported(store, source, labels, { origin });
  const table = serveTable(exchangeLabels, store, max);
  await table.poll();
  return table;
}

exchangeLabelsKeep('a memory', async (world) =>
  memoryExchangeLabels({ ...world, as_of: IMPORTED_AT }),
);

onEachEngine(({ empty, database }) => {
  importedTableKeeps('the table of labels', LABELS, () => empty(exchangeLabels));
  importedTableKeeps('the table of flagged addresses', FLAGS, () => empty(flaggedAddresses));
  exchangeLabelsKeep('a table held in memory', async (world) =>
    served(await empty(exchangeLabels), world),
  );
  exchangeLabelsKeep('a table too large for memory', async (world) =>
    served(await empty(exchangeLabels), world, 1),
  );

  test('a re-import replaces the rows of its source and leaves the others', async () => {
    const table = await empty(exchangeLabels);
    await imported(table, 'one', [label(A), label(B)]);
    await imported(table, 'two', [label(B, 'two')]);
    await imported(table, 'one', [label(C)]);
    const rows = valueIn(await table.under([A, B, C]));
    const held = rows.map(({ address, source }) => `${address} ${source}`);
    expect(held.sort()).toEqual([`${B} two`, `${C} one`]);
    expect(await database().query('select 1 from exchange_labels')).toHaveLength(2);
  });

  test('of two imports of one source at once, one alone is in force', async () => {
    const table = await empty(exchangeLabels);
    const one = valueIn(await table.begin(factsOf('one')));
    const two = valueIn(await table.begin(factsOf('one')));
    valueIn(await table.stage(one.id, numbered(label(A))));
    valueIn(await table.stage(two.id, numbered(label(B))));
    await Promise.all([table.complete(one.id, endOf(1)), table.complete(two.id, endOf(1))]);
    const standing = valueIn(await table.inForce());
    expect(standing).toHaveLength(1);
    const rows = valueIn(await table.under([A, B]));
    expect(rows.map(addressOf)).toEqual([standing[0]?.id === one.id ? A : B]);
  });

  test('an import left behind by a process that ended is forgotten after a day', async () => {
    let now = IMPORTED_AT;
    const table = await empty(exchangeLabels, () => now);
    const left = valueIn(await table.begin(factsOf('one')));
    valueIn(await table.stage(left.id, numbered(label(A))));
    now += 2 * DAY_S;
    await imported(table, 'two', [label(B, 'two')]);
    expect(await database().query('select n from exchange_labels')).toHaveLength(1);
    expect(await table.complete(left.id, endOf(1))).toBeInstanceOf(Unread);
  });

  test('a table that changes while it is loaded is not used half', async () => {
    const store = await empty(exchangeLabels);
    await imported(store, 'one', [label(A), label(B)]);
    await database().query('delete from exchange_labels where n = 2');
    const table = serveTable(exchangeLabels, store);
    await table.poll();
    const reading = await table.lookUp([A]);
    expect(reading instanceof Unread && reading.why.reason).toContain('changed while');
  });

  test('many rows are loaded page by page, each once', async () => {
    const store = await empty(exchangeLabels);
    const rows = Array.from({ length: 12_001 }, (_, i) =>
      label(`0x${(i + 0x10000000).toString(16).padStart(40, '5')}`),
    );
    await imported(store, 'one', rows);
    const table = serveTable(exchangeLabels, store);
    await table.poll();
    const { found, table_rows } = valueIn(await table.lookUp(rows.map(addressOf)));
    expect([found.size, table_rows]).toEqual([rows.length, rows.length]);
  });

  test('a flagged row comes back with everything that its source said, once', async () => {
    const store = await empty(flaggedAddresses);
    await imported(store, 'one', [flag(A, MAKER), flag(B)]);
    await imported(store, 'two', [flag(B)]);
    await imported(store, 'one', [flag(A, MAKER)]);
    const table = serveTable(flaggedAddresses, store);
    await table.poll();
    const look = valueIn(await table.lookUp([A, B, MAKER]));
    expect(look.found.get(A)).toEqual([flag(A, MAKER)]);
    expect(look.created.get(MAKER)).toHaveLength(1);
    expect(look.table_rows).toBe(2);
    expect(valueIn(await store.inForce())[0]?.origin).toBe('observed');
    expect(await rowsThatCount(store)).toHaveLength(2);
  });
});

onEachEngine(({ empty, changes }) => {
  describe('the change log', () => {
    const logged = async () => ({ table: await empty(exchangeLabels), changes: changes() });
    const told = async (
      log: { readonly changes: LabelChanges },
      over: Partial<ChangesRequest> = {},
    ) => valueIn(await log.changes.newest({ ...ALL, ...over })).map(shown);

    test('is unread until an import has completed, whatever is staged', async () => {
      const log = await logged();
      const { id } = valueIn(await log.table.begin(factsOf('one')));
      valueIn(await log.table.stage(id, numbered(changed(A))));
      const reading = await log.changes.newest(ALL);
      expect(reading instanceof Unread && reading.why.code).toBe('table_never_imported');
    });

    test('tells what an import added, changed and removed, the newest first', async () => {
      const log = await logged();
      await imported(log.table, 'one', [changed(A, { label: 'a' }), changed(B, { label: 'b' })]);
      expect(await told(log)).toEqual(['added 0x22 b', 'added 0x11 a']);
      await imported(log.table, 'one', [changed(A, { label: 'other' })]);
      expect(await told(log)).toEqual([
        ...['removed 0x22 b', 'changed 0x11 other (was a)'],
        ...['added 0x22 b', 'added 0x11 a'],
      ]);
    });

    test('tells nothing of an import that changed nothing, nor of another source', async () => {
      const log = await logged();
      await imported(log.table, 'one', [changed(A, { label: 'a' })]);
      await imported(log.table, 'one', [changed(A, { label: 'a' })]);
      await imported(log.table, 'two', [changed(A, { label: 'b', source: 'two' })]);
      expect(await told(log)).toEqual(['added 0x11 b', 'added 0x11 a']);
    });

    test('carries the import, its file and its source of each change', async () => {
      const log = await logged();
      const record = await imported(log.table, 'one', [changed(A)]);
      const [change] = valueIn(await log.changes.newest(ALL));
      const { id: import_id, completed_at: at, sha256, origin, source } = record;
      expect(change).toMatchObject({ import_id, at, sha256, origin, source });
    });

    test('answers a page as a part that says so, and goes on from its last', async () => {
      const log = await logged();
      await imported(log.table, 'one', [changed(A, { label: 'a' }), changed(B, { label: 'b' })]);
      expect(await log.changes.newest({ ...ALL, limit: 1 })).toBeInstanceOf(Part);
      const [newest] = valueIn(await log.changes.newest(ALL));
      expect(await told(log, { beforeId: Number(newest?.id) })).toEqual(['added 0x11 a']);
      expect(await told(log, { matchKey: B })).toEqual(['added 0x22 b']);
    });

    test('a label that is imported again keeps the day on which it was first seen', async () => {
      const log = await logged();
      await imported(log.table, 'one', [changed(A, { first_seen: '2026-01-02' })]);
      await imported(log.table, 'one', [changed(A, { first_seen: '2026-03-04' })]);
      const [held] = valueIn(await log.table.under([A]));
      expect(held?.first_seen).toBe('2026-01-02');
      expect(await told(log)).toHaveLength(1);
    });
  });
});

describe('a table that is served', () => {
  const { empty, fallSilent } = keptTables();

  test('goes on answering what was loaded while the store is silent', async () => {
    const store = await empty(exchangeLabels);
    const table = serveTable(exchangeLabels, store);
    fallSilent(true);
    await table.poll();
    expect(await table.lookUp([A])).toBeInstanceOf(Unread);
    fallSilent(false);
    await imported(store, 'one', [label(A)]);
    await table.poll();
    fallSilent(true);
    await table.poll();
    expect([...valueIn(await table.lookUp([A])).found.keys()]).toEqual([A]);
  });

  test('has read nothing before it was started, and says so', async () => {
    const reading = await serveTable(exchangeLabels, await empty(exchangeLabels)).lookUp([A]);
    expect(reading instanceof Unread && reading.why.reason).toBe(
      'the exchange-wallet table could not be read: it has not been loaded yet.',
    );
  });

  test('is asked of a store that is down in vain, where it is too large for memory', async () => {
    const store = await empty(exchangeLabels);
    const table = await served(store, { labels: [label(A), label(B)], simulated: false }, 1);
    fallSilent(true);
    expect(await table.lookUp([A])).toBeInstanceOf(Unread);
  });

  test('is polled again after a bug of the store', async () => {
    const store = await empty(exchangeLabels);
    const bugs: unknown[] = [];
    let broken = false;
    const inForce = async () => {
      if (broken) throw new Error('a bug');
      return store.inForce();
    };
    const table = serveTable(exchangeLabels, { ...store, inForce }, undefined, {
      onBug: (bug) => void bugs.push(bug),
    });
    await table.start();
    broken = true;
    await expect.poll(() => bugs.length).toBeGreaterThan(1);
    broken = false;
    await imported(store, 'one', [label(A)]);
    await expect.poll(async () => (await table.lookUp([A])) instanceof Unread).toBe(false);
    table.stop();
  });

  test('finds a new import by polling once it was started', async () => {
    const store = await empty(exchangeLabels);
    const table = serveTable(exchangeLabels, store);
    await table.start();
    await imported(store, 'one', [label(A)]);
    await expect.poll(async () => (await table.lookUp([A])) instanceof Unread).toBe(false);
    table.stop();
  });

  test('finds flagged rows by address and by maker, in any letter case', async () => {
    const store = await empty(flaggedAddresses);
    await imported(store, 'one', [flag(A, MAKER), flag(B)]);
    const table = serveTable(flaggedAddresses, store);
    await table.poll();
    const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`;
    const look = valueIn(await table.lookUp([upper(A), upper(MAKER), C]));
    expect([...look.found.keys()]).toEqual([A]);
    expect([...look.created.keys()]).toEqual([MAKER]);
    expect(look.table_rows).toBe(2);
    expect(look.found.get(A)).toEqual([flag(A, MAKER)]);
  });

  test('never imported, never loaded and too large are silence, never an empty table', async () => {
    const store = await empty(flaggedAddresses);
    const unstarted = serveTable(flaggedAddresses, store);
    expect(await unstarted.lookUp([A])).toBeInstanceOf(Unread);
    await unstarted.poll();
    const never = await unstarted.lookUp([A]);
    expect(never instanceof Unread && never.why.code).toBe('table_never_imported');
    await imported<FlaggedRow>(store, 'one', [flag(A), flag(B)]);
    const small = serveTable(flaggedAddresses, store, 1);
    await small.poll();
    const large = await small.lookUp([A]);
    expect(large instanceof Unread && large.why.reason).toContain('more than the 1 that are held');
    const memory = memoryFlaggedAddresses({ rows: null, as_of: 0, simulated: false });
    expect(await memory.lookUp([A])).toBeInstanceOf(Unread);
    await unstarted.poll();
    expect(await unstarted.lookUp([A])).toBeInstanceOf(Read);
  });
});
