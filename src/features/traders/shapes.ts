// The shapes of trader analyses: what is kept, and what the route answers.

import { z } from 'zod';
import {
  checkedFlag,
  claimedWords,
  isoTime,
  negative,
  oneOf,
  prose,
  rowFact,
  sharedShape,
  words,
} from '../../contract/wire.ts';
import { MODES, NO_LABEL_REASONS, PARTITIONS } from '../../ports/traders.ts';

export const METHODOLOGY_PATH = '/methodology/traders';
const ADDRESS = /^0x[0-9a-f]{40}$/;

const count = z.int().nonnegative();
const share = z.number().min(0).max(1);

/** What a bucket shows. `null` is unmeasured; `share` is the part of all gains. */
const bucket = z.strictObject({
  bucket: z.string(),
  trades: count,
  exposure_h: z.number().nonnegative(),
  pnl_usd: z.number(),
  share: share.nullable(),
  /** The interval of the share at 95%, of tested buckets. */
  share_low: share.nullable(),
  share_high: share.nullable(),
  expected_share: share.nullable(),
  /** Gains for each exposed hour inside the bucket, by those outside. */
  ratio: z.number().nonnegative().nullable(),
  p_value: share.nullable(),
  q_value: share.nullable(),
  tested: z.boolean(),
});
export type Bucket = Readonly<z.output<typeof bucket>>;
const partitions = <S extends z.ZodType>(of: S) =>
  z.strictObject({ session: of, weekpart: of, hour_of_day: of });
/** A style: the bucket that shows it, in a mode. */
const label = z.strictObject({
  label: z.string(),
  mode: z.enum(MODES),
  partition: z.enum(PARTITIONS),
  bucket: z.string(),
  trades: count,
  pnl_usd: z.number(),
  /** `null`: nothing was gained outside. */
  ratio: z.number().nullable(),
  p_value: share,
  q_value: share,
});
export type StyleLabel = Readonly<z.output<typeof label>>;
const byMode = <S extends z.ZodType>(of: S) => z.strictObject({ realization: of, exposure: of });

const coverage = z.strictObject({
  fills: count,
  from: z.int().nonnegative(),
  to: z.int().nonnegative(),
  horizon_reached: z.boolean(),
  unpriced_funding_h: count,
  missing_candle_h: count,
  self_trades: count,
  spot_left_out: count,
  without_candles_left_out: count,
});
const totals = z.strictObject({
  closed_pnl_usd: z.string(),
  left_out_pnl_usd: z.string(),
  fees_usd: z.string(),
  fees_in_tokens: count,
  funding_usd: z.string(),
  net_usd: z.string(),
});
const nullModel = z.strictObject({
  seed: count,
  generator: z.string(),
  permutations: count,
  tests: count,
  block_mean: byMode(z.number().nullable()),
});

/** What an account is at the venue, of those that can be analysed. */
export const ROLES = ['user', 'vault', 'sub_account'] as const;

/** An analysis as it is kept. Times of coverage are Unix seconds, totals are decimal text. */
export const traderAnalysis = z.strictObject({
  address: z.string().regex(ADDRESS),
  role: z.enum(ROLES),
  master: z.string().nullable(),
  simulated: z.boolean(),
  modes: byMode(partitions(z.array(bucket).readonly())),
  classification: z.strictObject({
    labels: z.array(label).readonly(),
    no_label: z.enum(NO_LABEL_REASONS).nullable(),
  }),
  coverage,
  totals,
  null_model: nullModel,
});
export type TraderAnalysis = z.output<typeof traderAnalysis>;

/** Why an account that was looked at cannot be analysed. */
export const UNANALYSABLE = ['agent', 'no_account', 'no_fills'] as const;
export type Unanalysable = (typeof UNANALYSABLE)[number];

const RESTS = { restsOn: ['trader_analyses'] } as const;
const fact = <S extends z.ZodType>(schema: S) => rowFact(schema, RESTS);

export const bucketShown = sharedShape(
  'TimeBucket',
  z.strictObject({
    bucket: words(),
    trades: fact(count).describe('Closing orders that closed in it.'),
    exposure_h: fact(z.number().nonnegative()).describe('Hours in which a position was open.'),
    pnl_usd: fact(z.number()).describe('Profit before fees and funding.'),
    share: fact(share.nullable()).describe('The part of all gains; losses are no part of it.'),
    share_low: fact(share.nullable()).describe(
      'Its interval at 95%, over resamples in blocks; `null`: not tested.',
    ),
    share_high: fact(share.nullable()),
    expected_share: fact(share.nullable()).describe('The part of all exposed hours.'),
    ratio: fact(z.number().nonnegative().nullable()).describe(
      'Gains for each exposed hour inside the bucket, by those outside; `null`: none outside.',
    ),
    p_value: fact(share.nullable()).describe(
      'How often chance puts as much more profit into it; `null`: not tested.',
    ),
    q_value: fact(share.nullable()).describe('The same, for all tests together.'),
    tested: fact(z.boolean()),
  }),
);

const windowShown = z.strictObject({ bucket: words(), definition: words() });

/** The answer of the route. */
export const temporalAnswer = z.strictObject({
  address: words(),
  analysed: checkedFlag(RESTS),
  role: oneOf(ROLES),
  master: words(z.string().nullable()).describe('Whose sub-account it is.'),
  modes: z
    .strictObject({
      realization: partitionsShown().optional(),
      exposure: partitionsShown().optional(),
    })
    .describe('By the hour in which a position closed, and by the hours in which it was open.'),
  partitions: partitions(z.array(windowShown).readonly()).describe('What each bucket covers.'),
  classification: z.strictObject({
    labels: negative(
      z.array(
        z.strictObject({
          label: words(),
          mode: oneOf(MODES),
          partition: oneOf(PARTITIONS),
          bucket: words(),
          trades: fact(count),
          pnl_usd: fact(z.number()),
          ratio: fact(z.number().nullable()).describe('`null`: nothing was gained outside.'),
          p_value: fact(share),
          q_value: fact(share),
        }),
      ),
      RESTS,
    ),
    no_label: claimedWords(
      [...NO_LABEL_REASONS, 'labelled'],
      [...NO_LABEL_REASONS],
      RESTS,
    ).describe('The first reason why there is no label; `labelled` where there is one.'),
    needs: z.strictObject({
      q_value_max: z.number(),
      ratio_min: z.number(),
      trades_min: z.int(),
      record_days_min: z.int(),
    }),
  }),
  coverage: z.strictObject({
    fills: fact(count),
    from: isoTime,
    to: isoTime,
    horizon_reached: fact(z.boolean()).describe(
      'Fills are unread that the venue does not tell: it keeps the newest 10,000 alone, and ' +
        'tells at most 2,000 of one millisecond.',
    ),
    unpriced_funding_h: fact(count).describe('Exposed hours whose funding was not read.'),
    missing_candle_h: fact(count).describe('Exposed hours that no candle was read of.'),
    self_trades: fact(count).describe('Trades of the account with itself, left out.'),
    spot_left_out: fact(count).describe('Fills of spot markets.'),
    without_candles_left_out: fact(count).describe('Fills of tokens whose candles were not read.'),
  }),
  totals: z.strictObject({
    closed_pnl_usd: words().describe('As the venue booked it on every fill, before fees.'),
    left_out_pnl_usd: words().describe('The part of it that is in no trade.'),
    fees_usd: words(),
    fees_in_tokens: fact(count).describe('Fills whose fee was taken in another token.'),
    funding_usd: words().describe('Received less paid, as the venue booked it.'),
    net_usd: words().describe('Closed profit, less fees, and funding.'),
  }),
  seed: fact(count),
  generator: words(),
  permutations: fact(count),
  tests: fact(count).describe('Buckets tested, over both modes and all partitions.'),
  block_mean: byMode(fact(z.number().nullable())),
  caveats: z.array(prose()).min(1),
  analysed_at: isoTime,
  age_s: fact(count),
  simulated: fact(z.boolean()),
  methodology_url: words(),
});
export type TemporalAnswer = z.output<typeof temporalAnswer>;

function partitionsShown() {
  const rows = fact(z.array(bucketShown).readonly());
  return z.strictObject({
    session: rows.optional(),
    weekpart: rows.optional(),
    hour_of_day: rows.optional(),
  });
}

export const notAnalysed = sharedShape(
  'TraderNotAnalysed',
  z.strictObject({
    address: words(),
    analysed: z.literal(false),
    error: z.literal('not_analysed'),
    detail: prose().min(1),
    methodology_url: words(),
    engine_unreachable: fact(z.boolean()).describe(
      'Whether the last attempt failed because the venue did not answer.',
    ),
  }),
);
export const invalidAddress = sharedShape(
  'InvalidTraderAddress',
  z.strictObject({ error: z.literal('invalid_address'), detail: prose().min(1) }),
);
export const analysesUnreadable = sharedShape(
  'UnreadableAnalyses',
  z.strictObject({ error: z.literal('analyses_unreadable'), detail: prose().min(1) }),
);
