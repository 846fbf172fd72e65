// Completes the hourly candles of every instrument that was called, round after round, in one
// process at a time by a lease: answers about the edge read stored candles alone.

import { HOUR_S, MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { Read } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { type BoundedTask, type RoundPace, repeatRounds } from '../../evidence/waiting.ts';
import type { EmittedCalls } from '../../ports/emitted-calls.ts';
import type { Leases } from '../../ports/indexing.ts';
import type { SeriesGathering } from '../../ports/series.ts';
import { type Instrument, instrumentName } from './record.ts';

const LEASE = 'edge candles';
const LEASE_S = 600;
const PAGE = 5_000;
/** Instruments of a round; those of the oldest calls wait for the next one. */
const INSTRUMENTS_MAX = 200;

export type CandleParts = {
  readonly emittedCalls: Pick<EmittedCalls, 'changedSince'>;
  readonly gather: SeriesGathering['gather'];
  readonly leases: Leases;
  readonly now: () => UnixSeconds;
};

/** How many were completed, why none was, or `null`: another process holds the lease. */
export async function completeCandles(
  parts: CandleParts,
  signal: AbortSignal,
): Promise<number | Why | null> {
  const taken = await parts.leases.take(LEASE, LEASE_S);
  if (!taken.checked) return taken.why;
  if (taken.value === null) return null;
  try {
    return await completeHeld(parts, signal);
  } finally {
    await parts.leases.release(LEASE);
  }
}

async function completeHeld(
  { emittedCalls, gather, now }: CandleParts,
  signal: AbortSignal,
): Promise<number | Why> {
  const instruments = new Map<string, Instrument>();
  let first = Number.POSITIVE_INFINITY;
  for (let place = 0, more = true; more; ) {
    const page = await emittedCalls.changedSince(place, PAGE);
    if (!(page instanceof Read)) return page.why;
    for (const { venue, asset, emitted_at } of page.value.calls) {
      first = Math.min(first, emitted_at);
      instruments.set(instrumentName({ venue, asset }), { venue, asset });
    }
    more = page.value.calls.length > 0;
    place = page.value.place;
  }
  const to = Math.floor(now() / HOUR_S) * HOUR_S * MS_PER_S;
  const from = Math.floor(first / HOUR_S) * HOUR_S * MS_PER_S;
  let completed = 0;
  for (const { venue, asset } of [...instruments.values()].slice(-INSTRUMENTS_MAX)) {
    if (signal.aborted || from >= to) break;
    const name = { venue, series: 'candles', of: asset } as const;
    const { reading } = await gather(name, { from, to }, signal);
    // What a venue did not give stays a hole, and every answer over it says so.
    if (reading.checked || reading.why.code !== 'series_not_held') completed += 1;
  }
  return completed;
}

/** Rounds until it is stopped. */
export function candleRounds(parts: CandleParts & RoundPace<Why>): BoundedTask {
  return repeatRounds(parts, async (signal) => {
    const outcome = await completeCandles(parts, signal);
    return typeof outcome === 'object' ? outcome : null;
  });
}
