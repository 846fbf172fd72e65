// The twin of the record of calls: in memory, planted and silent.

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
import { memorySource, PLANTED } from './dated.ts';

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
const VERSION: KeptVersion = {
  ...hashVersion({
    version: 'funding-1',
    kind: 'funding',
    bar: '0.5',
    cooldown_h: 24,
    horizon_h: 24,
    parameters: { threshold_8h: '0.0005' },
    text: 'A planted rule.',
  }),
  leaf: 0,
  in_force_from: EMITTED_AT - 86_400,
};
const DAYS = [{ from: EMITTED_AT - 86_400, to: PLANTED.as_of }];

export function plantedEmittedCalls({ emitted = false }: PlantedEmissions): EmittedCallPorts {
  if (!emitted) return memoryEmittedCalls(NOTHING_EMITTED);
  return memoryEmittedCalls({
    changes: [CLOSED],
    versions: [VERSION],
    ran: { funding: DAYS, liq: DAYS, netflow: DAYS, whale: DAYS },
  });
}

/** What the planted call contradicts, by route. */
export const EMISSION_STANDS = { emitted: true, contradicts: {} } as const;

/** The planted call, whose day and id routes are asked for. */
export const PLANTED_CALL = CLOSED;
