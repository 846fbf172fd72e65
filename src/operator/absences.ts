// Answers one question: what does this deployment answer for each source that it was not given.
// The words are those of the answers themselves: not_deployed, unchecked.

import type { Config } from '../config.ts';

/** A source that is not configured. */
type Absence = { readonly name: string; readonly state: 'absent'; readonly says: string };

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
    name: 'prices',
    setting: 'EXHIBIT_PRICES_URL',
    isThere: ({ pricesUrl }) => pricesUrl !== null,
    answers: 'amounts in US dollars are null, and unpriced transfers are counted',
  },
  {
    name: 'operator token',
    setting: 'EXHIBIT_ADMIN_TOKEN',
    isThere: ({ adminToken }) => adminToken !== null,
    answers: '/metrics and the detail of /ready are on the operations port only',
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
