// What a ranker may rest on of a call: measures of what was received by its emission. A measure of
// a series that was not read whole is null. Pure.

import { parseDecimal } from '../../chain/amount.ts';
import { HOUR_S, MS_PER_S } from '../../chain/time.ts';
import { present } from '../../evidence/measure.ts';
import { meanOf } from '../../evidence/statistics.ts';
import type { EmissionStatement } from '../../ports/emitted-calls.ts';
import { fundingPer8h, type Liquidation } from '../../ports/series.ts';
import {
  hoursHeard,
  isHeard,
  netToExchanges,
  newestRow,
  type Observations,
  rowsWithin,
} from './observations.ts';

const HOUR_MS = HOUR_S * MS_PER_S;
const DAY_HOURS = 24;
const WEEK_HOURS = 168;
const DIGITS = 8;

type Finding = Pick<EmissionStatement, 'direction' | 'conviction'>;
type Measure = (observed: Observations, finding: Pick<Finding, 'direction'>) => number | null;

/** The measures by their names, each in the unit that its name ends with, or a fraction. */
export const CALL_FEATURES = {
  is_long: (_observed, { direction }) => (direction === 'long' ? 1 : 0),
  funding_8h: ({ funding }) => {
    const newest = newestRow(funding);
    return newest === null || !funding.isWhole ? null : Number(fundingPer8h(newest));
  },
  funding_8h_mean_7d: ({ funding }) => {
    if (!funding.isWhole || funding.rows.length === 0) return null;
    return meanOf(funding.rows.map((row) => Number(fundingPer8h(row))));
  },
  return_24h: (observed) => returnOver(observed, DAY_HOURS),
  return_7d: (observed) => returnOver(observed, WEEK_HOURS),
  deviation_7d: (observed) => deviationOver(observed),
  open_interest_change_24h: ({ open_interest, hour }) => {
    if (!open_interest.isWhole) return null;
    const now = newestRow(open_interest);
    const before = open_interest.rows.findLast(({ at }) => at <= hour - DAY_HOURS * HOUR_MS);
    if (now === null || before === undefined || Number(before.contracts) === 0) return null;
    return Number(now.contracts) / Number(before.contracts) - 1;
  },
  liquidated_long_24h_usd: (observed) => liquidatedUsd(observed, 'long'),
  liquidated_short_24h_usd: (observed) => liquidatedUsd(observed, 'short'),
  net_flow_24h_usd: ({ net_flow, chainHour }) => {
    if (!isHeard(net_flow, chainHour, DAY_HOURS)) return null;
    const day = rowsWithin(net_flow, chainHour, DAY_HOURS);
    return day.reduce((sum, row) => sum + Number(row.in_usd) - Number(row.out_usd), 0);
  },
  whales_to_exchanges_24h_usd: ({ whale_transfers, chainHour }) => {
    if (!isHeard(whale_transfers, chainHour, DAY_HOURS)) return null;
    const moved = rowsWithin(whale_transfers, chainHour, DAY_HOURS).map(netToExchanges);
    return present(moved).reduce((sum, usd) => sum + Number(usd), 0);
  },
} as const satisfies { readonly [name: string]: Measure };

/** The features of a finding as decimal text, its conviction among them. */
export function callFeatures(
  observed: Observations,
  finding: Finding,
): Readonly<Record<string, string | null>> {
  const measured = Object.entries<Measure>(CALL_FEATURES).map(([name, measure]) => {
    const value = measure(observed, finding);
    return [name, value === null ? null : parseDecimal(value.toFixed(DIGITS))] as const;
  });
  return Object.fromEntries([['conviction', finding.conviction] as const, ...measured]);
}

/** From the open of the first candle of some hours to the close of the last. */
function returnOver({ candles, hour }: Observations, hours: number): number | null {
  if (!candles.isWhole) return null;
  const held = rowsWithin(candles, hour, hours);
  const [first, last] = [held[0], held.at(-1)];
  if (first === undefined || last === undefined || held.length < hours) return null;
  return Number(last.close) / Number(first.open) - 1;
}

/** The deviation of hourly returns. */
function deviationOver({ candles, hour }: Observations): number | null {
  if (!candles.isWhole) return null;
  const held = rowsWithin(candles, hour, WEEK_HOURS);
  if (held.length < WEEK_HOURS) return null;
  const returns = held.map(({ open, close }) => Number(close) / Number(open) - 1);
  const mean = meanOf(returns);
  return Math.sqrt(meanOf(returns.map((one) => (one - mean) ** 2)));
}

/** Each venue over its hours that were heard whole, as much as in 24 of them. */
function liquidatedUsd(
  { liquidations, hour }: Observations,
  side: Liquidation['side'],
): number | null {
  const venues = liquidations.map((cut) => {
    const heard = new Set(hoursHeard(cut, hour, DAY_HOURS));
    const rows = cut.rows.filter((row) => heard.has(Math.floor(row.at / HOUR_MS) * HOUR_MS));
    const usd = rows.reduce(
      (sum, row) => (row.side === side ? sum + Number(row.notional) : sum),
      0,
    );
    return heard.size < HEARD_HOURS_MIN ? null : (usd * DAY_HOURS) / heard.size;
  });
  return present(venues).length < venues.length
    ? null
    : present(venues).reduce((sum, usd) => sum + usd, 0);
}

/** A socket begins anew once a day at least, so that no day is heard whole. */
const HEARD_HOURS_MIN = 20;
