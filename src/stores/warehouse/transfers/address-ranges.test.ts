// Ranges of single addresses come as the fewest that say the same, and those of the past go.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { AddressRange } from '../../../ports/indexing.ts';
import { given, NOW, party } from '../../../ports/transfer-store.suite.ts';
import { type EmbeddedWarehouse, embeddedWarehouse } from '../engine/embedded.ts';
import { migrateWarehouse } from '../engine/migrate.ts';
import { rangesOf } from '../history/warehouse.ts';
import { readHeld } from './held.ts';
import { joinAddressRanges, transferStore } from './store.ts';

const CALL = { timeoutMs: 30_000 };
const DAY_S = 86_400;

let folder: string;
let warehouse: EmbeddedWarehouse;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exhibit-ranges-'));
  warehouse = await embeddedWarehouse(join(folder, 'store'));
  await migrateWarehouse(warehouse, resolve('migrations/warehouse'), { simulated: false });
});
beforeEach(() => warehouse.command('TRUNCATE TABLE address_coverage', CALL));
afterAll(async () => {
  await warehouse.close();
  await rm(folder, { recursive: true, force: true });
});

/** Blocks 100 n to 100 n + 99, read an hour after those before them; the last ends at `NOW`. */
function hourly(of: number, count: number, kind: AddressRange['kind'] = 'native'): AddressRange[] {
  return Array.from({ length: count }, (_, n) => {
    const time = NOW - (count - 1 - n) * 3_600;
    const blocks = { from_block: 100 * n, to_block: 100 * n + 99, to_time: time };
    const whence = { source: 'an explorer', origin: 'observed', read_at: time } as const;
    const address = party(of);
    const what = { chain: 'ethereum', kind, address, truncated: false } as const;
    return { ...what, ...blocks, ...whence, from_first: n === 0 };
  });
}

async function held(of: number) {
  const ranges = await rangesOf(warehouse, await readHeld(warehouse, CALL), [party(of)], CALL);
  return (ranges.get(party(of)) ?? []).map((one) => [
    ...[one.kind, one.from_block, one.to_block, one.to_time, one.from_first],
  ]);
}

async function rows(): Promise<number> {
  const row = z.tuple([z.coerce.number()]);
  const sql = 'SELECT count() FROM address_coverage FINAL';
  const [count] = await warehouse.query(sql, { ...CALL, row, tuples: true });
  return Number(count?.[0]);
}

test('what was read on for days is one range, before and after the past is joined', async () => {
  const store = transferStore(warehouse, () => NOW);
  given(await store.recordAddressCoverage(hourly(1, 60)));
  // A hole, a beginning that is not known, and too few of them: these stay as they are.
  const cut = hourly(2, 60).filter((_, n) => n !== 30);
  const late = hourly(3, 60).slice(1);
  given(await store.recordAddressCoverage([...cut, ...late, ...hourly(4, 5, 'token')]));
  const expected = [
    [['native', 0, 5_999, NOW, true]],
    [
      ['native', 0, 2_999, NOW - 30 * 3_600, true],
      ['native', 3_100, 5_999, NOW, false],
    ],
    [['native', 100, 5_999, NOW, false]],
    [['token', 0, 499, NOW, true]],
  ];
  const all = async () => Promise.all([1, 2, 3, 4].map(held));
  expect(await all()).toEqual(expected);
  const before = await rows();
  await joinAddressRanges(warehouse, NOW);
  expect(await all()).toEqual(expected);
  // Of the first those of the last day are left, and the one that reaches over all.
  const ofLastDay = 1 + DAY_S / 3_600;
  expect(before - (await rows())).toBe(60 - ofLastDay - 1);
  await joinAddressRanges(warehouse, NOW);
  expect(await all()).toEqual(expected);
});
