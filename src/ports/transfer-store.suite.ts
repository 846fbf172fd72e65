// The guarantees of every transfer store, whatever holds it. Each adapter's test runs them. The
// contents are read as a walk reads them: through the history over the same store.

import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { map, type Reading, rowsSeen } from '../evidence/reading.ts';
import type { HistoryTransfer, RawHistory } from './history.ts';
import type {
  Facts,
  FollowCursor,
  Following,
  Moved,
  Tenure,
  TipBlock,
  TransactionFact,
  TransferFact,
  TransferStore,
} from './indexing.ts';

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

/** A course of an import: its transactions shuffled, some of them twice, cut into batches. */
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

/** A store under test; `restarted` gives another over the same data, as after a crash. */
export type StoreUnderTest = {
  readonly store: TransferStore;
  readonly history: () => RawHistory;
  readonly restarted: () => TransferStore;
  readonly close: () => Promise<void>;
};

/** The time of the suite's worlds, Unix seconds. */
export const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
/** Few addresses, so that rows fall on each other. */
const PARTIES = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`);
export const TOKEN = `0x${'7'.repeat(40)}`;
export const PROVENANCE = { source: 'suite', origin: 'observed', import_id: 'suite' } as const;
export const KINDS = ['native', 'internal', 'token'] as const;
export const NONE = { transfers: [], creations: [], blocks: [], transactions: [] } as const;
/** The engine under test may take some tens of milliseconds for a statement. */
export const RUNS = 12;
export const PROPERTY_TIMEOUT_MS = 120_000;

export function hashOf(kind: string, number: number): string {
  return `0x${Buffer.from(`${kind}${number}`).toString('hex').padStart(64, '0')}`;
}

export function party(at: number): string {
  return String(PARTIES[at % PARTIES.length]);
}

/** A transfer of a transaction, told by its number; what is left out is as a node tells it. */
export function transferFact(tx: number, over: Partial<TransferFact> = {}): TransferFact {
  const block = over.block === undefined ? 1 + Math.floor(tx / 3) : over.block;
  return {
    chain: 'ethereum',
    kind: 'native',
    token: null,
    raw_amount: 5n,
    success: true,
    from: party(tx),
    to: party(tx + 1),
    initiator: party(tx),
    block,
    block_time: NOW - 10_000 + block,
    block_hash: null,
    tx_hash: hashOf('tx', tx),
    position: null,
    ...over,
  } as TransferFact;
}

/** The value of a reading that must have one. */
export function given<T>(reading: Reading<T, never>): T {
  if (!reading.checked) throw new Error(reading.why.reason);
  return reading.value;
}

/** All that a walk can see of the parties, in one order. */
export async function sightOf(history: RawHistory): Promise<unknown[]> {
  const readings = await history.neighbourhoods(PARTIES, {
    rowsMax: 1_000,
    degreeMax: 100,
    batchRowsMax: 10_000,
    transfersPerCounterpartyMax: 1_000,
    signal: new AbortController().signal,
  });
  return PARTIES.map((address) => {
    const reading = readings.get(address);
    const known = reading === undefined ? null : rowsSeen(map(reading, (value) => [value]));
    if (known === null) throw new Error(`nothing is seen of ${address}`);
    const [{ degree, counterparties, coverage }] = known;
    const rows = counterparties.flatMap(({ transfers }) => transfers.map(textOf)).sort();
    const ranges = coverage.map((range) => JSON.stringify(range)).sort();
    return { address, degree, rows, ranges };
  });
}

function textOf({ raw_amount, token_id, ...transfer }: HistoryTransfer): string {
  const id = token_id === undefined ? null : token_id.toString();
  return JSON.stringify({ ...transfer, raw_amount: raw_amount.toString(), token_id: id });
}

/** The contents, and the number of rows of each chain. */
export async function stateOf({ store, history }: StoreUnderTest): Promise<unknown> {
  const status = given(await store.status());
  return { sight: await sightOf(history()), status };
}

function cursorOf(reading: Reading<Moved, never>): FollowCursor {
  const moved = given(reading);
  if (!moved.moved) throw new Error(`refused: ${moved.refused}`);
  return moved.cursor;
}

const FOLLOWING: Following = {
  chain: 'ethereum',
  from_block: 1,
  kinds: KINDS,
  source: 'suite',
  origin: 'observed',
};

let epoch = 0;

/** The tenure of the next follower, behind which no other one is still at work. */
export function tenure(): Tenure {
  epoch += 1;
  return { epoch, settle: async () => undefined };
}

/** The block of a number on a fork: another fork has other hashes and other transfers. */
function tipBlock(number: number, fork: string, parent: string): TipBlock {
  const seed = number * 7 + fork.charCodeAt(0);
  const transfers = Array.from({ length: number % 3 }, (_, at) =>
    transferFact(seed * 10 + at, {
      block: number,
      block_hash: hashOf(fork, number),
      position: at,
      from: party(seed + at),
      to: party(seed + at + 1 + (number % 2)),
    }),
  );
  const header = { number, hash: hashOf(fork, number), parent_hash: hashOf(parent, number - 1) };
  return { ...header, time: NOW - 1_000 + number, transfers, creations: [] };
}

/** The blocks of a fork from a number on; the first may hang on another fork. */
export function chainOf(from: number, count: number, fork: string, parent = fork): TipBlock[] {
  return Array.from({ length: count }, (_, at) =>
    tipBlock(from + at, fork, at === 0 ? parent : fork),
  );
}

type Step =
  | { readonly do: 'grow'; readonly count: number }
  | { readonly do: 'reorg'; readonly depth: number; readonly count: number }
  | { readonly do: 'finalise'; readonly keep: number }
  | { readonly do: 'restart' };

const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('grow' as const), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({
      do: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 6 }),
      count: fc.integer({ min: 0, max: 4 }),
    }),
    fc.record({ do: fc.constant('finalise' as const), keep: fc.nat(5) }),
    fc.record({ do: fc.constant('restart' as const) }),
  ),
  { maxLength: 8 },
);

/** Takes the steps on a store; answers the blocks that are left at their end. */
async function follow(made: StoreUnderTest, steps: readonly Step[]): Promise<TipBlock[]> {
  const { chain } = FOLLOWING;
  let { store } = made;
  let cursor = given(await store.follow(FOLLOWING, tenure()));
  let blocks: TipBlock[] = [];
  let forks = 0;
  const growTip = async (count: number) => {
    const fork = String.fromCharCode(65 + forks);
    const [first, ...rest] = chainOf(blocks.length + 1, count, fork);
    if (first === undefined) return;
    const parent = blocks.at(-1);
    const hung = parent === undefined ? first : { ...first, parent_hash: parent.hash };
    cursor = cursorOf(await store.applyTip(chain, [hung, ...rest]));
    blocks = [...blocks, hung, ...rest];
  };
  for (const step of steps) {
    const last = blocks.length;
    if (step.do === 'grow') {
      await growTip(step.count);
    } else if (step.do === 'reorg') {
      const final = cursor.final_block === null ? 0 : cursor.final_block;
      const to = Math.max(final, last - step.depth);
      cursor = cursorOf(await store.rollBack(chain, to));
      blocks = blocks.slice(0, to);
      forks += 1;
      await growTip(step.count);
    } else if (step.do === 'finalise') {
      cursor = cursorOf(await store.finalise(chain, last - step.keep));
    } else {
      store = made.restarted();
      cursor = given(await store.follow(FOLLOWING, tenure()));
    }
    expect(cursor.tip.at(-1)?.hash ?? cursor.final_hash).toBe(blocks.at(-1)?.hash ?? null);
  }
  return blocks;
}

/** Runs the promises of following. */
export function promisesOfFollowing(name: string, fresh: Fresh): void {
  const begun = async (): Promise<StoreUnderTest> => {
    const made = await fresh();
    given(await made.store.follow(FOLLOWING, tenure()));
    return made;
  };

  describe(`${name}: following`, () => {
    test(
      'through re-orgs, finality and restarts ends as if only the chain that is left had been',
      async () => {
        const property = fc.asyncProperty(anySteps, async (steps) => {
          const made = await fresh();
          const blocks = await follow(made, steps);
          const sight = await sightOf(made.history());
          const straight = await begun();
          if (blocks.length > 0) cursorOf(await straight.store.applyTip('ethereum', blocks));
          expect(sight).toEqual(await sightOf(straight.history()));
        });
        const again: Step[] = [
          { do: 'reorg', depth: 1, count: 1 },
          { do: 'finalise', keep: 0 },
          { do: 'reorg', depth: 1, count: 1 },
          { do: 'reorg', depth: 1, count: 0 },
          { do: 'grow', count: 1 },
        ];
        await fc.assert(property, { numRuns: RUNS, examples: [[again]] });
      },
      PROPERTY_TIMEOUT_MS,
    );

    test('blocks that do not stand right behind the cursor are refused, and nothing of them is held', async () => {
      const made = await begun();
      const { store } = made;
      cursorOf(await store.applyTip('ethereum', chainOf(1, 3, 'A')));
      const before = await sightOf(made.history());
      for (const [blocks, refused] of [
        [chainOf(5, 1, 'A'), 'gap'],
        [chainOf(3, 1, 'A'), 'gap'],
        [chainOf(4, 1, 'B'), 'parent_differs'],
        [[...chainOf(4, 1, 'A'), ...chainOf(5, 1, 'B')], 'parent_differs'],
      ] as const) {
        expect(given(await store.applyTip('ethereum', blocks))).toMatchObject({ refused });
      }
      expect(await sightOf(made.history())).toEqual(before);
    });

    test('what is final is not undone', async () => {
      const { store } = await begun();
      cursorOf(await store.applyTip('ethereum', chainOf(1, 5, 'A')));
      const final = cursorOf(await store.finalise('ethereum', 3));
      expect(final).toMatchObject({ final_block: 3, final_hash: hashOf('A', 3) });
      expect(final.tip.map(({ number }) => number)).toEqual([4, 5]);
      expect(given(await store.rollBack('ethereum', 2))).toMatchObject({ refused: 'final' });
      expect(cursorOf(await store.rollBack('ethereum', 3)).tip).toEqual([]);
    });

    test('a chain that was never followed has no cursor; a restart finds the one that was left', async () => {
      const made = await fresh();
      expect(given(await made.store.cursor('ethereum'))).toBeNull();
      given(await made.store.follow(FOLLOWING, tenure()));
      const left = cursorOf(await made.store.applyTip('ethereum', chainOf(1, 4, 'A')));
      expect(given(await made.restarted().cursor('ethereum'))).toEqual(left);
      expect(
        given(await made.restarted().follow({ ...FOLLOWING, from_block: 99 }, tenure())),
      ).toEqual(left);
    });

    test('blocks that are final already go in without a tip, and following goes on behind them', async () => {
      const made = await begun();
      const blocks = chainOf(1, 6, 'A');
      const cursor = cursorOf(await made.store.applyFinal('ethereum', blocks));
      expect(cursor).toMatchObject({ final_block: 6, tip: [] });
      expect(given(await made.store.applyFinal('ethereum', blocks))).toMatchObject({
        refused: 'gap',
      });
      cursorOf(await made.store.applyTip('ethereum', chainOf(7, 2, 'A')));
      const straight = await begun();
      cursorOf(await straight.store.applyTip('ethereum', chainOf(1, 8, 'A')));
      expect(await sightOf(made.history())).toEqual(await sightOf(straight.history()));
    });

    test('an imported header of another fork takes no block away from what is followed', async () => {
      const made = await begun();
      const blocks = chainOf(1, 6, 'A');
      // An import brought the headers of a fork that was lost, before the chain was followed.
      const lost = chainOf(1, 6, 'L').map(({ number, hash, parent_hash, time }) => {
        return { chain: 'ethereum' as const, number, hash, parent_hash, time };
      });
      const provenance = { source: 'suite', origin: 'observed', import_id: 'lost' } as const;
      given(await made.store.appendImported({ ...NONE, blocks: lost }, provenance));
      const cursor = cursorOf(await made.store.applyFinal('ethereum', blocks));
      expect(cursor).toMatchObject({ final_block: 6, final_hash: hashOf('A', 6) });
      const straight = await begun();
      cursorOf(await straight.store.applyFinal('ethereum', blocks));
      expect(await sightOf(made.history())).toEqual(await sightOf(straight.history()));
    });

    test('coverage reaches the tip, of the kinds that the node tells and of no other', async () => {
      const made = await fresh();
      const following = { ...FOLLOWING, kinds: ['native', 'token'] } as const;
      given(await made.store.follow(following, tenure()));
      cursorOf(await made.store.applyTip('ethereum', chainOf(1, 5, 'A')));
      cursorOf(await made.store.finalise('ethereum', 2));
      const [held] = given(await made.store.status());
      const range = { from_block: 1, to_block: 5, to_time: NOW - 995, origin: 'observed' };
      expect(held?.coverage).toEqual([
        { ...range, kind: 'native' },
        { ...range, kind: 'token' },
      ]);
      expect(held?.following).toEqual({ final_block: 2, tip_block: 5 });
    });

    test('a chain whose following began is followed up to no block until one is there', async () => {
      const { store } = await begun();
      const note = { source: 'suite', origin: 'observed', import_id: 'earlier' } as const;
      given(await store.appendImported({ ...NONE, transfers: [transferFact(1)] }, note));
      const following = async () => given(await store.status())[0]?.following;
      expect(await following()).toBeNull();
      cursorOf(await store.applyFinal('ethereum', chainOf(1, 1, 'A')));
      expect(await following()).toEqual({ final_block: 1, tip_block: 1 });
    });

    test('where a node tells more kinds than before, the new ones begin behind what is final', async () => {
      const made = await fresh();
      given(await made.store.follow({ ...FOLLOWING, kinds: ['native'] }, tenure()));
      cursorOf(await made.store.applyTip('ethereum', chainOf(1, 5, 'A')));
      cursorOf(await made.store.finalise('ethereum', 3));
      const store = made.restarted();
      const cursor = given(await store.follow(FOLLOWING, tenure()));
      expect(cursor).toMatchObject({ final_block: 3, tip: [], kinds: KINDS });
      cursorOf(await store.applyTip('ethereum', chainOf(4, 3, 'A')));
      const [held] = given(await store.status());
      const reach = held?.coverage.map(({ kind, from_block, to_block }) => {
        return [kind, from_block, to_block];
      });
      expect(reach?.sort()).toEqual([
        ['internal', 4, 6],
        ['native', 1, 6],
        ['token', 4, 6],
      ]);
    });
  });
}
