// Records of calls for tests of the edge: calls at the hours that a test names, over opens that it
// gives, and noise of both.

import { HOUR_S, MS_PER_S } from '../chain/time.ts';
import { sharesFrom } from '../evidence/random.ts';
import {
  buildRecord,
  type EdgeRecord,
  type RanSpans,
  type RecordedCall,
} from '../features/edge/record.ts';
import type { DetectorKind, Direction, KeptVersion } from '../ports/emitted-calls.ts';

/** 2026-01-05, a Monday, at 00:00 UTC, in hours. */
export const FIRST_HOUR = Date.UTC(2026, 0, 5) / MS_PER_S / HOUR_S;

/** A call of a test; hours count from `FIRST_HOUR`. Without an exit it is open. */
export type TestCall = {
  readonly kind?: DetectorKind;
  readonly asset?: string;
  readonly direction?: Direction;
  readonly conviction?: string;
  readonly horizon_h?: number;
  readonly version?: string;
  readonly entry_h: number;
  readonly exit_h?: number;
  readonly funding_paid?: string;
  readonly unpriced?: true;
  readonly delisted_at?: string;
};

/** Opens by asset, hour by hour from `FIRST_HOUR` on; `null` is an hour that nobody read. */
export type TestOpens = { readonly [asset: string]: readonly (number | null)[] };

const NEVER_RAN: RanSpans = { funding: [], liq: [], netflow: [], whale: [] };

/** The producers of every kind ran from the first hour on for so many hours. */
export function ranFor(hours: number): RanSpans {
  const span = [{ from: FIRST_HOUR * HOUR_S, to: (FIRST_HOUR + hours) * HOUR_S }];
  return { funding: span, liq: span, netflow: span, whale: span };
}

export function testCall(of: TestCall, opens: TestOpens, leaf: number): RecordedCall {
  const { kind = 'funding', asset = 'BTC', direction = 'long', entry_h, exit_h } = of;
  const hours = exit_h === undefined ? 24 : exit_h - entry_h;
  const priceAt = (hour: number) => String(opens[asset]?.[hour]);
  const msOf = (hour: number) => (FIRST_HOUR + hour) * HOUR_S * MS_PER_S;
  // It is emitted within the hour before its entry candle begins.
  const emitted_at = (FIRST_HOUR + entry_h) * HOUR_S - 1_800;
  const said = {
    kind,
    asset,
    venue: 'hyperliquid' as const,
    direction,
    conviction: of.conviction === undefined ? '0.75' : of.conviction,
    price: '1',
    emitted_at,
    horizon_h: of.horizon_h === undefined ? hours : of.horizon_h,
    detector_version: of.version === undefined ? `${kind}-1` : of.version,
    bar: '0.5',
    window: 0,
    simulated: false,
    call_id: `call_${leaf.toString(16).padStart(32, '0')}`,
    leaf,
  };
  if (exit_h === undefined) return { ...said, outcome: { state: 'open' } };
  const closed_at = (FIRST_HOUR + exit_h) * HOUR_S;
  if (of.unpriced === true) {
    return { ...said, outcome: { state: 'unpriced', cause: 'no_exit_candle', closed_at } };
  }
  const [entry, exit] = [
    priceAt(entry_h),
    of.delisted_at === undefined ? priceAt(exit_h) : of.delisted_at,
  ];
  const moved = Number(exit) / Number(entry) - 1;
  return {
    ...said,
    outcome: {
      state: 'closed',
      closed_at,
      entry_at_ms: msOf(entry_h),
      entry,
      exit_at_ms: msOf(exit_h),
      exit,
      gross_return: String(direction === 'long' ? moved : -moved),
      funding_paid: of.funding_paid === undefined ? '0' : of.funding_paid,
      delisted: of.delisted_at !== undefined,
      restated: null,
    },
  };
}

export type TestRecord = {
  readonly calls: readonly TestCall[];
  readonly opens: TestOpens;
  readonly versions?: readonly KeptVersion[];
  readonly ran?: RanSpans;
};

/** Puts calls of a test into a record. */
export function testRecord({ calls, opens, versions, ran }: TestRecord): EdgeRecord {
  return buildRecord({
    calls: calls.map((one, leaf) => testCall(one, opens, leaf)),
    versions: versions === undefined ? [] : versions,
    ran: ran === undefined ? NEVER_RAN : ran,
    opensOf: ({ asset }) => {
      const rows = opens[asset] === undefined ? [] : opens[asset];
      return new Map(
        rows.flatMap((open, hour) => (open === null ? [] : [[FIRST_HOUR + hour, open] as const])),
      );
    },
  });
}

/** A walk without any drift, of hours with a deviation of one percent. */
export function noiseOpens(hours: number, shares: () => number): number[] {
  let price = 100;
  return Array.from({ length: hours }, () => {
    const now = price;
    price *= Math.exp(0.01 * normalFrom(shares));
    return now;
  });
}

/** A normal value of two even ones (Box and Muller). */
function normalFrom(shares: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - shares())) * Math.cos(2 * Math.PI * shares());
}

/** Calls of pure noise that overlap: bursts on each asset, in directions of a coin. */
export function noiseRecord(
  seed: number,
  { assets, hours, bursts }: { assets: number; hours: number; bursts: number },
): EdgeRecord {
  const shares = sharesFrom(seed);
  const names = Array.from({ length: assets }, (_, at) => `A${at}`);
  const opens = Object.fromEntries(names.map((name) => [name, noiseOpens(hours, shares)]));
  const kinds = ['funding', 'liq', 'netflow', 'whale'] as const;
  const horizon = 24;
  const calls = names.flatMap((asset) =>
    Array.from({ length: bursts }, () => {
      const start = 1 + Math.floor(shares() * (hours - 2 * horizon - 2));
      const direction: Direction = shares() < 0.5 ? 'long' : 'short';
      const size = 1 + Math.floor(shares() * 5);
      return Array.from({ length: size }, (_, at): TestCall => {
        const entry_h = start + at * 3;
        return {
          asset,
          direction,
          entry_h,
          exit_h: entry_h + horizon,
          kind: kinds[Math.floor(shares() * kinds.length)] as DetectorKind,
          conviction: (0.5 + Math.floor(shares() * 50) / 100).toFixed(2),
        };
      });
    }).flat(),
  );
  return testRecord({ calls, opens, ran: ranFor(hours) });
}
