// One turn at a time, in the order of coming within requests and within jobs; requests first, and
// no job waits without end. What fails gives its turn back, and is told to its own caller alone.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LATE_FOR_MS, TURN_WAIT_MS_MAX } from '../../../evidence/queue-watch.ts';
import { JOB_TURN_EACH_MS, takeTurns } from './turns.ts';

type Kind = 'request' | 'job';
type Asked = { readonly kind: Kind; readonly takesMs: number; readonly fails: boolean };
type Begun = { readonly kind: Kind; readonly n: number; readonly atMs: number };

/** Lets everything go on that waits for nothing else. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Turns at a clock of the test's own, each of which ends when the test says so. */
function turnsAtStillClock() {
  let nowMs = 0;
  let underWay: { readonly kind: Kind; readonly takesMs: number; end: () => void } | null = null;
  const begun: Begun[] = [];
  const open: Record<Kind, { n: number; cameMs: number }[]> = { request: [], job: [] };
  const turns = takeTurns(() => nowMs);
  const take = { request: turns.forRequest, job: turns.forJob };
  return {
    begun,
    open,
    isLate: turns.isLate,
    nowMs: () => nowMs,
    ask: ({ kind, takesMs, fails }: Asked, n: number) => {
      open[kind].push({ n, cameMs: nowMs });
      return take[kind](async () => {
        expect(underWay).toBeNull();
        begun.push({ kind, n, atMs: nowMs });
        await new Promise<void>((end) => {
          underWay = { kind, takesMs, end };
        });
        if (fails) throw new Error(`fault ${n}`);
        return n;
      });
    },
    /** Ends the turn under way; whether there was one. */
    endTurn: async () => {
      if (underWay === null) return false;
      const { kind, takesMs, end } = underWay;
      nowMs += takesMs;
      underWay = null;
      end();
      await settle();
      return kind;
    },
  };
}

const asked = fc.record({
  kind: fc.constantFrom<Kind>('request', 'job'),
  takesMs: fc.integer({ min: 0, max: 2 * JOB_TURN_EACH_MS }),
  fails: fc.boolean(),
});

test('whatever comes when, requests go first, in order, and jobs go on between them', async () => {
  const steps = fc.array(fc.oneof(asked, fc.constant('end' as const)), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const turns = turnsAtStillClock();
      const outcomes: Promise<PromiseSettledResult<number>[]>[] = [];
      let jobEndedMs = Number.NEGATIVE_INFINITY;
      let seen = 0;
      // Looks at who has begun since the last look, while both lists stand as they stood then.
      const look = () => {
        for (; seen < turns.begun.length; seen += 1) {
          const { kind, n, atMs } = turns.begun[seen] as Begun;
          const [mine, other] = [turns.open[kind], turns.open[kind === 'job' ? 'request' : 'job']];
          const first = turns.open.job[0];
          const isJobDue =
            first !== undefined && atMs - Math.max(first.cameMs, jobEndedMs) >= JOB_TURN_EACH_MS;
          if (other.length > 0) expect(kind).toBe(isJobDue ? 'job' : 'request');
          expect(mine.shift()?.n).toBe(n);
        }
      };
      const end = async () => {
        const ended = await turns.endTurn();
        if (ended === 'job') jobEndedMs = turns.nowMs();
        look();
        return ended !== false;
      };
      for (const [n, step] of script.entries()) {
        if (step === 'end') await end();
        else {
          outcomes.push(Promise.allSettled([turns.ask(step, n)]));
          await settle();
          look();
        }
      }
      while (await end());
      const told = (await Promise.all(outcomes)).flat();
      const all = script.flatMap((step, n) => (step === 'end' ? [] : [{ ...step, n }]));
      expect(told).toEqual(
        all.map(({ fails, n }) =>
          fails
            ? { status: 'rejected', reason: new Error(`fault ${n}`) }
            : { status: 'fulfilled', value: n },
        ),
      );
    }),
    { numRuns: 300 },
  );
});

test('jobs that wait long make nothing late, requests do', async () => {
  for (const kind of ['job', 'request'] as const) {
    const turns = turnsAtStillClock();
    const step = { kind, takesMs: TURN_WAIT_MS_MAX + LATE_FOR_MS, fails: false };
    const all = Promise.all([0, 1, 2, 3].map((n) => turns.ask(step, n)));
    await settle();
    for (let n = 0; n < 2; n += 1) await turns.endTurn();
    // It waits for the turn under way alone, where only jobs have waited.
    const one = turns.ask({ ...step, kind: 'request' }, 4);
    expect(turns.isLate()).toBe(kind === 'request');
    while ((await turns.endTurn()) !== false);
    expect(turns.isLate()).toBe(false);
    await Promise.all([all, one]);
  }
});

test('who finds too many before him is told so, of requests and of jobs each', async () => {
  const turns = takeTurns(() => 0);
  let end = () => {};
  const first = turns.forJob(() => new Promise<void>((resolve) => (end = resolve)));
  const waiting = Array.from({ length: 10_000 }, () => turns.forJob(async () => 1));
  await expect(turns.forJob(async () => 1)).rejects.toMatchObject({ code: 'EBUSY' });
  const request = turns.forRequest(async () => 'answered');
  end();
  await first;
  expect(await request).toBe('answered');
  await Promise.all(waiting);
});
