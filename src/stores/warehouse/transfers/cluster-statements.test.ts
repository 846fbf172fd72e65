// What is said to a cluster whose sharded tables lie in parts on each node: statements that parse,
// that name the parts and all nodes, and that delete by nothing but what a row itself says.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  given,
  NONE,
  NOW,
  PROVENANCE,
  party,
  transferFact,
} from '../../../ports/transfer-store.suite.ts';
import { type EmbeddedWarehouse, embeddedWarehouse } from '../engine/embedded.ts';
import type { QueryOptions, Warehouse } from '../engine/executor.ts';
import { migrateWarehouse } from '../engine/migrate.ts';
import { deleteRows, warehouseForgetting } from './forget.ts';
import { joinAddressRanges, transferStore } from './store.ts';

const CALL = { timeoutMs: 30_000 };
const SHARDED = [
  ...['blocks', 'creations', 'creators', 'sides', 'transactions', 'transfers'],
  'address_coverage',
];
const now = () => NOW;
const { signal } = new AbortController();

let folder: string;
let warehouse: EmbeddedWarehouse;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-cluster-'));
  warehouse = await embeddedWarehouse(join(folder, 'store'));
  await migrateWarehouse(warehouse, resolve('migrations/warehouse'), { simulated: false });
});
afterAll(async () => {
  await warehouse.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * A stand-in for a cluster: it answers of its tables as one does, and has each statement of a
 * cluster parsed and noted in place of run.
 */
function cluster() {
  const said: string[] = [];
  async function query<T>(sql: string, options: QueryOptions<T>): Promise<readonly T[]> {
    if (!sql.includes('system.tables')) return warehouse.query(sql, options);
    const isSharded = SHARDED.some((table) => table === options.params?.['table']);
    return [options.row.parse([isSharded ? 'Distributed' : 'ReplicatedReplacingMergeTree'])];
  }
  const standIn: Warehouse = {
    ...warehouse,
    query,
    command: async (sql, options) => {
      if (sql.startsWith('INSERT INTO')) return warehouse.command(sql, options);
      await warehouse.command(`EXPLAIN AST ${sql}`, CALL);
      said.push(sql.replace(/\s+/g, ' ').trim());
    },
  };
  return { warehouse: standIn, said };
}

test('forgetting deletes on all nodes, by what each row itself says', async () => {
  const store = transferStore(warehouse, now);
  const transfers = [transferFact(3, { block: 4 })];
  given(await store.appendImported({ ...NONE, transfers }, PROVENANCE));
  const standIn = cluster();
  const forgetting = warehouseForgetting(standIn.warehouse, now, async () => undefined);
  const order = { chain: 'ethereum', from_block: 3, to_block: 5 } as const;
  given(await forgetting.forget(order, signal));
  const deleted = standIn.said.filter((sql) => sql.includes(' DELETE WHERE '));
  const onAll = (table: string) =>
    new RegExp(`^ALTER TABLE ${table}_local ON CLUSTER '\\{cluster\\}'`);
  for (const table of ['sides', 'transfers']) {
    expect(deleted).toContainEqual(expect.stringMatching(onAll(table)));
  }
  for (const sql of deleted) {
    expect(sql).toMatch(/ SETTINGS mutations_sync = 2, distributed_ddl_task_timeout = 3600$/);
    expect(sql).not.toMatch(/SELECT|nondeterministic/);
  }
});

test('joining ranges of addresses deletes them by name', async () => {
  const range = { chain: 'ethereum', kind: 'native', source: 's', origin: 'observed' } as const;
  const ranges = Array.from({ length: 40 }, (_, n) => {
    const time = NOW - (39 - n) * 7_200;
    const blocks = { from_block: 100 * n, to_block: 100 * n + 99, to_time: time, read_at: time };
    return { ...range, ...blocks, address: party(1), truncated: false, from_first: n === 0 };
  });
  given(await transferStore(warehouse, now).recordAddressCoverage(ranges));
  const standIn = cluster();
  await joinAddressRanges(standIn.warehouse, NOW);
  expect(standIn.said).toEqual([
    `ALTER TABLE address_coverage_local ON CLUSTER '{cluster}' DELETE WHERE NOT (to_time >= ${
      NOW - 86_400
    }) AND (toString(chain), addr, toString(kind), observed) IN (('ethereum', unhex('${party(
      1,
    ).slice(2)}'), 'native', 1)) SETTINGS mutations_sync = 2, distributed_ddl_task_timeout = 3600`,
  ]);
});

test('a condition that asks other rows is refused', async () => {
  const where = 'import_id IN (SELECT import_id FROM imports)';
  await expect(deleteRows(warehouse, 'import_blocks', where)).rejects.toThrow('says itself');
});
