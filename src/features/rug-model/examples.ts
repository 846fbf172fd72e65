// A launch is held against those before it by the same deployer, each as it stood at that moment: a
// death counts from the second on in which it was seen.

import { setImmediate } from 'node:timers/promises';
import type { UnixSeconds } from '../../chain/time.ts';
import { collect, heldUnder } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import { type FeatureName, type Features, RUG_FEATURES } from '../../ports/flags/rug-features.ts';
import type { TableFiles } from '../../ports/tables/table-import.ts';
import { type EarlierLaunch, featuresOf, HISTORY_MAX } from './features.ts';
import { RowFault, type TrainingRow, trainingRow } from './layout.ts';
import { sharesFrom } from './random.ts';

/** A launch with its features as of the moment it was scored. */
export type Example = { readonly row: TrainingRow; readonly features: Features };

/** Makes the features of a launch from it and all launches by its deployer. */
export type FeaturesAt = (
  row: TrainingRow,
  ofDeployer: readonly TrainingRow[],
  settleDays: number,
) => Features;

/** How many launches of a file are looked at for what only the future can have told. */
const LOOKED_AT = 300;

/** The features of a launch of a file. */
export const featuresAt: FeaturesAt = (row, ofDeployer, settleDays) =>
  featuresOf(
    {
      launched_at: row.launched_at,
      scored_at: row.scored_at,
      deployer_launches: ofDeployer.map((one) => asSeen(one, row.scored_at)),
      deployer_funded_at: row.deployer_funded_at,
      liquidity_usd: row.liquidity_usd,
      holder_top10_share: row.holder_top10_share,
      owner_can_mint: row.owner_can_mint,
      owner_can_block: row.owner_can_block,
      ownership_renounced: row.ownership_renounced,
    },
    settleDays,
  );

/** A launch as it stood at a moment: before it was seen dead it was alive. */
function asSeen(row: TrainingRow, at: UnixSeconds): EarlierLaunch {
  const { launched_at, died_at, observed_until } = row;
  if (launched_at > at) return { launched_at, seen: null };
  if (died_at !== null && died_at <= at) return { launched_at, seen: { as: 'died', at: died_at } };
  return { launched_at, seen: { as: 'live', at: Math.min(at, observed_until) } };
}

/** The rows in the order of time; rows of one second by their token, so that any file gives one. */
export function inTime(rows: readonly TrainingRow[]): readonly TrainingRow[] {
  return [...rows].sort((a, b) => a.launched_at - b.launched_at || compared(keyOf(a), keyOf(b)));
}

/** What tells one launch from another. */
export function keyOf({ chain, token }: TrainingRow): string {
  return `${chain}:${token}`;
}

/** Who launched it. */
export function deployerOf({ chain, deployer }: TrainingRow): string {
  return `${chain}:${deployer}`;
}

function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Rows between which whoever else is served by this process gets a turn. */
export const ROWS_AT_ONCE = 2_000;

/** The launches with their features, in the order of time. */
export async function examplesOf(
  rows: readonly TrainingRow[],
  settleDays: number,
): Promise<readonly Example[]> {
  const before = new Map<string, TrainingRow[]>();
  const examples: Example[] = [];
  for (const row of inTime(rows)) {
    const deployer = deployerOf(row);
    const earlier = heldUnder(before, deployer).slice(-HISTORY_MAX);
    examples.push({ row, features: featuresAt(row, earlier, settleDays) });
    collect(before, deployer, row);
    if (examples.length % ROWS_AT_ONCE === 0) await setImmediate();
  }
  return examples;
}

/**
 * The features that would be others if nothing after the moment of scoring were known: each of
 * some launches, drawn by the seed, is looked at once with the whole file and once without its
 * future.
 */
export function futureFeatures(
  rows: readonly TrainingRow[],
  make: FeaturesAt,
  { settleDays, seed }: { readonly settleDays: number; readonly seed: number },
): readonly FeatureName[] {
  const byDeployer = new Map<string, TrainingRow[]>();
  for (const row of rows) collect(byDeployer, deployerOf(row), row);
  const draw = sharesFrom(seed);
  const chosen = rows.length <= LOOKED_AT ? rows : drawnOf(rows, draw);
  const found = new Set<FeatureName>();
  for (const row of chosen) {
    const all = heldUnder(byDeployer, deployerOf(row));
    const whole = make(row, all, settleDays);
    const known = all.filter(({ launched_at }) => launched_at <= row.scored_at);
    const cut = make(
      withoutFuture(row, row.scored_at),
      known.map((one) => withoutFuture(one, row.scored_at)),
      settleDays,
    );
    for (const { name } of RUG_FEATURES) if (whole[name] !== cut[name]) found.add(name);
  }
  return [...found];
}

function drawnOf(rows: readonly TrainingRow[], draw: () => number): readonly TrainingRow[] {
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

// It is taken whole or not at all: a row that was left out unseen would bend what is learnt.

/** The launches of a file, or what is wrong with it, in sentences. */
export type TrainingFile =
  | { readonly end: 'read'; readonly rows: readonly TrainingRow[]; readonly sha256: string }
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
      const fault = typeof taken === 'string' ? taken : repeated(taken, raw.line, lines);
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
  return { end: 'read', rows, sha256: opened.value.sha256() };
}

function rowOrFault(raw: Parameters<typeof trainingRow>[0]): TrainingRow | string {
  try {
    return trainingRow(raw);
  } catch (fault) {
    if (fault instanceof RowFault) return fault.message;
    throw fault;
  }
}

/** What is wrong with a launch that stands in the file twice; notes where each stands. */
function repeated(row: TrainingRow, line: number, lines: Map<string, number>): string | null {
  const key = keyOf(row);
  const before = lines.get(key);
  lines.set(key, line);
  return before === undefined ? null : `the token stands in line ${before} too`;
}
