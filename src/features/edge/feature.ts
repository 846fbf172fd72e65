// The edge: what detectors called, what became of it, and how much of it may be luck.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  type Service,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import { signalFor, type WatchRun } from '../../evidence/waiting.ts';
import { compiledEntry } from '../../stores/control/engine/pglite.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { calls } from '../calls/feature.ts';
import { series } from '../series/feature.ts';
import { candleRounds } from './candles.job.ts';
import {
  type EdgePorts,
  edgeBacktest,
  edgeBacktestHandler,
  edgePerformance,
  edgePerformanceHandler,
  edgeReplay,
  edgeReplayHandler,
} from './edge.route.ts';
import { edgePage, edgePageHandler } from './edge-page.route.tsx';
import type { Family } from './luck.ts';
import type { EdgeOrder, EdgeWork, OwnBacktest } from './question.ts';
import { edgeTrialTable } from './trials.store.ts';

const CANDLES_EACH_S = 600;
/** The simulated world moves while one watches. */
const SIMULATED_EACH_S = 30;

const RESTS = { calls, series } as const;
type Rested = OpenedRests<typeof RESTS>;
type PagePorts = EdgePorts & { readonly service: Service };

export const edge = feature({
  name: 'edge',
  rests: RESTS,
  open: ({ config, context, database, log }: Base, rests: Rested) => {
    const { gathering } = rests.series;
    const candles = {
      emittedCalls: rests.calls.ports.emittedCalls,
      gather: ((name, span, signal) =>
        gathering.gather(
          name,
          span,
          signalFor('the candles of called assets', signal),
        )) as typeof gathering.gather,
      leases: leaseTable(database, randomUUID(), context),
      now: nowS,
      everyS: config.simulate ? SIMULATED_EACH_S : CANDLES_EACH_S,
      sleep: pause,
      onFault: ({ code, reason }: { readonly code: string; readonly reason: string }) =>
        log.warn({ code, reason }, 'edge: candles not completed'),
      onBug: (fault: unknown) => log.error({ fault: String(fault) }, 'edge: a bug'),
    };
    return {
      ports: { edgeTrials: edgeTrialTable(database, context) },
      services: {},
      jobs: config.surfaces.includes('edge')
        ? [
            {
              name: 'edge candles',
              start: (watch: WatchRun) => candleRounds({ ...candles, watch }),
            },
            { name: 'edge threads', role: 'serve', start: startThreads },
          ]
        : [],
    };
  },
  ports: {
    edgeTrials: {
      tag: 'edge_trials',
      title: 'Tried filters',
      says: 'How many filters a membership tried',
      pages: false,
      // A count is made with each question.
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  routes: [
    serveRoute(edgeBacktest, (given: EdgePorts) => edgeBacktestHandler(given, WORK_APART)),
    serveRoute(edgeReplay, (given: EdgePorts) => edgeReplayHandler(given)),
    serveRoute(edgePerformance, (given: EdgePorts) => edgePerformanceHandler(given)),
  ],
  pages: [
    servePage(edgePage, 'Edge', (given: PagePorts, facts) => {
      return edgePageHandler(given, facts, WORK_APART);
    }),
  ],
});

/** A question about a year of a hundred thousand calls takes a fraction of a second. */
const WORK_MS_MAX = 60_000;
/** One thread for each part of a question, kept for the next one. */
const threads = new Map<keyof EdgeWork, Worker>();

/**
 * Works out questions on threads of their own. Throws where one ends without an answer; the next
 * question is worked out by another.
 * @internal
 */
export const WORK_APART: EdgeWork = {
  own: async (order) => (await askThread('own', order)) as OwnBacktest,
  family: async (order) => (await askThread('family', order)) as Family,
};

/** Starts the threads before somebody asks: they compile their code then. @internal */
export function startThreads() {
  for (const part of ['own', 'family'] as const) {
    if (!threads.has(part)) startThread(part).unref();
  }
  return {
    stop: async () => {
      await Promise.all([...threads.values()].map((worker) => worker.terminate()));
    },
  };
}

function startThread(part: keyof EdgeWork): Worker {
  const entry = compiledEntry('../../../compose/edge-worker');
  const worker = new Worker(entry, { execArgv: [], workerData: part });
  const forget = () => {
    if (threads.get(part) === worker) threads.delete(part);
  };
  // A thread that ends between two questions fails neither: the next one gets another.
  worker.on('error', forget);
  worker.on('exit', forget);
  threads.set(part, worker);
  return worker;
}

async function askThread(part: keyof EdgeWork, order: EdgeOrder): Promise<unknown> {
  const kept = threads.get(part);
  const worker = kept === undefined ? startThread(part) : kept;
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(WORK_MS_MAX)]);
  const ended = once(worker, 'exit', { signal }).then(() => {
    throw new Error('the thread that works out questions ended');
  });
  try {
    // A process ends while its thread has nothing to do.
    worker.ref();
    worker.postMessage(order);
    const [answer] = await Promise.race([once(worker, 'message', { signal }), ended]);
    worker.unref();
    return answer;
  } catch (fault) {
    threads.delete(part);
    void worker.terminate();
    throw fault;
  } finally {
    done.abort();
  }
}
