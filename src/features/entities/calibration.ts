// The one table of weights, with the data set and counts behind each. `npm run bench:entities`
// measures them with the rules that run, prints them, and fails on a difference;
// `docs/concepts/entities.md` explains each number.

import { wilsonInterval } from '../../evidence/statistics.ts';
import type { WeightBasis } from '../../evidence/weight.ts';
import type { Heuristic, TieForm } from '../../ports/entities.ts';

/** The data sets on which weights are measured. */
export const DATA_SET_NAMES = ['wallet_population', 'account_population', 'token_network'] as const;
export type DataSet = (typeof DATA_SET_NAMES)[number];

/** The seed of the two populations. */
export const POPULATION_SEED = 7;

/** Each data set with its origin and its use. */
export const DATA_SETS: {
  readonly [D in DataSet]: {
    readonly title: string;
    readonly source: string;
    readonly shows: string;
  };
} = {
  wallet_population: {
    title: 'Simulated wallets of Bitcoin',
    source: `Made by src/testing/wallet-population.ts, seed ${POPULATION_SEED}: 400 owners.`,
    shows:
      'How the rules deal with habits that were put in: change to new and to used addresses, ' +
      'two kinds of script, batches, CoinJoins, PayJoins, pledges, trades of half-signed and of ' +
      'whole-signed offers. How common each is on the chain is a guess.',
  },
  account_population: {
    title: 'Simulated accounts of Ethereum',
    source: `Made by src/testing/account-population.ts, seed ${POPULATION_SEED}: 160 owners.`,
    shows:
      'How the rules deal with friends, employers, merchants, a faucet, a relayer, a bundler and ' +
      'popular contracts that were put in. How common each is on a chain is a guess, so weights ' +
      'that rest on it are assumed.',
  },
  token_network: {
    title: 'A recorded token network of Ethereum',
    source:
      'The token Bionic (0xef51…ea18): 20,913 transfers and 22,084 traces from block 5,233,833 ' +
      'on, and 243 exchange wallets with their names. It does not come with the product.',
    shows:
      'Whose a deposit address is, and what else joins or parts those who pay into one. It does ' +
      'not know who owns a wallet.',
  },
};

/** Links counted: so many of `n` that the rule drew were right. */
export type Count = { readonly right: number; readonly n: number };

/** A form's row. */
export type LinkCalibration = {
  readonly heuristic: Heuristic;
  readonly form: TieForm;
  readonly weight: number;
  readonly basis: WeightBasis;
  /** `null`: no data set that was reached shows this form. */
  readonly measured: (Count & { readonly on: DataSet }) | null;
};

/** The heuristics of one group rest on one kind of observation, so they count once together. */
export const GROUP_OF: { readonly [H in Heuristic]: string } = {
  deposit_reuse: 'deposits',
  shared_funder: 'funding',
  lockstep: 'behaviour',
  same_deployer: 'creation',
  multi_input: 'spending',
  change: 'spending',
};

/** Every form with its weight: no higher than the lower end of what was measured. */
export const CALIBRATION: readonly LinkCalibration[] = [
  {
    heuristic: 'deposit_reuse',
    form: 'hot_wallet',
    weight: 0.5,
    basis: 'assumed',
    measured: { on: 'account_population', right: 81, n: 133 },
  },
  {
    heuristic: 'deposit_reuse',
    form: 'unstated_role',
    weight: 0.3,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'shared_funder',
    form: 'first_coins',
    weight: 0.5,
    basis: 'assumed',
    measured: { on: 'account_population', right: 36, n: 50 },
  },
  {
    heuristic: 'lockstep',
    form: 'same_moments',
    weight: 0.6,
    basis: 'assumed',
    measured: { on: 'account_population', right: 39, n: 39 },
  },
  {
    heuristic: 'same_deployer',
    form: 'signed',
    weight: 0.9,
    basis: 'assumed',
    measured: { on: 'account_population', right: 51, n: 51 },
  },
  {
    heuristic: 'same_deployer',
    form: 'own_factory',
    weight: 0.5,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'multi_input',
    form: 'spent_together',
    weight: 0.9,
    basis: 'measured',
    measured: { on: 'wallet_population', right: 624, n: 644 },
  },
  {
    heuristic: 'multi_input',
    form: 'payjoin_form',
    weight: 0.7,
    basis: 'measured',
    measured: { on: 'wallet_population', right: 363, n: 423 },
  },
  {
    heuristic: 'multi_input',
    form: 'tx0',
    weight: 0.7,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'change',
    form: 'one_sign',
    weight: 0.7,
    basis: 'measured',
    measured: { on: 'wallet_population', right: 629, n: 701 },
  },
  {
    heuristic: 'change',
    form: 'two_signs',
    weight: 0.9,
    basis: 'measured',
    measured: { on: 'wallet_population', right: 1013, n: 1018 },
  },
  {
    heuristic: 'change',
    form: 'three_signs',
    weight: 0.95,
    basis: 'measured',
    measured: { on: 'wallet_population', right: 490, n: 490 },
  },
];

function recallOf(row: {
  readonly heuristic: Heuristic;
  readonly on: DataSet;
  readonly found: number;
  readonly of: number;
}) {
  return { ...row, interval: wilsonInterval(row.found, row.of) };
}

/** Of the pairs (of Bitcoin, the transactions) of one owner: how many each heuristic found. */
export const RECALL = [
  recallOf({ heuristic: 'deposit_reuse', on: 'account_population', found: 407, of: 703 }),
  recallOf({ heuristic: 'shared_funder', on: 'account_population', found: 60, of: 703 }),
  recallOf({ heuristic: 'lockstep', on: 'account_population', found: 39, of: 703 }),
  recallOf({ heuristic: 'same_deployer', on: 'account_population', found: 153, of: 703 }),
  recallOf({ heuristic: 'multi_input', on: 'wallet_population', found: 987, of: 987 }),
  recallOf({ heuristic: 'change', on: 'wallet_population', found: 2132, of: 5388 }),
];

/** The evidence of the token network for deposit addresses; it never shows who owns a wallet. */
export const NETWORK = {
  inferred: 411,
  shared: 44,
  later: { right: 15, n: 15 },
  pairs: { joined: 5, parted: 0, open: 803 },
} as const;

const BY_FORM = new Map(CALIBRATION.map((one) => [one.form, one]));

/** The row of a form. */
export function linkCalibration(form: TieForm): LinkCalibration {
  const found = BY_FORM.get(form);
  if (found === undefined) throw new Error(`calibration: no row for ${form}`);
  return found;
}

/** The interval in which the true share lies (Wilson, 95%); `null` where nothing was counted. */
export function intervalOf({ measured }: LinkCalibration) {
  return measured === null ? null : wilsonInterval(measured.right, measured.n);
}
