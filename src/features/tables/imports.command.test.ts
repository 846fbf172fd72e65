import { describe, expect, test } from 'vitest';
import { why } from '../../evidence/reasons.ts';
import type { ImportOrder, ImportOutcome, ImportWatch, TableImport } from '../../ports/tables.ts';
import { ran } from '../../testing/recording-io.ts';
import { flaggedAddresses } from './flagged-rows.ts';
import { importCommand } from './imports.command.ts';
import { exchangeLabels } from './labels.ts';
import { launchCorpus } from './launches.ts';
import { otherLists } from './other-lists.ts';

const AT = Date.UTC(2026, 10, 21, 12) / 1_000;
const RECORD: TableImport = {
  id: 7,
  table_name: 'exchange_labels',
  source: 'exemplar',
  source_url: null,
  origin: 'observed',
  rows_accepted: 2_100,
  rows_refused: 2,
  rows_lost: 1,
  sha256: 'c'.repeat(64),
  as_of: AT - 3_600,
  dated_by: 'file',
  started_at: AT - 5,
  completed_at: AT,
};
const REFUSED = new Map([
  ['bad_address', 1],
  ['duplicate', 1],
]);
const COMPLETED: ImportOutcome = {
  outcome: 'completed',
  record: RECORD,
  refused: REFUSED,
  unread_columns: ['legal_basis', 'page'],
};

const tables = [exchangeLabels, launchCorpus, flaggedAddresses];
const tableCommands = [...tables.map(importCommand), importCommand(otherLists)];

/** Services that note what they were asked and end an import as they are told. */
function services(outcome: ImportOutcome = COMPLETED, simulated = false) {
  const orders: ImportOrder[] = [];
  const filled: string[] = [];
  const importFile = async (order: ImportOrder, watch: ImportWatch) => {
    orders.push(order);
    watch.onRefused({
      line: 3,
      code: 'bad_address',
      reason: 'no EVM, Solana, Bitcoin or Tron address',
    });
    for (const rows of [1_000, 50_000, 51_000, 100_000]) watch.onProgress(rows, rows, 200_000);
    return outcome;
  };
  const importerOf = (table: string) => {
    filled.push(table);
    return importFile;
  };
  return { orders, filled, tables: { simulated, now: () => AT, importerOf } };
}

function typed(line: string, has = services(), json = false) {
  return ran(line, tableCommands, has, { json, cwd: '/folder' });
}

describe('exhibit labels import', () => {
  test('imports the caller’s file as it was asked, names refused rows and counts', async () => {
    const has = services();
    const { status, lines, errors } = await typed(
      'labels import packs/a.yaml --source exemplar --role hot --source-url https://example.org/p',
      has,
    );
    expect(status).toBe(0);
    expect(has.orders).toEqual([
      {
        path: '/folder/packs/a.yaml',
        source: 'exemplar',
        source_url: 'https://example.org/p',
        otherwise: 'hot',
        origin: 'observed',
        as_of: null,
        acceptSmaller: false,
      },
    ]);
    expect(errors).toEqual([
      'line 3: bad_address: no EVM, Solana, Bitcoin or Tron address',
      '50,000 rows, 25%',
      '100,000 rows, 50%',
    ]);
    expect(lines).toEqual([
      'Imported 2,100 labels.',
      'import         7',
      'source         exemplar',
      'origin         observed',
      'refused        2',
      '  bad_address  1',
      '  duplicate    1',
      'not read       legal_basis, page',
      'dated          2026-11-21 11:00 UTC (as the file says)',
      `sha256         ${'c'.repeat(64)}`,
    ]);
  });

  test('gives one JSON document', async () => {
    const { lines } = await typed('labels import a.csv --source exemplar', services(), true);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        import_id: 7,
        table: 'exchange_labels',
        source: 'exemplar',
        source_url: null,
        origin: 'observed',
        rows_accepted: 2_100,
        rows_refused: 2,
        refused: { bad_address: 1, duplicate: 1 },
        rows_lost: 1,
        unread_columns: ['legal_basis', 'page'],
        sha256: 'c'.repeat(64),
        as_of: AT - 3_600,
        dated_by: 'file',
        completed_at: '2026-11-21T12:00:00Z',
      },
    ]);
  });

  test('exits 1 where no row was accepted', async () => {
    const none = { outcome: 'no_row_accepted', rows_refused: 1, refused: REFUSED } as const;
    const { status, errors } = await typed('labels import a.csv --source x', services(none));
    expect(status).toBe(1);
    expect(errors.at(-1)).toBe('No row was accepted (1 refused); nothing was imported.');
  });

  test('exits 1 where the file or the store could not be read, with the reason', async () => {
    const fault = why('file_unreadable', { fault: 'there is no such file' });
    const unread = { outcome: 'unread', why: fault } as const;
    const { status, errors } = await typed('labels import a.csv --source x', services(unread));
    expect(status).toBe(1);
    expect(errors.at(-1)).toBe('The file could not be read: there is no such file.');
  });

  test('exits 1 where it was stopped', async () => {
    const { status } = await typed(
      'labels import a.csv --source x',
      services({ outcome: 'stopped' }),
    );
    expect(status).toBe(1);
  });

  test.each([
    ['no file', 'labels import --source x'],
    ['no source of findings', 'findings import a.csv'],
    ['no source', 'labels import a.csv'],
    ['a source that is no name', 'labels import a.csv --source a/b'],
    ['a role that is none', 'labels import a.csv --source x --role warm'],
    ['a link that is none', 'labels import a.csv --source x --source-url example.org'],
    [
      'a link with a password',
      'labels import a.csv --source x --source-url https://a:b@example.org',
    ],
    ['an origin that is none', 'labels import a.csv --source x --origin guessed'],
    ['two files', 'labels import a.csv b.csv --source x'],
  ])('exits 2 for %s, and imports nothing', async (_name, line) => {
    const has = services();
    const { status } = await typed(line, has);
    expect(status).toBe(2);
    expect(has.orders).toEqual([]);
  });

  test('in the simulated world takes every row as made up', async () => {
    const has = services(COMPLETED, true);
    expect((await typed('labels import a.csv --source x', has)).status).toBe(0);
    expect(has.orders).toMatchObject([{ origin: 'simulated' }]);
    expect((await typed('labels import a.csv --source x --origin observed', has)).status).toBe(2);
  });
});

describe('exhibit corpus import', () => {
  test('needs a file alone', async () => {
    const has = services({
      ...COMPLETED,
      record: { ...RECORD, table_name: 'launches', rows_accepted: 1 },
    });
    const { status, lines } = await typed('corpus import launches.jsonl --origin simulated', has);
    expect(status).toBe(0);
    expect(has.filled).toEqual(['launches']);
    expect(has.orders).toEqual([
      {
        path: '/folder/launches.jsonl',
        source: 'launches',
        origin: 'simulated',
        as_of: null,
        acceptSmaller: false,
        source_url: null,
        otherwise: null,
      },
    ]);
    expect(lines[0]).toBe('Imported 1 launch.');
  });

  test('has no page of its source, and no role', async () => {
    expect((await typed('corpus import a.csv --source-url https://example.org')).status).toBe(2);
    expect((await typed('corpus import a.csv --role hot')).status).toBe(2);
  });
});

describe('exhibit lists import', () => {
  test('takes the date that its operator states, as a day or a time that has been', async () => {
    const has = services();
    for (const date of ['2024-05-29', '2024-05-29T02:00+02:00']) {
      expect((await typed(`lists import a.csv --list eu --as-of ${date}`, has)).status).toBe(0);
    }
    const as_of = Date.UTC(2024, 4, 29) / 1_000;
    expect(has.orders).toMatchObject([
      { source: 'eu', as_of },
      { source: 'eu', as_of },
    ]);
    for (const date of ['yesterday', '2024-02-30', '2026-11-21T12:01Z']) {
      expect((await typed(`lists import a.csv --list eu --as-of ${date}`)).status).toBe(2);
    }
    // The rows of the other tables are dated by their sources.
    expect((await typed('labels import a.csv --source x --as-of 2024-05-29')).status).toBe(2);
  });
});

describe('exhibit findings import', () => {
  test('imports the caller’s file as it was asked, names refused rows and counts', async () => {
    const record = { ...RECORD, table_name: 'flagged_addresses', rows_accepted: 754 };
    const has = services({ ...COMPLETED, record });
    const { status, lines, errors } = await typed(
      'findings import a.csv --source forta --source-url https://example.org/p',
      has,
    );
    expect(status).toBe(0);
    expect(has.filled).toEqual(['flagged_addresses']);
    expect(has.orders).toEqual([
      {
        path: '/folder/a.csv',
        source: 'forta',
        origin: 'observed',
        as_of: null,
        acceptSmaller: false,
        source_url: 'https://example.org/p',
        otherwise: null,
      },
    ]);
    expect(errors[0]).toBe('line 3: bad_address: no EVM, Solana, Bitcoin or Tron address');
    expect(lines[0]).toBe('Imported 754 flagged rows.');
  });
});

test('help shows what each command takes, in the words of its table', () => {
  expect(tableCommands.map(({ usage }) => usage)).toEqual([
    'exhibit labels import FILE --source NAME [--role ROLE] [--source-url URL] ' +
      '[--origin observed|simulated] [--json]',
    'exhibit corpus import FILE [--source NAME] [--origin observed|simulated] [--json]',
    'exhibit findings import FILE --source NAME [--source-url URL] ' +
      '[--origin observed|simulated] [--json]',
    'exhibit lists import FILE --list NAME [--source-url URL] [--as-of TIME] [--accept-smaller] ' +
      '[--origin observed|simulated] [--json]',
  ]);
  expect(tableCommands[0]?.details?.join('\n')).toContain(
    '--role ROLE        for rows whose own words name none: hot, cold, deposit, deployer, ' +
      'treasury,\n                   other',
  );
});
