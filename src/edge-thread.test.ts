// What threads work out about a question is what this one works out, to the last bit.

import { expect, test } from 'vitest';
import { startThreads, WORK_APART } from './features/edge/feature.ts';
import type { Filter } from './features/edge/filters.ts';
import { type EdgeWork, prepareAnswer, runBacktest } from './features/edge/question.ts';
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
const WAITING = { signal: new AbortController().signal };
const record = () => noiseRecord(3, { assets: 3, hours: 24 * 60, bursts: 30 });

test('a question is worked out apart as it is here, and each part once for all who ask', async () => {
  const [apart, here] = [record(), record()];
  const filters = [ALL, { ...ALL, cost_bps: 7 }, { ...ALL, asset: 'A1', cost_bps: 7 }];
  const worked: string[] = [];
  const work: EdgeWork = {
    own: (order) => {
      worked.push('own');
      return WORK_APART.own(order);
    },
    family: (order) => {
      worked.push('family');
      return WORK_APART.family(order);
    },
  };
  await Promise.all(
    [...filters, ...filters].map((one) => prepareAnswer(apart, one, work, WAITING)),
  );
  expect(worked.toSorted()).toEqual(['family', 'family', 'own', 'own', 'own']);
  for (const filter of filters) {
    const told = runBacktest(apart, filter);
    expect(JSON.stringify(told)).toBe(JSON.stringify(runBacktest(here, filter)));
    expect(told.family.members).toBeGreaterThan(10);
  }
});

test('a part that could not be worked out fails its question, and the next one is answered', async () => {
  const own = record();
  // What cannot be worked out ends the thread; another takes its place.
  const { calls: _, made: __, simulated: ___, ...columns } = own;
  const broken = { record: { ...columns, prices: [] }, filter: ALL };
  await expect(WORK_APART.family(broken)).rejects.toThrow('without prices');
  await expect(WORK_APART.own(broken)).rejects.toThrow('without prices');
  const refuse: EdgeWork = {
    ...WORK_APART,
    own: () => Promise.reject(new Error('a planted fault')),
  };
  await expect(prepareAnswer(own, ALL, refuse, WAITING)).rejects.toThrow('a planted fault');
  expect(await prepareAnswer(own, ALL, WORK_APART, WAITING)).toBeNull();
  expect(JSON.stringify(runBacktest(own, ALL))).toBe(JSON.stringify(runBacktest(record(), ALL)));
});

test('a question whose caller has gone before its turn is not worked out, and is not answered', async () => {
  const own = record();
  let worked = 0;
  let end = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work: EdgeWork = {
    own: async (order) => {
      worked += 1;
      await held;
      return WORK_APART.own(order);
    },
    family: WORK_APART.family,
  };
  const gone = new AbortController();
  const first = prepareAnswer(own, ALL, work, WAITING);
  const second = prepareAnswer(own, { ...ALL, cost_bps: 2 }, work, gone);
  gone.abort();
  expect((await second)?.code).toBe('timed_out');
  end();
  expect(await first).toBeNull();
  expect(await prepareAnswer(own, ALL, work, WAITING)).toBeNull();
  expect(worked).toBe(1);
});

test('threads that begin before somebody asks answer while they begin, and others after a stop', async () => {
  const begun = startThreads();
  const first = record();
  expect(await prepareAnswer(first, ALL, WORK_APART, WAITING)).toBeNull();
  await begun.stop();
  const second = record();
  expect(await prepareAnswer(second, ALL, WORK_APART, WAITING)).toBeNull();
  for (const one of [first, second]) {
    expect(JSON.stringify(runBacktest(one, ALL))).toBe(JSON.stringify(runBacktest(record(), ALL)));
  }
});
