// Observations of markets: what venues tell of the configured assets, kept as market series.

import { randomUUID } from 'node:crypto';
import { nowS, pause } from '../../compose/clock.ts';
import { type Base, feature, type OpenedRests, routeOrigin } from '../../compose/feature.ts';
import type { WatchRun } from '../../evidence/waiting.ts';
import { MARKET_VENUES, type MarketVenue } from '../../ports/series.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { SOCKET_BOUNDS } from '../../sources/socket/heard-socket.ts';
import {
  BINANCE_WORDS,
  BYBIT_WORDS,
  liquidationFeed,
} from '../../sources/socket/liquidation-feeds.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { warehouseFlows } from '../../stores/warehouse/history/chain-flows.ts';
import { series } from '../series/feature.ts';
import { tables } from '../tables/feature.ts';
import { observeChains } from './chain-flows.ts';
import { type ObservedVenue, observeMarkets } from './observe.job.ts';

/** What was heard of liquidations is kept so often; the simulated world moves while one watches. */
const FLUSH_MS = 60_000;
const SIMULATED_FLUSH_MS = 5_000;

const RESTS = { series, tables } as const;
type Rested = OpenedRests<typeof RESTS>;

export const observing = feature({
  name: 'observing',
  rests: RESTS,
  open: (base: Base, rests: Rested) => {
    const { config, context, database, log: logger } = base;
    const { gathering } = rests.series;
    const venues = venuesOf(base, rests);
    const chains = {
      flows: warehouseFlows(base.warehouse, { now: nowS, simulated: config.simulate }),
      labels: rests.tables.ports.exchangeLabels,
      store: rests.series.ports.marketSeries,
      assets: config.edgeAssets,
      origin: routeOrigin(config),
      now: nowS,
      reached: new Map<string, number>(),
    };
    const parts = {
      leases: leaseTable(database, randomUUID(), context),
      store: rests.series.ports.marketSeries,
      gathering,
      venues,
      assets: config.edgeAssets,
      origin: routeOrigin(config),
      now: nowS,
      observeChains: (signal: AbortSignal) => observeChains(chains, signal),
      sleep: pause,
      onRound: (counts: object) => logger.info(counts, 'observing: a round ended'),
      onFault: ({ code, reason }: { readonly code: string; readonly reason: string }) =>
        logger.warn({ code, reason }, 'observing: not read'),
      onBug: (fault: unknown) => logger.error({ fault: String(fault) }, 'observing: a bug'),
    };
    return {
      ports: {},
      services: {},
      // A process that does not serve the edge asks no venue for it.
      jobs:
        config.surfaces.includes('edge') && venues.length > 0
          ? [{ name: 'observing', start: (watch: WatchRun) => observeMarkets({ ...parts, watch }) }]
          : [],
    };
  },
  ports: {},
  optional: [
    {
      name: 'Binance liquidations',
      setting: 'EXHIBIT_BINANCE_STREAM_URL',
      isSet: ({ binance }) => binance.streamUrl !== null,
      without: 'no liquidations of Binance are heard, and none are told afterwards',
    },
    {
      name: 'Bybit liquidations',
      setting: 'EXHIBIT_BYBIT_STREAM_URL',
      isSet: ({ bybit }) => bybit.streamUrl !== null,
      without: 'no liquidations of Bybit are heard, and none are told afterwards',
    },
  ],
});

function venuesOf(base: Base, { series: { markets } }: Rested): readonly ObservedVenue[] {
  const { outside } = base;
  const roots: { readonly [V in MarketVenue]: string | null } = {
    hyperliquid: outside.hyperliquid,
    binance: outside.binance.url,
    bybit: outside.bybit.url,
  };
  return MARKET_VENUES.filter((venue) => roots[venue] !== null).map((venue) => ({
    venue,
    market: markets[venue],
    feed: feedOf(base, venue),
  }));
}

/** Hyperliquid tells of nobody's liquidations but those of an account that is asked for. */
function feedOf({ outside, config, providers }: Base, venue: MarketVenue): ObservedVenue['feed'] {
  if (venue === 'hyperliquid') return null;
  const stream = outside[venue].stream;
  if (stream === null) return null;
  const words = venue === 'binance' ? BINANCE_WORDS : BYBIT_WORDS;
  const url = new URL(stream);
  const name = `${words.name} liquidations`;
  const ports = ['market_series'];
  const onCallEnd = providers.watch({ name, url: originText(url), ports, carries: null });
  return liquidationFeed(words, {
    url,
    bounds: SOCKET_BOUNDS,
    flushMs: config.simulate ? SIMULATED_FLUSH_MS : FLUSH_MS,
    simulated: config.simulate,
    nowMs: () => Date.now(),
    pause,
    onEnd: (fault) =>
      onCallEnd(fault === null ? { outcome: 'answered' } : { outcome: 'failed', fault }),
  });
}
