// Queues the flags of the log for the chats, in order, until it is stopped. Several processes may
// run this job: each step is taken by one of them.

import type { UnixSeconds } from '../../chain/time.ts';
import { Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import {
  type BoundedTask,
  type RunEnd,
  untilStopped,
  type WatchRun,
  WITHOUT_WATCH,
} from '../../evidence/waiting.ts';
import type {
  DispatchMessage,
  FlagDispatch,
  FlagPlace,
  FlagStep,
} from '../../ports/integrations.ts';
import type { FlagEvent, FlagEventChunk, FlagEvents } from '../../ports/rug-flags.ts';
import { modelPagePath } from '../../ports/rug-model.ts';

type Parts = {
  readonly flagEvents: Pick<FlagEvents, 'after' | 'bounds'>;
  readonly flagsTold: FlagPlace;
  readonly simulated: boolean;
  readonly now: () => UnixSeconds;
};

/** Events that one transaction queues for everybody. */
const STEP_MAX = 100;

/** Takes one step; `true`: there may be more. */
export async function tellFlags({ flagEvents, flagsTold, ...said }: Parts): Promise<boolean | Why> {
  const bounds = await flagEvents.bounds();
  if (bounds instanceof Unread) return bounds.why;
  const place = await flagsTold.place(bounds.value.newest);
  if (place instanceof Unread) return place.why;
  if (place.value >= bounds.value.newest) return false;
  const chunk = await flagEvents.after(place.value);
  if (chunk instanceof Unread) return chunk.why;
  const step = stepOf(place.value, chunk.value, { at: said.now(), simulated: said.simulated });
  const told = await flagsTold.tell(step);
  return told instanceof Unread ? told.why : true;
}

type DispatchWords = Parameters<typeof gapDispatch>[2];

function stepOf(after: number, { events, newest }: FlagEventChunk, said: DispatchWords): FlagStep {
  const [first] = events;
  const before = first === undefined ? newest : first.seq - 1;
  if (before > after) {
    return { after, up_to: before, dispatches: [gapDispatch(after + 1, before, said)] };
  }
  const told = events.slice(0, STEP_MAX);
  return { after, up_to: after + told.length, dispatches: told.map(flagDispatch) };
}

type Telling = Parts & {
  readonly pollMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onFailure: (why: Why) => void;
  readonly onBug: (error: unknown) => void;
  readonly watch?: WatchRun;
};

/** Tells what is flagged, as it is flagged. */
export function tellFlagsUntilStopped(parts: Telling): BoundedTask {
  const { watch = WITHOUT_WATCH } = parts;
  return untilStopped(async (signal) => {
    while (!signal.aborted) {
      const more = await watch(() => tellFlags(parts), runEndOf).catch(parts.onBug);
      if (typeof more === 'object') parts.onFailure(more);
      if (more !== true) await parts.sleep(parts.pollMs, signal);
    }
  });
}

function runEndOf(more: boolean | Why): RunEnd {
  if (typeof more === 'object') return 'failed';
  return more ? 'done' : 'idle';
}

const FLAG_CAVEAT =
  'A flag is what a model made of what was known when the launch was scored: evidence about a ' +
  'launch and no judgement of anybody. What was not flagged was not cleared by that.';
const RETRACTION_CAVEAT =
  'What the flag rested on is gone. That it was taken back says nothing else about the token or ' +
  'about who launched it.';
const GAP_CAVEAT =
  'What they said is not known here any more. That you were told of no flag among them says ' +
  'nothing about any token.';

const WITHDRAWAL_CAVEAT =
  'The model flags nothing any more. That nothing is flagged says nothing about any token.';

/** The dispatch of an event of the log. */
export function flagDispatch(event: FlagEvent): FlagDispatch {
  const { seq, simulated, model_version } = event;
  const key = `flag:${seq}`;
  const card = { title: 'Card of the model', path: modelPagePath(model_version) };
  if (event.kind === 'withdrawal') {
    const message = {
      title: 'The flags of a model were withdrawn',
      facts: [`Why: ${event.reason}`],
      caveat: WITHDRAWAL_CAVEAT,
      path: card.path,
      simulated,
      at: event.withdrawn_at,
    };
    return { key, chain: null, address: null, message };
  }
  const { chain, address, token } = event;
  const facts = [`Chain: ${chain}`, `Token: ${token}`, `Launched by: ${address}`];
  const shown = { path: `/deployer/${chain}/${address}`, simulated };
  if (event.kind === 'retraction') {
    const message = {
      title: `Flag ${event.retracts} was taken back on ${chain}`,
      facts: [...facts, `Why: ${event.reason}`],
      caveat: RETRACTION_CAVEAT,
      ...shown,
      more: card,
      at: event.retracted_at,
    };
    return { key, chain, address, message };
  }
  const message = {
    title: `A launch was flagged on ${chain}`,
    facts: [...facts, `Evidence: ${event.evidence}`, `Model: ${model_version}`, `Flag: ${seq}`],
    caveat: FLAG_CAVEAT,
    ...shown,
    more: card,
    at: event.flagged_at,
  };
  return { key, chain, address, message };
}

/** The dispatch of flags that the log had let go of before anybody was told of them. */
export function gapDispatch(
  from: number,
  to: number,
  said: Pick<DispatchMessage, 'at' | 'simulated'>,
): FlagDispatch {
  return {
    key: `gap:${from}`,
    chain: null,
    address: null,
    message: {
      title: 'Flags are missing here',
      facts: [`Flags ${from} to ${to} were not told: the log let go of them before they could be.`],
      caveat: GAP_CAVEAT,
      path: '/leaderboard',
      ...said,
    },
  };
}
