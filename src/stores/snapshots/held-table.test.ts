import { expect, test } from 'vitest';
import { decide, Part, Read, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { launchOf } from '../../ports/launches.suite.ts';
import type { ReachedAt } from '../../ports/launches.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { memoryLaunchCorpus } from '../../testing/twins/launches.ts';
import { collectedCorpus } from './held-table.ts';

const HOUR_S = 3_600;
const CORPUS = memoryLaunchCorpus({
  launches: [launchOf('mint', 'wallet', false)],
  as_of: STILL_NOW,
  simulated: false,
});
const SOURCE = { name: 's', url: 'memory:', as_of: 0, kind: 'table', simulated: false } as const;

function watching(reachedAt: ReachedAt) {
  const bound = { pollMs: 60_000, onBug: () => undefined };
  return collectedCorpus({ corpus: CORPUS, reachedAt, now: () => STILL_NOW, ...bound });
}

const reached = (at: number | null): ReachedAt => {
  return async () => read(at, { port: 'launch_collection', source: SOURCE });
};

test.each([
  ['nothing is collected', null],
  ['it was read 48 hours ago', STILL_NOW - 48 * HOUR_S],
])('answers whole while %s', async (_, at) => {
  const corpus = watching(reached(at));
  await corpus.poll();
  expect(await corpus.lookUp(['wallet', 'nobody'])).toBeInstanceOf(Read);
});

test('past 48 hours it tells whom it holds, and denies nobody', async () => {
  const corpus = watching(reached(STILL_NOW - 48 * HOUR_S - 1));
  await corpus.poll();
  const look = await corpus.lookUp(['wallet', 'nobody']);
  expect(look).toBeInstanceOf(Part);
  expect(decide(look, ({ found }) => found.has('wallet'))).toBeInstanceOf(Read);
  expect(decide(look, ({ found }) => found.has('nobody'))).toMatchObject({
    checked: false,
    why: { code: 'launch_collection_stale' },
  });
});

test('what was last read of its age goes on counting while the store is silent', async () => {
  let isDown = false;
  const down = why('store_unreadable', { what: 'The store', fault: 'it is down' });
  const old = reached(STILL_NOW - 72 * HOUR_S);
  const corpus = watching(async () => (isDown ? unread('launch_collection', down) : old()));
  await corpus.poll();
  isDown = true;
  await corpus.poll();
  expect(await corpus.lookUp(['nobody'])).toBeInstanceOf(Part);
});
