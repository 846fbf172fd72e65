// The guarantees of every transfer history, whatever holds it. Each adapter's test runs them.

import { afterEach, describe, expect, test } from 'vitest';
import type { ChainName } from '../chain/chain.ts';
import { claim } from '../evidence/claim.ts';
import {
  basis,
  decide,
  map,
  Part,
  type Partly,
  Read,
  rowsSeen,
  Unread,
} from '../evidence/reading.ts';
import type {
  CoverageRange,
  HistoryOf,
  HistoryTransfer,
  Neighbourhood,
  NeighbourhoodLimits,
  TransferHistory,
} from './history.ts';

/** The time of the suite's worlds, Unix seconds. */
export const SUITE_NOW = Date.UTC(2026, 10, 21, 12) / 1_000;

/** How old a tip may be in them, in seconds. */
export const SUITE_TIP_MAX_AGE_S = 3_600;

/**
 * The contents of the history under test. Coverage with `address` null is the chain's; otherwise it
 * is of one address that was read by itself. No token has a symbol, decimals, a price or a market.
 */
export type SuiteHistory = {
  readonly chains: readonly ChainName[];
  readonly transfers: readonly HistoryTransfer[];
  readonly coverage: readonly (CoverageRange & { readonly address: string | null })[];
  readonly simulated: boolean;
};

/** Raw history or covered: what it is a port of is nothing to the suite. */
type Made = {
  readonly history: HistoryOf<Neighbourhood, never>;
  readonly close: () => Promise<void>;
};
type Reading = Partly<Neighbourhood, never>;

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

/** The facts of an address, complete or partial. */
function knownIn(reading: Reading | undefined): Neighbourhood {
  const sight = reading === undefined ? null : rowsSeen(map(reading, (known) => [known]));
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
    test('an address over the degree cap is known to be a hub, with its degree', async () => {
      const world = { ...WORLD, transfers: star(ALICE, 8) };
      const reading = (await ask(world, [ALICE], { degreeMax: 5 })).get(ALICE);
      expect(reading).not.toBeInstanceOf(Unread);
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

    test('one that is cut says that it is, as an observed one does', async () => {
      const world = { ...WORLD, transfers: star(ALICE, 8), simulated: true };
      const reading = (await ask(world, [ALICE], { rowsMax: 5 })).get(ALICE);
      expect(reading instanceof Part && reading.why.code).toBe('row_cap');
      const made = reading === undefined ? [] : basis(reading).sources;
      expect(made.map(({ simulated }) => simulated)).toContain(true);
    });
  });
}

const STRANGER = `0x${'e'.repeat(40)}`;
const SOLANA = 'So11111111111111111111111111111111111111112';
const ON_BASE = transfer(9, CAROL, DAVE, { chain: 'base' });

function heldOnly(over: Partial<CoverageRange>): Partial<SuiteHistory> {
  return { coverage: WHOLE.map((range) => ({ ...range, ...over })) };
}

/** Worlds of which something is missing, each in its own way, and what has to be told of it. */
const NOT_COVERED: readonly (readonly [string, Partial<SuiteHistory>, string])[] = [
  [
    'only blocks 1,000 to 2,000 were imported',
    heldOnly({ from_block: 1_000, to_block: 2_000, from_first: false }),
    'ethereum native held from block 1000, not from the first',
  ],
  [
    'the tip is old',
    heldOnly({ to_time: SUITE_NOW - SUITE_TIP_MAX_AGE_S }),
    'ethereum native held to block 10000 of 2026-11-21T11:00:00.000Z, over 1 hour ago',
  ],
  ['one kind is not held', { coverage: WHOLE.slice(1) }, 'ethereum native none held'],
  ['a chain is read and not held', { transfers: [ON_BASE] }, 'base native none held'],
  ['nothing is held', { coverage: [], transfers: [ON_BASE] }, 'native none held'],
];

/** The wrong conclusion of a newcomer who takes a complete reading for complete history. */
function trusting(reading: Partly<Neighbourhood, 'transfer_history'> | undefined): string {
  if (reading === undefined) throw new Error('suite: no reading of the address');
  return claim(
    reading,
    ({ counterparties }) => (counterparties.length === 0 ? 'no transfers' : 'transfers'),
    () => 'not known',
  ).shown;
}

type MadeCovered = { readonly history: TransferHistory; readonly close: () => Promise<void> };

/** Runs what is promised of covered history alone, with a tip of at most the suite's age. */
export function coveredHistoryKeeps(
  name: string,
  make: (world: SuiteHistory) => Promise<MadeCovered>,
): void {
  const ask = async (world: Partial<SuiteHistory>, address: string, over = {}) => {
    const { history, close } = await make({ ...WORLD, ...world });
    try {
      return (await history.neighbourhoods([address], { ...LIMITS, ...over })).get(address);
    } finally {
      await close();
    }
  };

  describe(`${name}: nothing is denied of what is not covered`, () => {
    test('who was read whole and has no transfers may be said to have none', async () => {
      const reading = await ask({}, STRANGER);
      expect(trusting(reading)).toBe('no transfers');
      expect(reading !== undefined && [...basis(reading).ports]).toEqual(['transfer_history']);
      expect(reading !== undefined && basis(reading).sources).toHaveLength(1);
      const active = WHOLE.map((range) => ({ ...range, address: STRANGER, from_block: 90 }));
      const since = await ask({ coverage: active }, STRANGER);
      expect(trusting(since)).toBe('no transfers');
    });

    test.each(NOT_COVERED)('where %s', async (_, world, told) => {
      const reading = await ask(world, STRANGER);
      expect(trusting(reading)).toBe('not known');
      expect(reading instanceof Part && reading.why.code).toBe('partial_history');
      expect(reading instanceof Part && reading.why.reason).toContain(told);
      expect(reading instanceof Part && reading.why.reason).toContain(`for ${STRANGER}`);
      // Existing rows are shown all the same.
      expect(othersIn(await ask(world, DAVE))).toEqual([CAROL]);
    });

    test('the chains that were asked are the ones that count', async () => {
      const world = { transfers: [ON_BASE] };
      expect(trusting(await ask(world, STRANGER, { chains: ['ethereum'] }))).toBe('no transfers');
      expect(trusting(await ask(world, STRANGER, { chains: ['base'] }))).toBe('not known');
    });

    test('no chain of its kind makes an address unread, and so does no chain at all', async () => {
      const readings = [
        await ask({}, SOLANA),
        await ask({}, STRANGER, { chains: ['solana'] }),
        await ask({}, STRANGER, { chains: [] }),
      ];
      expect(readings.map((one) => one instanceof Unread && one.why.code)).toEqual([
        ...['not_walked_kind', 'not_walked_kind', 'no_history'],
      ]);
    });

    test('a hub whose counterparties are left out is decided by its degree alone', async () => {
      const few = { degreeMax: 5, rowsMax: 4 };
      const reading = await ask({ transfers: star(ALICE, 8) }, ALICE, few);
      expect(trusting(reading)).toBe('not known');
      expect(reading instanceof Part && reading.why.code).toBe('high_degree');
      const hub = reading === undefined ? null : decide(reading, ({ degree }) => degree > 5);
      expect(hub instanceof Read && hub.value.degree).toBe(8);
    });
  });
}
