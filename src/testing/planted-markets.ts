// Plants what arrived of simulated markets into a store of series, as it was observed.

import type { SeriesKind, SeriesName, SeriesSpan, SeriesStore } from '../ports/series.ts';
import type { SimulatedMarkets } from '../world/markets.ts';

/**
 * Adds what arrived about the hours of a span, and no later than `until` (milliseconds), of all
 * series of the markets or of those that are named.
 */
export async function plantMarkets(
  store: SeriesStore,
  markets: SimulatedMarkets,
  span: SeriesSpan,
  { until = Number.POSITIVE_INFINITY, names = markets.names }: PlantOptions = {},
): Promise<void> {
  for (const name of names) await plantSeries(store, markets, span, { until, name });
}

type PlantOptions = { readonly until?: number; readonly names?: readonly SeriesName[] };

async function plantSeries<S extends SeriesKind>(
  store: SeriesStore,
  markets: SimulatedMarkets,
  span: SeriesSpan,
  { until, name }: { readonly until: number; readonly name: SeriesName<S> },
): Promise<void> {
  for (const { rows, covered, received_at } of markets.batches(name, span)) {
    if (received_at > until) return;
    const observed = { covered, received_at, source: 'simulated markets' } as const;
    const kept = await store.add(name, rows, { ...observed, origin: 'observed' });
    if (!kept.checked) throw new Error(kept.why.reason);
  }
}
