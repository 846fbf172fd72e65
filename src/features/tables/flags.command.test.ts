import { describe, expect, test } from 'vitest';
import type { FlaggedImportOrder } from '../../ports/flags/table.ts';
import type { ImportOutcome, ImportWatch, TableImport } from '../../ports/tables/table-import.ts';
import { ran } from '../../testing/recording-io.ts';
import { findingsImport } from './flags.command.ts';

const AT = Date.UTC(2026, 10, 21, 12) / 1_000;
const RECORD: TableImport = {
  ...{ id: 7, table_name: 'flagged_addresses', source: 'forta', source_url: null },
  ...{ origin: 'observed', rows_accepted: 754, rows_refused: 1, sha256: 'c'.repeat(64) },
  ...{ as_of: AT, started_at: AT, completed_at: AT },
};

async function typed(line: string, outcome?: ImportOutcome, simulated = false) {
  const orders: FlaggedImportOrder[] = [];
  const refused = new Map([['bad_address', 1]]);
  const importFile = async (order: FlaggedImportOrder, watch: ImportWatch) => {
    orders.push(order);
    watch.onRefused({ line: 3, code: 'bad_address', reason: 'no address' });
    return outcome ?? { outcome: 'completed' as const, record: RECORD, refused };
  };
  const services = { findings: { simulated, importFile } };
  return { orders, ...(await ran(line, [findingsImport], services, { cwd: '/folder' })) };
}

describe('exhibit findings import', () => {
  test('imports the caller’s file as it was asked, names refused rows and counts', async () => {
    const { orders, status, lines, errors } = await typed(
      'findings import a.csv --source forta --source-url https://example.org/p',
    );
    expect(status).toBe(0);
    expect(orders).toEqual([
      {
        ...{ path: '/folder/a.csv', source: 'forta', origin: 'observed' },
        source_url: 'https://example.org/p',
      },
    ]);
    expect(errors).toEqual(['line 3: bad_address: no address']);
    expect(lines[0]).toContain('Imported 754 flagged rows.');
  });

  test('an import that accepts no row exits with 1', async () => {
    const refused = new Map([['bad_address', 1]]);
    const none = { outcome: 'no_row_accepted', rows_refused: 1, refused } as const;
    expect((await typed('findings import a.csv --source forta', none)).status).toBe(1);
  });

  test.each([
    'findings import a.csv',
    'findings import a.csv --source -x',
    'findings import a.csv --source x --source-url ftp://example.org',
  ])('%s is no usage of it', async (line) => {
    const { status, orders } = await typed(line);
    expect([status, orders]).toEqual([2, []]);
  });

  test('what the simulated world imports is made up', async () => {
    const { orders } = await typed('findings import a.csv --source x', undefined, true);
    expect(orders[0]?.origin).toBe('simulated');
  });
});
