// What every warehouse executor promises, whichever size of the engine is behind it.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type InsertCell,
  type Warehouse,
  WarehouseQueryError,
  WarehouseUnavailable,
} from './executor.ts';

/** An executor under test, and how its test lets go of it. */
type Opened = { readonly warehouse: Warehouse; close(): Promise<void> };

const SLOW = 'SELECT count() AS n FROM numbers(400000000000) WHERE sipHash64(number) % 7 = 0';
const SECONDS_10 = { timeoutMs: 10_000 };
const UINT256_MAX = (2n ** 256n - 1n).toString();

const one = z.strictObject({ v: z.string() });

/** Runs the promises against an executor that runs at most `inFlightMax` statements, all ready. */
export function warehousePromises(
  name: string,
  inFlightMax: number,
  open: () => Promise<Opened>,
): void {
  describe(`${name} warehouse`, () => {
    let opened: Opened;
    const at = () => opened.warehouse;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    describe('says', () => promisesOfValues(at));
    describe('writes', () => promisesOfWriting(at));
    describe('is silent', () => promisesOfWaiting(at, inFlightMax));
    describe('refuses', () => promisesOfErrors(at));
  });
}

const count = z.strictObject({ n: z.coerce.number() });

async function rowsIn(warehouse: Warehouse, table: string): Promise<number | undefined> {
  const sql = `SELECT count() AS n FROM ${table}`;
  const [row] = await warehouse.query(sql, { ...SECONDS_10, row: count });
  return row?.n;
}

async function table(warehouse: Warehouse, name: string, columns: string): Promise<string> {
  const ddl = `CREATE OR REPLACE TABLE ${name} (${columns}) ENGINE = MergeTree ORDER BY tuple()`;
  await warehouse.command(ddl, SECONDS_10);
  return name;
}

function promisesOfValues(at: () => Warehouse): void {
  test('integers beyond 53 bits, decimals, infinity and null come back exactly', async () => {
    const row = z.strictObject({
      big: z.string(),
      wide: z.string(),
      price: z.string(),
      endless: z.string(),
      unmeasured: z.null(),
      small: z.number(),
    });
    const sql = `SELECT toUInt256(-1) AS big, toUInt64(-1) AS wide, toDecimal64('1.50', 2) AS price,
      1 / 0 AS endless, CAST(NULL AS Nullable(Float64)) AS unmeasured, toUInt32(7) AS small`;
    expect(await at().query(sql, { ...SECONDS_10, row })).toEqual([
      {
        big: UINT256_MAX,
        wide: '18446744073709551615',
        price: '1.5',
        endless: 'inf',
        unmeasured: null,
        small: 7,
      },
    ]);
  });

  test.each([
    ['a quote', "it's"],
    ['an end of the literal', "x'), sleep(3) --"],
    ['a backslash before the quote', "\\' OR 1 = 1 --"],
    ['an escaped backslash', '\\\\'],
    ['line ends and tabs', 'a\nb\tc\r'],
    ['a placeholder', '{v:String} {other:UInt8}'],
    ['a comment', '/* */ -- #'],
    ['a zero byte', 'a\0b'],
    ['letters of other scripts', 'Ж中🦊'],
    ['a null in escaped text', '\\N'],
    ['nothing', ''],
  ])('a bound value stays a value: %s', async (_, v) => {
    const options = { ...SECONDS_10, row: one, params: { v } };
    expect(await at().query('SELECT {v:String} AS v', options)).toEqual([{ v }]);
  });

  test('a bound list stays a list, even with ten thousand members', async () => {
    const list = Array.from({ length: 10_000 }, (_, i) => `0x${i}'\\`);
    const sql = 'SELECT toString(length({l:Array(String)})) AS v';
    const options = { ...SECONDS_10, row: one, params: { l: list } };
    expect(await at().query(sql, options)).toEqual([{ v: '10000' }]);
    const row = z.strictObject({ l: z.array(z.string()) });
    const few = { ...SECONDS_10, row, params: { l: list.slice(0, 3) } };
    expect(await at().query('SELECT {l:Array(String)} AS l', few)).toEqual([
      { l: list.slice(0, 3) },
    ]);
  });

  test('bound numbers, null, limits and names have their declared types', async () => {
    const row = z.strictObject({ big: z.string(), none: z.null(), yes: z.boolean() });
    const sql = `SELECT {big:UInt256} AS big, {none:Nullable(String)} AS none, {yes:Bool} AS yes
      FROM system.{from:Identifier} LIMIT {limit:UInt32}`;
    const params = { big: 2n ** 256n - 1n, none: null, yes: true, from: 'numbers', limit: 1 };
    expect(await at().query(sql, { ...SECONDS_10, row, params })).toEqual([
      { big: UINT256_MAX, none: null, yes: true },
    ]);
  });

  test('a result of many megabytes comes whole, as tuples', async () => {
    const row = z.tuple([z.string(), z.string()]);
    const sql = "SELECT number, repeat('x', 60) FROM numbers(100000) ORDER BY number";
    const rows = await at().query(sql, { timeoutMs: 30_000, row, tuples: true });
    expect(rows.length).toBe(100_000);
    expect(rows.at(-1)).toEqual(['99999', 'x'.repeat(60)]);
  });

  test('no rows is an empty list', async () => {
    const sql = "SELECT 'x' AS v FROM numbers(0)";
    expect(await at().query(sql, { ...SECONDS_10, row: one })).toEqual([]);
  });
}

const KEPT = `hex String EPHEMERAL, k FixedString(32) DEFAULT unhex(hex), amount UInt256,
  usd Nullable(Float64), note String`;

function promisesOfWriting(at: () => Warehouse): void {
  test('rows come back as they were given: the largest integer, 32 bytes, null for null', async () => {
    const name = await table(at(), 'kept', KEPT);
    const rows: InsertCell[][] = [
      ['ff'.repeat(32), 2n ** 256n - 1n, null, 'a\n"b"\\'],
      [`${'00'.repeat(31)}01`, 0n, 0, ''],
    ];
    await at().insert(name, { columns: ['hex', 'amount', 'usd', 'note'], rows }, SECONDS_10);
    const row = z.tuple([z.string(), z.string(), z.number().nullable(), z.string()]);
    const sql = `SELECT lower(hex(k)), amount, usd, note FROM ${name} ORDER BY amount DESC`;
    expect(await at().query(sql, { ...SECONDS_10, row, tuples: true })).toEqual([
      ['ff'.repeat(32), UINT256_MAX, null, 'a\n"b"\\'],
      [`${'00'.repeat(31)}01`, '0', 0, ''],
    ]);
  });

  test('a null for a column that takes none is refused, not stored as zero', async () => {
    const name = await table(at(), 'strict', 'a UInt64, b Nullable(UInt64)');
    const bad = { columns: ['a', 'b'], rows: [[null, null]] };
    await expect(at().insert(name, bad, SECONDS_10)).rejects.toMatchObject({
      reason: 'NULL_IN_COLUMN',
    });
    await expect(
      at().insert(name, { columns: ['a'], rows: [[Number.NaN]] }, SECONDS_10),
    ).rejects.toMatchObject({ reason: 'NUMBER_NOT_FINITE' });
    await expect(
      at().insert(name, { columns: ['a', 'c'], rows: [[1, 2]] }, SECONDS_10),
    ).rejects.toMatchObject({ reason: 'NO_SUCH_COLUMN' });
    expect(await rowsIn(at(), name)).toBe(0);
  });

  test('a stream of a hundred thousand rows is read no faster than it is written', async () => {
    const name = await table(at(), 'many', 'a UInt64, b String');
    let made = 0;
    async function* rows(): AsyncIterable<readonly InsertCell[]> {
      for (; made < 100_000; made += 1) yield [made, 'x'.repeat(200)];
    }
    const written = at().insert(name, { columns: ['a', 'b'], rows: rows() }, { timeoutMs: 30_000 });
    const seen: number[] = [];
    while ((await Promise.race([written.then(() => 'end'), soon()])) !== 'end') seen.push(made);
    expect(made).toBe(100_000);
    expect(seen.some((at) => at > 0 && at < 100_000)).toBe(true);
    expect(await rowsIn(at(), name)).toBe(100_000);
  });

  test('lines cut anywhere arrive as the same rows', async () => {
    const name = await table(at(), 'lines', 'a UInt64, b String');
    const text = Array.from({ length: 50 }, (_, i) => `{"a":"${i}","b":"é\\n${i}"}\n`).join('');
    const bytes = Buffer.from(text.trimEnd());
    async function* pieces() {
      for (let i = 0; i < bytes.length; i += 7) yield bytes.subarray(i, i + 7);
    }
    await at().insert(name, { format: 'JSONEachRow', bytes: pieces() }, SECONDS_10);
    const sql = `SELECT toString(sum(a)) AS v FROM ${name} WHERE b = concat('é\\n', toString(a))`;
    expect(await at().query(sql, { ...SECONDS_10, row: one })).toEqual([{ v: '1225' }]);
  });

  test('Parquet is inserted by column name; a source that fails half-way leaves no row', async () => {
    const name = await table(at(), 'parquet', 'b String, a UInt64');
    const bytes = await readFile(new URL('./recordings/three-rows.parquet', import.meta.url));
    async function* whole() {
      yield bytes;
    }
    async function* broken() {
      yield bytes.subarray(0, bytes.length / 2);
      throw new RangeError('the file ended');
    }
    const source = { columns: ['a', 'b'], format: 'Parquet' } as const;
    await expect(
      at().insert(name, { ...source, bytes: broken() }, SECONDS_10),
    ).rejects.toBeInstanceOf(RangeError);
    expect(await rowsIn(at(), name)).toBe(0);
    await at().insert(name, { ...source, bytes: whole() }, SECONDS_10);
    const row = z.tuple([z.string(), z.string()]);
    const sql = `SELECT a, b FROM ${name} ORDER BY a`;
    expect(await at().query(sql, { ...SECONDS_10, row, tuples: true })).toEqual([
      ['0', 'n0'],
      ['1', 'n1'],
      ['2', 'n2'],
    ]);
  });

  test('an empty insert is no statement and no error', async () => {
    const name = await table(at(), 'none', 'a UInt64');
    await at().insert(name, { columns: ['a'], rows: [] }, SECONDS_10);
    expect(await rowsIn(at(), name)).toBe(0);
  });
}

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

function promisesOfWaiting(at: () => Warehouse, inFlightMax: number): void {
  const slow = (call: { timeoutMs: number; signal?: AbortSignal }) =>
    at().query(SLOW, { ...call, row: count });

  async function settled(done: () => boolean): Promise<void> {
    for (let turn = 0; turn < 2_000 && !done(); turn += 1) await soon();
    expect(done()).toBe(true);
  }

  test('a caller that gives up is let go, and its slot is freed when the query has ended', async () => {
    const stop = new AbortController();
    const asked = slow({ timeoutMs: 60_000, signal: stop.signal });
    await settled(() => at().load().inFlight === 1);
    stop.abort();
    await expect(asked).rejects.toMatchObject({ name: 'WarehouseUnavailable', code: 'aborted' });
    await settled(() => at().load().inFlight === 0);
    await at().ping(SECONDS_10);
    expect(at().load().restarts).toBe(0);
  });

  test('callers that give up at any moment cost no restart', async () => {
    for (let pause = 0; pause < 20; pause += 1) {
      const stop = new AbortController();
      const asked = slow({ timeoutMs: 60_000, signal: stop.signal });
      setTimeout(() => stop.abort(), pause / 4);
      await expect(asked).rejects.toMatchObject({ code: 'aborted' });
    }
    await settled(() => at().load().inFlight === 0);
    expect(at().load().restarts).toBe(0);
  });

  test('a signal that had already been given asks nothing', async () => {
    const asked = slow({ timeoutMs: 60_000, signal: AbortSignal.abort() });
    await expect(asked).rejects.toMatchObject({ code: 'aborted' });
    expect(at().load().inFlight).toBe(0);
  });

  test('a query past its time is silence, and the engine goes on', async () => {
    await expect(slow({ timeoutMs: 150 })).rejects.toBeInstanceOf(WarehouseUnavailable);
    await settled(() => at().load().inFlight === 0);
    await at().ping(SECONDS_10);
    expect(at().load().restarts).toBe(0);
  });

  test('the statements at once are bounded; the rest wait, and may leave the queue', async () => {
    const stop = new AbortController();
    const asked = Array.from({ length: inFlightMax + 3 }, () =>
      slow({ timeoutMs: 60_000, signal: stop.signal }).then(
        () => 'rows',
        (error: unknown) => (error instanceof WarehouseUnavailable ? error.code : 'other'),
      ),
    );
    await settled(() => at().load().inFlight === inFlightMax);
    expect(at().load().waiting).toBe(3);
    stop.abort();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['aborted']));
    expect(at().load().waiting).toBe(0);
    await settled(() => at().load().inFlight === 0);
  });

  test('a query that alone takes too much memory is silence, told from a lack of room', async () => {
    const sql = 'SELECT groupArray(number) AS n FROM numbers(1000000000)';
    const asked = at().query(sql, { timeoutMs: 30_000, row: count });
    await expect(asked).rejects.toMatchObject({ code: 'too_large' });
  });
}

function promisesOfErrors(at: () => Warehouse): void {
  const asked = (sql: string, params?: Record<string, string>) =>
    at().query(sql, { ...SECONDS_10, row: one, params });

  test.each([
    ['SELEC 1', 'SYNTAX_ERROR'],
    ['SELECT v FROM no_such_table', 'UNKNOWN_TABLE'],
    ["SELECT throwIf(1, 'sesame') AS v", 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
    ['SELECT {v:String} AS v', 'PARAM_MISSING'],
    ['SELECT 1 AS v', 'ROW_SHAPE'],
  ])('a mistaken statement is a bug, not a failure of the warehouse: %s', async (sql, reason) => {
    await expect(asked(sql)).rejects.toMatchObject({ name: 'WarehouseQueryError', reason });
  });

  test('a value that no placeholder takes is a bug', async () => {
    await expect(asked("SELECT 'x' AS v", { w: 'x' })).rejects.toMatchObject({
      reason: 'PARAM_UNUSED',
    });
  });

  test('the message of a bug carries no data; the detail does, and is not enumerable', async () => {
    const error: unknown = await asked('SELECT toString(toUInt8({v:String})) AS v', {
      v: 'sesame',
    }).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    if (!(error instanceof WarehouseQueryError)) throw new Error('no query error');
    expect(error.detail).toContain('sesame');
    expect(`${error.stack} ${JSON.stringify({ ...error })}`).not.toContain('sesame');
  });

  test('more rows than asked for is an error, never a cut list', async () => {
    const sql = 'SELECT toString(number) AS v FROM numbers(11)';
    const ten = at().query(sql, { ...SECONDS_10, row: one, rowsMax: 10 });
    await expect(ten).rejects.toMatchObject({ reason: 'TOO_MANY_ROWS_OR_BYTES' });
    const eleven = await at().query(sql, { ...SECONDS_10, row: one, rowsMax: 11 });
    expect(eleven.length).toBe(11);
  });

  test('what a failed statement had already answered never reaches the next one', async () => {
    const half = `SELECT toString(number) AS v, throwIf(number = 200000) FROM numbers(300000)
      SETTINGS max_block_size = 1000, max_threads = 1`;
    for (let turn = 0; turn < 10; turn += 1) {
      await expect(asked(half)).rejects.toBeInstanceOf(WarehouseQueryError);
      expect(await asked("SELECT 'next' AS v")).toEqual([{ v: 'next' }]);
    }
  });

  test('a table or column name that is not one is refused before it is sent', async () => {
    const source = { columns: ['a) SELECT 1 --'], rows: [[1]] };
    await expect(at().insert('none', source, SECONDS_10)).rejects.toMatchObject({
      reason: 'BAD_NAME',
    });
    await expect(at().insert('a; DROP', source, SECONDS_10)).rejects.toMatchObject({
      reason: 'BAD_NAME',
    });
  });
}
