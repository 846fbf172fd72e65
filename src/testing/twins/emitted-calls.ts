// The twin of the record of calls: in memory, planted and silent.

import { formatIsoDate } from '../../chain/time.ts';
import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import { hashVersion, makeEmission } from '../../features/calls/call.ts';
import type {
  CallClosing,
  DetectorKind,
  EmissionOutcome,
  EmissionStatement,
  EmittedCall,
  EmittedCalls,
  KeptVersion,
  RanSpan,
} from '../../ports/emitted-calls.ts';
import { CANDLE_MS, type SeriesStore } from '../../ports/series.ts';
import { memorySource, PLANTED } from './dated.ts';
import { memorySeriesStore } from './series.ts';

export type EmittedCallPorts = { readonly emittedCalls: EmittedCalls };

type Ran = { readonly [K in DetectorKind]: readonly RanSpan[] };

/**
 * A record in memory. `changes` are the states of calls in the order in which they came, a later
 * one of the same id in place of the earlier; a test may push further ones.
 */
export type MemoryEmissions = {
  readonly changes: readonly EmittedCall[];
  readonly versions: readonly KeptVersion[];
  readonly ran: Ran;
  readonly simulated?: boolean;
};

export const NEVER_RAN: Ran = { funding: [], liq: [], netflow: [], whale: [] };
const HOUR_S = 3_600;

/** Facts of a call that a test leaves out. */
const SAID: EmissionStatement = {
  kind: 'funding',
  asset: 'BTC',
  venue: 'hyperliquid',
  direction: 'short',
  conviction: '0.6',
  price: '100',
  emitted_at: PLANTED.as_of,
  horizon_h: 24,
  detector_version: 'funding-1',
  bar: '0.5',
  window: 0,
  inputs: [
    {
      venue: 'hyperliquid',
      series: 'funding',
      of: 'BTC',
      at_ms: PLANTED.as_of * 1_000,
      received_at_ms: PLANTED.as_of * 1_000,
      revision: 0,
      value: '0.0006',
    },
  ],
  features: { conviction: '0.6' },
  simulated: false,
};

/** A call as it is kept, of what matters to a test; its id and hash follow from what it says. */
export function emittedCallOf(
  said: Partial<EmissionStatement>,
  outcome: EmissionOutcome = { state: 'open' },
  leaf = 0,
): EmittedCall {
  const whole = { ...SAID, ...said };
  const { call_id, hash } = makeEmission(whole);
  return { ...whole, call_id, hash, leaf, outcome };
}

/** The outcome of a call entered in the hour after it, and left at the end of its horizon. */
export function outcomeOf(
  { emitted_at, horizon_h }: Pick<EmissionStatement, 'emitted_at' | 'horizon_h'>,
  closing: Partial<CallClosing> & Pick<CallClosing, 'gross_return'>,
): EmissionOutcome {
  const entry = Math.ceil(emitted_at / HOUR_S) * HOUR_S;
  const exit = entry + horizon_h * HOUR_S;
  return {
    state: 'closed',
    entry_at_ms: entry * 1_000,
    entry: '100',
    exit_at_ms: exit * 1_000,
    exit: '100',
    funding_paid: '0',
    delisted: false,
    ...closing,
    closed_at: exit + 2 * HOUR_S,
    restated: null,
  };
}

export function memoryEmittedCalls(memory: MemoryEmissions): EmittedCallPorts {
  const { changes, versions, ran, simulated = false } = memory;
  const dated = { ...PLANTED, simulated };
  const origin = {
    port: 'emitted_calls',
    source: memorySource('Record of calls', 'table', dated),
  } as const;
  const current = () => new Map(changes.map((call) => [call.call_id, call]));
  return {
    emittedCalls: {
      changedSince: async (place, limit) => {
        const page = changes.slice(place, place + limit);
        const ids = new Set(page.map(({ call_id }) => call_id));
        const newest = current();
        const calls = [...ids].map((id) => {
          const { inputs: _, hash: __, ...counted } = newest.get(id) as EmittedCall;
          return counted;
        });
        return read({ calls, place: place + page.length }, origin);
      },
      find: async (id) => {
        const found = current().get(id);
        return read(found === undefined ? null : found, origin);
      },
      newestOf: async (asset) => {
        const of = [...current().values()].filter((call) => call.asset === asset);
        const [newest] = of.sort((a, b) => b.emitted_at - a.emitted_at || b.leaf - a.leaf);
        return read(newest === undefined ? null : newest, origin);
      },
      versions: async () => read(versions, origin),
      ran: async () => read(ran, origin),
    },
  };
}

export function silentEmittedCalls(cause: Why): EmittedCallPorts {
  const silent = async () => unread('emitted_calls' as const, cause);
  return {
    emittedCalls: {
      changedSince: silent,
      find: silent,
      newestOf: silent,
      versions: silent,
      ran: silent,
    },
  };
}

/** A record to which nobody ever added. */
export const NOTHING_EMITTED: MemoryEmissions = { changes: [], versions: [], ran: NEVER_RAN };

/** Whether a world plants a closed call, with the version that made it and the days it ran. */
export type PlantedEmissions = { readonly emitted?: boolean };

const EMITTED_AT = PLANTED.as_of - 3 * 86_400;
const CLOSED = emittedCallOf(
  { emitted_at: EMITTED_AT },
  outcomeOf({ emitted_at: EMITTED_AT, horizon_h: 24 }, { gross_return: '0.01' }),
  1,
);
/** More of its kind, so that its filters are listed, and one of each other kind. */
const EARLIER = Array.from({ length: 30 }, (_, back) => {
  const emitted_at = EMITTED_AT - (30 - back) * 6 * HOUR_S;
  return emittedCallOf(
    { emitted_at, horizon_h: 3 },
    outcomeOf({ emitted_at, horizon_h: 3 }, { gross_return: back % 3 === 0 ? '-0.01' : '0.01' }),
    10 + back,
  );
});
const OTHERS = (['liq', 'netflow', 'whale'] as const).map((kind, at) =>
  emittedCallOf(
    { kind, emitted_at: EMITTED_AT, detector_version: `${kind}-1` },
    outcomeOf({ emitted_at: EMITTED_AT, horizon_h: 24 }, { gross_return: '0.01' }),
    50 + at,
  ),
);

const BEGAN = EMITTED_AT - 10 * 86_400;

function versionOf(kind: DetectorKind, number: number, bar: string): KeptVersion {
  return {
    ...hashVersion({
      version: `${kind}-${number}`,
      kind,
      bar,
      cooldown_h: 24,
      horizon_h: 24,
      parameters: { threshold_8h: '0.0005' },
      text: 'A planted rule.',
    }),
    leaf: 0,
    in_force_from: number === 1 ? BEGAN : EMITTED_AT,
  };
}

const VERSIONS = [
  ...(['funding', 'liq', 'netflow', 'whale'] as const).map((kind) => versionOf(kind, 1, '0.5')),
  // The bar of one kind was raised.
  versionOf('funding', 2, '0.6'),
];
const DAYS = [{ from: BEGAN, to: PLANTED.as_of }];

export function plantedEmittedCalls({ emitted = false }: PlantedEmissions): EmittedCallPorts {
  if (!emitted) return memoryEmittedCalls(NOTHING_EMITTED);
  return memoryEmittedCalls({
    changes: [...EARLIER, CLOSED, ...OTHERS],
    versions: VERSIONS,
    ran: { funding: DAYS, liq: DAYS, netflow: DAYS, whale: DAYS },
  });
}

/** The candles under the planted calls. */
export function plantedCandles({ emitted = false }: PlantedEmissions): SeriesStore {
  const store = memorySeriesStore(PLANTED);
  if (!emitted) return store;
  const [from, to] = [BEGAN, PLANTED.as_of].map((at) => Math.floor(at / HOUR_S) * HOUR_S * 1_000);
  const span = { from: Number(from), to: Number(to) };
  const rows = Array.from({ length: (span.to - span.from) / CANDLE_MS }, (_, hour) => {
    const at = span.from + hour * CANDLE_MS;
    return { at, open: '100', high: '100', low: '100', close: '100', volume: '1' };
  });
  // The twin has added its rows when the call returns.
  void store.add({ venue: 'hyperliquid', series: 'candles', of: 'BTC' }, rows, {
    covered: [span],
    received_at: span.to,
    source: 'a planted venue',
    origin: 'observed',
  });
  return store;
}

/** What the planted call contradicts, by route. */
export const EMISSION_STANDS = {
  emitted: true,
  contradicts: {
    edge_backtest: [
      ...['n', 'equity', 'biased', 'filters', 'count'],
      ...['funding', 'liq', 'netflow', 'whale'].map((kind) => `by_kind.${kind}.n`),
    ],
    edge_replay: ['dates', 'calls', 'count'],
  },
};

/** The lines of pages that deny something of calls, with the ports that they rest on. */
export const EMISSION_DENIALS: readonly (readonly [line: RegExp, restsOn: readonly string[]])[] = [
  [/^No call is on record here\. /, ['emitted_calls']],
  [/^No call on record is kept by this filter\. /, ['emitted_calls']],
  [/^(funding|liq|netflow|whale) · none yet · 0 · /, ['emitted_calls']],
];

/** The UTC day of the planted call. */
export const PLANTED_CALL_DAY = formatIsoDate(EMITTED_AT);

/** The planted call, whose day and id routes are asked for. */
export const PLANTED_CALL = CLOSED;
