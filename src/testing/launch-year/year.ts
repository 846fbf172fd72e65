// Runs a simulated year of launches through the real jobs and the real store, by a virtual clock,
// and counts what is said that is not true.

import { HOUR_S } from '../../chain/time.ts';
import { walker } from '../../features/deployers/walks.job.ts';
import { collectAccount } from '../../features/launches/collect.ts';
import { settleRound } from '../../features/launches/settle.ts';
import { scoreOnce } from '../../features/rugs/score.job.ts';
import { LAUNCH_LATE_S, LAUNCH_WINDOW_S, launchCorpus } from '../../features/tables/launches.ts';
import { deployerRecordTable, deployerWalkTable } from '../../stores/control/deployers.ts';
import { tableStore } from '../../stores/control/imported-tables.ts';
import { LAUNCH_NOTES, launchCollectionTable } from '../../stores/control/launch-collection.ts';
import { launchScoringTable } from '../../stores/control/launch-scoring.ts';
import { launchWatchTable } from '../../stores/control/launch-watch.ts';
import { rugFlagTable } from '../../stores/control/rug-flags.ts';
import type { TestStore } from '../control-store.ts';
import { REVIEWED_TOKENS } from '../launch-scores.ts';
import { type Lottery, lotteryOf } from '../lottery.ts';
import { modelInForce } from '../rug-models.ts';
import {
  COUNTED,
  checkScores,
  checkStep,
  noCounts,
  YEAR_LEVEL,
  type YearCounts,
} from './checks.ts';
import type { Flaw, YearParts } from './flaws.ts';
import { solanaSourcesOf, walkSourcesOf } from './sources.ts';
import { hexOf, outageAt, type YearSize, type YearWorld, yearWorld } from './world.ts';

/** What a year is, and what is put in the place of a part of the product. */
export type YearOptions = YearSize & {
  readonly seed: number;
  /** The clock goes on by one of these and up to an hour more. */
  readonly stepsH: readonly number[];
  /** Contracts of a wallet that are asked what they made. */
  readonly askedMax: number;
  readonly flaw?: Flaw;
};

const FROM = Date.UTC(2026, 0, 1) / 1_000;
const ACCOUNT = 'program';
const ROUNDS_MAX = 5_000;
/** Walkers at once, as many processes have them. */
const WALKERS = 4;
/** Who floods the queue asks about so many wallets, of which so many walks are made in a step. */
const FLOOD = { wallets: 6, walks: 3 } as const;
const signal = new AbortController().signal;

/** Runs a year over an empty store. */
export async function runYear(store: TestStore, options: YearOptions): Promise<YearCounts> {
  const world = yearWorld(options.seed, FROM, options);
  const lottery = lotteryOf(options.seed * 31 + 7);
  let clock = FROM;
  const jobs = jobsOf(store, world, () => clock, options);
  const counts = { ...noCounts(), launches: world.launches.length };
  const unasked = world.launchers.filter(({ chain }) => chain === 'ethereum');
  const asked = new Set<string>();
  let after = 0;
  while (clock < world.to) {
    clock += lottery.oneOf(options.stepsH) * HOUR_S + lottery.below(HOUR_S);
    await store.setClock(clock);
    for (const address of drawAsked(unasked, lottery)) {
      asked.add(address);
      await jobs.ask(address, 'somebody');
    }
    const { walked, unscored } = await jobs.run();
    counts.walks += walked;
    counts.steps += 1;
    const { window, told } = jobs;
    const look = { store, world, clock, counts, window, told, asked, unscored, after };
    after = await checkStep(look);
  }
  await checkScores(store, world, counts);
  return counts;
}

/** Most are asked about early, before they launch anything or after, some only months later. */
function drawAsked(unasked: YearWorld['launchers'][number][], lottery: Lottery): string[] {
  const now = unasked.filter(() => lottery.happens(0.15)).map(({ address }) => address);
  for (const address of now) {
    unasked.splice(
      unasked.findIndex((one) => one.address === address),
      1,
    );
  }
  return now;
}

function jobsOf(
  store: TestStore,
  world: YearWorld,
  now: () => number,
  { askedMax, flaw }: Pick<YearOptions, 'askedMax' | 'flaw'>,
) {
  const context = { simulated: false, nowMs: () => now() * 1_000 };
  const records = deployerRecordTable(store, context, null);
  const windows = { windowS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S };
  const collection = launchCollectionTable(store, context, windows);
  const solana = solanaSourcesOf(world, now);
  const inForce = modelInForce(['ethereum', 'solana'], 'rug-1', { level: YEAR_LEVEL });
  const unset = { explorer: [], node: [], venue: [] };
  const settles = { afterS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S };
  const sound: YearParts = {
    watch: launchWatchTable(store, context, { inForce, unset, settles }),
    feed: solana.feed,
    scoring: launchScoringTable(store, context, () => undefined),
    walks: deployerWalkTable(store, context),
  };
  const { watch, feed, scoring, walks } = flaw === undefined ? sound : flaw.spoil(sound, world);
  const bounds = { contractsMax: 20, askedMax, launchedWithMax: 20 };
  const limits = { ...bounds, atOnce: 4, exitLiquidityUsd: 1_000 };
  const walk = walker({ sources: walkSourcesOf(world, now), walks, limits, now });
  const ask = (address: string, askedBy: string) => records.recordOf(address, askedBy);
  /** Walks who is due, so many at most, and tells how many were walked. */
  const walkAll = async (most: number, atOnce: number) => {
    let walked = 0;
    const one = async () => {
      while (walked < most) {
        const next = await walks.take(960);
        if (!next.checked || next.value === null) return;
        walked += 1;
        await walk(next.value, signal);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    return walked;
  };
  const walkNow = async () => {
    const way = outageAt(world, 'queue', now());
    if (way === 'stopped') return 0;
    if (way === null) return walkAll(ROUNDS_MAX, WALKERS);
    for (let n = 0; n < FLOOD.wallets; n += 1) await ask(hexOf(`flood ${n}`), 'a flood');
    return walkAll(FLOOD.walks, 1);
  };
  const settling = {
    collection,
    listings: solana.listings,
    table: tableStore(store, launchCorpus, now, LAUNCH_NOTES),
    origin: 'observed',
    limits: { launchesMax: 500, atOnce: 4 },
    now,
  } as const;
  const collecting = {
    feed,
    collection,
    limits: { transactionsMax: 500, stepMax: 50, attemptsMax: 3 },
  };
  const listed = REVIEWED_TOKENS;
  return {
    told: solana,
    window: { rugFlags: rugFlagTable(store, context, { listed, inForce }), launchWatch: watch },
    ask,
    /** Everything that works, until nothing is due. */
    run: async () => {
      const walked = await walkNow();
      if (outageAt(world, 'collection', now()) === null) {
        for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
          const { whole, failed } = await collectAccount(collecting, ACCOUNT, signal);
          if (whole || failed !== null) break;
        }
      }
      for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
        const { listed: alive, gone } = await settleRound(settling, signal);
        if (alive + gone === 0) break;
      }
      const parts = { scoring, established: listed, inForce, now };
      const unscored = await scoreOnce(parts, signal);
      return { walked, unscored: new Set(unscored.map(({ chain }) => chain)) };
    },
  };
}

/** The table of some years, a row each and their sum. */
export function yearsText(years: readonly (readonly [seed: number, counts: YearCounts])[]): string {
  const row = (first: string | number, told: (name: (typeof COUNTED)[number]) => string | number) =>
    `| ${[first, ...COUNTED.map(told)].join(' | ')} |`;
  return [
    row('seed', (name) => name),
    row('--:', () => '--:'),
    ...years.map(([seed, counts]) => row(seed, (name) => counts[name])),
    row('all', (name) => years.reduce((sum, [, counts]) => sum + counts[name], 0)),
    ...years.flatMap(([seed, { examples }]) => examples.map((one) => `seed ${seed}: ${one}`)),
  ].join('\n');
}
