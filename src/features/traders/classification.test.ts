// A label needs a size: gains that come faster in the bucket than outside, or in it alone.

import { expect, test } from 'vitest';
import { quietAnalysis } from '../../testing/twins/traders.ts';
import { classify } from './classification.ts';
import type { Bucket } from './shapes.ts';

const { modes } = quietAnalysis(`0x${'ab'.repeat(20)}`);
const DAY_MS = 86_400_000;
const RECORD = { trades: 300, from: 0, to: 40 * DAY_MS, horizon_reached: false };

/** The labels where the US session is beyond chance and shows these figures. */
function labelsWith(us: Partial<Bucket>) {
  const session = modes.realization.session.map((one) =>
    one.bucket === 'us' ? { ...one, p_value: 0.0001, q_value: 0.001, pnl_usd: 10, ...us } : one,
  );
  const shown = { ...modes, realization: { ...modes.realization, session } };
  const { labels, no_label } = classify(shown, RECORD);
  return [labels.map(({ label, ratio }) => [label, ratio]), no_label];
}

test('a bucket with twice the gains has a label, one with little more has none', () => {
  expect(labelsWith({ ratio: 2 })).toEqual([[['us_session', 2]], null]);
  expect(labelsWith({ ratio: 1.49 })).toEqual([[], 'too_small']);
});

test('a bucket that holds all gains has a label, though no ratio can be told', () => {
  expect(labelsWith({ ratio: null, share: 1 })).toEqual([[['us_session', null]], null]);
  expect(labelsWith({ ratio: null, share: null })).toEqual([[], 'too_small']);
});

test('where it does better and makes no profit there is none', () => {
  expect(labelsWith({ ratio: 2, pnl_usd: -1 })).toEqual([[], 'no_profit']);
});
