// The cached transfers and row counts equal those of a new reading.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { HistoryTransfer } from '../../../ports/history.ts';
import { evm } from '../../../testing/addresses.ts';
import { STILL_NOW } from '../../../testing/clock.ts';
import { freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import {
  beginFollowing,
  importTransfers,
  must,
  type RingWorld,
  ringWorld,
  tipBlock,
} from '../../../testing/ring-world.ts';
import type { Warehouse } from '../engine/executor.ts';
import { keptCounts, warehouseReads } from '../history/warehouse.ts';
import { betweenTwo } from './ring-rows.ts';

const CALL = { timeoutMs: 30_000 };
const HOUR_S = 3_600;
const [PEER, LISTED, SPAM] = [evm('a peer'), evm('one that is listed'), evm('a worthless token')];
/** The possible partners of the peer: the ring gives the same array each time. */
const MAY = new Map([[PEER, [LISTED]]]);
const { signal } = new AbortController();

let warehouse: Warehouse;
let world: RingWorld;
let nowS: number;
let asked: string[];
const watched = (real: Warehouse): Warehouse => ({
  ...real,
  query: (sql, options) => {
    asked.push(sql);
    return real.query(sql, options);
  },
});

beforeAll(async () => {
  warehouse = await freshWarehouse();
});
afterAll(() => warehouse.close());
beforeEach(async () => {
  world = await ringWorld(warehouse);
  nowS = STILL_NOW;
  asked = [];
});

function paid(n: number, over: Partial<HistoryTransfer> = {}): HistoryTransfer {
  return {
    chain: 'ethereum',
    kind: 'token',
    tx: `0x${n.toString(16).padStart(64, '0')}`,
    block: n,
    at: STILL_NOW - 1_000 + n,
    from: PEER,
    to: LISTED,
    token: SPAM,
    symbol: null,
    decimals: null,
    has_market: null,
    raw_amount: 5n,
    usd: null,
    initiator: PEER,
    success: true,
    ...over,
  };
}

async function worthless(): Promise<void> {
  await warehouse.command(
    `INSERT INTO tokens (chain, token, symbol, decimals, has_market, read_at)
     VALUES ('ethereum', unhex('${SPAM.slice(2)}'), 'S', 18, 0, ${STILL_NOW})`,
    CALL,
  );
}

/** Reads between the two; answers what each transfer's token is said to be, newest first. */
function meetings() {
  const real = watched(warehouse);
  const reads = warehouseReads(real, () => nowS);
  const settle = betweenTwo(real, reads);
  return async () => {
    const { parts } = await reads.marked();
    const { between } = await settle(MAY, parts.sides, signal);
    const two = between.get(PEER)?.get(LISTED);
    return two?.rows.map(({ transfer }) => `${transfer.block} ${transfer.has_market}`);
  };
}

const betweens = () => asked.filter((sql) => sql.includes('AND peer IN')).length;

test('a worthless token between two does not have them read again, until that reading is old', async () => {
  await importTransfers(world.store, [paid(101), paid(102)]);
  await worthless();
  const read = meetings();
  expect(await read()).toEqual(['102 false', '101 false']);
  expect(await read()).toEqual(['102 false', '101 false']);
  expect(betweens()).toBe(1);
  nowS += HOUR_S + 1;
  expect(await read()).toEqual(['102 null', '101 null']);
  expect(betweens()).toBe(2);
});

test('what is imported, followed or made final between two is told at once', async () => {
  await importTransfers(world.store, [paid(101)]);
  const read = meetings();
  expect(await read()).toEqual(['101 null']);
  await importTransfers(world.store, [paid(102)]);
  expect(await read()).toEqual(['102 null', '101 null']);
  await beginFollowing(world.store, 'ethereum');
  const [first, second] = [tipBlock(0, [paid(10)], {}), tipBlock(1, [paid(11)], {})];
  must(await world.store.applyTip('ethereum', [first]));
  expect(await read()).toEqual(['0 null', '102 null', '101 null']);
  must(await world.store.applyTip('ethereum', [second]));
  must(await world.store.finalise('ethereum', 0));
  expect(await read()).toEqual(['1 null', '0 null', '102 null', '101 null']);
});

test('rows are counted as they are, in the tip and after they became final', async () => {
  await importTransfers(world.store, [paid(101), paid(102)]);
  const reads = warehouseReads(watched(warehouse), () => nowS);
  const counted = keptCounts(watched(warehouse), reads.marked, reads.tells);
  const count = async () => (await counted(await reads.fresh(), [PEER], CALL)).get(PEER)?.sides;
  expect(await count()).toBe(2);
  asked = [];
  expect(await count()).toBe(2);
  expect(asked.filter((sql) => sql.includes('count()'))).toEqual([]);
  await beginFollowing(world.store, 'ethereum');
  must(await world.store.applyTip('ethereum', [tipBlock(0, [paid(10)], {})]));
  expect(await count()).toBe(3);
  must(await world.store.applyTip('ethereum', [tipBlock(1, [paid(11)], {})]));
  must(await world.store.finalise('ethereum', 0));
  expect(await count()).toBe(4);
});
