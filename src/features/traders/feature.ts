// Traders: when an account makes money, and whether that is more than chance.

import { Worker } from 'node:worker_threads';
import { MS_PER_S } from '../../chain/time.ts';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import { signalFor, slicesByTick, type WatchRun } from '../../evidence/waiting.ts';
import { compiledEntry } from '../../stores/control/engine/pglite.ts';
import { series } from '../series/feature.ts';
import { analyseQueue } from './analyse.job.ts';
import { type AccountRecord, analyseTrader, type RecordPiece, type WorkedOut } from './analyse.ts';
import {
  methodologyHandler,
  methodologyPage,
  type TraderPorts,
  temporalHandler,
  traderPage,
  traderPageHandler,
  traderTemporal,
} from './temporal.route.tsx';
import { type TradersServices, tradersAnalyse } from './traders.command.ts';
import { traderAnalysisTable, traderWorkTable } from './traders.store.ts';

const QUEUE_POLL_MS = 2_000;
/** To work out one account takes no longer. */
const WORK_MAX_S = 120;
/** Rows that are copied to its thread at once. */
const PIECE_ROWS = 500;

const RESTS = { series } as const;
type Rested = OpenedRests<typeof RESTS>;

export const traders = feature({
  name: 'traders',
  heading: 'Traders',
  rests: RESTS,
  open: ({ config, context, database, log: logger, outside }: Base, { series: kept }: Rested) => {
    const table = traderAnalysisTable(database, context, outside.hyperliquid !== null);
    const work = traderWorkTable(database, context);
    const given = {
      gathering: kept.gathering,
      workOut: workOutApart,
      now: nowS,
      simulated: config.simulate,
    };
    const analyse = (address: string, signal: AbortSignal) => analyseTrader(given, address, signal);
    const queue = {
      work,
      analyse,
      pollMs: QUEUE_POLL_MS,
      sleep: pause,
      onFailure: ({ code, reason }: { readonly code: string; readonly reason: string }) =>
        logger.warn({ code, reason }, 'traders: not analysed'),
      onBug: (fault: unknown) => logger.error({ fault: String(fault) }, 'traders: a bug'),
    };
    const runs = outside.hyperliquid !== null && config.surfaces.includes('signals');
    return {
      ports: { traderAnalyses: table },
      services: {
        traders: {
          analyse: async (address, signal) => {
            const outcome = await analyse(address, signalFor('the command', signal));
            const kept = await work.settle(address, outcome);
            return kept.checked ? outcome : { end: 'unkept', reason: kept.why.reason };
          },
        },
      } satisfies TradersServices,
      jobs: runs
        ? [{ name: 'traders', start: (watch: WatchRun) => analyseQueue({ ...queue, watch }) }]
        : [],
    };
  },
  ports: {
    traderAnalyses: {
      tag: 'trader_analyses',
      title: 'Trader analyses',
      says: 'When a trader makes money, and whether that is more than chance',
      pages: false,
      // An analysis carries its own date, and does not expire.
      freshness: {
        kind: 'per_answer',
        absence: ({ hyperliquid }) => (hyperliquid === null ? UNSET : null),
      },
    },
  },
  routes: [serveRoute(traderTemporal, (given: TraderPorts) => temporalHandler(given))],
  pages: [
    servePage(traderPage, null, (given: TraderPorts, facts) => traderPageHandler(given, facts)),
    servePage(methodologyPage, 'Traders', (_given: unknown, facts) => methodologyHandler(facts)),
  ],
  commands: [tradersAnalyse],
});

const UNSET = 'No venue is set: no trader is analysed.';

/**
 * Works a record out on a thread of its own, which takes it in pieces: to copy ten thousand rows at
 * once would hold up whoever is served. Throws where the thread ends without an answer.
 */
function workOutApart(record: AccountRecord, signal: AbortSignal): Promise<WorkedOut> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(WORK_MAX_S * MS_PER_S)]);
  return new Promise((resolve, reject) => {
    const worker = new Worker(compiledEntry('../../../compose/trader-worker'), { execArgv: [] });
    const stop = () => {
      void worker.terminate();
      reject(new Error('the analysis of a trader was stopped'));
    };
    bound.addEventListener('abort', stop, { once: true });
    worker.on('message', (result: WorkedOut) => {
      bound.removeEventListener('abort', stop);
      resolve(result);
    });
    worker.on('error', reject);
    worker.on('exit', () => reject(new Error('the analysis of a trader ended without a result')));
    postPieces(worker, record).catch(reject);
  });
}

async function postPieces(worker: Worker, record: AccountRecord): Promise<void> {
  const { fills, candles, booked, ...facts } = record;
  const post = (piece: RecordPiece) => worker.postMessage(piece);
  for await (const rows of slicesByTick(fills, PIECE_ROWS)) post({ fills: rows });
  for await (const rows of slicesByTick(candles, PIECE_ROWS)) post({ candles: rows });
  for await (const rows of slicesByTick(booked, PIECE_ROWS)) post({ booked: rows });
  post({ facts });
}
