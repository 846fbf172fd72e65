import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../chain/address.ts';
import { DAY_S } from '../../chain/time.ts';
import { map, type Partly, Read, rowsSeen, Unread, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { HistoryTransfer, TransferHistory } from '../../ports/history.ts';
import type { SanctionsList } from '../../ports/sanctions.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { fullCoverage, memoryTransfer } from '../../testing/twins/history.ts';
import { labelOf } from '../../testing/twins/tables.ts';
import { listedEntry, type WalkedWorld, walkedPorts } from '../../testing/walked-world.ts';
import { causesText } from '../history/address-history.ts';
import { proximity, settledWalk, WALK_LIMITS, type Walk, type WalkPort } from './walk.ts';
import { stopsOf } from './walk-hop.ts';

const SUBJECT = evm('subject');
const MIDDLE = evm('middle');
const OTHER = evm('other');
const LISTED = evm('listed');
const TOKEN = evm('token');

/** Somebody who is neither the subject nor anybody else named here. */
const person = (n: number) => evm(`person ${n}`);

type World = Omit<Partial<WalkedWorld>, 'listed'> & {
  readonly transfers: readonly HistoryTransfer[];
  readonly listed?: readonly string[];
  readonly faultyHistory?: (history: TransferHistory) => TransferHistory;
  readonly limits?: Partial<typeof WALK_LIMITS>;
};

async function walk(world: World): Promise<Partly<Walk, WalkPort>> {
  const { listed = [LISTED] } = world;
  const ports = walkedPorts({
    now: STILL_NOW,
    labels: [],
    ...world,
    listed: listed.map(listedEntry),
  });
  const asked = {
    list: ports.list,
    history: world.faultyHistory?.(ports.history) ?? ports.history,
    labels: ports.labels,
    ring: ports.ring,
  };
  const subject = parseAddress(SUBJECT);
  if (subject === null) throw new Error('test: the subject is no address');
  const signal = new AbortController().signal;
  const limits = { ...WALK_LIMITS, ...world.limits };
  return proximity(asked, subject, limits, { signal });
}

/** A walk that was read to its end. */
async function whole(world: World): Promise<Walk> {
  const reading = await walk(world);
  if (!(reading instanceof Read)) throw new Error(`test: not whole: ${reading.why.reason}`);
  return reading.value;
}

function stops(one: Walk | null): string[] | null {
  return one === null || one.found === null ? null : stopsOf(one.found.way);
}

function sightOf(reading: Partly<Walk, WalkPort>): Walk | null {
  const sight = rowsSeen(map(reading, (one) => [one]));
  return sight === null ? null : sight[0];
}

function reasonIn(reading: Partly<Walk, WalkPort>): string {
  return reading instanceof Read ? 'none' : reading.why.reason;
}

const PAID = [memoryTransfer(1, SUBJECT, MIDDLE), memoryTransfer(2, MIDDLE, LISTED)];
const HARMLESS = [memoryTransfer(1, SUBJECT, MIDDLE), memoryTransfer(2, MIDDLE, OTHER)];

describe('a way to a listed address', () => {
  test('is found at one hop and at two, in either direction of each', async () => {
    const pairs = [true, false];
    for (const out of pairs) {
      const one = out ? memoryTransfer(1, SUBJECT, LISTED) : memoryTransfer(1, LISTED, SUBJECT);
      expect(stops(await whole({ transfers: [one] }))).toEqual([SUBJECT, LISTED]);
      for (const onward of pairs) {
        const near = out ? memoryTransfer(1, SUBJECT, MIDDLE) : memoryTransfer(1, MIDDLE, SUBJECT);
        const far = onward ? memoryTransfer(2, MIDDLE, LISTED) : memoryTransfer(2, LISTED, MIDDLE);
        const found = await whole({ transfers: [near, far] });
        expect(stops(found)).toEqual([SUBJECT, MIDDLE, LISTED]);
        expect(found.found?.entry.uid).toBe(LISTED.slice(-4));
      }
    }
  });

  test('three hops away is not looked for', async () => {
    const transfers = [...HARMLESS, memoryTransfer(3, OTHER, LISTED)];
    const { found, hops_examined, frontier_exhausted, nodes_examined } = await whole({ transfers });
    expect({ found, hops_examined, frontier_exhausted, nodes_examined }).toEqual({
      found: null,
      hops_examined: 2,
      frontier_exhausted: true,
      nodes_examined: 2,
    });
  });

  test('the shorter is taken, however small its value', async () => {
    const transfers = [
      memoryTransfer(1, SUBJECT, MIDDLE, { usd: '1000000' }),
      memoryTransfer(2, MIDDLE, evm('listed far'), { usd: '1000000' }),
      memoryTransfer(3, SUBJECT, LISTED, { raw_amount: 1n, usd: '0.01' }),
    ];
    const one = await whole({ transfers, listed: [LISTED, evm('listed far')] });
    expect(stops(one)).toEqual([SUBJECT, LISTED]);
    expect(one.hops_examined).toBe(1);
    expect(one.frontier_exhausted).toBe(false);
  });

  test('of two as short the larger by its smallest hop is taken, unpriced last', async () => {
    const by = (n: number, first: string | null, second: string | null) => [
      memoryTransfer(2 * n, SUBJECT, person(n), { usd: first }),
      memoryTransfer(2 * n + 1, person(n), LISTED, { usd: second }),
    ];
    const uneven = by(1, '1000', '3');
    const even = by(2, '9', '10');
    const unpriced = by(3, '5000', null);
    const ways = async (...sets: HistoryTransfer[][]) =>
      stops(await whole({ transfers: sets.flat() }));
    expect(await ways(uneven, even, unpriced)).toEqual([SUBJECT, person(2), LISTED]);
    expect(await ways(unpriced, uneven)).toEqual([SUBJECT, person(1), LISTED]);
  });

  test('of two as short and as large the first by address is taken, from its far end', async () => {
    const [near, far] = [evm('listed a'), evm('listed b')].sort() as [string, string];
    const transfers = [far, near].map((to, n) => memoryTransfer(n, SUBJECT, to, { usd: '5' }));
    expect(stops(await whole({ transfers, listed: [near, far] }))).toEqual([SUBJECT, near]);
    const [p, q] = [person(1), person(2)].sort() as [string, string];
    const twoHops = [q, p].flatMap((by, n) => [
      memoryTransfer(2 * n, SUBJECT, by),
      memoryTransfer(2 * n + 1, by, LISTED),
    ]);
    expect(stops(await whole({ transfers: twoHops }))).toEqual([SUBJECT, p, LISTED]);
  });

  test('each hop is told by its largest transfer, on whichever chain it was', async () => {
    const large = memoryTransfer(3, MIDDLE, SUBJECT, {
      chain: 'base',
      usd: '70',
      kind: 'internal',
    });
    const both = ['ethereum', 'base'] as const;
    const { found } = await whole({
      transfers: [memoryTransfer(1, SUBJECT, MIDDLE, { usd: '2' }), large, ...PAID.slice(1)],
      history: {
        chains: both,
        coverage: both.flatMap((chain) => fullCoverage(chain, STILL_NOW - 60)),
      },
    });
    expect(found?.way.map(({ transfer }) => transfer.tx)).toEqual([large.tx, PAID[1]?.tx]);
  });

  test('a listed subject is no way to itself, nor is a transfer to oneself', async () => {
    const transfers = [memoryTransfer(1, SUBJECT, SUBJECT), memoryTransfer(2, SUBJECT, MIDDLE)];
    expect((await whole({ transfers, listed: [SUBJECT] })).found).toBeNull();
  });

  test('system addresses are never on a way', async () => {
    const burn = '0x000000000000000000000000000000000000dead';
    const transfers = [memoryTransfer(1, SUBJECT, burn), memoryTransfer(2, LISTED, burn)];
    const one = await whole({ transfers });
    expect(one.found).toBeNull();
    expect(one.nodes_examined).toBe(0);
  });
});

describe('what is left out', () => {
  const poison = (from: string, to: string, n = 9) =>
    memoryTransfer(n, from, to, {
      kind: 'token',
      token: TOKEN,
      raw_amount: 0n,
      initiator: evm('poisoner'),
    });

  test('poisoning is no way to a listed address, but is always shown', async () => {
    const one = await whole({ transfers: [...HARMLESS, poison(SUBJECT, LISTED)] });
    expect(one.found).toBeNull();
    expect(one.left_out).toEqual({ zero_value: 1, no_market_token: 0 });
    expect(one.contacts.map((c) => [c.listed_address, c.why, c.transfer.token])).toEqual([
      [LISTED, 'zero_value', TOKEN],
    ]);
    expect(one.nodes_examined).toBe(2);
  });

  test('a token without a market makes no way where that was read, else it does', async () => {
    const spam = { kind: 'token', token: TOKEN, initiator: LISTED } as const;
    const sent = (has_market: boolean | null) => [
      memoryTransfer(1, LISTED, SUBJECT, { ...spam, has_market }),
    ];
    const read = await whole({ transfers: sent(false) });
    expect(read.found).toBeNull();
    expect(read.contacts.map((contact) => contact.why)).toEqual(['no_market_token']);
    expect(read.left_out).toEqual({ zero_value: 0, no_market_token: 1 });
    // A price source that is silent or absent removes nothing.
    expect(stops(await whole({ transfers: sent(null) }))).toEqual([SUBJECT, LISTED]);
  });

  const forged = { kind: 'token', token: TOKEN, initiator: null } as const;
  const calls = { kind: 'internal', raw_amount: 0n, initiator: null } as const;

  test.each([
    ['no value in its name', memoryTransfer(9, SUBJECT, LISTED, { ...forged, raw_amount: 0n })],
    [
      'a worthless token unasked',
      memoryTransfer(9, LISTED, SUBJECT, { ...forged, has_market: false }),
    ],
    [
      'an amount that a contract of nobody logs in its name',
      memoryTransfer(9, SUBJECT, LISTED, { ...forged, has_market: false }),
    ],
    ['an empty call by the contract of a stranger', memoryTransfer(9, LISTED, SUBJECT, calls)],
  ])('%s, of which no source names the signer, is no way', async (_, transfer) => {
    const one = await whole({ transfers: [...HARMLESS, transfer] });
    expect(one.found).toBeNull();
    expect(one.contacts.map(({ listed_address }) => listed_address)).toEqual([LISTED]);
    // The same at the second hop, where neither the neighbour nor the subject signed it.
    const { from, to } = transfer;
    const moved = { ...transfer, from: from === SUBJECT ? MIDDLE : from };
    const far = { ...moved, to: to === SUBJECT ? MIDDLE : to };
    const two = await whole({ transfers: [...HARMLESS, far] });
    expect(two.found).toBeNull();
    expect(two.contacts_count).toBe(1);
  });

  test('what the side signed itself is a way, also where only its own transactions say so', async () => {
    const worthless = { ...forged, has_market: false } as const;
    const signed = memoryTransfer(9, SUBJECT, TOKEN, { raw_amount: 0n });
    const sent = memoryTransfer(9, SUBJECT, LISTED, worthless);
    expect(stops(await whole({ transfers: [signed, sent] }))).toEqual([SUBJECT, LISTED]);
    const own = { ...sent, initiator: SUBJECT };
    expect(stops(await whole({ transfers: [own] }))).toEqual([SUBJECT, LISTED]);
    // At the second hop the subject may have signed what moved between two others.
    const onward = memoryTransfer(9, MIDDLE, LISTED, worthless);
    const bySubject = await whole({ transfers: [...HARMLESS, signed, onward] });
    expect(stops(bySubject)).toEqual([SUBJECT, MIDDLE, LISTED]);
  });

  test('where its own transactions were not read whole nobody knows, and it stays a way', async () => {
    const poisoned = memoryTransfer(9, SUBJECT, LISTED, { ...forged, raw_amount: 0n });
    const coverage = fullCoverage('ethereum', STILL_NOW - 60).filter(
      ({ kind }) => kind !== 'native',
    );
    const reading = await walk({ transfers: [poisoned], history: { coverage } });
    expect(stops(sightOf(reading))).toEqual([SUBJECT, LISTED]);
    const crowded = [
      poisoned,
      ...Array.from({ length: 9 }, (_, n) => memoryTransfer(n, person(n), SUBJECT)),
    ];
    const cut = await walk({ transfers: crowded, limits: { rowsMax: 5 } });
    expect(stops(sightOf(cut))).toEqual([SUBJECT, LISTED]);
  });

  test('dust is an edge: there is no lower limit', async () => {
    const dust = memoryTransfer(1, LISTED, SUBJECT, { raw_amount: 1n, usd: '0' });
    expect(stops(await whole({ transfers: [dust] }))).toEqual([SUBJECT, LISTED]);
  });

  test('a left-out contact is shown at the second hop too, and beside a way', async () => {
    const other = evm('listed other');
    const transfers = [...PAID, poison(MIDDLE, other), poison(MIDDLE, LISTED, 10)];
    const one = await whole({ transfers, listed: [LISTED, other] });
    expect(stops(one)).toEqual([SUBJECT, MIDDLE, LISTED]);
    expect(one.contacts.map(({ listed_address }) => listed_address).sort()).toEqual(
      [LISTED, other].sort(),
    );
  });

  test('many left-out contacts are counted beyond those listed', async () => {
    const transfers = Array.from({ length: 30 }, (_, n) => poison(SUBJECT, LISTED, n));
    const one = await whole({ transfers });
    expect(one.contacts).toHaveLength(20);
    expect(one.contacts_count).toBe(30);
  });

  test('unwanted transfers that hide older ones cut the walk, and decide nothing', async () => {
    const cut = (history: TransferHistory): TransferHistory => ({
      ...history,
      neighbourhoods: (addresses, limits) =>
        history.neighbourhoods(addresses, { ...limits, transfersPerCounterpartyMax: 1 }),
    });
    const transfers = [memoryTransfer(1, SUBJECT, LISTED), poison(SUBJECT, LISTED)];
    expect(reasonIn(await walk({ transfers, faultyHistory: cut }))).toMatch(/^row_cap: /);
    expect(stops(await whole({ transfers }))).toEqual([SUBJECT, LISTED]);
  });
});

describe('hubs', () => {
  const crowd = (centre: string, size: number) =>
    Array.from({ length: size }, (_, n) => memoryTransfer(100 + n, centre, person(n)));
  const limits = { degreeMax: 5 };
  const hub = evm('hub');

  test('a subject over the degree cap is not walked from, and says so', async () => {
    const transfers = [...crowd(SUBJECT, 6), memoryTransfer(1, SUBJECT, LISTED)];
    const reading = await walk({ transfers, limits });
    expect(reading).toBeInstanceOf(Unread);
    expect(reasonIn(reading)).toBe(
      'high_degree: no walk starts from a hub: 7 counterparties, over 5.',
    );
  });

  test('nobody is reached past a hub, and only a whole ring tells whom it dealt with', async () => {
    const transfers = [memoryTransfer(1, SUBJECT, hub), memoryTransfer(2, hub, LISTED)];
    const world = { transfers: [...transfers, ...crowd(hub, 6)], limits } as const;
    const counted = { found: null, hubs_count: 1, frontier_exhausted: false } as const;
    const hubs = [{ address: hub, degree: 8, label: null }];
    const met = await whole({ ...world, ring: 'whole' });
    expect(met).toMatchObject({ ...counted, hubs, hub_contacts_count: 1, hops_examined: 2 });
    for (const ring of ['absent', 'half'] as const) {
      const reading = await walk({ ...world, ring });
      expect(reading).not.toBeInstanceOf(Read);
      expect(reasonIn(reading)).toMatch(
        new RegExp(`^hub_unread: too busy to walk past: ${hub}. If they dealt with the list is`),
      );
      expect(sightOf(reading)).toMatchObject({
        ...counted,
        hubs,
        hops_examined: 1,
        nodes_unread: 1,
      });
    }
  });

  test('a hub that is itself listed is found', async () => {
    const transfers = [memoryTransfer(1, SUBJECT, hub), ...crowd(hub, 6)];
    const one = await whole({ transfers, limits, listed: [hub] });
    expect(stops(one)).toEqual([SUBJECT, hub]);
  });

  test('an address at the cap is walked past', async () => {
    const transfers = [memoryTransfer(1, SUBJECT, hub), memoryTransfer(2, hub, LISTED)];
    const one = await whole({ transfers: [...transfers, ...crowd(hub, 3)], limits });
    expect(stops(one)).toEqual([SUBJECT, hub, LISTED]);
  });

  test('carries the label that a table names, or why it carries none', async () => {
    const label = labelOf(hub, 'Exchange');
    const transfers = [
      ...[memoryTransfer(1, SUBJECT, hub), memoryTransfer(2, hub, LISTED)],
      ...crowd(hub, 5),
    ];
    const labelled = await whole({ transfers, limits, labels: [label], ring: 'whole' });
    expect(labelled.hubs).toEqual([{ address: hub, degree: 7, label: 'Exchange: Hot Wallet' }]);
    expect(labelled.labels_unread).toBeNull();
    const silent = await whole({ transfers, limits, labels: null, ring: 'whole' });
    expect(silent.hubs[0]?.label).toBeNull();
    expect(silent.labels_unread?.code).toBe('table_never_imported');
  });
  test('shows those of the list that the largest dealt with first, and counts all', async () => {
    const [lesser, larger] = [hub, evm('another hub')].sort() as [string, string];
    const listed = Array.from({ length: 15 }, (_, n) => evm(`listed ${n}`));
    const dealt = [lesser, larger].flatMap((one) => {
      return listed.map((other, n) => memoryTransfer(20 + n, one, other));
    });
    const transfers = [
      ...[memoryTransfer(1, SUBJECT, lesser), memoryTransfer(2, SUBJECT, larger)],
      ...[...crowd(larger, 5), ...dealt],
    ];
    const one = await whole({ transfers, listed, limits, ring: 'whole' });
    const names = (of: string) => [...listed].sort().map((other) => `${of} ${other}`);
    expect(one.hub_contacts_count).toBe(30);
    expect(one.hub_contacts.map((two) => `${two.address} ${two.listed_address}`)).toEqual([
      ...names(larger),
      ...names(lesser).slice(0, 5),
    ]);
  });
});

describe('whoever dealt with a listed address', () => {
  /** How a neighbour is read whose transfer with a listed address does not name its signer. */
  async function readingOf(over: Partial<HistoryTransfer>): Promise<string | undefined> {
    const read = new Map<string, string>();
    const faultyHistory = (history: TransferHistory): TransferHistory => ({
      ...history,
      neighbourhoods: (addresses, limits) => {
        const how = limits.standingOnly === true ? 'standing' : 'whole';
        for (const one of addresses) read.set(one, how);
        return history.neighbourhoods(addresses, limits);
      },
    });
    const between = memoryTransfer(2, LISTED, MIDDLE, { ...over, initiator: null });
    const transfers = [memoryTransfer(1, SUBJECT, MIDDLE), between];
    await whole({ transfers, ring: 'whole', faultyHistory });
    return read.get(MIDDLE);
  }

  test('is read whole only where it may tell the signer that an edge hangs on', async () => {
    const token = { kind: 'token', token: TOKEN } as const;
    expect(await readingOf({ ...token, has_market: true })).toBe('standing');
    expect(await readingOf({ ...token, has_market: null })).toBe('standing');
    expect(await readingOf({ ...token, has_market: false })).toBe('whole');
    expect(await readingOf({ ...token, raw_amount: 0n })).toBe('whole');
    expect(await readingOf({ kind: 'internal', raw_amount: 0n })).toBe('whole');
    expect(await readingOf({ kind: 'internal' })).toBe('standing');
  });
});

describe('NFTs', () => {
  const NFT = { kind: 'nft', token: TOKEN, raw_amount: 0n, token_id: 7n } as const;

  test('lead to a listed address where the subject signed, and behind whatever moved a value', async () => {
    const sent = memoryTransfer(2, SUBJECT, LISTED, NFT);
    expect(stops(await whole({ transfers: [sent] }))).toEqual([SUBJECT, LISTED]);
    const paid = memoryTransfer(1, SUBJECT, LISTED);
    const both = await whole({ transfers: [paid, sent] });
    expect(both.found?.way[0].transfer.kind).toBe('native');
  });

  test('that others sent lead nowhere, and are nothing that was left out', async () => {
    const gifts = [LISTED, OTHER].map((initiator, n) =>
      memoryTransfer(n + 1, LISTED, SUBJECT, { ...NFT, initiator }),
    );
    const one = await whole({ transfers: gifts });
    expect([one.found, one.contacts_count, one.left_out.zero_value]).toEqual([null, 0, 0]);
  });

  test('that were not read are said so, and deny no walk its end', async () => {
    expect((await whole({ transfers: HARMLESS })).nft_not_examined).not.toContain('ethereum');
    const coverage = fullCoverage('ethereum', STILL_NOW - 60).filter(({ kind }) => kind !== 'nft');
    const one = await whole({ transfers: HARMLESS, history: { coverage } });
    expect(one.found).toBeNull();
    expect(one.nft_not_examined).toContain('ethereum');
  });

  test('of a listed address that were not read are said where the ring stands for its side', async () => {
    const coverage = fullCoverage('ethereum', STILL_NOW - 60).flatMap((one) =>
      one.kind === 'nft' ? [{ ...one, address: SUBJECT }] : [one],
    );
    const world = { transfers: HARMLESS, ring: 'whole', history: { coverage } } as const;
    const one = await whole(world);
    expect([one.found, one.ring instanceof Read]).toEqual([null, true]);
    expect(one.nft_not_examined).toContain('ethereum');
    expect((await whole({ ...world, listed: [] })).nft_not_examined).not.toContain('ethereum');
  });
});

describe('walk shortfall', () => {
  type World = Omit<Partial<WalkedWorld>, 'listed'> & {
    readonly transfers: readonly HistoryTransfer[];
    readonly listed?: readonly string[];
    readonly faultyHistory?: (history: TransferHistory) => TransferHistory;
    readonly faultyList?: (list: SanctionsList) => SanctionsList;
    readonly limits?: Partial<typeof WALK_LIMITS>;
    readonly signal?: AbortSignal;
    readonly subject?: string;
  };

  async function walk(world: World): Promise<Partly<Walk, WalkPort>> {
    const { listed = [LISTED] } = world;
    const ports = walkedPorts({
      now: STILL_NOW,
      labels: [],
      ...world,
      listed: listed.map(listedEntry),
    });
    const asked = {
      list: world.faultyList?.(ports.list) ?? ports.list,
      history: world.faultyHistory?.(ports.history) ?? ports.history,
      labels: ports.labels,
      ring: ports.ring,
    };
    const subject = parseAddress(world.subject ?? SUBJECT);
    if (subject === null) throw new Error('test: the subject is no address');
    const signal = world.signal ?? new AbortController().signal;
    const limits = { ...WALK_LIMITS, ...world.limits };
    return proximity(asked, subject, limits, { signal });
  }

  /** A walk that was read to its end. */
  async function whole(world: World): Promise<Walk> {
    const reading = await walk(world);
    if (!(reading instanceof Read)) throw new Error(`test: not whole: ${reading.why.reason}`);
    return reading.value;
  }

  /** Why a walk may not be called whole; fails where it is. */
  async function causeOf(world: World): Promise<string> {
    const reading = await walk(world);
    if (settledWalk(reading) instanceof Read) throw new Error('test: the walk settled something');
    const sight = sightOf(reading);
    return sight === null ? reasonIn(reading) : causesText(sight.causes);
  }

  /** A history that is silent of one address. */
  function silentOf(address: string, silence: Why): (history: TransferHistory) => TransferHistory {
    return (history) => ({
      ...history,
      neighbourhoods: async (addresses, limits) => {
        const readings = new Map(await history.neighbourhoods(addresses, limits));
        if (readings.has(address)) readings.set(address, unread('transfer_history', silence));
        return readings;
      },
    });
  }

  const FAILED = why('provider_failed', {
    provider: 'https://explorer.example',
    fault: 'HTTP 429',
  });
  const ETHEREUM = fullCoverage('ethereum', STILL_NOW - 60);

  /** Every way in which a walk over these transfers is less than a whole one, and what it says. */
  const SHORTFALLS: readonly (readonly [string, Omit<World, 'transfers'>, RegExp])[] = [
    [
      'an import of blocks N to N+1000',
      {
        history: {
          coverage: ETHEREUM.map((r) => ({
            ...r,
            from_block: 1,
            to_block: 1_001,
            from_first: false,
          })),
        },
      },
      /^partial_history: .*ethereum native held from block 1, not from the first/,
    ],
    [
      'a chain with native but no internal transfers',
      { history: { coverage: ETHEREUM.filter(({ kind }) => kind !== 'internal') } },
      /ethereum internal none held/,
    ],
    [
      'a second chain that is read here but held nowhere',
      { history: { chains: ['ethereum', 'base'] } },
      /base native none held, base token none held, base internal none held/,
    ],
    [
      'a subject whose own history is not held',
      { history: { coverage: ETHEREUM.map((range) => ({ ...range, address: MIDDLE })) } },
      new RegExp(`none held, for ${SUBJECT}`),
    ],
    [
      'a counterparty whose history is not held',
      { history: { coverage: ETHEREUM.map((range) => ({ ...range, address: SUBJECT })) } },
      new RegExp(`none held, for ${MIDDLE}`),
    ],
    [
      'a tip older than its maximum age',
      { history: { coverage: fullCoverage('ethereum', STILL_NOW - 3_600) } },
      /held to block 30000000 of 2026-09-24T11:00:00.000Z, over 1 hour ago/,
    ],
    [
      'one counterparty whose read failed',
      { faultyHistory: silentOf(MIDDLE, FAILED) },
      /^https:\/\/explorer\.example failed: HTTP 429\.$/,
    ],
    ['a node budget that was hit', { limits: { nodesMax: 1 } }, /^node_budget: .* met 2 .* the 1 /],
    ['a row cap that was hit', { limits: { rowsMax: 1 } }, /^row_cap: .* after 1 rows/],
    ['a batch that had no room left', { limits: { batchRowsMax: 1 } }, /^row_cap: /],
    ['a list past its age', { checkedAgoS: 8 * DAY_S }, /^The list was last checked 8 days ago/],
    [
      'chains of which it is not known whether they are read',
      {
        faultyHistory: (history) => ({
          ...history,
          chainsRead: async () => unread('transfer_history', FAILED),
        }),
      },
      /HTTP 429/,
    ],
    ['simulated history', { history: { simulated: true } }, /^Simulated: /],
  ];

  describe('no false negative', () => {
    test.each(SHORTFALLS)('%s settles nothing and says why', async (_name, world, cause) => {
      expect(await causeOf({ ...world, transfers: HARMLESS })).toMatch(cause);
    });

    test.each(SHORTFALLS.filter(([name]) => name !== 'simulated history'))(
      '%s does not hide a way that was seen',
      async (_name, world) => {
        const direct = [memoryTransfer(3, SUBJECT, LISTED)];
        const settled = settledWalk(await walk({ ...world, transfers: direct }));
        expect(settled instanceof Read && stops(settled.value)).toEqual([SUBJECT, LISTED]);
      },
    );

    test('a way on made-up data is shown and settles nothing', async () => {
      const reading = await walk({ transfers: PAID, history: { simulated: true } });
      expect(stops(sightOf(reading))).toEqual([SUBJECT, MIDDLE, LISTED]);
      expect(settledWalk(reading)).toBeInstanceOf(Unread);
    });

    test('data that is made up but was minted as read settles nothing either', async () => {
      const madeUp = walkedPorts({
        now: STILL_NOW,
        transfers: [],
        labels: [],
        listed: [],
        simulated: true,
      });
      const reading = await walk({ transfers: HARMLESS, faultyList: () => madeUp.list });
      expect(reading).not.toBeInstanceOf(Read);
      expect(settledWalk(reading)).not.toBeInstanceOf(Read);
    });

    test('a listed address past the node budget is found all the same', async () => {
      const crowd = [1, 2, 3, 4].map((n) => memoryTransfer(n, SUBJECT, person(n)));
      const last = [1, 2, 3, 4].map(person).sort().at(-1) ?? SUBJECT;
      const settled = settledWalk(
        await walk({ transfers: crowd, listed: [last], limits: { nodesMax: 1 } }),
      );
      expect(settled instanceof Read && stops(settled.value)).toEqual([SUBJECT, last]);
      expect(settled instanceof Read && settled.value.node_budget_hit).toBe(true);
      expect(settled instanceof Read && settled.value.nodes_examined).toBe(1);
    });

    test('a list that falls silent at any look-up settles nothing', async () => {
      for (const silentCall of [1, 2]) {
        let call = 0;
        const faulty = (list: SanctionsList): SanctionsList => ({
          ...list,
          lookUp: async (addresses) => {
            call += 1;
            return call === silentCall ? unread('sanctions_list', FAILED) : list.lookUp(addresses);
          },
        });
        const reading = await walk({ transfers: HARMLESS, faultyList: faulty });
        expect(settledWalk(reading), `call ${silentCall}`).toBeInstanceOf(Unread);
        expect(reasonIn(reading)).toMatch(/HTTP 429/);
      }
    });

    test('every cause is told, and those of one kind are counted', async () => {
      const transfers = [1, 2, 3].map((n) => memoryTransfer(n, SUBJECT, person(n)));
      const coverage = ETHEREUM.map((range) => ({ ...range, address: SUBJECT }));
      const gone = person(1);
      const text = await causeOf({
        transfers,
        history: { coverage },
        faultyHistory: silentOf(gone, FAILED),
      });
      expect(text).toMatch(/partial_history: .* \(and 1 more like it\)/);
      expect(text).toMatch(/HTTP 429\./);
      const sight = sightOf(
        await walk({
          transfers,
          history: { coverage },
          faultyHistory: silentOf(gone, FAILED),
        }),
      );
      expect(sight?.nodes_unread).toBe(3);
      expect(sight?.hops_examined).toBe(1);
      expect(sight?.chains_examined).toEqual([]);
    });
  });

  describe('time', () => {
    test('a walk that was given up before it began reads nothing', async () => {
      const reading = await walk({ transfers: PAID, signal: AbortSignal.abort() });
      expect(reading).toBeInstanceOf(Unread);
      expect(reasonIn(reading)).toMatch(/^time_budget: /);
    });

    test('a history that never answers is not waited for; what was seen is kept', async () => {
      for (const stuckAt of [1, 2]) {
        const controller = new AbortController();
        let call = 0;
        const faulty = (history: TransferHistory): TransferHistory => ({
          ...history,
          neighbourhoods: (addresses, limits) => {
            call += 1;
            if (call !== stuckAt) return history.neighbourhoods(addresses, limits);
            queueMicrotask(() => controller.abort());
            return new Promise(() => undefined);
          },
        });
        const reading = await walk({
          transfers: HARMLESS,
          faultyHistory: faulty,
          signal: controller.signal,
        });
        expect(settledWalk(reading)).toBeInstanceOf(Unread);
        expect(reasonIn(reading)).toMatch(/^time_budget: /);
        expect(sightOf(reading)?.nodes_examined).toBe(stuckAt === 1 ? undefined : 1);
        expect(sightOf(reading)?.nodes_unread).toBe(stuckAt === 1 ? undefined : 1);
      }
    });
  });

  describe('what is asked', () => {
    test('one question for each hop, whatever its size, and none past the second', async () => {
      const asked: number[] = [];
      const counting = (history: TransferHistory): TransferHistory => ({
        ...history,
        neighbourhoods: (addresses, limits) => {
          asked.push(addresses.length);
          return history.neighbourhoods(addresses, limits);
        },
      });
      const transfers = Array.from({ length: 40 }, (_, n) => [
        memoryTransfer(2 * n, SUBJECT, person(n)),
        memoryTransfer(2 * n + 1, person(n), person(100 + n)),
      ]).flat();
      await walk({ transfers, faultyHistory: counting });
      expect(asked).toEqual([1, 40]);
    });

    test('an address of a kind whose chain is not read is not walked from', async () => {
      const kinds = ['tron', 'bitcoin', 'solana'] as const;
      for (const kind of kinds) {
        const reading = await walk({ transfers: [], subject: addressNamed(kind, 'subject') });
        expect(reasonIn(reading)).toBe(
          `Transfer history of this kind of address (${kind}) is not read by this deployment.`,
        );
      }
      const none = await walk({ transfers: [], history: { chains: [] } });
      expect(none instanceof Unread && none.why.code).toBe('no_history');
    });

    test('an address of another kind is walked on its own chain alone', async () => {
      const [subject, listed] = [
        addressNamed('solana', 'subject'),
        addressNamed('solana', 'listed'),
      ];
      const one = await whole({
        subject,
        listed: [listed],
        transfers: [memoryTransfer(1, subject, listed, { chain: 'solana' })],
        history: {
          chains: ['ethereum', 'solana'],
          coverage: fullCoverage('solana', STILL_NOW - 60),
        },
      });
      expect(stops(one)).toEqual([subject, listed]);
      expect(one.chains_examined).toEqual(['solana']);
      expect(one.chains_not_examined).toEqual([]);
    });

    test('chains are named by whether they were examined, and where history came from', async () => {
      const { chains_examined, chains_not_examined, provenance } = await whole({
        transfers: HARMLESS,
        history: { provenance: 'onchain' },
      });
      expect(chains_examined).toEqual(['ethereum']);
      expect(chains_not_examined).toEqual(['arbitrum', 'base', 'bsc', 'polygon', 'hyperevm']);
      expect(provenance).toBe('onchain');
    });

    test('an address without transfers is a whole walk of nobody', async () => {
      const one = await whole({ transfers: [] });
      expect(one).toMatchObject({ found: null, nodes_examined: 0, hops_examined: 2, causes: [] });
    });
  });
});
