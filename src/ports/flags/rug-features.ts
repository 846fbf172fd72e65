// Answers one question: what may the rug model know of a launch at the moment it is scored?
// A feature that was not measured is missing (`null`), which is never zero.

import type { ChainName } from '../../chain/chain.ts';

/** How a feature is counted. `yes_no` is 1 or 0. */
export type FeatureUnit = 'count' | 'share' | 'hours' | 'usd' | 'yes_no';

/** One feature. `missing` says when it has no value. */
export type RugFeature = {
  readonly name: string;
  readonly unit: FeatureUnit;
  readonly meaning: string;
  readonly missing: string;
  /** 1: the score may only rise with it; 0: it may go either way. */
  readonly monotone: 0 | 1;
  /** Of which chains the scorer of this service reads it; of others every value is missing. */
  readonly read_of: readonly ChainName[];
};

const SCORED = ['ethereum', 'solana'] as const;
const NO_RECORD = 'The launches of its deployer were not read.';

/** The features, in the order in which a model names them. */
export const RUG_FEATURES = [
  {
    name: 'deployer_launches_before',
    unit: 'count',
    meaning: 'Launches by the same deployer before this one.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_launches_in_week_before',
    unit: 'count',
    meaning: 'Launches by the same deployer in the seven days before this one.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_settled_before',
    unit: 'count',
    meaning: 'Of its earlier launches, those that had died, or lived through the settling time.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_died_before',
    unit: 'count',
    meaning: 'Of its earlier launches, those that had died by then.',
    missing: NO_RECORD,
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_death_rate_before',
    unit: 'share',
    meaning: 'Died of settled among its earlier launches.',
    missing: 'The launches of its deployer were not read, or none before had settled.',
    monotone: 1,
    read_of: SCORED,
  },
  {
    name: 'deployer_hours_since_launch',
    unit: 'hours',
    meaning: 'Since the launch before by the same deployer.',
    missing: 'The launches of its deployer were not read, or this is the first.',
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_hours_since_first',
    unit: 'hours',
    meaning: 'Since the first launch by the same deployer.',
    missing: 'The launches of its deployer were not read, or this is the first.',
    monotone: 0,
    read_of: SCORED,
  },
  {
    name: 'deployer_funded_hours_before',
    unit: 'hours',
    meaning: 'From the first funds of the deployer’s address to the launch.',
    missing: 'When the deployer was first funded was not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'liquidity_usd',
    unit: 'usd',
    meaning: 'Liquidity pooled at launch, both sides.',
    missing: 'The liquidity at launch was not read or could be another’s, or had no price.',
    monotone: 0,
    read_of: ['ethereum'],
  },
  {
    name: 'holder_top10_share',
    unit: 'share',
    meaning: 'Share of the supply with the ten largest holders, pools and burned coins apart.',
    missing: 'The holders were not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'owner_can_mint',
    unit: 'yes_no',
    meaning: 'Whether somebody may make more of the token.',
    missing: 'The powers over the contract were not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'owner_can_block',
    unit: 'yes_no',
    meaning: 'Whether somebody may stop holders from transferring.',
    missing: 'The powers over the contract were not read.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'ownership_renounced',
    unit: 'yes_no',
    meaning: 'Whether the contract has an owner function that names nobody.',
    missing: 'The owner was not read, or the contract tells none.',
    monotone: 0,
    read_of: [],
  },
  {
    name: 'token_hours',
    unit: 'hours',
    meaning: 'Age of the token when it was scored.',
    missing: 'The time of the launch was not read.',
    monotone: 0,
    read_of: SCORED,
  },
] as const satisfies readonly RugFeature[];

/** The name of a feature. */
export type FeatureName = (typeof RUG_FEATURES)[number]['name'];

/** What is known of one launch at the moment it is scored; `null` is missing. */
export type Features = { readonly [name in FeatureName]: number | null };
