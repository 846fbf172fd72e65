import { describe, expect, test } from 'vitest';
import { DAY_S, HOUR_S } from '../../chain/time.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { featuresOf, HISTORY_MAX, type KnownLaunch } from './examples.ts';

const AT = STILL_NOW;
const UNKNOWN: KnownLaunch = {
  launched_at: AT,
  scored_at: AT,
  deployer_launches: null,
  deployer_funded_at: null,
  liquidity_usd: null,
  ether_pooled: null,
  holder_top10_share: null,
  owner_can_mint: null,
  owner_can_block: null,
  ownership_renounced: null,
};
const died = (before: number, seen: number) => ({
  launched_at: AT - before,
  seen: { as: 'died', at: AT - seen } as const,
});
const live = (before: number, seen: number) => ({
  launched_at: AT - before,
  seen: { as: 'live', at: AT - seen } as const,
});

describe('features', () => {
  test('of which nothing was read are missing, never zero', () => {
    const { token_hours, ...others } = featuresOf(UNKNOWN, 720);
    expect(token_hours).toBe(0);
    expect(new Set(Object.values(others))).toEqual(new Set([null]));
  });

  test('of a deployer’s first launch count none before, and know no death rate', () => {
    expect(featuresOf({ ...UNKNOWN, deployer_launches: [] }, 720)).toMatchObject({
      deployer_launches_before: 0,
      deployer_died_before: 0,
      deployer_settled_before: 0,
      deployer_death_rate_before: null,
      deployer_hours_since_launch: null,
    });
  });

  test('count a fate that was seen by then, and neither a later one nor a later launch', () => {
    const deployer_launches = [
      died(40 * DAY_S, 39 * DAY_S),
      // Seen dead after the moment of scoring.
      died(9 * DAY_S, -HOUR_S),
      // Seen alive, one long enough and one too young to have settled.
      live(35 * DAY_S, 0),
      live(2 * DAY_S, 0),
      // Nobody knows what became of it.
      { launched_at: AT - 3 * DAY_S, seen: null },
      // This launch itself, and one after it.
      live(0, 0),
      died(-DAY_S, -2 * DAY_S),
    ];
    expect(featuresOf({ ...UNKNOWN, deployer_launches }, 720)).toMatchObject({
      deployer_launches_before: 5,
      deployer_launches_in_week_before: 2,
      deployer_settled_before: 2,
      deployer_died_before: 1,
      deployer_death_rate_before: 0.5,
      deployer_hours_since_launch: 48,
      deployer_hours_since_first: 960,
    });
  });

  test('end at the newest launches of a deployer of very many', () => {
    const many = Array.from({ length: HISTORY_MAX + 50 }, (_, at) => live(60 * DAY_S - at, 0));
    const told = featuresOf({ ...UNKNOWN, deployer_launches: many }, 720);
    expect(told.deployer_launches_before).toBe(HISTORY_MAX);
    expect(told.deployer_hours_since_first).toBe((60 * DAY_S - 50) / HOUR_S);
  });

  test('tell a whole number of ether to the last wei, and of none that was not read', () => {
    const whole = (ether_pooled: string | null) =>
      featuresOf({ ...UNKNOWN, ether_pooled }, 720).ether_pooled_whole;
    expect(['5', '5.000', '0', '12345678901234567890'].map(whole)).toEqual([1, 1, 1, 1]);
    expect(['4.999999999999999999', '0.5', '5.000000000000000001'].map(whole)).toEqual([0, 0, 0]);
    expect(whole(null)).toBeNull();
  });

  test('that stand in no order of time are missing', () => {
    const known = { ...UNKNOWN, deployer_funded_at: AT + 1, scored_at: AT - 1 };
    expect(featuresOf(known, 720)).toMatchObject({
      deployer_funded_hours_before: null,
      token_hours: null,
    });
  });
});
