// Makes a bundle of what was collected. Only a reading that came to its end gives keys: a part,
// what is stale and what was not read give a gap with its reason. Text of others is quoted data.

import { formatIsoTime } from '../../chain/time.ts';
import { basis, type Partly, Read } from '../../evidence/reading.ts';
import { type ReasonCode, type Why, why } from '../../evidence/reasons.ts';
import { restsOnSimulated, SIMULATED_CAVEAT } from '../../evidence/source.ts';
import {
  BUNDLE_LIMITS,
  BUNDLE_SCHEMA,
  BUNDLE_SOURCES,
  type Bundle,
  type BundleItem,
  type BundleSource,
  type BundleSourceLine,
  type BundleTarget,
  type EvidenceValue,
} from './shapes.ts';

/** The keys of one source without its name, each with its value. */
export type EvidenceValues = { readonly [path: string]: EvidenceValue };

/** The contribution of one source: its line, and its keys where it is present. */
export type Gathered = { readonly line: BundleSourceLine; readonly values: EvidenceValues };

/** The circumstances of a collection. `now` is Unix seconds. */
export type Gathering = {
  readonly now: number;
  /** Whether this deployment serves the simulated world. */
  readonly simulated: boolean;
};

/** The longest text of others that is kept whole, in characters. */
const TEXT_CHARS_MAX = 400;
/** How many rows of one table a bundle holds. */
export const ROWS_MAX = 8;

/** The reasons of a source that this deployment does not have, or not for such a target. */
const UNAVAILABLE: ReadonlySet<ReasonCode> = new Set([
  'not_configured',
  'no_history',
  'no_evidence_source',
  'not_walked_kind',
  'not_for_this_kind',
  'not_traced_kind',
  'registry_row_missing',
  'deployer_chain_not_served',
  'fact_not_told',
  'signal_calls_spent',
]);

/** The reasons of a source that is there and has no data yet. */
const DORMANT: ReadonlySet<ReasonCode> = new Set([
  'table_never_imported',
  'list_never_loaded',
  'model_not_published',
  'model_without_level',
  'model_withdrawn',
  'never_scored',
  'chain_never_scored',
  'deployer_not_walked',
  'entity_not_examined',
]);

/** The kind of a gap, by its reason. */
function statusOf(code: ReasonCode): Exclude<BundleSourceLine['status'], 'present'> {
  if (UNAVAILABLE.has(code)) return 'unavailable';
  return DORMANT.has(code) ? 'dormant' : 'error';
}

/** A source that gave nothing, and why. */
export function gapOf(source: BundleSource, { code, reason }: Why): Gathered {
  return { line: { source, status: statusOf(code), code, reason, as_of: null }, values: {} };
}

/** The contribution of a source by its reading, which gives keys only if it came to its end. */
export function gather<T>(
  source: BundleSource,
  reading: Partly<T, never>,
  valuesOf: (value: T) => EvidenceValues,
  { now, simulated }: Gathering,
): Gathered {
  if (!(reading instanceof Read)) return gapOf(source, reading.why);
  const { sources } = basis(reading);
  const isMadeUp = restsOnSimulated(sources);
  // Made-up evidence beside measured evidence would support what nobody observed.
  if (isMadeUp && !simulated) return gapOf(source, why('evidence_made_up'));
  const dates = sources.map((one) => Math.floor(one.as_of));
  const as_of = Math.max(
    0,
    dates.reduce((a, b) => Math.min(a, b), Math.floor(now)),
  );
  const label = isMadeUp ? MADE_UP : NOTHING_TO_SAY;
  return {
    line: { source, status: 'present', ...label, as_of },
    values: valuesOf(reading.value),
  };
}

const MADE_UP = { code: 'simulated', reason: SIMULATED_CAVEAT.trim() } as const;
const NOTHING_TO_SAY = { code: null, reason: null } as const;

/** Text of others, as data. Text that is no Unicode stands as the hex of its UTF-16 units. */
export function outsideText(text: string): EvidenceValue {
  const characters = [...text];
  const kept = characters.length > TEXT_CHARS_MAX ? characters.slice(0, TEXT_CHARS_MAX) : null;
  const whole = kept === null ? text : kept.join('');
  return { untrusted: LONE_SURROGATE.test(whole) ? hexOfUnits(whole) : whole };
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function hexOfUnits(text: string): string {
  let hex = '0x';
  for (let at = 0; at < text.length; at += 1) {
    hex += text.charCodeAt(at).toString(16).padStart(4, '0');
  }
  return hex;
}

/** Text of others that may be missing. */
export function outsideTextOrNull(text: string | null): EvidenceValue {
  return text === null ? null : outsideText(text);
}

/** A number as decimal text, exactly as it is held: no exponent, no rounding of its own. */
export function decimalText(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(FRACTION_MAX).replace(/\.?0+$/, '') : text;
}

/** The most digits that are written behind the point. */
const FRACTION_MAX = 40;

export function decimalOrNull(value: number | null): string | null {
  return value === null ? null : decimalText(value);
}

/** Rows under numbered paths, `row_1.…`; those beyond the first few are counted alone. */
export function rowsAs<T>(
  name: string,
  rows: readonly T[],
  valuesOf: (row: T) => EvidenceValues,
): { [path: string]: EvidenceValue } {
  const values: { [path: string]: EvidenceValue } = {};
  for (const [at, row] of rows.slice(0, ROWS_MAX).entries()) {
    for (const [path, value] of Object.entries(valuesOf(row))) {
      values[`${name}_${at + 1}.${path}`] = value;
    }
  }
  return values;
}

/** The bundle of what was gathered, its sources and keys in one order whoever answered first. */
export function makeBundle(
  target: BundleTarget,
  gathered: readonly Gathered[],
  now: number,
): Bundle {
  const bySource = new Map(gathered.map((one) => [one.line.source, one]));
  // A source that would make the bundle too large gives way as a whole, the largest first.
  for (let given = 0; given < BUNDLE_SOURCES.length; given += 1) {
    const bundle = bundleOf(target, [...bySource.values()], now);
    if (fits(bundle)) return bundle;
    const largest = [...bySource.values()].reduce((a, b) => (sizeOf(b) > sizeOf(a) ? b : a));
    const { source } = largest.line;
    bySource.set(source, gapOf(source, why('evidence_too_large')));
  }
  return bundleOf(target, [...bySource.values()], now);
}

function bundleOf(target: BundleTarget, gathered: readonly Gathered[], now: number): Bundle {
  const ordered = [...gathered].sort(
    (a, b) => BUNDLE_SOURCES.indexOf(a.line.source) - BUNDLE_SOURCES.indexOf(b.line.source),
  );
  const items = ordered.flatMap(({ line: { source, as_of }, values }) =>
    as_of === null
      ? []
      : Object.entries(values).map(([path, value]): readonly [string, BundleItem] => {
          return [`${source}.${path}`, { value, as_of }];
        }),
  );
  items.sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    schema: BUNDLE_SCHEMA,
    target,
    collected_at: formatIsoTime(now),
    sources: ordered.map(({ line }) => line),
    evidence: Object.fromEntries(items),
  };
}

const UTF8 = new TextEncoder();

/** The bytes of a value in its canonical form, which differs from JSON's only in order. */
function bytesOf(value: object): number {
  return UTF8.encode(JSON.stringify(value)).byteLength;
}

function sizeOf({ values }: Gathered): number {
  return bytesOf(values);
}

function fits(bundle: Bundle): boolean {
  const { bytesMax, keysMax } = BUNDLE_LIMITS;
  return Object.keys(bundle.evidence).length <= keysMax && bytesOf(bundle) <= bytesMax;
}

/** Whether a bundle rests on made-up evidence. */
export function isSimulated({ sources }: Bundle): boolean {
  return sources.some(({ status, code }) => status === 'present' && code === 'simulated');
}

/** The item of a key that may be cited: there, not `null`, and of a source that is present. */
export function citable({ evidence, sources }: Bundle, key: string): BundleItem | null {
  const item = Object.hasOwn(evidence, key) ? evidence[key] : undefined;
  if (item === undefined || item.value === null) return null;
  const [source] = key.split('.');
  const line = sources.find((one) => one.source === source);
  return line?.status === 'present' ? item : null;
}
