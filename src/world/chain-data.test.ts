import { describe, expect, test } from 'vitest';
import { SANDBOX_WALLETS, WORLD_GENESIS_S, worldChains } from './chain-data.ts';
import { SANDBOX_LABELLED } from './labels.ts';
import { SANDBOX_PARTY, WORLD_SEED } from './listed-parties.ts';
import { worldPriceOf } from './price-api.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const ETHEREUM = 1;
const LISTED = String(SANDBOX_PARTY.addresses[0]?.address).toLowerCase();

describe('the simulated chains', () => {
  test('are the same for the same seed and second, and others for another seed', () => {
    const [first, second, other] = [WORLD_SEED, WORLD_SEED, 'another'].map((seed) =>
      worldChains(() => NOW, seed).rowsOf(ETHEREUM, SANDBOX_LABELLED.hot),
    );
    expect(first).toEqual(second);
    expect(first).not.toEqual(other);
    expect(first?.length).toBeGreaterThan(100);
  });

  test('grow with the clock, and change nothing of what was', () => {
    let now = NOW;
    const chains = worldChains(() => now, WORLD_SEED);
    const before = chains.rowsOf(ETHEREUM, SANDBOX_LABELLED.hot);
    const head = chains.headOf(ETHEREUM);
    now += 30 * 86_400;
    const after = chains.rowsOf(ETHEREUM, SANDBOX_LABELLED.hot);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length).toBeGreaterThan(before.length);
    expect(chains.headOf(ETHEREUM)).toBe(head + (30 * 86_400) / 12);
  });

  test('hold no row of a block that is not mined yet, and each at its block’s time', () => {
    const chains = worldChains(() => NOW, WORLD_SEED);
    for (const { block, at } of chains.rowsOf(8453, SANDBOX_LABELLED.hot)) {
      expect(block).toBeLessThanOrEqual(chains.headOf(8453));
      expect(at).toBe(chains.timeOf(8453, block));
      expect(at).toBeGreaterThanOrEqual(WORLD_GENESIS_S);
    }
  });

  test('hold a wallet for each thing that a walk can come to', () => {
    const chains = worldChains(() => NOW, WORLD_SEED);
    const others = (address: string) =>
      new Set(chains.rowsOf(ETHEREUM, address).flatMap(({ from, to }) => [from, to]));
    const { oneHop, twoHops, between, quiet, poisoned, hub, unused } = SANDBOX_WALLETS;
    const { depositor, deposit } = SANDBOX_WALLETS;
    expect(others(oneHop)).toContain(LISTED);
    expect(others(twoHops)).not.toContain(LISTED);
    expect(others(twoHops)).toContain(between);
    expect(others(between)).toContain(LISTED);
    expect(others(quiet).size).toBe(4);
    expect(others(unused).size).toBe(0);
    expect([...others(deposit)].sort()).toEqual([deposit, depositor, SANDBOX_LABELLED.hot].sort());
    expect(others(hub).size).toBeGreaterThan(5_001);
    const bait = chains.rowsOf(ETHEREUM, poisoned).find(({ to }) => to === LISTED);
    expect(bait).toMatchObject({ kind: 'token', value: 0n, success: true });
  });

  test('have coins with a market, with a thin one and with none', () => {
    const tokens = Array.from(
      { length: 40 },
      (_, i) => `ethereum:0x${String(i).padStart(40, '1')}`,
    );
    const prices = tokens.map((id) => worldPriceOf(WORLD_SEED, id, NOW));
    expect(prices).toContain(null);
    expect(prices.some((price) => price?.confidence === 0.4)).toBe(true);
    expect(prices.some((price) => price?.confidence === 0.99)).toBe(true);
    expect(worldPriceOf(WORLD_SEED, `ethereum:0x${'0'.repeat(40)}`, NOW)).not.toBeNull();
  });
});
