// How is one feature's share in a score told, in words and numbers?
// It says what was measured and which way it moved the score, and nothing of what to do.

import { type FeatureName, type Features, RUG_FEATURES } from '../../ports/flags/rug-features.ts';

const HOURS_A_DAY = 24;
const DAYS_FROM_H = 72;

/** The sentence for a feature of a launch and its contribution in log-odds. */
export function statementOf(name: FeatureName, features: Features, contribution: number): string {
  const value = features[name];
  const said = value === null ? unmeasured(name) : SENTENCES[name](value, features);
  const amount = Math.abs(contribution).toFixed(2);
  const way = contribution >= 0 ? 'raises' : 'lowers';
  return `${said}, which ${way} the log-odds of its death by ${amount}.`;
}

function unmeasured(name: FeatureName): string {
  const feature = RUG_FEATURES.find((one) => one.name === name);
  return `Not measured: ${name} (${feature?.missing.replace(/\.$/, '')})`;
}

const SENTENCES: { readonly [name in FeatureName]: (value: number, all: Features) => string } = {
  deployer_launches_before: (value) =>
    `${value} earlier ${launches(value)} by its deployer ${value === 1 ? 'was' : 'were'} read`,
  deployer_launches_in_week_before: (value) =>
    `${value} ${launches(value)} by its deployer fell into the week before`,
  deployer_settled_before: (value) =>
    `Of ${value} earlier ${launches(value)} by its deployer the fate was known`,
  deployer_died_before: (value, all) => `${ofSettled(value, all)} had died`,
  deployer_death_rate_before: (value, all) =>
    `${ofSettled(all.deployer_died_before, all)} had died (${percent(value)})`,
  deployer_hours_since_launch: (value) =>
    `Its deployer launched another token ${span(value)} before`,
  deployer_hours_since_first: (value) =>
    `The earliest launch read of its deployer was ${span(value)} before`,
  deployer_funded_hours_before: (value) =>
    `Its deployer’s address was first funded ${span(value)} before the launch`,
  liquidity_usd: (value) =>
    `It was launched with ${Math.round(value).toLocaleString('en')} USD of pooled liquidity`,
  holder_top10_share: (value) => `Its ten largest holders held ${percent(value)} of the supply`,
  owner_can_mint: (value) => `Somebody ${can(value)} make more of the token`,
  owner_can_block: (value) => `Somebody ${can(value)} stop holders from transferring`,
  ownership_renounced: (value) =>
    value === 0 ? 'Its contract names an owner' : 'Its contract names nobody as its owner',
  token_hours: (value) => `It was ${span(value)} old when it was scored`,
};

function ofSettled(died: number | null, { deployer_settled_before: settled }: Features): string {
  const of = settled === null ? 'an unknown number of' : settled;
  return `${died} of ${of} earlier ${launches(settled)} by its deployer whose fate was known`;
}

function launches(count: number | null): string {
  return count === 1 ? 'launch' : 'launches';
}

function can(value: number): string {
  return value === 0 ? 'cannot' : 'can';
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

function span(hours: number): string {
  return hours < DAYS_FROM_H
    ? `${hours.toFixed(1)} hours`
    : `${(hours / HOURS_A_DAY).toFixed(0)} days`;
}
