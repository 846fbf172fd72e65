// What every transfer store promises of chains that are followed: through re-orgs, finality and
// restarts it ends where a store would that was only ever told the chain that is left.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Reading } from '../../evidence/reading.ts';
import type { Cursor, Following, Moved, Tenure, TipBlock } from './transfer-store.ts';
import {
  given,
  hashOf,
  KINDS,
  NONE,
  NOW,
  PROPERTY_TIMEOUT_MS,
  party,
  RUNS,
  type StoreUnderTest,
  sightOf,
  transferFact,
} from './transfer-store-facts.suite.ts';

type Fresh = () => Promise<StoreUnderTest>;

function cursorOf(reading: Reading<Moved, never>): Cursor {
  const moved = given(reading);
  if (!moved.moved) throw new Error(`refused: ${moved.refused}`);
  return moved.cursor;
}

const FOLLOWING: Following = {
  chain: 'ethereum',
  from_block: 1,
  kinds: KINDS,
  source: 'suite',
  origin: 'observed',
};

let epoch = 0;

/** The tenure of the next follower, behind which no other one is still at work. */
export function tenure(): Tenure {
  epoch += 1;
  return { epoch, settle: async () => undefined };
}

/** The block of a number on a fork: another fork has other hashes and other transfers. */
function tipBlock(number: number, fork: string, parent: string): TipBlock {
  const seed = number * 7 + fork.charCodeAt(0);
  const transfers = Array.from({ length: number % 3 }, (_, at) =>
    transferFact(seed * 10 + at, {
      block: number,
      block_hash: hashOf(fork, number),
      position: at,
      from: party(seed + at),
      to: party(seed + at + 1 + (number % 2)),
    }),
  );
  const header = { number, hash: hashOf(fork, number), parent_hash: hashOf(parent, number - 1) };
  return { ...header, time: NOW - 1_000 + number, transfers, creations: [] };
}

/** The blocks of a fork from a number on; the first may hang on another fork. */
export function chainOf(from: number, count: number, fork: string, parent = fork): TipBlock[] {
  return Array.from({ length: count }, (_, at) =>
    tipBlock(from + at, fork, at === 0 ? parent : fork),
  );
}

type Step =
  | { readonly do: 'grow'; readonly count: number }
  | { readonly do: 'reorg'; readonly depth: number; readonly count: number }
  | { readonly do: 'finalise'; readonly keep: number }
  | { readonly do: 'restart' };

const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('grow' as const), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({
      do: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 6 }),
      count: fc.integer({ min: 0, max: 4 }),
    }),
    fc.record({ do: fc.constant('finalise' as const), keep: fc.nat(5) }),
    fc.record({ do: fc.constant('restart' as const) }),
  ),
  { maxLength: 8 },
);

/** Takes the steps on a store; answers the blocks that are left at their end. */
async function follow(made: StoreUnderTest, steps: readonly Step[]): Promise<TipBlock[]> {
  const { chain } = FOLLOWING;
  let { store } = made;
  let cursor = given(await store.follow(FOLLOWING, tenure()));
  let blocks: TipBlock[] = [];
  let forks = 0;
  const fork = () => String.fromCharCode(65 + forks);
  let above = fork();
  for (const step of steps) {
    const last = blocks.length;
    if (step.do === 'grow') {
      const more = chainOf(last + 1, step.count, fork(), above);
      cursor = cursorOf(await store.applyTip(chain, more));
      blocks = [...blocks, ...more];
      above = fork();
    } else if (step.do === 'reorg') {
      const final = cursor.final_block === null ? 0 : cursor.final_block;
      const to = Math.max(final, last - step.depth);
      cursor = cursorOf(await store.rollBack(chain, to));
      const under = to === 0 ? fork() : (blocks[to - 1]?.hash ?? '');
      blocks = blocks.slice(0, to);
      forks += 1;
      const [first, ...rest] = chainOf(to + 1, step.count, fork());
      if (first === undefined) continue;
      const hung = to === 0 ? first : { ...first, parent_hash: under };
      cursor = cursorOf(await store.applyTip(chain, [hung, ...rest]));
      blocks = [...blocks, hung, ...rest];
      above = fork();
    } else if (step.do === 'finalise') {
      cursor = cursorOf(await store.finalise(chain, last - step.keep));
    } else {
      store = made.restarted();
      cursor = given(await store.follow(FOLLOWING, tenure()));
    }
    expect(cursor.tip.at(-1)?.hash ?? cursor.final_hash).toBe(blocks.at(-1)?.hash ?? null);
  }
  return blocks;
}

/** Runs the promises of following. */
export function promisesOfFollowing(name: string, fresh: Fresh): void {
  const begun = async (): Promise<StoreUnderTest> => {
    const made = await fresh();
    given(await made.store.follow(FOLLOWING, tenure()));
    return made;
  };

  describe(`${name}: following`, () => {
    test(
      'through re-orgs, finality and restarts ends as if only the chain that is left had been',
      async () => {
        const property = fc.asyncProperty(anySteps, async (steps) => {
          const made = await fresh();
          const blocks = await follow(made, steps);
          const sight = await sightOf(made.history());
          const straight = await begun();
          if (blocks.length > 0) cursorOf(await straight.store.applyTip('ethereum', blocks));
          expect(sight).toEqual(await sightOf(straight.history()));
        });
        await fc.assert(property, { numRuns: RUNS });
      },
      PROPERTY_TIMEOUT_MS,
    );

    test('blocks that do not stand right behind the cursor are refused, and nothing of them is held', async () => {
      const made = await begun();
      const { store } = made;
      cursorOf(await store.applyTip('ethereum', chainOf(1, 3, 'A')));
      const before = await sightOf(made.history());
      for (const [blocks, refused] of [
        [chainOf(5, 1, 'A'), 'gap'],
        [chainOf(3, 1, 'A'), 'gap'],
        [chainOf(4, 1, 'B'), 'parent_differs'],
        [[...chainOf(4, 1, 'A'), ...chainOf(5, 1, 'B')], 'parent_differs'],
      ] as const) {
        expect(given(await store.applyTip('ethereum', blocks))).toMatchObject({ refused });
      }
      expect(await sightOf(made.history())).toEqual(before);
    });

    test('what is final is not undone', async () => {
      const { store } = await begun();
      cursorOf(await store.applyTip('ethereum', chainOf(1, 5, 'A')));
      const final = cursorOf(await store.finalise('ethereum', 3));
      expect(final).toMatchObject({ final_block: 3, final_hash: hashOf('A', 3) });
      expect(final.tip.map(({ number }) => number)).toEqual([4, 5]);
      expect(given(await store.rollBack('ethereum', 2))).toMatchObject({ refused: 'final' });
      expect(cursorOf(await store.rollBack('ethereum', 3)).tip).toEqual([]);
    });

    test('a chain that was never followed has no cursor; a restart finds the one that was left', async () => {
      const made = await fresh();
      expect(given(await made.store.cursor('ethereum'))).toBeNull();
      given(await made.store.follow(FOLLOWING, tenure()));
      const left = cursorOf(await made.store.applyTip('ethereum', chainOf(1, 4, 'A')));
      expect(given(await made.restarted().cursor('ethereum'))).toEqual(left);
      expect(
        given(await made.restarted().follow({ ...FOLLOWING, from_block: 99 }, tenure())),
      ).toEqual(left);
    });

    test('blocks that are final already go in without a tip, and following goes on behind them', async () => {
      const made = await begun();
      const blocks = chainOf(1, 6, 'A');
      const cursor = cursorOf(await made.store.applyFinal('ethereum', blocks));
      expect(cursor).toMatchObject({ final_block: 6, tip: [] });
      expect(given(await made.store.applyFinal('ethereum', blocks))).toMatchObject({
        refused: 'gap',
      });
      cursorOf(await made.store.applyTip('ethereum', chainOf(7, 2, 'A')));
      const straight = await begun();
      cursorOf(await straight.store.applyTip('ethereum', chainOf(1, 8, 'A')));
      expect(await sightOf(made.history())).toEqual(await sightOf(straight.history()));
    });

    test('an imported header of another fork takes no block away from what is followed', async () => {
      const made = await begun();
      const blocks = chainOf(1, 6, 'A');
      // An import brought the headers of a fork that was lost, before the chain was followed.
      const lost = chainOf(1, 6, 'L').map(({ number, hash, parent_hash, time }) => {
        return { chain: 'ethereum' as const, number, hash, parent_hash, time };
      });
      const provenance = { source: 'suite', origin: 'observed', import_id: 'lost' } as const;
      given(await made.store.appendImported({ ...NONE, blocks: lost }, provenance));
      const cursor = cursorOf(await made.store.applyFinal('ethereum', blocks));
      expect(cursor).toMatchObject({ final_block: 6, final_hash: hashOf('A', 6) });
      const straight = await begun();
      cursorOf(await straight.store.applyFinal('ethereum', blocks));
      expect(await sightOf(made.history())).toEqual(await sightOf(straight.history()));
    });

    test('coverage reaches the tip, of the kinds that the node tells and of no other', async () => {
      const made = await fresh();
      const following = { ...FOLLOWING, kinds: ['native', 'token'] } as const;
      given(await made.store.follow(following, tenure()));
      cursorOf(await made.store.applyTip('ethereum', chainOf(1, 5, 'A')));
      cursorOf(await made.store.finalise('ethereum', 2));
      const [held] = given(await made.store.status());
      const range = { from_block: 1, to_block: 5, to_time: NOW - 995, origin: 'observed' };
      expect(held?.coverage).toEqual([
        { ...range, kind: 'native' },
        { ...range, kind: 'token' },
      ]);
      expect(held?.following).toEqual({ final_block: 2, tip_block: 5 });
    });

    test('where a node tells more kinds than before, the new ones begin behind what is final', async () => {
      const made = await fresh();
      given(await made.store.follow({ ...FOLLOWING, kinds: ['native'] }, tenure()));
      cursorOf(await made.store.applyTip('ethereum', chainOf(1, 5, 'A')));
      cursorOf(await made.store.finalise('ethereum', 3));
      const store = made.restarted();
      const cursor = given(await store.follow(FOLLOWING, tenure()));
      expect(cursor).toMatchObject({ final_block: 3, tip: [], kinds: KINDS });
      cursorOf(await store.applyTip('ethereum', chainOf(4, 3, 'A')));
      const [held] = given(await store.status());
      const reach = held?.coverage.map(({ kind, from_block, to_block }) => {
        return [kind, from_block, to_block];
      });
      expect(reach?.sort()).toEqual([
        ['internal', 4, 6],
        ['native', 1, 6],
        ['token', 4, 6],
      ]);
    });
  });
}
