// Use: npm run bench -- log. How long does the log take for a proof out of a million leaves, beside
// reading one row by its key? Both ask the embedded engine, in turn. What is new of each question
// is read from the store: few leaves are asked about twice.

import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashLeaf, isIncluded, leafContent } from '../src/chain/merkle-tree.ts';
import { type Reading, Unread } from '../src/evidence/reading.ts';
import { logTables } from '../src/features/log/log.store.ts';
import type { TransparencyLogPort } from '../src/ports/transparency-log.ts';
import { migrate } from '../src/stores/control/engine/migrate.ts';
import { openPglite } from '../src/stores/control/engine/pglite.ts';

const LEAVES = 1_000_000;
const TARGET_MS = 5;
const WARM = 200;
const ROUNDS = process.argv.includes('--quick') ? 500 : 4_000;
const MIGRATIONS = fileURLToPath(new URL('../../../migrations/control', import.meta.url));
const LIVE = { simulated: false, secret_fingerprint: 'aaaa', previous_fingerprint: null };

const FILL = `
  insert into log_size (leaves) values (${LEAVES});
  insert into log_leaves (leaf_index, kind, hash, id, at)
  select n, 1, decode(lpad(to_hex(n), 64, '0'), 'hex'), 'sig_' || n, now()
  from generate_series(0, ${LEAVES - 1}) as n;
  analyze log_leaves;`;
const BY_KEY = 'select id from log_leaves where leaf_index = $1::bigint';

async function valueIn<T>(asked: Promise<Reading<T, TransparencyLogPort>>): Promise<T> {
  const reading = await asked;
  if (reading instanceof Unread) throw new Error(reading.why.reason);
  return reading.value;
}

function row(name: string, times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  const cells = [0.5, 0.95, 0.99].map((share) => {
    const at = sorted[Math.floor(sorted.length * share)];
    if (at === undefined) throw new Error('nothing was measured');
    return at.toFixed(2).padStart(8);
  });
  return `  ${name.padEnd(28)}${cells.join('')}\n`;
}

async function timed<T>(times: number[], work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const value = await work();
  times.push(performance.now() - began);
  return value;
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'exhibit-bench-'));
  const database = await openPglite(join(directory, 'control'));
  try {
    await migrate(database, MIGRATIONS, LIVE);
    await database.transaction((session) => session.script(FILL), { timeoutMs: 600_000 });
    const store = logTables(database, { simulated: false, nowMs: Date.now });
    for (let size = 0; size < LEAVES; ) size = await valueIn(store.hashTiles());
    const root = await valueIn(store.rootAt(LEAVES));
    let times: { proof: number[]; key: number[] } = { proof: [], key: [] };
    for (let round = 0; round < WARM + ROUNDS; round += 1) {
      if (round === WARM) times = { proof: [], key: [] };
      const index = Math.floor(Math.random() * LEAVES);
      const asked = () => valueIn(store.inclusion(index, LEAVES));
      const proof = await timed(times.proof, asked);
      await timed(times.key, () => database.query(BY_KEY, [index], 'often'));
      const hash = `0x${index.toString(16).padStart(64, '0')}`;
      const leafHash = hashLeaf(leafContent(1, hash));
      if (!isIncluded({ index, size: LEAVES, leafHash, root, proof })) {
        throw new Error(`the proof of leaf ${index} does not hold`);
      }
    }
    const load = loadavg().map((one) => one.toFixed(1));
    process.stdout.write(
      `${ROUNDS} proofs out of ${LEAVES} leaves, ms; load ${load.join(', ')}\n` +
        `${' '.repeat(30)}${['p50', 'p95', 'p99'].map((one) => one.padStart(8)).join('')}\n` +
        row('an inclusion proof', times.proof) +
        row('a row by its key', times.key) +
        `  target of a proof: ${TARGET_MS} ms\n`,
    );
  } finally {
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
