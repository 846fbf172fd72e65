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
} from '../../../ports/indexing/transfer-store-facts.suite.ts';
import { BY_CHAIN } from '../engine/by-chain.ts';
import { type EmbeddedWarehouse, embeddedWarehouse } from '../engine/embedded.ts';
import type { QueryOptions, Warehouse } from '../engine/executor.ts';
import { migrateWarehouse } from '../engine/migrate.ts';
import { joinAddressRanges } from './address-ranges.ts';
import { warehouseForgetting } from './forget.ts';
import { deleteRows } from './forget-rows.ts';
import { tableMoving } from './move-by-chain.ts';
import { transferStore } from './store.ts';

const CALL = { timeoutMs: 30_000 };
const SHARDED = [...BY_CHAIN.map(({ table }) => table), 'address_coverage'];
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
 * cluster parsed and noted in place of run. `tables` are rows of `system.tables`.
 */
function cluster(tables: readonly (readonly string[])[]) {
  const said: string[] = [];
  async function query<T>(sql: string, options: QueryOptions<T>): Promise<readonly T[]> {
    if (!sql.includes('system.tables'))
      return warehouse.query(sql.replace("_local'", "'"), options);
    if (sql.includes('sorting_key')) return tables.map((row) => options.row.parse(row));
    const isSharded = SHARDED.some((table) => table === options.params?.['table']);
    return [options.row.parse([isSharded ? 'Distributed' : 'ReplicatedReplacingMergeTree'])];
  }
  const standIn: Warehouse = {
    ...warehouse,
    query,
    command: async (sql, options) => {
      if (/^INSERT INTO (?!\w+_by_chain)/.test(sql)) return warehouse.command(sql, options);
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
  const standIn = cluster([]);
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
  const standIn = cluster([]);
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

test('moving tables makes, fills, replaces and drops them on all nodes', async () => {
  const keys = ['MergeTree', '', 'chain, addr', 'chain, addr, peer, id'];
  const named = (name: string, ...of: readonly string[]) => [name, ...of];
  const distributed = named('transfers', 'Distributed', '', '', '');
  const plain = named('sides_local', ...keys);
  const twins = [named('sides_to_chain', 'MaterializedView', '', '', '')];
  const at = async (...tables: readonly (readonly string[])[]) => {
    const standIn = cluster([distributed, ...tables]);
    const moving = tableMoving(standIn.warehouse, { now, sleep: async () => undefined });
    await moving.step(async () => true, signal);
    return standIn.said;
  };
  const begun = await at(plain);
  const replicated =
    "ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}'";
  for (const part of [
    "CREATE TABLE IF NOT EXISTS sides_by_chain_local ON CLUSTER '{cluster}' AS sides_local",
    `ENGINE = ${replicated}, '{replica}') PARTITION BY chain PRIMARY KEY (chain, addr)`,
    'ORDER BY (chain, addr, peer, id) SETTINGS index_granularity = 256,',
  ]) {
    expect(begun[0]).toContain(part);
  }
  expect(begun[1]).toContain('sides_by_chain_local, sipHash64(addr))');
  expect(begun[2]).toContain(
    "ON CLUSTER '{cluster}' TO sides_by_chain_local AS SELECT * FROM sides_local",
  );
  const columns = 'chain, addr, peer, id, detail';
  const apart = 'SETTINGS parallel_distributed_insert_select = 2';
  expect(begun[3]).toContain(`sides_by_chain (${columns}) ${apart} SELECT ${columns} FROM sides`);
  await warehouse.command('CREATE TABLE sides_by_chain AS sides', CALL);
  await warehouse.command('INSERT INTO sides_by_chain SELECT * FROM sides', CALL);
  expect(await at(plain, ...twins)).toEqual([
    "EXCHANGE TABLES sides_local AND sides_by_chain_local ON CLUSTER '{cluster}'",
  ]);
  const replaced = await at(named('sides_local', 'M', 'chain', ...keys.slice(2)), ...twins);
  const end = "ON CLUSTER '{cluster}' SYNC SETTINGS max_table_size_to_drop = 0";
  expect(replaced).toEqual([
    `DROP TABLE IF EXISTS sides_to_chain ${end}`,
    `DROP TABLE IF EXISTS sides_by_chain ${end}`,
    `DROP TABLE IF EXISTS sides_by_chain_local ${end}`,
  ]);
});
