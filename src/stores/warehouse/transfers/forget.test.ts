import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Forgetting, Forgotten, HeldRange } from '../../../ports/indexing.ts';
import {
  chainOf,
  given,
  hashOf,
  KINDS,
  NONE,
  NOW,
  PROVENANCE,
  party,
  sightOf,
  tenure,
  transferFact,
} from '../../../ports/transfer-store.suite.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { trialsOf } from '../../../testing/trials.ts';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import type { QueryOptions, Warehouse } from '../engine/executor.ts';
import { lostAt } from '../engine/lost-writes.suite.ts';
import { warehouseHistory } from '../history/warehouse.ts';
import { deleteRows, warehouseForgetting } from './forget.ts';
import { readHeld } from './held.ts';
import { importLedger } from './imports.ts';
import { joinAddressRanges, transferStore } from './store.ts';

describe('forget', () => {
  const _MIGRATIONS = fileURLToPath(new URL('../../../../migrations/warehouse', import.meta.url));
  const CALL = { timeoutMs: 30_000 };
  const now = () => NOW;
  const { signal } = new AbortController();
  /** More writes than forgetting takes. */
  const WRITES_MAX = 60;
  const WRITES_STEP = trialsOf('EXHIBIT_FORGET_LOST_EVERY', 5, 1);
  const ORDER = { chain: 'ethereum', from_block: 3, to_block: 5 } as const;
  const FACT_TABLES = ['transfers', 'sides', 'blocks', 'transactions', 'creations', 'creators'];
  const EMPTIED = [
    ...FACT_TABLES,
    ...['transfers_written', 'transfers_counted', 'coverage', 'address_coverage', 'degrees'],
    ...['imports', 'import_blocks', 'import_coverage'],
    ...['following', 'tip_blocks', 'tip_transfers', 'tip_sides', 'tip_creations'],
  ];

  let warehouse: EmbeddedWarehouse;

  beforeAll(async () => {
    warehouse = await freshWarehouse();
  });
  beforeEach(async () => {
    for (const table of EMPTIED) await warehouse.command(`TRUNCATE TABLE ${table}`, CALL);
  });
  afterAll(async () => {
    await warehouse.close();
  });

  function told(reading: Awaited<ReturnType<Forgetting['plan']>>): Forgotten {
    const value = given(reading);
    if (value === null) throw new Error('no such import');
    return value;
  }

  const forgettingOn = (on: Warehouse) => warehouseForgetting(on, now, async () => undefined);
  const store = () => transferStore(warehouse, now);
  const sight = () => sightOf(warehouseHistory(warehouse, now));

  /** Blocks 1 to 8, each with transfers, a header, a signer and a creation. */
  const BLOCKS = [1, 2, 3, 4, 5, 6, 7, 8];
  const factsOf = (blocks: readonly number[]) => ({
    ...NONE,
    transfers: blocks.flatMap((block) => [
      transferFact(10 * block, { block }),
      transferFact(10 * block + 1, { block, kind: 'token', token: party(3), to: party(block) }),
      transferFact(10 * block + 2, { block, kind: 'internal', position: '0' }),
    ]),
    creations: blocks.map((block) => ({
      ...({
        chain: 'ethereum',
        created: party(block),
        creator: party(0),
        initiator: null,
      } as const),
      tx_hash: hashOf('tx', 10 * block),
      block,
      block_hash: null,
      block_time: NOW,
    })),
    blocks: blocks.map((number) => ({
      ...({ chain: 'ethereum', number, hash: hashOf('block', number) } as const),
      parent_hash: null,
      time: NOW - 1_000 + number,
    })),
    transactions: blocks.map((block) => ({
      ...({ chain: 'ethereum', tx_hash: hashOf('tx', 10 * block), block } as const),
      initiator: party(block),
      success: true,
    })),
  });
  const RANGE: HeldRange = {
    chain: 'ethereum',
    kind: 'token',
    from_block: 1,
    to_block: 8,
    to_time: NOW - 992,
    source: 'one.csv',
    origin: 'observed',
  };

  async function filled(
    blocks: readonly number[] = BLOCKS,
    ranges: readonly HeldRange[] = [RANGE],
  ) {
    given(await store().appendImported(factsOf(blocks), PROVENANCE));
    given(await store().recordCoverage(ranges));
  }

  /** How many rows each table has of the blocks of the order. */
  async function rowsLeft(): Promise<Record<string, number>> {
    const row = z.tuple([z.coerce.number()]);
    const left: Record<string, number> = {};
    for (const table of FACT_TABLES) {
      const block =
        table === 'blocks'
          ? 'number'
          : table === 'sides'
            ? 'reinterpretAsUInt64(reverse(substring(detail, 4, 8)))'
            : 'block';
      const sql = `SELECT count() FROM ${table} FINAL WHERE ${block} BETWEEN 3 AND 5`;
      const [first] = await warehouse.query(sql, { ...CALL, row, tuples: true });
      left[table] = Number(first?.[0]);
    }
    return left;
  }

  const NOTHING_LEFT = Object.fromEntries(FACT_TABLES.map((table) => [table, 0]));

  describe('forgetting blocks', () => {
    test('leaves the store as if they had never come, and the rest held in full', async () => {
      const rest = [1, 2, 6, 7, 8];
      const [before, after] = [
        { ...RANGE, to_block: 2, to_time: NOW - 998 },
        { ...RANGE, from_block: 6 },
      ];
      await filled(rest, [before, after]);
      const expected = { sight: await sight(), status: given(await store().status()) };
      for (const table of EMPTIED) await warehouse.command(`TRUNCATE TABLE ${table}`, CALL);
      await filled();
      expect(given(await store().status())[0]?.transfers).toBe(24);
      const done = told(await forgettingOn(warehouse).forget(ORDER, signal));
      expect(done).toMatchObject({ transfers: 9, addresses: 0, staying: [] });
      expect(done.withdrawn).toEqual([
        { kind: 'token', from_block: 3, to_block: 5, source: 'one.csv' },
      ]);
      expect(await rowsLeft()).toEqual(NOTHING_LEFT);
      expect({ sight: await sight(), status: given(await store().status()) }).toEqual(expected);
    });

    test('is planned without a change', async () => {
      await filled();
      const before = { sight: await sight(), status: given(await store().status()) };
      expect(given(await forgettingOn(warehouse).plan(ORDER))).toMatchObject({ transfers: 9 });
      expect({ sight: await sight(), status: given(await store().status()) }).toEqual(before);
    });

    test('withdraws what single addresses were read to: their rows were among these', async () => {
      await filled(BLOCKS, []);
      const range = {
        ...RANGE,
        address: party(1),
        from_first: true,
        truncated: false,
        read_at: NOW,
      };
      const apart = { ...range, address: party(2), from_block: 6 };
      given(await store().recordAddressCoverage([range, apart]));
      expect(told(await forgettingOn(warehouse).forget(ORDER, signal)).addresses).toBe(1);
      const sql = 'SELECT lower(hex(addr)) FROM address_coverage';
      const row = z.tuple([z.string()]);
      const left = await warehouse.query(sql, { ...CALL, row, tuples: true });
      expect(left).toEqual([[party(2).slice(2)]]);
    });

    test('leaves what is followed, in the kinds that are followed', async () => {
      await filled();
      const kinds = ['native', 'internal'] as const;
      const following = { chain: 'ethereum', from_block: 4, kinds, source: 'a node' } as const;
      given(await store().follow({ ...following, origin: 'observed' }, tenure()));
      const done = told(await forgettingOn(warehouse).forget(ORDER, signal));
      expect(done.staying).toEqual(kinds.map((kind) => ({ because: 'followed', kind, blocks: 2 })));
      expect(done.transfers).toBe(3 + 2);
      const row = z.tuple([z.coerce.number(), z.string()]);
      const sql = `SELECT block, toString(kind) FROM transfers FINAL
      WHERE block BETWEEN 3 AND 5 ORDER BY ALL`;
      expect(await warehouse.query(sql, { ...CALL, row, tuples: true })).toEqual([
        ...[4, 5].flatMap((block) => kinds.toReversed().map((kind) => [block, kind])),
      ]);
    });

    test('does not touch the rows before reads that rest on their coverage have ended', async () => {
      await filled();
      const seen: unknown[] = [];
      const settled = async () => {
        const { ranges } = await readHeld(warehouse, CALL);
        seen.push([(await rowsLeft())['transfers'], ranges.map((one) => one.from_block)]);
      };
      given(await warehouseForgetting(warehouse, now, settled).forget(ORDER, signal));
      expect(seen).toEqual([
        [9, [1, 6]],
        [0, [1, 6]],
      ]);
    });

    test('that is stopped keeps the rows, and holds none of them in full', async () => {
      await filled();
      const stop = new AbortController();
      const stopped = warehouseForgetting(warehouse, now, async () => stop.abort());
      expect(await stopped.forget(ORDER, stop.signal)).toMatchObject({ checked: false });
      expect((await rowsLeft())['transfers']).toBe(9);
      const { ranges } = await readHeld(warehouse, CALL);
      expect(ranges.map((one) => [one.from_block, one.to_block])).toEqual([
        [1, 2],
        [6, 8],
      ]);
    });

    test('cut off at any write counts nothing that is not there, and is done by doing it again', async () => {
      await filled();
      given(await forgettingOn(warehouse).forget(ORDER, signal));
      const expected = { sight: await sight(), status: given(await store().status()) };
      let points = 0;
      // Not each of them in every run: each is an import and two attempts to forget it.
      for (let write = 1; write < WRITES_MAX; write += WRITES_STEP) {
        for (const table of EMPTIED) await warehouse.command(`TRUNCATE TABLE ${table}`, CALL);
        await filled();
        const lost = lostAt(warehouse, write, points % 2 === 0 ? 'after' : 'before');
        const first = await forgettingOn(lost).forget(ORDER, signal);
        if (first.checked) break;
        points += 1;
        const { ranges } = await readHeld(warehouse, CALL);
        const holdsOrder = ranges.some(
          ({ from_block, to_block }) => from_block <= 5 && to_block >= 3,
        );
        // Three transfers a block, each under both of its addresses; one is to itself.
        if (holdsOrder) expect((await rowsLeft())['sides']).toBe(17);
        given(await forgettingOn(warehouse).forget(ORDER, signal));
        expect({ sight: await sight(), status: given(await store().status()) }).toEqual(expected);
        expect(await rowsLeft()).toEqual(NOTHING_LEFT);
      }
      expect(points).toBeGreaterThan(1);
    }, 600_000);
  });

  /** An import that came to its end: what it wrote, and what it recorded as held in full. */
  async function importOf(import_id: string, blocks: readonly number[], range: HeldRange | null) {
    const ledger = importLedger(warehouse, now);
    await ledger.begin({ import_id, chain: 'ethereum', source: 'a.csv', origin: 'observed' });
    const columns = ['chain', 'import_id', 'block', 'kinds', 'time'];
    const rows = blocks.map((block) => ['ethereum', import_id, block, 7, NOW]);
    await warehouse.insert('import_blocks', { columns, rows }, CALL);
    given(await store().appendImported(factsOf(blocks), PROVENANCE));
    const ranges = range === null ? [] : [range];
    await ledger.vouch(import_id, ranges);
    given(await store().recordCoverage(ranges));
    await ledger.change(import_id, 'completed');
  }

  describe('forgetting an import', () => {
    const ofImport = (import_id: string) => ({ import_id });

    test('takes out what it wrote and recorded, and leaves the rest as it was', async () => {
      await importOf('rest', [1, 2, 6], { ...RANGE, to_block: 2 });
      const expected = { sight: await sight(), status: given(await store().status()) };
      await importOf('wrong', [3, 4, 5], { ...RANGE, from_block: 3, to_block: 5 });
      const done = told(await forgettingOn(warehouse).forget(ofImport('wrong'), signal));
      expect(done).toMatchObject({ chain: 'ethereum', from_block: 3, to_block: 5, transfers: 9 });
      expect(await rowsLeft()).toEqual(NOTHING_LEFT);
      expect({ sight: await sight(), status: given(await store().status()) }).toEqual(expected);
      const listed = await importLedger(warehouse, now).find('wrong');
      expect(listed?.state).toBe('forgotten');
      expect(given(await forgettingOn(warehouse).plan(ofImport('wrong')))).toBeNull();
    });

    test('leaves the blocks that another import wrote too, and its coverage of them', async () => {
      await importOf('other', [4, 5], { ...RANGE, from_block: 4, to_block: 5 });
      await importOf('wrong', [3, 4], { ...RANGE, from_block: 3, to_block: 4 });
      const done = told(await forgettingOn(warehouse).forget(ofImport('wrong'), signal));
      expect(done.transfers).toBe(3);
      expect(done.staying).toEqual(
        KINDS.map((kind) => ({ because: 'another_import', kind, blocks: 1 })),
      );
      const { ranges } = await readHeld(warehouse, CALL);
      expect(ranges.map((one) => [one.from_block, one.to_block])).toEqual([[4, 5]]);
      expect(given(await store().status())).toMatchObject([{ transfers: 6, from_block: 4 }]);
    });

    test('leaves what coverage of others says is held in full', async () => {
      given(await store().recordCoverage([{ ...RANGE, from_block: 4, to_block: 4 }]));
      await importOf('wrong', [3, 4, 5], null);
      const done = told(await forgettingOn(warehouse).forget(ofImport('wrong'), signal));
      expect(done.staying).toEqual([{ because: 'held_in_full', kind: 'token', blocks: 1 }]);
      const row = z.tuple([z.coerce.number(), z.string()]);
      const sql = 'SELECT block, toString(kind) FROM transfers FINAL';
      expect(await warehouse.query(sql, { ...CALL, row, tuples: true })).toEqual([[4, 'token']]);
    });

    test('keeps coverage that another import recorded word for word', async () => {
      await importOf('other', [3, 4, 5], RANGE);
      await importOf('wrong', [3, 4, 5], RANGE);
      const done = told(await forgettingOn(warehouse).forget(ofImport('wrong'), signal));
      expect(done).toMatchObject({ withdrawn: [], transfers: 0 });
      expect((await readHeld(warehouse, CALL)).ranges).toHaveLength(1);
      expect((await rowsLeft())['transfers']).toBe(9);
    });

    test('knows none that is not listed', async () => {
      expect(given(await forgettingOn(warehouse).plan(ofImport('none')))).toBeNull();
      expect(given(await forgettingOn(warehouse).forget(ofImport('none'), signal))).toBeNull();
    });

    test('of blocks makes an import that is under way begin anew', async () => {
      const ledger = importLedger(warehouse, now);
      const begun = { chain: 'ethereum', source: 'a.csv', origin: 'observed' } as const;
      await ledger.begin({ ...begun, import_id: 'under way' });
      await filled();
      told(await forgettingOn(warehouse).forget(ORDER, signal));
      expect((await ledger.find('under way'))?.state).toBe('forgotten');
    });
  });

  describe('the counts of what is held', () => {
    test('are those of the rows, however often they are written and counted', async () => {
      const count = async () => given(await store().status())[0]?.transfers;
      given(await store().appendImported(factsOf([1, 2]), PROVENANCE));
      expect(await count()).toBe(6);
      given(await store().appendImported(factsOf([2, 3, 200]), PROVENANCE));
      expect(await count()).toBe(12);
      expect(await count()).toBe(12);
      const follower = store();
      given(await follower.follow({ ...FOLLOWED, from_block: 300 }, tenure()));
      given(await follower.applyTip('ethereum', chainOf(300, 3, 'A')));
      const withTip = await count();
      given(await follower.finalise('ethereum', 301));
      expect(await count()).toBe(withTip);
    });
  });

  const FOLLOWED = {
    chain: 'ethereum',
    kinds: KINDS,
    source: 'a node',
    origin: 'observed',
  } as const;
});

// The statements to a cluster whose sharded tables lie in parts on each node: they parse, name the
// parts and all nodes, and delete only by conditions on the row itself.

const CALL = { timeoutMs: 30_000 };
const SHARDED = [
  ...['blocks', 'creations', 'creators', 'sides', 'transactions', 'transfers'],
  'address_coverage',
];
const now = () => NOW;
const { signal } = new AbortController();

let warehouse: EmbeddedWarehouse;

beforeAll(async () => {
  warehouse = await freshWarehouse();
});
afterAll(async () => {
  await warehouse.close();
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
