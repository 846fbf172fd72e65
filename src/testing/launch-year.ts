// Runs a simulated year of launches through the real jobs and the real store, by a virtual clock,
// and counts what is said that is not true.

import { DAY_S, HOUR_S } from '../chain/time.ts';
import { basis, Read } from '../evidence/reading.ts';
import { recordFields, whyNoRecord } from '../features/deployers/record.ts';
import { walker } from '../features/deployers/walks.job.ts';
import { collectAccount } from '../features/launches/collect.ts';
import { settleRound } from '../features/launches/settle.ts';
import { scoreOnce } from '../features/rugs/score.job.ts';
import { scoreWallet } from '../features/rugs/scoring.ts';
import { readWindow, WINDOW_S, type WindowPorts, whyUnwatched } from '../features/rugs/watch.ts';
import { LAUNCH_LATE_S, LAUNCH_WINDOW_S, launchCorpus } from '../features/tables/launches.ts';
import type { LaunchWatch } from '../ports/rug-flags.ts';
import type { LaunchOnRecord, WalletToScore } from '../ports/rug-model.ts';
import { deployerRecordTable, deployerWalkTable, walkIn } from '../stores/control/deployers.ts';
import type { Database } from '../stores/control/engine/database.ts';
import { tableStore } from '../stores/control/imported-tables.ts';
import { LAUNCH_NOTES, launchCollectionTable } from '../stores/control/launch-collection.ts';
import { launchScoringTable } from '../stores/control/launch-scoring.ts';
import { launchWatchTable } from '../stores/control/launch-watch.ts';
import { flagEventLog, rugFlagTable } from '../stores/control/rug-flags.ts';
import type { TestStore } from './control-store.ts';
import { REVIEWED_TOKENS } from './launch-scores.ts';
import {
  outageAt,
  solanaSourcesOf,
  type TrueLaunch,
  walkSourcesOf,
  type YearWorld,
  yearWorld,
} from './launch-year-world.ts';
import { lotteryOf } from './lottery.ts';
import { rowsAs } from './rows-as.ts';
import { levelOf, modelInForce, SMALL_MODEL } from './rug-models.ts';
import { memoryLaunchWatch, WATCHED } from './twins/rug-flags.ts';

/** What a year came to: how much was looked at, and how often what was said was not true. */
export type YearCounts = {
  steps: number;
  walks: number;
  launches: number;
  flags: number;
  retractions: number;
  /** Windows that said that nobody was missing from them, of these without a flag, and the rest. */
  whole: number;
  quiet: number;
  in_part: number;
  /** Records that said a state of every launch. */
  states: number;
  false_windows: number;
  false_credits: number;
  false_flags: number;
  false_states: number;
  false_retractions: number;
  /** The first few of what was not true. */
  readonly examples: string[];
};

/** What a year is, and what is put in the place of the watch. */
export type YearOptions = {
  readonly seed: number;
  readonly days: number;
  readonly launchers: number;
  /** Takes the watch away: every source is then said to have been watched. */
  readonly unwatched?: boolean;
};

const FROM = Date.UTC(2026, 0, 1) / 1_000;
/** The clock goes on by one of these, so that there are looks within an outage and days without. */
const STEPS_H = [2, 5, 11, 17, 26, 30] as const;
const ACCOUNT = 'program';
const ROUNDS_MAX = 2_000;
const EXAMPLES_MAX = 5;
const LEVEL = 0.7;
const MODEL = { ...SMALL_MODEL, card: { ...SMALL_MODEL.card, level: levelOf(LEVEL) } };
const signal = new AbortController().signal;

/** Runs a year over an empty store. */
export async function runYear(store: TestStore, options: YearOptions): Promise<YearCounts> {
  const { seed, days, launchers } = options;
  const world = yearWorld(seed, FROM, days, launchers);
  const lottery = lotteryOf(seed * 31 + 7);
  let clock = FROM;
  const now = () => clock;
  const jobs = jobsOf(store, world, now, options);
  const counts: YearCounts = { ...NOTHING, examples: [] };
  const unasked = world.launchers.filter(({ chain }) => chain === 'ethereum');
  const asked = new Set<string>();
  let told = 0;
  while (clock < world.to) {
    clock += lottery.oneOf(STEPS_H) * HOUR_S + lottery.below(HOUR_S);
    await store.setClock(clock);
    // Most are asked about early, some only months later.
    for (let n = 0; n < unasked.length; n += 1) {
      if (!lottery.happens(0.15)) continue;
      const [one] = unasked.splice(n, 1);
      if (one === undefined) continue;
      asked.add(one.address);
      await jobs.ask(one.address);
    }
    counts.walks += await jobs.run();
    counts.steps += 1;
    await checkWindow(jobs.window, { store, world, clock, counts, asked });
    await checkRecords(store, world, clock, counts);
    told = await checkEvents(store, world, told, counts);
  }
  counts.launches = world.launches.length;
  await checkScores(store, world, counts);
  return counts;
}

const NOTHING = {
  steps: 0,
  walks: 0,
  launches: 0,
  flags: 0,
  retractions: 0,
  whole: 0,
  quiet: 0,
  in_part: 0,
  states: 0,
  false_windows: 0,
  false_credits: 0,
  false_flags: 0,
  false_states: 0,
  false_retractions: 0,
};

function jobsOf(
  store: Database,
  world: YearWorld,
  now: () => number,
  { unwatched = false }: YearOptions,
) {
  const context = { simulated: false, nowMs: () => now() * 1_000 };
  const walks = deployerWalkTable(store, context);
  const records = deployerRecordTable(store, context, null);
  const limits = { contractsMax: 20, atOnce: 4, exitLiquidityUsd: 1_000, launchedWithMax: 20 };
  const walk = walker({ sources: walkSourcesOf(world, now), walks, limits, now });
  const { feed, listings } = solanaSourcesOf(world, now);
  const windows = { windowS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S };
  const collection = launchCollectionTable(store, context, windows);
  const collecting = {
    feed,
    collection,
    limits: { transactionsMax: 500, stepMax: 50, attemptsMax: 3 },
  };
  const settling = {
    collection,
    listings,
    table: tableStore(store, launchCorpus, now, LAUNCH_NOTES),
    origin: 'observed',
    limits: { launchesMax: 500, atOnce: 4 },
    now,
  } as const;
  const inForce = modelInForce(['ethereum', 'solana'], 'rug-1', { level: levelOf(LEVEL) });
  const scoring = {
    scoring: launchScoringTable(store, context, () => undefined),
    established: REVIEWED_TOKENS,
    inForce,
    now,
  };
  const unset = { explorer: [], node: [], venue: [] };
  const settles = { afterS: LAUNCH_WINDOW_S, lateS: LAUNCH_LATE_S };
  const watch = launchWatchTable(store, context, { inForce, unset, settles });
  const launchWatch: LaunchWatch = unwatched ? memoryLaunchWatch(WATCHED) : watch;
  const window: WindowPorts = {
    rugFlags: rugFlagTable(store, context, { listed: REVIEWED_TOKENS, inForce }),
    launchWatch,
  };
  const walkAll = async () => {
    let walked = 0;
    for (; walked < ROUNDS_MAX; walked += 1) {
      const next = await walks.take(960);
      if (!next.checked || next.value === null) break;
      await walk(next.value, signal);
    }
    return walked;
  };
  return {
    window,
    ask: (address: string) => records.recordOf(address, 'somebody'),
    /** Everything that works, until nothing is due; how many walks that took. */
    run: async () => {
      const walked = outageAt(world, 'walker', now()) === null ? await walkAll() : 0;
      if (outageAt(world, 'collector', now()) === null) {
        for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
          const { whole, failed } = await collectAccount(collecting, ACCOUNT, signal);
          if (whole || failed !== null) break;
        }
      }
      for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
        const { listed, gone } = await settleRound(settling, signal);
        if (listed + gone === 0) break;
      }
      await scoreOnce(scoring, signal);
      return walked;
    },
  };
}

type Look = {
  readonly store: Database;
  readonly world: YearWorld;
  readonly clock: number;
  readonly counts: YearCounts;
  /** The wallets that somebody asked about. */
  readonly asked: ReadonlySet<string>;
};

function note({ examples }: YearCounts, text: string): void {
  if (examples.length < EXAMPLES_MAX) examples.push(text);
}

/** A window that says that nobody is missing from it: is somebody? */
async function checkWindow(window: WindowPorts, look: Look): Promise<void> {
  const { store, world, clock, counts, asked } = look;
  const reading = await readWindow(window);
  const unwatched = await whyUnwatched(window);
  if (!(reading instanceof Read)) {
    counts.in_part += 1;
    if (unwatched === null) {
      counts.false_windows += 1;
      note(counts, `at ${clock}: the stream calls a window watched that is a part`);
    }
    return;
  }
  counts.whole += 1;
  const shown = new Set(reading.value.flags.map(({ token }) => token));
  if (shown.size === 0) counts.quiet += 1;
  const as_of = Math.min(...basis(reading).sources.map((source) => source.as_of));
  const walked = await rowsAs<{ address: string; at: number }>(
    store,
    'select address, extract(epoch from captured_at)::float8 as at from deployer_records',
  );
  const observed = new Map(walked.map(({ address, at }) => [address, at]));
  const mints = await rowsAs<{ mint: string }>(
    store,
    'select mint from collected_launches union select mint from launches',
  );
  const onRecord = new Set(mints.map(({ mint }) => mint));
  for (const { chain, address } of world.launchers) {
    if (chain === 'ethereum' && !asked.has(address)) continue;
    // What a window says, it says up to its date, and of each wallet up to its walk.
    const walkedAt = observed.get(address);
    const at = walkedAt === undefined ? as_of : Math.max(walkedAt, as_of);
    // A mint of before the window that a gap swallowed is none that the window could tell of.
    const isKnown = (one: TrueLaunch) =>
      chain === 'ethereum' || one.at > clock - WINDOW_S || onRecord.has(one.token);
    for (const token of tokensToFlag(world, { chain, address, at, isKnown })) {
      const launch = world.launches.find((one) => one.token === token);
      if (launch === undefined || launch.at <= clock - WINDOW_S || shown.has(token)) continue;
      counts.false_windows += 1;
      note(counts, `at ${clock} (as of ${as_of}): ${chain} ${token} of ${launch.at} is missing`);
    }
  }
}

type Observed = {
  readonly chain: TrueLaunch['chain'];
  readonly address: string;
  readonly at: number;
  readonly isKnown: (launch: TrueLaunch) => boolean;
};

/** The launches of a wallet that the model flags on what is true of it at a moment. */
function tokensToFlag(world: YearWorld, { chain, address, at, isKnown }: Observed): string[] {
  const launches = world.launches
    .filter((one) => one.launcher === address && one.at <= at && isKnown(one))
    .map((one): LaunchOnRecord => {
      return {
        token: one.token,
        launched_at: one.at,
        liquidity_usd: null,
        launched_with_usd: null,
        launched_with_ether: null,
        launched_with_unread: null,
        listed: chain === 'solana' || one.listed,
        seen: fateAt(one, at),
      };
    });
  const wallet: WalletToScore = {
    chain,
    address,
    observed_at: at,
    launches,
    // Of launches whose fate may be known or not, either has to convict.
    unread: launches.some(({ seen, listed }) => seen === null && listed === true) ? 'some' : null,
    record: { is_whole: true, disowned: [] },
  };
  const by = { model: MODEL, level: LEVEL, isListedToken: () => false };
  return scoreWallet(wallet, by, at)
    .filter(({ outcome }) => outcome === 'flagged')
    .map(({ token }) => token);
}

/** What is known of a launch at a moment by whoever looks in time; `null`: that depends. */
function fateAt(launch: TrueLaunch, at: number): LaunchOnRecord['seen'] {
  const { diesAt, listed, droppedAt } = launch;
  const isDead = (moment: number) => diesAt !== null && diesAt <= moment;
  if (launch.chain === 'ethereum') {
    if (!listed || (droppedAt !== null && droppedAt <= at)) return null;
    return { as: isDead(at) ? 'died' : 'live', at };
  }
  const asked = launch.at + LAUNCH_WINDOW_S;
  if (at < launch.at + LAUNCH_LATE_S) return null;
  if (!listed || isDead(asked)) return { as: 'died', at };
  return isDead(launch.at + LAUNCH_LATE_S) ? null : { as: 'live', at };
}

/** A record that says a state of every launch, or that there is none: is it so? */
async function checkRecords(
  store: Database,
  world: YearWorld,
  clock: number,
  counts: YearCounts,
): Promise<void> {
  const rows = await rowsAs<{ walk: string }>(
    store,
    'select walk from deployer_records where captured_at >= control_now()',
  );
  for (const row of rows) {
    const walk = walkIn(row.walk);
    const { captured_at: at, address } = walk;
    const record = { ...walk, failed: null };
    const own = world.launches.filter((one) => one.launcher === address && one.at <= at);
    const once = own.filter(({ listed }) => listed);
    const alive = once.filter(({ diesAt }) => diesAt === null || diesAt > at);
    const { state } = recordFields(record, clock);
    const isNone = whyNoRecord(record) !== null;
    const isTrue =
      (isNone && own.length === 0) ||
      (!isNone && state === 'unchecked') ||
      (!isNone && state === 'mixed' && alive.length > 0) ||
      (!isNone && state === 'all_died' && alive.length === 0 && once.length > 0) ||
      (!isNone && state === 'no_listed_launch' && once.length === 0);
    if (isNone || state !== 'unchecked') counts.states += 1;
    if (isTrue) continue;
    counts.false_states += 1;
    note(counts, `at ${clock}: ${address} is said to be ${isNone ? 'without a launch' : state}`);
  }
}

/** The flags and retractions after a number: whose, on what ground, and why they fell. */
async function checkEvents(
  store: Database,
  world: YearWorld,
  after: number,
  counts: YearCounts,
): Promise<number> {
  const log = flagEventLog(store, { simulated: false, nowMs: () => 0 });
  const reading = await log.after(after);
  if (!reading.checked) throw new Error(reading.why.reason);
  const byToken = new Map(world.launches.map((one) => [one.token, one]));
  for (const event of reading.value.events) {
    if (event.kind !== 'flag' && event.kind !== 'retraction') continue;
    const { address, token } = event;
    const launch = byToken.get(token);
    if (launch?.launcher !== address) {
      counts.false_credits += 1;
      note(counts, `${token} is credited to ${address}`);
    } else if (event.kind === 'flag') {
      counts.flags += 1;
      if (hasGround(world, launch, event.flagged_at)) continue;
      counts.false_flags += 1;
      note(counts, `at ${event.flagged_at}: ${token} is flagged without a death before it`);
    } else {
      counts.retractions += 1;
      if (event.reason.startsWith('The model ')) continue;
      counts.false_retractions += 1;
      note(counts, `at ${event.retracted_at}: the flag of ${token} fell: ${event.reason}`);
    }
  }
  return reading.value.newest;
}

/** Every score that was kept: is the launch the wallet's? */
async function checkScores(store: Database, world: YearWorld, counts: YearCounts): Promise<void> {
  const launchers = new Map(world.launches.map(({ token, launcher }) => [token, launcher]));
  const scores = await rowsAs<{ address: string; token: string }>(
    store,
    'select address, token from launch_scores',
  );
  for (const { address, token } of scores) {
    if (launchers.get(token) === address) continue;
    counts.false_credits += 1;
    note(counts, `${token} is scored as ${address}'s`);
  }
}

/** Whether a launch of the same wallet had died by then that was made before it. */
function hasGround({ launches }: YearWorld, launch: TrueLaunch, at: number): boolean {
  return (
    (launch.listed || launch.chain === 'solana') &&
    launches.some((one) => {
      const isDead = one.diesAt !== null && one.diesAt <= at;
      const isGone = one.chain === 'solana' && !one.listed && one.at + DAY_S <= at;
      return one.launcher === launch.launcher && one.at < launch.at && (isDead || isGone);
    })
  );
}

/** The counts of a year on one line. */
export function yearText(seed: number, { examples, ...counts }: YearCounts): string {
  const told = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return [`seed ${seed}: ${told.join(', ')}`, ...examples.map((one) => `  ${one}`)].join('\n');
}
