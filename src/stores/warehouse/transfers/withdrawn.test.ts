// Coverage that an earlier version recorded from nodes, and that their blocks do not prove, counts
// no more after the first start; what files, other chains and later reading prove stays.

import { afterAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { given, tenure } from '../../../ports/transfer-store.suite.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { emptied } from '../bulk-import/bulk-import.suite.ts';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import { transferStore } from './store.ts';
import { withdrawnRanges, withdrawUnproved } from './withdrawn.ts';

const CALL = { timeoutMs: 60_000 };
const NODE = 'https://node.example';
const FILES = 'traces.csv and 2 more files';
/** Polygon's first block whose roots cover state sync. */
const FORK = 80_084_800;
const whole = z.coerce.number();
const rangeRow = z.tuple([z.string(), z.string(), whole, whole, z.string()]);

const warehouse: EmbeddedWarehouse = await freshWarehouse();
const store = transferStore(warehouse, () => 1_800_000_000);
afterAll(() => warehouse.close());
beforeEach(() => emptied(warehouse));

type Row = readonly [chain: string, kind: string, from: number, to: number, source: string];

async function hold(...rows: readonly Row[]): Promise<void> {
  const values = rows.map(([chain, kind, from, to, source]) => {
    return `('${chain}', '${kind}', ${from}, ${to}, '${source}', 1, 1700000000)`;
  });
  const columns = 'chain, kind, from_block, to_block, source, observed, to_time';
  await warehouse.command(`INSERT INTO coverage (${columns}) VALUES ${values.join(', ')}`, CALL);
}

async function held(): Promise<readonly Row[]> {
  const sql = `SELECT DISTINCT toString(chain), toString(kind), from_block, to_block, source
    FROM coverage ORDER BY toString(chain), toString(kind), from_block`;
  return warehouse.query(sql, { ...CALL, row: rangeRow, tuples: true });
}

async function follow(chain: string, kinds: readonly string[], from: number, final: number) {
  const list = kinds.map((kind) => `'${kind}'`).join(', ');
  const columns = `chain, from_block, kinds, source, observed, final_block, final_time, final_hash,
    rollbacks, version, epoch, stamp_blocks, stamps, sealed_block`;
  await warehouse.command(
    `INSERT INTO following (${columns}) VALUES ('${chain}', ${from}, [${list}], '${NODE}', 1,
      ${final}, 1700000000, unhex('${'ab'.repeat(32)}'), 0, 5, 1, [0], [1], NULL)`,
    CALL,
  );
}

async function followed(): Promise<unknown> {
  const sql = `SELECT toString(chain), arrayMap(one -> toString(one), kinds), from_block,
    final_block FROM following FINAL ORDER BY toString(chain)`;
  const row = z.tuple([z.string(), z.array(z.string()), whole, whole]);
  return warehouse.query(sql, { ...CALL, row, tuples: true });
}

test('what no block of a chain proves is withdrawn once, of nodes alone, and told', async () => {
  await hold(
    ['polygon', 'native', 1, 900, NODE],
    ['polygon', 'native', 1, 900, FILES],
    ['polygon', 'token', FORK - 10, FORK + 10, NODE],
    ['polygon', 'nft', FORK + 20, FORK + 30, NODE],
    ['arbitrum', 'native', 5, 9, NODE],
    ['arbitrum', 'token', 5, 9, NODE],
    ['hyperevm', 'token', 3, 4, NODE],
    ['ethereum', 'internal', 1, 9, NODE],
  );
  await withdrawUnproved(warehouse);
  const left: readonly Row[] = [
    ['arbitrum', 'token', 5, 9, NODE],
    ['ethereum', 'internal', 1, 9, NODE],
    ['polygon', 'native', 1, 900, FILES],
    ['polygon', 'nft', FORK + 20, FORK + 30, NODE],
    ['polygon', 'token', FORK, FORK + 10, NODE],
  ];
  expect(await held()).toEqual(left);
  expect(await withdrawnRanges(warehouse, CALL)).toEqual([
    { chain: 'arbitrum', kind: 'native', from_block: 5, to_block: 9 },
    { chain: 'hyperevm', kind: 'token', from_block: 3, to_block: 4 },
    { chain: 'polygon', kind: 'native', from_block: 1, to_block: 900 },
    { chain: 'polygon', kind: 'token', from_block: FORK - 10, to_block: FORK - 1 },
  ]);
  // What is proved and recorded from now on stays over the next start.
  await hold(['polygon', 'native', 901, 950, NODE]);
  await withdrawUnproved(warehouse);
  expect(await held()).toContainEqual(['polygon', 'native', 901, 950, NODE]);
});

test('a correction that was cut off is made whole by the next start', async () => {
  await hold(['polygon', 'token', FORK - 10, FORK + 10, NODE], ['arbitrum', 'native', 5, 9, NODE]);
  let statements = 0;
  const cut = Object.assign({}, warehouse, {
    command: (...of: Parameters<EmbeddedWarehouse['command']>) => {
      statements += 1;
      if (statements > 6) return Promise.reject(new Error('cut off'));
      return warehouse.command(...of);
    },
  });
  await expect(withdrawUnproved(cut)).rejects.toThrow('cut off');
  await withdrawUnproved(warehouse);
  expect(await held()).toEqual([['polygon', 'token', FORK, FORK + 10, NODE]]);
  expect((await withdrawnRanges(warehouse, CALL)).map(({ kind }) => kind)).toEqual([
    'native',
    'token',
  ]);
});

test('a chain that is followed loses the kind, and keeps what its newer blocks prove', async () => {
  await follow('polygon', ['native', 'token', 'nft'], FORK - 100, FORK + 100);
  await follow('ethereum', ['native', 'internal', 'token', 'nft'], 1, 9);
  await withdrawUnproved(warehouse);
  expect(await followed()).toEqual([
    ['ethereum', ['native', 'internal', 'token', 'nft'], 1, 9],
    ['polygon', [], FORK - 100, FORK + 100],
  ]);
  expect(await held()).toEqual([
    ['polygon', 'nft', FORK, FORK + 100, NODE],
    ['polygon', 'token', FORK, FORK + 100, NODE],
  ]);
});

test('a node whose traces count no calls takes its internal coins back as it goes on', async () => {
  await hold(['ethereum', 'internal', 1, 4, NODE], ['ethereum', 'native', 1, 4, NODE]);
  await follow('ethereum', ['native', 'internal', 'token', 'nft'], 5, 9);
  const following = {
    chain: 'ethereum',
    from_block: 5,
    kinds: ['native', 'token', 'nft'],
    source: NODE,
    origin: 'observed',
    unproved: ['internal'],
  } as const;
  const cursor = given(await store.follow(following, { ...tenure(), epoch: 2 }));
  expect(cursor).toMatchObject({
    kinds: ['native', 'token', 'nft'],
    from_block: 5,
    final_block: 9,
  });
  expect(await held()).toEqual([['ethereum', 'native', 1, 4, NODE]]);
  expect(await withdrawnRanges(warehouse, CALL)).toEqual([
    { chain: 'ethereum', kind: 'internal', from_block: 1, to_block: 9 },
  ]);
});
