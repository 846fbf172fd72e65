// The shapes of the edge's answers. A rate stands beside the number that it is of, and is `null`
// where nothing was measured.

import { z } from 'zod';
import { DATA_MODES } from '../../contract/answer.ts';
import {
  checkedFlag,
  emptyUnless,
  harmless,
  isoDay,
  isoTime,
  negative,
  oneOf,
  prose,
  rowFact,
  sharedShape,
  unixSeconds,
  words,
} from '../../contract/wire.ts';
import { DETECTOR_KINDS, DIRECTIONS } from '../../ports/emitted-calls.ts';

const CALLS = { restsOn: ['emitted_calls'] } as const;
const CANDLES = { restsOn: ['market_series'] } as const;

/** Points of a curve that are shown. */
export const EQUITY_POINTS_MAX = 1_000;

const DECAYS = ['unknown', 'decaying', 'improving', 'stable'] as const;
export type Decay = (typeof DECAYS)[number];
const DEPRECATIONS = ['hypothesis', 'active', 'probation', 'deprecated'] as const;
export type DetectorStanding = (typeof DEPRECATIONS)[number];

/** The routes that answer each for themselves. */
export const HANDLERS = ['backtest', 'replay', 'performance'] as const;

const count = z.int().nonnegative();
const share = z.number().min(0).max(1);
const bps = z.number().nullable();
const callFact = <S extends z.ZodType>(schema: S) => rowFact(schema, CALLS);
const dataMode = oneOf(DATA_MODES).describe('`empty`: no call is on record.');
const asOf = harmless(unixSeconds.nullable(), 'a time denies nothing').describe(
  'The last full hour that the record reaches, in Unix seconds; `null`: it has not begun.',
);
const interval = z.strictObject({ low: share, high: share });

/** An answer that could not be made, under 200: the other routes answer for themselves. */
export const edgeFailure = sharedShape(
  'EdgeFailure',
  z.strictObject({ error: prose().min(1), handler: oneOf(HANDLERS) }),
);

const measures = {
  n: negative(count, CALLS).describe('Calls that the filter keeps.'),
  closed: callFact(count),
  open: callFact(count).describe('Whose horizon is not over, or not settled yet.'),
  unpriced: callFact(count).describe('Without a price at an end: they are in no rate.'),
  hit_rate: callFact(share.nullable()).describe('Closed calls with a net return over zero.'),
  interval: callFact(interval.nullable()).describe(
    'Wilson’s at 95%, over effective_n: calls of one asset that overlap count as one.',
  ),
  effective_n: callFact(z.number().nonnegative()),
  mean_return_bps: callFact(bps).describe('After funding and cost, of a closed call.'),
  median_return_bps: callFact(bps),
  gross: z
    .strictObject({
      hit_rate: callFact(share.nullable()),
      mean_return_bps: callFact(bps),
      median_return_bps: callFact(bps),
    })
    .describe('Before funding and cost.'),
  mean_funding_bps: callFact(bps).describe('Paid while held; received is below zero.'),
  breakeven_cost_bps: callFact(bps).describe('The round trip at which the mean return is zero.'),
};

const kindMeasures = sharedShape('EdgeMeasures', z.strictObject(measures));

const filterShown = sharedShape(
  'EdgeFilter',
  z.strictObject({
    kinds: z.array(oneOf(DETECTOR_KINDS)).min(1),
    asset: words().nullable(),
    direction: oneOf(DIRECTIONS).nullable(),
    horizon_h: rowFact(z.int().nullable()),
    days: rowFact(z.number()),
    cost_bps: rowFact(z.number()),
    min_conviction: rowFact(share.nullable()),
    trials: rowFact(z.int().positive().nullable()),
  }),
);

export const TEST_REASONS = ['no_closed_call', 'hours_unread', 'span_too_short'] as const;
export const DEFLATION_REASONS = ['no_sharpe', 'family_unmeasured'] as const;

const baseline = z.strictObject({
  buy_and_hold: z
    .strictObject({
      mean_return_bps: callFact(bps),
      total_return: callFact(z.number().nullable()),
    })
    .nullable()
    .describe('The same assets in the same hours, held long, without cost and funding.'),
  random_entries: z
    .strictObject({
      p: callFact(share.nullable()).describe(
        'How often the whole set, moved in time, gained at least as much: (b + 1) ÷ (m + 1).',
      ),
      entries: callFact(count),
      seed: callFact(count),
      reason: oneOf(TEST_REASONS).nullable().describe('Why p is `null`.'),
    })
    .describe('Number, assets, directions, horizons, spacing and overlap stay what they are.'),
});

const deflated = z.strictObject({
  probability: callFact(share.nullable()).describe(
    'That the true ratio is over zero although the best of `trials` was taken.',
  ),
  sharpe_0: callFact(z.number().nullable()).describe(
    'The daily ratio that the best of so many tries without any edge would show.',
  ),
  trials: callFact(z.int().positive()).describe(
    'The largest of the listed family, `trials` and `counted`: a floor, since tries that nobody ' +
      'told of are not in it.',
  ),
  variance: callFact(z.number().nullable()).describe('Of the daily ratios of the listed family.'),
  skew: callFact(z.number().nullable()),
  kurtosis: callFact(z.number().nullable()).describe('Raw: that of a normal distribution is 3.'),
  n: callFact(count).describe('Days.'),
  reason: oneOf(DEFLATION_REASONS).nullable(),
});

export const backtestAnswer = sharedShape(
  'Backtest',
  z.strictObject({
    filter: filterShown,
    ...measures,
    sharpe: callFact(z.number().nullable()).describe(
      'Daily mean ÷ deviation × √365; `null` under 30 days or without any deviation.',
    ),
    sharpe_n: callFact(count).describe('Whole UTC days that count.'),
    days_unread: callFact(count).describe(
      'Whole days in which nothing was held and a producer did not run: they count nowhere.',
    ),
    max_drawdown: callFact(share.nullable()).describe('On hourly equity.'),
    equity: negative(
      z
        .array(z.strictObject({ t: unixSeconds, v: z.number() }))
        .max(EQUITY_POINTS_MAX)
        .nullable(),
      CALLS,
    ).describe(
      'An equal part in each call that is open in an hour, compounded; 1 at first. ' +
        '`null`: the hours between their ends were not read.',
    ),
    by_kind: z.strictObject({
      funding: kindMeasures.optional(),
      liq: kindMeasures.optional(),
      netflow: kindMeasures.optional(),
      whale: kindMeasures.optional(),
    }),
    taker_fees: z
      .array(z.strictObject({ venue: words(), round_trip_bps: rowFact(z.number()) }))
      .min(1)
      .describe('What taking twice costs at the base tier of each venue, as it publishes it.'),
    biased: negative(z.boolean(), CALLS).describe(
      'The question reaches under the highest bar that was in force: such calls exist in part.',
    ),
    bias_reason: prose().nullable(),
    baseline,
    deflated,
    counted: z
      .strictObject({ distinct: z.int().positive(), since: isoTime })
      .nullable()
      .describe('Distinct filters that the membership of the key tried; `null`: no key was sent.'),
    candles: z
      .strictObject({
        checked: checkedFlag(CANDLES),
        hours_unread: emptyUnless('checked', count).describe(
          'Hours that calls were held and whose candle was not read.',
        ),
        reason: prose().nullable(),
      })
      .nullable()
      .describe('What the hours between entry and exit rest on; `null`: no call is closed.'),
    caveat: prose().min(1),
    as_of: asOf,
    data_mode: dataMode,
  }),
);

export const filterList = sharedShape(
  'EdgeFilterList',
  z.strictObject({
    filters: negative(
      z.array(
        z.strictObject({
          kind: z.enum(DETECTOR_KINDS).nullable(),
          asset: z.string().nullable(),
          direction: z.enum(DIRECTIONS).nullable(),
          min_conviction: z.number().nullable(),
          closed: count,
          sharpe: z.number().nullable(),
        }),
      ),
      CALLS,
    ).describe('Combinations with at least 30 closed calls; `null` keeps all.'),
    count: negative(count, CALLS),
    days: rowFact(z.number()),
    cost_bps: rowFact(z.number()),
    caveat: prose().min(1),
    as_of: asOf,
    data_mode: dataMode,
  }),
);

const closingShown = {
  entry: callFact(z.string()).nullable(),
  entry_at: isoTime.nullable(),
  exit: callFact(z.string()).nullable(),
  exit_at: isoTime.nullable(),
  gross_return: callFact(z.string()).nullable(),
  funding_paid: callFact(z.string()).nullable(),
  delisted: callFact(z.boolean().nullable()).describe('Settled at the last price of the venue.'),
};

export const callShown = sharedShape(
  'EdgeCall',
  z.strictObject({
    call_id: words(),
    kind: oneOf(DETECTOR_KINDS),
    asset: words(),
    venue: words(),
    direction: oneOf(DIRECTIONS),
    conviction: callFact(z.string()),
    price: callFact(z.string()),
    emitted_at: isoTime,
    horizon_h: callFact(count),
    detector_version: words(),
    bar: callFact(z.string()),
    leaf: callFact(count),
    outcome: z.strictObject({
      state: oneOf(['open', 'closed', 'unpriced']),
      cause: words().nullable(),
      closed_at: isoTime.nullable(),
      ...closingShown,
      restated: z
        .strictObject({ ...closingShown, restated_at: isoTime })
        .nullable()
        .describe('By a later revision of the venue; what was said first stays.'),
    }),
  }),
);
export type CallView = z.input<typeof callShown>;

/** Calls of a day that are told; so many are never emitted in one. */
export const DAY_CALLS_MAX = 5_000;

export const replayDay = sharedShape(
  'ReplayDay',
  z.strictObject({
    date: isoDay,
    calls: negative(z.array(callShown).max(DAY_CALLS_MAX), CALLS).describe('Oldest first.'),
    count: negative(count, CALLS),
    checked: checkedFlag(CALLS).describe('The producers of all kinds ran all of the day.'),
    complete: harmless(z.boolean(), 'a day that is not over denies nothing').describe(
      'Whether the day is over.',
    ),
    ran: z
      .strictObject({
        funding: checkedFlag(CALLS),
        liq: checkedFlag(CALLS),
        netflow: checkedFlag(CALLS),
        whale: checkedFlag(CALLS),
      })
      .describe('Whether the producer of each kind ran all of the day.'),
    caveat: prose().min(1),
    as_of: asOf,
    data_mode: dataMode,
  }),
);

/** Dates with calls, the newest ones: ten years. */
export const DATES_MAX = 3_660;

export const replayDates = sharedShape(
  'ReplayDates',
  z.strictObject({
    dates: negative(
      z.array(z.strictObject({ date: isoDay, calls: z.int().positive() })).max(DATES_MAX),
      CALLS,
    ).describe('UTC dates with calls on record, the newest first.'),
    caveat: prose().min(1),
    as_of: asOf,
    data_mode: dataMode,
  }),
);

const versionHealth = sharedShape(
  'DetectorHealth',
  z.strictObject({
    detector_version: words().nullable(),
    closed: callFact(count),
    hits: callFact(count),
    hit_rate: callFact(share.nullable()),
    interval: callFact(interval.nullable()),
    effective_n: callFact(z.number().nonnegative()),
    decay: oneOf(DECAYS).describe('`unknown` under 30 closed calls.'),
    deprecation: oneOf(DEPRECATIONS).describe('`hypothesis` under 30 closed calls.'),
    posterior: z
      .strictObject({
        alpha: callFact(z.number()),
        beta: callFact(z.number()),
        mean: callFact(share),
        low: callFact(share),
        high: callFact(share),
        over_half: callFact(share).describe('The chance that the rate is over a half.'),
      })
      .nullable(),
    weight: callFact(share.nullable()).describe('over_half ÷ the sum of all rows.'),
  }),
);

const kindHealth = z.array(versionHealth).min(1);

export const performanceAnswer = sharedShape(
  'EdgePerformance',
  z.strictObject({
    kinds: z
      .strictObject({
        funding: kindHealth,
        liq: kindHealth,
        netflow: kindHealth,
        whale: kindHealth,
      })
      .describe('Every version of each detector, oldest first.'),
    cost_bps: rowFact(z.number()).describe('The round trip after which a return is a hit.'),
    half_life_calls: rowFact(count).describe('A call that is so many calls old weighs half.'),
    caveat: prose().min(1),
    as_of: asOf,
    data_mode: dataMode,
  }),
);
