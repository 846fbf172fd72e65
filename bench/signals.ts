// The feed, one signal and the round of the producer, over a list of the publisher's format: `npm
// run bench -- signals`. Routes stand beside bare node:http with the same bytes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Read } from '../src/evidence/reading.ts';
import { collectors } from '../src/features/collectors/feature.ts';
import { UNCOUNTED_CALLS } from '../src/features/signals/call-purse.ts';
import { produceOnce } from '../src/features/signals/produce.job.ts';
import { signalProductionTable, signalTable } from '../src/features/signals/signals.store.ts';
import { leaseTable } from '../src/stores/control/leases.ts';
import { load, sameBytes, startService } from './asking.ts';
import { askChild, child, endChild } from './children.ts';
import type { LoadResult } from './closed-loop.ts';
import { furnish, withParts } from './furnish.ts';

const CONNECTIONS = 32;
const WARM_MS = 3_000;
const ROUND_MS = 4_000;

type Env = Readonly<Record<string, string>>;

/** Runs one round on the stores of a deployment; gives its seconds, its count and an id. */
async function produce(env: Env): Promise<{ seconds: number; published: number; id: string }> {
  return withParts(env, async ({ parts, stores }) => {
    const { evidence } = parts.of(collectors).services;
    const context = { simulated: false, nowMs: Date.now };
    const started = performance.now();
    const counts = await produceOnce(
      {
        production: signalProductionTable(stores.database, context),
        leases: leaseTable(stores.database, 'bench', context),
        collect: (target, signal) => evidence.collect(target, Date.now() / 1_000, signal),
        judge: evidence.judge,
        rulesVersion: evidence.rulesVersion,
        mintRunId: () => `run_${performance.now()}`,
        simulated: false,
        purse: UNCOUNTED_CALLS,
        waitsForCalls: false,
        now: () => Math.floor(Date.now() / 1_000),
        onBug: (fault) => {
          throw fault;
        },
      },
      new AbortController().signal,
    );
    const seconds = (performance.now() - started) / 1_000;
    if (counts === null || 'reason' in counts) throw new Error(`no round: ${counts?.reason}`);
    const asked = { matchKey: null, after: null, limit: 1 };
    const feed = await signalTable(stores.database, context).feed(asked);
    const [first] = feed instanceof Read ? feed.value.signals : [];
    if (first === undefined) throw new Error('the round published nothing');
    return { seconds, published: counts.published, id: first.signal_id };
  });
}

function loadPath(port: number, path: string, durationMs = ROUND_MS): Promise<LoadResult> {
  const requests = [`GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`];
  return load({ port, connections: CONNECTIONS, requests, durationMs });
}

function say(name: string, { answers, seconds, p50_ms, p99_ms }: LoadResult): void {
  const cells = [(answers / seconds).toFixed(0), p50_ms.toFixed(2), p99_ms.toFixed(2)];
  process.stdout.write(`  ${name.padEnd(40)}${cells.map((cell) => cell.padStart(10)).join('')}\n`);
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'exhibit-bench-'));
  try {
    const { env } = await furnish(join(directory, 'data'));
    const { seconds, published, id } = await produce(env);
    process.stdout.write(
      `One round: ${published} signals from held data in ${seconds.toFixed(1)} s (500 in 60 s)\n`,
    );
    process.stdout.write(`${''.padEnd(42)} answers/s    p50 ms    p99 ms (50)\n`);
    const { process_, port } = await startService(env, true);
    for (const path of ['/api/signals', `/api/signals/${id}`]) {
      const same = await sameBytes(`http://127.0.0.1:${port}${path}`, {});
      await loadPath(port, path, WARM_MS);
      say(path.slice(0, 38), await loadPath(port, path));
      const bare = child('bare-server');
      const bareAt = Number(await askChild(bare, same));
      await loadPath(bareAt, path, WARM_MS);
      say('node:http, the same bytes', await loadPath(bareAt, path));
      await endChild(bare, 'SIGKILL');
    }
    await endChild(process_, 'SIGTERM');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
