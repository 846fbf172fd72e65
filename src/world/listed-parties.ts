// About 1,100 addresses under some 520 parties, the same for the same seed and issue. Every third
// day brings an issue that adds a few addresses and lets the oldest of such additions go.

import { DAY_S, formatIsoDate } from '../chain/time.ts';
import { inventAddress } from './made-up-address.ts';
import type { WorldParty, WorldPublication } from './sdn-publication.ts';

/** The seed of the simulated world unless another is named. */
export const WORLD_SEED = 'exhibit-world-1';

const DAYS_PER_ISSUE = 3;
/** How many issues an address that came with one stays on the list. */
const ISSUES_KEPT = 10;
const ADDED_PER_ISSUE = 3;
const FIRST_UID = 90_000;
const PARTIES_WITHOUT_ADDRESS = 400;

/** The addresses that are always listed: the form, the currency code, the number. */
const STANDING = [
  { form: 'bitcoin', currency: 'XBT', count: 500 },
  { form: 'bitcoin_bech32', currency: 'XBT', count: 80 },
  { form: 'evm', currency: 'ETH', count: 90 },
  { form: 'evm_checksum', currency: 'ETH', count: 90 },
  { form: 'evm_checksum', currency: 'USDC', count: 20 },
  // The publisher files Tron addresses under these codes too: currency codes are not chains.
  { form: 'tron', currency: 'TRX', count: 100 },
  { form: 'tron', currency: 'USDT', count: 80 },
  { form: 'tron', currency: 'XBT', count: 5 },
  { form: 'solana', currency: 'SOL', count: 60 },
  { form: 'litecoin', currency: 'LTC', count: 20 },
  { form: 'dash', currency: 'DASH', count: 10 },
  { form: 'zcash', currency: 'ZEC', count: 5 },
  { form: 'monero', currency: 'XMR', count: 10 },
] as const;

/** Addresses that one made-up party holds. */
const ADDRESSES_PER_PARTY = 10;
const PROGRAMS = ['CYBER2', 'DPRK3', 'RUSSIA-EO14024', 'SDGT', 'SDNTK'] as const;
const TYPES = ['Entity', 'Individual', 'Entity', 'Individual', 'Vessel'] as const;

/** The listed addresses that the documentation names, one of each form, with their party. */
export const SANDBOX_PARTY: WorldParty = {
  uid: String(FIRST_UID),
  type: 'Entity',
  name: { last: 'SANDBOX EXCHANGE' },
  programs: ['CYBER2', 'SDGT'],
  remarks: 'Made up: stands on the simulated list only.',
  listed_on: '2026-01-15',
  addresses: [
    { currency: 'ETH', address: sandbox('evm_checksum') },
    { currency: 'SOL', address: sandbox('solana') },
    { currency: 'XBT', address: sandbox('bitcoin') },
    { currency: 'XBT', address: sandbox('bitcoin_bech32') },
    { currency: 'USDT', address: sandbox('tron') },
    { currency: 'XMR', address: sandbox('monero') },
  ],
};

function sandbox(
  form: 'evm_checksum' | 'solana' | 'bitcoin' | 'bitcoin_bech32' | 'tron' | 'monero',
) {
  return inventAddress(WORLD_SEED, form, 'sandbox');
}

/** The issue that is the newest at a time (Unix seconds). */
export function worldPublicationAt(now: number, seed: string): WorldPublication {
  const issue = Math.floor(now / DAY_S / DAYS_PER_ISSUE);
  return {
    published: dayOfIssue(issue),
    parties: [SANDBOX_PARTY, ...standingParties(seed), ...recentParties(seed, issue)],
  };
}

function dayOfIssue(issue: number): string {
  return formatIsoDate(issue * DAYS_PER_ISSUE * DAY_S);
}

const standing = new Map<string, readonly WorldParty[]>();

/** The parties that stand on every issue: the same for a seed, so that they are made up once. */
function standingParties(seed: string): readonly WorldParty[] {
  const known = standing.get(seed);
  if (known !== undefined) return known;
  const rows = STANDING.flatMap(({ form, currency, count }) =>
    Array.from({ length: count }, (_, i) => ({
      currency,
      address: inventAddress(seed, form, `${currency} ${i}`),
    })),
  );
  const holders = Math.ceil(rows.length / ADDRESSES_PER_PARTY);
  const made = Array.from({ length: holders + PARTIES_WITHOUT_ADDRESS }, (_, i) =>
    makeUpParty(i + 1, rows.slice(i * ADDRESSES_PER_PARTY, (i + 1) * ADDRESSES_PER_PARTY)),
  );
  standing.set(seed, made);
  return made;
}

function makeUpParty(at: number, addresses: WorldParty['addresses']): WorldParty {
  const program = PROGRAMS[at % PROGRAMS.length];
  const type = TYPES[at % TYPES.length];
  if (program === undefined || type === undefined) throw new Error('a table of the world is empty');
  const name =
    type === 'Individual'
      ? { last: `PLACEHOLDER ${at}`, first: 'Example' }
      : { last: `PLACEHOLDER ${type.toUpperCase()} ${at}` };
  return {
    uid: String(FIRST_UID + at),
    type,
    name,
    programs: [program],
    listed_on: '2026-01-15',
    addresses,
  };
}

/** The parties that the last issues brought, one for each issue. */
function recentParties(seed: string, issue: number): WorldParty[] {
  return Array.from({ length: ISSUES_KEPT }, (_, back) => issue - back).map((brought) => ({
    uid: String(2 * FIRST_UID + brought),
    type: 'Entity' as const,
    name: { last: `PLACEHOLDER OF ISSUE ${brought}` },
    programs: ['CYBER2'],
    listed_on: dayOfIssue(brought),
    addresses: Array.from({ length: ADDED_PER_ISSUE }, (_, i) => ({
      currency: 'ETH',
      address: inventAddress(seed, 'evm', `issue ${brought} ${i}`),
    })),
  }));
}
