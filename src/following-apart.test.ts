// A service has its chains followed by a process of their own: what is held equals what the node
// says, whatever becomes of that process; and it does not outlive the service.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pause } from './compose/clock.ts';
import { followerProcess } from './compose/follower-process.ts';
import { followable, followChains } from './features/indexing/follow-chain.job.ts';
import type { FollowState } from './ports/indexing.ts';
import type { EmbeddedWarehouse } from './stores/warehouse/engine/embedded.ts';
import { type Warehouse, WarehouseUnavailable } from './stores/warehouse/engine/executor.ts';
import { transferStore } from './stores/warehouse/transfers/store.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { readItself } from './testing/anvil-reading.ts';
import { deployTraffic } from './testing/anvil-traffic.ts';
import { compileContracts } from './testing/contracts.ts';
import { embeddedControl, followReportsIn, leasesIn } from './testing/control-store.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { readHeldTransfers } from './testing/held-transfers.ts';

const absent = anvilPath() === null;
const title = absent ? 'a process apart (skipped: anvil is not installed)' : 'a process apart';
const DIST = new URL('../dist/', import.meta.url).href;
const DONE_MAX_MS = 60_000;

describe.skipIf(absent)(title, () => {
  const fresh = embeddedControl();
  let anvil: Anvil;
  let warehouse: EmbeddedWarehouse;
  const alive = new Set<ChildProcess>();
  beforeAll(async () => {
    [anvil, warehouse] = await Promise.all([startAnvil(1), freshWarehouse({ simulated: true })]);
  });
  afterAll(async () => {
    for (const child of alive) child.kill('SIGKILL');
    await warehouse?.close();
    await anvil?.stop();
  });

  test('killed while it follows, and refused by the store, holds what the node says', async () => {
    const database = fresh();
    const sends = await deployTraffic(anvil, await compileContracts());
    for (const round of [1, 2, 3]) for (const send of sends(round)) await anvil.mine(...send);
    let refusals = 2;
    const full: Warehouse = {
      ...warehouse,
      insert: async (...given) => {
        refusals -= 1;
        if (refusals === 0) throw new WarehouseUnavailable('disk');
        await warehouse.insert(...given);
      },
    };
    const nodes = { ethereum: anvil.url.href };
    const child = followerProcess({ warehouse: full, simulated: true, proxy: null, nodes });
    const node = { chain: 'ethereum', source: anvil.url.origin } as const;
    const reports = followReportsIn(database);
    const chain = followable(
      node,
      (...given) => child.follow('ethereum', ...given),
      { leases: leasesIn(database, 'one'), sleep: pause, settleMs: 0 },
      { reports, elapsedMs: () => performance.now() },
    );
    const states: FollowState[] = [];
    const bugs: string[] = [];
    const following = followChains([{ followable: chain, fromBlock: 0 }], {
      onState: (state) => states.push(state),
      onEnd: () => undefined,
      onBug: (error) => bugs.push(String(error)),
      sleep: (_, signal) => pause(1, signal),
    });
    const caughtUp = async (from: number) => {
      const head = Number(await anvil.ask('eth_blockNumber'));
      const at = () => states.slice(from).some((one) => one.last_block === head && !one.fault);
      for (let waited = 0; waited < DONE_MAX_MS && !at(); waited += 20) await wait(20);
      if (!at()) throw new Error(`not caught up: ${bugs.at(-1)} ${JSON.stringify(states.at(-1))}`);
    };
    await caughtUp(0);
    const faults = new Set(states.map(({ fault }) => (fault === null ? null : fault.reason)));
    expect([...faults].some((fault) => fault?.includes('its disk takes no more'))).toBe(true);
    for (let kills = 0; kills < 2; kills += 1) {
      const from = states.length;
      const pid = child.pid();
      if (pid === undefined) throw new Error('no process follows');
      await anvil.ask('anvil_reorg', 5, []);
      for (const send of sends(4 + kills)) await anvil.mine(...send);
      process.kill(pid, 'SIGKILL');
      await caughtUp(from);
    }
    expect(bugs).toEqual(Array(2).fill('Error: the process of followers ended'));
    const told = await reports.all();
    expect(told.checked && told.value[0]).toMatchObject({ chain: 'ethereum', state: 'following' });
    await following.stop();
    const last = await reports.all();
    expect(last.checked && last.value[0]).toMatchObject({ state: 'stopped' });
    const itself = await readItself(anvil);
    expect((await readHeldTransfers(warehouse)).rows.sort()).toEqual(itself.transfers.sort());
    const cursor = await transferStore(warehouse, () => 0).cursor('ethereum');
    expect(cursor.checked && cursor.value?.tip.length).toBeGreaterThan(0);
    await child.close();
    expect(child.pid()).toBeUndefined();
  }, 120_000);

  test('ends with the service that started it, however that ends', async () => {
    const service = spawn(
      process.execPath,
      ['--input-type=module', '-e', SERVICE, DIST, anvil.url.href],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    alive.add(service);
    let pid: number | null = null;
    for await (const line of createInterface({ input: service.stdout })) {
      pid = Number(line);
      break;
    }
    if (pid === null || !isThere(pid)) throw new Error('no process was started');
    service.kill('SIGKILL');
    for (let waited = 0; waited < DONE_MAX_MS && isThere(pid); waited += 20) await wait(20);
    expect(isThere(pid)).toBe(false);
  }, 60_000);
});

/** A service that has a chain followed into a store that never answers, and tells by whom. */
const SERVICE = `
const [dist, url] = process.argv.slice(1);
const { followerProcess } = await import(dist + 'compose/follower-process.js');
const never = () => new Promise(() => setTimeout(() => undefined, 1e6));
const warehouse = { kind: 'embedded', query: never, insert: never, command: never };
const nodes = { ethereum: url };
const child = followerProcess({ warehouse, simulated: true, proxy: null, nodes });
const watch = { signal: new AbortController().signal, onState: () => undefined };
child.follow('ethereum', 0, watch, { epoch: 1, settle: async () => undefined });
console.log(child.pid());
await never();
`;

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
