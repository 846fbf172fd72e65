import { describe, expect, test, vi } from 'vitest';
import { map, Part, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type BitcoinBlock,
  type BitcoinBlocks,
  type BitcoinTransaction,
  BlocksFault,
  type ClusterStore,
} from '../../ports/entities.ts';
import type { HistoryTransfer } from '../../ports/history.ts';
import { addressNamed, evm } from '../../testing/addresses.ts';
import { clustersIn, embeddedControl } from '../../testing/control-store.ts';
import { dataOfEntity, HOT, t, world } from '../../testing/entity-world.ts';
import { lotteryOf } from '../../testing/lottery.ts';
import { trialsOf } from '../../testing/trials.ts';
import { memoryExchangeLabels } from '../../testing/twins/tables.ts';
import { changeTies, coinJoin, inputTies } from './bitcoin.ts';
import { evidenceFrom, TIED_LIMITS } from './evidence.ts';
import { heldClusters } from './held-clusters.ts';
import { importBlocks } from './import.ts';

const btc = (name: string) => addressNamed('bitcoin', name);
const WATCH = { signal: new AbortController().signal, onProgress: () => undefined };

type Coin = readonly [owner: string, satoshis: number];

function spend(
  name: string,
  inputs: readonly Coin[],
  outputs: readonly Coin[],
  block = 1,
): BitcoinTransaction {
  const coins = (list: readonly Coin[]) =>
    list.map(([owner, value]) => ({ address: btc(owner), value: BigInt(value) }));
  const signed = 'whole' as const;
  return {
    tx: name,
    block,
    at: 1_790_000_000 + block * 600,
    coinbase: false,
    inputs: coins(inputs).map((one) => ({ ...one, signed })),
    outputs: coins(outputs),
  };
}

const many = (size: number, name: string, value: (n: number) => number): Coin[] =>
  Array.from({ length: size }, (_, n) => [`${name} ${n}`, value(n)]);

describe('a joint transaction', () => {
  test.each([
    [
      'a wallet that gathers its coins',
      [
        ['a', 5],
        ['b', 6],
      ],
      [['c', 10]],
      null,
    ],
    [
      'a payment with change',
      [
        ['a', 5],
        ['b', 6],
      ],
      [
        ['c', 7],
        ['d', 3],
      ],
      null,
    ],
    ['one owner who splits its coins evenly', [['a', 50]], many(10, 'out', () => 5), null],
    [
      'two participants with a change each',
      [
        ['a', 9],
        ['b', 8],
      ],
      [
        ['c', 5],
        ['d', 5],
        ['e', 4],
        ['f', 3],
      ],
      'equal_outputs',
    ],
    [
      'two participants, one without change',
      [
        ['a', 5],
        ['b', 8],
      ],
      [
        ['c', 5],
        ['d', 5],
        ['e', 3],
      ],
      'equal_outputs',
    ],
    [
      'five equal coins of a pool in and out',
      many(5, 'in', (n) => 5_000_000 + n),
      many(5, 'out', () => 5_000_000),
      'whirlpool',
    ],
    [
      'a round of twelve tenths of a coin with change',
      many(15, 'in', (n) => 20_000_000 + n),
      [...many(12, 'out', () => 9_990_000), ...many(9, 'rest', (n) => 30_000 + n)],
      'wasabi_1_1',
    ],
    [
      'a round of twelve with change, of no known size',
      many(15, 'in', (n) => 20 + n),
      [...many(12, 'out', () => 10), ...many(9, 'rest', (n) => 30 + n)],
      'equal_outputs',
    ],
    [
      'three participants with a change each',
      many(4, 'in', (n) => 90 + n),
      [...many(3, 'out', () => 50), ...many(3, 'rest', (n) => 30 + n)],
      'joinmarket',
    ],
    [
      'sixty inputs into shared denominations',
      many(60, 'in', (n) => 900 + n),
      [...many(40, 'out', (n) => 2 ** (n % 8)), ...many(30, 'rest', (n) => 5_000 + n)],
      'wasabi_2_0',
    ],
    [
      'a round of thirty inputs, of a coordinator that begins with few',
      many(30, 'in', (n) => 900_000 + n),
      [
        ...many(8, 'out', (n) => 2 ** (13 + n)),
        ...many(8, 'more', (n) => 2 * 3 ** (8 + n)),
        ...many(6, 'rest', (n) => 123_457 + n),
      ],
      'wasabi_2_0',
    ],
    [
      'equal coloured markers, which no mixer makes',
      [
        ['a', 5_000],
        ['b', 6_000],
      ],
      [
        ['c', 546],
        ['d', 546],
        ['e', 4_000],
      ],
      null,
    ],
  ] as const)('%s', (_name, inputs, outputs, form) => {
    const transaction = spend('t', inputs, outputs);
    expect(coinJoin(transaction)).toBe(form);
    expect(inputTies(transaction).length > 0).toBe(form === null && inputs.length > 1);
    if (form !== null) expect(changeTies(transaction, () => true)).toEqual([]);
  });

  test('a coinbase ties nobody', () => {
    const coinbase = {
      ...spend(
        't',
        [
          ['a', 1],
          ['b', 1],
        ],
        [['c', 2]],
      ),
      coinbase: true,
    };
    expect([...inputTies(coinbase), ...changeTies(coinbase, () => true)]).toEqual([]);
  });
});

describe('one-time change', () => {
  const known = (...names: string[]) => {
    const paid = new Set(names.map(btc));
    return (address: string) => !paid.has(address);
  };
  const change = (transaction: BitcoinTransaction, ...names: string[]) =>
    changeTies(transaction, known(...names)).map(({ address }) => address);
  const payment = spend(
    't',
    [['a', 9]],
    [
      ['shop', 5],
      ['fresh', 4],
    ],
  );

  test('is the only output that was never paid before', () => {
    expect(change(payment, 'a', 'shop')).toEqual([btc('a'), btc('fresh')]);
  });

  test.each([
    ['two outputs were never paid before', payment, ['a']],
    ['all were paid before', payment, ['a', 'shop', 'fresh']],
    [
      'the sender pays itself',
      spend(
        't',
        [['a', 9]],
        [
          ['a', 5],
          ['fresh', 4],
        ],
      ),
      ['a'],
    ],
    ['there is one output only', spend('t', [['a', 9]], [['fresh', 9]]), ['a']],
  ] as const)('is told of nobody where %s', (_name, transaction, names) => {
    expect(change(transaction, ...names)).toEqual([]);
  });
});

function source(blocks: readonly BitcoinBlock[], fault?: string): BitcoinBlocks {
  return {
    refused: () => new Map(),
    blocks: async function* () {
      yield* blocks;
      if (fault !== undefined) throw new BlocksFault(fault);
    },
  };
}

function blockOf(
  block: number,
  transactions: readonly BitcoinTransaction[],
  whole = true,
): BitcoinBlock {
  const at = 1_790_000_000 + block * 600;
  return { block, at, whole, transactions: transactions.map((one) => ({ ...one, block, at })) };
}

const mined = (block: number, owner: string): BitcoinTransaction => ({
  ...spend(`coinbase ${block}`, [], [[owner, 50]], block),
  coinbase: true,
});
const CHAIN = [
  blockOf(0, [mined(0, 'a')]),
  blockOf(1, [mined(1, 'shop')]),
  blockOf(2, [
    mined(2, 'b'),
    spend(
      'pays',
      [['a', 50]],
      [
        ['shop', 30],
        ['change', 20],
      ],
    ),
  ]),
  blockOf(3, [
    mined(3, 'c'),
    spend(
      'joins',
      [
        ['change', 20],
        ['b', 50],
      ],
      [['d', 70]],
    ),
  ]),
];

async function tiedIn(store: ClusterStore) {
  const tied = await store.tiedTo('bitcoin', [btc('a')], TIED_LIMITS);
  if (!(tied instanceof Read)) throw new Error('not read');
  const bars = { services: new Set<string>(), exchanges: new Map(), reused: tied.value.reused };
  return evidenceFrom(tied.value.ties, bars).map(({ heuristic, addresses }) => [
    heuristic,
    addresses,
  ]);
}

describe('an import of blocks', () => {
  const fresh = embeddedControl();
  const made = () => clustersIn(fresh());

  test('ties inputs and change, in one piece or in two, and holds its blocks', async () => {
    for (const pieces of [[CHAIN], [CHAIN.slice(0, 2), CHAIN.slice(2)]]) {
      const store = made();
      const outcomes = [];
      for (const piece of pieces) outcomes.push(await importBlocks(store, source(piece), WATCH));
      if (pieces.length === 1) {
        const imported = { blocks: 4, transactions: 6 };
        expect(outcomes).toMatchObject([{ outcome: 'completed', imported }]);
      }
      expect(await tiedIn(store)).toEqual([
        ['change', [btc('a'), btc('change')].sort()],
        ['multi_input', [btc('b'), btc('change')].sort()],
      ]);
      expect(await store.blocksHeld()).toMatchObject({
        value: [{ from_block: 0, to_block: 3, change: true }],
      });
    }
  });

  test('made again takes in nothing twice', async () => {
    const store = made();
    await importBlocks(store, source(CHAIN), WATCH);
    const again = await importBlocks(store, source(CHAIN), WATCH);
    expect(again).toMatchObject({ imported: { blocks: 0, blocks_held: 4, transactions: 0 } });
    expect(await tiedIn(store)).toHaveLength(2);
  });

  test('takes change back once the address is paid again', async () => {
    const store = made();
    const again = blockOf(4, [mined(4, 'change')]);
    await importBlocks(store, source([...CHAIN, again]), WATCH);
    expect((await tiedIn(store)).map(([heuristic]) => heuristic)).toEqual(['multi_input']);
  });

  test('tells no change where a block before is not held, or where one after is', async () => {
    const late = made();
    await importBlocks(late, source(CHAIN.slice(2)), WATCH);
    expect(await tiedIn(late)).toEqual([]);
    expect(await late.blocksHeld()).toMatchObject({ value: [{ from_block: 2, change: false }] });
    await importBlocks(late, source(CHAIN), WATCH);
    expect(await tiedIn(late)).toEqual([]);
    expect(await late.blocksHeld()).toMatchObject({
      value: [{ from_block: 0, to_block: 3, change: false }],
    });
  });

  test('holds no block of which a part came, and keeps what it ties', async () => {
    const store = made();
    const [first, second, third, fourth] = CHAIN;
    const cut = { ...third, whole: false } as BitcoinBlock;
    const blocks = [first, second, cut, fourth].filter((one) => one !== undefined);
    const { imported } = await importBlocks(store, source(blocks), WATCH);
    expect(imported).toMatchObject({ blocks: 3, blocks_in_part: 1 });
    expect(await store.blocksHeld()).toMatchObject({
      value: [
        { from_block: 0, to_block: 1, change: true },
        { from_block: 3, to_block: 3, change: false },
      ],
    });
  });

  test('that ends in a fault keeps what came before it', async () => {
    const store = made();
    const ended = await importBlocks(store, source(CHAIN.slice(0, 3), 'the node is gone'), WATCH);
    expect(ended).toMatchObject({ outcome: 'fault', fault: 'the node is gone' });
    expect(await store.blocksHeld()).toMatchObject({ value: [{ from_block: 0, to_block: 2 }] });
  });

  test('into a store that is silent is unread', async () => {
    const silenced = fresh();
    silenced.silence('gone');
    expect(await importBlocks(clustersIn(silenced), source(CHAIN), WATCH)).toMatchObject({
      outcome: 'unread',
      why: why('store_unreadable', { what: 'The table of clusters', fault: 'gone' }),
    });
  });
});

describe('joined', () => {
  const AT = 1_790_000_000;
  const LATE = { now: () => AT + 1_200, tipMaxAgeS: 700 };
  const WATCH = { signal: new AbortController().signal, onProgress: () => undefined };

  function spend(
    tx: string,
    inputs: readonly Coin[],
    outputs: readonly Coin[],
  ): BitcoinTransaction {
    const coin = ([owner, value]: Coin) => ({ address: btc(owner), value: BigInt(value) });
    const spent = inputs.map(coin).map(({ address, value }) => ({ address, value, signed: null }));
    return { tx, block: 0, at: AT, coinbase: false, inputs: spent, outputs: outputs.map(coin) };
  }

  const ROUND = spend(
    'joinmarket',
    many(4, 'in', (n) => 90 + n),
    [...many(3, 'out', () => 50), ...many(2, 'rest', (n) => 30 + n), ['in 0', 33]],
  );
  const POOL = spend(
    'whirlpool',
    many(5, 'out', (n) => 5_000_000 + n),
    many(5, 'mixed', () => 5_000_000),
  );
  const PAYMENT = spend('payment', [['mixed 0', 9]], [['shop', 8]]);

  /** The blocks 0 to 2, each with one of the transactions. */
  const BLOCKS = [ROUND, POOL, PAYMENT].map((one, block): BitcoinBlock => {
    const { tx, inputs, outputs } = one;
    const at = AT + block * 600;
    const transactions = [{ tx, block, at, coinbase: false, inputs, outputs }];
    return { block, at, whole: true, transactions };
  });

  describe('the joint transactions of an address', () => {
    const fresh = embeddedControl();

    async function clustersOf(blocks: readonly BitcoinBlock[], simulated = false) {
      const store = clustersIn(fresh(), simulated);
      const source = { refused: () => new Map<string, number>(), blocks: () => given(blocks) };
      await importBlocks(store, source, WATCH);
      const labels = memoryExchangeLabels({ labels: [], as_of: AT, simulated: false });
      return heldClusters({ entityTies: store, exchangeLabels: labels }, LATE);
    }

    async function* given(blocks: readonly BitcoinBlock[]) {
      yield* blocks;
    }

    test('are told by their form, of whoever spent there and of whoever was paid', async () => {
      const clusters = await clustersOf(BLOCKS);
      const [first, second] = [
        { tx: 'joinmarket', block: 0, at: AT, form: 'joinmarket' },
        { tx: 'whirlpool', block: 1, at: AT + 600, form: 'whirlpool' },
      ];
      expect(await clusters.coinJoinsOf(btc('in 0'))).toMatchObject({
        checked: true,
        value: {
          forms: [{ form: 'joinmarket', transactions: 1 }],
          newest: [{ ...first, spent: true, paid: true }],
        },
      });
      const value = rowsSeen(map(await clusters.coinJoinsOf(btc('out 0')), (one) => [one]));
      expect(value?.[0]).toEqual({
        forms: [
          { form: 'joinmarket', transactions: 1 },
          { form: 'whirlpool', transactions: 1 },
        ],
        newest: [
          { ...second, spent: true, paid: false },
          { ...first, spent: false, paid: true },
        ],
      });
    });

    test('are denied only where every block from the first to a fresh tip is held', async () => {
      const none = { forms: [], newest: [] };
      const whole = await (await clustersOf(BLOCKS)).coinJoinsOf(btc('shop'));
      expect(whole).toBeInstanceOf(Read);
      expect(whole).toMatchObject({ value: none });
      for (const blocks of [BLOCKS.slice(1), BLOCKS.slice(0, 1).concat(BLOCKS.slice(2))]) {
        const part = await (await clustersOf(blocks)).coinJoinsOf(btc('shop'));
        expect(part).toBeInstanceOf(Part);
      }
      const seenLate = await (await clustersOf(BLOCKS.slice(1))).coinJoinsOf(btc('mixed 0'));
      expect(seenLate).toBeInstanceOf(Part);
      expect(rowsSeen(map(seenLate, ({ forms }) => forms))).toHaveLength(1);
      expect(await (await clustersOf([])).coinJoinsOf(btc('shop'))).toBeInstanceOf(Part);
    });

    test('are denied of nobody while the store is silent, or in a simulated world', async () => {
      const made = await (await clustersOf(BLOCKS, true)).coinJoinsOf(btc('shop'));
      expect(made).not.toBeInstanceOf(Read);
      const database = fresh();
      database.silence('gone');
      const labels = memoryExchangeLabels({ labels: [], as_of: AT, simulated: false });
      const silent = heldClusters(
        { entityTies: clustersIn(database), exchangeLabels: labels },
        LATE,
      );
      expect(await silent.coinJoinsOf(btc('shop'))).toBeInstanceOf(Unread);
    });
  });
});

// The same history gives the same entity, whoever asked about whom before: random worlds, random
// sequences of questions. EXHIBIT_TRIALS=200 runs as many; the suite runs a few.

vi.setConfig({ testTimeout: 3_600_000 });
const TRIALS = trialsOf('EXHIBIT_TRIALS', 4, 200);
const QUESTIONS = 5;
const TRANSFERS = 26;

const PEOPLE = Array.from({ length: 7 }, (_, n) => evm(`person ${n}`));
const DEPOSITS = Array.from({ length: 3 }, (_, n) => evm(`account ${n}`));

/** People who fund each other, deposit into shared accounts and pay shops. */
function happenings(seed: number): HistoryTransfer[] {
  const { below, oneOf } = lotteryOf(seed);
  const transfers: HistoryTransfer[] = [];
  for (let n = 0; n < TRANSFERS; n += 1) {
    const at = 1 + n * 40_000 + below(30_000);
    const person = oneOf(PEOPLE);
    const kind = below(3);
    if (kind === 0) transfers.push(t(at, person, oneOf(PEOPLE)));
    else if (kind === 1) {
      const account = oneOf(DEPOSITS);
      transfers.push(t(at, person, account), t(at + 9, account, HOT));
    } else transfers.push(t(at, person, evm(`shop ${below(3)}`)));
  }
  return transfers.filter(({ from, to }) => from !== to);
}

describe('the entity of an address', () => {
  test(`is the same in ${TRIALS} random sequences of questions`, async () => {
    let joined = 0;
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const transfers = happenings(Math.floor(trial / 2));
      const { oneOf } = lotteryOf(1_000 + trial);
      const subject = oneOf(PEOPLE);
      const alone = await dataOfEntity(subject, world({ transfers }).ports);
      const { ports } = world({ transfers });
      for (let n = 0; n < QUESTIONS; n += 1)
        await dataOfEntity(oneOf([...PEOPLE, ...DEPOSITS]), ports);
      expect(await dataOfEntity(subject, ports)).toEqual(alone);
      const members = alone.related_wallets;
      const other = members[members.length - 1];
      const theirs = await dataOfEntity(String(other), ports);
      expect(theirs.related_wallets.toSorted()).toEqual(members.toSorted());
      if (members.length > 1) joined += 1;
    }
    expect(joined).toBeGreaterThan(0);
  });
});
