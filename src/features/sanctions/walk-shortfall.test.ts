import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../chain/address.ts';
import { DAY_S } from '../../chain/time.ts';
import { map, type Partly, Read, rowsSeen, Unread, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { HistoryTransfer, TransferHistory } from '../../ports/history.ts';
import type { SanctionsList } from '../../ports/sanctions.ts';
import { evm, named } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { heldInFull, memoryTransfer } from '../../testing/twins/history.ts';
import { listedEntry, type WalkedWorld, walkedPorts } from '../../testing/walked-world.ts';
import { causesText } from '../history/address-history.ts';
import { proximity, settledWalk, WALK_LIMITS, type Walk, type WalkPort } from './walk.ts';
import { stopsOf } from './walk-hop.ts';

const SUBJECT = evm('subject');
const MIDDLE = evm('middle');
const OTHER = evm('other');
const LISTED = evm('listed');

/** Somebody who is neither the subject nor anybody else named here. */
const person = (n: number) => evm(`person ${n}`);

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

function stops(one: Walk | null): string[] | null {
  return one === null || one.found === null ? null : stopsOf(one.found.way);
}

function reasonIn(reading: Partly<Walk, WalkPort>): string {
  return reading instanceof Read ? 'none' : reading.why.reason;
}

function sightOf(reading: Partly<Walk, WalkPort>): Walk | null {
  const sight = rowsSeen(map(reading, (one) => [one]));
  return sight === null ? null : sight[0];
}

/** Why a walk may not be called whole; fails where it is. */
async function causeOf(world: World): Promise<string> {
  const reading = await walk(world);
  if (settledWalk(reading) instanceof Read) throw new Error('test: the walk settled something');
  const sight = sightOf(reading);
  return sight === null ? reasonIn(reading) : causesText(sight.causes);
}

const PAID = [memoryTransfer(1, SUBJECT, MIDDLE), memoryTransfer(2, MIDDLE, LISTED)];
const HARMLESS = [memoryTransfer(1, SUBJECT, MIDDLE), memoryTransfer(2, MIDDLE, OTHER)];

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

const FAILED = why('provider_failed', { provider: 'https://explorer.example', fault: 'HTTP 429' });
const ETHEREUM = heldInFull('ethereum', STILL_NOW - 60);

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
    { history: { coverage: heldInFull('ethereum', STILL_NOW - 3_600) } },
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
    expect(text).toMatch(/partial_history: .* \(and 1 more so\)/);
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
      const reading = await walk({ transfers: [], subject: named(kind, 'subject') });
      expect(reasonIn(reading)).toBe(
        `Transfer history of this kind of address (${kind}) is not read by this deployment.`,
      );
    }
    const none = await walk({ transfers: [], history: { chains: [] } });
    expect(none instanceof Unread && none.why.code).toBe('no_history');
  });

  test('an address of another kind is walked on its own chain alone', async () => {
    const [subject, listed] = [named('solana', 'subject'), named('solana', 'listed')];
    const one = await whole({
      subject,
      listed: [listed],
      transfers: [memoryTransfer(1, subject, listed, { chain: 'solana' })],
      history: {
        chains: ['ethereum', 'solana'],
        coverage: heldInFull('solana', STILL_NOW - 60),
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
