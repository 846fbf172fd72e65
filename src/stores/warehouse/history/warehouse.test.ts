import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { map, Part, type Partly, Read, rowsSeen, Unread } from '../../../evidence/reading.ts';
import type { Neighbourhood, NeighbourhoodLimits } from '../../../ports/history.ts';
import type { Following, TransferFact } from '../../../ports/indexing.ts';
import {
  coveredHistoryKeeps,
  SUITE_NOW,
  SUITE_TIP_MAX_AGE_S,
  type SuiteHistory,
  transferHistoryKeeps,
} from '../../../ports/transfer-history.suite.ts';
import {
  chainOf,
  given,
  KINDS,
  NONE,
  party,
  tenure,
  transferFact,
} from '../../../ports/transfer-store.suite.ts';
import { freshServedWarehouse, freshWarehouse } from '../../../testing/fresh-warehouse.ts';
import { coveredHistory } from '../../history/covered.ts';
import type { EmbeddedWarehouse } from '../engine/embedded.ts';
import type { Warehouse } from '../engine/executor.ts';
import { degreeCount } from '../transfers/counts.ts';
import { transferStore } from '../transfers/store.ts';
import { warehouseHistory } from './warehouse.ts';

const CALL = { timeoutMs: 10_000 };
const TABLES = [
  ...['transfers_written', 'transfers_counted'],
  ...['transfers', 'sides', 'blocks', 'coverage', 'address_coverage', 'degrees', 'following'],
] as const;

let embedded: Warehouse;
let remote: Warehouse;

beforeAll(async () => {
  embedded = await freshWarehouse();
  remote = await freshServedWarehouse();
});

afterAll(async () => {
  await embedded.close();
  await remote.close();
});

function facts(world: SuiteHistory): TransferFact[] {
  return world.transfers.map(
    ({ at, symbol: _, decimals: __, has_market: ___, tx, ...transfer }) => ({
      ...transfer,
      block_time: at,
      tx_hash: tx,
      block_hash: null,
      position: null,
    }),
  );
}

const now = () => SUITE_NOW;

async function filled(warehouse: Warehouse, world: SuiteHistory) {
  for (const table of TABLES) await warehouse.command(`TRUNCATE TABLE ${table}`, CALL);
  const store = transferStore(warehouse, now);
  const origin = world.simulated ? 'simulated' : 'observed';
  const source = 'suite';
  const appended = await store.appendImported(
    { transfers: facts(world), creations: [], blocks: [], transactions: [] },
    { source, origin, import_id: 'suite' },
  );
  if (!(appended instanceof Read)) throw new Error(appended.why.reason);
  const ranges = world.coverage.map((range) => ({ ...range, source, origin }) as const);
  await store.recordCoverage(ranges.filter(({ address }) => address === null));
  await store.recordAddressCoverage(
    ranges.flatMap((range) =>
      range.address === null
        ? []
        : [{ ...range, address: range.address, truncated: false, read_at: SUITE_NOW }],
    ),
  );
  return { history: warehouseHistory(warehouse, now), close: async () => undefined };
}

async function covered(warehouse: Warehouse, world: SuiteHistory) {
  const { history, close } = await filled(warehouse, world);
  const tip = { now, tipMaxAgeS: SUITE_TIP_MAX_AGE_S };
  return { history: coveredHistory(history, tip), close };
}

transferHistoryKeeps('embedded warehouse', (world) => filled(embedded, world));
transferHistoryKeeps('remote warehouse', (world) => filled(remote, world));
coveredHistoryKeeps('covered embedded warehouse', (world) => covered(embedded, world));

describe.each([
  ['embedded', () => embedded],
  ['remote', () => remote],
] as const)('%s: a chain whose import has begun', (_, warehouse) => {
  const CHAIN = { chain: 'base', parent_hash: null, time: SUITE_NOW } as const;
  const header = { ...CHAIN, number: 7, hash: `0x${'7'.repeat(64)}` };
  const FOLLOWING = { chain: 'bsc', from_block: 1, kinds: ['native'], source: 'suite' } as const;

  test('is among the chains read with its first row, and so is one that is followed', async () => {
    const world = { chains: [], transfers: [], coverage: [], simulated: false };
    const { history } = await filled(warehouse(), world);
    const chains = async () => {
      const reading = await history.chainsRead();
      return reading instanceof Read ? reading.value : reading.why.reason;
    };
    const store = transferStore(warehouse(), now);
    const facts = { transfers: [], creations: [], blocks: [], transactions: [] };
    expect(await chains()).toEqual([]);
    const provenance = { source: 'suite', origin: 'observed', import_id: 'begun' } as const;
    const ethereum = { ...header, chain: 'ethereum' as const };
    await store.appendImported({ ...facts, blocks: [ethereum] }, provenance);
    expect(await chains()).toEqual(['ethereum']);
    await store.appendImported({ ...facts, blocks: [header] }, provenance);
    expect(await chains()).toEqual(['ethereum', 'base']);
    await store.follow({ ...FOLLOWING, origin: 'observed' }, tenure());
    expect(await chains()).toEqual(['ethereum', 'base', 'bsc']);
  });
});

describe('reads', () => {
  const CALL = { timeoutMs: 30_000 };
  const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
  const now = () => NOW;
  const TABLES = [
    ...['transfers_written', 'transfers_counted'],
    ...['transfers', 'sides', 'coverage', 'address_coverage', 'degrees', 'tokens', 'following'],
    ...['tip_blocks', 'tip_transfers', 'tip_sides'],
  ] as const;
  const LIMITS: NeighbourhoodLimits = {
    rowsMax: 5_000,
    degreeMax: 5_000,
    batchRowsMax: 100_000,
    transfersPerCounterpartyMax: 5_000,
    signal: new AbortController().signal,
  };
  const ALICE = party(0);
  const PROVENANCE = { source: 'test', origin: 'observed', import_id: 'test' } as const;

  let warehouse: EmbeddedWarehouse;

  beforeAll(async () => {
    warehouse = await freshWarehouse();
  });

  beforeEach(async () => {
    for (const table of TABLES) await warehouse.command(`TRUNCATE TABLE ${table}`, CALL);
  });

  afterAll(() => warehouse.close());

  /** So many transfers from Alice, round and round to so many others. */
  async function paid(transfers: number, others: number, from = 0): Promise<void> {
    await warehouse.command(
      `INSERT INTO transfers (chain, block, tx_hash, place, kind, token, from_address, to_address,
       raw_amount, n, block_time, success, finality, observed)
     SELECT 'ethereum', 1 + number, concat(SHA256(toString(number)), ''), '', 'native', '',
       unhex('${ALICE.slice(2)}'), concat(SHA1(toString(number % ${others})), ''), 1, 0,
       ${NOW - 100_000} + number, 2, 1, 1 FROM numbers(${from}, ${transfers})`,
      CALL,
    );
  }

  type Answer = Partly<Neighbourhood, 'raw_history'>;

  async function ask(over: Partial<NeighbourhoodLimits> = {}, on: Warehouse = warehouse) {
    const readings = await warehouseHistory(on, now).neighbourhoods([ALICE], {
      ...LIMITS,
      ...over,
    });
    const reading = readings.get(ALICE);
    if (reading === undefined) throw new Error('no reading');
    return reading;
  }

  function known(reading: Answer): Neighbourhood {
    const sight = rowsSeen(map(reading, (value) => [value]));
    if (sight === null) throw new Error('nothing is seen');
    return sight[0];
  }

  function rowsIn(reading: Answer) {
    return known(reading).counterparties.flatMap(({ transfers }) => transfers);
  }

  describe('an address with many transfers', () => {
    test('to many others is a hub, counted when it is met and known once it was counted', async () => {
      await paid(6_000, 5_500);
      const met = await ask();
      expect(met).toBeInstanceOf(Read);
      expect(known(met)).toMatchObject({ degree: 5_500, counterparties: [] });
      await degreeCount(warehouse).count();
      expect(known(await ask())).toMatchObject({ degree: 5_500, counterparties: [] });
    });

    test('to few others is cut, and shows its newest', async () => {
      await paid(6_000, 10);
      const reading = await ask();
      expect(reading instanceof Part && reading.why.code).toBe('row_cap');
      expect(known(reading).degree).toBe(10);
      const blocks = rowsIn(reading).map(({ block }) => block);
      expect(blocks).toHaveLength(5_000);
      expect(Math.min(...blocks)).toBe(1_001);
    });

    test('that are too many to sort is cut, and shows some', async () => {
      await paid(30_000, 10);
      await degreeCount(warehouse).count();
      const reading = await ask();
      expect(reading instanceof Part && reading.why.code).toBe('row_cap');
      expect(known(reading)).toMatchObject({ degree: 10 });
      expect(rowsIn(reading)).toHaveLength(5_000);
    });

    test('that are too many to sort shows the newest of them where they are to be shown', async () => {
      await paid(30_000, 10);
      await degreeCount(warehouse).count();
      const twice = [await ask({ valued: true }), await ask({ valued: true })];
      const blocks = twice.map((reading) => rowsIn(reading).map(({ block }) => block));
      expect(blocks[0]).toHaveLength(5_000);
      expect(Math.min(...(blocks[0] ?? []))).toBe(25_001);
      expect(blocks[1]).toEqual(blocks[0]);
      expect(twice.map((reading) => reading instanceof Part && reading.why.code)).toEqual([
        ...['row_cap', 'row_cap'],
      ]);
    });

    test('that are too many to sort are never whole, however often the newest came', async () => {
      await paid(30_000, 10);
      await degreeCount(warehouse).count();
      await warehouse.command('SYSTEM STOP MERGES sides', CALL);
      try {
        await paid(3_000, 10, 27_000);
        const reading = await ask({ valued: true });
        expect(reading instanceof Part && reading.why.code).toBe('row_cap');
        expect(rowsIn(reading).length).toBeGreaterThan(2_000);
      } finally {
        await warehouse.command('SYSTEM START MERGES sides', CALL);
      }
    });

    test('exactly at the cap is whole', async () => {
      await paid(5_000, 10);
      expect(await ask()).toBeInstanceOf(Read);
    });
  });

  const FOLLOWING: Following = {
    chain: 'ethereum',
    from_block: 1,
    kinds: KINDS,
    source: 'test',
    origin: 'observed',
  };

  describe('a chain that is undone while it is read', () => {
    test('is read again: no answer claims blocks of one fork for the rows of another', async () => {
      const store = transferStore(warehouse, now);
      given(await store.follow(FOLLOWING, tenure()));
      given(await store.applyTip('ethereum', chainOf(1, 6, 'A')));
      let undone = false;
      const meanwhile: Warehouse = {
        ...warehouse,
        query: async (sql, options) => {
          const rows = await warehouse.query(sql, options);
          if (!undone && sql.includes('FROM sides')) {
            undone = true;
            given(await store.rollBack('ethereum', 2));
            given(await store.applyTip('ethereum', chainOf(3, 2, 'B', 'A')));
          }
          return rows;
        },
      };
      const during = await ask({}, meanwhile);
      expect(undone).toBe(true);
      expect(known(during)).toEqual(known(await ask()));
      expect(known(during).coverage.map(({ to_block }) => to_block)).toEqual([4, 4, 4]);
    });

    test('and undone at each attempt is not answered from', async () => {
      const store = transferStore(warehouse, now);
      given(await store.follow(FOLLOWING, tenure()));
      given(await store.applyTip('ethereum', chainOf(1, 3, 'A')));
      const always: Warehouse = {
        ...warehouse,
        query: async (sql, options) => {
          const rows = await warehouse.query(sql, options);
          if (sql.includes('FROM sides')) {
            given(await store.rollBack('ethereum', 2));
            given(await store.applyTip('ethereum', chainOf(3, 1, 'A')));
          }
          return rows;
        },
      };
      const reading = await ask({}, always);
      expect(reading instanceof Unread && reading.why.code).toBe('store_unreadable');
    });
  });

  describe('tokens', () => {
    const token = `0x${'7'.repeat(40)}`;
    const read = async (has_market: boolean, read_at: number) => {
      const store = transferStore(warehouse, now);
      const transfers = [transferFact(0, { kind: 'token', token })];
      given(await store.appendImported({ ...NONE, transfers }, PROVENANCE));
      const fact = { chain: 'ethereum', token, symbol: 'T', decimals: 6 } as const;
      given(await store.recordTokens([{ ...fact, has_market, read_at }]));
      const [row] = rowsIn(await ask());
      return row;
    };

    test('are named as they were last read', async () => {
      expect(await read(true, NOW - 90_000)).toMatchObject({
        symbol: 'T',
        decimals: 6,
        has_market: true,
      });
    });

    test('have no market only while a fresh reading says so', async () => {
      expect(await read(false, NOW - 60)).toMatchObject({ has_market: false });
      await warehouse.command('TRUNCATE TABLE tokens', CALL);
      expect(await read(false, NOW - 7_200)).toMatchObject({ symbol: 'T', has_market: null });
    });
  });

  describe('a failing warehouse', () => {
    test('is silence with its cause: an engine that died is never an address without transfers', async () => {
      await paid(10, 5);
      const history = warehouseHistory(warehouse, now);
      const pid = warehouse.pid();
      if (pid === undefined) throw new Error('there is no engine to kill');
      const asked = history.neighbourhoods([ALICE], LIMITS);
      process.kill(pid, 'SIGKILL');
      for (const reading of [(await asked).get(ALICE), await ask()]) {
        if (reading instanceof Unread) expect(reading.why.code).toBe('store_unreadable');
        else expect(reading instanceof Read && reading.value.degree).toBe(5);
      }
      for (let turn = 0; turn < 1_000; turn += 1) {
        const reading = await ask();
        if (reading instanceof Read && reading.value.degree === 5) return;
        expect(reading).toBeInstanceOf(Unread);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error('the engine did not come back');
    });

    test('a caller that hangs up is let go at once, and is told that nothing was read', async () => {
      const stop = new AbortController();
      let released = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        released = resolve;
      });
      const stuck: Warehouse = {
        ...warehouse,
        query: async (sql, options) => {
          if (sql.includes('FROM sides')) await held;
          return warehouse.query(sql, options);
        },
      };
      const asked = ask({ signal: stop.signal }, stuck);
      setTimeout(() => stop.abort(), 20);
      const reading = await asked;
      released();
      expect(reading instanceof Unread && reading.why.code).toBe('time_budget');
    });
  });
});
