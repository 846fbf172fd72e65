import { describe, expect, test } from 'vitest';
import { signature } from '../../testing/bitcoin-chain.ts';
import { signedBy } from './node.ts';

const ALL = 0x01;
const SINGLE = 0x03;
const ALL_ANYONE = 0x81;
const SINGLE_ANYONE = 0x83;
const PUBLIC_KEY = `02${'11'.repeat(32)}`;
const P2WPKH = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const P2TR = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
const push = (hex: string) => (hex.length / 2).toString(16).padStart(2, '0') + hex;
const schnorr = (flag?: number) =>
  '33'.repeat(64) + (flag === undefined ? '' : flag.toString(16).padStart(2, '0'));
const CONTROL = `c0${'44'.repeat(32)}`;
const CONTROL_OF_65 = `c0${'44'.repeat(64)}`;

describe('an input is signed', () => {
  test.each<[string, string | null, string, string[] | null, 'whole' | 'in_part' | null]>([
    ['whole by a key hash', P2WPKH, '', [signature(ALL), PUBLIC_KEY], 'whole'],
    [
      'in part by SINGLE|ANYONECANPAY',
      P2WPKH,
      '',
      [signature(SINGLE_ANYONE), PUBLIC_KEY],
      'in_part',
    ],
    ['in part by ALL|ANYONECANPAY', P2WPKH, '', [signature(ALL_ANYONE), PUBLIC_KEY], 'in_part'],
    ['in part by SINGLE', P2WPKH, '', [signature(SINGLE), PUBLIC_KEY], 'in_part'],
    ['whole in a script of old', null, push(signature(ALL)) + push(PUBLIC_KEY), [], 'whole'],
    [
      'in part in a script of old',
      null,
      push(signature(ALL_ANYONE)) + push(PUBLIC_KEY),
      [],
      'in_part',
    ],
    [
      'whole by two keys',
      null,
      `00${push(signature(ALL))}${push(signature(ALL))}4c04deadbeef`,
      [],
      'whole',
    ],
    [
      'in part by one of two keys',
      null,
      `00${push(signature(ALL))}${push(signature(SINGLE))}`,
      [],
      'in_part',
    ],
    ['whole by a taproot key', P2TR, '', [schnorr()], 'whole'],
    ['whole by a taproot key, with an annex', P2TR, '', [schnorr(), '50aa'], 'whole'],
    ['in part by a taproot key', P2TR, '', [schnorr(SINGLE_ANYONE)], 'in_part'],
    ['whole by a taproot script', P2TR, '', [schnorr(ALL), '20ab', CONTROL_OF_65], 'whole'],
    ['in part by a taproot script', P2TR, '', [schnorr(SINGLE_ANYONE), '20ab', CONTROL], 'in_part'],
    ['in part where no signature is found', null, '51', [], 'in_part'],
    ['so that nothing tells it where the source leaves witnesses out', P2WPKH, '', null, null],
    ['whole where the script itself tells it', null, push(signature(ALL)), null, 'whole'],
  ])('%s', (_name, owner, script, witness, signed) => {
    expect(signedBy(owner, script, witness)).toBe(signed);
  });

  test('as far as a cut script tells', () => {
    expect(signedBy(null, '4d', [])).toBe('in_part');
    expect(signedBy(null, '4c', null)).toBeNull();
    expect(signedBy(null, push(signature(ALL)).slice(0, -4), [])).toBe('in_part');
  });
});
