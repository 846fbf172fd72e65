import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type FrontFault,
  startWarehouseFront,
  type WarehouseFront,
} from '../../../testing/warehouse-front.ts';
import { type EmbeddedWarehouse, ENGINE_LIMITS, openEmbedded } from './embedded.ts';
import { warehousePromises } from './executor.suite.ts';
import {
  bindParams,
  identifier,
  openSlots,
  quoteSql,
  shapedRows,
  splitStatements,
  type Warehouse,
  WarehouseRefusal,
  WarehouseUnavailable,
} from './executor.ts';
import { REMOTE_LIMITS, remoteWarehouse } from './remote.ts';

const SECONDS_10 = { timeoutMs: 10_000 };
const SLOW = 'SELECT count() AS n FROM numbers(400000000000) WHERE sipHash64(number) % 7 = 0';
const count = z.strictObject({ n: z.coerce.number() });
const folders: string[] = [];

async function freshDirectory(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-warehouse-'));
  folders.push(folder);
  return join(folder, 'store');
}

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

warehousePromises('embedded', ENGINE_LIMITS.inFlightMax, async () => {
  const warehouse = await openEmbedded(await freshDirectory());
  return { warehouse, close: warehouse.close };
});

const FRONT_SLOTS = 3;

warehousePromises('remote', FRONT_SLOTS, async () => {
  const front = await startWarehouseFront(await freshDirectory());
  const limits = { ...REMOTE_LIMITS, inFlightMax: FRONT_SLOTS, queryBytesMax: 256 * 1024 * 1024 };
  const warehouse = remoteWarehouse(front.url, limits);
  const close = async () => {
    await warehouse.close();
    await front.close();
  };
  return { warehouse, close };
});

function counted(warehouse: Warehouse, sql: string): Promise<readonly { n: number }[]> {
  return warehouse.query(sql, { ...SECONDS_10, row: count });
}

/** Waits for the executor to answer again, by its own doing. */
async function answering(warehouse: Warehouse): Promise<void> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    const well = await warehouse.ping(SECONDS_10).then(
      () => true,
      (error: unknown) => {
        expect(error).toBeInstanceOf(WarehouseUnavailable);
        return false;
      },
    );
    if (well) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('The warehouse did not come back.');
}

function kill(warehouse: EmbeddedWarehouse): void {
  const pid = warehouse.pid();
  if (pid === undefined) throw new Error('There is no child to kill.');
  process.kill(pid, 'SIGKILL');
}

test('the embedded engine counts what may be written, as long as it may be', async () => {
  const warehouse = await openEmbedded(await freshDirectory());
  await warehouse.command('CREATE TABLE t (n UInt8) ENGINE = MergeTree ORDER BY n', SECONDS_10);
  const before = warehouse.writes();
  expect(before).not.toBeNull();
  await counted(warehouse, 'SELECT count() AS n FROM t');
  expect(warehouse.writes()).toBe(before);
  const insert = warehouse.insert('t', { columns: ['n'], rows: [[1]] }, SECONDS_10);
  await insert;
  const after = warehouse.writes();
  expect(after).not.toBe(before);
  // A caller that gives up leaves its statement running: until it has ended, nothing is sure.
  const abandoned = warehouse
    .command(`INSERT INTO t SELECT 2 FROM (${SLOW})`, { timeoutMs: 300 })
    .catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(warehouse.writes()).toBeNull();
  expect(await abandoned).toBeInstanceOf(WarehouseUnavailable);
  expect(warehouse.writes()).not.toBe(after);
  await warehouse.close();
});

describe('the embedded engine dies', () => {
  let directory: string;
  let warehouse: EmbeddedWarehouse;
  beforeAll(async () => {
    directory = await freshDirectory();
    warehouse = await openEmbedded(directory);
    await warehouse.command(
      'CREATE TABLE kept (i UInt64) ENGINE = MergeTree ORDER BY i',
      SECONDS_10,
    );
  });
  afterAll(() => warehouse.close());

  test('killed under load: every query in flight or waiting rejects, none is empty, it recovers', async () => {
    const before = warehouse.load().restarts;
    const outcomes = Array.from({ length: 12 }, () =>
      counted(warehouse, SLOW).then(
        () => 'rows',
        (error: unknown) => (error instanceof WarehouseUnavailable ? error.code : 'other'),
      ),
    );
    while (warehouse.load().inFlight < ENGINE_LIMITS.inFlightMax) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    kill(warehouse);
    const said = await Promise.all(outcomes);
    expect(said.filter((code) => code === 'interrupted').length).toBe(ENGINE_LIMITS.inFlightMax);
    expect(said.filter((code) => code === 'down').length).toBe(12 - ENGINE_LIMITS.inFlightMax);
    await expect(counted(warehouse, 'SELECT 1 AS n')).rejects.toMatchObject({ code: 'down' });
    await answering(warehouse);
    expect(await counted(warehouse, 'SELECT 41 AS n')).toEqual([{ n: 41 }]);
    expect(warehouse.load().restarts).toBeGreaterThan(before);
  });

  test('killed while inserting, again and again: no acknowledged row is lost', async () => {
    const acknowledged = new Set<number>();
    for (let life = 0; life < 3; life += 1) {
      await answering(warehouse);
      const first = life * 1_000_000;
      const until = acknowledged.size + 30;
      const writers = [0, 1, 2].map(async (writer) => {
        for (let i = first + writer; ; i += 3) {
          await warehouse.insert('kept', { columns: ['i'], rows: [[i]] }, SECONDS_10);
          acknowledged.add(i);
          if (acknowledged.size === until) kill(warehouse);
        }
      });
      for (const writer of await Promise.allSettled(writers)) {
        expect(writer).toMatchObject({ reason: { name: 'WarehouseUnavailable' } });
      }
    }
    await answering(warehouse);
    const row = z.strictObject({ i: z.coerce.number() });
    const rows = await warehouse.query('SELECT i FROM kept', { ...SECONDS_10, row });
    const held = new Set(rows.map(({ i }) => i));
    expect(acknowledged.size).toBeGreaterThanOrEqual(90);
    expect([...acknowledged].filter((i) => !held.has(i))).toEqual([]);
  });

  test('a query that cannot be stopped costs the child its life, and the others say interrupted', async () => {
    const impatient = { ...ENGINE_LIMITS, readGraceMs: 0 };
    const other = await openEmbedded(await freshDirectory(), impatient);
    const innocent = counted(other, SLOW).catch((error: unknown) => error);
    await expect(other.query(SLOW, { timeoutMs: 100, row: count })).rejects.toMatchObject({
      code: 'timeout',
    });
    expect(await innocent).toMatchObject({ code: 'interrupted' });
    await answering(other);
    expect(other.load().restarts).toBe(1);
    await other.close();
  });

  test('a second owner of the directory is told so, and the first goes on', async () => {
    const second = openEmbedded(directory);
    await expect(second).rejects.toThrow(
      `The warehouse in ${directory} is open in another process: stop that first.`,
    );
    await expect(second).rejects.toMatchObject({ name: 'WarehouseRefusal', code: 'locked' });
    await warehouse.ping(SECONDS_10);
  });

  test('the child does not outlive an owner that was killed', async () => {
    const store = await freshDirectory();
    const embedded = new URL(
      '../../../../dist/stores/warehouse/engine/embedded.js',
      import.meta.url,
    );
    const script = `const { openEmbedded } = await import(${JSON.stringify(embedded.href)});
      const warehouse = await openEmbedded(${JSON.stringify(store)});
      await warehouse.command('CREATE TABLE left (n UInt8) ENGINE = Log', { timeoutMs: 10000 });
      warehouse.query(${JSON.stringify(SLOW)}, { timeoutMs: 600000, row: { parse: () => 0 } });
      while (warehouse.load().inFlight === 0) await new Promise((go) => setTimeout(go, 1));
      console.log('open');`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => owner.stdout.once('data', resolve));
    owner.kill('SIGKILL');
    const heir = await openEmbedded(store);
    expect(await counted(heir, 'SELECT count() AS n FROM left')).toEqual([{ n: 0 }]);
    await heir.close();
  });

  test('an interrupt from the terminal reaches the child too, and is left to the owner', async () => {
    const pid = warehouse.pid();
    if (pid === undefined) throw new Error('There is no child to interrupt.');
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(pid, signal);
    expect(await counted(warehouse, 'SELECT toUInt8(sleep(0.2)) AS n')).toEqual([{ n: 0 }]);
    expect(warehouse.pid()).toBe(pid);
  });

  test('closing lets a query end; later calls are refused, and the directory is free', async () => {
    const store = await freshDirectory();
    const first = await openEmbedded(store);
    const last = counted(first, 'SELECT toUInt8(sleep(0.3)) AS n');
    await first.close();
    expect(await last).toEqual([{ n: 0 }]);
    await expect(counted(first, 'SELECT 1 AS n')).rejects.toMatchObject({ code: 'closed' });
    const second = await openEmbedded(store);
    await second.close();
  });
});

async function* oneLine(): AsyncIterable<Uint8Array> {
  yield Buffer.from('{"i":1}\n');
}

describe('the server fails', () => {
  let front: WarehouseFront;
  let warehouse: Warehouse;
  beforeAll(async () => {
    front = await startWarehouseFront(await freshDirectory());
    warehouse = remoteWarehouse(front.url);
    await warehouse.command(
      'CREATE TABLE kept (i UInt64) ENGINE = MergeTree ORDER BY i',
      SECONDS_10,
    );
  });
  afterAll(async () => {
    await warehouse.close();
    await front.close();
  });

  const exception = (code: number, name: string): FrontFault => ({ kind: 'exception', code, name });
  const runAndTold = (code: number, framed: boolean): FrontFault => {
    return { kind: 'exception_after', code, name: 'AFTER', framed };
  };
  const faults: [string, FrontFault, string][] = [
    ['refused connections', { kind: 'down' }, 'interrupted'],
    ['an answer cut off', { kind: 'cut' }, 'interrupted'],
    ['half an answer that ends as if whole', { kind: 'half' }, 'interrupted'],
    ['an exception after the first rows', { kind: 'exception_midway' }, 'interrupted'],
    ["a proxy's error page", { kind: 'html', status: 502 }, 'interrupted'],
    ["a proxy's page under status 200", { kind: 'html', status: 200 }, 'interrupted'],
    ['too many queries', { kind: 'exception', code: 202, name: 'TOO_MANY' }, 'overloaded'],
    ['a keeper that is away', { kind: 'exception', code: 999, name: 'KEEPER' }, 'down'],
    ['a quorum of the last write that lacks', exception(286, 'UNSATISFIED_QUORUM'), 'replicas'],
    ['a replica that lacks the last write', exception(289, 'NOT_IN_QUORUM'), 'replicas'],
    ['a lost shard', exception(279, 'ALL_CONNECTION_TRIES_FAILED'), 'down'],
    ['memory that is spent', exception(241, 'MEMORY_LIMIT_EXCEEDED'), 'overloaded'],
    ['a part that is damaged', exception(40, 'CHECKSUM_DOESNT_MATCH'), 'damaged'],
    ['an exception behind the rows', runAndTold(241, false), 'interrupted'],
    ['an exception in a frame behind the rows', runAndTold(241, true), 'interrupted'],
    ['wrong credentials', { kind: 'exception', code: 516, name: 'AUTH_FAILED' }, 'rejected'],
  ];

  test.each(faults)('%s is silence, never fewer rows', async (_, fault, code) => {
    front.fault(fault);
    const sql = 'SELECT number AS n FROM numbers(1000)';
    await expect(counted(warehouse, sql)).rejects.toMatchObject({
      name: 'WarehouseUnavailable',
      code,
    });
    front.fault(undefined);
    expect((await counted(warehouse, sql)).length).toBe(1000);
  });

  const write = { columns: ['i'], rows: [[1]] };

  test.each([
    ['too few live replicas', exception(285, 'TOO_FEW_LIVE_REPLICAS'), 'replicas'],
    ['a replica without its keeper', exception(242, 'TABLE_IS_READ_ONLY'), 'replicas'],
    ['a full disk', exception(243, 'NOT_ENOUGH_SPACE'), 'disk'],
    ['a write that the disk refused', exception(75, 'CANNOT_WRITE_TO_FILE_DESCRIPTOR'), 'disk'],
    ['too many parts', exception(252, 'TOO_MANY_PARTS'), 'overloaded'],
    ['an unknown status', exception(319, 'UNKNOWN_STATUS_OF_INSERT'), 'interrupted'],
    ['a user that may not write', exception(164, 'READONLY'), 'rejected'],
    ['a quorum that lacks after it was said to be well', runAndTold(285, false), 'replicas'],
    ['the same in a frame', runAndTold(319, true), 'interrupted'],
    ["a proxy's page under status 200", { kind: 'html', status: 200 }, 'interrupted'],
  ] satisfies [string, FrontFault, string][])(
    '%s is no acknowledgement, of rows or of a statement',
    async (_, fault, code) => {
      await warehouse.command(
        'CREATE TABLE IF NOT EXISTS told (i UInt64) ENGINE = Null',
        SECONDS_10,
      );
      const source = { format: 'JSONEachRow', bytes: oneLine() } as const;
      front.fault(fault);
      const refused = { name: 'WarehouseUnavailable', code };
      await expect(warehouse.insert('told', source, SECONDS_10)).rejects.toMatchObject(refused);
      const statement = 'INSERT INTO told SELECT 1';
      await expect(warehouse.command(statement, SECONDS_10)).rejects.toMatchObject(refused);
      front.fault(undefined);
      await warehouse.command(statement, SECONDS_10);
    },
  );

  test('an insert that met a fault is not acknowledged', async () => {
    const faults: FrontFault[] = [{ kind: 'down' }, { kind: 'html', status: 500 }];
    for (const fault of faults) {
      front.fault(fault);
      await expect(warehouse.insert('kept', write, SECONDS_10)).rejects.toMatchObject({
        name: 'WarehouseUnavailable',
      });
      front.fault(undefined);
    }
    expect(await counted(warehouse, 'SELECT count() AS n FROM kept')).toEqual([{ n: 0 }]);
  });

  test('whole answers and whole writes are asked of a cluster, never what it has at hand', async () => {
    const whole = {
      wait_end_of_query: '1',
      http_write_exception_in_output_format: '0',
      skip_unavailable_shards: '0',
      fallback_to_stale_replicas_for_distributed_queries: '0',
      async_insert: '0',
      distributed_foreground_insert: '1',
      insert_deduplicate: '0',
      insert_quorum: 'auto',
      select_sequential_consistency: '1',
    };
    await counted(warehouse, 'SELECT 1 AS n');
    expect(front.lastFields()).toMatchObject(whole);
    await warehouse.insert('kept', { format: 'JSONEachRow', bytes: oneLine() }, SECONDS_10);
    expect(front.lastFields()).toMatchObject(whole);
    await warehouse.command('TRUNCATE TABLE kept', SECONDS_10);
  });

  test('a slow server is let go at the time limit', async () => {
    front.fault({ kind: 'slow', ms: 2_000 });
    await expect(
      warehouse.query('SELECT 1 AS n', { timeoutMs: 50, row: count }),
    ).rejects.toMatchObject({ code: 'timeout' });
    front.fault(undefined);
  });

  test('its engine killed under load: every query rejects, and later ones are answered', async () => {
    const outcomes = Array.from({ length: 4 }, () =>
      counted(warehouse, SLOW).then(
        () => 'rows',
        (error: unknown) => (error instanceof WarehouseUnavailable ? 'silence' : 'other'),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    const pid = front.pid();
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['silence']));
    await answering(warehouse);
  });

  test('a server that is not there is down, and the message names no part of its URL', async () => {
    const nowhere = remoteWarehouse('http://marker:marker@127.0.0.1:1/marker');
    const error: unknown = await counted(nowhere, 'SELECT 1 AS n').catch((cause: unknown) => cause);
    expect(error).toMatchObject({ name: 'WarehouseUnavailable', code: 'down' });
    expect(error instanceof Error && `${error.stack} ${JSON.stringify(error)}`).not.toContain(
      'marker',
    );
    await nowhere.close();
  });

  test.each(['http://127.0.0.1:1/?marker=1', 'ftp://marker', 'marker'])(
    'a URL that is none is refused without being repeated: %s',
    (url) => {
      expect(() => remoteWarehouse(url)).toThrow(WarehouseRefusal);
      expect(() => remoteWarehouse(url)).not.toThrow('marker');
    },
  );
});

describe('a bound value', () => {
  test('becomes a cast literal of its declared type', () => {
    const params = { a: 'x', n: null, b: 2n ** 200n, l: ["it's", 'b'] };
    const sql = 'SELECT {a:String}, {n:Nullable(String)}, { b : UInt256 }, {l:Array(String)}';
    expect(bindParams(sql, params)).toBe(
      `SELECT _CAST('x', 'String'), _CAST(NULL, 'Nullable(String)'), _CAST('${2n ** 200n}', ` +
        `'UInt256'), _CAST('[\\'it\\\\\\'s\\',\\'b\\']', 'Array(String)')`,
    );
  });

  test('is put nowhere inside quoted text, quoted names and comments', () => {
    const sql = `SELECT '{a:X}', "{a:X}", \`{a:X}\`, 'it\\'s {a:X}', 'x''{a:X}' -- {a:X}\n/* {a:X} */`;
    expect(bindParams(sql, undefined)).toBe(sql);
  });

  test('cannot end its literal, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const literal = quoteSql(text);
        const inside = literal.slice(1, -1).replace(/\\[\s\S]/g, '');
        expect(literal.startsWith("'") && literal.endsWith("'")).toBe(true);
        expect(inside).not.toContain("'");
        expect(inside).not.toContain('\\');
      }),
    );
  });

  test('is refused where it is not a number', () => {
    expect(() => bindParams('{a:Float64}', { a: Number.NaN })).toThrow('PARAM_NOT_FINITE');
  });
});

describe('a bound name', () => {
  test('is a plain one', () => {
    expect(bindParams('SELECT 1 FROM {t:Identifier}', { t: 'sides_local' })).toContain(
      'sides_local',
    );
  });

  test.each(['a b', 'a;', '', '1a', 'a.b', 'a`'])('is refused otherwise: "%s"', (name) => {
    expect(() => identifier(name)).toThrow('BAD_NAME');
  });
});

const SOURCE = `-- Sides by address; it's sharded.
CREATE TABLE IF NOT EXISTS {{local:sides}} {{on_cluster}} (a String DEFAULT ';--{{x}}')
ENGINE = {{engine:ReplacingMergeTree(version)}} ORDER BY a; /* and; then */
{{distributed:sides:cityHash64(a)}};
{{cluster_only}} ALTER TABLE sides {{on_cluster}} ADD COLUMN IF NOT EXISTS b UInt8;
CREATE TABLE IF NOT EXISTS stamp {{on_cluster}} (a UInt8)
ENGINE = {{engine_everywhere:MergeTree()}} ORDER BY a`;

describe('one source', () => {
  test('on a single node names plain tables and nothing of a cluster', () => {
    expect(splitStatements(SOURCE.replace('{{x}}', 'x'), 'single')).toEqual([
      `CREATE TABLE IF NOT EXISTS sides  (a String DEFAULT ';--x')
ENGINE = ReplacingMergeTree(version) ORDER BY a`,
      `CREATE TABLE IF NOT EXISTS stamp  (a UInt8)
ENGINE = MergeTree() ORDER BY a`,
    ]);
  });

  test('on a cluster replicates, shards and distributes', () => {
    const [local, distributed, altered, everywhere] = splitStatements(
      SOURCE.replace('{{x}}', 'x'),
      'cluster',
    );
    expect(local).toContain("sides_local ON CLUSTER '{cluster}'");
    expect(local).toContain(
      "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version)",
    );
    expect(distributed).toContain(
      "AS sides_local\nENGINE = Distributed('{cluster}', currentDatabase(), sides_local, cityHash64(a))",
    );
    expect(altered).toBe(
      "ALTER TABLE sides ON CLUSTER '{cluster}' ADD COLUMN IF NOT EXISTS b UInt8",
    );
    expect(everywhere).toContain(
      "ReplicatedMergeTree('/clickhouse/tables/{database}/{table}', '{shard}-{replica}')",
    );
  });

  test.each([
    ['CREATE TABLE a {{on_cluster}} (b UInt8) ENGINE = {{engine:MergeTree()}}', 'IF NOT EXISTS'],
    ['CREATE TABLE IF NOT EXISTS a (b UInt8) ENGINE = {{engine:MergeTree()}}', 'on_cluster'],
    ['CREATE TABLE IF NOT EXISTS a {{on_cluster}} (b UInt8) ENGINE = MergeTree()', 'an engine'],
    ['CREATE TABLE IF NOT EXISTS a {{on_cluster}} {{other}}', 'unknown placeholder'],
    ['CREATE TABLE IF NOT EXISTS a {{on_cluster}} ENGINE = {{engine:MergeTree}}', 'unknown'],
  ])('is refused where one layout would go wrong: %s', (statement, why) => {
    expect(() => splitStatements(statement, 'single')).toThrow(why);
  });
});

const row = z.strictObject({ a: z.string() });
const whole = '{"meta":[],"data":[{"a":"1"},{"a":"2"}],"rows":2}';

test('a whole document gives its rows', () => {
  expect(shapedRows(whole, row)).toEqual([{ a: '1' }, { a: '2' }]);
});

test('an answer cut anywhere, doubled, or miscounted is silence', () => {
  for (let end = 0; end < whole.length; end += 1) {
    expect(() => shapedRows(whole.slice(0, end), row)).toThrow(WarehouseUnavailable);
  }
  for (const wrong of [whole + whole, whole.replace('"rows":2', '"rows":3'), '[]', 'null', '{}']) {
    expect(() => shapedRows(wrong, row)).toThrow(WarehouseUnavailable);
  }
});

const MINUTE = { timeoutMs: 60_000 };

/** Work that ends when it is told to. */
function task() {
  let end: (value: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const seen: { stop?: AbortSignal } = {};
  const work = (stop: AbortSignal) => {
    seen.stop = stop;
    return ended;
  };
  return { work, end, seen };
}

describe('slots', () => {
  test('run in the order of asking, no more at once than there are', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 5 });
    const tasks = [task(), task(), task()];
    const answers = tasks.map(({ work }) => slots.run(MINUTE, work));
    expect(slots.load()).toEqual({ inFlight: 1, waiting: 2 });
    const begun = () => tasks.map(({ seen }) => seen.stop !== undefined);
    for (const [i, { end }] of tasks.entries()) {
      expect(begun()).toEqual(tasks.map((_, at) => at <= i));
      end(`${i}`);
      expect(await answers[i]).toBe(`${i}`);
    }
    expect(slots.load()).toEqual({ inFlight: 0, waiting: 0 });
  });

  test('a full queue answers overloaded at once', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const tasks = [task(), task()];
    const answers = tasks.map(({ work }) => slots.run(MINUTE, work));
    await expect(slots.run(MINUTE, task().work)).rejects.toMatchObject({ code: 'overloaded' });
    for (const { end } of tasks) end('done');
    expect(await Promise.all(answers)).toEqual(['done', 'done']);
  });

  test('a caller that gives up is let go; its slot stays taken until the work has ended', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const { work, end, seen } = task();
    const stop = new AbortController();
    const answer = slots.run({ ...MINUTE, signal: stop.signal }, work);
    stop.abort();
    await expect(answer).rejects.toMatchObject({ code: 'aborted' });
    expect(seen.stop?.aborted).toBe(true);
    expect(slots.load().inFlight).toBe(1);
    end('late');
    await slots.run(MINUTE, async () => 'next');
    expect(slots.load().inFlight).toBe(0);
  });

  test('work that fails after its caller has gone troubles nobody, and frees its slot', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const answer = slots.run({ timeoutMs: 1 }, async (stop) => {
      await new Promise((resolve) => stop.addEventListener('abort', resolve));
      throw new Error('too late');
    });
    await expect(answer).rejects.toMatchObject({ code: 'timeout' });
    expect(await slots.run(MINUTE, async () => 'next')).toBe('next');
  });

  test('closing waits for the work, refuses new calls, and in the end lets the callers go', async () => {
    const slots = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const quick = task();
    const answer = slots.run(MINUTE, quick.work);
    const closed = slots.close(60_000);
    await expect(slots.run(MINUTE, task().work)).rejects.toMatchObject({ code: 'closed' });
    quick.end('done');
    await closed;
    expect(await answer).toBe('done');

    const other = openSlots({ inFlightMax: 1, waitingMax: 1 });
    const stuck = [other.run(MINUTE, task().work), other.run(MINUTE, task().work)];
    void other.close(1);
    for (const one of stuck) await expect(one).rejects.toMatchObject({ code: 'closed' });
  });
});
