// What each detector finds in observations, and the call that a finding is. Pure: a detector is
// handed what was received by its time, and nothing else.

import {
  addDecimals,
  compareDecimals,
  divideDecimals,
  multiplyDecimals,
} from '../../chain/amount.ts';
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

/** The rule of a kind, and the series that it needs whole. */
type Detector = {
  readonly needs: (observed: Observations) => readonly Cut<SeriesKind>[];
  readonly find: (observed: Observations, version: DetectorVersion) => DetectorFinding | null;
};

const HOUR_MS = HOUR_S * MS_PER_S;
const SHARE_DIGITS = 4;
const TWICE = '2';

export const DETECTORS: { readonly [K in DetectorKind]: Detector } = {
  funding: { needs: ({ funding }) => [funding], find: findFunding },
  liq: { needs: ({ liquidations }) => liquidations, find: findCascade },
  netflow: { needs: ({ net_flow }) => [net_flow], find: findNetFlow },
  whale: { needs: ({ whale_transfers }) => [whale_transfers], find: findWhales },
};

/**
 * Whether what a kind looks at was read whole. Of an asset that does not trade nothing else is
 * needed: nothing is called on it.
 */
export function isObserved(kind: DetectorKind, observed: Observations): boolean {
  const { listings, marks } = observed;
  const listing = newestRow(listings);
  const needs = [marks, ...DETECTORS[kind].needs(observed)];
  const isKnown = listings.isWhole && listing !== null;
  return isKnown && (listing.state !== 'trading' || needs.every(({ isWhole }) => isWhole));
}

/** The call of a version on an asset; `null`: it calls nothing, or not everything was read. */
export function callOn(version: DetectorVersion, observed: Observations): NewEmission | null {
  const { kind, bar, cooldown_h, horizon_h } = version;
  const { asset, at, listings, marks } = observed;
  const mark = newestRow(marks);
  const isTrading = newestRow(listings)?.state === 'trading';
  if (!isTrading || mark === null || !isObserved(kind, observed)) return null;
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

function findCascade(
  { liquidations, hour }: Observations,
  version: DetectorVersion,
): DetectorFinding | null {
  const last = liquidations.flatMap((cut) => rowsWithin(cut, hour, 1));
  const before = liquidations.flatMap((cut) => rowsWithin(cut, hour - HOUR_MS, HISTORY_HOURS));
  const found = (['long', 'short'] as const).map((direction) => {
    const now = notionalOf(last, direction);
    if (compareDecimals(now, parameterIn(version, 'least_usd')) < 0) return null;
    const usual = notionalOf(before, direction);
    // Without any liquidation before, there is nothing to compare with.
    if (compareDecimals(usual, '0') <= 0) return null;
    const multiple = multiplyDecimals(now, String(HISTORY_HOURS));
    const half = multiplyDecimals(usual, parameterIn(version, 'times_mean'));
    return { direction, conviction: convictionOf(multiple, half) };
  });
  const [strongest] = present(found).sort((a, b) => compareDecimals(b.conviction, a.conviction));
  if (strongest === undefined) return null;
  return { ...strongest, inputs: liquidations.flatMap(hourlyInputs) };
}

/** The hours of a venue that had liquidations, each as its sums: single ones are too many. */
function hourlyInputs(cut: Cut<'liquidations'>): readonly CallInput[] {
  return byHour(cut).map(({ at, rows }) => {
    const value = `long ${notionalOf(rows, 'long')}, short ${notionalOf(rows, 'short')}`;
    const received_at = Math.max(...rows.map((row) => row.received_at));
    const revision = Math.max(...rows.map((row) => row.revision));
    return inputOf(cut, { at, received_at, revision }, value);
  });
}

const DAY_HOURS = 24;
const DAYS_BEFORE = 13;

function netUsd(rows: readonly NetFlow[]): number {
  return rows.reduce((sum, { in_usd, out_usd }) => sum + Number(in_usd) - Number(out_usd), 0);
}

function findNetFlow(
  { net_flow, chainHour }: Observations,
  version: DetectorVersion,
): DetectorFinding | null {
  const dayEnding = (daysBack: number) =>
    netUsd(rowsWithin(net_flow, chainHour - daysBack * DAY_HOURS * HOUR_MS, DAY_HOURS));
  const before = Array.from({ length: DAYS_BEFORE }, (_, day) => dayEnding(day + 1));
  const mean = meanOf(before);
  const squares = before.map((net) => (net - mean) ** 2);
  const deviation = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / (before.length - 1));
  if (deviation === 0) return null;
  const distance = (dayEnding(0) - mean) / deviation;
  const strength = Math.abs(distance).toFixed(NUMBER_DIGITS);
  return {
    direction: distance > 0 ? 'short' : 'long',
    conviction: convictionOf(strength, parameterIn(version, 'deviations')),
    inputs: net_flow.rows.map((row) => {
      const value = `in ${row.in_usd}, out ${row.out_usd}`;
      return inputOf(net_flow, row, value);
    }),
  };
}

const NUMBER_DIGITS = 8;
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
