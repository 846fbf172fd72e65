import { expect, test } from 'vitest';
import { worldChains } from './chain-data.ts';
import { deployedCode, deployedCreations, worldPoolsOf } from './deployers.ts';
import { evmLaunchesIn } from './evm-launches.ts';
import { WORLD_SEED } from './listed-parties.ts';
import { LAUNCH_EACH_S, launchPoolsAt, worldLaunchesIn } from './solana-launches.ts';

const NOW = Date.UTC(2026, 10, 21, 12) / 1_000;
const DAY_S = 86_400;
const EXIT_USD = 1_000;

const liquidityOf = (pools: ReturnType<typeof launchPoolsAt>) =>
  pools.reduce((sum, { liquidityUsd }) => sum + Number(liquidityUsd), 0);

test('launches of Solana come one after the other, newest first, and stay what they were', () => {
  const before = worldLaunchesIn(NOW - DAY_S, NOW);
  expect(before).toHaveLength(DAY_S / LAUNCH_EACH_S + 1);
  const later = worldLaunchesIn(NOW - DAY_S, NOW + 600);
  expect(later.slice(600 / LAUNCH_EACH_S)).toEqual(before);
  const kinds = new Set(before.map(({ kind }) => kind));
  expect(kinds.size).toBe(6);
});

test('each lives until its time, and of wallets whose launches live some do not', () => {
  const launches = worldLaunchesIn(NOW - DAY_S, NOW);
  const dying = launches.filter(({ diesAt }) => diesAt !== null);
  expect(dying.length).toBeGreaterThan(launches.length / 2);
  expect(dying.length).toBeLessThan(launches.length);
  for (const { mint, at, diesAt } of launches) {
    expect(liquidityOf(launchPoolsAt(mint, at + 60))).toBeGreaterThan(EXIT_USD);
    const after = liquidityOf(launchPoolsAt(mint, at + DAY_S));
    expect(after < EXIT_USD).toBe(diesAt !== null);
  }
});

test('a contract of Ethereum is told of from its launch on, by whoever is asked', () => {
  let now = NOW;
  const chains = worldChains(() => now, WORLD_SEED);
  const [next] = evmLaunchesIn(NOW, NOW + 3_600);
  if (next === undefined) throw new Error('nobody launches within the hour');
  const { address, maker, tx, at } = next;
  const told = () => chains.rowsOf(1, maker).filter((row) => row.created === address);
  expect(told()).toEqual([]);
  now = at;
  expect(told()).toMatchObject([{ from: maker, to: address, tx }]);
  expect(deployedCode(address)).not.toBeNull();
  expect(deployedCreations([address])).toMatchObject([{ contractCreator: maker, txHash: tx }]);
});

test('what a wallet launched on Ethereum dies on schedule, or stays', () => {
  const launches = evmLaunchesIn(NOW - DAY_S, NOW);
  expect(launches.length).toBe(72);
  const dying = launches.filter(({ diesAt }) => diesAt !== null);
  expect(dying.length).toBeGreaterThan(24);
  expect(dying.length).toBeLessThan(72);
  for (const { address, at, diesAt } of launches) {
    expect(liquidityOf(worldPoolsOf('ethereum', address, at))).toBeGreaterThan(EXIT_USD);
    const after = liquidityOf(worldPoolsOf('ethereum', address, at + DAY_S));
    expect(after < EXIT_USD).toBe(diesAt !== null);
  }
});
