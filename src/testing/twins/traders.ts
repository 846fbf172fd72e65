// The twin of trader analyses: in memory, planted and silent.

import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { WINDOWS } from '../../features/traders/concentration.ts';
import type { Bucket, TraderAnalysis, Unanalysable } from '../../features/traders/shapes.ts';
import type { QueuePlace, TraderAnalyses, TraderStanding } from '../../ports/traders.ts';
import { type Dated, memorySource, PLANTED } from './dated.ts';

type Standing = TraderStanding<TraderAnalysis, Unanalysable>;
export type TraderTwin = {
  readonly traderAnalyses: TraderAnalyses<TraderAnalysis, Unanalysable>;
};

/** What a memory holds of an address, and where a question puts it. */
export type MemoryTraders = Dated & {
  readonly standingOf: (address: string) => Standing;
  readonly place?: QueuePlace;
};

export const NEVER_ANALYSED: Standing = { analysis: null, unanalysable: null, failed: null };

export function memoryTraders({ standingOf, place = 'queued', ...dated }: MemoryTraders) {
  const source = memorySource('Trader analyses', 'table', dated);
  const origin = { port: 'trader_analyses', source } as const;
  const traderAnalyses: TraderTwin['traderAnalyses'] = {
    standingOf: async (address) => read(standingOf(address), origin),
    ask: async () => read(place, origin),
  };
  return { traderAnalyses };
}

export function silentTraders(cause: Why): TraderTwin {
  return {
    traderAnalyses: {
      standingOf: async () => unread('trader_analyses', cause),
      ask: async () => unread('trader_analyses', cause),
    },
  };
}

function bucketOf(bucket: string): Bucket {
  return {
    bucket,
    trades: 40,
    exposure_h: 60.5,
    pnl_usd: -12.5,
    share: 0.25,
    share_low: 0.2,
    share_high: 0.3,
    expected_share: 0.26,
    ratio: 0.95,
    p_value: 0.6,
    q_value: 0.7,
    tested: true,
  };
}

function bucketsOf() {
  const rowsIn = (partition: keyof typeof WINDOWS) =>
    WINDOWS[partition].map(({ bucket }) => bucketOf(bucket));
  return {
    session: rowsIn('session'),
    weekpart: rowsIn('weekpart'),
    hour_of_day: rowsIn('hour_of_day'),
  };
}

/** An analysis that found nothing beyond chance. */
export function quietAnalysis(address: string): TraderAnalysis {
  return {
    address,
    role: 'user',
    master: null,
    simulated: false,
    modes: { realization: bucketsOf(), exposure: bucketsOf() },
    classification: { labels: [], no_label: 'not_more_than_chance' },
    coverage: {
      fills: 640,
      from: PLANTED.as_of - 90 * 86_400,
      to: PLANTED.as_of,
      horizon_reached: false,
      unpriced_funding_h: 2,
      missing_candle_h: 3,
      self_trades: 4,
      spot_left_out: 5,
      without_candles_left_out: 6,
    },
    totals: {
      closed_pnl_usd: '-152.586132',
      left_out_pnl_usd: '0.5',
      fees_usd: '12.25',
      fees_in_tokens: 1,
      funding_usd: '695.136103',
      net_usd: '530.299971',
    },
    null_model: {
      seed: 1_234_567,
      generator: 'mulberry32',
      permutations: 10_000,
      tests: 58,
      block_mean: { realization: 10, exposure: 14 },
    },
  };
}

/** An analysis that found a session. */
export function labelledAnalysis(address: string): TraderAnalysis {
  const label = {
    label: 'us_session',
    mode: 'realization',
    partition: 'session',
    bucket: 'us',
    trades: 120,
    pnl_usd: 1_250.5,
    ratio: 2.5,
    p_value: 0.0001,
    q_value: 0.0058,
  } as const;
  return {
    ...quietAnalysis(address),
    classification: { labels: [label], no_label: null },
  };
}

/** A standing that holds one analysis. */
export function standingWith(analysis: TraderAnalysis, made_at = PLANTED.as_of): Standing {
  return { ...NEVER_ANALYSED, analysis: { made_at, analysis } };
}

/** The traders that a world may plant. */
export type PlantedTraders = { readonly styled?: true };

/** Of everybody an analysis is held; where a style is planted, everybody has it. */
export function plantedTraders({ styled }: PlantedTraders): TraderTwin {
  const made = styled === undefined ? quietAnalysis : labelledAnalysis;
  return memoryTraders({ ...PLANTED, standingOf: (address) => standingWith(made(address)) });
}

/** What a planted style contradicts. */
export const TRADER_STYLED = {
  styled: true,
  contradicts: {
    trader_temporal: ['classification.labels', 'classification.no_label'],
  },
} as const;

/** The lines of pages that deny something of traders. */
export const TRADER_DENIALS: readonly (readonly [line: RegExp, restsOn: readonly string[]])[] = [
  [/^No label: /, ['trader_analyses']],
];
