// The newest call of a pair is put among those of the week up to it; where it is not, the answer
// says why and how much is on record.

import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { formatIsoTime, HOUR_S } from '../../chain/time.ts';
import { Reply } from '../../contract/answer.ts';
import { NOBODY } from '../../contract/route.ts';
import { why } from '../../evidence/reasons.ts';
import type { EmittedCall } from '../../ports/emitted-calls.ts';
import { inventCalls } from '../../testing/emissions.ts';
import {
  emittedCallOf,
  memoryEmittedCalls,
  NOTHING_EMITTED,
  silentEmittedCalls,
} from '../../testing/twins/emitted-calls.ts';
import { memoryRankers, silentRankers } from '../../testing/twins/ranker.ts';
import { type MlRankPorts, mlRank, mlRankHandler } from './ml-rank.route.ts';
import { rankerArtefact, scoreCall, trainRanker } from './training.ts';

vi.setConfig({ testTimeout: 60_000 });

const CALLS = inventCalls({ weeks: 30, aWeek: 30, tells: 0.7 }, 5);
const RANKER = rankerArtefact(trainRanker(CALLS, { seed: 3, splitAt: null, codeVersion: '0.0.0' }));
const PUBLISHED = { ...RANKER, published_at: 1, leaf: 0 };
const CAUSE = why('timed_out', { what: 'The record', limit: '1 s' });
const ASKED = { now: () => 0, signal: new AbortController().signal };

function portsOf(changes: readonly EmittedCall[], published = [PUBLISHED]): MlRankPorts {
  return {
    ...memoryEmittedCalls({ ...NOTHING_EMITTED, changes }),
    ...memoryRankers(published),
  };
}

type Handle = ReturnType<typeof mlRankHandler>;

async function askHandler(handle: Handle, pair: string) {
  const reply = await handle({ params: {}, query: { pair }, body: undefined }, ASKED, NOBODY);
  if (!(reply instanceof Reply)) throw new Error('it was refused');
  return { status: reply.status, body: answer.parse(reply.body) };
}

const contributions = z.object({
  score: z.number(),
  base: z.number(),
  features: z.array(z.object({ feature: z.string(), contribution: z.number() })),
});
/** What the tests take apart of an answer. */
const answer = z.looseObject({
  of: z.number().nullable().optional(),
  contributions: contributions.nullable().optional(),
});

function ask(ports: MlRankPorts, pair: string) {
  return askHandler(mlRankHandler(ports), pair);
}

function newestOf(asset: string): EmittedCall {
  const own = CALLS.filter((call) => call.asset === asset);
  return own.reduce((a, b) => (b.emitted_at > a.emitted_at ? b : a));
}

describe('says', () => {
  test('the place of the newest call of a pair, and what its score is made of', async () => {
    const { status, body } = await ask(portsOf(CALLS), 'BTC');
    const call = newestOf('BTC');
    const week = CALLS.filter(
      ({ emitted_at: at }) => at <= call.emitted_at && at > call.emitted_at - 168 * HOUR_S,
    );
    const own = scoreCall(RANKER.model, call);
    const scores = week.map((one) => scoreCall(RANKER.model, one));
    const higher = scores.filter((score) => score > own).length;
    expect(status).toBe(200);
    expect(body).toMatchObject({
      pair: 'BTC-USD',
      call_id: call.call_id,
      emitted_at: formatIsoTime(call.emitted_at),
      rank: higher + 1,
      of: week.length,
      training: { until: formatIsoTime(RANKER.model.card.split.at) },
      holdout: { ndcg: RANKER.model.card.holdout.ndcg.value, queries: 9 },
      model_version: RANKER.version,
      reason: null,
      data_mode: 'measured',
    });
    expect(body['percentile']).toBeGreaterThanOrEqual(0);
    expect(body['percentile']).toBeLessThanOrEqual(1);
    const { score, base, features } = contributions.parse(body.contributions);
    expect(score).toBe(own);
    expect(features.reduce((sum, { contribution }) => sum + contribution, base)).toBeCloseTo(
      own,
      9,
    );
    expect(features.map(({ feature }) => feature)).toEqual([...RANKER.model.features]);
    expect(await ask(portsOf(CALLS), 'BTC-USD')).toEqual({ status, body });
  });

  test('contributions that add up to the score, of every call', async () => {
    for (const asset of ['BTC', 'ETH', 'SOL']) {
      const { body } = await ask(portsOf(CALLS), asset);
      const { score, base, features } = contributions.parse(body.contributions);
      expect(features.reduce((sum, one) => sum + one.contribution, base)).toBeCloseTo(score, 9);
    }
  });

  test('without a ranker: the counts, the reason, and nothing of an order', async () => {
    const few = CALLS.slice(0, 40);
    const { status, body } = await ask(portsOf(few, []), 'ETH');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      rank: null,
      of: null,
      percentile: null,
      contributions: null,
      training: { calls: 40, weeks: 2, until: null },
      holdout: { ndcg: null, interval: null, random: null, queries: 0 },
      model_version: null,
      reason:
        '40 closed calls in 2 weeks are on record; 300 in 20 weeks are the least that an order ' +
        'is learnt of.',
    });
    expect(body['score_inputs']).toContainEqual({ feature: 'spread', value: null });
    const enough = await ask(portsOf(CALLS, []), 'ETH');
    expect(enough.body['reason']).toBe(
      'A ranker is awaited: the operator runs `exhibit rank train` and `exhibit rank publish`.',
    );
  });

  test('no place of a call that the ranker could have learnt from', async () => {
    const early = CALLS.slice(0, 100);
    const { body } = await ask(portsOf(early), 'SOL');
    expect(body).toMatchObject({ rank: null, contributions: null, model_version: RANKER.version });
    expect(body['reason']).toMatch(/^The call was emitted before the time up to which/);
  });

  test('the place among what was added since, without reading the record again', async () => {
    const changes = [...CALLS];
    const ports = portsOf(changes);
    const places: number[] = [];
    const handle = mlRankHandler({
      ...ports,
      emittedCalls: {
        ...ports.emittedCalls,
        changedSince: (place, limit) => {
          places.push(place);
          return ports.emittedCalls.changedSince(place, limit);
        },
      },
    });
    const of = async () => Number((await askHandler(handle, 'BTC')).body.of);
    const before = await of();
    const call = newestOf('BTC');
    changes.push(
      emittedCallOf({ ...call, asset: 'ETH', window: 99_999 }, { state: 'open' }, 9_999),
    );
    expect(await of()).toBe(before + 1);
    expect(places.filter((place) => place === 0)).toHaveLength(1);
  });

  test('that nothing was emitted for a pair, as 404', async () => {
    expect(await ask(portsOf(CALLS), 'DOGE')).toEqual({
      status: 404,
      body: {
        error: 'Nothing was emitted for this pair. That is a fact about the record of calls.',
      },
    });
    expect((await ask(portsOf([], []), 'BTC')).status).toBe(404);
  });
});

describe('is silent', () => {
  test.each([
    ['the record', { ...portsOf(CALLS), ...silentEmittedCalls(CAUSE) }],
    ['the ranker', { ...portsOf(CALLS), ...silentRankers(CAUSE) }],
  ])('where %s was not read, and says so alone', async (_, ports) => {
    expect(await ask(ports, 'BTC')).toEqual({
      status: 200,
      body: { error: CAUSE.reason, handler: 'ml_rank' },
    });
  });
});

describe('refuses', () => {
  test.each(['', 'BTC-EUR', 'BTC USD', 'x'.repeat(21)])('what is no pair: %s', (pair) => {
    expect(mlRank.query.safeParse({ pair }).success).toBe(false);
  });
});
