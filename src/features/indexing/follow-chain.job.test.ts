import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { map, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  ChainNode,
  Followable,
  FollowEnd,
  FollowReport,
  FollowState,
  FollowWatch,
  Leases,
  TransferStore,
} from '../../ports/indexing.ts';
import { embeddedControl, followReportsIn, leasesIn } from '../../testing/control-store.ts';
import {
  type MemoryChain,
  type MemoryTransferStore,
  memoryChain,
  memoryTransferStore,
} from '../../testing/twins/indexing.ts';
import {
  followable,
  followChain,
  followChains,
  followLags,
  followUnderLease,
  LEASE_RENEW_MS,
  LEASE_S,
  type ReportWorld,
  TIP_BLOCKS_MAX,
} from './follow-chain.job.ts';
import { type FollowWorld, notBegun } from './follow-steps.ts';

const NOW = 1_800_000_000;
const STEPS_MAX = 5_000;
const TENURE = { epoch: 1, settle: async () => undefined };

type Script = {
  readonly from?: number | null;
  readonly store?: TransferStore;
  readonly node?: ChainNode;
  readonly tipBlocksMax?: number;
  /** Called each time following waits; it stops where this says so. */
  readonly onWait: (waits: number) => 'stop' | 'on';
};

/** Follows a made-up chain until the script stops it. */
async function followed(chain: MemoryChain, held: MemoryTransferStore, script: Script) {
  const states: FollowState[] = [];
  const slept: number[] = [];
  const stop = new AbortController();
  let steps = 0;
  const world: FollowWorld = {
    node: script.node === undefined ? chain.node : script.node,
    store: script.store === undefined ? held.store : script.store,
    origin: 'simulated',
    now: () => NOW,
    pollMs: 2_000,
    tipBlocksMax: script.tipBlocksMax === undefined ? TIP_BLOCKS_MAX : script.tipBlocksMax,
    sleep: async (ms) => {
      slept.push(ms);
      if (script.onWait(slept.length) === 'stop') stop.abort();
    },
  };
  const end: FollowEnd = await followChain(
    world,
    script.from === undefined ? 0 : script.from,
    {
      signal: stop.signal,
      onState: (state) => {
        states.push(state);
        steps += 1;
        if (steps > STEPS_MAX) throw new Error('following does not come to an end');
      },
    },
    TENURE,
  );
  return { end, states, slept };
}

/** The stored rows and the chain's rows, in the same form. */
function rows(chain: MemoryChain, held: MemoryTransferStore, from = 0) {
  const said = chain.chain().slice(from);
  return {
    held: held.transfers('ethereum').map((one) => [one.block, one.block_hash]),
    said: said.map((one) => [one.number, one.hash]),
  };
}

function expectSame({ held, said }: ReturnType<typeof rows>): void {
  expect(held).toEqual(said);
}

const stopAt = (last: number) => (waits: number) => (waits >= last ? 'stop' : 'on');

describe('following a chain', () => {
  test('comes to hold exactly the chain’s blocks, the old ones final', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(300);
    chain.setFinal(200);
    const { end } = await followed(chain, held, { onWait: stopAt(1) });
    expectSame(rows(chain, held));
    expect(held.doubles()).toBe(0);
    expect(end).toMatchObject({
      end: 'stopped',
      state: {
        head_block: 300,
        last_block: 300,
        final_block: 200,
        lag_blocks: 0,
        lag_s: NOW - 1_700_000_000 - 300 * 12,
        blocks: 301,
        transfers: 301,
        reorgs: 0,
        fault: null,
      },
    });
  });

  test('begins at the newest final block where no block is named', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(100);
    chain.setFinal(30);
    await followed(chain, held, { from: null, onWait: stopAt(1) });
    expectSame(rows(chain, held, 30));
  });

  test('undoes the blocks of a lost fork, to a depth of 64 and beyond', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(150);
    const depths = [1, 2, 64, 100, 149];
    const { end } = await followed(chain, held, {
      onWait: () => {
        const depth = depths.pop();
        if (depth === undefined) return 'stop';
        chain.reorg(depth);
        chain.mine(1);
        return 'on';
      },
    });
    expectSame(rows(chain, held));
    expect(end.state).toMatchObject({ reorgs: 5, blocks_undone: 1 + 2 + 64 + 100 + 149 });
  });

  test('undoes even its first block while nothing is final', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(20);
    await followed(chain, held, {
      from: 10,
      onWait: (waits) => {
        if (waits === 1) chain.reorg(15);
        return waits < 2 ? 'on' : 'stop';
      },
    });
    expectSame(rows(chain, held, 10));
  });

  test('a node that has fewer blocks than are held is behind, and nothing is undone', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(50);
    const before: unknown[] = [];
    await followed(chain, held, {
      onWait: (waits) => {
        if (waits === 1) {
          before.push(...rows(chain, held).said);
          chain.cut(20);
        }
        return waits < 3 ? 'on' : 'stop';
      },
    });
    expect(rows(chain, held).held).toEqual(before);
  });

  test('a final block that the node no longer has ends it, and nothing is changed', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(50);
    chain.setFinal(40);
    let before: unknown = null;
    const { end } = await followed(chain, held, {
      onWait: () => {
        before = rows(chain, held).held;
        chain.setFinal(null);
        chain.reorg(30);
        return 'on';
      },
    });
    expect(end).toMatchObject({
      end: 'broken',
      why: {
        code: 'provider_failed',
        reason: 'memory://node failed: has another block 40 than the one held as final.',
      },
    });
    expect(rows(chain, held).held).toEqual(before);
  });

  test('a silent node is asked again, ever more seldom, and its fault is told', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(5);
    chain.fail(4);
    const { states, slept } = await followed(chain, held, { onWait: stopAt(5) });
    expect(slept).toEqual([1_000, 2_000, 4_000, 8_000, 2_000]);
    expect(states[0]?.fault?.reason).toBe('memory://node failed: is away.');
    expect(states.at(-1)?.fault).toBeNull();
    expect(rows(chain, held).held).toEqual(rows(chain, held).said);
  });

  test('a re-org at any question, with a failure at any other, ends in the same rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.nat(40), depth: fc.integer({ min: 1, max: 30 }) }), {
          maxLength: 6,
        }),
        fc.array(fc.nat(40), { maxLength: 4 }),
        async (reorgs, silences) => {
          const chain = memoryChain();
          const held = memoryTransferStore();
          chain.mine(100);
          chain.setFinal(20);
          let asked = 0;
          chain.onAsked(() => {
            asked += 1;
            for (const { at, depth } of reorgs) {
              if (at === asked) {
                chain.reorg(depth);
                chain.mine(1);
              }
            }
            if (silences.includes(asked)) chain.fail(1);
          });
          await followed(chain, held, { onWait: stopAt(30) });
          expect(rows(chain, held).held).toEqual(rows(chain, held).said);
          expect(held.doubles()).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('a process that dies at any write leaves neither gap nor double to the next one', async () => {
    const WRITES = ['follow', 'applyFinal', 'applyTip', 'rollBack', 'finalise'] as const;
    for (let dies = 1; dies <= 12; dies += 1) {
      const chain = memoryChain();
      const held = memoryTransferStore();
      chain.mine(200);
      chain.setFinal(100);
      let writes = 0;
      const dying = Object.fromEntries(
        WRITES.map((name) => [
          name,
          async (...given: Parameters<TransferStore[typeof name]>) => {
            writes += 1;
            // Before and after the write by turns: it is lost, or done and nobody heard of it.
            if (writes === dies && dies % 2 === 0) throw new Error('killed');
            const write = held.store[name] as (...args: unknown[]) => Promise<unknown>;
            const done = await write(...given);
            if (writes === dies) throw new Error('killed');
            return done;
          },
        ]),
      );
      const store: TransferStore = { ...held.store, ...dying };
      let reorged = false;
      const onWait = () => {
        if (reorged) return 'stop';
        reorged = true;
        chain.reorg(40);
        chain.setFinal(150);
        return 'on';
      };
      await followed(chain, held, { store, onWait }).catch((error: unknown) => {
        if (!(error instanceof Error) || error.message !== 'killed') throw error;
      });
      await followed(chain, held, { onWait: stopAt(2) });
      expect(rows(chain, held).held, `killed at write ${dies}`).toEqual(rows(chain, held).said);
      expect(held.doubles()).toBe(0);
    }
  });

  test('a chain that moves away under every reading is told as a fault', async () => {
    const chain = memoryChain();
    const source = { name: 'x', url: 'x', as_of: 0, kind: 'observation', simulated: true } as const;
    const blocks: ChainNode['blocks'] = async () => read('moved', { port: 'chain_node', source });
    const node = { ...chain.node, blocks };
    const held = memoryTransferStore();
    const { states } = await followed(chain, held, { node, onWait: stopAt(12) });
    expect(states[0]?.fault).toBeNull();
    expect(states.at(-1)?.fault?.reason).toBe(
      'memory://node failed: keeps changing its chain while it is read.',
    );
  });

  test('a chain that makes nothing final fills its tip and no more, and says why', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(200);
    const { states, end } = await followed(chain, held, {
      tipBlocksMax: 100,
      onWait: (waits) => {
        if (waits === 2) chain.setFinal(150);
        return waits < 4 ? 'on' : 'stop';
      },
    });
    const faults = states.map(({ fault }) => (fault === null ? null : fault.reason));
    expect(faults).toContain('memory://node failed: made none of its last 128 blocks final.');
    expect(end.state).toMatchObject({ last_block: 200, final_block: 150, fault: null });
    expect(rows(chain, held).held).toEqual(rows(chain, held).said);
  });

  test('a node that tells fewer kinds than before is a fault: no hole is left behind', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(10);
    await followed(chain, held, { onWait: stopAt(1) });
    chain.mine(10);
    const source = { name: 'x', url: 'x', as_of: 0, kind: 'observation', simulated: true } as const;
    const open: ChainNode['open'] = async () =>
      read({ kinds: ['native', 'token'], to_block: null }, { port: 'chain_node', source });
    const poorer = { ...chain.node, open };
    const { end, states } = await followed(chain, held, { node: poorer, onWait: stopAt(3) });
    expect(states.at(-1)?.fault?.reason).toBe(
      'memory://node failed: no longer tells internal transfers, as was followed so far.',
    );
    expect(end.end).toBe('stopped');
    expect(held.transfers('ethereum')).toHaveLength(11);
  });

  test('blocks of which a node tells fewer kinds are a range of their own, and forfeit nothing else', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(300);
    chain.setFinal(250);
    const source = { name: 'x', url: 'x', as_of: 0, kind: 'observation', simulated: true } as const;
    const open: ChainNode['open'] = async (from) => {
      const early = from !== null && from < 100;
      const reach = early
        ? ({ kinds: ['native', 'token'], to_block: 99 } as const)
        : ({ kinds: ['native', 'internal', 'token'], to_block: null } as const);
      return read(reach, { port: 'chain_node', source });
    };
    const begun: unknown[] = [];
    const follow: TransferStore['follow'] = async (following, tenure) => {
      const cursor = await held.store.follow(following, tenure);
      begun.push([cursor.checked && cursor.value.final_block, following.kinds.length]);
      return cursor;
    };
    const node = { ...chain.node, open };
    const store = { ...held.store, follow };
    const { end } = await followed(chain, held, { node, store, onWait: stopAt(1) });
    expect(begun).toEqual([
      [null, 2],
      [99, 3],
    ]);
    expect(end.state).toMatchObject({ last_block: 300, final_block: 250, fault: null });
    expect(rows(chain, held).held).toEqual(rows(chain, held).said);
  });

  test('final blocks are read in several ranges at once, few of them, and written in order', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(1_000);
    chain.setFinal(900);
    let reading = 0;
    let most = 0;
    const blocks: ChainNode['blocks'] = async (from, to, signal) => {
      reading += 1;
      most = Math.max(most, reading);
      // The later a range begins, the sooner it is read.
      for (let turn = from; turn < 1_000; turn += 50) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      reading -= 1;
      return await chain.node.blocks(from, to, signal);
    };
    const node = { ...chain.node, blocks };
    const { end } = await followed(chain, held, { node, onWait: stopAt(1) });
    expect(most).toBe(4);
    expect(end.state).toMatchObject({ last_block: 1_000, final_block: 900, fault: null });
    expect(rows(chain, held).held).toEqual(rows(chain, held).said);
    expect(held.doubles()).toBe(0);
  });

  test('a start that finds nothing new still knows how old the last block is', async () => {
    const chain = memoryChain();
    const held = memoryTransferStore();
    chain.mine(10);
    await followed(chain, held, { onWait: stopAt(1) });
    const { end } = await followed(chain, held, { onWait: stopAt(1) });
    expect(end.state).toMatchObject({ blocks: 0, lag_s: NOW - 1_700_000_000 - 10 * 12 });
  });
});

const fresh = embeddedControl();

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

const LEASED = notBegun('base', 'a node');

const SOURCE = { name: 'x', url: 'x', as_of: 0, kind: 'table', simulated: true } as const;
const ORIGIN = { port: 'leases', source: SOURCE } as const;
type Held = { by: string | null; untilMs: number };

/** The one lease that is asked for, by a clock that the test moves: a database has its own. */
function leasesOf(held: Held, holder: string, nowMs: () => number): Leases {
  return {
    take: async (_, forS) => {
      const isFree = held.by === null || held.by === holder || held.untilMs < nowMs();
      if (isFree) Object.assign(held, { by: holder, untilMs: nowMs() + forS * 1_000 });
      return read(isFree ? { epoch: 1, released: true } : null, ORIGIN);
    },
    release: async () => {
      if (held.by === holder) held.by = null;
      return read(true, ORIGIN);
    },
  };
}

/** A clock that moves when somebody waits, in turns so that all who wait see each step of it. */
function twoProcesses() {
  let atMs = 0;
  const held: Held = { by: null, untilMs: 0 };
  const log: string[] = [];
  const stop = new AbortController();
  const sleep = async (ms: number, signal: AbortSignal) => {
    const until = atMs + ms;
    while (atMs < until && !signal.aborted) await new Promise((resolve) => setImmediate(resolve));
  };
  const process = (holder: string, over: Partial<Leases> = {}) => {
    const leases = { ...leasesOf(held, holder, () => atMs), ...over };
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, stop.signal]);
    const follow = async (watch: FollowWatch): Promise<FollowEnd> => {
      log.push(`${holder} begins`);
      await sleep(Number.MAX_SAFE_INTEGER, watch.signal);
      log.push(`${holder} ends`);
      return { end: 'stopped', state: LEASED };
    };
    const waits = (fault: Why): FollowState => {
      log.push(`${holder} waits: ${fault.code}`);
      return { ...LEASED, fault };
    };
    const watch = { signal, onState: () => undefined };
    const running = followUnderLease(
      { chain: 'base', leases, sleep, settleMs: 0 },
      follow,
      watch,
      waits,
    );
    return { running, ended };
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += LEASE_RENEW_MS / 2) {
      atMs += LEASE_RENEW_MS / 2;
      for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
    }
  };
  return { process, pass, log, stop };
}

describe('a chain that two processes would follow', () => {
  test('is followed by one; the other takes over once that has stopped', async () => {
    const { process, pass, log, stop } = twoProcesses();
    const one = process('one');
    await pass(LEASE_RENEW_MS);
    const other = process('other');
    await pass(3 * LEASE_S * 1_000);
    expect(log.filter((line) => line.endsWith('begins'))).toEqual(['one begins']);
    expect(log).toContain('other waits: followed_elsewhere');
    one.ended.abort();
    await one.running;
    await pass(2 * LEASE_RENEW_MS);
    expect(log.filter((line) => !line.includes('waits'))).toEqual([
      ...['one begins', 'one ends', 'other begins'],
    ]);
    stop.abort();
    await other.running;
  });

  test('is not followed on by one that was paused while another took it and let it go', async () => {
    const { process, pass, log, stop } = twoProcesses();
    let epoch = 1;
    const own = leasesOf({ by: null, untilMs: 0 }, 'one', () => 0);
    const take: Leases['take'] = async (name, forS) => {
      const taken = await own.take(name, forS);
      return map(taken, (lease) => (lease === null ? null : { ...lease, epoch }));
    };
    const one = process('one', { take });
    await pass(LEASE_RENEW_MS);
    epoch = 3;
    await pass(3 * LEASE_RENEW_MS);
    expect(log).toEqual([
      ...['one begins', 'one ends', 'one waits: followed_elsewhere', 'one begins'],
    ]);
    stop.abort();
    await one.running;
  });

  test('is let go before the lease ends where it can no longer be held', async () => {
    const { process, pass, log, stop } = twoProcesses();
    let silent = false;
    const gone = unread('leases' as const, why('store_unreadable', { what: 'It', fault: 'gone' }));
    const own = leasesOf({ by: null, untilMs: 0 }, 'one', () => 0);
    const take: Leases['take'] = async (name, forS) => (silent ? gone : own.take(name, forS));
    const one = process('one', { take });
    await pass(LEASE_RENEW_MS);
    silent = true;
    await pass(LEASE_S * 1_000 - LEASE_RENEW_MS);
    expect(log).toContain('one ends');
    silent = false;
    await pass(2 * LEASE_RENEW_MS);
    expect(log.at(-1)).toBe('one begins');
    stop.abort();
    await one.running;
  });
});

const LAGGING: FollowState = {
  chain: 'base',
  source: 'https://node.example',
  kinds: null,
  head_block: 12,
  last_block: 10,
  last_time: 1_000,
  final_block: null,
  lag_blocks: 2,
  lag_s: 5,
  blocks: 0,
  transfers: 0,
  reorgs: 3,
  blocks_undone: 4,
  left_out: { misshapen: 0 },
  fault: null,
};

test('a lag grows while nothing is heard, and is unknown before anything was', () => {
  let now = 1_005;
  const lags = followLags(() => now);
  expect([lags.lagS('base'), lags.lagBlocks('base'), lags.reorgs('base')]).toEqual([
    ...[null, null, null],
  ]);
  lags.onState(LAGGING);
  expect([lags.lagS('base'), lags.lagBlocks('base'), lags.reorgs('base')]).toEqual([5, 2, 3]);
  now = 4_600;
  expect(lags.lagS('base')).toBe(3_600);
  expect(lags.lagS('ethereum')).toBeNull();
  lags.onState({ ...LAGGING, last_time: null });
  expect(lags.lagS('base')).toBeNull();
});
