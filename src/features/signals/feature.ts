// Signals: what evidence supports about public targets, published for good.

import { randomUUID } from 'node:crypto';
import { nowS, pause } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  type Service,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import { listFrom } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import { signalFor, type WatchRun } from '../../evidence/waiting.ts';
import type { SignalTarget } from '../../ports/signals.ts';
import { daySpendingTable } from '../../stores/control/day-spending.ts';
import { leaseTable } from '../../stores/control/leases.ts';
import { anchoring } from '../anchoring/feature.ts';
import { collectors } from '../collectors/feature.ts';
import { log } from '../log/feature.ts';
import { callPurse, UNCOUNTED_CALLS } from './call-purse.ts';
import { type MakingParts, produceRounds, publishTarget } from './produce.job.ts';
import { makeEnd, withdrawalDispatches } from './signal.ts';
import {
  signalPage,
  signalPageHandler,
  signalScript,
  signalScriptHandler,
  signalsPage,
  signalsPageHandler,
} from './signal-pages.route.tsx';
import {
  type Emitted,
  type SignalsServices,
  signalsEmit,
  signalsShow,
  signalsWithdraw,
} from './signals.command.ts';
import {
  answerSignal,
  type SignalsPorts,
  signalEvidence,
  signalEvidenceHandler,
  signalHandler,
  signalRoute,
  signalsFeed,
  signalsFeedHandler,
  signalVerification,
  signalVerificationHandler,
} from './signals.route.ts';
import { signalProductionTable, signalTable } from './signals.store.ts';

/** How often a process looks whether a round is due. */
const LOOK_EACH_S = 15;

const RESTS = { collectors, log, anchoring } as const;

type Rested = OpenedRests<typeof RESTS>;
type PagePorts = SignalsPorts & { readonly service: Service };

export const signals = feature({
  name: 'signals',
  heading: 'Signals',
  rests: RESTS,
  open: (base: Base, rests: Rested) => {
    const { config, context, database, log: logger } = base;
    const { evidence } = rests.collectors.services;
    const production = signalProductionTable(database, context);
    const table = signalTable(database, context);
    const inTime = (signal: AbortSignal) =>
      AbortSignal.any([signal, AbortSignal.timeout(evidence.timeMs)]);
    // Made-up sources cost nobody anything.
    const purse = config.simulate
      ? UNCOUNTED_CALLS
      : callPurse(daySpendingTable(database, context), config.signalCallsADay);
    const making: MakingParts = {
      production,
      collect: (target, signal) => evidence.collect(target, nowS(), inTime(signal)),
      judge: evidence.judge,
      rulesVersion: evidence.rulesVersion,
      mintRunId: () => `run_${randomUUID()}`,
      simulated: config.simulate,
      waitsForCalls: false,
      now: nowS,
    };
    const rounds = {
      ...making,
      production,
      purse,
      waitsForCalls: purse.isRenewed,
      // A round leaves the providers to whoever waits for an answer, and keeps to its calls.
      collect: (target: SignalTarget, signal: AbortSignal) => {
        const asked = signalFor('the producer of signals', inTime(signal), purse.countCall);
        return evidence.collect(target, nowS(), asked);
      },
      leases: leaseTable(database, randomUUID(), context),
      everyS: LOOK_EACH_S,
      sleep: pause,
      // In numbers alone: what a line names, whoever reads logs could learn.
      onRound: (counts: object) => logger.info(counts, 'signals: a round ended'),
      onFault: ({ code, reason }: { readonly code: string; readonly reason: string }) =>
        logger.warn({ code, reason }, 'signals: not produced'),
      onBug: (fault: unknown) => logger.error({ at: placeOf(fault) }, 'signals: a bug'),
    };
    const ports = {
      signals: table,
      anchors: rests.anchoring.ports.anchors,
      service: { simulated: config.simulate },
    };
    return {
      ports: { signals: table },
      services: {
        signals: {
          emit: (chain, address, signal) =>
            emitByHand({ ...making, parse: evidence.parse }, { chain, address }, signal),
          withdraw: (id, reason) => withdrawByHand({ production, signals: table }, id, reason),
          find: (id) => answerSignal(ports, id),
        },
      } satisfies SignalsServices,
      // A process that does not serve signals asks no source for them.
      jobs: config.surfaces.includes('signals')
        ? [{ name: 'signals', start: (watch: WatchRun) => produceRounds({ ...rounds, watch }) }]
        : [],
    };
  },
  ports: {
    signals: {
      tag: 'signals',
      title: 'Signals',
      says: 'What was published about a target, and whether it stands',
      pages: false,
      // A signal carries its own date, and does not expire.
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  routes: [
    serveRoute(signalsFeed, (given: SignalsPorts) => signalsFeedHandler(given)),
    serveRoute(signalRoute, (given: SignalsPorts) => signalHandler(given)),
    serveRoute(signalEvidence, (given: SignalsPorts) => signalEvidenceHandler(given)),
    serveRoute(signalVerification, (given: SignalsPorts) => signalVerificationHandler(given)),
  ],
  pages: [
    servePage(signalsPage, 'Signals', (given: PagePorts, facts) =>
      signalsPageHandler(given, facts),
    ),
    servePage(signalPage, null, (given: PagePorts, facts) => signalPageHandler(given, facts)),
    servePage(signalScript, null, (_given: unknown) => signalScriptHandler()),
  ],
  commands: [signalsEmit, signalsShow, signalsWithdraw],
});

const LINES_SHOWN = 4;

/** Where a fault was thrown, without its words, which may hold an address. */
function placeOf(fault: unknown): readonly string[] {
  if (!(fault instanceof Error)) return [typeof fault];
  const lines = listFrom(fault.stack, (stack) => stack.split('\n'));
  return [fault.name, ...lines.filter((line) => /^\s+at /.test(line)).slice(0, LINES_SHOWN)];
}

type HandParts = MakingParts & {
  readonly parse: Rested['collectors']['services']['evidence']['parse'];
};

async function emitByHand(
  parts: HandParts,
  about: { readonly chain: string; readonly address: string },
  signal: AbortSignal,
): Promise<Emitted> {
  const parsed = parts.parse(about.chain, about.address);
  if ('refused' in parsed) return { state: 'refused', reason: parsed.refused };
  const rules = await parts.rulesVersion();
  if (!(rules instanceof Read)) return { state: 'unread', reason: rules.why.reason };
  const under = { epoch: null, rules_version: rules.value };
  const outcome = await publishTarget(parts, parsed.target, under, signal);
  if (!('state' in outcome)) return { state: 'unread', reason: outcome.reason };
  if (outcome.state === 'unreached') throw new TypeError('signals: a command counts no calls');
  return outcome;
}

const NOT_THERE = 'No signal of this id stands or was superseded: it was withdrawn, or never was.';

async function withdrawByHand(
  {
    production,
    signals: table,
  }: {
    readonly production: ReturnType<typeof signalProductionTable>;
    readonly signals: ReturnType<typeof signalTable>;
  },
  id: string,
  reason: string,
): ReturnType<SignalsServices['signals']['withdraw']> {
  const found = await table.find(id);
  if (!(found instanceof Read)) {
    return { done: false, reason: found.why.reason, isUnread: true };
  }
  const signal = found.value;
  if (signal === null) return { done: false, reason: NOT_THERE, isUnread: false };
  const now = nowS();
  const made = makeEnd(id, { state: 'withdrawn', reason, by: 'operator', now });
  const dispatches = withdrawalDispatches(signal, made.end, now);
  const kept = await production.withdraw({ ...made, dispatches });
  if (!(kept instanceof Read)) return { done: false, reason: kept.why.reason, isUnread: true };
  return kept.value ? { done: true } : { done: false, reason: NOT_THERE, isUnread: false };
}
