// What every transfer history promises, whatever holds it. Run against each in its adapter's test.

import { afterEach, describe, expect, test } from 'vitest';
import type { ChainName } from '../../chain/chain.ts';
import { basis, map, Part, type Partly, Read, seen, Unread } from '../../evidence/reading.ts';
import type {
  CoverageRange,
  HistoryTransfer,
  Neighbourhood,
  NeighbourhoodLimits,
  TransferHistory,
  TransferHistoryPort,
} from './transfer-history.ts';

/** The time of the suite's worlds, Unix seconds. */
export const SUITE_NOW = Date.UTC(2026, 10, 21, 12) / 1_000;

/**
 * What the history under test is to hold. Coverage with `address` null is the chain's; else it is
 * of one address that was read by itself. No token has a symbol, decimals, a price or a market.
 */
export type SuiteHistory = {
  readonly chains: readonly ChainName[];
  readonly transfers: readonly HistoryTransfer[];
  readonly coverage: readonly (CoverageRange & { readonly address: string | null })[];
  readonly simulated: boolean;
};

type Made = { readonly history: TransferHistory; readonly close: () => Promise<void> };
type Reading = Partly<Neighbourhood, TransferHistoryPort>;

const [ALICE, BOB, CAROL, DAVE] = ['a', 'b', 'c', 'd'].map(
  (letter) => `0x${letter.repeat(40)}`,
) as [string, string, string, string];
const TOKEN = `0x${'7'.repeat(40)}`;

const LIMITS: NeighbourhoodLimits = {
  rowsMax: 100,
  degreeMax: 50,
  transfersPerCounterpartyMax: 100,
  batchRowsMax: 1_000,
  signal: new AbortController().signal,
};

/** A transfer of the suite, numbered: its block, time and transaction follow from the number. */
function transfer(n: number, from: string, to: string, over: Partial<HistoryTransfer> = {}) {
  const made: HistoryTransfer = {
    chain: 'ethereum',
    kind: 'native',
    tx: `0x${n.toString(16).padStart(64, '0')}`,
    block: 100 + n,
    at: SUITE_NOW - 10_000 + n,
    from,
    to,
    token: null,
    symbol: null,
    decimals: null,
    raw_amount: 10n ** 18n,
    usd: null,
    has_market: null,
    initiator: null,
    success: true,
    ...over,
  };
  return made;
}

const WHOLE = (['native', 'token', 'internal'] as const).map((kind) => ({
  chain: 'ethereum' as const,
  kind,
  address: null,
  from_block: 0,
  to_block: 10_000,
  to_time: SUITE_NOW - 60,
  from_first: true,
}));

const WORLD: SuiteHistory = {
  chains: ['ethereum'],
  transfers: [
    transfer(1, ALICE, BOB),
    transfer(2, BOB, ALICE, { kind: 'internal', raw_amount: 0n }),
    transfer(3, ALICE, CAROL, { kind: 'token', token: TOKEN, raw_amount: 2n ** 200n + 1n }),
    transfer(4, CAROL, DAVE),
    transfer(5, ALICE, ALICE),
  ],
  coverage: WHOLE,
  simulated: false,
};

/** A star: one address that paid each of so many others once. */
function star(centre: string, others: number): HistoryTransfer[] {
  return Array.from({ length: others }, (_, i) => {
    return transfer(i + 1, centre, `0x${(0x10000 + i).toString(16).padStart(40, '1')}`);
  });
}

/** What is known of an address, whole or in part. */
function knownIn(reading: Reading | undefined): Neighbourhood {
  const sight = reading === undefined ? null : seen(map(reading, (known) => [known]));
  if (sight === null) throw new Error('suite: nothing is known of the address');
  return sight[0];
}

function rowsIn(reading: Reading | undefined): HistoryTransfer[] {
  return knownIn(reading).counterparties.flatMap(({ transfers }) => transfers);
}

function othersIn(reading: Reading | undefined): string[] {
  return knownIn(reading)
    .counterparties.map(({ address }) => address)
    .sort();
}

/** Runs the promises on histories that `make` makes. */
export function transferHistoryKeeps(
  name: string,
  make: (world: SuiteHistory) => Promise<Made>,
): void {
  const open: Made[] = [];
  afterEach(async () => {
    for (const made of open.splice(0)) await made.close();
  });
  const ask = async (world: SuiteHistory, addresses: string[], over = {}) => {
    const made = await make(world);
    open.push(made);
    return made.history.neighbourhoods(addresses, { ...LIMITS, ...over });
  };

  describe(`${name}: what is held`, () => {
    test('both directions of every kind are there, with exact amounts', async () => {
      const readings = await ask(WORLD, [ALICE]);
      const reading = readings.get(ALICE);
      expect(reading).toBeInstanceOf(Read);
      expect(knownIn(reading)).toMatchObject({ address: ALICE, degree: 2 });
      expect(othersIn(reading)).toEqual([BOB, CAROL]);
      const told = rowsIn(reading).map(({ tx, kind, from, to, token, raw_amount, success }) => {
        return { tx, kind, from, to, token, raw_amount, success };
      });
      expect(told).toHaveLength(3);
      for (const { tx, kind, from, to, token, raw_amount, success } of WORLD.transfers.slice(
        0,
        3,
      )) {
        expect(told).toContainEqual({ tx, kind, from, to, token, raw_amount, success });
      }
    });

    test('an address that was read and has no transfers is whole, with its coverage', async () => {
      const stranger = `0x${'e'.repeat(40)}`;
      const reading = (await ask(WORLD, [stranger])).get(stranger);
      expect(reading).toBeInstanceOf(Read);
      expect(knownIn(reading)).toMatchObject({ degree: 0, counterparties: [] });
      expect(
        knownIn(reading)
          .coverage.map(({ kind }) => kind)
          .sort(),
      ).toEqual(['internal', 'native', 'token']);
    });

    test('each address asked gets a reading of its own, in one batch', async () => {
      const readings = await ask(WORLD, [ALICE, BOB, DAVE]);
      expect([...readings.keys()].sort()).toEqual([ALICE, BOB, DAVE]);
      expect(othersIn(readings.get(BOB))).toEqual([ALICE]);
      expect(othersIn(readings.get(DAVE))).toEqual([CAROL]);
    });

    test('the newest transfers with a counterparty come first, and all are counted', async () => {
      const transfers = [1, 2, 3, 4].map((n) => transfer(n, ALICE, BOB));
      const world = { ...WORLD, transfers };
      const readings = await ask(world, [ALICE], { transfersPerCounterpartyMax: 2 });
      const [bob] = knownIn(readings.get(ALICE)).counterparties;
      expect(bob?.transfers.map(({ block }) => block)).toEqual([104, 103]);
      expect(bob?.transfer_count).toBe(4);
    });

    test('a success that no source tells stays unknown', async () => {
      const world = { ...WORLD, transfers: [transfer(1, ALICE, BOB, { success: null })] };
      expect(rowsIn((await ask(world, [ALICE])).get(ALICE))[0]?.success).toBeNull();
    });

    test('coverage is what is held of this address, and nothing where nothing is', async () => {
      const ofAlice = WHOLE.map((range) => ({ ...range, address: ALICE }));
      const readings = await ask({ ...WORLD, coverage: ofAlice }, [ALICE, BOB]);
      expect(knownIn(readings.get(ALICE)).coverage).toHaveLength(3);
      const bob = readings.get(BOB);
      if (!(bob instanceof Unread)) expect(knownIn(bob).coverage).toEqual([]);
    });

    test('a question about some chains is not answered with others', async () => {
      const transfers = [
        transfer(1, ALICE, BOB),
        transfer(2, ALICE, CAROL, { chain: 'base' as const }),
      ];
      const readings = await ask({ ...WORLD, transfers }, [ALICE], { chains: ['ethereum'] });
      expect(othersIn(readings.get(ALICE))).toEqual([BOB]);
    });

    test('the chains read are those held', async () => {
      const made = await make(WORLD);
      open.push(made);
      const chains = await made.history.chainsRead();
      expect(chains instanceof Read && [...chains.value]).toEqual(['ethereum']);
    });
  });

  describe(`${name}: bounds`, () => {
    test('an address over the degree cap is whole, with its degree', async () => {
      const world = { ...WORLD, transfers: star(ALICE, 8) };
      const reading = (await ask(world, [ALICE], { degreeMax: 5 })).get(ALICE);
      expect(reading).toBeInstanceOf(Read);
      expect(knownIn(reading).degree).toBe(8);
    });

    test('more rows than the cap make a part that still shows what was read', async () => {
      const world = { ...WORLD, transfers: star(ALICE, 8) };
      const reading = (await ask(world, [ALICE], { rowsMax: 5 })).get(ALICE);
      expect(reading).toBeInstanceOf(Part);
      expect(reading instanceof Part && reading.why.code).toBe('row_cap');
      expect(rowsIn(reading).length).toBeGreaterThan(0);
      expect(rowsIn(reading).length).toBeLessThanOrEqual(5);
    });

    test('exactly as many rows as the cap are whole', async () => {
      const world = { ...WORLD, transfers: star(ALICE, 5) };
      expect((await ask(world, [ALICE], { rowsMax: 5 })).get(ALICE)).toBeInstanceOf(Read);
    });

    test('what a batch has no room for is a part, in the order asked', async () => {
      const transfers = [...star(ALICE, 4), transfer(20, BOB, DAVE), transfer(21, BOB, CAROL)];
      const readings = await ask({ ...WORLD, transfers }, [ALICE, BOB], { batchRowsMax: 5 });
      expect(readings.get(ALICE)).toBeInstanceOf(Read);
      expect(readings.get(BOB)).not.toBeInstanceOf(Read);
    });

    test('an aborted request reads nothing, and says so of each address', async () => {
      const readings = await ask(WORLD, [ALICE, BOB], { signal: AbortSignal.abort() });
      for (const address of [ALICE, BOB]) {
        const reading = readings.get(address);
        expect(reading instanceof Unread && reading.why.code).toBe('time_budget');
      }
    });
  });

  describe(`${name}: simulated`, () => {
    test('is shown, labelled, and never whole', async () => {
      const readings = await ask({ ...WORLD, simulated: true }, [
        ALICE,
        DAVE,
        `0x${'e'.repeat(40)}`,
      ]);
      expect(readings.size).toBe(3);
      for (const reading of readings.values()) {
        expect(reading instanceof Part && reading.why.code).toBe('simulated');
        expect(basis(reading).sources.every(({ simulated }) => simulated)).toBe(true);
      }
      expect(othersIn(readings.get(ALICE))).toEqual([BOB, CAROL]);
    });
  });
}
