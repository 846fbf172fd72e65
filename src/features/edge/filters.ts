// What a question keeps of the record. A filter only takes away: no parameter prices a call anew,
// and none adds one.

import { createHash } from 'node:crypto';
import { DAY_S, type UnixSeconds } from '../../chain/time.ts';
import {
  DETECTOR_KINDS,
  type DetectorKind,
  type Direction,
  type KeptVersion,
} from '../../ports/emitted-calls.ts';
import type { RecordColumns } from './record.ts';

/** A question; `null` keeps all. */
export type Filter = {
  readonly kinds: readonly DetectorKind[] | null;
  readonly asset: string | null;
  readonly direction: Direction | null;
  /** Calls of this horizon. */
  readonly horizon_h: number | null;
  readonly days: number;
  /** Of the whole round trip. */
  readonly cost_bps: number;
  readonly min_conviction: number | null;
};

export const DAYS_DEFAULT = 90;
export const COST_BPS_DEFAULT = 1;

/** The span of a question, in Unix seconds: after `from`, up to `to`. */
export type DaysSpan = { readonly from: UnixSeconds; readonly to: UnixSeconds };

/** The span that a number of days reaches back over. */
export function daysBack(as_of: UnixSeconds, days: number): DaysSpan {
  return { from: as_of - days * DAY_S, to: as_of };
}

/** The kinds that a filter asks for. */
export function kindsOf({ kinds }: Pick<Filter, 'kinds'>): readonly DetectorKind[] {
  return kinds === null ? DETECTOR_KINDS : DETECTOR_KINDS.filter((kind) => kinds.includes(kind));
}

/** The places of the calls that a filter keeps, in the order of the record. */
export function selectCalls(record: RecordColumns, filter: Filter): Uint32Array {
  const { columns, instruments, as_of } = record;
  const span = as_of === null ? null : daysBack(as_of, filter.days);
  const kinds = DETECTOR_KINDS.map((kind) => kindsOf(filter).includes(kind));
  const assets = instruments.map(({ asset }) => filter.asset === null || asset === filter.asset);
  const sign = filter.direction === null ? 0 : SIGNS[filter.direction];
  const least = filter.min_conviction === null ? Number.NEGATIVE_INFINITY : filter.min_conviction;
  const picked = new Uint32Array(columns.kind.length);
  let count = 0;
  for (let at = 0; at < columns.kind.length; at += 1) {
    const emitted = Number(columns.emitted[at]);
    if (span === null || emitted <= span.from || emitted > span.to) continue;
    if (kinds[Number(columns.kind[at])] !== true) continue;
    if (assets[Number(columns.instrument[at])] !== true) continue;
    if (sign !== 0 && columns.direction[at] !== sign) continue;
    if (filter.horizon_h !== null && columns.horizon[at] !== filter.horizon_h) continue;
    if (Number(columns.conviction[at]) < least) continue;
    picked[count] = at;
    count += 1;
  }
  return picked.slice(0, count);
}

const SIGNS: { readonly [D in Direction]: 1 | -1 } = { long: 1, short: -1 };

/** The question in one writing: equal questions have one. */
export function filterText(filter: Filter): string {
  const { kinds, asset, direction, horizon_h, days, cost_bps, min_conviction } = filter;
  const named = kinds === null ? null : kindsOf({ kinds });
  return JSON.stringify([named, asset, direction, horizon_h, days, cost_bps, min_conviction]);
}

/** The digest of a question, as counts of tried filters keep it. */
export function filterDigest(filter: Filter): string {
  return createHash('sha256').update(filterText(filter)).digest('hex');
}

/** The 32-bit seed that belongs to a question: nobody chooses it beside the question. */
export function questionSeed(filter: Filter): number {
  return createHash('sha256').update(filterText(filter)).digest().readUInt32BE(0);
}

/** A kind whose calls under a conviction exist only in part, or not at all. */
export type Bias = {
  readonly kind: DetectorKind;
  /** The highest bar that was in force within the span. */
  readonly bar: number;
  readonly lowest_bar: number;
};

/**
 * The kinds of which a question asks for calls under the highest bar in force within its span: by a
 * lower conviction, or, where it names none, because the bar was moved within the span.
 */
export function biasesOf(
  versions: readonly KeptVersion[],
  filter: Filter,
  span: DaysSpan,
): readonly Bias[] {
  return kindsOf(filter).flatMap((kind) => {
    const bars = barsIn(versions, kind, span);
    if (bars.length === 0) return [];
    const [bar, lowest_bar] = [Math.max(...bars), Math.min(...bars)];
    const asked = filter.min_conviction === null ? lowest_bar : filter.min_conviction;
    return asked < bar ? [{ kind, bar, lowest_bar }] : [];
  });
}

/** The bars of a kind that were in force at some time of a span. */
function barsIn(versions: readonly KeptVersion[], kind: DetectorKind, { from, to }: DaysSpan) {
  const own = versions
    .filter((one) => one.kind === kind && one.in_force_from <= to)
    .sort((a, b) => a.in_force_from - b.in_force_from || a.leaf - b.leaf);
  return own
    .filter((_, at) => {
      const next = own[at + 1];
      return next === undefined || next.in_force_from > from;
    })
    .map(({ bar }) => Number(bar));
}

/** The convictions of the listed family; `null`: whatever was emitted. */
export const LISTED_CONVICTIONS = [null, 0.7, 0.8, 0.9] as const;
export const LISTED_DIRECTIONS = [null, 'long', 'short'] as const;
/** The kinds of the listed family: each alone, and all; `null`: all. */
export const LISTED_KINDS = [null, ...DETECTOR_KINDS] as const;

/** A combination of the listed family. */
export type ListedFilter = {
  readonly kind: DetectorKind | null;
  readonly asset: string | null;
  readonly direction: Direction | null;
  readonly min_conviction: (typeof LISTED_CONVICTIONS)[number];
};
