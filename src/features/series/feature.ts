// Market series: candles, funding and fills as they are kept, completed from their venues.

import { nowS } from '../../compose/clock.ts';
import { type Base, feature, routeOrigin } from '../../compose/feature.ts';
import type { Outside } from '../../compose/outside.ts';
import type { OnCallEnd, ProviderFacts } from '../../ports/providers.ts';
import type { MarketSources } from '../../ports/series.ts';
import { BINANCE_WINDOW, binanceMarket } from '../../sources/binance/market.ts';
import { BYBIT_WINDOW, bybitMarket } from '../../sources/bybit/market.ts';
import type { MarketOptions } from '../../sources/http/market-venue.ts';
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
    const nowMs = () => performance.now();
    const optionsOf = (
      name: string,
      url: string | null,
      limits: { readonly max: number; readonly windowMs: number },
    ): MarketOptions | null => {
      if (url === null) return null;
      return {
        ...QUESTION,
        url: new URL(url),
        guard: guardOf(outside, providers.watch(venueFacts(name, url))),
        window: weightWindow(config.simulate ? SIMULATED_WEIGHT : limits, nowMs),
        now: nowS,
        simulated: config.simulate,
      };
    };
    const { hyperliquid, binance, bybit } = outside;
    const markets: MarketSources = {
      hyperliquid: hyperliquidMarket(optionsOf('Hyperliquid', hyperliquid, WEIGHT_WINDOW)),
      binance: binanceMarket(optionsOf('Binance', binance.url, BINANCE_WINDOW)),
      bybit: bybitMarket(optionsOf('Bybit', bybit.url, BYBIT_WINDOW)),
    };
    return {
      ports: { marketSeries: store },
      services: { series: seriesServices },
      /** Completes series from their venues; every feature shares the venues' budgets. */
      markets,
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
        absence: ({ hyperliquid, binance, bybit }) => {
          const isSet = hyperliquid !== null || binance.url !== null || bybit.url !== null;
          return isSet ? null : 'No venue is set: series are imported only.';
        },
      },
    },
  },
  commands: [seriesImport, seriesStatus],
  optional: [
    {
      name: 'Hyperliquid',
      setting: 'EXHIBIT_HYPERLIQUID_URL',
      isSet: ({ hyperliquidUrl }) => hyperliquidUrl !== null,
      without: 'no trader is analysed, and its market series are what was imported',
    },
    {
      name: 'Binance',
      setting: 'EXHIBIT_BINANCE_URL',
      isSet: ({ binance }) => binance.url !== null,
      without: 'its market series are what was imported',
    },
    {
      name: 'Bybit',
      setting: 'EXHIBIT_BYBIT_URL',
      isSet: ({ bybit }) => bybit.url !== null,
      without: 'its market series are what was imported',
    },
  ],
});

function guardOf({ callsPerS }: Outside, onCallEnd: OnCallEnd): ProviderGuard {
  const allowed = callsPerS === null ? GUARD.callsPerS : callsPerS;
  return providerGuard({ ...GUARD, callsPerS: allowed }, () => performance.now(), onCallEnd);
}

function venueFacts(name: string, root: string): ProviderFacts {
  const url = originText(new URL(root));
  return { name, url, ports: ['market_series'], carries: null };
}
