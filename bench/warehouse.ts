// Answers one question: how fast does the warehouse load, and answer reads and walks, beside what
// else could hold the same edges. Milliseconds; ratios are what counts, within one run.
// Arguments: --rows N, --follow SECONDS, --engines ours,duckdb,postgres, --dir PATH, --keep.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import {
  type EmbeddedWarehouse,
  embeddedWarehouse,
} from '../src/stores/warehouse/engine/embedded.ts';
import { migrateWarehouse } from '../src/stores/warehouse/engine/migrate.ts';
import { compactSides } from '../src/stores/warehouse/transfers/compaction.ts';
import { degreeCount } from '../src/stores/warehouse/transfers/degrees.ts';
import { transferStore } from '../src/stores/warehouse/transfers/store.ts';
import { HEAD, line, timeEach } from './latencies.ts';
import {
  lastBlock,
  listedAddresses,
  loadTransfers,
  type Made,
  startsOf,
} from './warehouse-data.ts';
import {
  duckdbEdges,
  type Engine,
  exportEdges,
  ourEdges,
  postgresEdges,
} from './warehouse-edges.ts';
import { timeFollowing } from './warehouse-follow.ts';
import { fullWalk, singleRead, walker } from './warehouse-walks.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../migrations/warehouse', import.meta.url));
const LISTED = 1_000;
const SINGLE_STARTS = 2_000;
const WALK_STARTS = 200;
const HUB_STARTS = 20;
const CALLERS = 32;
const MERGES_WAIT_MS = 600_000;
const MERGES_POLL_MS = 500;
const CALL = { timeoutMs: 600_000 };
const OTHERS = ['duckdb', 'postgres'];

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    follow: { type: 'string', default: '0' },
    engines: { type: 'string', default: 'ours,duckdb,postgres' },
    dir: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const rows = Number(options.rows);
const engines = options.engines.split(',');
const folder = options.dir ?? mkdtempSync(join(tmpdir(), 'exhibit-bench-warehouse-'));
const made: Made = { rows, now: Math.floor(Date.now() / 1_000) };
const now = () => made.now;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const sizeRow = z.tuple([z.string(), z.coerce.number(), z.coerce.number(), z.coerce.number()]);

/** Bytes of each table, and how many parts it has. */
async function saySizes(warehouse: EmbeddedWarehouse): Promise<void> {
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

const one = z.tuple([z.coerce.number()]);

/** Waits until the engine has nothing to merge any more. */
async function waitForMerges(warehouse: EmbeddedWarehouse): Promise<number> {
  const begun = performance.now();
  let quiet = 0;
  while (quiet < 4 && performance.now() - begun < MERGES_WAIT_MS) {
    const sql = 'SELECT count() FROM system.merges';
    const [running] = await warehouse.query(sql, { ...CALL, row: one, tuples: true });
    quiet = running?.[0] === 0 ? quiet + 1 : 0;
    await sleep(MERGES_POLL_MS);
  }
  return (performance.now() - begun) / 1_000;
}

/** The most memory that this process and the engine's have had at once, at most, in MiB. */
function peakMib(warehouse: EmbeddedWarehouse): number {
  const kib = [process.pid, warehouse.pid()].map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]);
  });
  return kib.reduce((sum, each) => sum + each, 0) / 1024;
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
  const counting = performance.now();
  await degreeCount(warehouse).count();
  say(`  counted degrees in ${((performance.now() - counting) / 1_000).toFixed(1)} s`);
  say(`  merged for ${(await waitForMerges(warehouse)).toFixed(1)} s more`);
  const compacting = performance.now();
  await compactSides(warehouse);
  say(`  compacted in ${((performance.now() - compacting) / 1_000).toFixed(1)} s`);
  say(`  memory, all processes, high-water marks summed: ${peakMib(warehouse).toFixed(0)} MiB`);
  const range = { chain: 'ethereum', from_block: 0, to_block: lastBlock(made) } as const;
  const source = { to_time: now() - 120, source: 'bench', origin: 'observed' } as const;
  const kinds = ['native', 'internal', 'token'] as const;
  await transferStore(warehouse, now).recordCoverage(
    kinds.map((kind) => ({ ...range, ...source, kind })),
  );
  await saySizes(warehouse);
}

async function openStore(): Promise<EmbeddedWarehouse> {
  const warehouse = await embeddedWarehouse(join(folder, 'store'));
  await migrateWarehouse(warehouse, MIGRATIONS, { simulated: false });
  return warehouse;
}

async function sayMembership(engine: Engine, starts: ReadonlyMap<string, readonly string[]>) {
  for (const [of, addresses] of starts) {
    for (const pass of ['cold', 'warm']) {
      const walks: { nodes: number; hits: number }[] = [];
      const taken = await timeEach(addresses, 1, async (start) => {
        walks.push(await engine.walk(start));
      });
      const nodes = walks.reduce((sum, walk) => sum + walk.nodes, 0) / walks.length;
      const hit = walks.filter((walk) => walk.hits > 0).length;
      const named = line(`  ${engine.name} membership ${of} ${pass}`, taken);
      say(`${named}  ${nodes.toFixed(1)} nodes, ${hit} hit`);
    }
  }
}

async function sayOurs(warehouse: EmbeddedWarehouse, listed: readonly string[]): Promise<void> {
  const history = () => walker(warehouse, listed, now);
  for (const of of ['low', 'middle', 'hub'] as const) {
    const count = of === 'hub' ? HUB_STARTS : SINGLE_STARTS;
    const starts = await startsOf(warehouse, of, count);
    const ports = history();
    for (const pass of ['cold', 'warm']) {
      say(
        line(
          `  read ${of} ${pass}, alone`,
          await timeEach(starts.slice(0, 300), 1, (s) => singleRead(ports, s)),
        ),
      );
    }
    say(
      line(
        `  read ${of}, ${CALLERS} callers`,
        await timeEach(starts, CALLERS, (s) => singleRead(ports, s)),
      ),
    );
  }
  for (const of of ['low', 'middle'] as const) {
    const starts = await startsOf(warehouse, of, WALK_STARTS * 3);
    const ports = history();
    for (const pass of ['cold', 'warm']) {
      const nodes: number[] = [];
      const taken = await timeEach(starts.slice(0, WALK_STARTS), 1, async (start) => {
        nodes.push(await fullWalk(ports, start));
      });
      const mean = nodes.reduce((sum, n) => sum + n, 0) / nodes.length;
      say(`${line(`  walk, full rules, ${of} ${pass}, alone`, taken)}  ${mean.toFixed(1)} nodes`);
    }
    const nodes: number[] = [];
    const taken = await timeEach(starts, CALLERS, async (start) => {
      nodes.push(await fullWalk(ports, start));
    });
    const all = nodes.reduce((sum, n) => sum + n, 0);
    const perSecond = (taken.perSecond * all) / nodes.length;
    const named = line(`  walk, full rules, ${of}, ${CALLERS} callers`, taken);
    say(`${named}  ${perSecond.toFixed(0)} nodes a second`);
  }
}

async function main(): Promise<void> {
  say(`${rows} transfers, in ${folder}`);
  let warehouse = await openStore();
  const [held] = await warehouse.query('SELECT count() FROM transfers', {
    ...CALL,
    row: one,
    tuples: true,
  });
  if (held?.[0] === 0) await load(warehouse);
  const listed = await listedAddresses(warehouse, LISTED);
  const starts = new Map<string, readonly string[]>();
  for (const of of ['low', 'middle'] as const)
    starts.set(of, await startsOf(warehouse, of, WALK_STARTS));
  // A new process of the engine has none of its caches; the page cache is what it is.
  await warehouse.close();
  warehouse = await openStore();
  say(HEAD);
  if (engines.includes('ours')) {
    await sayOurs(warehouse, listed);
    await sayMembership(await ourEdges(warehouse, listed), starts);
  }
  const files = OTHERS.some((name) => engines.includes(name))
    ? await exportEdges(warehouse, folder)
    : null;
  if (Number(options.follow) > 0) {
    for (const text of await timeFollowing(warehouse, listed, made, Number(options.follow)))
      say(text);
  }
  say(`  memory, all processes, high-water marks summed: ${peakMib(warehouse).toFixed(0)} MiB`);
  await warehouse.close();
  if (files === null) return;
  for (const [name, open] of [
    ['duckdb', duckdbEdges],
    ['postgres', postgresEdges],
  ] as const) {
    if (!engines.includes(name)) continue;
    const engine = await open(files, listed, folder);
    say(`  ${engine.name}: ${engine.loaded}`);
    await sayMembership(engine, starts);
    await engine.close();
  }
}

try {
  await main();
} finally {
  if (!options.keep) rmSync(folder, { recursive: true, force: true });
}
