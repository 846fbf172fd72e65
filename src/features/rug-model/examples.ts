// A launch is held against those before it by the same deployer, each as it stood at that moment: a
// death counts from the second on in which it was seen.

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { DAY_S, HOUR_S, MS_PER_S, parseIsoDate, type UnixSeconds } from '../../chain/time.ts';
import { collect, rate, rowsUnder } from '../../evidence/measure.ts';
import { sharesFrom } from '../../evidence/random.ts';
import { Read } from '../../evidence/reading.ts';
import {
  type FeatureName,
  type Features,
  type ModelTarget,
  RUG_FEATURES,
} from '../../ports/rug-model.ts';
import type { RawRow, TableFiles } from '../../ports/tables.ts';

/** A launch with its features as of the moment it was scored. */
export type TrainingExample = { readonly row: TrainingRow; readonly features: Features };

/** Makes the features of a launch from it and all launches by its deployer. */
export type FeaturesAt = (
  row: TrainingRow,
  ofDeployer: readonly TrainingRow[],
  horizonH: number,
) => Features;

/** How many launches of a file are looked at for what only the future can have told. */
const LOOKED_AT = 300;

/** The features of a launch of a file. */
export const featuresAt: FeaturesAt = (row, ofDeployer, horizonH) =>
  featuresOf(
    {
      launched_at: row.launched_at,
      scored_at: row.scored_at,
      deployer_launches: ofDeployer.map((one) => asSeen(one, row.scored_at)),
      deployer_funded_at: row.deployer_funded_at,
      liquidity_usd: row.liquidity_usd,
      ether_pooled: row.ether_pooled,
      holder_top10_share: row.holder_top10_share,
      owner_can_mint: row.owner_can_mint,
      owner_can_block: row.owner_can_block,
      ownership_renounced: row.ownership_renounced,
    },
    horizonH,
  );

/** A launch as it stood at a moment: before it was seen dead it was alive. */
function asSeen(row: TrainingRow, at: UnixSeconds): EarlierLaunch {
  const { launched_at, died_at, observed_until } = row;
  if (launched_at > at) return { launched_at, seen: null };
  if (died_at !== null && died_at <= at) return { launched_at, seen: { as: 'died', at: died_at } };
  return { launched_at, seen: { as: 'live', at: Math.min(at, observed_until) } };
}

/** The rows in the order of time; rows of one second by their token, so that any file gives one. */
export function inTimeOrder(rows: readonly TrainingRow[]): readonly TrainingRow[] {
  return [...rows].sort((a, b) => a.launched_at - b.launched_at || (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** SHA-256 of the rows in the order of time: that of a file whose lines stand in another order. */
export function rowsSha256(rows: readonly TrainingRow[]): string {
  const hash = createHash('sha256');
  for (const row of inTimeOrder(rows)) {
    const cells = [...REQUIRED_COLUMNS, ...OPTIONAL_COLUMNS].map((name) => row[name]);
    hash.update(`${JSON.stringify(cells)}\n`);
  }
  return hash.digest('hex');
}

/** The identity of a launch. */
export function keyOf({ chain, token }: TrainingRow): string {
  return `${chain}:${token}`;
}

export function deployerOf({ chain, deployer }: TrainingRow): string {
  return `${chain}:${deployer}`;
}

/** Rows between which whoever else is served by this process gets a turn. */
export const ROWS_AT_ONCE = 2_000;

/** The launches with their features, in the order of time. */
export async function examplesOf(
  rows: readonly TrainingRow[],
  horizonH: number,
): Promise<readonly TrainingExample[]> {
  const before = new Map<string, TrainingRow[]>();
  const examples: TrainingExample[] = [];
  for (const row of inTimeOrder(rows)) {
    const deployer = deployerOf(row);
    const earlier = rowsUnder(before, deployer).slice(-HISTORY_MAX);
    examples.push({ row, features: featuresAt(row, earlier, horizonH) });
    collect(before, deployer, row);
    if (examples.length % ROWS_AT_ONCE === 0) await setImmediate();
  }
  return examples;
}

/** A launch with the fate that is learnt of it, or that a score is held against. */
export type Lesson = TrainingExample & { readonly died: boolean };

/**
 * The launches of a file that can be learnt from, or compared with scores, and the number that
 * cannot.
 */
export type Lessons = {
  readonly lessons: readonly Lesson[];
  readonly scored_late: number;
  readonly unsettled: number;
};

/** The launches that were scored in time, and of which it was seen whether they died in time. */
export function lessonsOf(
  examples: readonly TrainingExample[],
  { horizon_h, scored_within_h }: Omit<ModelTarget, 'statement'>,
): Lessons {
  const inTime = examples.filter(
    ({ row }) => row.scored_at - row.launched_at <= scored_within_h * HOUR_S,
  );
  const lessons = inTime.flatMap((example): Lesson[] => {
    const { launched_at, died_at, observed_until } = example.row;
    const end = launched_at + horizon_h * HOUR_S;
    if (died_at !== null && died_at <= end) return [{ ...example, died: true }];
    return observed_until >= end ? [{ ...example, died: false }] : [];
  });
  return {
    lessons,
    scored_late: examples.length - inTime.length,
    unsettled: inTime.length - lessons.length,
  };
}

/**
 * The features that would be others if nothing after the moment of scoring were known: each of
 * some launches, drawn by the seed, is looked at once with the whole file and once without its
 * future.
 */
export function futureFeatures(
  rows: readonly TrainingRow[],
  make: FeaturesAt,
  { horizonH, seed }: { readonly horizonH: number; readonly seed: number },
): readonly FeatureName[] {
  const byDeployer = new Map<string, TrainingRow[]>();
  for (const row of rows) collect(byDeployer, deployerOf(row), row);
  const draw = sharesFrom(seed);
  const ordered = inTimeOrder(rows);
  const chosen = ordered.length <= LOOKED_AT ? ordered : drawRows(ordered, draw);
  const found = new Set<FeatureName>();
  for (const row of chosen) {
    const all = rowsUnder(byDeployer, deployerOf(row));
    const whole = make(row, all, horizonH);
    const known = all.filter(({ launched_at }) => launched_at <= row.scored_at);
    const cut = make(
      withoutFuture(row, row.scored_at),
      known.map((one) => withoutFuture(one, row.scored_at)),
      horizonH,
    );
    for (const { name } of RUG_FEATURES) if (whole[name] !== cut[name]) found.add(name);
  }
  return [...found];
}

function drawRows(rows: readonly TrainingRow[], draw: () => number): readonly TrainingRow[] {
  return Array.from({ length: LOOKED_AT }, () => rows[Math.floor(draw() * rows.length)]).filter(
    (row) => row !== undefined,
  );
}

/** A row as it would have been written at that moment. */
function withoutFuture(row: TrainingRow, at: UnixSeconds): TrainingRow {
  const died = row.died_at !== null && row.died_at <= at;
  return {
    ...row,
    died_at: died ? row.died_at : null,
    outcome: died ? 'died' : 'live',
    observed_until: Math.min(row.observed_until, at),
  };
}

// A file of launches is taken whole or not at all: a row that was left out unseen would bend the
// model.

/** The launches of a file, or what is wrong with it, in sentences. */
export type TrainingFile =
  | { readonly end: 'read'; readonly rows: readonly TrainingRow[] }
  | { readonly end: 'refused'; readonly faults: readonly string[] }
  | { readonly end: 'unread'; readonly reason: string };

/** The most launches of one file. */
const ROWS_MAX = 500_000;
/** How many broken rows are named before the file is read no further. */
const FAULTS_MAX = 20;

/** Reads a file to its end. */
export async function trainingFile(files: TableFiles, path: string): Promise<TrainingFile> {
  const opened = await files.open(path);
  if (!opened.checked) return { end: 'unread', reason: opened.why.reason };
  const rows: TrainingRow[] = [];
  const lines = new Map<string, number>();
  const faults: string[] = [];
  for await (const batch of opened.value.rows()) {
    if (!(batch instanceof Read)) return { end: 'unread', reason: batch.why.reason };
    for (const raw of batch.value) {
      const taken = 'problem' in raw ? raw.problem : rowOrFault(raw);
      const fault = typeof taken === 'string' ? taken : repeatOf(taken, raw.line, lines);
      if (fault !== null) faults.push(`Line ${raw.line}: ${fault}.`);
      else if (typeof taken !== 'string') rows.push(taken);
    }
    if (faults.length >= FAULTS_MAX) break;
    if (rows.length > ROWS_MAX) {
      return { end: 'refused', faults: [`It holds more than ${ROWS_MAX} launches; split it.`] };
    }
  }
  if (faults.length > 0) return { end: 'refused', faults: faults.slice(0, FAULTS_MAX) };
  if (rows.length === 0) return { end: 'refused', faults: ['It holds no launch.'] };
  return { end: 'read', rows };
}

function rowOrFault(raw: Parameters<typeof trainingRow>[0]): TrainingRow | string {
  try {
    return trainingRow(raw);
  } catch (fault) {
    if (fault instanceof RowFault) return fault.message;
    throw fault;
  }
}

/** The fault of a launch that stands in the file twice; records the line of each. */
function repeatOf(row: TrainingRow, line: number, lines: Map<string, number>): string | null {
  const key = keyOf(row);
  const before = lines.get(key);
  lines.set(key, line);
  return before === undefined ? null : `the token stands in line ${before} too`;
}

// Derives the model's features from the known facts of a launch. Only facts known at the moment of
// scoring count: facts with a later date are left out here, whoever passes them. An unread value is
// missing, never zero.

/** A launch by the same deployer, as it was last seen. */
export type EarlierLaunch = {
  readonly launched_at: UnixSeconds;
  /** `null`: it was never listed, or what became of it is not known. */
  readonly seen: { readonly as: 'died' | 'live'; readonly at: UnixSeconds } | null;
};

/** What is known of a launch when it is scored; `null` is what was not read. */
type ReadAtLaunch = {
  readonly deployer_funded_at: UnixSeconds | null;
  readonly liquidity_usd: number | null;
  /** Whole ether, as decimal text: exact. */
  readonly ether_pooled: string | null;
  readonly holder_top10_share: number | null;
  readonly owner_can_mint: boolean | null;
  readonly owner_can_block: boolean | null;
  readonly ownership_renounced: boolean | null;
};

/** The known facts of a launch. Amounts in US dollars; `null` was not read. */
export type KnownLaunch = ReadAtLaunch & {
  readonly launched_at: UnixSeconds | null;
  readonly scored_at: UnixSeconds;
  /** All launches of its deployer that were read, in any order; this one may be among them. */
  readonly deployer_launches: readonly EarlierLaunch[] | null;
};

/** The newest launches of a deployer that count: counts end here, and so does the work. */
export const HISTORY_MAX = 1_000;

const WEEK_S = 7 * DAY_S;

/**
 * The features of a launch. `horizonH` hours after its launch one that is seen alive has
 * settled: by the target of the model's card.
 */
export function featuresOf(known: KnownLaunch, horizonH: number): Features {
  const { launched_at: launchedAt, scored_at: scoredAt } = known;
  return {
    ...historyOf(known, horizonH),
    deployer_funded_hours_before: hoursBetween(known.deployer_funded_at, launchedAt),
    liquidity_usd: known.liquidity_usd,
    ether_pooled_whole: asNumber(isWhole(known.ether_pooled)),
    holder_top10_share: known.holder_top10_share,
    owner_can_mint: asNumber(known.owner_can_mint),
    owner_can_block: asNumber(known.owner_can_block),
    ownership_renounced: asNumber(known.ownership_renounced),
    token_hours: hoursBetween(launchedAt, scoredAt),
  };
}

type HistoryName =
  | 'deployer_launches_before'
  | 'deployer_launches_in_week_before'
  | 'deployer_settled_before'
  | 'deployer_died_before'
  | 'deployer_death_rate_before'
  | 'deployer_hours_since_launch'
  | 'deployer_hours_since_first';

const NO_HISTORY: Pick<Features, HistoryName> = {
  deployer_launches_before: null,
  deployer_launches_in_week_before: null,
  deployer_settled_before: null,
  deployer_died_before: null,
  deployer_death_rate_before: null,
  deployer_hours_since_launch: null,
  deployer_hours_since_first: null,
};

function historyOf(known: KnownLaunch, horizonH: number): Pick<Features, HistoryName> {
  const { launched_at: at, scored_at: by, deployer_launches: all } = known;
  if (at === null || all === null) return NO_HISTORY;
  let [before, week, settled, died, first, last] = [0, 0, 0, 0, Infinity, -Infinity];
  for (const { launched_at, seen } of newestBefore(all, at)) {
    before += 1;
    if (at - launched_at <= WEEK_S) week += 1;
    first = Math.min(first, launched_at);
    last = Math.max(last, launched_at);
    if (seen === null || seen.at > by) continue;
    const isDead = seen.as === 'died';
    if (isDead) died += 1;
    if (isDead || seen.at - launched_at >= horizonH * HOUR_S) settled += 1;
  }
  return {
    deployer_launches_before: before,
    deployer_launches_in_week_before: week,
    deployer_settled_before: settled,
    deployer_died_before: died,
    deployer_death_rate_before: rate(died, settled),
    deployer_hours_since_launch: before === 0 ? null : (at - last) / HOUR_S,
    deployer_hours_since_first: before === 0 ? null : (at - first) / HOUR_S,
  };
}

function newestBefore(all: readonly EarlierLaunch[], at: UnixSeconds): readonly EarlierLaunch[] {
  const before = all.filter(({ launched_at }) => launched_at < at);
  if (before.length <= HISTORY_MAX) return before;
  return before.sort((a, b) => b.launched_at - a.launched_at).slice(0, HISTORY_MAX);
}

/** Hours from one moment to a later one; missing where either is, or out of order. */
function hoursBetween(from: UnixSeconds | null, to: UnixSeconds | null): number | null {
  if (from === null || to === null || to < from) return null;
  return (to - from) / HOUR_S;
}

/** Whether an amount has no fraction, by its digits: none is rounded. */
function isWhole(amount: string | null): boolean | null {
  return amount === null ? null : WHOLE.test(amount);
}

const WHOLE = /^\d+(\.0*)?$/;

function asNumber(flag: boolean | null): number | null {
  return flag === null ? null : Number(flag);
}

// Reads a file of training launches, row by row. Its columns are known at launch, or give the
// outcome with its time; any other column is refused, since its values could have been known only
// later.

/** One launch of a file in the training layout. */
export type TrainingRow = ReadAtLaunch & {
  readonly chain: string;
  readonly token: string;
  readonly deployer: string;
  readonly launched_at: UnixSeconds;
  /** When what the row tells of the launch was read. */
  readonly scored_at: UnixSeconds;
  /** The outcome when the launch was last observed, and that time. */
  readonly outcome: 'died' | 'live';
  readonly observed_until: UnixSeconds;
  /** When it was first seen dead; it may have come back to life. */
  readonly died_at: UnixSeconds | null;
};

/** The columns that each row has. */
export const REQUIRED_COLUMNS = [
  'chain',
  'token',
  'deployer',
  'launched_at',
  'outcome',
  'observed_until',
] as const;
/** The columns that may be left out, or left empty: missing is not zero. */
export const OPTIONAL_COLUMNS = [
  'died_at',
  'scored_at',
  'deployer_funded_at',
  'liquidity_usd',
  'ether_pooled',
  'holder_top10_share',
  'owner_can_mint',
  'owner_can_block',
  'ownership_renounced',
] as const;

const COLUMNS: ReadonlySet<string> = new Set([...REQUIRED_COLUMNS, ...OPTIONAL_COLUMNS]);
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;
const SECONDS = /^\d{1,12}$/;
const AMOUNT = /^\d{1,30}(\.\d{1,30})?$/;
const NUMBER = /^\d+(\.\d+)?(e[+-]?\d+)?$/i;
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** A refused row: its message ends a sentence and quotes no value. */
export class RowFault extends Error {}

/** The launch of a row. Throws `RowFault`. */
export function trainingRow({ fields }: RawRow): TrainingRow {
  for (const name of fields.keys()) {
    if (!COLUMNS.has(name)) throw new RowFault(`${name} is no column of the training layout`);
  }
  const launchedAt = readRequired(fields, 'launched_at', timeIn);
  const scoredAt = optional(fields, 'scored_at', timeIn);
  const outcome = readRequired(fields, 'outcome', outcomeIn);
  const row: TrainingRow = {
    chain: readRequired(fields, 'chain', (text) => text),
    token: readRequired(fields, 'token', (text) => text),
    deployer: readRequired(fields, 'deployer', (text) => text),
    launched_at: launchedAt,
    scored_at: scoredAt === null ? launchedAt : scoredAt,
    outcome,
    observed_until: readRequired(fields, 'observed_until', timeIn),
    died_at: optional(fields, 'died_at', timeIn),
    deployer_funded_at: optional(fields, 'deployer_funded_at', timeIn),
    liquidity_usd: optional(fields, 'liquidity_usd', numberIn),
    ether_pooled: optional(fields, 'ether_pooled', amountIn),
    holder_top10_share: optional(fields, 'holder_top10_share', shareIn),
    owner_can_mint: optional(fields, 'owner_can_mint', flagIn),
    owner_can_block: optional(fields, 'owner_can_block', flagIn),
    ownership_renounced: optional(fields, 'ownership_renounced', flagIn),
  };
  inOrder(row);
  return row;
}

/** Checks the order of the row's times. */
function inOrder(row: TrainingRow): void {
  const { launched_at, scored_at, died_at, observed_until, outcome } = row;
  if (scored_at < launched_at) throw new RowFault('scored_at is before launched_at');
  if (observed_until < scored_at) throw new RowFault('observed_until is before it was scored');
  if (died_at === null) {
    if (outcome === 'died') throw new RowFault('outcome is died, and died_at is missing');
    return;
  }
  if (died_at < scored_at) throw new RowFault('died_at is before it was scored');
  if (died_at > observed_until) throw new RowFault('died_at is after observed_until');
}

type Fields = ReadonlyMap<string, string>;

/** Reads a value; `null` where the text is none. */
type ReadText<T> = (text: string) => T | null;

function readRequired<T>(fields: Fields, name: string, readText: ReadText<T>): T {
  const value = optional(fields, name, readText);
  if (value === null) throw new RowFault(`${name} is missing`);
  return value;
}

function optional<T>(fields: Fields, name: string, readText: ReadText<T>): T | null {
  const text = fields.get(name);
  if (text === undefined) return null;
  const value = readText(text);
  if (value === null) throw new RowFault(`${name} cannot be read`);
  return value;
}

/** A time in Unix seconds, as a day, or as ISO 8601 with its zone. */
function timeIn(text: string): UnixSeconds | null {
  if (SECONDS.test(text)) return Number(text);
  const day = parseIsoDate(text);
  if (day !== null) return day;
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) || ms < 0 ? null : Math.floor(ms / MS_PER_S);
}

function outcomeIn(text: string): TrainingRow['outcome'] | null {
  return text === 'died' || text === 'live' ? text : null;
}

function numberIn(text: string): number | null {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

function amountIn(text: string): string | null {
  return AMOUNT.test(text) ? text : null;
}

function shareIn(text: string): number | null {
  const value = numberIn(text);
  return value !== null && value <= 1 ? value : null;
}

function flagIn(text: string): boolean | null {
  const flag = FLAGS.get(text.toLowerCase());
  return flag === undefined ? null : flag;
}
