// Ranges that were recorded come from their statement as the fewest that say the same.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AddressRange } from '../../../ports/indexing.ts';
import { given, NOW, party } from '../../../ports/transfer-store.suite.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import type { Warehouse } from '../engine/executor.ts';
import { rangesOf } from '../history/warehouse.ts';
import { insertRows } from './append.ts';
import { type HeldBlocks, joinRanges, readHeld } from './held.ts';
import { joinAddressRanges, transferStore } from './store.ts';

const CALL = { timeoutMs: 30_000 };
const CHAINS_HERE = ['ethereum', 'base'] as const;
const KINDS_HERE = ['native', 'token'] as const;

let warehouse: EmbeddedWarehouse;

beforeAll(async () => {
  warehouse = await freshWarehouse();
});
afterAll(async () => {
  await warehouse.close();
});

async function recorded(ranges: readonly HeldBlocks[]): Promise<void> {
  await warehouse.command('TRUNCATE TABLE coverage', CALL);
  const columns = ['chain', 'kind', 'from_block', 'to_block', 'source', 'observed', 'to_time'];
  const rows = ranges.map(({ chain, kind, from_block, to_block, origin, to_time }, n) => [
    ...[chain, kind, from_block, to_block, `file ${n}`, Number(origin === 'observed'), to_time],
  ]);
  await insertRows(warehouse, 'coverage', { columns, rows });
}

function inOrder(ranges: readonly HeldBlocks[]): string[] {
  return ranges.map((range) => JSON.stringify(range, Object.keys(range).sort())).sort();
}

const range = fc
  .record({
    chain: fc.constantFrom(...CHAINS_HERE),
    kind: fc.constantFrom(...KINDS_HERE),
    from_block: fc.nat({ max: 40 }),
    length: fc.nat({ max: 9 }),
    to_time: fc.integer({ min: 1, max: 5 }),
    origin: fc.constantFrom('observed' as const, 'simulated' as const),
  })
  .map(({ length, ...one }): HeldBlocks => {
    return { ...one, to_block: one.from_block + length, from_first: one.from_block <= 1 };
  });

/** Of equal ranges the newest time counts, as the table keeps it. */
function newestOfEqual(ranges: readonly HeldBlocks[]): HeldBlocks[] {
  const byName = new Map<string, HeldBlocks>();
  for (const one of ranges) {
    const name = [one.chain, one.kind, one.origin, one.from_block, one.to_block].join(' ');
    const before = byName.get(name);
    if (before === undefined || one.to_time > before.to_time) byName.set(name, one);
  }
  return [...byName.values()];
}

test('the statement joins ranges exactly as they are joined one by one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(range, { maxLength: 30 }), async (ranges) => {
      await recorded(ranges);
      const { ranges: held } = await readHeld(warehouse, CALL);
      expect(inOrder(held)).toEqual(inOrder(joinRanges(newestOfEqual(ranges))));
    }),
    { numRuns: 60 },
  );
}, 60_000);

test('thousands of ranges of an import come as the few rows that they are', async () => {
  const ranges = Array.from({ length: 5_000 }, (_, n): HeldBlocks => {
    const [chain, kind, origin] = ['ethereum', 'token', 'observed'] as const;
    const from_block = n * 10 + (n % 1_000 === 0 ? 1 : 0);
    return {
      chain,
      kind,
      origin,
      from_block,
      to_block: n * 10 + 9,
      to_time: n,
      from_first: n === 0,
    };
  });
  await recorded(ranges);
  let rows = 0;
  const counting: Warehouse = {
    ...warehouse,
    query: async (sql, options) => {
      const found = await warehouse.query(sql, options);
      rows += found.length;
      return found;
    },
  };
  const { ranges: held } = await readHeld(counting, CALL);
  expect(held.length).toBe(5);
  expect(rows).toBe(held.length + 2);
});

// Ranges of single addresses come as the fewest that say the same, and those of the past go.

describe('address ranges', () => {
  const DAY_S = 86_400;

  let warehouse: EmbeddedWarehouse;

  beforeAll(async () => {
    warehouse = await freshWarehouse();
  });
  beforeEach(() => warehouse.command('TRUNCATE TABLE address_coverage', CALL));
  afterAll(async () => {
    await warehouse.close();
  });

  /** Blocks 100 n to 100 n + 99, read an hour after those before them; the last ends at `NOW`. */
  function hourly(
    of: number,
    count: number,
    kind: AddressRange['kind'] = 'native',
  ): AddressRange[] {
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
});
