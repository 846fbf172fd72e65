// Market series: candles, funding and fills as they are kept, completed from their venues.

import { nowS } from '../../compose/clock.ts';
import { type Base, feature, routeOrigin } from '../../compose/feature.ts';
import type { Outside } from '../../compose/outside.ts';
import type { OnCallEnd, ProviderFacts } from '../../ports/providers.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { type ProviderGuard, providerGuard } from '../../sources/http/provider.ts';
import { weightWindow } from '../../sources/http/weight-window.ts';
import { hyperliquidMarket, WEIGHT_WINDOW } from '../../sources/hyperliquid/info.ts';
import { warehouseSeries } from '../../stores/warehouse/series/market-series.ts';
import { seriesFiles } from '../../stores/warehouse/series/series-files.ts';
import { seriesGathering } from './gather.ts';
import { type SeriesServices, seriesImport, seriesStatus } from './series.command.ts';

/** The limits of one question of a span, which may have many pages and wait for its weight. */
const QUESTION = { timeMs: 120_000, callsMax: 40 };
const GUARD = {
  callsPerS: 10,
  retriesMax: 2,
  backoffMs: 1_000,
  failuresMax: 10,
  restMs: 30_000,
};

/** The simulated venue takes more, so that all of its traders are read soon. */
export const SIMULATED_WEIGHT = { ...WEIGHT_WINDOW, max: 1_000_000 };

export const series = feature({
  name: 'series',
  heading: 'Market series',
  open: ({ config, warehouse, outside, providers }: Base) => {
    const store = warehouseSeries(warehouse, nowS);
    const seriesServices: SeriesServices['series'] = {
      simulated: config.simulate,
      now: nowS,
      files: seriesFiles(warehouse),
      store,
    };
    const { hyperliquid } = outside;
    const nowMs = () => performance.now();
    const hyperliquidOptions =
      hyperliquid === null
        ? null
        : {
            ...QUESTION,
            url: new URL(hyperliquid),
            guard: guardOf(outside, providers.watch(venueFacts(hyperliquid))),
            window: weightWindow(config.simulate ? SIMULATED_WEIGHT : WEIGHT_WINDOW, nowMs),
            now: nowS,
            simulated: config.simulate,
          };
    const markets = { hyperliquid: hyperliquidMarket(hyperliquidOptions) };
    return {
      ports: { marketSeries: store },
      services: { series: seriesServices },
      /** Completes series from their venues; every feature shares the venues' budgets. */
      gathering: seriesGathering({ store, markets, origin: routeOrigin(config), now: nowS }),
    };
  },
  ports: {
    marketSeries: {
      tag: 'market_series',
      title: 'Market series',
      says: 'Which candles, funding and fills a venue told',
      pages: true,
      freshness: {
        kind: 'per_answer',
        absence: ({ hyperliquid }) =>
          hyperliquid === null ? 'No venue is set: series are imported only.' : null,
      },
    },
  },
  commands: [seriesImport, seriesStatus],
  optional: [
    {
      name: 'Hyperliquid',
      setting: 'EXHIBIT_HYPERLIQUID_URL',
      isSet: ({ hyperliquidUrl }) => hyperliquidUrl !== null,
      without: 'no trader is analysed, and market series are what was imported',
    },
  ],
});

function guardOf({ callsPerS }: Outside, onCallEnd: OnCallEnd): ProviderGuard {
  const allowed = callsPerS === null ? GUARD.callsPerS : callsPerS;
  return providerGuard({ ...GUARD, callsPerS: allowed }, () => performance.now(), onCallEnd);
}

function venueFacts(hyperliquid: string): ProviderFacts {
  const url = originText(new URL(hyperliquid));
  return { name: 'Hyperliquid', url, ports: ['market_series'], carries: null };
}
