// A tenth of `npm run bench:temporal`: traders without skill get a label no more often than 5%, and
// a session with twice the gains is found. What the null model replaced fails beside it.

import { describe, expect, test, vi } from 'vitest';
import { labelsOfWorldTrader, type Moving, runTrial } from '../../testing/noise-traders.ts';
import { WORLD_TRADERS } from '../../world/traders.ts';
import { NOISE_KINDS, type NoiseKind } from '../../world/trading.ts';

vi.setConfig({ testTimeout: 300_000 });

/** Of each kind: among half as many, a test that is a third too strict does not show. */
const TRADERS = 100;
const NOW = Date.UTC(2026, 8, 24, 12);
const run = (noise: NoiseKind, planted: boolean, moving: Moving = 'blocks') =>
  runTrial({ noise, planted, moving, traders: TRADERS, permutations: 300 });

describe.each(NOISE_KINDS)('%s', (noise) => {
  test('outcomes without skill get a label no more often than 5%', () => {
    expect(run(noise, false).labelled).toBeLessThanOrEqual(0.05 * TRADERS);
  });

  test('a session with twice the gains is found as often as in 80%, by the interval', () => {
    const { found, interval, ratio } = run(noise, true);
    expect(interval?.high).toBeGreaterThanOrEqual(0.8);
    expect(found).toBeGreaterThanOrEqual(0.72 * TRADERS);
    expect(ratio).toBeGreaterThan(1.8);
    expect(ratio).toBeLessThan(2.4);
  });
});

test('a free shuffle labels clustered noise more often than 7%', () => {
  expect(run('clustered', false, 'free').labelled).toBeGreaterThan(0.07 * TRADERS);
});

test('a shift against the clock finds nothing, however strong the session is', () => {
  expect(run('independent', true, 'clock').found).toBe(0);
});

test('of the forty traders of the world, those with a style have it, few others', () => {
  const told = WORLD_TRADERS.map((trader) => ({
    trader,
    ...labelsOfWorldTrader(trader, NOW, 1_000),
  }));
  const styled = told.filter(({ trader }) => trader.styles.length > 0);
  const found = styled.filter(({ trader, labels }) =>
    labels.some((label) => trader.styles.includes(label)),
  );
  expect(found.length).toBeGreaterThanOrEqual(Math.floor(0.7 * styled.length));
  const others = told.filter(({ trader }) => trader.styles.length === 0);
  expect(others.filter(({ labels }) => labels.length > 0).length).toBeLessThanOrEqual(3);
  for (const { trader, self_trades, no_label } of told) {
    if (trader.kind === 'washes')
      expect([no_label, self_trades > 4_000]).toEqual(['no_trades', true]);
    if (trader.kind === 'past_horizon') expect(no_label).toBe('horizon_reached');
    if (trader.kind === 'agent') expect(no_label).toBe('no_trades');
  }
});
