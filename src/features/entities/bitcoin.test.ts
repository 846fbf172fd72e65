import { describe, expect, test } from 'vitest';
import type { BitcoinInput, BitcoinTransaction } from '../../ports/entities.ts';
import { addressNamed } from '../../testing/addresses.ts';
import {
  changeTies,
  coinJoin,
  inputObjections,
  inputTies,
  isSignatureTold,
  isWhirlpoolTx0,
} from './bitcoin.ts';

const AT_2024 = Date.UTC(2024, 5, 1) / 1_000;
const AT_2019 = Date.UTC(2019, 5, 1) / 1_000;
const segwit = (name: string) => addressNamed('bitcoin_bech32', name);
const legacy = (name: string) => addressNamed('bitcoin', name);

type Coin = readonly [owner: string | null, satoshis: number];
type Spent = readonly [owner: string, satoshis: number, signed?: BitcoinInput['signed']];

function spend(
  inputs: readonly Spent[],
  outputs: readonly Coin[],
  at: number = AT_2024,
): BitcoinTransaction {
  return {
    tx: 'spent',
    block: 1,
    at,
    coinbase: false,
    inputs: inputs.map(([address, value, signed = 'whole']) => {
      return { address, value: BigInt(value), signed };
    }),
    outputs: outputs.map(([address, value]) => ({ address, value: BigInt(value) })),
  };
}

const [BUYER, SELLER, SHOP, REST] = ['buyer', 'seller', 'shop', 'rest'].map(segwit) as [
  string,
  string,
  string,
  string,
];
const always = () => true;
const kinds = (one: BitcoinTransaction) => [
  ...new Set(inputObjections(one).map(({ kind, detail }) => (detail === null ? kind : detail))),
];
const change = (one: BitcoinTransaction, ...known: string[]) =>
  changeTies(one, (address) => !known.includes(address));

describe('the inputs of a Bitcoin transaction are no one owner’s', () => {
  // The layout of a marketplace: two coins of the buyer's, the inscribed one, the payment; the
  // inscribed coin goes to the buyer, and the output at its own place pays the seller.
  const trade = (signed: BitcoinInput['signed']) =>
    spend(
      [
        [BUYER, 600],
        [BUYER, 600],
        [SELLER, 546, signed],
        [BUYER, 5_000_000],
      ],
      [
        [segwit('buyer too'), 1_200],
        [segwit('buyer three'), 546],
        [SELLER, 3_000_000],
        [REST, 1_990_000],
      ],
    );

  test('where a marketplace set a seller’s half-signed offer into a buyer’s payment', () => {
    expect(inputTies(trade('in_part'))).toEqual([]);
    expect(kinds(trade('in_part'))).toEqual(['partial_signature']);
    expect(inputTies(trade('whole'))).toEqual([]);
    expect(kinds(trade('whole'))).toEqual(['marketplace_trade']);
    expect(changeTies(trade('in_part'), always)).toEqual([]);
  });

  test('where they are pledges that each sign their own coin alone', () => {
    const pledges = spend(
      [
        [BUYER, 50_000, 'in_part'],
        [SELLER, 70_000, 'in_part'],
      ],
      [[SHOP, 119_000]],
    );
    expect(inputTies(pledges)).toEqual([]);
    expect(kinds(pledges)).toEqual(['partial_signature']);
  });

  test('where the source leaves out witnesses and half-signed offers are known', () => {
    const untold = (at: number) =>
      spend(
        [
          [BUYER, 50_000, null],
          [SELLER, 70_000, null],
        ],
        [[SHOP, 119_000]],
        at,
      );
    expect(inputTies(untold(AT_2024))).toEqual([]);
    expect(isSignatureTold(untold(AT_2024))).toBe(false);
    expect(inputTies(untold(AT_2019))).toHaveLength(2);
  });

  test('where it is a round of WabiSabi of thirty inputs', () => {
    const standard = [...Array.from({ length: 9 }, (_, n) => 2 ** (13 + n)), 20_000, 50_000];
    const round = spend(
      Array.from({ length: 30 }, (_, n) => [segwit(`in ${n}`), 1_000_000 + n]),
      [
        ...standard.map((value, n): Coin => [segwit(`out ${n}`), value]),
        ...Array.from({ length: 8 }, (_, n): Coin => [segwit(`rest ${n}`), 1_234_567 + n]),
      ],
    );
    expect(coinJoin(round)).toBe('wasabi_2_0');
    expect(inputTies(round)).toEqual([]);
    expect(kinds(round)).toEqual(['wasabi_2_0']);
  });

  test('where it is a round of Wasabi 1.0, which pays its coordinator', () => {
    const coordinator = 'bc1qs604c7jv6amk4cxqlnvuxv26hv3e48cds4m0ew';
    const round = spend(
      Array.from({ length: 12 }, (_, n) => [segwit(`in ${n}`), 20_000_000 + n]),
      [
        ...Array.from({ length: 11 }, (_, n): Coin => [segwit(`out ${n}`), 10_012_000]),
        [coordinator, 300_000],
      ],
    );
    expect(coinJoin(round)).toBe('wasabi_1_0');
    expect(inputTies(round)).toEqual([]);
  });
});

describe('a wallet that cuts its coins for a Whirlpool pool', () => {
  const tx0 = (rest: readonly Coin[]) =>
    spend(
      [
        [BUYER, 3_000_000],
        [REST, 900_000],
      ],
      [
        [null, 0],
        [segwit('fee'), 42_500],
        ...Array.from({ length: 3 }, (_, n): Coin => [segwit(`premix ${n}`), 1_000_302]),
        ...rest,
      ],
    );

  test('is one owner’s, and none of its outputs is told for change', () => {
    const cut = tx0([[segwit('left'), 850_000]]);
    expect(isWhirlpoolTx0(cut)).toBe(true);
    expect(coinJoin(cut)).toBeNull();
    expect(inputTies(cut).map(({ form }) => form)).toEqual(['tx0', 'tx0']);
    expect(changeTies(cut, always)).toEqual([]);
  });

  test('is two people’s where two equal rests are left', () => {
    const both = tx0([
      [segwit('left'), 425_000],
      [segwit('right'), 425_000],
    ]);
    expect(isWhirlpoolTx0(both)).toBe(false);
    expect(inputTies(both)).toEqual([]);
  });
});

describe('a payment that has the form of a PayJoin', () => {
  const payment = spend(
    [
      [BUYER, 100_000],
      [SHOP, 90_000],
    ],
    [
      [segwit('shop too'), 120_000],
      [REST, 60_000],
    ],
  );
  const form = (one: BitcoinTransaction) => inputTies(one).map((tie) => tie.form);

  test('joins with a word, as its payee may have added an input', () => {
    const spare = spend(
      [
        [BUYER, 200_000],
        [SHOP, 90_000],
      ],
      [
        [segwit('shop too'), 150_000],
        [REST, 130_000],
      ],
    );
    expect(form(spare)).toEqual(['payjoin_form', 'payjoin_form']);
    expect(kinds(spare)).toEqual(['payjoin_form']);
    expect(form(payment)).toEqual(['spent_together', 'spent_together']);
    expect(kinds(payment)).toEqual([]);
  });
});

describe('one-time change', () => {
  test('is not the one new customer of a batch of withdrawals', () => {
    const customers = Array.from({ length: 6 }, (_, n) => segwit(`customer ${n}`));
    const batch = spend(
      [[BUYER, 9_000_000]],
      [
        ...customers.map((one, n): Coin => [one, 400_000 + n]),
        [segwit('new customer'), 123_456],
        [SELLER, 6_000_000],
      ],
    );
    expect(change(batch, ...customers, SELLER)).toEqual([]);
  });

  test('goes to the kind of script that is spent; an output of another kind is not it', () => {
    const to = (fresh: string, known: string) =>
      spend(
        [[BUYER, 900_123]],
        [
          [fresh, 400_123],
          [known, 499_000],
        ],
      );
    expect(change(to(legacy('fresh'), SHOP), SHOP)).toEqual([]);
    const told = change(to(REST, legacy('shop')), legacy('shop'));
    expect(told.map(({ form }) => form)).toEqual(['two_signs', 'two_signs']);
  });

  test('follows the number of signs that agree, and is none where one speaks for the other', () => {
    const forms = (one: BitcoinTransaction, known: string) =>
      new Set(change(one, known).map(({ form }) => form));
    const plain = spend(
      [[BUYER, 900_123]],
      [
        [REST, 400_123],
        [SHOP, 499_007],
      ],
    );
    expect(forms(plain, SHOP)).toEqual(new Set(['one_sign']));
    const rounded = spend(
      [
        [BUYER, 900_123],
        [SELLER, 700_000],
      ],
      [
        [REST, 599_123],
        [SHOP, 1_000_000],
      ],
    );
    expect(forms(rounded, SHOP)).toEqual(new Set(['three_signs']));
    expect(forms(rounded, REST)).toEqual(new Set());
  });

  test('is told of nobody where three outputs are paid, though two are known', () => {
    const three = spend(
      [[BUYER, 900_123]],
      [
        [REST, 400_123],
        [SHOP, 400_000],
        [SELLER, 90_000],
      ],
    );
    expect(change(three, SHOP, SELLER)).toEqual([]);
  });
});
