// The publisher is asked first, its mirrors where it gave no list that passes; its word alone is a
// check. Whatever goes wrong, the last good list stays in force: it is replaced or left.

import { HOUR_S, MS_PER_S } from '../../chain/time.ts';
import { Read } from '../../evidence/reading.ts';
import {
  type BoundedTask,
  type RunEnd,
  untilStopped,
  type WatchRun,
  WITHOUT_WATCH,
} from '../../evidence/waiting.ts';
import type {
  Acceptance,
  HeldPublication,
  HeldRefusal,
  Mirror,
  MirrorResult,
  Publisher,
  RefreshOutcome,
  ServedFile,
} from '../../ports/sanctions.ts';
import {
  type Case,
  findRefusal,
  isReadByThis,
  type RefreshWorld,
  type RefusedList,
  readAgain,
  refuseAgain,
  requireStored,
  type SourceStep,
  StoreSilent,
  stillNewest,
  type Updated,
  weigh,
} from './weighing.ts';

/** How often a refresh starts over because another process replaced the list meanwhile. */
const RACES_MAX = 5;

type Round = { readonly acceptance: Acceptance | null; readonly signal: AbortSignal };

/** Asks once around. `acceptance` lets exactly one file pass that only a size rule refuses. */
export async function refreshSanctions(
  world: RefreshWorld,
  acceptance: Acceptance | null,
  signal: AbortSignal,
): Promise<RefreshOutcome> {
  const tried: MirrorResult[] = [];
  try {
    await readAgain(world, signal);
    return await askSources(world, { acceptance, signal }, tried);
  } catch (error) {
    if (!(error instanceof StoreSilent)) throw error;
    return { kind: 'unreachable', reason: error.message, tried, retry: 'soon' };
  }
}

async function askSources(
  world: RefreshWorld,
  round: Round,
  tried: MirrorResult[],
): Promise<RefreshOutcome> {
  let updated: Updated | null = null;
  let refused: RefusedList | null = null;
  let retry: RefreshOutcome['retry'] = 'soon';
  let later: Pick<RefreshOutcome, 'after_s'> = {};
  for (const [place, mirror] of world.publisher.mirrors.entries()) {
    if (round.signal.aborted) break;
    const first = place === 0;
    const step = await untilSettled(world, round, mirror, first);
    if (step.kind === 'served') {
      if (first) return { ...step.end, tried, retry: 'in_turn' };
      if (step.end.kind === 'updated') updated = step.end;
      continue;
    }
    if (step.kind === 'refused') {
      if (refused === null) refused = step.refused;
      // The same file would be refused again; what was cut short may come whole. Without a list in
      // force nobody is told anything until a right one comes.
      if (first && !step.passing && step.refused.in_force !== null) retry = 'in_turn';
    }
    if (first && step.kind === 'failed' && step.after_s !== undefined) {
      later = { after_s: step.after_s };
    }
    tried.push({ source: mirror.url, result: wordsOf(step) });
  }
  const end = { tried, retry, ...later };
  if (updated !== null) return { ...updated, ...end };
  if (refused !== null) return { ...refused, ...end };
  const reason = tried.map(({ result }) => result).join(' ');
  if (reason !== '') return { kind: 'unreachable', reason, ...end };
  const asked = world.publisher.mirrors.length > 0;
  const nobody = asked ? 'The refresh was stopped.' : 'No source of the list is configured.';
  return { kind: 'unreachable', reason: nobody, tried, retry };
}

type Settled = Exclude<SourceStep, { kind: 'moved' }>;

function wordsOf(step: Settled): string {
  if (step.kind === 'served') return step.end.kind;
  if (step.kind === 'refused') return `refused as ${step.refused.code}: ${step.refused.reason}`;
  return step.reason;
}

async function untilSettled(
  world: RefreshWorld,
  round: Round,
  mirror: Mirror,
  first: boolean,
): Promise<Settled> {
  for (let races = 0; races < RACES_MAX; races += 1) {
    const { publication: before, now } = requireStored(await world.store.inForce());
    const step = await askMirror(world, mirror, { ...round, mirror, first, before, now });
    if (step.kind === 'moved') continue;
    const source = { key: mirror.key, url: mirror.url };
    const asked = { source, asked_at: now, result: wordsOf(step) };
    requireStored(await world.store.recordAsked(asked, step.served));
    return step;
  }
  const reason = 'Other processes kept replacing the list.';
  return { kind: 'failed', reason, served: null };
}

async function askMirror(world: RefreshWorld, mirror: Mirror, asked: Case): Promise<SourceStep> {
  const known = await readKnown(world, asked);
  const validators = known === null ? null : known.served.validators;
  const delivered = await mirror.deliver(validators, asked.signal);
  if (!(delivered instanceof Read)) {
    return { kind: 'failed', reason: delivered.why.reason, served: null };
  }
  const delivery = delivered.value;
  if (delivery.kind === 'later') {
    const { reason, after_s } = delivery;
    return { kind: 'failed', reason, after_s, served: null };
  }
  if (delivery.kind === 'file') {
    try {
      return await weigh(world, asked, delivery);
    } finally {
      await delivery.file.discard();
    }
  }
  if (known === null) {
    const reason = `${mirror.url}: unchanged, though nothing was known of it.`;
    return { kind: 'failed', reason, served: null };
  }
  const served = { sha256: known.served.sha256, validators: delivery.validators };
  if (known.means === 'refused') return await refuseAgain(world, asked, known.refusal, served);
  return await stillNewest(world, asked, known.before, served);
}

/** The meaning of "unchanged": the list in force is served, or a refused file. */
type Known = { readonly served: ServedFile } & (
  | { readonly means: 'in_force'; readonly before: HeldPublication }
  | { readonly means: 'refused'; readonly refusal: HeldRefusal }
);

/** The last file of the source, if it is known without fetching it. */
async function readKnown(world: RefreshWorld, asked: Case): Promise<Known | null> {
  const { mirror, before, acceptance } = asked;
  const served = requireStored(await world.store.lastServed(mirror.key));
  // A file that is to be accepted is fetched, whatever was said of it before.
  if (served === null || acceptance !== null) return null;
  if (before !== null && before.sha256 === served.sha256 && isReadByThis(world, before)) {
    return { served, means: 'in_force', before };
  }
  const refusal = await findRefusal(world, served.sha256, before);
  return refusal === null ? null : { served, means: 'refused', refusal };
}

// One refresh at a time in a process, at once after the start and then at a jittered interval; what
// may pass soon is asked again within minutes. Validation is in weighing.ts.

/** Refreshes one after another, whoever asks. */
export type Refresher = (
  acceptance: Acceptance | null,
  signal: AbortSignal,
  /** The publisher to query, if it is not the configured one. */
  from?: Publisher,
) => Promise<RefreshOutcome>;

/** Makes callers wait for each other, so that one process never reads two files at a time. */
export function oneAtATime(refresh: Refresher): Refresher {
  let last: Promise<unknown> = Promise.resolve();
  return (acceptance, signal, from) => {
    const mine = last.then(() => refresh(acceptance, signal, from));
    last = mine.then(
      () => undefined,
      () => undefined,
    );
    return mine;
  };
}

/** How much an interval is drawn out or cut, so that many processes do not ask together. */
const JITTER_SHARE = 0.1;
/** The wait after a fault that may pass soon: with its jitter under a minute. */
const RETRY_S = 50;
/** After so many faults in a row the wait doubles, up to the interval. */
const SOON_MAX = 5;
const DOUBLINGS_MAX = 20;
/** A publisher that asks to be left alone for longer is asked again after this all the same. */
const AFTER_S_MAX = 6 * HOUR_S;

type ScheduleOptions = {
  readonly refresh: Refresher;
  readonly intervalS: number;
  /** At least 0, under 1. */
  readonly random: () => number;
  /** Resolves after so many milliseconds, or at once when the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onOutcome: (outcome: RefreshOutcome) => void;
  readonly onBug: (error: unknown) => void;
  readonly watch?: WatchRun;
};

/** Seconds until the next refresh. `failures` counts those in a row that may pass soon. */
export function delayS(intervalS: number, failures: number, random: number): number {
  const jitter = 1 - JITTER_SHARE + 2 * JITTER_SHARE * random;
  const doublings = Math.min(Math.max(failures - SOON_MAX, 0), DOUBLINGS_MAX);
  const wait = failures === 0 ? intervalS : RETRY_S * 2 ** doublings;
  return Math.min(wait, intervalS) * jitter;
}

/** Starts refreshing. `stop` ends a download that is under way and waits for it. */
export function scheduleRefresh(options: ScheduleOptions): BoundedTask {
  const { refresh, watch = WITHOUT_WATCH } = options;
  return untilStopped(async (signal) => {
    let failures = 0;
    while (!signal.aborted) {
      let afterS = 0;
      try {
        const outcome = await watch(() => refresh(null, signal), runEndOf);
        failures = outcome.retry === 'soon' ? failures + 1 : 0;
        if (outcome.after_s !== undefined) afterS = Math.min(outcome.after_s, AFTER_S_MAX);
        if (!signal.aborted) options.onOutcome(outcome);
      } catch (error) {
        // A bug in one round is told and does not end the schedule: the next list may be readable.
        failures += 1;
        options.onBug(error);
      }
      const waitS = Math.max(delayS(options.intervalS, failures, options.random()), afterS);
      await options.sleep(waitS * MS_PER_S, signal);
    }
  });
}

function runEndOf({ kind }: RefreshOutcome): RunEnd {
  return kind === 'updated' || kind === 'unchanged' ? 'done' : 'failed';
}
