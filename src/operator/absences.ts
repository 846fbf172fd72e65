// Answers one question: what does this deployment answer for each source that it was not given.
// The words are those of the answers themselves: not_deployed, unchecked, dormant.

import type { Config } from '../config.ts';

/** A source that is not configured. */
export type Absence = { readonly name: string; readonly state: 'absent'; readonly says: string };

type Row = {
  readonly name: string;
  readonly setting: string;
  readonly isThere: (config: Config) => boolean;
  readonly answers: string;
};

const ROWS: readonly Row[] = [
  {
    name: 'explorer',
    setting: 'EXHIBIT_EXPLORER_URL',
    isThere: ({ explorer }) => explorer.kind === 'set',
    answers: 'no live read: what the warehouse does not hold is unchecked, its routes not_deployed',
  },
  {
    name: 'RPC endpoints',
    setting: 'EXHIBIT_RPC_<CHAIN>',
    isThere: ({ rpc }) => Object.values(rpc).some((url) => url !== null),
    answers: 'no chain is followed: the warehouse holds what is imported, coverage ends there',
  },
  {
    name: 'Blockscout',
    setting: 'EXHIBIT_BLOCKSCOUT_<CHAIN>',
    isThere: ({ blockscout }) => Object.values(blockscout).some((url) => url !== null),
    answers: 'no second source of live reads',
  },
  {
    name: 'venue',
    setting: 'EXHIBIT_VENUE_URL',
    isThere: ({ venueUrl }) => venueUrl !== null,
    answers: 'launches are unchecked: counted apart and excluded from every rate',
  },
  {
    name: 'prices',
    setting: 'EXHIBIT_PRICES_URL',
    isThere: ({ pricesUrl }) => pricesUrl !== null,
    answers: 'amounts in US dollars are null, and unpriced transfers are counted',
  },
  {
    name: 'Hyperliquid',
    setting: 'EXHIBIT_HYPERLIQUID_URL',
    isThere: ({ hyperliquidUrl }) => hyperliquidUrl !== null,
    answers: 'trader analyses are not_deployed',
  },
  {
    name: 'derivatives venues',
    setting: 'EXHIBIT_BINANCE_URL, EXHIBIT_BYBIT_URL',
    isThere: ({ binanceUrl, bybitUrl }) => binanceUrl !== null || bybitUrl !== null,
    answers: 'detectors that need them are dormant',
  },
  {
    name: 'language model',
    setting: 'EXHIBIT_ANALYST_URL',
    isThere: ({ analyst }) => analyst.kind === 'set',
    answers: 'the analyst is dormant',
  },
  {
    name: 'anchoring',
    setting: 'EXHIBIT_ANCHOR_CONTRACT',
    isThere: ({ anchor }) => anchor.kind === 'set',
    answers: 'signals say anchored: false',
  },
  {
    name: 'payment webhook',
    setting: 'EXHIBIT_PAYMENT_WEBHOOK_SECRET',
    isThere: ({ payments }) => payments.webhookSecret !== null,
    answers: 'the webhook route answers 503 and accepts nothing',
  },
  {
    name: 'operator routes',
    setting: 'EXHIBIT_ADMIN_TOKEN',
    isThere: ({ adminToken }) => adminToken !== null,
    answers: '/admin/* does not exist; /metrics is on the operations port only',
  },
];

/** A line for each source that is not configured. The simulated world stands in for providers. */
export function absences(config: Config): Absence[] {
  return ROWS.filter((row) => !row.isThere(config)).map((row) => ({
    name: row.name,
    state: 'absent',
    says: `without ${row.setting}: ${row.answers}`,
  }));
}
