// A server that is sent the files comes to the tables that an engine comes to which reads them.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { freshServedWarehouse, freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import type { Warehouse } from '../engine/executor.ts';
import { freshFolder, importedInto, recordOf } from './bulk-import.suite.ts';

const at = (name: string) => join(import.meta.dirname, 'recordings', name);
const CALL = { timeoutMs: 60_000 };

async function heldIn(warehouse: Warehouse): Promise<unknown> {
  const queries = [
    'SELECT hex(addr), hex(peer), hex(id), hex(detail) FROM sides FINAL ORDER BY ALL',
    'SELECT kind, from_block, to_block, to_time FROM coverage FINAL ORDER BY ALL',
    'SELECT import_id, state, rows, transfers FROM imports FINAL',
  ];
  const row = z.array(z.unknown());
  return Promise.all(queries.map((sql) => warehouse.query(sql, { ...CALL, row, tuples: true })));
}

test.each([
  ['CSV', ['self-destruct-traces.csv', 'self-destruct-blocks.csv']],
  [
    'CSV, of transactions and withdrawals',
    ['withdrawals-blocks.csv', 'withdrawals-transactions.csv'],
  ],
  ['JSON lines, among files that are left aside', ['stream']],
])(
  'an import over HTTP: %s',
  async (_, names) => {
    const paths = names.map(at);
    const local = await freshWarehouse();
    const remote = await freshServedWarehouse();
    try {
      const record = recordOf(await importedInto(local, paths, { folder: await freshFolder() }));
      const sent = recordOf(await importedInto(remote, paths, { folder: await freshFolder() }));
      expect({ ...sent, refused_file: null }).toEqual({ ...record, refused_file: null });
      expect(record.transfers).toBeGreaterThan(1);
      expect(await heldIn(remote)).toEqual(await heldIn(local));
    } finally {
      for (const one of [remote, local]) await one.close();
    }
  },
  120_000,
);
