// What does each form of a link weigh, measured on what, and how many times?
// The one table of weights. `npm run bench:entities` measures them with the rules that run, prints
// them, and fails where they differ; `docs/concepts/entities.md` says what each number means.

import { wilsonInterval } from '../../evidence/measure.ts';
import type { Heuristic, TieForm } from '../../ports/entities/cluster-store.ts';

/** A data set on which weights are measured. */
export type DataSet = 'token_network' | 'wallet_population' | 'account_population';

/** Where each data set is from, and what it can show. */
export const DATA_SETS: {
  readonly [D in DataSet]: { readonly title: string; readonly shows: string };
} = {
  token_network: {
    title:
      'A recorded token network of Ethereum: 20,913 transfers, 22,084 traces, ' +
      '243 exchange wallets',
    shows:
      'Whose a deposit address is, and what else joins or parts those who pay into one. It does ' +
      'not know who owns a wallet.',
  },
  wallet_population: {
    title: 'A simulated population of Bitcoin wallets with known owners, seed 7',
    shows:
      'How the rules deal with habits that were put in: change to new and used addresses, ' +
      'several kinds of script, batches, CoinJoins, PayJoins, trades of half-signed offers. How ' +
      'common each habit is on the chain is a guess.',
  },
  account_population: {
    title: 'A simulated population of Ethereum accounts with known owners, seed 7',
    shows:
      'How the rules deal with friends, faucets, relayers and popular contracts that were put in. ' +
      'How common they are on a chain is a guess, so the weights stand far below.',
  },
};

/** What was counted: of `n` links that the rule drew so many were `right`. */
export type Measured = {
  readonly on: DataSet;
  readonly right: number;
  readonly n: number;
  /** Pairs of one owner that could be found, and those found; `null`: the data does not tell. */
  readonly recall: { readonly found: number; readonly of: number } | null;
};

/** A form's row. `assumed`: what was measured does not tell how often it is right on a chain. */
export type Calibration = {
  readonly heuristic: Heuristic;
  readonly form: TieForm;
  readonly weight: number;
  readonly basis: 'measured' | 'assumed';
  readonly measured: Measured | null;
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

/** Every form with its weight. */
export const CALIBRATION: readonly Calibration[] = [
  {
    heuristic: 'deposit_reuse',
    form: 'hot_wallet',
    weight: 0.6,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'deposit_reuse',
    form: 'unstated_role',
    weight: 0.4,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'shared_funder',
    form: 'first_coins',
    weight: 0.5,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'lockstep',
    form: 'same_moments',
    weight: 0.6,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'same_deployer',
    form: 'signed',
    weight: 0.9,
    basis: 'assumed',
    measured: null,
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
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'multi_input',
    form: 'payjoin_form',
    weight: 0.5,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'multi_input',
    form: 'tx0',
    weight: 0.9,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'change',
    form: 'one_sign',
    weight: 0.4,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'change',
    form: 'two_signs',
    weight: 0.6,
    basis: 'assumed',
    measured: null,
  },
  {
    heuristic: 'change',
    form: 'three_signs',
    weight: 0.7,
    basis: 'assumed',
    measured: null,
  },
];

const BY_FORM = new Map(CALIBRATION.map((one) => [one.form, one]));

/** The row of a form. */
export function calibrationOf(form: TieForm): Calibration {
  const found = BY_FORM.get(form);
  if (found === undefined) throw new Error(`calibration: no row for ${form}`);
  return found;
}

/** The interval in which the true share lies (Wilson, 95%); `null` where nothing was counted. */
export function intervalOf({ measured }: Calibration) {
  return measured === null ? null : wilsonInterval(measured.right, measured.n);
}
