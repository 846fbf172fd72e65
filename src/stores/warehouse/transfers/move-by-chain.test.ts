// The filled tables of an earlier version become tables by chain: the same rows, whatever is
// written meanwhile and wherever it is cut off, and nobody who reads sees less on the way.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { TableMove } from '../../../ports/indexing/table-move.ts';
import type { Facts } from '../../../ports/indexing/transfer-store.ts';
import {
  given,
  hashOf,
  party,
  transferFact,
} from '../../../ports/indexing/transfer-store-facts.suite.ts';
import { BY_CHAIN } from '../engine/by-chain.ts';
import { statementsOf } from '../engine/dialect.ts';
import { type EmbeddedWarehouse, embeddedWarehouse } from '../engine/embedded.ts';
import type { Warehouse } from '../engine/executor.ts';
import { lostAt } from '../engine/lost-writes.suite.ts';
import { migrateWarehouse, readMigrations } from '../engine/migrate.ts';
import { warehouseForgetting } from './forget.ts';
import { tableMoving } from './move-by-chain.ts';
import { finalRows } from './standing-rows.suite.ts';
import { transferStore } from './store.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../../migrations/warehouse', import.meta.url));
const CALL = { timeoutMs: 30_000 };
const now = () => Date.UTC(2026, 10, 21, 12) / 1_000;
const PROVENANCE = { import_id: 'one', source: 'a file', origin: 'observed' } as const;
const CHAINS = ['ethereum', 'base'] as const;
/** Blocks of the first chain that are there from the start; the second has half as many. */
const BLOCKS = 4;
/** Steps of a move of a few rows, and more. */
const STEPS_MAX = 500;
/** Each how many writes one is tried. EXHIBIT_TEST_TRIALS=all tries each of them. */
const EACH = process.env['EXHIBIT_TEST_TRIALS'] === 'all' ? 1 : 40;
const MOMENTS = EACH === 1 ? (['before', 'after'] as const) : (['after'] as const);
/** Moves whose engine is killed again and again. */
const TRIALS = process.env['EXHIBIT_TEST_TRIALS'] === 'all' ? 60 : 1;
const TRIALS_MAX_MS = 1_100_000;
/** Steps that may fail while an engine comes back. */
const FAILED_MAX = 100;
/** More writes than a move makes. */
const WRITES_MAX = 400;

let folder: string;
let warehouse: EmbeddedWarehouse;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-by-chain-'));
  warehouse = await embeddedWarehouse(folder);
  await migrateWarehouse(warehouse, MIGRATIONS, { simulated: false });
});

afterAll(async () => {
  await warehouse.close();
  await rm(folder, { recursive: true, force: true });
});

const MADE = /^(?:CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS|ALTER TABLE) (\w+)/;

/** Drops what grows with history and makes it as earlier versions did; then fills it. */
beforeEach(filled);

async function filled(): Promise<void> {
  const tables = BY_CHAIN.map(({ table }) => table);
  const views = ['sides_of_transfers', 'creators_of_creations', 'written_of_transfers'];
  const twins = tables.flatMap((table) => [`${table}_to_chain`, `${table}_by_chain`]);
  const names = [...views, ...twins, ...tables].join(', ');
  await warehouse.command(`DROP TABLE IF EXISTS ${names} SYNC`, CALL);
  for (const table of ['moved_by_chain', 'coverage']) {
    await warehouse.command(`TRUNCATE TABLE ${table}`, CALL);
  }
  for (const { source } of await readMigrations(MIGRATIONS)) {
    for (const sql of statementsOf(source, 'single')) {
      const [, made] = MADE.exec(sql) ?? [];
      if ([...views, ...tables].some((name) => name === made)) await warehouse.command(sql, CALL);
    }
  }
  given(await transferStore(warehouse, now).appendImported(factsOf(1, BLOCKS), PROVENANCE));
}

/** Transfers, a contract, a header and a signer of each block, on several chains. */
function factsOf(from: number, to: number): Facts {
  const blocks = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const all = CHAINS.flatMap((chain) => blocks.map((block) => ({ chain, block }))).filter(
    ({ chain, block }) => chain === 'ethereum' || block > BLOCKS || block % 2 === 0,
  );
  return {
    transfers: all.map(({ chain, block }) => {
      const of = {
        block,
        from: party(block),
        to: party(block + 1),
        block_hash: hashOf('A', block),
      };
      return { ...transferFact(block, of), chain };
    }),
    creations: all.map(({ chain, block }) => {
      const at = { tx_hash: hashOf('T', block), block, block_hash: hashOf('A', block) };
      const made = { created: party(block + 500), creator: party(block), initiator: null };
      return { chain, ...made, ...at, block_time: now() };
    }),
    blocks: all.map(({ chain, block }) => {
      const hashes = { hash: hashOf('A', block), parent_hash: hashOf('A', block - 1) };
      return { chain, number: block, ...hashes, time: now() };
    }),
    transactions: all.map(({ chain, block }) => {
      const of = { tx_hash: hashOf('S', block), initiator: party(block), success: true };
      return { chain, block, ...of };
    }),
  };
}

const text = z.tuple([z.string()]);
async function texts(sql: string): Promise<readonly string[]> {
  return (await warehouse.query(sql, { ...CALL, row: text, tuples: true })).map(([one]) => one);
}

const movingOn = (on: Warehouse) =>
  tableMoving(on, { now, sleep: async () => undefined, runRows: 4 });
const always = async () => true;
const { signal } = new AbortController();

/** Goes on until all is moved, whatever is cut off; `between` is called after each step. */
async function move(on: Warehouse, between?: (told: TableMove) => Promise<void>): Promise<void> {
  let failed = 0;
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    const told = await movingOn(on).step(always, signal);
    if (told.checked && told.value.state === 'moved') return;
    if (told.checked) await between?.(told.value);
    else {
      failed += 1;
      if (failed > FAILED_MAX) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error('it does not come to its end');
}

/** Writes another block of each chain. */
async function write(block: number): Promise<void> {
  given(await transferStore(warehouse, now).appendImported(factsOf(block, block), PROVENANCE));
}

/** All is as it was, by chain, and nothing else is left. */
async function expectMoved(rows: Awaited<ReturnType<typeof finalRows>>): Promise<void> {
  expect(await finalRows(warehouse)).toEqual(rows);
  const names = BY_CHAIN.map(({ table }) => table).sort();
  const keys = `SELECT name FROM system.tables WHERE database = currentDatabase()
    AND partition_key = 'chain' ORDER BY name`;
  expect(await texts(keys)).toEqual(names);
  const rest = `SELECT name FROM system.tables WHERE database = currentDatabase()
    AND (name LIKE '%\\_by\\_chain' OR name LIKE '%\\_to\\_chain')`;
  expect(await texts(rest)).toEqual(['moved_by_chain']);
  // What is written now is found under addresses too.
  await write(900);
  const sides = `SELECT DISTINCT toString(chain) AS c FROM sides
    WHERE addr = unhex('${party(900).slice(2)}') ORDER BY c`;
  expect(await texts(sides)).toEqual([...CHAINS].sort());
}

describe('moving filled tables to tables by chain', () => {
  test('ends in the same rows with what was written meanwhile, and hides none on the way', async () => {
    const before = await finalRows(warehouse);
    const told: TableMove[] = [];
    let block = 100;
    await move(warehouse, async (status) => {
      told.push(status);
      if (told.length % 6 !== 0) return;
      if (block < 108) {
        await write(block);
        block += 1;
      }
      const seen = await finalRows(warehouse);
      for (const [table, rows] of Object.entries(before)) {
        expect(seen[table], `${table} at ${block}`).toEqual(expect.arrayContaining([...rows]));
      }
    });
    expect(told.at(0)).toMatchObject({
      state: 'moving',
      tables: 6,
      tables_moved: 0,
      rows_moved: 4,
    });
    expect(told.filter(({ state }) => state === 'swapped')).toHaveLength(6);
    const rows = await finalRows(warehouse);
    await filled();
    for (let again = 100; again < block; again += 1) await write(again);
    expect(await finalRows(warehouse)).toEqual(rows);
  });

  test(
    'is lost at any of its writes and ends in the same rows once it goes on',
    async () => {
      const rows = await finalRows(warehouse);
      let points = 0;
      for (let at = 1; at < WRITES_MAX; at += EACH) {
        for (const moment of MOMENTS) {
          await filled();
          const lost = lostAt(warehouse, at, moment);
          let told = await movingOn(lost).step(always, signal);
          while (told.checked && told.value.state !== 'moved') {
            told = await movingOn(lost).step(always, signal);
          }
          if (told.checked) break;
          points += 1;
          await move(warehouse);
          await expectMoved(rows);
        }
      }
      expect(points).toBeGreaterThan(50 / EACH);
    },
    TRIALS_MAX_MS,
  );

  test(
    'goes on where its engine was killed',
    async () => {
      const rows = await finalRows(warehouse);
      let kills = 0;
      for (let trial = 0; trial < TRIALS; trial += 1) {
        await filled();
        let steps = 0;
        await move(warehouse, async () => {
          steps += 1;
          if (steps % 9 !== trial % 9) return;
          const pid = warehouse.pid();
          if (pid === undefined) return;
          setTimeout(() => process.kill(pid, 'SIGKILL'), (trial * 7) % 60);
          kills += 1;
        });
        await expectMoved(rows);
      }
      expect(kills).toBeGreaterThan(TRIALS);
      console.info(`${kills} kills`);
    },
    TRIALS_MAX_MS,
  );

  test('copies a chain anew of which rows were deleted meanwhile', async () => {
    let isDeleted = false;
    await move(warehouse, async (told) => {
      if (isDeleted || told.state === 'moved' || told.tables_moved < 3) return;
      isDeleted = true;
      for (const table of ['sides', 'transfers', 'blocks']) {
        const of = "DELETE WHERE chain = 'base' SETTINGS mutations_sync = 2";
        await warehouse.command(`ALTER TABLE ${table} ${of}`, CALL);
      }
    });
    expect(isDeleted).toBe(true);
    const left = `SELECT count() || '' FROM (SELECT chain FROM sides UNION ALL
      SELECT chain FROM transfers UNION ALL SELECT chain FROM blocks) WHERE chain = 'base'`;
    expect(await texts(left)).toEqual(['0']);
  });

  test('replaced back by one that was paused for long loses no row, and is replaced again', async () => {
    const rows = await finalRows(warehouse);
    let swaps = 0;
    await move(warehouse, async (told) => {
      if (told.state !== 'swapped') return;
      swaps += 1;
      const table = String(BY_CHAIN.at(-1)?.table);
      if (told.tables_moved < BY_CHAIN.length || swaps > BY_CHAIN.length) return;
      await write(500);
      await warehouse.command(`EXCHANGE TABLES ${table} AND ${table}_by_chain`, CALL);
    });
    expect(swaps).toBe(BY_CHAIN.length + 1);
    const after = await finalRows(warehouse);
    for (const [table, of] of Object.entries(rows)) {
      expect(after[table]).toEqual(expect.arrayContaining([...of]));
    }
    const sides = "SELECT count() || '' FROM sides FINAL";
    expect(await texts(sides)).toEqual([String((BLOCKS * 1.5 + CHAINS.length) * 2)]);
  });

  test('refuses to forget before anything is taken back', async () => {
    const range = { chain: 'ethereum', kind: 'native', from_block: 1, to_block: BLOCKS } as const;
    const held = { ...range, to_time: now(), source: 'a file', origin: 'observed' } as const;
    given(await transferStore(warehouse, now).recordCoverage([held]));
    given(await movingOn(warehouse).step(always, signal));
    const rows = await finalRows(warehouse);
    const forgetting = warehouseForgetting(warehouse, now, async () => undefined);
    const order = { chain: 'ethereum', from_block: 1, to_block: BLOCKS } as const;
    const told = await forgetting.forget(order, signal);
    expect(told.checked === false && told.why.reason).toContain('being moved');
    expect(await finalRows(warehouse)).toEqual(rows);
    await move(warehouse);
    given(await forgetting.forget(order, signal));
    expect(await texts("SELECT toString(block) FROM transfers WHERE chain = 'ethereum'")).toEqual(
      [],
    );
  });

  test('replaces nothing where another process may', async () => {
    for (let steps = 0; steps < 20; steps += 1) {
      const told = given(await movingOn(warehouse).step(async () => false, signal));
      expect(told).toMatchObject({ tables: BY_CHAIN.length, tables_moved: 0 });
    }
  });
});
