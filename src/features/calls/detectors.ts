// What each detector finds in observations, and the call that a finding is. Pure: a detector is
// handed what was received by its time, and nothing else.

import {
  addDecimals,
  compareDecimals,
  divideDecimals,
  multiplyDecimals,
} from '../../chain/amount.ts';
import { homeChain } from '../../chain/chain.ts';
import { HOUR_S, MS_PER_S } from '../../chain/time.ts';
import { collect, present } from '../../evidence/measure.ts';
import { meanOf } from '../../evidence/statistics.ts';
import type {
  CallInput,
  DetectorKind,
  DetectorVersion,
  Direction,
  NewEmission,
} from '../../ports/emitted-calls.ts';
import {
  fundingPer8h,
  type Kept,
  type Liquidation,
  type NetFlow,
  type SeriesKind,
  type SeriesRow,
} from '../../ports/series.ts';
import { makeEmission } from './call.ts';
import {
  type Cut,
  hoursHeard,
  isHeard,
  netToExchanges,
  newestRow,
  type Observations,
  PRICED_AT,
  rowsWithin,
} from './observations.ts';
import { callFeatures } from './ranked-features.ts';
import { parameterIn } from './versions.ts';

/** What a detector found: a direction with how sure it is, and what that rests on. */
export type DetectorFinding = {
  readonly direction: Direction;
  /** From 0 to 1, cut after four digits: a strength below the bar never reaches it by rounding. */
  readonly conviction: string;
  readonly inputs: readonly CallInput[];
};

/** The rule of a kind, the series that it rests on, and whether enough of them is known. */
type Detector = {
  readonly needs: (observed: Observations) => readonly Cut<SeriesKind>[];
  readonly isKnown: (observed: Observations, version: DetectorVersion) => boolean;
  readonly find: (observed: Observations, version: DetectorVersion) => DetectorFinding | null;
};

const HOUR_MS = HOUR_S * MS_PER_S;
const SHARE_DIGITS = 4;
const TWICE = '2';

export const DETECTORS: { readonly [K in DetectorKind]: Detector } = {
  funding: {
    needs: ({ funding }) => [funding],
    isKnown: ({ funding }) => funding.isWhole,
    find: findFunding,
  },
  liq: { needs: ({ liquidations }) => liquidations, isKnown: isCascadeKnown, find: findCascade },
  netflow: { needs: ({ net_flow }) => [net_flow], isKnown: isFlowKnown, find: findNetFlow },
  whale: {
    needs: ({ whale_transfers }) => [whale_transfers],
    isKnown: ({ whale_transfers, chainHour }, version) =>
      isHeard(whale_transfers, chainHour, isOfOwnCoins(version) ? WHALE_HOURS : DAY_HOURS),
    find: findWhales,
  },
};

/** Whether a version is about the own coins of chains alone. */
function isOfOwnCoins({ parameters }: DetectorVersion): boolean {
  return 'assets' in parameters;
}

/** Whether a version looks at an asset: one that chains do not show is nothing to theirs. */
export function concerns(version: DetectorVersion, asset: string): boolean {
  return !isOfOwnCoins(version) || homeChain(asset) !== null;
}

/**
 * Whether what a version looks at is known as far as it needs it. Of an asset that does not trade
 * nothing else is needed: nothing is called on it.
 */
export function isObserved(version: DetectorVersion, observed: Observations): boolean {
  const { listings, marks } = observed;
  const listing = newestRow(listings);
  const isListed = listings.isWhole && listing !== null;
  const isKnown = () => marks.isWhole && DETECTORS[version.kind].isKnown(observed, version);
  return isListed && (listing.state !== 'trading' || isKnown());
}

/** The call of a version on an asset; `null`: it calls nothing, or not everything was read. */
export function callOn(version: DetectorVersion, observed: Observations): NewEmission | null {
  const { kind, bar, cooldown_h, horizon_h } = version;
  const { asset, at, listings, marks } = observed;
  const mark = newestRow(marks);
  const isTrading = newestRow(listings)?.state === 'trading';
  if (!isTrading || mark === null || !isObserved(version, observed)) return null;
  const finding = DETECTORS[kind].find(observed, version);
  if (finding === null || compareDecimals(finding.conviction, bar) < 0) return null;
  const { direction, conviction } = finding;
  return makeEmission({
    kind,
    asset,
    venue: PRICED_AT,
    direction,
    conviction,
    price: mark.price,
    emitted_at: at,
    horizon_h,
    detector_version: version.version,
    bar,
    window: Math.floor(at / (cooldown_h * HOUR_S)),
    inputs: [inputOf(marks, mark, mark.price), ...finding.inputs],
    features: callFeatures(observed, finding),
    simulated: [listings, marks, ...DETECTORS[kind].needs(observed)].some((cut) => cut.simulated),
  });
}

/** How strong something is in units of a strength at which half of the way to 1 is reached. */
function convictionOf(strength: string, half: string): string {
  const share = divideDecimals(strength, multiplyDecimals(half, TWICE), SHARE_DIGITS);
  return compareDecimals(share, '1') > 0 ? '1' : share;
}

function inputOf<S extends SeriesKind>(
  { name }: Pick<Cut<S>, 'name'>,
  { at, received_at, revision }: Pick<Kept<SeriesRow<S>>, 'at' | 'received_at' | 'revision'>,
  value: string,
): CallInput {
  const { venue, series, of } = name;
  return { venue, series, of, at_ms: at, received_at_ms: received_at, revision, value };
}

function sizeOf(decimal: string): string {
  return decimal.startsWith('-') ? decimal.slice(1) : decimal;
}

function sumOf(values: readonly string[]): string {
  return values.reduce(addDecimals, '0');
}

function findFunding({ funding }: Observations, version: DetectorVersion): DetectorFinding | null {
  const newest = newestRow(funding);
  if (newest === null) return null;
  const rate = fundingPer8h(newest);
  const value = `${newest.rate} per ${newest.interval_s} s`;
  return {
    direction: compareDecimals(rate, '0') > 0 ? 'short' : 'long',
    conviction: convictionOf(sizeOf(rate), parameterIn(version, 'threshold_8h')),
    inputs: [inputOf(funding, newest, value)],
  };
}

type Hourly = { readonly at: number; readonly rows: Kept<Liquidation>[] };

/** The liquidations of each hour that had some, in the order of time. */
function byHour({ rows }: Cut<'liquidations'>): readonly Hourly[] {
  const hours = new Map<number, Kept<Liquidation>[]>();
  for (const row of rows) collect(hours, Math.floor(row.at / HOUR_MS) * HOUR_MS, row);
  return [...hours].map(([at, of]) => ({ at, rows: of }));
}

function notionalOf(rows: readonly Liquidation[], side: Direction): string {
  return sumOf(rows.filter((row) => row.side === side).map(({ notional }) => notional));
}

const HISTORY_HOURS = 167;

/** What a venue told of the last hour, and of those before it that were heard whole. */
type VenueHours = {
  readonly cut: Cut<'liquidations'>;
  readonly last: readonly Kept<Liquidation>[];
  readonly heard: number;
  readonly before: readonly Hourly[];
};

function hoursOf(cut: Cut<'liquidations'>, hour: number): VenueHours {
  const heard = new Set(hoursHeard(cut, hour - HOUR_MS, HISTORY_HOURS));
  const before = byHour(cut).filter(({ at }) => heard.has(at));
  return { cut, last: rowsWithin(cut, hour, 1), heard: heard.size, before };
}

/** A socket that began anew leaves a hole: its hour is in no mean, the last one has to be whole. */
function isCascadeKnown({ liquidations, hour }: Observations, version: DetectorVersion): boolean {
  const { least_hours = String(HISTORY_HOURS) } = version.parameters;
  return liquidations.every(
    (cut) => isHeard(cut, hour, 1) && hoursOf(cut, hour).heard >= Number(least_hours),
  );
}

function findCascade(
  { liquidations, hour }: Observations,
  version: DetectorVersion,
): DetectorFinding | null {
  const venues = liquidations.map((cut) => hoursOf(cut, hour));
  // Sums over so many hours of each venue are compared, for a mean may have no end of digits.
  const hours = venues.reduce((product, { heard }) => product * heard, 1);
  const found = (['long', 'short'] as const).map((direction) => {
    const last = venues.flatMap((one) => one.last);
    const now = notionalOf(last, direction);
    if (compareDecimals(now, parameterIn(version, 'least_usd')) < 0) return null;
    const usual = sumOf(
      venues.map(({ heard, before }) => {
        const rows = before.flatMap((one) => one.rows);
        return multiplyDecimals(notionalOf(rows, direction), String(hours / heard));
      }),
    );
    // Without any liquidation before, there is nothing to compare with.
    if (compareDecimals(usual, '0') <= 0) return null;
    const multiple = multiplyDecimals(now, String(hours));
    const half = multiplyDecimals(usual, parameterIn(version, 'times_mean'));
    return { direction, conviction: convictionOf(multiple, half) };
  });
  const [strongest] = present(found).sort((a, b) => compareDecimals(b.conviction, a.conviction));
  if (strongest === undefined) return null;
  const tellsHeard = 'least_hours' in version.parameters;
  return { ...strongest, inputs: venues.flatMap((one) => hourlyInputs(one, hour, tellsHeard)) };
}

/**
 * The hours of a venue that had liquidations, each as its sums: single ones are too many. The
 * newest tells how many hours its mean is of, since one without a liquidation is no input.
 */
function hourlyInputs(
  { cut, last, before, heard }: VenueHours,
  hour: number,
  tellsHeard: boolean,
): readonly CallInput[] {
  const own = last.length === 0 ? [] : [{ at: hour - HOUR_MS, rows: last }];
  const hours = [...before, ...own];
  return hours.map(({ at, rows }, n) => {
    const sums = `long ${notionalOf(rows, 'long')}, short ${notionalOf(rows, 'short')}`;
    const isTold = tellsHeard && n === hours.length - 1;
    const value = isTold ? `${sums}; ${heard} of ${HISTORY_HOURS} hours before heard` : sums;
    const received_at = Math.max(...rows.map((row) => row.received_at));
    const revision = Math.max(...rows.map((row) => row.revision));
    return inputOf(cut, { at, received_at, revision }, value);
  });
}

const DAY_HOURS = 24;
const DAYS_BEFORE = 13;

/** The days before the last, counted back from 1, that are held whole. */
function daysHeld({ net_flow, chainHour }: Observations): readonly number[] {
  return Array.from({ length: DAYS_BEFORE }, (_, day) => day + 1).filter((day) =>
    isHeard(net_flow, chainHour - day * DAY_HOURS * HOUR_MS, DAY_HOURS),
  );
}

function isFlowKnown(observed: Observations, version: DetectorVersion): boolean {
  const { least_days = String(DAYS_BEFORE) } = version.parameters;
  const { net_flow, chainHour } = observed;
  const isLastHeld = isHeard(net_flow, chainHour, DAY_HOURS);
  return isLastHeld && daysHeld(observed).length >= Number(least_days);
}

function netUsd(rows: readonly NetFlow[]): number {
  return rows.reduce((sum, { in_usd, out_usd }) => sum + Number(in_usd) - Number(out_usd), 0);
}

function findNetFlow(observed: Observations, version: DetectorVersion): DetectorFinding | null {
  const { net_flow, chainHour } = observed;
  const rowsOf = (daysBack: number) =>
    rowsWithin(net_flow, chainHour - daysBack * DAY_HOURS * HOUR_MS, DAY_HOURS);
  const days = daysHeld(observed);
  const before = days.map((day) => netUsd(rowsOf(day)));
  const mean = meanOf(before);
  const squares = before.map((net) => (net - mean) ** 2);
  const deviation = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / (before.length - 1));
  if (deviation === 0) return null;
  const distance = (netUsd(rowsOf(0)) - mean) / deviation;
  const strength = Math.abs(distance).toFixed(NUMBER_DIGITS);
  return {
    direction: distance > 0 ? 'short' : 'long',
    conviction: convictionOf(strength, parameterIn(version, 'deviations')),
    inputs: [...days.toReversed(), 0].flatMap(rowsOf).map((row) => {
      const value = `in ${row.in_usd}, out ${row.out_usd}`;
      return inputOf(net_flow, row, value);
    }),
  };
}

const NUMBER_DIGITS = 8;
/** Of these hours transfers are set off against each other. */
const WHALE_HOURS = 4;
/** Of more transfers the largest count. */
const WHALES_MAX = 400;

function findWhales(
  { whale_transfers, chainHour }: Observations,
  version: DetectorVersion,
): DetectorFinding | null {
  const moved = rowsWithin(whale_transfers, chainHour, WHALE_HOURS)
    .filter((row) => netToExchanges(row) !== null)
    .sort((a, b) => compareDecimals(b.usd, a.usd))
    .slice(0, WHALES_MAX);
  if (moved.length === 0) return null;
  const net = sumOf(present(moved.map(netToExchanges)));
  return {
    direction: compareDecimals(net, '0') > 0 ? 'short' : 'long',
    conviction: convictionOf(sizeOf(net), parameterIn(version, 'least_usd')),
    inputs: moved.map((row) => {
      const from = row.from_label === null ? row.from : row.from_label;
      const to = row.to_label === null ? row.to : row.to_label;
      return inputOf(whale_transfers, row, `${row.usd} from ${from} to ${to}, ${row.tx}`);
    }),
  };
}
