// A leaderboard has each wallet once, by its strongest flag, and no established token.

import { describe, expect, test } from 'vitest';
import type { LaunchFlag } from '../../ports/rug-flags.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { rugFlagOf } from '../../testing/rug-worlds.ts';
import { SCORED } from '../../testing/twins/rug-flags.ts';
import { boardOf, ESTABLISHED, isEstablished } from './scoring.ts';

const [ALICE, BOB] = [evm('alice'), evm('bob')] as const;
const board = (...flags: LaunchFlag[]) => boardOf({ chains: [SCORED], flags }, STILL_NOW);

test('a wallet stands once, with its strongest launch and the span of all of them', () => {
  const weaker = rugFlagOf(ALICE, { token: evm('weaker'), score: 0.7, first_flagged_at: 5 });
  const stronger = rugFlagOf(ALICE, { token: evm('stronger'), score: 0.8 });
  const { wallets } = board(weaker, stronger, rugFlagOf(BOB, { score: 0.9 }));
  expect(wallets.map(({ address }) => address)).toEqual([BOB, ALICE]);
  expect(wallets[1]).toEqual({ ...stronger, first_flagged_at: 5, launches: 2 });
});

test('the same address on two chains is two wallets', () => {
  const { wallets } = board(rugFlagOf(ALICE), rugFlagOf(ALICE, { chain: 'base' }));
  expect(wallets).toHaveLength(2);
});

test('of equal scores the later one stands first, whatever the order of the rows', () => {
  const earlier = rugFlagOf(ALICE, { last_scored_at: 10 });
  const later = rugFlagOf(BOB, { last_scored_at: 20 });
  for (const flags of [
    [earlier, later],
    [later, earlier],
  ] as const) {
    expect(board(...flags).wallets.map(({ address }) => address)).toEqual([BOB, ALICE]);
  }
});

describe('a token is established', () => {
  const old = STILL_NOW - ESTABLISHED.age_s - 1;
  const large = ESTABLISHED.liquidity_usd + 0.01;
  const grown = { launched_at: old, liquidity_usd: large, is_listed_token: false };

  test('by age and liquidity together, or by review alone', () => {
    expect(isEstablished(grown, STILL_NOW)).toBe(true);
    expect(isEstablished({ ...grown, launched_at: old + 1 }, STILL_NOW)).toBe(false);
    expect(isEstablished({ ...grown, liquidity_usd: large - 0.01 }, STILL_NOW)).toBe(false);
    expect(isEstablished({ ...grown, liquidity_usd: null }, STILL_NOW)).toBe(false);
    const reviewed = { launched_at: STILL_NOW, liquidity_usd: null, is_listed_token: true };
    expect(isEstablished(reviewed, STILL_NOW)).toBe(true);
  });

  test('and is left out and counted, with those that the scorer left out', () => {
    const held = boardOf(
      {
        chains: [{ ...SCORED, suppressed: 2 }],
        flags: [rugFlagOf(ALICE, { ...grown }), rugFlagOf(BOB)],
      },
      STILL_NOW,
    );
    expect(held.wallets.map(({ address }) => address)).toEqual([BOB]);
    expect(held.suppressed).toBe(3);
  });
});
