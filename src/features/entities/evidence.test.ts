import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type HeldTie, type Heuristic, TIE_FORMS } from '../../ports/entities.ts';
import { evm } from '../../testing/addresses.ts';
import {
  type Bars,
  clusterForest,
  confidenceOf,
  DEPOSIT_USERS_MAX,
  evidenceFrom,
  FUNDED_MAX,
  FUNDING_WINDOW_S,
  mergesOf,
  pathsFrom,
} from './evidence.ts';
import type { EvidenceItem } from './shapes.ts';

const NOBODY: Bars = { services: new Set(), exchanges: new Map(), reused: new Set() };
const PEOPLE = Array.from({ length: 12 }, (_, n) => evm(`person ${n}`));
const KEYS = Array.from({ length: 6 }, (_, n) => evm(`key ${n}`));
const WALLETS = Array.from({ length: 3 }, (_, n) => evm(`wallet ${n}`));
const NAMES = new Map(WALLETS.map((wallet, n) => [wallet, `Exchange ${n}`]));

const REMOVALS = 2_000;

const JUDGED_AT = 1_790_000_000;

let count = 0;

function tie(
  heuristic: Heuristic,
  key: string,
  address: string,
  change: Partial<HeldTie> = {},
): HeldTie {
  count += 1;
  const tx = `0x${count.toString(16).padStart(64, '0')}`;
  const at = 1_700_000_000 + count;
  return {
    chain: 'ethereum',
    heuristic,
    form: TIE_FORMS[heuristic][0],
    key,
    address,
    tx,
    block: count,
    at,
    rests_on: null,
    whole: true,
    judged_at: JUDGED_AT,
    ...change,
  };
}

const anyTie = fc
  .record({
    heuristic: fc.constantFrom<Heuristic>('deposit_reuse', 'shared_funder', 'same_deployer'),
    key: fc.constantFrom(...KEYS, ...WALLETS),
    address: fc.constantFrom(...PEOPLE, ...WALLETS, ...KEYS),
    rests_on: fc.constantFrom(...WALLETS),
    at: fc.integer({ min: 0, max: 10 }).map((day) => 1_700_000_000 + day * 50_000),
    tx: fc.string({ minLength: 4, maxLength: 8 }),
  })
  .map(({ heuristic, key, address, rests_on, at, tx }): HeldTie => {
    const on = heuristic === 'deposit_reuse' ? rests_on : null;
    return tie(heuristic, key, address, { tx, block: at, at, rests_on: on });
  });
/** A deposit address is itself tied wherever one is. */
const tiesUpTo = (maxLength: number) =>
  fc
    .array(anyTie, { maxLength })
    .map((list) => [
      ...list,
      ...list
        .filter(({ heuristic }) => heuristic === 'deposit_reuse')
        .map((one) => ({ ...one, address: one.key })),
    ]);
const ties = tiesUpTo(40);

function barsOf(labelled: readonly string[], everKnown: readonly string[]): Bars {
  const exchanges = new Map([...NAMES].filter(([wallet]) => labelled.includes(wallet)));
  return { services: new Set(everKnown), exchanges, reused: new Set() };
}

function clustersOf(items: readonly EvidenceItem[]) {
  const forest = clusterForest();
  forest.add(items);
  return forest.clusters();
}

const shown = (found: ReturnType<typeof clustersOf>) =>
  found.map(({ cluster_id, members, items }) => {
    return { cluster_id, members, items: items.map(({ id }) => id), merges: mergesOf({ items }) };
  });

describe('the clusters', () => {
  const everyone = barsOf(WALLETS, WALLETS);

  test('are the same, with the same ids and history, whatever the order of what was seen', () => {
    const cases = ties.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(cases, ([list, shuffled]) => {
        const once = shown(clustersOf(evidenceFrom(list, everyone)));
        expect(shown(clustersOf(evidenceFrom(shuffled, everyone)))).toEqual(once);
      }),
    );
  });

  test('are the same when the evidence comes in two halves, in either order', () => {
    const cases = fc.tuple(ties, fc.integer({ min: 0, max: 80 }));
    fc.assert(
      fc.property(cases, ([list, at]) => {
        const items = evidenceFrom(list, everyone);
        const once = shown(clustersOf(items));
        for (const halves of [
          [items.slice(0, at), items.slice(at)],
          [items.slice(at), items.slice(0, at)],
        ]) {
          const forest = clusterForest();
          for (const half of halves) forest.add(half);
          expect(shown(forest.clusters())).toEqual(once);
        }
      }),
    );
  });

  test('are never joined by the removal of an exchange label', () => {
    // Few ties: in a crowd everybody is joined already, and nothing can be joined more.
    const cases = fc.tuple(tiesUpTo(14), fc.subarray(WALLETS), fc.constantFrom(...WALLETS));
    fc.assert(
      fc.property(cases, ([list, labelled, removed]) => {
        const before = clustersOf(evidenceFrom(list, barsOf(labelled, labelled)));
        const left = labelled.filter((one) => one !== removed);
        const after = clustersOf(evidenceFrom(list, barsOf(left, labelled)));
        for (const { members } of after) {
          const home = before.find((one) => one.members.includes(String(members[0])));
          expect(home === undefined ? [] : home.members).toEqual(
            expect.arrayContaining([...members]),
          );
        }
      }),
      { numRuns: REMOVALS },
    );
  });

  test('hold no service, whatever it is tied to', () => {
    fc.assert(
      fc.property(ties, fc.subarray([...PEOPLE, ...KEYS]), (list, services) => {
        const bars = { ...barsOf(WALLETS, [...WALLETS, ...services]) };
        const members = clustersOf(evidenceFrom(list, bars)).flatMap((one) => one.members);
        expect(members.filter((one) => bars.services.has(one))).toEqual([]);
      }),
    );
  });

  test('keep their id while later evidence makes them grow', () => {
    const cases = fc.tuple(ties, fc.integer({ min: 0, max: 10 }));
    fc.assert(
      fc.property(cases, ([list, day]) => {
        const items = evidenceFrom(list, everyone);
        const until = 1_700_000_000 + day * 50_000;
        const before = clustersOf(items.filter(({ at }) => at <= until));
        const after = clustersOf(items);
        for (const { cluster_id, members } of before) {
          const grown = after.find((one) => one.members.includes(String(members[0])));
          const ids = grown === undefined ? [] : [grown.cluster_id, ...formerIds(grown)];
          expect(ids).toContain(cluster_id);
        }
      }),
    );
  });

  test('name the cluster that gave way, when, and by which item', () => {
    const [a = '', b = '', c = '', d = ''] = PEOPLE;
    const [k = '', l = '', m = ''] = KEYS;
    const items = evidenceFrom(
      [
        ...[tie('same_deployer', k, a), tie('same_deployer', k, b)],
        ...[tie('same_deployer', l, c), tie('same_deployer', l, d)],
        ...[tie('same_deployer', m, a), tie('same_deployer', m, d)],
      ],
      NOBODY,
    );
    const [one] = clustersOf(items);
    const [first, second, third] = items;
    expect(one?.members).toEqual([a, b, c, d].sort());
    expect(one?.cluster_id).toBe(`ethereum:${first?.id}`);
    expect(one === undefined ? [] : mergesOf(one)).toEqual([
      {
        former_id: `ethereum:${second?.id}`,
        cluster_id: `ethereum:${first?.id}`,
        at: third?.at,
        by: third?.id,
      },
    ]);
  });
});

function formerIds(cluster: Parameters<typeof mergesOf>[0]): string[] {
  return mergesOf(cluster).map(({ former_id }) => former_id);
}

describe('what stands as evidence', () => {
  const [user = '', other = ''] = PEOPLE;
  const [key = ''] = KEYS;
  const [wallet = ''] = WALLETS;
  const deposit = (address: string) => tie('deposit_reuse', key, address, { rests_on: wallet });

  test('no deposit address of a wallet that no label names', () => {
    const uses = [deposit(user), deposit(other), deposit(key)];
    expect(evidenceFrom(uses, { ...NOBODY, exchanges: NAMES })).toMatchObject([
      { heuristic: 'deposit_reuse', addresses: [user, other, key].sort() },
    ]);
    expect(evidenceFrom(uses, NOBODY)).toEqual([]);
  });

  test('no deposit address that more users share than one customer has', () => {
    const crowd = (size: number) => [
      deposit(key),
      ...Array.from({ length: size }, (_, n) => deposit(evm(`user ${n}`))),
    ];
    const bars = { ...NOBODY, exchanges: NAMES };
    expect(evidenceFrom(crowd(DEPOSIT_USERS_MAX), bars)).toHaveLength(1);
    expect(evidenceFrom(crowd(DEPOSIT_USERS_MAX + 1), bars)).toEqual([]);
  });

  test('no funder that is a service, and none that began more than its own', () => {
    const funded = (size: number) =>
      Array.from({ length: size }, (_, n) => tie('shared_funder', key, evm(`funded ${n}`)));
    expect(evidenceFrom(funded(FUNDED_MAX), NOBODY)).toHaveLength(1);
    expect(evidenceFrom(funded(FUNDED_MAX), { ...NOBODY, services: new Set([key]) })).toEqual([]);
    expect(
      evidenceFrom(funded(FUNDED_MAX), { ...NOBODY, exchanges: new Map([[key, 'X']]) }),
    ).toEqual([]);
    expect(evidenceFrom(funded(FUNDED_MAX + 1), NOBODY)).toEqual([]);
  });

  test('the addresses that a funder began more than a day apart are not tied to each other', () => {
    const at = 1_700_000_000;
    const funded = [0, FUNDING_WINDOW_S, 2 * FUNDING_WINDOW_S + 1, 2 * FUNDING_WINDOW_S + 9].map(
      (later, n) => tie('shared_funder', key, evm(`funded ${n}`), { at: at + later }),
    );
    expect(evidenceFrom(funded, NOBODY).map(({ addresses }) => addresses)).toEqual([
      [evm('funded 0'), evm('funded 1')].sort(),
      [evm('funded 2'), evm('funded 3')].sort(),
    ]);
  });

  test('no first funder that an earlier funding replaces, even where the earlier is barred', () => {
    const [first = '', second = ''] = KEYS;
    const early = tie('shared_funder', first, user, { at: 100 });
    const late = [
      tie('shared_funder', second, user, { at: 200 }),
      tie('shared_funder', second, other, { at: 201 }),
    ];
    expect(evidenceFrom(late, NOBODY)).toHaveLength(1);
    expect(evidenceFrom([early, ...late], NOBODY)).toEqual([]);
    expect(evidenceFrom([early, ...late], { ...NOBODY, services: new Set([first]) })).toEqual([]);
  });

  test('no change address that was paid again', () => {
    const change = (address: string) =>
      tie('change', 'a transaction', address, { chain: 'bitcoin', rests_on: other });
    const both = [change(user), change(other)];
    expect(evidenceFrom(both, NOBODY)).toHaveLength(1);
    expect(evidenceFrom(both, { ...NOBODY, reused: new Set([other]) })).toEqual([]);
    expect(evidenceFrom(both, { ...NOBODY, reused: new Set([user]) })).toHaveLength(1);
  });

  test('nobody’s address is tied to anybody', () => {
    const nobody = `0x${'0'.repeat(40)}`;
    expect(
      evidenceFrom([tie('same_deployer', key, user), tie('same_deployer', key, nobody)], NOBODY),
    ).toEqual([]);
    expect(
      evidenceFrom(
        [tie('shared_funder', nobody, user), tie('shared_funder', nobody, other)],
        NOBODY,
      ),
    ).toEqual([]);
  });
});

describe('the confidence', () => {
  const [a = '', b = '', c = ''] = PEOPLE;
  const [k = '', l = ''] = KEYS;
  const of = (list: HeldTie[]) => confidenceOf(a, evidenceFrom(list, NOBODY));
  const input = (tx: string, ...spent: string[]) =>
    spent.map((address) => tie('multi_input', tx, address, { chain: 'bitcoin' }));

  test('joins independent items as one minus the product of their doubts', () => {
    const [deployed, funded] = [
      [tie('same_deployer', k, a), tie('same_deployer', k, b)],
      [tie('shared_funder', l, a), tie('shared_funder', l, c)],
    ];
    expect(of(deployed)).toEqual({ confidence: 0.9, basis: 'assumed' });
    expect(of([...deployed, ...funded])).toEqual({ confidence: 0.95, basis: 'assumed' });
  });

  test('counts what rests on one kind of observation once, by its strongest item', () => {
    const often = Array.from({ length: 100 }, (_, n) => input(`tx ${n}`, a, b)).flat();
    expect(of(often)).toEqual({ confidence: 0.9, basis: 'measured' });
    expect(of([...often, ...input('another', a, c)])).toEqual(of(often));
  });

  test('is assumed where one of the items that it is made of is', () => {
    const items = [...input('tx', a, b), ...input('cut', a, c)];
    const cut = items.map((one) => (one.key === 'cut' ? { ...one, form: 'tx0' as const } : one));
    expect(of(cut)).toEqual({ confidence: 0.9, basis: 'measured' });
    const made = [tie('same_deployer', k, a), tie('same_deployer', k, b)];
    expect(of([...input('tx', a, b), ...made]).basis).toBe('assumed');
  });

  test('is 1 of an address that nothing names, which says nothing', () => {
    expect(of(input('other', b, c))).toEqual({ confidence: 1, basis: null });
  });
});

describe('the chain of evidence', () => {
  const [a = '', b = '', c = '', d = '', e = ''] = PEOPLE;
  const pair = (key: string, x: string, y: string) => [
    tie('same_deployer', key, x),
    tie('same_deployer', key, y),
  ];

  test('is the fewest items between two members', () => {
    const [k = '', l = '', m = '', n = ''] = KEYS;
    const items = evidenceFrom(
      [...pair(k, a, b), ...pair(l, b, c), ...pair(m, c, d), ...pair(n, a, c)],
      NOBODY,
    );
    const steps = pathsFrom(items, a).get(d);
    expect(steps?.map(({ from, to, item }) => [from, to, item.through])).toEqual([
      [a, c, n],
      [c, d, m],
    ]);
    expect(pathsFrom(items, a).get(a)).toEqual([]);
    expect(pathsFrom(items, a).get(e)).toBeUndefined();
  });
});
