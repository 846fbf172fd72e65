import { describe, expect, test } from 'vitest';
import type { Followable, FollowEnd, FollowState } from '../../ports/indexing/chain-following.ts';
import type { ChainNode } from '../../ports/indexing/chain-node.ts';
import type { FollowReport } from '../../ports/indexing/follow-reports.ts';
import { embeddedControl, followReportsIn, leasesIn } from '../../testing/control-store.ts';
import { type MemoryChain, memoryChain } from '../../testing/memory/chain-node.ts';
import {
  type MemoryTransferStore,
  memoryTransferStore,
} from '../../testing/memory/transfer-store.ts';
import { followable, followChain, followChains, TIP_BLOCKS_MAX } from './follow-chain.job.ts';
import type { FollowWorld } from './follow-chain-steps.job.ts';
import type { ReportWorld } from './follow-report.job.ts';

const NOW = 1_800_000_000;
const fresh = embeddedControl();

/** What is held, and what the chain says, as the same rows. */
function rows(chain: MemoryChain, held: MemoryTransferStore, from = 0) {
  const said = chain.chain().slice(from);
  return {
    held: held.transfers('ethereum').map((one) => [one.block, one.block_hash]),
    said: said.map((one) => [one.number, one.hash]),
  };
}

type LeaseOf = Parameters<typeof followable>[2];

/** A lease that nobody else asks for, held until it is let go, and a place for reports. */
function unleased() {
  const database = fresh();
  const lease = { leases: leasesIn(database, 'one'), sleep: endless, settleMs: 0 };
  return { lease, report: { reports: followReportsIn(database), elapsedMs: () => 0 } };
}

/** A chain that is followed in this process. */
function inProcess(world: FollowWorld, ...rest: [LeaseOf, ReportWorld]): Followable {
  return followable(world.node, (...given) => followChain(world, ...given), ...rest);
}

function endless(_: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve());
    if (signal.aborted) resolve();
  });
}

describe('chains that a service follows', () => {
  test('several chains go on at once, and one that breaks is nothing to the others', async () => {
    const good = memoryChain();
    const bad = memoryChain('base');
    const held = memoryTransferStore();
    good.mine(100);
    bad.onAsked(() => {
      throw new TypeError('a bug');
    });
    const [bugs, ends]: [unknown[], FollowEnd[]] = [[], []];
    const world = (chain: MemoryChain): FollowWorld => ({
      node: chain.node,
      store: held.store,
      origin: 'simulated',
      now: () => NOW,
      pollMs: 1,
      tipBlocksMax: TIP_BLOCKS_MAX,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    });
    await new Promise<void>((resolve) => {
      const { lease, report } = unleased();
      const followed = (chain: MemoryChain) => inProcess(world(chain), lease, report);
      const both = [bad, good].map((one) => ({ followable: followed(one), fromBlock: 0 }));
      const following = followChains(both, {
        onBug: (error) => bugs.push(error),
        onEnd: (end) => ends.push(end),
        sleep: endless,
        onState: (state) => {
          if (state.last_block === 100) void following.stop().then(resolve);
        },
      });
    });
    expect(bugs).toEqual([new TypeError('a bug')]);
    expect(ends).toMatchObject([{ end: 'stopped', state: { chain: 'ethereum' } }]);
    expect(rows(good, held).held).toEqual(rows(good, held).said);
  });

  test('a chain that stopped is tried again until it goes on, and tells when it does not', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(20);
    const { lease, report } = unleased();
    let bugs = 0;
    const { heads } = chain.node;
    const failing: ChainNode['heads'] = async (signal) => {
      if (bugs < 2) throw new TypeError('a bug');
      return await heads(signal);
    };
    const node = { ...chain.node, heads: failing };
    const world = { node, store: held.store, origin: 'simulated', now: () => NOW } as const;
    const one = inProcess(
      { ...world, pollMs: 1, tipBlocksMax: 100, sleep: endless },
      lease,
      report,
    );
    const waited: number[] = [];
    const told: (FollowReport | undefined)[] = [];
    const lastTold = async () => {
      const all = await report.reports.all();
      told.push(all.checked ? all.value[0] : undefined);
    };
    await new Promise<void>((resolve) => {
      const following = followChains([{ followable: one, fromBlock: 0 }], {
        onBug: () => {
          bugs += 1;
        },
        onEnd: () => undefined,
        onState: (state) => {
          if (state.last_block === 20) void following.stop().then(resolve);
        },
        sleep: async (ms) => {
          waited.push(ms);
          await lastTold();
        },
      });
    });
    expect(waited.slice(0, 2)).toEqual([5_000, 10_000]);
    const reason = 'Following ethereum failed by a fault of this service; its log has the cause.';
    expect(told[0]).toMatchObject({ chain: 'ethereum', state: 'stopped', reason });
    expect(told[1]).toEqual(told[0]);
    await lastTold();
    expect(told.at(-1)).toMatchObject({
      state: 'stopped',
      reason: 'The process that followed ethereum was stopped.',
      last_block: 20,
    });
  });

  test('a chain has one writer: who asks for it again looks on, and leaves without ending it', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(10);
    const first = new AbortController();
    const second = new AbortController();
    const seen: FollowState[] = [];
    let looking: Promise<FollowEnd> | null = null;
    let waits = 0;
    const world: FollowWorld = {
      node: chain.node,
      store: held.store,
      origin: 'simulated',
      now: () => NOW,
      pollMs: 1,
      tipBlocksMax: TIP_BLOCKS_MAX,
      sleep: async () => {
        waits += 1;
        chain.mine(1);
        if (waits === 1) {
          looking = shared.follow(0, { signal: second.signal, onState: (one) => seen.push(one) });
        }
        if (waits === 3) second.abort();
        if (waits === 3) expect((await looking)?.end).toBe('stopped');
        if (waits === 5) first.abort();
      },
    };
    const { lease, report } = unleased();
    const shared = inProcess(world, lease, report);
    const end = await shared.follow(0, { signal: first.signal, onState: () => undefined });
    expect(end.state.last_block).toBe(14);
    expect(seen.at(-1)?.last_block).toBe(12);
    expect(held.doubles()).toBe(0);
    expect(rows(chain, held).held).toEqual(rows(chain, held).said.slice(0, 15));
  });
});
