// A process that follows a real node into the embedded store is killed again and again: what the
// store holds in the end is what the node says, without gap or double.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openEmbedded } from './stores/warehouse/engine/embedded.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { readItself } from './testing/anvil-reading.ts';
import { deployTraffic } from './testing/anvil-traffic.ts';
import { compileContracts } from './testing/contracts.ts';
import { readHeldTransfers } from './testing/held-transfers.ts';
import { trialsOf } from './testing/trials.ts';

const absent = anvilPath() === null;
const title = absent ? 'a killed process (skipped: anvil is not installed)' : 'a killed process';
const DIST = new URL('../dist/', import.meta.url).href;
const MIGRATIONS = fileURLToPath(new URL('../migrations/warehouse', import.meta.url));
const ROUNDS = 8;
/** Kills of one run; EXHIBIT_TEST_TRIALS=all tries over a hundred. */
const KILLS = trialsOf('EXHIBIT_TEST_TRIALS', 4, 110);
/** After how many steps of its own, and how many milliseconds into the next, each is killed. */
const KILLED_AFTER = Array.from({ length: KILLS }, (_, i) => {
  return { steps: 1 + (i % 4), laterMs: (3 + i * 11) % 40 };
});
/** No deeper than what a node may still take back. */
const REORG_MAX = 20;
const KILL_MAX_MS = 15_000;

/**
 * The program of the killed process: the parts as compose wires them, with one line for each step.
 */
const FOLLOWER = `
const [dist, directory, migrations, url] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { setTimeout: wait } = await import('node:timers/promises');
const { openEmbedded } = await load('stores/warehouse/engine/embedded.js');
const { migrateWarehouse } = await load('stores/warehouse/engine/migrate.js');
const { transferStore } = await load('stores/warehouse/transfers/store.js');
const { evmNode } = await load('sources/evm/node.js');
const { jsonRpc, RPC_LIMITS } = await load('sources/http/json-rpc.js');
const { followChain, TIP_BLOCKS_MAX } = await load('features/indexing/follow-chain.job.js');
const now = () => Math.floor(Date.now() / 1000);
const sleep = (ms) => wait(ms);
const warehouse = await openEmbedded(directory);
await migrateWarehouse(warehouse, migrations, { simulated: true, layout: 'single' });
const rpc = jsonRpc({ url: new URL(url), headers: {}, limits: RPC_LIMITS, sleep });
const node = evmNode({ chain: 'ethereum', rpc, simulated: true, now });
const store = transferStore(warehouse, now);
const world = { node, store, origin: 'simulated', now, sleep, pollMs: 5 };
await followChain({ ...world, tipBlocksMax: TIP_BLOCKS_MAX }, 0, {
  signal: new AbortController().signal,
  onState: (state) => console.log(JSON.stringify(state)),
}, { epoch: Date.now(), settle: async () => undefined });
`;
const TOLD = z.object({
  last_block: z.number().nullable(),
  fault: z.object({ reason: z.string() }).nullable(),
});

describe.skipIf(absent)(title, () => {
  let anvil: Anvil;
  let folder: string;
  const alive = new Set<ChildProcess>();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'exhibit-following-'));
    anvil = await startAnvil(1);
  });
  afterAll(async () => {
    for (const child of alive) child.kill('SIGKILL');
    await anvil?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a process until it has told so many steps, or stands at a block; then kills it. */
  async function followedUntil(
    done: (steps: number, last: number | null) => boolean,
    laterMs: number,
  ) {
    const args = [DIST, join(folder, 'store'), MIGRATIONS, anvil.url.href];
    const child = spawn(process.execPath, ['--input-type=module', '-e', FOLLOWER, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    alive.add(child);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    let steps = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const { last_block, fault } = TOLD.parse(JSON.parse(line));
      if (fault === null) steps += 1;
      if (done(steps, fault === null ? last_block : null)) break;
    }
    await wait(laterMs);
    child.kill('SIGKILL');
    await gone;
    alive.delete(child);
  }

  test(
    'leaves a store that goes on, and ends with each row of the node once',
    async () => {
      const sends = await deployTraffic(anvil, await compileContracts());
      for (let round = 1; round <= ROUNDS; round += 1) {
        for (const send of sends(round)) await anvil.mine(...send);
      }
      for (const [i, { steps, laterMs }] of KILLED_AFTER.entries()) {
        await followedUntil((told) => told >= steps, laterMs);
        await anvil.ask('anvil_reorg', 1 + ((i * 7) % REORG_MAX), []);
        for (const send of sends(ROUNDS + 1 + i)) await anvil.mine(...send);
      }
      const head = Number(await anvil.ask('eth_blockNumber'));
      await followedUntil((_, last) => last === head, 0);

      const itself = await readItself(anvil);
      const held = await rowsHeld(join(folder, 'store'));
      expect(held.finalBlock).toBeGreaterThan(0);
      expect(held.finalBlock).toBeLessThan(head);
      expect(held.rows.sort()).toEqual(itself.transfers.sort());
    },
    KILLS * KILL_MAX_MS,
  );
});

/** Every transfer that succeeded, as the node's own reading writes it. */
async function rowsHeld(directory: string) {
  const warehouse = await openEmbedded(directory);
  try {
    return await readHeldTransfers(warehouse);
  } finally {
    await warehouse.close();
  }
}
