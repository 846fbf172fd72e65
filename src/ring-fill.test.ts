// Where an explorer is the only source, the histories of listed addresses are read ahead through
// it: the ring fills, says what is missing meanwhile, and a walk denies only once it is whole.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { map, Read, read, rowsSeen } from './evidence/reading.ts';
import { ringFilling } from './features/indexing/ring.job.ts';
import { stopsOf } from './features/sanctions/walk-hop.ts';
import type { RingLack } from './ports/history.ts';
import type { Leases } from './ports/indexing.ts';
import { etherscanChain } from './sources/explorer/envelope.ts';
import { explorerLists } from './sources/explorer/history.ts';
import { providerGuard } from './sources/http/provider.ts';
import { ringGaps, ringLack } from './stores/history/covered.ts';
import { keptLists } from './stores/history/kept-lists.ts';
import { openEmbedded } from './stores/warehouse/engine/embedded.ts';
import type { Warehouse } from './stores/warehouse/engine/executor.ts';
import { warehouseReads } from './stores/warehouse/history/warehouse.ts';
import { ringCalls, warehouseRing } from './stores/warehouse/ring/ring.ts';
import { transferStore } from './stores/warehouse/transfers/store.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW, TIP_MAX_AGE_S } from './testing/clock.ts';
import { freshWarehouse } from './testing/fresh-warehouse.ts';
import { importTransfers, type RingWorld, recordHeld, ringWorld } from './testing/ring-world.ts';
import { trialsOf } from './testing/trials.ts';
import { memoryTransfer } from './testing/twins/history.ts';
import type { ExplorerRow } from './world/chain-types.ts';
import { type ExplorerFault, type StartedExplorer, startExplorer } from './world/explorer-api.ts';

const TIMEOUT_MS = 180_000;
const LISTED = Array.from({ length: 1_000 }, (_, n) => evm(`listed ${n}`));
const [SUBJECT, FRIEND, BUSY, USDC] = ['me', 'friend', 'busy', 'usdc'].map(evm) as [
  ...[string, string, string, string],
];
/** Settled blocks of Ethereum are so many behind its head; blocks come each 12 seconds. */
const SETTLED = 100;
const BLOCK_S = 12;
const HEAD = 30_000;

let explorer: StartedExplorer;
let head = HEAD;
let nowS = STILL_NOW;
const rows = new Map<string, ExplorerRow[]>();

function happened(n: number, from: string, to: string, over: Partial<ExplorerRow> = {}): void {
  const tx = `0x${n.toString(16).padStart(64, '0')}`;
  const block = 100 + (n % 20_000);
  const at = STILL_NOW - (HEAD - block) * BLOCK_S;
  const paid = { kind: 'native', value: 5n, token: null, success: true } as const;
  const row: ExplorerRow = { ...paid, tx, block, at, from, to, ...over };
  for (const one of new Set([from, to])) {
    const own = rows.get(one) ?? [];
    own.push(row);
    rows.set(one, own);
  }
}

beforeAll(async () => {
  // One of five dealt with somebody, and one of them very often, in more than one slice.
  for (let n = 0; n < LISTED.length; n += 5) happened(n, evm(`payer ${n}`), String(LISTED[n]));
  for (let n = 0; n < 6_000; n += 1) happened(n, evm(`crowd ${n}`), BUSY, { block: 100 + n });
  happened(7, FRIEND, String(LISTED[7]), {
    kind: 'token',
    token: { address: USDC, symbol: 'USDC', decimals: 6 },
  });
  // Two listed addresses dealt with each other: each of their lists tells it.
  happened(8, String(LISTED[8]), String(LISTED[9]));
  explorer = await startExplorer({
    headOf: () => head,
    timeOf: (_, block) => nowS - (head - block) * BLOCK_S,
    rowsOf: (_, address) => rows.get(address) ?? [],
    rowsOfToken: () => [],
  });
});
afterAll(() => explorer.close());

const open: Leases = {
  take: async () => read({ epoch: 1, released: true }, { port: 'leases', source: SOURCE }),
  release: async () => read(true, { port: 'leases', source: SOURCE }),
};
const SOURCE = { name: 'T', url: 'urn:t', as_of: 0, kind: 'table', simulated: false } as const;

/** Reading ahead over a warehouse, of a list that may be replaced. */
function fillerOver(warehouse: Warehouse, callsADay = 1_000_000) {
  const now = () => nowS;
  const tip = { now, tipMaxAgeS: TIP_MAX_AGE_S };
  const limits = { callsPerS: 100_000, retriesMax: 2, backoffMs: 1, failuresMax: 5, restMs: 1 };
  const guard = providerGuard(limits, () => performance.now());
  const chains = [etherscanChain('ethereum', { url: explorer.etherscan, guard }, 'key')];
  const lists = explorerLists({ chains, now });
  const reads = warehouseReads(warehouse, now);
  const ring = warehouseRing(warehouse, reads, { now, simulated: false });
  const store = transferStore(warehouse, now);
  let listed: readonly string[] = LISTED;
  const coverage = async () => {
    reads.forget();
    // A list of its own each time: the ring takes what it read a moment ago for the same list.
    return ring.coverage([...listed]);
  };
  const asked = () => ({ listed, chains: ['ethereum'] as const });
  const lack = async () => {
    const value: RingLack = ringLack(await coverage(), { ...asked(), kinds: lists.kinds }, tip);
    return read(value, { port: 'raw_ring' as const, source: SOURCE });
  };
  const kept = keptLists({ lists, store, origin: 'observed', now });
  const calls = ringCalls(warehouse, now);
  return {
    filling: ringFilling({ lists: kept, lack, calls, callsADay, leases: open, now }),
    list: (addresses: readonly string[]) => {
      listed = addresses;
    },
    gaps: async () => ringGaps(await coverage(), asked(), tip),
  };
}

/** Every thirtieth call meets another fault. */
const FAULTS: readonly ExplorerFault[] = [
  ...(['rate-limited', 'error500', 'cut-body', 'notok', 'html', 'truncated-page'] as const),
  ...(['cut-connection', 'wrong-type', 'other-address', 'unknown-empty'] as const),
];
const EACH = 30;

function faulty(n: number): ExplorerFault | null {
  return n % EACH === 0 ? (FAULTS[(n / EACH) % FAULTS.length] ?? null) : null;
}

const CALL = {
  timeoutMs: 10_000,
  tuples: true,
  row: z.tuple([z.coerce.number()]),
} as const;
const SOON = { timeout: 10_000, interval: 200 };
const MARKET = 'SELECT has_market FROM tokens FINAL';
const NEVER = new AbortController().signal;
const quiet = () => undefined;

/** The result of a walk from the subject: denies, convicts, or neither. */
async function said({ walk }: RingWorld): Promise<unknown> {
  const reading = await walk({ subject: SUBJECT });
  const found = rowsSeen(map(reading, (one) => [one.found]))?.[0];
  if (found != null) return stopsOf(found.way);
  return reading instanceof Read ? 'none' : 'unsaid';
}

/** Reads what a new list added, and later what is new, and nothing that is kept. */
async function readsOn({ filling, gaps, list }: ReturnType<typeof fillerOver>): Promise<void> {
  // A new list adds what was added, and reads nothing else again.
  const seenBefore = explorer.calls.length;
  explorer.fault(() => null);
  list([...LISTED, BUSY]);
  expect((await gaps()).every(({ listed }) => listed === BUSY)).toBe(true);
  expect((await filling.fill(quiet, NEVER)).state).toBe('filled');
  const more = explorer.calls.slice(seenBefore).flatMap(({ address }) => address ?? []);
  expect(new Set(more)).toEqual(new Set([BUSY]));
  expect(await gaps()).toEqual([]);

  // Half an hour later each list is read on from where it is held.
  nowS += 1_800;
  head += 150;
  const some = [...LISTED.slice(0, 50), BUSY];
  list(some);
  const before = explorer.calls.length;
  expect((await filling.fill(quiet, NEVER)).state).toBe('filled');
  const froms = explorer.calls.slice(before).flatMap((one) => (one.address ? [one.from] : []));
  expect(froms.length).toBe(3 * some.length);
  expect(new Set(froms)).toEqual(new Set([HEAD - SETTLED + 1]));
}

test('the ring fills through faults and limits; a walk denies only once it is whole', {
  timeout: TIMEOUT_MS,
}, async () => {
  const warehouse = await freshWarehouse();
  try {
    const world = await ringWorld(warehouse);
    world.list(LISTED);
    // The subject is held in full, and whom it dealt with is not: only the ring can deny.
    await recordHeld(world.store, 'ethereum', [SUBJECT]);
    await importTransfers(world.store, [memoryTransfer(1, SUBJECT, evm('stranger'))]);
    // A price source said once that it has no market.
    const names = { symbol: 'USDC', decimals: 6, has_market: false, read_at: STILL_NOW - 60 };
    await world.store.recordTokens([{ ...names, chain: 'ethereum', token: USDC }]);
    const filler = fillerOver(warehouse);
    const { filling, gaps } = filler;
    expect(new Set((await gaps()).map(({ listed }) => listed)).size).toBe(LISTED.length);
    expect(await said(world)).toBe('unsaid');

    explorer.fault(({ n }) => faulty(n));
    const stop = new AbortController();
    const part = await filling.fill(({ lists_held, lists }) => {
      if (lists_held > lists / 2) stop.abort();
    }, stop.signal);
    expect(part.state).toBe('waiting');
    const lacking = await gaps();
    const missing = new Set(lacking.map(({ listed }) => listed)).size;
    expect(missing).toBeGreaterThan(0);
    expect(missing).toBeLessThan(LISTED.length);
    expect(await said(world)).toBe('unsaid');

    const heldUp = new Set<unknown>();
    for (let rounds = 0; rounds < 20; rounds += 1) {
      const { state, why } = await filling.fill(quiet, NEVER);
      if (state === 'filled') break;
      expect([state, why?.code]).toEqual(['held_up', 'provider_failed']);
      heldUp.add(why?.reason);
      expect(await said(world)).toBe('unsaid');
    }
    expect(filling.state()).toMatchObject({ state: 'filled', why: null, lists_held: 3_000 });
    expect(heldUp.size).toBeGreaterThan(0);
    expect(await gaps()).toEqual([]);
    // The stored state counts as read for a second.
    await vi.waitFor(async () => expect(await said(world)).toBe('none'), SOON);
    const market = await warehouse.query(MARKET, CALL);
    expect(market).toEqual([[0]]);

    // The listed address's own list shows the friend's payees.
    await importTransfers(world.store, [memoryTransfer(2, SUBJECT, FRIEND)]);
    const path = [SUBJECT, FRIEND, LISTED[7]];
    await vi.waitFor(async () => expect(await said(world)).toEqual(path), SOON);
    // Both lists told the one transfer between two listed addresses.
    const sql = 'SELECT count() FROM transfers FINAL WHERE from_address = unhex({of:String})';
    const params = { of: String(LISTED[8]).slice(2) };
    expect(await warehouse.query(sql, { ...CALL, params })).toEqual([[1]]);

    world.list([...LISTED, BUSY]);
    await readsOn(filler);
  } finally {
    nowS = STILL_NOW;
    head = HEAD;
    await warehouse.close();
  }
});

test('no more calls are made a day than may be, however often it is started', {
  timeout: TIMEOUT_MS,
}, async () => {
  const warehouse = await freshWarehouse();
  try {
    const first = fillerOver(warehouse, 50);
    const before = explorer.calls.length;
    const spent = await first.filling.fill(quiet, NEVER);
    expect(spent).toMatchObject({ state: 'budget_spent', calls_today: 50, calls_a_day: 50 });
    const again = fillerOver(warehouse, 50);
    for (const { filling } of [first, again]) {
      expect(await filling.fill(quiet, NEVER)).toMatchObject({ state: 'budget_spent' });
    }
    expect(explorer.calls.length - before).toBe(50);
    const lacking = (await again.gaps()).length;
    expect(lacking).toBeLessThan(3 * LISTED.length);
    nowS += 86_400;
    head += 7_200;
    expect(await again.filling.fill(quiet, NEVER)).toMatchObject({ calls_today: 50 });
    expect(explorer.calls.length - before).toBe(100);
  } finally {
    nowS = STILL_NOW;
    head = HEAD;
    await warehouse.close();
  }
});

/** The program of the killed process, with each state on a line. */
const FILLER = `
const [dist, directory, migrations, url, now, listed] = process.argv.slice(1);
const load = (path) => import(dist + path);
const { read } = await load('evidence/reading.js');
const { openEmbedded } = await load('stores/warehouse/engine/embedded.js');
const { migrateWarehouse } = await load('stores/warehouse/engine/migrate.js');
const { transferStore } = await load('stores/warehouse/transfers/store.js');
const { warehouseReads } = await load('stores/warehouse/history/warehouse.js');
const { warehouseRing } = await load('stores/warehouse/ring/ring.js');
const { ringCalls } = await load('stores/warehouse/ring/ring.js');
const { keptLists } = await load('stores/history/kept-lists.js');
const { ringLack } = await load('stores/history/covered.js');
const { explorerLists } = await load('sources/explorer/history.js');
const { etherscanChain } = await load('sources/explorer/envelope.js');
const { providerGuard } = await load('sources/http/provider.js');
const { ringFilling } = await load('features/indexing/ring.job.js');
const clock = () => Number(now);
const warehouse = await openEmbedded(directory);
await migrateWarehouse(warehouse, migrations, { simulated: false, layout: 'single' });
const limits = { callsPerS: 500, retriesMax: 2, backoffMs: 1, failuresMax: 5, restMs: 1 };
const guard = providerGuard(limits, () => performance.now());
const chains = [etherscanChain('ethereum', { url: new URL(url), guard }, 'key')];
const lists = explorerLists({ chains, now: clock });
const reads = warehouseReads(warehouse, clock);
const ring = warehouseRing(warehouse, reads, { now: clock, simulated: false });
const store = transferStore(warehouse, clock);
const source = { name: 'T', url: 'urn:t', as_of: 0, kind: 'table', simulated: false };
const tip = { now: clock, tipMaxAgeS: 3600 };
const lack = async () => {
  const asked = { listed: listed.split(','), chains: ['ethereum'], kinds: lists.kinds };
  const lacking = ringLack(await ring.coverage(asked.listed), asked, tip);
  return read(lacking, { port: 'raw_ring', source });
};
const filling = ringFilling({
  lists: keptLists({ lists, store, origin: 'observed', now: clock }),
  lack,
  calls: ringCalls(warehouse, clock),
  callsADay: 1e6,
  leases: {
    take: async () => read({ epoch: 1, released: true }, { port: 'leases', source }),
    release: async () => read(true, { port: 'leases', source }),
  },
  now: clock,
});
const told = (state) => console.log(JSON.stringify(state));
told(await filling.fill(told, new AbortController().signal));
await warehouse.close();
`;
const DIST = new URL('../dist/', import.meta.url).href;
const MIGRATIONS = fileURLToPath(new URL('../migrations/warehouse', import.meta.url));
/** Kills of one run; EXHIBIT_TEST_TRIALS=all tries many more. */
const KILLS = trialsOf('EXHIBIT_TEST_TRIALS', 3, 40);
const ACTIONS: { readonly [kind: string]: string } = {
  native: 'txlist',
  token: 'tokentx',
  internal: 'txlistinternal',
};
const TOLD = z.object({ state: z.string(), calls_today: z.number() });
const heldRow = z.tuple([z.string(), z.string(), z.coerce.number()]);

/** Runs the process until it has told so many calls, and kills it; or to its end. */
async function filledUntil(directory: string, calls: number): Promise<string> {
  const listed = [...LISTED.slice(0, 150), BUSY].join(',');
  const args = [DIST, directory, MIGRATIONS, explorer.etherscan.href, String(STILL_NOW), listed];
  const child = spawn(process.execPath, ['--input-type=module', '-e', FILLER, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  let last = 'nothing';
  const from = explorer.calls.length;
  for await (const line of createInterface({ input: child.stdout })) {
    last = TOLD.parse(JSON.parse(line)).state;
    if (explorer.calls.length - from >= calls) break;
  }
  child.kill('SIGKILL');
  await gone;
  return last;
}

async function heldIn(directory: string) {
  const warehouse = await openEmbedded(directory);
  const sql = `SELECT concat('0x', lower(hex(addr))), toString(kind), max(to_block)
    FROM address_coverage GROUP BY addr, kind`;
  const found = await warehouse.query(sql, { ...CALL, row: heldRow });
  const [count] = await warehouse.query('SELECT count() FROM transfers FINAL', CALL);
  await warehouse.close();
  return { found, transfers: count?.[0] };
}

test('kill -9 in the middle leaves what was kept, and nothing of it is read a second time', {
  timeout: TIMEOUT_MS,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'exhibit-ring-fill-'));
  try {
    const directory = join(folder, 'store');
    explorer.fault(() => null);
    let rereadable = 0;
    let state = 'nothing';
    for (let kill = 0; kill <= KILLS; kill += 1) {
      const before = kill === 0 ? { found: [] } : await heldIn(directory);
      const from = explorer.calls.length;
      const calls = kill === KILLS ? Number.POSITIVE_INFINITY : 40 + ((kill * 37) % 60);
      state = await filledUntil(directory, calls);
      const asked = explorer.calls.slice(from);
      for (const [address, kind, to] of before.found) {
        const own = asked.filter((one) => one.address === address && one.action === ACTIONS[kind]);
        for (const one of own) expect(one.from, `${address} ${kind}`).toBeGreaterThan(to);
        rereadable += 1;
      }
    }
    expect(state).toBe('filled');
    expect(rereadable).toBeGreaterThan(60);
    const { transfers } = await heldIn(directory);
    const own = new Set([...LISTED.slice(0, 150), BUSY]);
    const told = [...own].flatMap((one) => rows.get(one) ?? []);
    expect(transfers).toBe(new Set(told).size);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
