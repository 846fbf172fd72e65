// Delivers waiting dispatches to the chats: each integration's oldest first, until it is delivered
// or given up. Several processes may deliver, one at a time to an integration; a platform that
// hangs blocks only its own integrations.

import { MS_PER_S } from '../../chain/time.ts';
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
  ChatPlatform,
  ChatPlatforms,
  ChatTarget,
  Claimed,
  Deliveries,
  DeliveryEnd,
  PostEnd,
  Sealed,
} from '../../ports/integrations.ts';

/** How long queues are held and left alone, in seconds. */
export const DELIVERY_PACE = {
  /** Nothing is posted in the last half of it: another process may hold the queue by then. */
  held_s: 60,
  /** Before a queue is tried again, doubled for each try in a row, up to the longest. */
  backoff_s: 2,
  backoff_max_s: 900,
  /** Before it is tried again whose platform said that it takes nothing by it any more. */
  broken_s: 3_600,
  /** Between two posts to one place, as the platforms ask for it: of Telegram, for groups. */
  between_s: { slack: 1, discord: 1, telegram: 3 },
} as const satisfies Pace;

type Pace = {
  readonly held_s: number;
  readonly backoff_s: number;
  readonly backoff_max_s: number;
  readonly broken_s: number;
  readonly between_s: { readonly [P in ChatPlatform]: number };
};

/** Queues that a process delivers from at once. */
const AT_ONCE_MAX = 16;
const DOUBLINGS_MAX = 16;

type Parts = {
  readonly deliveries: Deliveries;
  readonly platforms: Pick<ChatPlatforms, 'post'>;
  /** The decrypted credentials; `null`: no configured secret opens them. */
  readonly opened: (sealed: Sealed, integrationId: string) => ChatTarget | null;
  readonly sealed: (target: ChatTarget, integrationId: string) => Sealed;
  /** The start of links. */
  readonly base: string;
  readonly pace: Pace;
  /** Milliseconds of a clock that does not go back. */
  readonly nowMs: () => number;
  readonly onFailure: (why: Why) => void;
};

const SEALED_AWAY = 'what it posts with is sealed under a secret that is not set any more';

/** Posts the claimed dispatches, and notes their outcomes. */
async function deliver(parts: Parts, claimed: Claimed, claimedMs: number): Promise<RunEnd> {
  const { pace, nowMs } = parts;
  const target = parts.opened(claimed.sealed, claimed.integration_id);
  // Held for too long already: it is let go by itself, and whoever holds it next posts.
  if (nowMs() - claimedMs > (pace.held_s * MS_PER_S) / 2) return 'idle';
  const end =
    target === null
      ? ({ outcome: 'broken', fault: SEALED_AWAY, after_s: pace.broken_s } as const)
      : await postMessage(parts, claimed, target);
  const settled = await parts.deliveries.settle(claimed, end);
  if (settled instanceof Unread) parts.onFailure(settled.why);
  const isTaken = end.outcome === 'delivered' || end.outcome === 'moved';
  return settled instanceof Unread || !isTaken ? 'failed' : 'done';
}

async function postMessage(
  parts: Parts,
  claimed: Claimed,
  target: ChatTarget,
): Promise<DeliveryEnd> {
  const { dispatch, message, attempts } = claimed;
  const { backoff_s, backoff_max_s } = parts.pace;
  const backoff = Math.min(backoff_s * 2 ** Math.min(attempts, DOUBLINGS_MAX), backoff_max_s);
  const { more, ...said } = message;
  const more_link = more === undefined ? null : { title: more.title, url: parts.base + more.path };
  const post = Object.assign({ dispatch, link: parts.base + said.path, more_link }, said);
  // It ends by its own deadline: one that is broken off may have been taken, and would come twice.
  const told = await parts.platforms.post(target, post, new AbortController().signal);
  if (told instanceof Unread) {
    return { outcome: 'later', fault: told.why.reason, after_s: backoff };
  }
  return settleBy(parts, { claimed, target, end: told.value, backoff });
}

type DeliveryAnswer = {
  readonly claimed: Claimed;
  readonly target: ChatTarget;
  readonly end: PostEnd;
  readonly backoff: number;
};

function settleBy(
  { pace, sealed }: Parts,
  { claimed, target, end, backoff }: DeliveryAnswer,
): DeliveryEnd {
  const after_s = pace.between_s[claimed.platform];
  switch (end.outcome) {
    case 'taken':
      return { outcome: 'delivered', after_s };
    case 'refused':
      return { outcome: 'given_up', fault: `The platform ${end.fault}.`, after_s };
    case 'broken':
      return { outcome: 'broken', fault: `the platform ${end.fault}`, after_s: pace.broken_s };
    case 'moved': {
      const moved = Object.assign({}, target, { chat_id: end.chat_id });
      return { outcome: 'moved', sealed: sealed(moved, claimed.integration_id), after_s };
    }
    case 'later': {
      const fault = `the platform ${end.fault}`;
      return { outcome: 'later', fault, after_s: end.wait_s === null ? backoff : end.wait_s };
    }
  }
}

type Delivering = Parts & {
  readonly pollMs: number;
  /** The interval of looking for dispatches that waited too long. */
  readonly tidyMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onBug: (error: unknown) => void;
  readonly watch?: WatchRun;
};

/** Delivers until it is stopped; `stop` waits for the posts under way. */
export function deliverUntilStopped(parts: Delivering): BoundedTask {
  const { deliveries, nowMs, watch = WITHOUT_WATCH } = parts;
  const underWay = new Set<Promise<void>>();
  let tidiedMs = Number.NEGATIVE_INFINITY;

  const round = async (): Promise<'more' | 'idle'> => {
    if (nowMs() - tidiedMs > parts.tidyMs) {
      const tidied = await deliveries.tidy();
      if (tidied instanceof Unread) parts.onFailure(tidied.why);
      tidiedMs = nowMs();
    }
    const free = AT_ONCE_MAX - underWay.size;
    if (free === 0) return 'idle';
    const claimedMs = nowMs();
    const claimed = await deliveries.claim(free, parts.pace.held_s);
    if (claimed instanceof Unread) {
      parts.onFailure(claimed.why);
      return 'idle';
    }
    for (const one of claimed.value) {
      const work = watch(
        () => deliver(parts, one, claimedMs),
        (end) => end,
      )
        .then(() => undefined, parts.onBug)
        .finally(() => underWay.delete(work));
      underWay.add(work);
    }
    return claimed.value.length === free ? 'more' : 'idle';
  };

  return untilStopped(async (signal) => {
    while (!signal.aborted) {
      const more = await round().catch(parts.onBug);
      if (more !== 'more') await parts.sleep(parts.pollMs, signal);
    }
    await Promise.all(underWay);
  });
}
