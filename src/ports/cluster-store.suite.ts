// The guarantees of every store of ties, whatever holds it. Each store's test runs them.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  basis,
  map,
  Part,
  type Partly,
  Read,
  rowsSeen,
  Unread,
  unread,
  weaken,
} from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import {
  type ClusterStore,
  type Examination,
  type Heuristic,
  type Judged,
  type Objection,
  TIE_FORMS,
  type Tie,
  type Tied,
  type TiedLimits,
} from './entities.ts';

type Made = { readonly store: ClusterStore; readonly close: () => Promise<void> };

const LIMITS: TiedLimits = {
  addressesMax: 100,
  roundsMax: 10,
  keysMax: 100,
  perKeyMax: {
    deposit_reuse: 3,
    shared_funder: 3,
    lockstep: 2,
    same_deployer: 3,
    multi_input: 3,
    change: 3,
  },
};
const AT = 1_790_000_000;

let count = 0;

function tie(heuristic: Heuristic, key: string, address: string, change: Partial<Tie> = {}): Tie {
  count += 1;
  const by = { tx: `tx ${count}`, block: count, at: AT + count };
  const form = TIE_FORMS[heuristic][0];
  const own = { chain: 'ethereum', heuristic, form, key, address, rests_on: null } as const;
  return { ...own, ...by, whole: true, ...change };
}

function valueIn<T>(reading: Partly<T, never>): T {
  const value = rowsSeen(map(reading, (one) => [one]));
  if (value === null) throw new Error('not read');
  return value[0];
}

const pair = (key: string, a: string, b: string): Tie[] => [
  tie('same_deployer', key, a),
  tie('same_deployer', key, b),
];
const nothing = { ties: [], objections: [], judged: [], services: [], examinations: [] };

/** Holds a store of ties to its promises. */
export function clusterStoreKeeps(name: string, make: (simulated: boolean) => Promise<Made>): void {
  describe(`${name} keeps the promises of a store of ties`, () => {
    let made: Made;
    beforeEach(async () => {
      made = await make(false);
    });
    afterEach(async () => made.close());
    const tied = async (address: string, limits = LIMITS): Promise<Partly<Tied, never>> =>
      made.store.tiedTo('ethereum', [address], limits);
    const addresses = (reading: Partly<Tied, never>) =>
      [...new Set(valueIn(reading).ties.map(({ address }) => address))].sort();

    test('follows ties over any number of keys, and on one chain only', async () => {
      const ties = [...pair('k', 'a', 'b'), ...pair('l', 'b', 'c'), ...pair('m', 'x', 'y')];
      const elsewhere = pair('n', 'c', 'd').map((one) => ({ ...one, chain: 'base' as const }));
      await made.store.keep('ethereum', { ...nothing, ties: [...ties, ...elsewhere] }, AT);
      const reading = await tied('a');
      expect(reading).toBeInstanceOf(Read);
      expect(addresses(reading)).toEqual(['a', 'b', 'c']);
      const held = valueIn(reading).ties.find(({ key }) => key === 'k');
      expect(held).toEqual({ ...ties[0], judged_at: AT });
    });

    test('keeps a tie once, however often it is seen', async () => {
      const ties = pair('k', 'a', 'b');
      for (let n = 0; n < 2; n += 1) await made.store.keep('ethereum', { ...nothing, ties }, AT);
      expect(valueIn(await tied('a')).ties).toHaveLength(2);
    });

    test('holds what is judged anew in place of what was held of the same, and nothing else', async () => {
      const [a, b, c] = ['a', 'b', 'c'].map((one) => tie('shared_funder', 'f', one));
      const other = pair('l', 'b', 'c');
      const ties = [a, b, c, ...other].filter((one) => one !== undefined);
      await made.store.keep('ethereum', { ...nothing, ties }, AT);
      const address = { heuristic: 'shared_funder', address: 'a' } as const;
      await made.store.keep('ethereum', { ...nothing, judged: [address] }, AT + 9);
      const left = valueIn(await tied('b')).ties.filter(({ key }) => key === 'f');
      expect(left.map((one) => one.address).sort()).toEqual(['b', 'c']);
      const key = { heuristic: 'same_deployer', key: 'l' } as const;
      const anew = other.map((one) => ({ ...one, whole: false }));
      await made.store.keep('ethereum', { ...nothing, judged: [key], ties: anew }, AT + 9);
      const told = valueIn(await tied('b')).ties.filter((one) => one.key === 'l');
      expect(told.map(({ whole, judged_at }) => [whole, judged_at])).toEqual([
        [false, AT + 9],
        [false, AT + 9],
      ]);
      await made.store.keep('ethereum', { ...nothing, judged: [key] }, AT + 10);
      expect(valueIn(await tied('b')).ties.some((one) => one.key === 'l')).toBe(false);
    });

    test('tells what speaks against links of the addresses met, as the last whole examination saw it', async () => {
      const { tx, block, at } = tie('lockstep', 'k', 'a');
      const by = { tx, block, at, detail: null };
      const crowd: Objection = { ...by, chain: 'ethereum', kind: 'crowd', key: 'f', address: 'a' };
      const whole: Examination = { address: 'a', whole: true, read_at: AT, reason: null };
      await made.store.keep('ethereum', { ...nothing, objections: [crowd] }, AT);
      expect(valueIn(await tied('a')).objections).toEqual([crowd]);
      expect(valueIn(await tied('b')).objections).toEqual([]);
      const cut: Examination = { address: 'a', whole: false, read_at: AT, reason: 'cut' };
      await made.store.keep('ethereum', { ...nothing, examinations: [cut] }, AT);
      expect(valueIn(await tied('a')).objections).toEqual([crowd]);
      await made.store.keep('ethereum', { ...nothing, examinations: [whole] }, AT);
      expect(valueIn(await tied('a')).objections).toEqual([]);
    });

    test('takes back what speaks against a link once that is judged anew, of whoever was cut', async () => {
      const { tx, block, at } = tie('lockstep', 'k', 'a');
      const by = { tx, block, at, detail: null, chain: 'ethereum', address: 'a' } as const;
      const crowd: Objection = { ...by, kind: 'crowd', key: 'f' };
      const chance: Objection = { ...by, kind: 'by_chance', key: 'k' };
      await made.store.keep('ethereum', { ...nothing, objections: [crowd, chance] }, AT);
      const left = async (judged: Judged) => {
        await made.store.keep('ethereum', { ...nothing, judged: [judged] }, AT);
        return valueIn(await tied('a')).objections;
      };
      expect(await left({ heuristic: 'deposit_reuse', key: 'k' })).toHaveLength(2);
      expect(await left({ heuristic: 'lockstep', key: 'k' })).toEqual([crowd]);
      expect(await left({ heuristic: 'lockstep', address: 'a' })).toEqual([crowd]);
      expect(await left({ heuristic: 'shared_funder', address: 'a' })).toEqual([]);
    });

    test('does not follow a key that more share than may', async () => {
      const ties = ['a', 'b', 'c', 'd'].map((one) => tie('same_deployer', 'k', one));
      await made.store.keep('ethereum', { ...nothing, ties: ties.slice(0, 3) }, AT);
      expect(addresses(await tied('a'))).toEqual(['a', 'b', 'c']);
      await made.store.keep('ethereum', { ...nothing, ties }, AT);
      expect(addresses(await tied('a'))).toEqual([]);
    });

    test('goes past no service, and names those that it met', async () => {
      const ties = [...pair('k', 'a', 'hub'), ...pair('l', 'hub', 'c'), ...pair('f', 'a', 'e')];
      const services = [
        { address: 'hub', why: 'degree' as const },
        { address: 'f', why: 'label' as const },
      ];
      await made.store.keep('ethereum', { ...nothing, ties, services }, AT);
      const found = await tied('a');
      expect(addresses(found)).toEqual(['a', 'hub']);
      const marked = await made.store.servicesAmong('ethereum', ['a', 'hub', 'f', 'x']);
      expect([...valueIn(marked)].sort()).toEqual(['f', 'hub']);
      expect(valueIn(await made.store.servicesAmong('base', ['hub'])).size).toBe(0);
    });

    test('says that it was cut where the cluster is larger than what is followed', async () => {
      const ties = Array.from({ length: 20 }, (_, n) => pair(`k${n}`, `a${n}`, `a${n + 1}`)).flat();
      await made.store.keep('ethereum', { ...nothing, ties }, AT);
      expect(await tied('a0')).toBeInstanceOf(Part);
      expect(await tied('a0', { ...LIMITS, roundsMax: 30 })).toBeInstanceOf(Read);
      expect(await tied('a0', { ...LIMITS, roundsMax: 30, addressesMax: 5 })).toBeInstanceOf(Part);
    });

    test('tells the last whole examination of an address, which a cut one takes from nobody', async () => {
      const kept = async (one: Omit<Examination, 'address'>) => {
        const examinations = [{ ...one, address: 'a' }];
        await made.store.keep('ethereum', { ...nothing, examinations }, AT);
        return valueIn(await tied('a')).examinations.get('a');
      };
      const cut = { address: 'a', whole: false, read_at: AT, reason: 'cut' };
      const whole = { address: 'a', whole: true, read_at: AT + 1, reason: null };
      expect(await kept(cut)).toEqual(cut);
      expect(await kept(whole)).toEqual(whole);
      expect(await kept({ ...cut, read_at: AT + 2 })).toEqual(whole);
      expect(await kept({ ...whole, read_at: AT + 3 })).toEqual({ ...whole, read_at: AT + 3 });
      expect(await kept(whole)).toEqual({ ...whole, read_at: AT + 3 });
      expect(valueIn(await tied('b')).examinations.size).toBe(0);
    });

    test('denies no link beyond what was read of what could tie the address', async () => {
      const reading = await made.store.tiedTo('ethereum', ['nobody'], LIMITS);
      const cut = why('time_budget');
      const whole = made.store.covered(reading, reading);
      expect(whole).toBeInstanceOf(Read);
      expect(whole instanceof Read && [...basis(whole).ports]).toEqual(['entity_clusters']);
      for (const looked of [weaken(reading, cut), unread('transfer_history', cut)]) {
        const told = made.store.covered(reading, looked);
        expect(told instanceof Part && told.why).toEqual(cut);
      }
      const silent = made.store.covered(unread('held_ties', cut), reading);
      expect(silent instanceof Unread && [...silent.ports]).toEqual(['entity_clusters']);
    });

    test('notes which ids gave way to which, and finds a cluster by either', async () => {
      const older = { cluster_id: 'older', members: ['a', 'b'] };
      const younger = { cluster_id: 'younger', members: ['c'] };
      await made.store.settle('ethereum', [older, younger], AT);
      await made.store.settle('ethereum', [{ ...older, members: ['a', 'b', 'c'] }], AT + 9);
      expect(valueIn(await made.store.givenWay('ethereum', 'older'))).toEqual([
        { former_id: 'younger', cluster_id: 'older', noted_at: AT + 9 },
      ]);
      const home = { chain: 'ethereum', address: 'a' };
      expect(valueIn(await made.store.memberOf('younger'))).toEqual(home);
      expect(valueIn(await made.store.memberOf('older'))).toEqual(home);
      expect(valueIn(await made.store.memberOf('never shown'))).toBeNull();
    });

    test('tells the joint transactions of an address, the newest first, each once', async () => {
      const by = { address: 'a', at: AT, form: 'joinmarket', spent: true, paid: false } as const;
      const joined = [
        { ...by, tx: 'first', block: 1 },
        { ...by, tx: 'second', block: 2, form: 'whirlpool' as const },
        { ...by, tx: 'else', block: 2, address: 'b' },
      ];
      const harvest = { ties: [], objections: [], paid: new Map(), ranges: [] };
      for (let n = 0; n < 2; n += 1) await made.store.keepBlocks({ ...harvest, joined });
      const { forms, newest } = valueIn(await made.store.coinJoinsOf('a'));
      expect(forms).toEqual([
        { form: 'joinmarket', transactions: 1 },
        { form: 'whirlpool', transactions: 1 },
      ]);
      expect(newest.map(({ tx }) => tx)).toEqual(['second', 'first']);
      expect(valueIn(await made.store.coinJoinsOf('c'))).toEqual({ forms: [], newest: [] });
    });

    test('counts what blocks paid once, joins their ranges, and refuses blocks that it holds', async () => {
      const harvest = (from: number, to: number, ...paid: string[]) => ({
        ties: [tie('change', `spent ${from}`, 'c', { chain: 'bitcoin', rests_on: 'c' })],
        paid: new Map(paid.map((one) => [one, 1])),
        objections: [],
        joined: [],
        ranges: [
          { from_block: from, to_block: to, to_time: AT + to, change: from < 9, signatures: true },
        ],
      });
      await made.store.keepBlocks(harvest(0, 4, 'c', 'd'));
      await made.store.keepBlocks(harvest(9, 9));
      await made.store.keepBlocks(harvest(5, 6, 'd'));
      expect(await made.store.keepBlocks(harvest(6, 8, 'c'))).toBeInstanceOf(Unread);
      expect(valueIn(await made.store.blocksHeld())).toEqual([
        { from_block: 0, to_block: 6, to_time: AT + 6, change: true, signatures: true },
        { from_block: 9, to_block: 9, to_time: AT + 9, change: false, signatures: true },
      ]);
      expect([...valueIn(await made.store.paidBefore(['c', 'd', 'e']))].sort()).toEqual(['c', 'd']);
      const single = await made.store.tiedTo('bitcoin', ['c'], LIMITS);
      expect(valueIn(single).reused.has('c')).toBe(false);
      await made.store.keepBlocks(harvest(7, 8, 'c'));
      const again = await made.store.tiedTo('bitcoin', ['c'], LIMITS);
      expect(valueIn(again).reused.has('c')).toBe(true);
      expect(valueIn(await made.store.blocksHeld())).toMatchObject([
        { from_block: 0, to_block: 8, change: true },
        { from_block: 9, to_block: 9, change: false },
      ]);
    });
  });

  test(`${name} reads made-up ties in part only`, async () => {
    const { store, close } = await make(true);
    await store.keep('ethereum', { ...nothing, ties: pair('k', 'a', 'b') }, AT);
    const reading = await store.tiedTo('ethereum', ['a'], LIMITS);
    expect(reading).toBeInstanceOf(Part);
    expect(valueIn<Tied>(reading).ties).toHaveLength(2);
    await close();
  });
}
