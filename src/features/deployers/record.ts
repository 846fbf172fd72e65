// A rate is over listed launches alone. What was not checked is in no rate and is named.

import { DAY_S, formatIsoTime, HOUR_S, type UnixSeconds } from '../../chain/time.ts';
import { claim } from '../../evidence/claim.ts';
import { present, rate } from '../../evidence/measure.ts';
import { type Partly, type Read, type Reading, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type CommittedRecord,
  DEPLOYER_CHAIN,
  type DeployerRecordsPort,
  type DeployerWalk,
  type LaunchOutcome,
  type ListedPool,
  type ObservedLaunch,
  omissionsIn,
  SKIP_REASONS,
  type TransfersObserved,
} from '../../ports/deployers.ts';

/** The state of a record. `unchecked`: what would decide another state was not read. */
export const RECORD_STATES = ['all_died', 'mixed', 'no_listed_launch', 'unchecked'] as const;
type RecordState = (typeof RECORD_STATES)[number];

/** The launches of a walk, counted by what became of them. */
type LaunchCounts = {
  readonly listed_launches: number;
  readonly died: number;
  readonly survived: number;
  readonly never_listed: number;
  readonly unchecked: number;
  /** `died` of `listed_launches`; `null` where none is listed. */
  readonly death_rate: number | null;
};

/** Counts launches by what became of them. */
export function countsOf(launches: readonly Pick<ObservedLaunch, 'outcome'>[]): LaunchCounts {
  const countOf = (outcome: LaunchOutcome) =>
    launches.filter((launch) => launch.outcome === outcome).length;
  const died = countOf('died');
  const survived = countOf('live');
  const listed_launches = died + survived;
  return {
    listed_launches,
    died,
    survived,
    never_listed: countOf('never_listed'),
    unchecked: countOf('unchecked'),
    death_rate: rate(died, listed_launches),
  };
}

/**
 * Describes the unread parts of a walk; `null` for a complete walk with each contract determined
 * and each launch checked.
 */
function unreadInWalk(walk: DeployerWalk): string | null {
  const { truncated, unchecked, undetermined } = omissionsIn(walk);
  const parts = [
    ...(truncated ? ['not all of its contracts were read'] : []),
    ...(unchecked > 0 ? [`${unchecked} of its launches could not be checked`] : []),
    ...(undetermined > 0 ? [`${undetermined} of its contracts could not be determined`] : []),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

/** A record, as a part where its walk did not read everything. */
export function wholeRecord<P extends string>(
  reading: Reading<CommittedRecord, P>,
): Partly<CommittedRecord, P> {
  const unread = reading.checked ? unreadInWalk(reading.value) : null;
  return unread === null ? reading : weaken(reading, why('deployer_walk_in_part', { unread }));
}

/**
 * The state of a record. One launch that lives decides it; what is said of every launch needs all
 * of them to be read.
 */
function stateOf(walk: DeployerWalk): RecordState {
  const { survived, listed_launches } = countsOf(walk.launches);
  if (survived > 0) return 'mixed';
  if (!omissionsIn(walk).isWhole) return 'unchecked';
  return listed_launches > 0 ? 'all_died' : 'no_listed_launch';
}

const CAVEAT =
  'What was observed when it was captured, not a rating: nothing here is scored, and a record ' +
  'without a death is no clearance. Attributed are contracts that the address made itself and ' +
  'those of one level of factories that it made; launches through a public launchpad are not. ' +
  'Liquidity is what the venue reports over the pools of a token, which can be inflated.';

/** The fields of a record, in plain values. */
export function recordFields({ failed, ...walk }: CommittedRecord, now: UnixSeconds) {
  const { unchecked, ...counts } = countsOf(walk.launches);
  return {
    address: walk.address,
    chain: DEPLOYER_CHAIN as typeof DEPLOYER_CHAIN,
    state: stateOf(walk),
    calibrated: false as const,
    ...counts,
    launches: walk.launches.map((one) => launchFields(one, walk)),
    finding: findingOf({ ...walk, failed }, now),
    coverage: {
      captured_at: walk.captured_at,
      direct_creations: walk.direct_creations,
      factories_walked: walk.factories_walked,
      factory_depth: 1 as const,
      truncated: walk.truncated,
      truncated_factories: [...walk.truncated_factories],
      contracts_examined: walk.launches.length + walk.skipped.length,
      skipped: [...walk.skipped],
      unchecked,
      providers: [...walk.providers],
    },
    caveat: CAVEAT,
  };
}

function launchFields({ factory, ...launch }: ObservedLaunch, { captured_at }: DeployerWalk) {
  return {
    address: launch.address,
    outcome: launch.outcome,
    created_at: launch.created_at,
    observed_age_days: ageDays(captured_at - launch.created_at),
    liquidity_usd: launch.liquidity_usd,
    volume_usd_24h: launch.volume_usd_24h,
    transfers_observed: launch.transfers_observed,
    transfers_truncated: launch.transfers_truncated,
    via: factory === null ? null : `factory:${factory}`,
  };
}

/** A span in days, to two decimals. */
function ageDays(seconds: number): number {
  return Math.max(0, Math.round((seconds / DAY_S) * 100) / 100);
}

function findingOf(record: CommittedRecord, now: UnixSeconds): string {
  const counts = countsOf(record.launches);
  const sentences = [
    leadOf(record, counts),
    unlistedText(record, counts),
    uncheckedText(counts),
    pairsText(record, counts),
    undeterminedText(record),
    record.truncated ? 'Not everything was read: counts are a floor, not a total.' : null,
    failureIn(record),
    `It was captured ${ageText(now - record.captured_at)} ago.`,
  ];
  return sentences.filter((one) => one !== null).join(' ');
}

function pairsText({ pairs_unread }: DeployerWalk, { never_listed }: LaunchCounts): string | null {
  const what = 'Whether an exchange ever made a pair of what no venue lists was not read.';
  if (pairs_unread === undefined) return never_listed > 0 ? what : null;
  return pairs_unread === null ? null : `${what} ${pairs_unread}`;
}

function leadOf(walk: DeployerWalk, counts: LaunchCounts): string {
  const { listed_launches: listed, died, survived, never_listed, unchecked } = counts;
  const level = `${walk.exit_liquidity_usd.toLocaleString('en')} USD of pooled liquidity`;
  const least = walk.truncated ? 'At least ' : '';
  switch (stateOf(walk)) {
    case 'all_died':
      return `${listed} of ${listed} listed ${launches(listed)} now below ${level}.`;
    case 'mixed':
      return (
        `${least}${died} of ${listed} listed ${launches(listed)} now below ${level}; ` +
        `${survived} still above it.`
      );
    case 'no_listed_launch':
      return `${never_listed} ERC-20 ${launches(never_listed)}: no venue lists a pair.`;
    case 'unchecked':
      if (died > 0) {
        return (
          `At least ${died} listed ${launches(died)} now below ${level}; ` +
          'whether another one lives is not known.'
        );
      }
      return unchecked > 0
        ? 'Whether a launch of this address is listed could not be checked.'
        : 'Whether this address launched a listed token could not be determined.';
  }
}

function unlistedText(walk: DeployerWalk, { never_listed }: LaunchCounts): string | null {
  if (never_listed === 0 || stateOf(walk) === 'no_listed_launch') return null;
  return `${never_listed} further ${launches(never_listed)} never listed: in no rate.`;
}

function uncheckedText({ unchecked }: LaunchCounts): string | null {
  if (unchecked === 0) return null;
  const what = `${unchecked} ${launches(unchecked)}`;
  return `${what} could not be checked: in no rate, and no death.`;
}

function undeterminedText(walk: DeployerWalk): string | null {
  const count = omissionsIn(walk).undetermined;
  if (count === 0) return null;
  const what = count === 1 ? 'contract' : 'contracts';
  return `${count} ${what} could not be determined, which is not a finding.`;
}

function failureIn({ failed }: CommittedRecord): string | null {
  if (failed === null) return null;
  const at = formatIsoTime(failed.at);
  return `A newer walk, of ${at}, failed: ${failed.reason} This is the record before it.`;
}

const MINUTE_S = 60;

/** A span in the largest unit of which there are two. */
function ageText(seconds: number): string {
  const units = [
    ['days', DAY_S],
    ['hours', HOUR_S],
    ['minutes', MINUTE_S],
  ] as const;
  const unit = units.find(([, s]) => seconds >= 2 * s);
  if (unit === undefined) return 'less than two minutes';
  const [name, s] = unit;
  return `${Math.floor(seconds / s)} ${name}`;
}

function launches(count: number): string {
  return count === 1 ? 'launch' : 'launches';
}

// A death is said only where every pool of the token tells its liquidity, and all of them together
// hold less than a buyer could leave through.

/** The outcome of a launch, with the figures behind it. Amounts in US dollars. */
export type MeasuredOutcome = {
  readonly outcome: LaunchOutcome;
  readonly liquidity_usd: number | null;
  readonly volume_usd_24h: number | null;
};

/** A fact about a launch; `null` if it could not be read. */
export type Observed = {
  readonly pools: readonly ListedPool[] | null;
  readonly transfers: TransfersObserved | null;
  /**
   * The outcome from the walk before, for a launch that a venue has listed; `null` for any other.
   */
  readonly listedAs: LaunchOutcome | null;
};

const CENTS = 100;

/** The outcome of a launch. `exitLiquidityUsd` is the level below which a listed one has died. */
export function measureOutcome(
  { pools, transfers, listedAs }: Observed,
  exitLiquidityUsd: number,
): MeasuredOutcome {
  if (pools === null) return { outcome: 'unchecked', liquidity_usd: null, volume_usd_24h: null };
  if (pools.length === 0 && listedAs !== null) {
    // The venue dropped its pairs. What had died stays dead; what else held is not told any more.
    const outcome = listedAs === 'died' ? 'died' : 'unchecked';
    return { outcome, liquidity_usd: null, volume_usd_24h: null };
  }
  const own = pools.filter(({ side }) => side === 'base');
  const held = sumOf(own.map((pool) => pool.liquidity_usd));
  const untouched = transfers !== null && transfers.count === 0;
  const said = decideOutcome(pools, held, exitLiquidityUsd);
  // Of a token that nobody ever moved there was nothing to sell.
  const outcome = said === 'died' && untouched ? 'never_listed' : said;
  if (outcome === 'never_listed') return { outcome, liquidity_usd: null, volume_usd_24h: null };
  const volume_usd_24h = cents(sumOf(own.map((pool) => pool.volume_usd_24h)));
  return { outcome, liquidity_usd: cents(held), volume_usd_24h };
}

function decideOutcome(
  pools: readonly ListedPool[],
  ownLiquidityUsd: number | null,
  exitLiquidityUsd: number,
): LaunchOutcome {
  if (pools.length === 0) return 'never_listed';
  if (ownLiquidityUsd !== null && ownLiquidityUsd >= exitLiquidityUsd) return 'live';
  if (pools.some(({ liquidity_usd }) => liquidity_usd === null)) return 'unchecked';
  const all = sumOf(pools.map(({ liquidity_usd }) => liquidity_usd));
  // A pool whose other token is told of could still be a way out.
  return all !== null && all < exitLiquidityUsd ? 'died' : 'unchecked';
}

/** The sum of what is told; `null` where nothing is. */
function sumOf(amounts: readonly (number | null)[]): number | null {
  const told = present(amounts);
  if (told.length === 0) return null;
  return told.reduce((sum, one) => sum + one);
}

/** An amount as it is shown; what follows from it was decided before. */
function cents(usd: number | null): number | null {
  return usd === null ? null : Math.round(usd * CENTS) / CENTS;
}

// Shows a committed record in an answer. Every count and list of it is a claim on the one reading
// that held the record.

/** A record of somebody who made a contract, as answers show it. */
export function recordView(reading: Read<CommittedRecord, DeployerRecordsPort>, now: UnixSeconds) {
  const { coverage, ...record } = recordFields(reading.value, now);
  return {
    ...record,
    state: claim(reading, () => record.state),
    listed_launches: claim(reading, () => record.listed_launches),
    died: claim(reading, () => record.died),
    survived: claim(reading, () => record.survived),
    never_listed: claim(reading, () => record.never_listed),
    death_rate: claim(reading, () => record.death_rate),
    launches: claim(reading, () => record.launches),
    coverage: {
      ...coverage,
      factories_walked: claim(reading, () => coverage.factories_walked),
      truncated: claim(reading, () => coverage.truncated),
      truncated_factories: claim(reading, () => coverage.truncated_factories),
      skipped: claim(reading, () => coverage.skipped),
      unchecked: claim(reading, () => coverage.unchecked),
    },
  };
}

// Why does an address or a chain have no deployer record?

/**
 * The reasons why each chain's creations cannot be read completely; other chains were never
 * reviewed.
 */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['base', 'the free plan of its explorer answers no contract and transaction lists'],
  ['bsc', 'the free plan of its explorer answers no contract and transaction lists'],
  ['arbitrum', 'what runs before and after a transaction shows in no trace or receipt'],
  ['hyperevm', 'what its system transactions do shows in no trace or receipt'],
  ['solana', 'its launches have no creating account; they are read from a corpus by signer'],
  ['bitcoin', 'it makes no contracts'],
]);
const UNREVIEWED = 'no source of its contract creations has been reviewed';

export function chainNotServed(chain: string): Why {
  const refusal = REFUSALS.get(chain);
  const because = refusal === undefined ? UNREVIEWED : refusal;
  return why('deployer_chain_not_served', { chain, refusal: because });
}

/** Why a whole walk answers no record; `null` where it credits a token, or was not whole. */
export function whyNoRecord(record: CommittedRecord): Why | null {
  const { failed, ...walk } = record;
  if (walk.launches.length > 0 || !omissionsIn(walk).isWhole) return null;
  const at = formatIsoTime(walk.captured_at);
  const examined = examinedText(walk);
  if (failed !== null) {
    const newer = `A newer walk, of ${formatIsoTime(failed.at)}, failed: ${failed.reason}`;
    return why('no_record_outdated', { at, examined, newer });
  }
  const contracts = walk.direct_creations;
  if (contracts === 0) return why('no_record', { at, examined });
  return why('no_record_no_token', { at, contracts: String(contracts), examined });
}

function examinedText({ skipped }: DeployerWalk): string {
  if (skipped.length === 0) return 'No creation by it was met.';
  const kinds = SKIP_REASONS.flatMap((reason) => {
    const count = skipped.filter((one) => one.reason === reason).length;
    return count === 0 ? [] : [`${count} ${reason}`];
  });
  return `Skipped: ${kinds.join(', ')}.`;
}
