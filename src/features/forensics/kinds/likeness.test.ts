import { describe, expect, test } from 'vitest';
import { endsOf, foldedSymbol } from './poisoning.ts';

describe('likeness', () => {
  test.each([
    ['mathematical letters', '𝐔𝐒𝐃𝐂', 'USDC'],
    ['full width', 'ＵＳＤＴ', 'USDT'],
    ['Cyrillic', 'USDС', 'USDC'],
    ['Cyrillic and Armenian', 'ՍЅDТ', 'USDT'],
    ['Greek', 'ΕΤΗ', 'ETH'],
    ['a tugrik sign', 'USD₮', 'USDT'],
    ['zero-width letters', 'US\u200bDC', 'USDC'],
    ['marks', 'U\u0307SDC', 'USDC'],
    ['lower case and dots', 'usd.c', 'USDC'],
    ['Cherokee', 'ᎠAI', 'DAI'],
  ])('%s read as Latin ones', (_, written, read) => {
    expect(foldedSymbol(written)).toBe(read);
  });

  test('another word stays another word', () => {
    expect(foldedSymbol('UNI')).not.toBe(foldedSymbol('USDC'));
  });

  test('addresses with the same ends are alike, whatever stands between', () => {
    const ends = [
      '0xd9a1c0000000000000000000000000000000053a91',
      '0xd9a1f000000000000000000000000000000003a91',
    ];
    expect(endsOf(ends[0] ?? '')).toBe(endsOf(ends[1] ?? ''));
    expect(endsOf('0xd9a1')).not.toBe(endsOf('0xd9a2'));
  });
});
