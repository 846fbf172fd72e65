import { inventAddress, type MadeUpForm } from '../world/made-up-address.ts';

const SEED = 'tests';

/** The address of a name in tests; the same name is the same address, for ever. */
export function addressNamed(form: MadeUpForm, name: string): string {
  return inventAddress(SEED, form, name);
}

/** An EVM address in lower case by name. */
export function evm(name: string): string {
  return addressNamed('evm', name);
}

/** One address of every form, of the key of BIP-173's example where it has one. */
export const EVERY_FORM = {
  bitcoin_p2pkh: '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH',
  bitcoin_p2sh: '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC',
  bitcoin_segwit: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  bitcoin_taproot: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  litecoin: 'LVuDpNCSSj6pQ7t9Pv6d6sUkLKoqDEVUnJ',
  litecoin_p2sh: 'MJiPwX84iBe4WnFDwsYGgtnz1XonPhUqhf',
  litecoin_segwit: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
  dogecoin_or_verge: 'DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE',
  dash: 'XmN7PQYWKn5MJFna5fRYgP6mxT2F7xpekE',
  zcash_transparent: 't1UYsZVJkLPeMjxEtACvSxfWuNmddpWfxzs',
  zcash_sapling: 'zs1z7rejlpsa98s2rrrfkwmaxu53e4ue0ulcrw0h4x5g8jl04tak0d3mm47vdtahatqrlkngh9slya',
  zcash_sprout:
    'zcU1Cd6zYyZCd2VJF8yKgmzjxdiiU1rgTTjEwoN1CGUWCzi' +
    'PkUTXUjXmX7TMqdMNsTfuiGN1jQoVN4kGxUR4sAPN4XZ7pxb',
  ripple: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
  monero:
    '4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3sk' +
    'xNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge',
  monero_integrated:
    '4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeY' +
    'TRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK',
  bitcoin_cash: 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
  bitcoin_gold: 'GUXByHDZLvU4DnVH9imSFckt3HEQ5cFgE5',
  ethereum_classic: '0xd882cfc20f52f2599d84b8e8d58c7fb62cfe344b',
  tron: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  solana: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
};
