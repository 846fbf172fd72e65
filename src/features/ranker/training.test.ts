// An order is learnt of what had closed, judged by what came later, and is as good as one by lot
// where nothing tells of the returns.

import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { DAY_S, HOUR_S } from '../../chain/time.ts';
import type { EmittedCall } from '../../ports/emitted-calls.ts';
import { RANKER_FORMAT, type Ranker } from '../../ports/ranker.ts';
import { FIRST_WEEK, inventCalls } from '../../testing/emissions.ts';
import { findLeaks, type Judged, type Noise } from '../../testing/look-ahead.ts';
import { trialsOf } from '../../testing/trials.ts';
import { outcomeOf } from '../../testing/twins/emitted-calls.ts';
import {
  countClosed,
  evaluateRanker,
  leakedCalls,
  RankingFault,
  rankerArtefact,
  scoreCall,
  trainRanker,
  trainWhileServing,
  weekOf,
} from './training.ts';

vi.setConfig({ testTimeout: 120_000 });

const ORDER = { seed: 3, splitAt: null, codeVersion: '0.0.0' };
const TOLD = inventCalls({ weeks: 30, aWeek: 30, tells: 0.7 }, 5);

function withReturn(call: EmittedCall, gross_return: string): EmittedCall {
  return { ...call, outcome: outcomeOf(call, { gross_return }) };
}

describe('a ranker', () => {
  const ranker = trainRanker(TOLD, ORDER);
  const { card } = ranker;

  test('puts later calls in a better order than the lot does, by what tells of the return', () => {
    const { ndcg, random, queries } = card.holdout;
    expect(queries).toBe(9);
    expect(ndcg.low).toBeGreaterThan(random);
    const [most] = [...card.features].sort((a, b) => b.gain - a.gain);
    expect(most?.name).toBe('depth');
    expect(card.features.find(({ name }) => name === 'spread')?.measured).toBeLessThan(
      card.split.train.calls,
    );
  });

  test('is the same to the byte for the same record, in whatever order it comes', () => {
    const turned = rankerArtefact(trainRanker([...TOLD].reverse(), ORDER));
    expect(turned.text).toBe(rankerArtefact(ranker).text);
    expect(RANKER_FORMAT.shape.parse(ranker)).toEqual(ranker);
  });

  test('lets others run between its trees, and comes out the same', async () => {
    let [turns, isOver] = [0, false];
    const others = (async () => {
      for (; !isOver; turns += 1) await setImmediate();
    })();
    const told = await trainWhileServing(TOLD, ORDER);
    isOver = true;
    await others;
    expect(turns).toBeGreaterThan(told.trees.length);
    expect(rankerArtefact(told).text).toBe(rankerArtefact(ranker).text);
  });

  test('counts every closed call in a part, or says why it is in none', () => {
    const { train, stop, test: later, left_out, at, embargo_h } = card.split;
    expect(card.data).toMatchObject({ calls: 900, weeks: 30, simulated: false });
    expect(weekOf(at)).toBe(weekOf(FIRST_WEEK) + 21);
    expect(embargo_h).toBe(72);
    expect(later.from).toBeGreaterThanOrEqual(at);
    expect(stop.to + 72 * HOUR_S).toBeLessThanOrEqual(at);
    expect(train.to + 72 * HOUR_S).toBeLessThanOrEqual(stop.from + 7 * DAY_S);
    expect(left_out.embargoed).toBeGreaterThan(0);
    expect(train.calls + stop.calls + later.calls + left_out.embargoed).toBeLessThanOrEqual(900);
  });

  test('knows nothing of what came after its split, whatever came', () => {
    const { at } = card.split;
    const noise = TOLD.map((call, place) => {
      const exit = call.outcome.state === 'closed' ? call.outcome.exit_at_ms / 1_000 : 0;
      return exit <= at ? call : withReturn(call, `${place % 7}`);
    });
    const cut = trainRanker(noise, { ...ORDER, splitAt: at });
    expect({ trees: cut.trees, features: cut.features }).toEqual({
      trees: ranker.trees,
      features: ranker.features,
    });
  });

  test('names a call that it would learn from before that closed: its own among them', () => {
    const { at } = card.split;
    const before = TOLD.filter(({ emitted_at }) => emitted_at < at);
    const leaked = leakedCalls(before, at);
    const open = before.filter((call) => call.emitted_at + call.horizon_h * HOUR_S > at - HOUR_S);
    expect(leaked.length).toBeGreaterThan(0);
    expect(open.map(({ call_id }) => call_id)).toEqual(expect.arrayContaining([...leaked]));
    const own = TOLD.find(({ emitted_at }) => emitted_at >= at) as EmittedCall;
    expect(leakedCalls([...before, own], at)).toContain(own.call_id);
  });

  test('passes the guard against looking ahead, and one that learns from its own call is named', async () => {
    const { at } = card.split;
    const until = at * 1_000;
    const own = TOLD.find(({ emitted_at }) => emitted_at >= at) as EmittedCall;
    const later: Noise<readonly EmittedCall[]> = {
      changes: 'what came of calls that closed later',
      apply: (calls, end) =>
        calls.map((call, place) => {
          const exit = call.outcome.state === 'closed' ? call.outcome.exit_at_ms : 0;
          return exit <= end ? call : withReturn(call, `${place % 7}`);
        }),
    };
    // What a ranker would be taught: its parts, or those with the call that it is to rank.
    const taughtBy = (others: readonly string[]) => (calls: readonly EmittedCall[]) =>
      calls.filter(({ call_id, outcome }) => {
        const isClosed = outcome.state === 'closed' && outcome.exit_at_ms <= until;
        return others.includes(call_id) || isClosed;
      });
    const judgeBy = (name: string, others: readonly string[]): Judged<readonly EmittedCall[]> => ({
      name,
      until,
      judge: async (calls) => taughtBy(others)(calls).map(({ outcome }) => outcome),
    });
    const trees: Judged<readonly EmittedCall[]> = {
      name: 'trees',
      until,
      judge: async (calls) => trainRanker(calls, { ...ORDER, splitAt: at }).trees,
    };
    const rules = [trees, judgeBy('closed calls', []), judgeBy('its own call', [own.call_id])];
    expect(await findLeaks(TOLD, rules, [later])).toEqual([
      { rule: 'its own call', looks_at: later.changes },
    ]);
    // The check that training makes names the call itself.
    expect(leakedCalls(taughtBy([own.call_id])(TOLD), at)).toContain(own.call_id);
  });

  test('is judged by calls after its split alone', () => {
    const later = inventCalls({ weeks: 40, aWeek: 30, tells: 0.7 }, 6);
    const holdout = evaluateRanker(ranker, later, card.split.at);
    expect(holdout?.queries).toBe(19);
    expect(holdout?.ndcg.low).toBeGreaterThan(Number(holdout?.random));
    expect(evaluateRanker(ranker, [], card.split.at)).toBeNull();
    expect(() => evaluateRanker(ranker, later, card.split.at - 1)).toThrow(RankingFault);
  });

  test('takes funding from the return, and a call without a price for none', () => {
    const [call, ...others] = TOLD as readonly [EmittedCall, ...EmittedCall[]];
    const unpriced: EmittedCall = {
      ...call,
      outcome: { state: 'unpriced', cause: 'no_exit_candle', closed_at: call.emitted_at },
    };
    expect(countClosed([unpriced, ...others])).toEqual({ calls: 899, weeks: 30 });
    const paid = TOLD.map((one): EmittedCall => {
      if (one.outcome.state !== 'closed') return one;
      const { gross_return } = one.outcome;
      const outcome = outcomeOf(one, {
        gross_return: '0',
        funding_paid: `${-Number(gross_return)}`,
      });
      return { ...one, outcome };
    });
    expect(trainRanker(paid, ORDER).trees).toEqual(ranker.trees);
  });
});

describe('a record that is too short', () => {
  test.each([
    [
      'of calls',
      inventCalls({ weeks: 29, aWeek: 10, tells: 1 }, 1),
      '290 closed calls in 29 weeks',
    ],
    [
      'of weeks',
      inventCalls({ weeks: 19, aWeek: 40, tells: 1 }, 1),
      '760 closed calls in 19 weeks',
    ],
    ['of anything', [], '0 closed calls in 0 weeks'],
  ])('%s is refused with its counts', (_, calls, counts) => {
    expect(() => trainRanker(calls, ORDER)).toThrow(
      `${counts} are on record; 300 in 20 weeks are the least that an order is learnt of.`,
    );
  });
});

test('on noise the interval of the hold-out holds the order by lot', () => {
  const trials = trialsOf('EXHIBIT_TEST_NOISE', 5, 100);
  let holds = 0;
  for (let seed = 1; seed <= trials; seed += 1) {
    const calls = inventCalls({ weeks: 40, aWeek: 20, tells: 0 }, 100 + seed);
    const { ndcg, random } = trainRanker(calls, { ...ORDER, seed }).card.holdout;
    holds += Number(Number(ndcg.low) <= random && random <= Number(ndcg.high));
  }
  expect(holds).toBeGreaterThanOrEqual(Math.floor(0.8 * trials));
});

test('a ranker without a tree puts all calls in one place', () => {
  const none: Pick<Ranker, 'features' | 'base' | 'trees'> = {
    features: ['depth'],
    base: 0,
    trees: [],
  };
  expect(new Set(TOLD.map((call) => scoreCall(none, call)))).toEqual(new Set([0]));
});
