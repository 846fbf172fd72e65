import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equivalentForms, type KnownAddress, matchKey, parseKnownAddress } from './address.ts';

function known(text: string): KnownAddress {
  const address = parseKnownAddress(text);
  if (address === null) throw new TypeError(`not an address: ${text}`);
  return address;
}

const formsOf = (text: string) => equivalentForms(known(text));
const base58check = createBase58check(sha256);
const hash = fc.uint8Array({ minLength: 20, maxLength: 20 });
const tronText = hash.map((body) => base58check.encode(Uint8Array.of(0x41, ...body)));

describe('EVM and Tron', () => {
  const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  const USDT_HEX = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c';

  test('a Tron address has the same key in hex', () => {
    expect(formsOf(USDT)).toEqual([
      { form: 'evm_hex', address: `0x${USDT_HEX}`, relation: 'same_key' },
      { form: 'tron_hex', address: `41${USDT_HEX}`, relation: 'same_account' },
    ]);
  });

  test('an EVM address has its checksum form and the Tron address of its key', () => {
    expect(formsOf(`0x${USDT_HEX}`)).toEqual([
      {
        form: 'eip55',
        address: '0xa614f803B6FD780986A42c78Ec9c7f77e6DeD13C',
        relation: 'same_account',
      },
      { form: 'tron_base58', address: USDT, relation: 'same_key' },
    ]);
  });

  test('from Tron to EVM and back is the same address', () => {
    fc.assert(
      fc.property(tronText, (text) => {
        const [hexForm] = formsOf(text);
        const back = formsOf(String(hexForm?.address));
        expect(back.map((form) => form.address)).toContain(text);
      }),
    );
  });
});

// The best known of all keys, the generator itself: its hash is that of BIP-173's example, and its
// addresses stand in the documents and explorers of each chain.
const ONE_KEY = {
  bitcoin_p2pkh: '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH',
  litecoin_p2pkh: 'LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ',
  dogecoin_p2pkh: 'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE',
  dash_p2pkh: 'XmN7PQYWKn5MJFna5fRYgP6mxT2F7xpekE',
  bitcoin_gold_p2pkh: 'GUXByHDZLvU4DnVH9imSFckt3HEQ5cFgE5',
  zcash_p2pkh: 't1UYsZVJkLPeMjxEtACvSxfWuNmddpWfxzs',
  cashaddr: 'qp63uahgrxged4z5jswyt5dn5v3lzsem6cy4spdc2h',
  bitcoin_segwit: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  litecoin_segwit: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
};
// That the forms which this leaves out are right is shown where they are encoded independently
// (`address-forms.test.ts`).
describe('Bitcoin and its kin', () => {
  test.each(Object.entries(ONE_KEY))('%s of one key hash has all the others', (form, address) => {
    const told = formsOf(address).map((one) => [one.form, one.address, one.relation]);
    const others = Object.entries(ONE_KEY).filter(([name]) => name !== form);
    for (const [name, text] of others) expect(told).toContainEqual([name, text, 'same_key']);
    expect(told.map(([name]) => name)).not.toContain(form);
    // Those of the list above, the Ripple account and Bitcoin Gold's witness address.
    expect(told).toHaveLength(Object.keys(ONE_KEY).length + 1);
  });

  test('a script hash has the same on each chain, in the old form of Litecoin as well', () => {
    const told = formsOf('MJiPwX84iBe4WnFDwsYGgtnz1XonPhUqhf').map(({ address }) => address);
    expect(told).toContain('3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC');
    expect(told).toContain('ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq');
    expect(told).toHaveLength(7);
  });

  test('a witness program that is no key hash has the same on the chains that have witnesses', () => {
    expect(formsOf('bc1pfeessrawgf').map(({ form }) => form)).toEqual([
      'litecoin_segwit',
      'bitcoin_gold_segwit',
    ]);
  });

  test('a Solana key has no other spelling', () => {
    expect(formsOf('So11111111111111111111111111111111111111112')).toEqual([]);
  });
});

describe('spellings of one address', () => {
  const BARE = 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a';
  const spelled = [`bitcoincash:${BARE}`, `BITCOINCASH:${BARE.toUpperCase()}`, BARE.toUpperCase()];

  test.each(spelled)('a cash address has one key, with its prefix and in capitals: %s', (text) => {
    expect(matchKey(text)).toBe(BARE);
    expect(known(text)).toEqual({ kind: 'other', address: BARE });
    expect(formsOf(text)).toEqual(formsOf(BARE));
  });

  test('one that takes tokens is another form of the one that does not', () => {
    // CHIP-2022-02-CashTokens: the same hash under version 16.
    const told = formsOf('zpm2qsznhks23z7629mms6s4cwef74vcwvrqekrq9w');
    expect(told.map(({ address }) => address)).toContain(BARE);
  });

  test('every form is as it is compared, so that a list is asked in its own spelling', () => {
    const texts = [...Object.values(ONE_KEY), 'bc1pfeessrawgf', `0x${'a1'.repeat(20)}`];
    for (const { form, address } of texts.flatMap(formsOf)) {
      if (form !== 'eip55') expect(matchKey(address)).toBe(address);
    }
  });

  test('a Monero address with a payment number is the account without it', () => {
    // Monero's own documentation of integrated addresses gives this pair.
    const account =
      '4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge';
    const integrated =
      '4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK';
    expect(formsOf(integrated)).toEqual([
      { form: 'monero', address: account, relation: 'same_account' },
    ]);
  });
});
