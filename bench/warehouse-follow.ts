// Blocks are made and written by another process, as in a deployment; beside it a reader and a
// walker, one after the other. How late the event loop of the serving process is, is told too.

import { fork } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { z } from 'zod';
import type { Warehouse } from '../src/stores/warehouse/engine/executor.ts';
import { latenciesOf, line } from './latencies.ts';
import { lastBlock, type Made, startsOf } from './warehouse-data.ts';
import { fullWalk, singleRead, walker } from './warehouse-walks.ts';

const STARTS = 2_000;
const NS_PER_MS = 1e6;
/** The monitor wakes so often; what it is late by is beyond that. */
const LOOK_MS = 10;

const scalar = z.union([z.string(), z.number(), z.bigint(), z.boolean(), z.null()]);
const params = z.record(z.string(), z.union([scalar, z.array(scalar)]));
const call = { id: z.number(), timeoutMs: z.number() };
const report = z.discriminatedUnion('say', [
  z.object({
    say: z.literal('query'),
    sql: z.string(),
    params: params.optional(),
    rowsMax: z.number().optional(),
    tuples: z.boolean().optional(),
    ...call,
  }),
  z.object({ say: z.literal('command'), sql: z.string(), params: params.optional(), ...call }),
  z.object({
    say: z.literal('insert'),
    table: z.string(),
    columns: z.array(z.string()).optional(),
    bytes: z.instanceof(Uint8Array),
    ...call,
  }),
  z.object({ say: z.literal('begun') }),
  z.object({ say: z.literal('ended'), writes: z.array(z.number()), finals: z.array(z.number()) }),
]);
type Report = z.infer<typeof report>;
type Asked = Exclude<Report, { say: 'begun' | 'ended' }>;
const AS_IT_IS = { parse: (row: unknown) => row };

async function runFor(warehouse: Warehouse, asked: Asked): Promise<readonly unknown[]> {
  const { timeoutMs } = asked;
  if (asked.say === 'query') {
    const { sql, tuples, rowsMax } = asked;
    const question = { row: AS_IT_IS, params: asked.params, rowsMax, tuples, timeoutMs };
    return warehouse.query(sql, question);
  }
  if (asked.say === 'command') {
    await warehouse.command(asked.sql, { params: asked.params, timeoutMs });
    return [];
  }
  const bytes = (async function* () {
    yield asked.bytes;
  })();
  const source = { columns: asked.columns, format: 'JSONCompactEachRow', bytes } as const;
  await warehouse.insert(asked.table, source, { timeoutMs });
  return [];
}

/** Has another process follow; answers how long each block took, and each making final. */
function followed(
  warehouse: Warehouse,
  made: Made,
  { seconds, pace }: Following,
  onBegun: () => void,
): Promise<Extract<Report, { say: 'ended' }>> {
  const child = fork(new URL('./warehouse-writer.js', import.meta.url), {
    serialization: 'advanced',
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the writer ended with ${String(code)}`)));
    child.on('message', (message: unknown) => {
      const told = report.parse(message);
      if (told.say === 'begun') {
        onBegun();
        return;
      }
      if (told.say === 'ended') {
        resolve(told);
        child.kill();
        return;
      }
      runFor(warehouse, told).then(
        (rows) => child.send({ id: told.id, rows, fault: null }),
        (fault: unknown) => child.send({ id: told.id, rows: [], fault: String(fault) }),
      );
    });
    child.send({ ...made, from_block: lastBlock(made) + 1, seconds, pace });
  });
}

/** For how long it is followed, and how many blocks of 500 come a second. */
export type Following = { readonly seconds: number; readonly pace: number };

/** Follows for some seconds; answers the lines to print. */
export async function timeFollowing(
  warehouse: Warehouse,
  listed: readonly string[],
  made: Made,
  following: Following,
): Promise<readonly string[]> {
  const low = await startsOf(warehouse, 'low', STARTS);
  const ports = walker(warehouse, listed, () => made.now);
  const started = performance.now();
  const until = started + following.seconds * 1_000;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const repeat = async (starts: readonly string[], one: (start: string) => Promise<unknown>) => {
    const taken: number[] = [];
    await begun;
    for (let at = 0; performance.now() < until; at += 1) {
      const start = starts[at % starts.length];
      if (start === undefined) break;
      const before = performance.now();
      await one(start);
      taken.push(performance.now() - before);
    }
    return taken;
  };
  const loop = monitorEventLoopDelay({ resolution: LOOK_MS });
  loop.enable();
  const [{ writes, finals }, reads, walks] = await Promise.all([
    followed(warehouse, made, following, begin),
    repeat(low, (start) => singleRead(ports, start)),
    repeat(low.toReversed(), (start) => fullWalk(ports, start)),
  ]);
  loop.disable();
  const ms = performance.now() - started;
  const late = [loop.percentile(50), loop.percentile(99), loop.max].map((ns) => {
    return Math.max(0, ns / NS_PER_MS - LOOK_MS).toFixed(1);
  });
  return [
    line('  following: a block of 500 applied', latenciesOf(writes, ms)),
    line('  following: blocks made final', latenciesOf(finals, ms)),
    line('  following: single reads beside it', latenciesOf(reads, ms)),
    line('  following: low walks beside it', latenciesOf(walks, ms)),
    `  following: the event loop was late by ${late.join(', ')} ms (p50, p99, longest)`,
  ];
}
