import { describe, expect, test } from 'vitest';
import { map, Part, Read, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { BitcoinBlock, BitcoinTransaction } from '../../ports/entities.ts';
import { named } from '../../testing/addresses.ts';
import { clustersIn, embeddedControl } from '../../testing/control-store.ts';
import { memoryExchangeLabels } from '../../testing/twins/tables.ts';
import { heldClusters } from './held-clusters.ts';
import { importBlocks } from './import.ts';

const btc = (name: string) => named('bitcoin', name);
const AT = 1_790_000_000;
const LATE = { now: () => AT + 1_200, tipMaxAgeS: 700 };
const WATCH = { signal: new AbortController().signal, onProgress: () => undefined };

type Coin = readonly [owner: string, satoshis: number];

const many = (size: number, name: string, value: (n: number) => number): Coin[] =>
  Array.from({ length: size }, (_, n) => [`${name} ${n}`, value(n)]);

function spend(tx: string, inputs: readonly Coin[], outputs: readonly Coin[]): BitcoinTransaction {
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
    return heldClusters({ store, labels }, LATE);
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
    const silent = heldClusters({ store: clustersIn(database), labels }, LATE);
    expect(await silent.coinJoinsOf(btc('shop'))).toBeInstanceOf(Unread);
  });
});
