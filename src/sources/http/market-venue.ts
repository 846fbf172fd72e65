// How every venue is asked: within its weight and its guard, its faults under its name, and a span
// that it did not tell whole as a part.

import { MS_PER_S } from '../../chain/time.ts';
import { type Partly, Read, type Reading, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  MarketPort,
  MarketRows,
  MarketVenue,
  SeriesKind,
  SeriesRow,
  SeriesSpan,
} from '../../ports/series.ts';
import { holesOf, whyHoles } from '../../ports/series-coverage.ts';
import { originText } from './outbound-call.ts';
import {
  type CallBudget,
  type ProviderGuard,
  type ProviderTerms,
  readProvider,
} from './provider.ts';
import type { WeightWindow } from './weight-window.ts';

const PORT: MarketPort = 'market_source';

/** The options of asking a venue. `url` is the root of its API. */
export type MarketOptions = ProviderTerms & {
  readonly url: URL;
  readonly guard: ProviderGuard;
  readonly window: WeightWindow;
};

/** A venue and how one of its answers is asked for within a budget. */
export type VenueApi<A> = {
  readonly venue: MarketVenue;
  readonly name: string;
  readonly askWithin: (budget: CallBudget) => A;
};

/** A question of one kind of rows; `nowMs` is the clock by which they are settled. */
export type VenueLook<A, T> = (
  ask: A,
  of: string,
  span: SeriesSpan,
  nowMs: () => number,
) => Promise<T>;

/** Readings of a venue. */
export type VenueReader<A> = {
  readonly read: <T>(
    signal: AbortSignal,
    work: (ask: A, nowMs: () => number) => Promise<T>,
  ) => Promise<Reading<T, MarketPort>>;
  readonly series: <S extends SeriesKind, T extends MarketRows<SeriesRow<S>>>(
    kind: S,
    look: VenueLook<A, T>,
  ) => (of: string, span: SeriesSpan, signal: AbortSignal) => Promise<Partly<T, MarketPort>>;
};

/** Reads a venue by its API. */
export function venueReader<A>(
  { url, now, simulated, timeMs, callsMax }: MarketOptions,
  { venue, name, askWithin }: VenueApi<A>,
): VenueReader<A> {
  const shown = originText(url);
  const toReason = (fault: string) =>
    why('provider_failed', { provider: `${name} ${shown}`, fault });
  const provider = { name, url: shown, simulated, now, toReason };
  const nowMs = () => Math.floor(now() * MS_PER_S);
  const read: VenueReader<A>['read'] = (signal, work) =>
    readProvider(PORT, provider, { timeMs, callsMax, signal }, (budget) =>
      work(askWithin(budget), nowMs),
    );
  return {
    read,
    series: (kind, look) => async (of, span, signal) => {
      const told = await read(signal, (ask) => look(ask, of, span, nowMs));
      if (!(told instanceof Read)) return told;
      const holes = holesOf(span, told.value);
      if (holes.length === 0) return told;
      return weaken(told, whyHoles({ venue, series: kind, of }, holes));
    },
  };
}

/** Asks within the weight of a venue: `most` is set aside, and what it has cost is kept. */
export async function askWeighed<T>(
  window: WeightWindow,
  signal: AbortSignal,
  weight: { readonly most: number; readonly of: (answer: T) => number },
  question: () => Promise<T>,
): Promise<T> {
  const reserved = await window.reserve(weight.most, signal);
  let spent = weight.most;
  try {
    const answer = await question();
    spent = weight.of(answer);
    return answer;
  } finally {
    reserved.settle(spent);
  }
}
