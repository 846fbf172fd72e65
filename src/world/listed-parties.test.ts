import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SANDBOX_SCORED } from './account-state.ts';
import { SANDBOX_WALLETS } from './chain-data.ts';
import { SANDBOX_LAUNCHERS } from './corpus.ts';
import { EXPLORER_FAULTS } from './explorer-api.ts';
import { HYPERLIQUID_FAULTS } from './hyperliquid-api.ts';
import { RPC_FAULTS } from './json-rpc.ts';
import { SANDBOX_LABELLED } from './labels.ts';
import { SANDBOX_PARTY } from './listed-parties.ts';
import { MARKET_CALLERS } from './market-callers.ts';
import { PRICE_FAULTS } from './price-api.ts';
import { PUBLISHER_FAULTS } from './publisher.ts';
import { TOKEN_RISK_FAULTS } from './token-risk-api.ts';
import { WORLD_TRADERS } from './traders.ts';

const guide = readFileSync(
  new URL('../../docs/guides/simulated-world.md', import.meta.url),
  'utf8',
);

test('the guide names every sandbox address and every fault of a provider', () => {
  const addresses = [
    ...SANDBOX_PARTY.addresses.map(({ address }) => address),
    ...Object.values(SANDBOX_LABELLED),
    ...Object.values(SANDBOX_LAUNCHERS),
    ...Object.values(SANDBOX_WALLETS),
    ...Object.values(SANDBOX_SCORED),
    ...WORLD_TRADERS.filter(({ n }) => n === 0).map(({ address }) => address),
  ];
  expect(addresses.length).toBeGreaterThan(10);
  const faults = [
    ...PUBLISHER_FAULTS,
    ...EXPLORER_FAULTS,
    ...PRICE_FAULTS,
    ...RPC_FAULTS,
    ...HYPERLIQUID_FAULTS,
    ...TOKEN_RISK_FAULTS,
  ];
  for (const named of [...addresses, ...faults, ...MARKET_CALLERS]) {
    expect(guide).toContain(`\`${named}\``);
  }
});
