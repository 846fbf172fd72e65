// How right outside services were: what they say is collected, scored by published rules, counted.

import { randomUUID } from 'node:crypto';
import { MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  type Service,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import { basis, map, rowsSeen } from '../../evidence/reading.ts';
import { signalFor, type WatchRun } from '../../evidence/waiting.ts';
import type { TokenRisk } from '../../ports/token-risk.ts';
import { localTableFiles } from '../../sources/files/files.ts';
import { goplusTokenRisk } from '../../sources/goplus/token-security.ts';
import { originText } from '../../sources/http/outbound-call.ts';
import { providerGuard } from '../../sources/http/provider.ts';
import { rugcheckTokenRisk } from '../../sources/rugcheck/report.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { log } from '../log/feature.ts';
import { series } from '../series/feature.ts';
import { makeBoard } from './board.ts';
import { callProductionTable, providerCallTable } from './calls.store.ts';
import { collectRounds } from './collect.job.ts';
import { importCalls } from './import-calls.ts';
import {
  type ProvidersServices,
  providersExplain,
  providersImport,
  providersRules,
  providersScore,
} from './providers.command.ts';
import {
  type ProvidersPorts,
  providersBoard,
  providersBoardHandler,
  providersPage,
  providersPageHandler,
} from './providers.route.tsx';
import { type CandlesRead, scoreCalls } from './score.ts';

const QUESTION = { timeMs: 30_000, callsMax: 6 };
/** GoPlus publishes 30 calls a minute; readers of RugCheck met its limit at two a second. */
const GOPLUS_CALLS_PER_S = 0.45;
const RUGCHECK_CALLS_PER_S = 0.5;
const GUARD = { retriesMax: 1, backoffMs: 5_000, failuresMax: 5, restMs: 300_000 };
const ROUND_EACH_S = 60;
/** The simulated world moves while one watches. */
const SIMULATED_EACH_S = 10;

const RESTS = { log, series } as const;
type Rested = OpenedRests<typeof RESTS>;
type PagePorts = ProvidersPorts & { readonly service: Service };

export const providers = feature({
  name: 'providers',
  heading: 'Providers',
  rests: RESTS,
  open: (base: Base, rests: Rested) => {
    const { config, context, database, log: logger } = base;
    const calls = callProductionTable(database, context);
    const table = providerCallTable(database, context);
    const scoring = { calls, candlesOf: candleReader(rests, config.simulate), now: nowS };
    const rounds = {
      ...scoring,
      leases: leaseTable(database, randomUUID(), context),
      risks: risksOf(base),
      everyS: config.simulate ? SIMULATED_EACH_S : ROUND_EACH_S,
      sleep: pause,
      onRound: (counts: object) => logger.info(counts, 'providers: a round ended'),
      onFault: ({ code, reason }: { readonly code: string; readonly reason: string }) =>
        logger.warn({ code, reason }, 'providers: not collected'),
      onBug: (fault: unknown) => logger.error({ fault: String(fault) }, 'providers: a bug'),
    };
    return {
      ports: { providerCalls: table },
      services: {
        providers: {
          find: table.find,
          rules: table.rules,
          importCalls: (order, onRefused) =>
            importCalls({ files: localTableFiles(), calls, now: nowS }, order, onRefused),
          score: async (signal) => {
            const scored = await scoreCalls(scoring, signal);
            if ('reason' in scored) return scored;
            const failed = await makeBoard(scoring);
            return failed === null ? scored : failed;
          },
        },
      } satisfies ProvidersServices,
      jobs: config.surfaces.includes('signals')
        ? [
            {
              name: 'provider calls',
              start: (watch: WatchRun) => collectRounds({ ...rounds, watch }),
            },
          ]
        : [],
    };
  },
  ports: {
    providerCalls: {
      tag: 'provider_calls',
      title: 'Calls of providers',
      says: 'What outside services said, and what became of it',
      pages: false,
      // A call carries its own dates, and does not expire.
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  routes: [serveRoute(providersBoard, (given: PagePorts) => providersBoardHandler(given))],
  pages: [
    servePage(providersPage, 'Providers', (given: PagePorts, facts) =>
      providersPageHandler(given, facts),
    ),
  ],
  commands: [providersImport, providersRules, providersScore, providersExplain],
});

/**
 * Candles of an asset, completed from their venue without taking a turn from who waits. Made-up
 * ones decide made-up calls alone.
 */
function candleReader({ series: { gathering } }: Rested, isSimulated: boolean) {
  return async (asset: string, from: UnixSeconds, to: UnixSeconds): Promise<CandlesRead | null> => {
    const name = { venue: 'hyperliquid', series: 'candles', of: asset } as const;
    const span = { from: from * MS_PER_S, to: to * MS_PER_S };
    const until = signalFor('the scores of providers', AbortSignal.timeout(QUESTION.timeMs));
    const { reading } = await gathering.gather(name, span, until);
    const isMadeUp = basis(reading).sources.some(({ simulated }) => simulated);
    if (isMadeUp && !isSimulated) return null;
    const seen = rowsSeen(map(reading, ({ rows, holes }) => [{ rows, holes }]));
    return seen === null ? null : seen[0];
  };
}

function risksOf({ config, outside, providers: watched }: Base): TokenRisk[] {
  const { goplus, rugcheck, callsPerS } = outside;
  const terms = { ...QUESTION, now: nowS, simulated: config.simulate };
  const guardOf = (name: string, url: URL, rate: number) =>
    providerGuard(
      { ...GUARD, callsPerS: callsPerS === null ? rate : callsPerS },
      () => performance.now(),
      watched.watch({
        name,
        url: originText(url),
        ports: ['provider_calls'],
        carries: null,
      }),
    );
  const risks: TokenRisk[] = [];
  if (goplus !== null) {
    const url = new URL(goplus.url);
    const guard = guardOf('GoPlus', url, GOPLUS_CALLS_PER_S);
    risks.push(goplusTokenRisk({ ...terms, url, guard, key: applicationIn(goplus.key) }));
  }
  if (rugcheck !== null) {
    const url = new URL(rugcheck.url);
    const guard = guardOf('RugCheck', url, RUGCHECK_CALLS_PER_S);
    risks.push(rugcheckTokenRisk({ ...terms, url, guard, key: rugcheck.key }));
  }
  return risks;
}

/** The key and the secret of an application, as the setting joins them. */
function applicationIn(key: string | null) {
  if (key === null) return null;
  const [app, ...rest] = key.split(':');
  return { app: String(app), secret: rest.join(':') };
}
