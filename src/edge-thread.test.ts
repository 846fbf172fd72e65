// The listed family that a thread measures is the one that is measured here, to the last bit.

import { expect, test } from 'vitest';
import { measureApart } from './features/edge/feature.ts';
import type { Filter } from './features/edge/filters.ts';
import { measureFamily } from './features/edge/luck.ts';
import { type MeasureFamily, prepareAnswer, runBacktest } from './features/edge/question.ts';
import { noiseRecord } from './testing/edge-records.ts';

const ALL: Filter = {
  kinds: null,
  asset: null,
  direction: null,
  horizon_h: null,
  days: 90,
  cost_bps: 1,
  min_conviction: null,
};
const record = () => noiseRecord(3, { assets: 3, hours: 24 * 60, bursts: 30 });

test('a question is worked out apart as it is here, and its family once for all who ask', async () => {
  const [apart, here] = [record(), record()];
  const filters = [ALL, { ...ALL, cost_bps: 7 }, { ...ALL, asset: 'A1', days: 40 }];
  let measured = 0;
  const measure: MeasureFamily = (order) => {
    measured += 1;
    return measureApart(order);
  };
  await Promise.all([...filters, ...filters].map((one) => prepareAnswer(apart, one, measure)));
  expect(measured).toBe(3);
  for (const filter of filters) {
    const told = runBacktest(apart, filter);
    expect(JSON.stringify(told)).toBe(JSON.stringify(runBacktest(here, filter)));
    expect(told.family.members.length).toBeGreaterThan(10);
  }
});

test('a family that could not be measured fails its question, and the next one is measured', async () => {
  const own = record();
  const refuse: MeasureFamily = () => Promise.reject(new Error('a planted fault'));
  await expect(prepareAnswer(own, ALL, refuse)).rejects.toThrow('a planted fault');
  // What cannot be measured ends the thread; another takes its place.
  const broken = {
    record: own,
    closed: Uint32Array.of(1),
    cost_bps: 1,
    hours: { from: 0, to: 99 },
  };
  await expect(measureApart({ ...broken, ran: [] })).rejects.toThrow();
  await prepareAnswer(own, ALL, measureApart);
  const here: MeasureFamily = async (order) => measureFamily(order);
  const other = record();
  await prepareAnswer(other, ALL, here);
  expect(JSON.stringify(runBacktest(own, ALL))).toBe(JSON.stringify(runBacktest(other, ALL)));
});
