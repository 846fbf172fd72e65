import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../chain/address.ts';
import { advanced, legacy, readText } from '../../testing/sdn-recordings.ts';
import { addressesWithin, holdsAddress, printedValue, READER_VERSION } from './publication.ts';

const EVM = '0x00000000219ab540356cBB839Cbe05303d7705Fa';
const BITCOIN = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h';
const SEGWIT = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const SOLANA = 'So11111111111111111111111111111111111111112';
const isKnown = (text: string) => parseAddress(text) !== null;

describe('a printed value', () => {
  test('loses white space around it and what nobody sees in it, and nothing else', () => {
    expect(printedValue(`\u00a0\t${EVM}\u200b\u2060\r\n`)).toBe(EVM);
    expect(printedValue('a\u00adb\u0085c\ufe0fd\u202ee')).toBe('abcde');
    expect(printedValue('a b\u3000c')).toBe('a b\u3000c');
  });

  test.each([
    [`ETH ${EVM}`, [EVM]],
    [`${EVM};${BITCOIN}`, [EVM, BITCOIN]],
    [`(${BITCOIN}), formerly ${SEGWIT}.`, [BITCOIN, SEGWIT]],
    [`ETH:${EVM}`, [EVM]],
    [`ETH${EVM}`, [EVM]],
    [EVM.replace('0x', '0X'), [EVM]],
    [`${EVM.slice(0, 20)}\n  ${EVM.slice(20)}`, [EVM]],
    [`${BITCOIN.slice(0, 9)} ${BITCOIN.slice(9)}`, [BITCOIN]],
    [SOLANA, []],
    [EVM, []],
    [`${EVM}0`, []],
    ['made-up-address-of-no-known-form', []],
  ])('%s holds what is an address of a known form', (value, held) => {
    expect(addressesWithin(value, isKnown)).toEqual(held);
  });
});

describe('where no address should stand', () => {
  test.each([EVM, ` ${BITCOIN} `, `see ${SEGWIT}`, 'Digital  currency: XBT'])(
    '%s is noticed',
    (text) => {
      expect(holdsAddress(text)).toBe(true);
    },
  );

  test.each(['Male', 'IMO 9187629', 'DE89370400440532013000', `${BITCOIN.slice(0, -1)}g`, SOLANA])(
    '%s is not taken for one',
    (text) => {
      expect(holdsAddress(text)).toBe(false);
    },
  );
});

// A reader that makes other rows of the same bytes has another version, or held lists would stay
// as the older reader left them.

test('what the recordings come out as goes with the version of the reader', async () => {
  const said = await Promise.all([legacy, advanced].map((text) => readText(text)));
  const digest = createHash('sha256').update(JSON.stringify(said)).digest('hex');
  // Where the digest changes, raise READER_VERSION and give both anew.
  expect({ version: READER_VERSION, digest }).toEqual({
    version: 3,
    digest: 'ce251d477129e1d0e4df4ad926b67d0166e3032477e755892228fbe6c6aedb56',
  });
});
