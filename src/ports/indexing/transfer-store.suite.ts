// What every transfer store promises, whatever holds it. Run against each in its adapter's test.

import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Facts, TransactionFact, TransferStore } from './transfer-store.ts';
import {
  given,
  hashOf,
  KINDS,
  NONE,
  NOW,
  PROPERTY_TIMEOUT_MS,
  PROVENANCE,
  party,
  RUNS,
  type StoreUnderTest,
  sightOf,
  stateOf,
  TOKEN,
  transferFact,
} from './transfer-store-facts.suite.ts';
import { promisesOfFollowing } from './transfer-store-tip.suite.ts';

const anyTransfer = (tx: number) =>
  fc
    .record({
      kind: fc.constantFrom(...KINDS, 'nft' as const),
      from: fc.nat(3).map(party),
      to: fc.nat(3).map(party),
      raw_amount: fc.constantFrom(0n, 1n, 2n ** 255n),
      success: fc.constantFrom(true, null),
      initiator: fc.option(fc.nat(3).map(party)),
    })
    .map((over) => {
      const coin = over.kind === 'native' || over.kind === 'internal';
      return transferFact(tx, { ...over, token: coin ? null : TOKEN });
    });

/** Some transactions, each with some transfers, equal ones among them. */
const anyTransactions = fc
  .nat(8)
  .chain((count) =>
    fc.tuple(
      ...Array.from({ length: count }, (_, tx) => fc.array(anyTransfer(tx), { maxLength: 3 })),
    ),
  );

/** How an import may go: its transactions shuffled, some of them twice, cut into batches. */
type Course = { readonly order: readonly number[]; readonly batch: number };

const anyCourse = (count: number): fc.Arbitrary<Course> =>
  fc.record({
    order: fc.array(fc.nat(Math.max(0, count - 1)), { maxLength: count }).chain((again) =>
      fc.shuffledSubarray([...Array(count).keys(), ...again], {
        minLength: count + again.length,
      }),
    ),
    batch: fc.integer({ min: 1, max: 4 }),
  });

/** Runs the promises on stores that `make` makes, each of them empty. */
export function transferStoreKeeps(name: string, make: () => Promise<StoreUnderTest>): void {
  const open: StoreUnderTest[] = [];
  afterEach(async () => {
    for (const made of open.splice(0)) await made.close();
  });
  const fresh = async (): Promise<StoreUnderTest> => {
    const made = await make();
    open.push(made);
    return made;
  };
  const append = async (store: TransferStore, facts: Partial<Facts>) =>
    given(await store.appendImported({ ...NONE, ...facts }, PROVENANCE));
  promisesOfImports(name, fresh, append);
  promisesOfFollowing(name, fresh);
}

type Fresh = () => Promise<StoreUnderTest>;
type Append = (store: TransferStore, facts: Partial<Facts>) => Promise<unknown>;

function promisesOfImports(name: string, fresh: Fresh, append: Append): void {
  describe(`${name}: imports`, () => {
    test(
      'twice, shuffled, in other batches and resumed leave the same as once',
      async () => {
        const property = fc.asyncProperty(
          anyTransactions.chain((transactions) =>
            fc.tuple(fc.constant(transactions), anyCourse(transactions.length)),
          ),
          async ([transactions, { order, batch }]) => {
            const once = await fresh();
            await append(once.store, { transfers: transactions.flat() });
            const expected = await stateOf(once);
            const other = await fresh();
            for (let at = 0; at < order.length; at += batch) {
              const some = order.slice(at, at + batch).flatMap((tx) => transactions[tx] ?? []);
              const distinct = [...new Set(some)];
              await append(at % 2 === 0 ? other.store : other.restarted(), { transfers: distinct });
            }
            expect(await stateOf(other)).toEqual(expected);
          },
        );
        await fc.assert(property, { numRuns: RUNS });
      },
      PROPERTY_TIMEOUT_MS,
    );

    test('equal transfers of one transaction stay as many as they are', async () => {
      const made = await fresh();
      const transfers = [transferFact(1), transferFact(1)];
      await append(made.store, { transfers });
      await append(made.store, { transfers });
      expect(given(await made.store.status())[0]?.transfers).toBe(2);
    });

    test('headers tell when blocks were made; of a block without one nothing is told', async () => {
      const { store } = await fresh();
      const header = (number: number, nibble: string, time: number) => {
        const [hash, parent_hash] = [hashOf(`block ${nibble}`, number), null];
        return { chain: 'ethereum' as const, number, hash, parent_hash, time };
      };
      await append(store, { blocks: [header(5, 'a', 1_500), header(6, 'a', 1_600)] });
      const times = given(await store.blockTimes('ethereum', [5, 6, 7]));
      expect([...times].sort(([x], [y]) => x - y)).toEqual([
        [5, 1_500],
        [6, 1_600],
      ]);
      expect(given(await store.blockTimes('base', [5]))).toEqual(new Map());
      expect(given(await store.blockTimes('ethereum', []))).toEqual(new Map());
    });

    test('rows at one position are one row, whatever the order of the others', async () => {
      const rows = [7, 7, 9].map((position) => transferFact(1, { position }));
      const made = await fresh();
      await append(made.store, { transfers: rows });
      await append(made.store, { transfers: rows.toReversed() });
      expect(given(await made.store.status())[0]?.transfers).toBe(2);
    });

    test('signers complete transfers, before them and after them alike', async () => {
      const { initiator, ...rest } = transferFact(1);
      const unsigned = { ...rest, initiator: null, success: null };
      const signed: TransactionFact = {
        chain: 'ethereum',
        tx_hash: String(rest.tx_hash),
        block: rest.block,
        initiator: String(initiator),
        success: true,
      };
      const before = await fresh();
      await append(before.store, { transactions: [signed] });
      await append(before.store, { transfers: [unsigned] });
      const state = await stateOf(before);
      const after = await fresh();
      await append(after.store, { transfers: [unsigned] });
      await append(after.store, { transactions: [signed] });
      expect(await stateOf(after)).toEqual(state);
      const together = await fresh();
      await append(together.store, { transactions: [signed], transfers: [unsigned] });
      expect(await stateOf(together)).toEqual(state);
      expect(JSON.stringify(state)).toContain(`\\"initiator\\":\\"${initiator}\\"`);
    });

    test('a transfer that failed is not there, and was not before it was known to fail', async () => {
      const made = await fresh();
      await append(made.store, { transfers: [transferFact(1, { success: null })] });
      await append(made.store, { transfers: [transferFact(1, { success: false })] });
      await append(made.store, { transfers: [transferFact(1, { success: null })] });
      const [first] = await sightOf(made.history());
      expect(first).toMatchObject({ degree: 0, rows: [] });
    });

    test('facts of another fork than the one held are left out, and counted', async () => {
      const made = await fresh();
      const header = (letter: string) => ({
        ...({ chain: 'ethereum', number: 1, hash: hashOf(letter, 1) } as const),
        parent_hash: hashOf(letter, 0),
        time: NOW - 1_000,
      });
      await append(made.store, { blocks: [header('b')] });
      const lost = transferFact(1, { block: 1, block_hash: hashOf('f', 1) });
      const kept = transferFact(2, { block: 1, block_hash: hashOf('b', 1) });
      const result = await made.store.appendImported(
        { ...NONE, transfers: [lost, kept], blocks: [header('f')] },
        PROVENANCE,
      );
      expect(given(result)).toEqual({ transfers: 1, creations: 0, of_another_fork: 1 });
    });

    test('what belongs to no transaction is named by its block and index', async () => {
      const made = await fresh();
      const reward = (position: number) =>
        transferFact(1, { tx_hash: null, block_hash: hashOf('b', 1), position });
      await append(made.store, { transfers: [reward(0), reward(1)] });
      await append(made.store, { transfers: [reward(1)] });
      expect(given(await made.store.status())[0]?.transfers).toBe(2);
      expect(JSON.stringify(await sightOf(made.history()))).toContain(hashOf('b', 1));
    });

    test('simulated facts make what rests on them simulated, until they are observed', async () => {
      const made = await fresh();
      const facts = { ...NONE, transfers: [transferFact(1)] };
      await made.store.appendImported(facts, { ...PROVENANCE, origin: 'simulated' });
      expect(given(await made.store.status())[0]?.origin).toBe('simulated');
      await made.store.appendImported(facts, PROVENANCE);
      expect(given(await made.store.status())[0]?.origin).toBe('observed');
    });

    test('coverage is told as it was recorded, adjoining ranges joined', async () => {
      const made = await fresh();
      const range = { chain: 'ethereum', kind: 'token', source: 's', origin: 'observed' } as const;
      await made.store.recordCoverage([
        { ...range, from_block: 0, to_block: 10, to_time: NOW - 200 },
        { ...range, from_block: 11, to_block: 20, to_time: NOW - 100 },
        { ...range, from_block: 30, to_block: 40, to_time: NOW },
      ]);
      const [held] = given(await made.store.status());
      const kept = { kind: 'token', origin: 'observed' };
      expect(held).toMatchObject({ chain: 'ethereum', from_block: 0, to_block: 40, transfers: 0 });
      expect(held?.coverage).toEqual([
        { ...kept, from_block: 0, to_block: 20, to_time: NOW - 100 },
        { ...kept, from_block: 30, to_block: 40, to_time: NOW },
      ]);
    });

    test('a range whose window ended early is not recorded', async () => {
      const made = await fresh();
      const range = {
        ...({ chain: 'ethereum', kind: 'native', source: 's', origin: 'observed' } as const),
        from_block: 0,
        to_block: 9,
        to_time: NOW,
        from_first: true,
        read_at: NOW,
      };
      const address = party(0);
      const transfers = [transferFact(0)];
      const history = { transfers, ranges: [{ ...range, address, truncated: true }], tokens: [] };
      given(await made.store.appendLive(history));
      const [first] = await sightOf(made.history());
      expect(first).toMatchObject({ degree: 1, ranges: [] });
      const whole = { ...history, ranges: [{ ...range, address, truncated: false }] };
      given(await made.store.appendLive(whole));
      const [second, another] = await sightOf(made.history());
      expect(second).toMatchObject({ ranges: [expect.stringContaining('"to_block":9')] });
      expect(another).toMatchObject({ ranges: [] });
    });
  });
}
