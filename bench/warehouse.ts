// Arguments: --rows N, --follow SECONDS, --pace BLOCKS_A_SECOND, --dir PATH, --keep, --engines
// ours,duckdb,postgres. With a kept --dir nothing is loaded twice, and answers are compared with
// those of earlier runs.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type EmbeddedWarehouse, openEmbedded } from '../src/stores/warehouse/engine/embedded.ts';
import { queryNumber } from '../src/stores/warehouse/engine/executor.ts';
import { migrateWarehouse } from '../src/stores/warehouse/engine/migrate.ts';
import { warehouseReads } from '../src/stores/warehouse/history/warehouse.ts';
import { warehouseRing } from '../src/stores/warehouse/ring/ring.ts';
import { degreeCount } from '../src/stores/warehouse/transfers/counts.ts';
import { compactSides, transferStore } from '../src/stores/warehouse/transfers/store.ts';
import { peakMib, treeCpuMs } from './children.ts';
import { HEAD, line, timeEach } from './latencies.ts';
import {
  busyAddresses,
  lastBlock,
  listedAddresses,
  loadTokens,
  loadTransfers,
  type Made,
  startsOf,
  worthlessTokens,
} from './warehouse-data.ts';
import {
  duckdbEngine,
  exportCopy,
  exportParquet,
  postgresEngine,
  type WalkAnswer,
  walkAnswer,
} from './warehouse-engines.ts';
import { timeFollowing } from './warehouse-follow.ts';
import { fullWalk, singleRead, walker } from './warehouse-walks.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations/warehouse', import.meta.url));
const LISTED = 1_000;
const SINGLE_STARTS = 2_000;
const WALK_STARTS = 200;
const HUB_STARTS = 20;
const CALLERS = 32;
const SHOWN_MAX = 5;
const MERGES_WAIT_MS = 600_000;
const MERGES_POLL_MS = 500;
const RING_COUNTERPARTIES = 1_000_000;
const TIP_AGE_S = 120;
const CALL = { timeoutMs: 600_000 };

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    follow: { type: 'string', default: '0' },
    pace: { type: 'string', default: '3' },
    engines: { type: 'string', default: 'ours,duckdb,postgres' },
    dir: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const rows = Number(options.rows);
const engines = options.engines.split(',');
const folder = options.dir ?? mkdtempSync(join(tmpdir(), 'exhibit-bench-warehouse-'));
let made: Made = { rows, now: Math.floor(Date.now() / 1_000) };
const now = () => made.now;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const sizeRow = z.tuple([z.string(), z.coerce.number(), z.coerce.number(), z.coerce.number()]);

async function waitForMerges(warehouse: EmbeddedWarehouse): Promise<number> {
  const begun = performance.now();
  let quiet = 0;
  while (quiet < 4 && performance.now() - begun < MERGES_WAIT_MS) {
    const sql = 'SELECT count() FROM system.merges';
    quiet = (await queryNumber(warehouse, sql, CALL)) === 0 ? quiet + 1 : 0;
    await sleep(MERGES_POLL_MS);
  }
  return (performance.now() - begun) / 1_000;
}

function memoryOf(warehouse: EmbeddedWarehouse): string {
  return peakMib([process.pid, warehouse.pid()]).toFixed(0);
}

async function load(warehouse: EmbeddedWarehouse): Promise<void> {
  const begun = performance.now();
  let told = begun;
  await loadTransfers(warehouse, made, (loaded) => {
    if (performance.now() - told < 10_000) return;
    told = performance.now();
    say(`  ${loaded} of ${rows}, ${Math.round(loaded / ((told - begun) / 1_000))} a second`);
  });
  const seconds = (performance.now() - begun) / 1_000;
  const rate = Math.round(rows / seconds);
  say(`loaded ${rows} transfers in ${seconds.toFixed(1)} s: ${rate} rows a second`);
  await loadTokens(warehouse, made);
  const counting = performance.now();
  await degreeCount(warehouse).count();
  say(`  counted degrees in ${((performance.now() - counting) / 1_000).toFixed(1)} s`);
  say(`  merged for ${(await waitForMerges(warehouse)).toFixed(1)} s more`);
  const compacting = performance.now();
  await compactSides(warehouse);
  say(`  compacted in ${((performance.now() - compacting) / 1_000).toFixed(1)} s`);
  say(`  memory, all processes, high-water marks summed: ${memoryOf(warehouse)} MiB`);
  const range = { chain: 'ethereum', from_block: 0, to_block: lastBlock(made) } as const;
  const source = { to_time: now() - TIP_AGE_S, source: 'bench', origin: 'observed' } as const;
  const kinds = ['native', 'internal', 'token'] as const;
  await transferStore(warehouse, now).recordCoverage(
    kinds.map((kind) => ({ ...range, ...source, kind })),
  );
  const sql = `SELECT table, sum(bytes_on_disk), sum(rows), count() FROM system.parts
    WHERE active AND database = currentDatabase() AND rows > 0 GROUP BY table ORDER BY table`;
  const sizes = await warehouse.query(sql, { ...CALL, row: sizeRow, tuples: true });
  const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  for (const [table, bytes, count, parts] of sizes) {
    const each = (bytes / rows).toFixed(1);
    const held = `${String(count).padStart(11)} rows  ${each.padStart(6)} bytes a transfer`;
    say(`  ${table.padEnd(20)} ${held}, ${parts} parts`);
  }
  say(`  all tables: ${(total / rows).toFixed(1)} bytes a transfer`);
}

async function openStore(): Promise<EmbeddedWarehouse> {
  const warehouse = await openEmbedded(join(folder, 'store'));
  await migrateWarehouse(warehouse, MIGRATIONS, { simulated: false });
  return warehouse;
}

/** Prints how long each call took, and the processor time of all processes for each. */
async function sayEach<T>(
  name: string,
  items: readonly T[],
  callers: number,
  call: (item: T) => Promise<unknown>,
): Promise<void> {
  const before = treeCpuMs(process.pid);
  const taken = await timeEach(items, callers, call);
  const each = (treeCpuMs(process.pid) - before) / items.length;
  say(`${line(`  ${name}`, taken)}  ${each.toFixed(2).padStart(7)} ms of processors`);
}

type Starts = ReadonlyMap<'low' | 'middle', readonly string[]>;
type Walker = { readonly name: string; readonly walk: (start: string) => Promise<WalkAnswer> };
const ENGINES = ['ours', 'duckdb', 'postgres'];
const answersOf = (name: string) => join(folder, `answers-${name}.json`);
const answersBy = z.record(z.string(), walkAnswer);

/** Times the walks of an engine, and compares what they come to with what another engine said. */
async function sayWalks({ name, walk }: Walker, starts: Starts): Promise<void> {
  const answers = new Map<string, WalkAnswer>();
  const told = async (start: string) => void answers.set(start, await walk(start));
  for (const [of, addresses] of starts) {
    const few = addresses.slice(0, WALK_STARTS);
    for (const pass of ['cold', 'warm']) {
      await sayEach(`${name}: walk ${of} ${pass}, alone`, few, 1, told);
    }
    await timeEach(addresses, CALLERS, told);
    await sayEach(`${name}: walk ${of}, ${CALLERS} callers`, addresses, CALLERS, told);
  }
  const all = [...answers.values()];
  const found = all.filter(([hops]) => hops > 0).length;
  const contacts = all.filter(([, , , , hubs]) => hubs > 0).length;
  say(
    `  ${name}: ${all.length} starts, ${found} with a way, ${contacts} with a hub beside the list`,
  );
  writeFileSync(answersOf(name), JSON.stringify(Object.fromEntries(answers)));
  for (const other of ENGINES.filter((one) => one !== name)) {
    const path = answersOf(other);
    if (!existsSync(path)) continue;
    const said: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const theirs = new Map(Object.entries(answersBy.parse(said)));
    const both = [...answers].filter(([start]) => theirs.has(start));
    const text = (one: WalkAnswer | undefined) => JSON.stringify(one);
    const unlike = both.filter(([start, one]) => text(one) !== text(theirs.get(start)));
    say(`  ${name} and ${other} agree on ${both.length - unlike.length} of ${both.length} starts`);
    for (const [start, one] of unlike.slice(0, SHOWN_MAX)) {
      say(`    ${start}: ${text(one)}, ${other} ${text(theirs.get(start))}`);
    }
  }
}

/** A ring of its own, of listed addresses with a million counterparties together. */
async function sayRing(warehouse: EmbeddedWarehouse): Promise<void> {
  const listed = await busyAddresses(warehouse, RING_COUNTERPARTIES);
  const reads = warehouseReads(warehouse, now);
  const ring = warehouseRing(warehouse, reads, { now, simulated: false });
  const before = process.memoryUsage().rss;
  await ring.bringUp(listed);
  const { pairs, bytes, build_ms } = ring.facts();
  const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
  const mib = (bytes / 1024 / 1024).toFixed(1);
  say(`  ring: ${pairs} counterparties of ${listed.length} listed, ${mib} MiB (the process grew by
    ${grown.toFixed(0)} MiB), built in ${build_ms?.toFixed(0)} ms`);
}

async function main(): Promise<void> {
  say(`${rows} transfers, in ${folder}`);
  let warehouse = await openStore();
  const heldTo = await queryNumber(warehouse, 'SELECT max(to_time) FROM coverage', CALL);
  // A kept store is asked as of when it was made.
  if (heldTo === 0) await load(warehouse);
  else made = { rows, now: heldTo + TIP_AGE_S };
  const listed = await listedAddresses(warehouse, LISTED);
  const starts = new Map<'low' | 'middle', readonly string[]>();
  for (const of of ['low', 'middle'] as const)
    starts.set(of, await startsOf(warehouse, of, WALK_STARTS * 3));
  // A new process of the engine has none of its caches; the page cache is what it is.
  await warehouse.close();
  warehouse = await openStore();
  say(HEAD);
  if (engines.includes('ours')) {
    const ports = walker(warehouse, listed, now);
    await sayWalks({ name: 'ours', walk: (start) => fullWalk(ports, start) }, starts);
    const history = () => walker(warehouse, listed, now);
    for (const of of ['low', 'middle', 'hub'] as const) {
      const count = of === 'hub' ? HUB_STARTS : SINGLE_STARTS;
      const starts = await startsOf(warehouse, of, count);
      const ports = history();
      const read = (start: string) => singleRead(ports, start);
      for (const pass of ['cold', 'warm']) {
        await sayEach(`read ${of} ${pass}, alone`, starts.slice(0, 300), 1, read);
      }
      await sayEach(`read ${of}, ${CALLERS} callers`, starts, CALLERS, read);
    }
    await sayRing(warehouse);
  }
  if (Number(options.follow) > 0) {
    // Followed blocks must be new to the cached answers.
    for (const name of ENGINES) rmSync(answersOf(name), { force: true });
    const following = { seconds: Number(options.follow), pace: Number(options.pace) };
    for (const text of await timeFollowing(warehouse, listed, made, following)) say(text);
  }
  say(`  memory, all processes, high-water marks summed: ${memoryOf(warehouse)} MiB`);
  const worthless = await worthlessTokens(warehouse);
  const given = { folder, worthless, listed: listed.map((one) => one.slice(2)) };
  const files = {
    duckdb: engines.includes('duckdb') ? await exportParquet(warehouse, folder) : null,
    postgres: engines.includes('postgres') ? await exportCopy(warehouse, folder) : null,
  };
  await warehouse.close();
  for (const [open, file] of [
    [duckdbEngine, files.duckdb],
    [postgresEngine, files.postgres],
  ] as const) {
    if (file === null) continue;
    const engine = await open(file, given);
    const each = (engine.bytes / rows).toFixed(1);
    say(`  ${engine.name}: loaded in ${engine.loadS.toFixed(1)} s, ${each} bytes a transfer`);
    await sayWalks(engine, starts);
    await engine.close();
  }
}

try {
  await main();
} finally {
  if (!options.keep) rmSync(folder, { recursive: true, force: true });
}
