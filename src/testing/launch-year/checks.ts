// Holds what is said after each step of a year against what is true of it, and counts.

import { basis, Read } from '../../evidence/reading.ts';
import { recordFields, whyNoRecord } from '../../features/deployers/record.ts';
import { scoreWallet } from '../../features/rugs/scoring.ts';
import { readWindow, WINDOW_S, type WindowPorts, whyUnwatched } from '../../features/rugs/watch.ts';
import { LAUNCH_LATE_S, LAUNCH_WINDOW_S } from '../../features/tables/launches.ts';
import type { LaunchOnRecord, ScoredChainName, WalletToScore } from '../../ports/rug-model.ts';
import { walkIn } from '../../stores/control/deployers.ts';
import type { Database } from '../../stores/control/engine/database.ts';
import { flagEventLog } from '../../stores/control/rug-flags.ts';
import { rowsAs } from '../rows-as.ts';
import { levelOf, SMALL_MODEL } from '../rug-models.ts';
import type { SolanaSources } from './sources.ts';
import { creditAt, isDeadAt, launchesAt, type TrueLaunch, type YearWorld } from './world.ts';

/** What is counted of a year: how much was looked at, and how often what was said was not true. */
export const COUNTED = [
  'steps',
  'walks',
  'launches',
  'scores',
  'flags',
  'retractions',
  // Windows that said that nobody was missing from them, of these without a flag, and the rest.
  'whole',
  'quiet',
  'in_part',
  // Records that said a state of every launch.
  'states',
  'false_windows',
  'false_credits',
  'false_flags',
  'false_states',
  'false_retractions',
  'missing_retractions',
] as const;
/** The counts of what was said and is not true. */
export const FALSEHOODS = COUNTED.slice(COUNTED.indexOf('false_windows'));
export type Counted = (typeof COUNTED)[number];
/** The counts of a year, and the first few of what was not true. */
export type YearCounts = { [name in Counted]: number } & { readonly examples: string[] };

/** The counts of a year of which nothing was looked at yet. */
export function noCounts(): YearCounts {
  const none = Object.fromEntries(COUNTED.map((name) => [name, 0]));
  return { ...(none as { [name in Counted]: number }), examples: [] };
}

const EXAMPLES_MAX = 5;
const LEVEL = 0.7;
/** How long after its launch a flag that stands is held against what was read. */
const STANDING_S = 12 * 86_400;
const HOURS_OF_ANY_AGE = 1_000_000;

/** The level of the year's model, whose flags no drift withdraws. */
export const YEAR_LEVEL = levelOf(LEVEL, { expected: { flags: 200, low: 0, high: 1 } });
const MODEL = { ...SMALL_MODEL, card: { ...SMALL_MODEL.card, level: YEAR_LEVEL } };
const { target } = MODEL.card;
const TIMELESS = {
  ...MODEL,
  card: { ...MODEL.card, target: { ...target, scored_within_h: HOURS_OF_ANY_AGE } },
};

/** What there is to look at after a step. */
export type Look = {
  readonly store: Database;
  readonly world: YearWorld;
  readonly clock: number;
  readonly counts: YearCounts;
  readonly window: WindowPorts;
  readonly told: Pick<SolanaSources, 'creditTold' | 'fateTold'>;
  /** The wallets of Ethereum that somebody asked about. */
  readonly asked: ReadonlySet<string>;
  /** The chains that could not be scored in the step. */
  readonly unscored: ReadonlySet<string | null>;
  /** The newest event that was looked at before. */
  readonly after: number;
};

/** Looks at everything that is said, and gives the number of the newest event. */
export async function checkStep(look: Look): Promise<number> {
  const walks = await walksIn(look.store);
  await checkWindow(look, walks);
  await checkRecords(look);
  const newest = await checkEvents(look, walks);
  await checkStanding(look, walks);
  return newest;
}

function note({ examples }: YearCounts, text: string): void {
  if (examples.length < EXAMPLES_MAX) examples.push(text);
}

/** The newest walk of each wallet: when, and whether it read everything. */
type Walks = ReadonlyMap<string, { readonly at: number; readonly isWhole: boolean }>;

async function walksIn(store: Database): Promise<Walks> {
  const rows = await rowsAs<{ address: string; at: number; is_whole: boolean }>(
    store,
    'select address, extract(epoch from captured_at)::float8 as at, is_whole from deployer_records',
  );
  return new Map(rows.map(({ address, at, is_whole }) => [address, { at, isWhole: is_whole }]));
}

/** A window that says that nobody is missing from it: is somebody? */
async function checkWindow(look: Look, walks: Walks): Promise<void> {
  const { store, world, clock, counts, asked, window } = look;
  const reading = await readWindow(window);
  if (!(reading instanceof Read)) {
    counts.in_part += 1;
    if ((await whyUnwatched(window)) !== null) return;
    counts.false_windows += 1;
    note(counts, `at ${clock}: the stream calls a window watched that is a part`);
    return;
  }
  counts.whole += 1;
  const shown = new Set(reading.value.flags.map(({ token }) => token));
  if (shown.size === 0) counts.quiet += 1;
  const as_of = Math.min(...basis(reading).sources.map((source) => source.as_of));
  const mints = await rowsAs<{ mint: string }>(
    store,
    'select mint from collected_launches union select mint from launches',
  );
  const onRecord = new Set(mints.map(({ mint }) => mint));
  for (const { chain, address } of world.launchers) {
    if (chain === 'ethereum' && !asked.has(address)) continue;
    // What a window says, it says up to its date, and of each wallet up to its walk.
    const walked = walks.get(address);
    const at = walked === undefined ? as_of : Math.max(walked.at, as_of);
    const launches = launchesAt(world, address, at);
    const isMissing = ({ token, at: launchedAt }: TrueLaunch) =>
      launchedAt > clock - WINDOW_S && !shown.has(token);
    if (!launches.some(isMissing)) continue;
    // A mint of before the window that a gap swallowed is none that the window could tell of.
    const known = launches.filter(
      (one) => chain === 'ethereum' || one.at > clock - WINDOW_S || onRecord.has(one.token),
    );
    const fates = known.map((one) => recordOf(one, fateAt(one, at)));
    for (const token of tokensToFlag({ chain, address, at, launches: fates })) {
      const launch = world.byToken.get(token);
      if (launch === undefined || !isMissing(launch)) continue;
      if (creditAt(launch, clock) !== address) continue;
      counts.false_windows += 1;
      note(counts, `at ${clock} (as of ${as_of}): ${chain} ${token} of ${launch.at} is missing`);
    }
  }
}

type History = {
  readonly chain: ScoredChainName;
  readonly address: string;
  readonly at: number;
  readonly launches: readonly LaunchOnRecord[];
};

/** The launches of a wallet that the model flags; of unknown fates either has to convict. */
function tokensToFlag({ chain, address, at, launches }: History, model = MODEL): string[] {
  const wallet: WalletToScore = {
    chain,
    address,
    observed_at: at,
    launches,
    unread: launches.some(({ seen, listed }) => seen === null && listed === true) ? 'some' : null,
    record: { is_whole: true, disowned: [] },
  };
  const by = { model, level: LEVEL, isListedToken: () => false };
  return scoreWallet(wallet, by, at)
    .filter(({ outcome }) => outcome === 'flagged')
    .map(({ token }) => token);
}

function recordOf(one: TrueLaunch, seen: LaunchOnRecord['seen']): LaunchOnRecord {
  return {
    token: one.token,
    launched_at: one.at,
    liquidity_usd: null,
    launched_with_usd: null,
    launched_with_ether: null,
    launched_with_unread: null,
    listed: one.chain === 'solana' || one.listed,
    seen,
  };
}

/** What is known of a launch at a moment by whoever looks in time; `null`: that depends. */
function fateAt(launch: TrueLaunch, at: number): LaunchOnRecord['seen'] {
  const { listed, droppedAt, chain } = launch;
  if (chain === 'ethereum') {
    if (!listed || (droppedAt !== null && droppedAt <= at)) return null;
    return { as: isDeadAt(launch, at) ? 'died' : 'live', at };
  }
  if (at < launch.at + LAUNCH_LATE_S) return null;
  if (!listed || isDeadAt(launch, launch.at + LAUNCH_WINDOW_S)) return { as: 'died', at };
  return isDeadAt(launch, launch.at + LAUNCH_LATE_S) ? null : { as: 'live', at };
}

/** The launches with which a wallet is credited by what was told, at a moment. */
function launchesTold({ world, told }: Look, address: string, at: number): TrueLaunch[] {
  const all = world.byWallet.get(address);
  return all === undefined
    ? []
    : all.filter((one) => one.at <= at && creditTold(one, told, at) === address);
}

function creditTold(launch: TrueLaunch, told: Look['told'], at: number): string | null {
  if (launch.chain === 'ethereum') return creditAt(launch, at);
  const credited = told.creditTold(launch.token);
  return credited === undefined ? null : credited;
}

/** Whether what was told flags a launch, each fate that nobody was told taken for a death. */
function couldBeFlagged(look: Look, address: string, launch: TrueLaunch, at: number): boolean {
  const launches = launchesTold(look, address, at).map((one) => {
    if (one.chain === 'ethereum') {
      const seen = fateAt(one, at);
      return recordOf(one, seen === null && one.listed ? { as: 'died', at } : seen);
    }
    const seen = look.told.fateTold(one.token);
    return recordOf(one, seen === undefined ? null : seen);
  });
  const { chain, token } = launch;
  return tokensToFlag({ chain, address, at, launches }, TIMELESS).includes(token);
}

/** A record that says a state of every launch, or that there is none: is it so? */
async function checkRecords({ store, world, clock, counts }: Look): Promise<void> {
  const rows = await rowsAs<{ walk: string }>(
    store,
    'select walk from deployer_records where captured_at >= control_now()',
  );
  for (const row of rows) {
    const walk = walkIn(row.walk);
    const { captured_at: at, address } = walk;
    const record = { ...walk, failed: null };
    const own = launchesAt(world, address, at);
    const once = own.filter(({ listed }) => listed);
    const alive = once.filter((one) => !isDeadAt(one, at));
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

/** The flags and retractions of a step: whose, on what ground, and whether they had to fall. */
async function checkEvents(look: Look, walks: Walks): Promise<number> {
  const { store, world, clock, counts, told } = look;
  const log = flagEventLog(store, { simulated: false, nowMs: () => 0 });
  let { after } = look;
  for (;;) {
    const reading = await log.after(after);
    if (!reading.checked) throw new Error(reading.why.reason);
    const { events, newest } = reading.value;
    for (const event of events) {
      after = event.seq;
      if (event.kind === 'withdrawal') throw new Error(`test: ${event.reason}`);
      const { address, token } = event;
      const launch = world.byToken.get(token);
      if (launch === undefined) throw new Error(`test: nobody launched ${token}`);
      const walked = walks.get(address);
      const at = walked === undefined ? clock : walked.at;
      const isOwn = creditTold(launch, told, at) === address;
      if (event.kind === 'flag') {
        counts.flags += 1;
        if (!isOwn) {
          counts.false_credits += 1;
          note(counts, `at ${clock}: ${token} is flagged as ${address}'s`);
        } else if (!hasGround(look, launch, address, at)) {
          counts.false_flags += 1;
          note(counts, `at ${clock}: ${token} is flagged without a death before it`);
        }
        continue;
      }
      counts.retractions += 1;
      const isWhole = walked === undefined || walked.isWhole;
      const isMoved = creditTold(launch, told, clock) !== address || !isOwn;
      if (isMoved || (isWhole && !couldBeFlagged(look, address, launch, at))) continue;
      counts.false_retractions += 1;
      note(counts, `at ${clock}: the flag of ${token} fell: ${event.reason}`);
    }
    if (events.length === 0 || after >= newest) return after;
  }
}

/** Whether a launch with which the wallet is credited had died that was made before it. */
function hasGround(look: Look, launch: TrueLaunch, address: string, at: number): boolean {
  if (launch.chain === 'ethereum' && !launch.listed) return false;
  return launchesTold(look, address, at).some((one) => {
    if (one.at >= launch.at) return false;
    if (one.chain === 'solana') return look.told.fateTold(one.token)?.as === 'died';
    // What had died when the venue dropped it has died.
    return isDeadAt(one, one.droppedAt === null ? at : Math.min(at, one.droppedAt));
  });
}

/** The flags that stand: whose, and would what was read since still flag them? */
async function checkStanding(look: Look, walks: Walks): Promise<void> {
  const { store, world, clock, counts, told, unscored } = look;
  const flags = await rowsAs<{ address: string; token: string }>(
    store,
    `select address, token from launch_scores where outcome = 'flagged'
      and launched_at > control_now() - make_interval(secs => ${STANDING_S})`,
  );
  for (const { address, token } of flags) {
    const launch = world.byToken.get(token);
    if (launch === undefined) throw new Error(`test: nobody launched ${token}`);
    if (unscored.has(null) || unscored.has(launch.chain)) continue;
    const walked = walks.get(address);
    const isRead = launch.chain === 'solana' || walked?.isWhole === true;
    if (!isRead) continue;
    const at = walked === undefined ? clock : walked.at;
    const isOwn = creditTold(launch, told, at) === address;
    const isScored =
      launch.chain === 'ethereum' && at - launch.at <= MODEL.card.target.scored_within_h * 3_600;
    if (isOwn && !(isScored && !couldBeFlagged(look, address, launch, at))) continue;
    counts.missing_retractions += 1;
    note(counts, `at ${clock}: the flag of ${token} stands with ${address}`);
  }
}

/** Every score that was kept: was the launch ever the wallet's? */
export async function checkScores(
  store: Database,
  world: YearWorld,
  counts: YearCounts,
): Promise<void> {
  const scores = await rowsAs<{ address: string; token: string }>(
    store,
    'select address, token from launch_scores',
  );
  counts.scores = scores.length;
  for (const { address, token } of scores) {
    const launch = world.byToken.get(token);
    if (launch?.credits.some(({ to }) => to === address) === true) continue;
    counts.false_credits += 1;
    note(counts, `${token} is scored as ${address}'s`);
  }
}
