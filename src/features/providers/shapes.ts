// The shapes of the leaderboard of providers. Every rate stands beside the number that it is of.

import { z } from 'zod';
import { DATA_MODES } from '../../contract/answer.ts';
import {
  isoTime,
  negative,
  oneOf,
  prose,
  rowFact,
  sharedShape,
  words,
} from '../../contract/wire.ts';
import { CALL_KINDS } from '../../ports/provider-calls.ts';

const CALLS = { restsOn: ['provider_calls'] } as const;
const ROWS_MAX = 1_000;

export const BOARD_WINDOWS = ['30d', '90d', 'all'] as const;
export type BoardWindow = (typeof BOARD_WINDOWS)[number];

const share = z.number().min(0).max(1);
const count = z.int().nonnegative();
const shareOf = z.strictObject({ rate: share.nullable(), of: count });

export const boardRow = z.strictObject({
  provider: z.string(),
  kind: z.enum(CALL_KINDS),
  rule_version: z.string(),
  calls: count,
  pending: count,
  scored: count,
  unscorable: count,
  hits: count,
  hit_rate: share.nullable(),
  interval: z.strictObject({ low: share, high: share }).nullable(),
  brier: share.nullable(),
  brier_n: count,
  base_rate: share.nullable(),
  sensitivity: shareOf,
  specificity: shareOf,
  coverage: shareOf.nullable(),
  bins: z.array(
    z.strictObject({ from: share, to: share, n: count, mean_probability: share, happened: count }),
  ),
  baselines: z.strictObject({
    always_yes: count,
    always_no: count,
    base_rate_brier: share.nullable(),
  }),
  missed_s: count.nullable(),
});
export type BoardRow = z.output<typeof boardRow>;

const boardWindow = z.strictObject({
  from: count.nullable(),
  rows: z.array(boardRow).max(ROWS_MAX),
  retrospective: z.array(boardRow).max(ROWS_MAX),
});

/** The board as it is kept; times are Unix seconds. */
export const countedBoard = z.strictObject({
  made_at: count,
  total_scores: count,
  newest_call_at: count.nullable(),
  windows: z.strictObject({ '30d': boardWindow, '90d': boardWindow, all: boardWindow }),
});
export type CountedBoard = z.output<typeof countedBoard>;

const rate = share.nullable();
const shownShare = z.strictObject({ rate: rowFact(rate), of: rowFact(count) });

const shownRow = sharedShape(
  'ProviderRow',
  z.strictObject({
    provider: words(),
    kind: oneOf(CALL_KINDS),
    rule_version: words().describe(
      'The rule in force when these calls were received: each version has a row of its own.',
    ),
    calls: rowFact(count).describe('Calls that were received within the window.'),
    pending: rowFact(count).describe('Whose own window is not over, or not read yet.'),
    scored: rowFact(count),
    unscorable: rowFact(count).describe('Whose outcome nobody can tell; they are in no rate.'),
    hits: rowFact(count),
    hit_rate: rowFact(rate).describe('hits ÷ scored; `null` only where scored is 0.'),
    interval: rowFact(z.strictObject({ low: share, high: share }).nullable()).describe(
      'Wilson’s interval at 95%, over as many subjects as the calls are worth.',
    ),
    brier: rowFact(rate).describe('Over the brier_n scored calls that gave a probability.'),
    brier_n: rowFact(count),
    base_rate: rowFact(rate).describe('How often the event happened among the scored calls.'),
    sensitivity: shownShare.describe('Of the events, the share that was called.'),
    specificity: shownShare.describe('Of what did not happen, the share that was called so.'),
    coverage: shownShare
      .nullable()
      .describe('Of the launches that it was asked about, the share with a call.'),
    bins: rowFact(
      z.array(
        z.strictObject({
          from: share,
          to: share,
          n: count,
          mean_probability: share,
          happened: count,
        }),
      ),
    ).describe('What its probabilities said, beside what happened.'),
    baselines: z
      .strictObject({
        always_yes: rowFact(count),
        always_no: rowFact(count),
        base_rate_brier: rowFact(rate),
      })
      .describe('Hits of whoever always says yes or always no, on the same scored calls.'),
    missed_s: rowFact(count.nullable()).describe(
      'Seconds of the window in which it was not asked, or did not answer; `null`: it is not ' +
        'asked here, or another rule is in force.',
    ),
  }),
);

const shownWindow = sharedShape(
  'ProviderWindow',
  z.strictObject({
    from: isoTime.nullable(),
    rows: negative(z.array(shownRow).max(ROWS_MAX), CALLS).describe('Prospective calls alone.'),
    retrospective: negative(z.array(shownRow).max(ROWS_MAX), CALLS).describe(
      'Calls received late, or after something of their outcome could be seen.',
    ),
  }),
);

export const providerBoard = z.strictObject({
  data_mode: oneOf(DATA_MODES).describe(
    '`empty`: calls were received before and none lately: whoever collects may have stopped.',
  ),
  generated_at_iso: isoTime.describe('When the calls were counted.'),
  total_scores: negative(count, CALLS).describe('Scored calls of every kind, ever.'),
  windows: z.strictObject({
    '30d': shownWindow.optional(),
    '90d': shownWindow.optional(),
    all: shownWindow.optional(),
  }),
  window_requested: oneOf(BOARD_WINDOWS).nullable(),
  served: z.strictObject({
    window: oneOf(BOARD_WINDOWS).nullable().describe('`null`: every window.'),
    rows: negative(count, CALLS),
  }),
  read_this_first: sharedShape(
    'ReadBoardFirst',
    z.strictObject({
      data_mode: prose().min(1),
      meaning: prose().min(1),
      null_means: prose().min(1),
      every_rate_has_a_denominator: prose().min(1),
      methodology: prose().min(1),
    }),
  ),
});
export type ProviderBoard = z.output<typeof providerBoard>;

export const boardUnreadable = sharedShape(
  'UnreadableBoard',
  z.strictObject({ error: z.literal('board_unreadable'), detail: prose().min(1) }),
);
