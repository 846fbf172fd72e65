// Following a real node: what is held equals, row by row, what the node itself says.

import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  followable,
  followChain,
  followChains,
  TIP_BLOCKS_MAX,
} from './features/indexing/follow-chain.job.ts';
import type { FollowState } from './ports/indexing.ts';
import { evmNode } from './sources/evm/node.ts';
import { jsonRpc, RPC_LIMITS } from './sources/http/json-rpc.ts';
import { type Anvil, anvilPath, startAnvil } from './testing/anvil.ts';
import { readItself, transferRow } from './testing/anvil-reading.ts';
import { deployTraffic } from './testing/anvil-traffic.ts';
import { type Contracts, compileContracts } from './testing/contracts.ts';
import { embeddedControl, followReportsIn, leasesIn } from './testing/control-store.ts';
import { memoryTransferStore } from './testing/twins/indexing.ts';

const absent = anvilPath() === null;
const title = absent ? 'following a real node (skipped: anvil is not installed)' : 'a real node';
const REORGS = 10;
const STATES_MAX = 10_000;
const DONE_MAX_MS = 20_000;

describe.skipIf(absent)(title, () => {
  const fresh = embeddedControl();
  let anvil: Anvil;
  let contracts: Contracts;
  beforeAll(async () => {
    [anvil, contracts] = await Promise.all([startAnvil(1), compileContracts()]);
  });
  afterAll(async () => anvil?.stop());

  test('followed live through ten re-orgs ends equal, row by row, to what it says itself', async () => {
    const held = memoryTransferStore();
    const rpc = jsonRpc({ url: anvil.url, headers: {}, limits: RPC_LIMITS, sleep });
    const node = evmNode({
      chain: 'ethereum',
      rpc,
      simulated: true,
      now: () => Date.now() / 1_000,
    });
    const states: FollowState[] = [];
    const bugs: unknown[] = [];
    const world = { node, store: held.store, origin: 'simulated', pollMs: 5, sleep } as const;
    const now = () => Math.floor(Date.now() / 1_000);
    const database = fresh();
    const lease = { leases: leasesIn(database, 'one'), sleep, settleMs: 0 };
    const report = { reports: followReportsIn(database), elapsedMs: () => performance.now() };
    const steps = { ...world, now, tipBlocksMax: TIP_BLOCKS_MAX };
    const follow: Parameters<typeof followable>[1] = (...given) => followChain(steps, ...given);
    const one = followable(node, follow, lease, report);
    const following = followChains([{ followable: one, fromBlock: 0 }], {
      onState: (state) => {
        if (states.length < STATES_MAX) states.push(state);
      },
      onEnd: () => undefined,
      sleep,
      onBug: (error) => bugs.push(error),
    });
    const sends = await deployTraffic(anvil, contracts);
    for (let reorg = 1; reorg <= REORGS; reorg += 1) {
      for (const send of sends(reorg)) await anvil.mine(...send);
      await caughtUp(anvil, states);
      // The blocks of the new fork hold nothing but one transfer each.
      const [from, to] = anvil.accounts;
      const depth = reorg * 2;
      const replaced = { from, to, value: `0x${reorg.toString(16)}` };
      await anvil.ask('anvil_reorg', depth, [[replaced, 0]]);
    }
    for (const send of sends(REORGS + 1)) await anvil.mine(...send);
    await caughtUp(anvil, states);
    await following.stop();
    rpc.close();

    const itself = await readItself(anvil);
    const succeeded = held.transfers('ethereum').filter((one) => one.success === true);
    expect(bugs).toEqual([]);
    expect(succeeded.map(transferRow).sort()).toEqual(itself.transfers.sort());
    const made = held.creations('ethereum');
    const rows = made.map((one) => `${one.tx_hash} ${one.creator} ${one.created}`);
    expect(rows.sort()).toEqual(itself.creations.sort());
    expect(held.doubles()).toBe(0);
    expect(states.at(-1)).toMatchObject({ lag_blocks: 0, fault: null });
    expect(states.at(-1)?.reorgs).toBeGreaterThanOrEqual(REORGS);
    // Its parts stand in the rows that were compared.
    const kinds = new Set(succeeded.map((one) => one.kind));
    expect([...kinds].sort()).toEqual(['internal', 'native', 'nft', 'token']);
    expect(made.length).toBeGreaterThan(5);
    expect(states.at(-1)?.left_out.misshapen).toBeGreaterThan(0);
  }, 45_000);
});

/** Waits until what is held is at the node's head, by the last state told. */
async function caughtUp(anvil: Anvil, states: readonly FollowState[]): Promise<void> {
  const from = states.length;
  const head = Number(await anvil.ask('eth_blockNumber'));
  const at = () => states.slice(from).some((one) => one.last_block === head && one.fault === null);
  for (let waited = 0; waited < DONE_MAX_MS && !at(); waited += 10) await wait(10);
  if (!at()) throw new Error(`not caught up: ${JSON.stringify(states.at(-1))}`);
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
