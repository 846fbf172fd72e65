// The wallets of invented exchanges in the simulated label table. The same for the same seed, as a
// CSV file in the importer's own format. Every name is invented.

import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';

const EXCHANGES = [
  'Exemplar',
  'Placeholder Markets',
  'Lorem Exchange',
  'Ipsum Trade',
  'Dolor',
  'Sit Amet',
  'Fictional Coin',
  'Imaginary Spot',
  'Sample Desk',
  'Mockbourse',
  'Notional',
  'Dummy Dex Desk',
  'Foobar Exchange',
  'Quux Trade',
  'Specimen',
  'Pretend Markets',
  'Figment',
  'Stand-in',
  'Made-up Futures',
  'Nowhere Exchange',
] as const;

/** The wallets of each exchange: their form and chain, their role, their number. */
const WALLETS = [
  { form: 'evm', chain: 'ethereum', role: 'hot', count: 4 },
  { form: 'evm', chain: 'bsc', role: 'hot', count: 2 },
  { form: 'evm', chain: 'ethereum', role: 'cold', count: 2 },
  { form: 'evm', chain: 'ethereum', role: 'deposit', count: 8 },
  { form: 'evm', chain: 'base', role: 'treasury', count: 1 },
  { form: 'bitcoin', chain: 'bitcoin', role: 'hot', count: 2 },
  { form: 'bitcoin_bech32', chain: 'bitcoin', role: 'cold', count: 1 },
  { form: 'solana', chain: 'solana', role: 'hot', count: 2 },
  { form: 'tron', chain: 'tron', role: 'hot', count: 2 },
  { form: 'evm', chain: 'polygon', role: 'deployer', count: 1 },
] as const;

/** The labelled addresses that the documentation names. */
export const SANDBOX_LABELLED = {
  hot: inventAddress(WORLD_SEED, 'evm', 'sandbox exchange hot'),
  cold: inventAddress(WORLD_SEED, 'bitcoin', 'sandbox exchange cold'),
  deposit: inventAddress(WORLD_SEED, 'evm', 'sandbox exchange deposit'),
} as const;

const HEADER = 'chain,address,entity,label,role,confidence,first_seen';
const FIRST_SEEN = '2026-01-15';

/** The label table of the simulated world as CSV, with a header. */
export function worldLabelsCsv(seed: string): string {
  const rows = [
    row('ethereum', SANDBOX_LABELLED.hot, 'Sandbox Exchange', 'hot', 1),
    row('bitcoin', SANDBOX_LABELLED.cold, 'Sandbox Exchange', 'cold', 1),
    row('ethereum', SANDBOX_LABELLED.deposit, 'Sandbox Exchange', 'deposit', 1),
    ...EXCHANGES.flatMap((exchange) => walletsOf(seed, exchange)),
  ];
  return `${[HEADER, ...rows].join('\n')}\n`;
}

function walletsOf(seed: string, exchange: string): string[] {
  return WALLETS.flatMap(({ form, chain, role, count }) =>
    Array.from({ length: count }, (_, i) => {
      const name = `label ${exchange} ${chain} ${role} ${i}`;
      return row(chain, inventAddress(seed, form, name), exchange, role, i + 1);
    }),
  );
}

const WORDS = {
  hot: 'Hot Wallet',
  cold: 'Cold Wallet',
  deposit: 'Deposit',
  treasury: 'Treasury',
  deployer: 'Deployer',
} as const;

function row(
  chain: string,
  address: string,
  exchange: string,
  role: keyof typeof WORDS,
  at: number,
): string {
  const label = `${exchange}: ${WORDS[role]} ${at}`;
  return [chain, address, exchange, label, role, 'service_data', FIRST_SEEN].join(',');
}
