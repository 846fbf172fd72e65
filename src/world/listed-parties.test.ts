import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SANDBOX_SCORED } from './account-state.ts';
import { SANDBOX_WALLETS } from './chain-data.ts';
import { CHAT_FAULTS } from './chat-api.ts';
import { SANDBOX_LAUNCHERS } from './corpus.ts';
import { EXPLORER_FAULTS } from './explorer-api.ts';
import { HYPERLIQUID_FAULTS } from './hyperliquid-api.ts';
import { RPC_FAULTS } from './json-rpc.ts';
import { SANDBOX_LABELLED } from './labels.ts';
import { SANDBOX_PARTY } from './listed-parties.ts';
import { MARKET_CALLERS } from './market-callers.ts';
import { PRICE_FAULTS } from './price-api.ts';
import { PUBLISHER_FAULTS } from './publisher.ts';
import { SOLANA_FAULTS } from './solana-api.ts';
import { TOKEN_RISK_FAULTS } from './token-risk-api.ts';
import { WORLD_TRADERS } from './traders.ts';
import { VENUE_FAULTS } from './venue-api.ts';

const guide = readFileSync(
  new URL('../../docs/guides/simulated-world.md', import.meta.url),
  'utf8',
);

const FAULTS = {
  publisher: PUBLISHER_FAULTS,
  explorer: EXPLORER_FAULTS,
  prices: PRICE_FAULTS,
  venue: VENUE_FAULTS,
  hyperliquid: HYPERLIQUID_FAULTS,
  'token-risk': TOKEN_RISK_FAULTS,
  chats: CHAT_FAULTS,
  solana: SOLANA_FAULTS,
  rpc: RPC_FAULTS,
};

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
  for (const named of [...addresses, ...MARKET_CALLERS]) expect(guide).toContain(`\`${named}\``);
  const [, table = ''] = guide.split('## Faults\n');
  for (const [provider, faults] of Object.entries(FAULTS)) {
    const row = table.split('\n').find((line) => line.startsWith(`| \`${provider}\``));
    expect(row).toContain(`| ${faults.map((fault) => `\`${fault}\``).join(', ')} |`);
  }
});
