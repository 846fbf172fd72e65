// Where the newest call of a pair stands among those of the week up to it.

import { z } from 'zod';
import { formatIsoTime } from '../../chain/time.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import {
  handlerFailure,
  harmless,
  isoTime,
  oneOf,
  prose,
  sharedShape,
  words,
} from '../../contract/wire.ts';
import { Unread } from '../../evidence/reading.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import type { EmittedCalls } from '../../ports/emitted-calls.ts';
import type { PublishedRankers } from '../../ports/ranker.ts';
import { type CallStanding, createStanding, readingsOf } from './standing.ts';
import { fewText, isTooFew, rankInputs } from './training.ts';

const PATH = '/api/ml-rank';
const HANDLER = 'ml_rank';
const PAIR = /^[A-Za-z0-9]{1,20}(-USD)?$/;
const ABOUT = 'it is of calls of this service, and of no address';
const count = harmless(z.int().nonnegative(), ABOUT);
const number = harmless(z.number(), ABOUT);

const standing = sharedShape(
  'CallRank',
  z.strictObject({
    pair: words(),
    call_id: words(),
    emitted_at: isoTime,
    rank: z.int().positive().nullable().describe('From 1; equal scores share the better place.'),
    of: count.nullable().describe('Calls of the 168 hours up to it that it is put among.'),
    percentile: number
      .nullable()
      .describe('Share of the others that score lower, ties by half; null where there is none.'),
    score_inputs: harmless(
      z.array(z.strictObject({ feature: words(), value: number.nullable() })),
      ABOUT,
    ).describe('What the ranker may know of the call; null is unmeasured.'),
    contributions: sharedShape(
      'RankContributions',
      z.strictObject({
        score: number.describe('Only its order among calls means anything.'),
        base: number,
        features: harmless(
          z.array(z.strictObject({ feature: words(), contribution: number })),
          ABOUT,
        ),
      }),
    )
      .nullable()
      .describe('Shapley values: base and contributions add up to the score.'),
    training: z.strictObject({
      calls: count,
      weeks: count,
      until: isoTime.nullable(),
    }),
    holdout: z.strictObject({
      ndcg: number.nullable(),
      interval: z.strictObject({ low: number.nullable(), high: number.nullable() }).nullable(),
      random: number.nullable().describe('The NDCG of an order by lot, over the same weeks.'),
      queries: count,
    }),
    model_version: words().nullable(),
    reason: prose().nullable(),
    data_mode: oneOf(['measured', 'simulated']),
    caveat: prose().min(1),
  }),
);

export const mlRank = plainRoute({
  name: 'ml_rank',
  surface: 'edge',
  method: 'GET',
  path: PATH,
  summary: 'Where the newest call of a pair stands among the calls of the week up to it.',
  access: 'open',
  query: z.strictObject({
    pair: z.string().regex(PAIR, 'expected an asset, such as BTC or BTC-USD'),
  }),
  responses: {
    200: z.union([standing, handlerFailure]),
    404: z.strictObject({ error: prose() }).describe('Nothing was emitted for the pair.'),
  },
});

export type MlRankPorts = {
  readonly emittedCalls: Pick<EmittedCalls, 'changedSince' | 'newestOf'>;
  readonly publishedRankers: Pick<PublishedRankers, 'inForce'>;
};

const NOTHING_EMITTED =
  'Nothing was emitted for this pair. That is a fact about the record of calls.';
const AWAITED =
  'A ranker is awaited: the operator runs `exhibit rank train` and `exhibit rank publish`.';
const COULD_KNOW =
  'The call was emitted before the time up to which the ranker learnt, so that its place could ' +
  'be known from its outcome. Calls after that time are put in an order.';
const CAVEAT =
  'A place compares calls by what calls with like inputs came to, as far as the hold-out shows. ' +
  'An interval that holds `random` says that the order is as good as one by lot. It ' +
  'tells an order, and leaves returns untold.';
const QUOTE = '-USD';

/** @internal */
export function mlRankHandler(ports: MlRankPorts): PlainHandler<typeof mlRank> {
  const find = createStanding(ports);
  return async ({ query: { pair } }) => {
    const asset = pair.endsWith(QUOTE) ? pair.slice(0, -QUOTE.length) : pair;
    const found = await find(asset);
    if (found instanceof Unread) {
      return mlRank.reply(200, { error: found.why.reason, handler: HANDLER });
    }
    if (found === null) return mlRank.reply(404, { error: NOTHING_EMITTED });
    return mlRank.reply(200, showStanding(`${asset}${QUOTE}`, found));
  };
}

function showStanding(pair: string, found: CallStanding): z.input<typeof standing> {
  const { call, ranker, closed, placed } = found;
  const card = ranker === null ? null : ranker.model.card;
  const names = ranker === null ? [...rankInputs(call).keys()].sort() : ranker.model.features;
  const simulated = call.simulated || card?.data.simulated === true;
  return {
    pair,
    call_id: call.call_id,
    emitted_at: formatIsoTime(call.emitted_at),
    rank: placed === null ? null : placed.rank,
    of: placed === null ? null : placed.of,
    percentile: placed === null ? null : placed.percentile,
    score_inputs: [...readingsOf(names, call)],
    contributions:
      placed === null
        ? null
        : { score: placed.score, base: placed.base, features: [...placed.contributions] },
    training:
      card === null
        ? { ...closed, until: null }
        : { calls: card.split.train.calls, weeks: card.split.train.weeks, until: untilOf(card) },
    holdout:
      card === null
        ? { ndcg: null, interval: null, random: null, queries: 0 }
        : {
            ndcg: card.holdout.ndcg.value,
            interval: { low: card.holdout.ndcg.low, high: card.holdout.ndcg.high },
            random: card.holdout.random,
            queries: card.holdout.queries,
          },
    model_version: ranker === null ? null : ranker.version,
    reason: reasonOf(found),
    data_mode: simulated ? 'simulated' : 'measured',
    caveat: simulated ? `${SIMULATED_CAVEAT}${CAVEAT}` : CAVEAT,
  };
}

function untilOf({ split }: { readonly split: { readonly at: number } }): string {
  return formatIsoTime(split.at);
}

function reasonOf({ ranker, closed, placed }: CallStanding): string | null {
  if (ranker === null) {
    const { calls, weeks } = closed;
    return isTooFew(calls, weeks) ? fewText(calls, weeks) : AWAITED;
  }
  return placed === null ? COULD_KNOW : null;
}
