// Calls of our own detectors: what was said of an asset, on what, and what became of it.

import { randomUUID } from 'node:crypto';
import { nowS, pause } from '../../compose/clock.ts';
import { type Base, feature, type OpenedRests } from '../../compose/feature.ts';
import { signalFor, type WatchRun } from '../../evidence/waiting.ts';
import type { SeriesGathering } from '../../ports/series.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { log } from '../log/feature.ts';
import { series } from '../series/feature.ts';
import {
  type CallsServices,
  callsList,
  callsReplay,
  callsShow,
  callsVersions,
} from './calls.command.ts';
import { emissionTable, emittedCallTable } from './calls.store.ts';
import { emitRounds } from './emit.job.ts';
import { replayCalls } from './replay.ts';

/** How often a process looks whether a tick or a settlement is due. */
const LOOK_EACH_S = 60;
/** The longest that the candles or the funding of one call are waited for. */
const GATHER_MS = 30_000;

const RESTS = { log, series } as const;

export const calls = feature({
  name: 'calls',
  heading: 'Calls of detectors',
  rests: RESTS,
  open: (base: Base, rests: OpenedRests<typeof RESTS>) => {
    const { config, context, database, log: logger } = base;
    const table = emittedCallTable(database, context);
    const store = emissionTable(database, context);
    const { marketSeries } = rests.series.ports;
    // What settles calls leaves the venue to whoever waits for an answer.
    const gather: SeriesGathering['gather'] = (name, span, signal, reach) => {
      const within = AbortSignal.any([signal, AbortSignal.timeout(GATHER_MS)]);
      const asked = signalFor('calls of detectors', within);
      return rests.series.gathering.gather(name, span, asked, reach);
    };
    const rounds = {
      store,
      versions: table.versions,
      series: marketSeries,
      gather,
      leases: leaseTable(database, randomUUID(), context),
      assets: config.edgeAssets,
      now: nowS,
      everyS: LOOK_EACH_S,
      sleep: pause,
      onRound: (counts: object) => logger.info(counts, 'calls: a round ended'),
      onFault: ({ code, reason }: { readonly code: string; readonly reason: string }) =>
        logger.warn({ code, reason }, 'calls: not emitted'),
      onBug: (fault: unknown) => logger.error({ fault: String(fault) }, 'calls: a bug'),
    };
    return {
      ports: { emittedCalls: table },
      services: {
        calls: {
          find: table.find,
          ran: table.ran,
          versions: table.versions,
          emitted: store.emitted,
          now: nowS,
          replay: (span, signal) =>
            replayCalls({ store, versions: table.versions, series: marketSeries }, span, signal),
        },
      } satisfies CallsServices,
      jobs: config.surfaces.includes('edge')
        ? [
            {
              name: 'calls of detectors',
              start: (watch: WatchRun) => emitRounds({ ...rounds, watch }),
            },
          ]
        : [],
    };
  },
  ports: {
    emittedCalls: {
      tag: 'emitted_calls',
      title: 'Calls of detectors',
      says: 'What our detectors said of assets, and what became of it',
      pages: false,
      // A call carries its own dates, and does not expire.
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  commands: [callsList, callsShow, callsVersions, callsReplay],
});
