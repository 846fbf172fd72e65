// What does a file of launches to learn from hold, row by row?
// Its columns are known at launch, or say what became of the launch and when; a column beside
// them is refused, since what it holds could have been known only later.

import { MS_PER_S, parseIsoDate, type UnixSeconds } from '../../chain/time.ts';
import type { RawRow } from '../../ports/tables/table-import.ts';

/** One launch of a file in the training layout. */
export type TrainingRow = {
  readonly chain: string;
  readonly token: string;
  readonly deployer: string;
  readonly launched_at: UnixSeconds;
  /** When what the row tells of the launch was read. */
  readonly scored_at: UnixSeconds;
  /** What it was when it was last looked at, and when that was. */
  readonly outcome: 'died' | 'live';
  readonly observed_until: UnixSeconds;
  /** When it was first seen dead; it may have come back to life. */
  readonly died_at: UnixSeconds | null;
  readonly deployer_funded_at: UnixSeconds | null;
  readonly liquidity_usd: number | null;
  readonly holder_top10_share: number | null;
  readonly owner_can_mint: boolean | null;
  readonly owner_can_block: boolean | null;
  readonly ownership_renounced: boolean | null;
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
  'holder_top10_share',
  'owner_can_mint',
  'owner_can_block',
  'ownership_renounced',
] as const;

const COLUMNS: ReadonlySet<string> = new Set([...REQUIRED_COLUMNS, ...OPTIONAL_COLUMNS]);
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;
const SECONDS = /^\d{1,12}$/;
const NUMBER = /^\d+(\.\d+)?(e[+-]?\d+)?$/i;
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** What keeps a row from being taken: its message ends a sentence and quotes no value. */
export class RowFault extends Error {}

/** The launch of a row. Throws `RowFault`. */
export function trainingRow({ fields }: RawRow): TrainingRow {
  for (const name of fields.keys()) {
    if (!COLUMNS.has(name)) throw new RowFault(`${name} is no column of the training layout`);
  }
  const launchedAt = required(fields, 'launched_at', timeIn);
  const scoredAt = optional(fields, 'scored_at', timeIn);
  const outcome = required(fields, 'outcome', outcomeIn);
  const row: TrainingRow = {
    chain: required(fields, 'chain', (text) => text),
    token: required(fields, 'token', (text) => text),
    deployer: required(fields, 'deployer', (text) => text),
    launched_at: launchedAt,
    scored_at: scoredAt === null ? launchedAt : scoredAt,
    outcome,
    observed_until: required(fields, 'observed_until', timeIn),
    died_at: optional(fields, 'died_at', timeIn),
    deployer_funded_at: optional(fields, 'deployer_funded_at', timeIn),
    liquidity_usd: optional(fields, 'liquidity_usd', numberIn),
    holder_top10_share: optional(fields, 'holder_top10_share', shareIn),
    owner_can_mint: optional(fields, 'owner_can_mint', flagIn),
    owner_can_block: optional(fields, 'owner_can_block', flagIn),
    ownership_renounced: optional(fields, 'ownership_renounced', flagIn),
  };
  inOrder(row);
  return row;
}

/** What is told must be in the order of time. */
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

function required<T>(fields: Fields, name: string, readText: ReadText<T>): T {
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

function shareIn(text: string): number | null {
  const value = numberIn(text);
  return value !== null && value <= 1 ? value : null;
}

function flagIn(text: string): boolean | null {
  const flag = FLAGS.get(text.toLowerCase());
  return flag === undefined ? null : flag;
}
