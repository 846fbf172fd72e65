// The guarantees of every imported table, whatever holds it. Each one's test runs them.

import { describe, expect, test } from 'vitest';
import { type Partly, Read, Unread } from '../evidence/reading.ts';
import type { ImportEnd, ImportFacts, Numbered, TableStore } from './tables.ts';

const STARTED = Date.UTC(2026, 10, 21, 12) / 1_000;
const HASH = 'a'.repeat(64);

/** The rows of a suite, and each of them as a short text. */
type SuiteRows<Row> = {
  readonly first: Row;
  readonly second: Row;
  readonly third: Row;
  readonly shownAs: (row: Row) => string;
};

/** The facts that begin an import. */
export function factsOf(source: string): ImportFacts {
  return { source, source_url: null, origin: 'observed', started_at: STARTED };
}

/** The end of an import of so many rows. */
export function endOf(rows_accepted: number): ImportEnd {
  return {
    rows_accepted,
    rows_refused: 1,
    rows_lost: 1,
    sha256: HASH,
    as_of: STARTED - 60,
    dated_by: 'file',
    completed_at: STARTED + 5,
  };
}

/** Holds a table under import to its promises. */
export function importedTableKeeps<Row>(
  name: string,
  rows: SuiteRows<Row>,
  make: () => Promise<TableStore<Row>>,
): void {
  describe(`${name} keeps the promises of a table under import`, () => {
    const { first, second, third, shownAs } = rows;
    const opened = async () => {
      const table = await make();
      return { table, seen: async () => (await rowsThatCount(table)).map(shownAs) };
    };

    test('nothing of an import is seen before it completes, and all of it is then', async () => {
      const { table, seen } = await opened();
      const { id } = valueIn(await table.begin(factsOf('one')));
      valueIn(await table.stage(id, numbered(first, second)));
      expect(await seen()).toEqual([]);
      expect(valueIn(await table.inForce())).toEqual([]);
      const record = valueIn(await table.complete(id, endOf(2)));
      expect((await seen()).toSorted()).toEqual([first, second].map(shownAs).toSorted());
      expect(valueIn(await table.inForce())).toEqual([record]);
      expect(record).toMatchObject({ id, ...factsOf('one'), ...endOf(2) });
    });

    test('a row that repeats an earlier one of its import is named and not kept', async () => {
      const { table, seen } = await opened();
      const { id } = valueIn(await table.begin(factsOf('one')));
      expect(valueIn(await table.stage(id, numbered(first, second, first)))).toEqual([3]);
      expect(valueIn(await table.stage(id, [{ n: 4, row: second }]))).toEqual([4]);
      valueIn(await table.complete(id, endOf(2)));
      expect(await seen()).toHaveLength(2);
    });

    test('an abandoned import leaves what was in force as it was', async () => {
      const { table, seen } = await opened();
      const record = await imported(table, 'one', [first]);
      const { id } = valueIn(await table.begin(factsOf('one')));
      valueIn(await table.stage(id, numbered(second)));
      valueIn(await table.abandon(id));
      expect(await seen()).toEqual([shownAs(first)]);
      expect(valueIn(await table.inForce())).toEqual([record]);
      expect(await table.complete(id, endOf(1))).toBeInstanceOf(Unread);
    });

    test('each source has one import in force, its newest, beside the others', async () => {
      const { table } = await opened();
      const one = await imported(table, 'one', [first]);
      const two = await imported(table, 'two', [second]);
      expect(valueIn(await table.inForce())).toEqual([one, two]);
      const again = await imported(table, 'one', [third]);
      expect(valueIn(await table.inForce())).toEqual([two, again]);
    });

    test('an import that completes with other rows than were staged is a fault', async () => {
      const { table, seen } = await opened();
      const { id } = valueIn(await table.begin(factsOf('one')));
      valueIn(await table.stage(id, numbered(first)));
      await expect(table.complete(id, endOf(2))).rejects.toThrow('rows');
      expect(await seen()).toEqual([]);
    });
  });
}

/** The rows of a small table that count, in their order. */
export async function rowsThatCount<Row>(table: TableStore<Row>): Promise<readonly Row[]> {
  const counting = valueIn(await table.counting(valueIn(await table.inForce())));
  const pages = await Promise.all([...counting.keys()].map((id) => table.page(id, 0)));
  return pages.flatMap((page) => valueIn(page).map(({ row }) => row));
}

/** Rows with their numbers, from 1. */
export function numbered<Row>(...rows: readonly Row[]): Numbered<Row>[] {
  return rows.map((row, i) => ({ n: i + 1, row }));
}

/** Imports rows whole; answers the record of the import. */
export async function imported<Row>(
  table: TableStore<Row>,
  source: string,
  rows: readonly Row[],
  more: Partial<ImportFacts> = {},
) {
  const { id } = valueIn(await table.begin({ ...factsOf(source), ...more }));
  const repeated = valueIn(await table.stage(id, numbered(...rows)));
  return valueIn(await table.complete(id, endOf(rows.length - repeated.length)));
}

/** The value of a reading that must have been read. */
export function valueIn<T>(reading: Partly<T, never>): T {
  if (!(reading instanceof Read)) throw new Error(`not read: ${reading.why.reason}`);
  return reading.value;
}
