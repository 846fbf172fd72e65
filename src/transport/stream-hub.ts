// Answers one question: which streams are open, and who looks after them.
// One timer for all of them: heartbeats, lagging and lost readers, credentials that were revoked.

import type { Admission, TurnedAway } from '../access/gate.ts';
import type { Sendable } from '../contract/message.ts';
import type { AnyStreamRoute } from '../contract/stream.ts';
import type { Soon } from '../evidence/soon.ts';
import type { Log } from './mounted.ts';
import { describe, reasonOf } from './refusing.ts';
import type { StreamHolder, StreamLimits } from './stream-limits.ts';
import type { StreamMeters } from './stream-meters.ts';
import { createFlusher } from './stream-output.ts';
import { type Door, type Heartbeat, Reader } from './stream-reader.ts';
import type { Slots } from './stream-slots.ts';

/** The looks of the timer in each heartbeat, and the time between two of them at most. */
const LOOKS_A_HEARTBEAT = 16;
const LOOK_MS_MAX = 1_000;
const MS_PER_S = 1_000;

/** A stream that begins. */
export type Beginning = {
  readonly route: AnyStreamRoute;
  readonly holder: StreamHolder;
  readonly id: string;
  readonly door: Door;
  /** Asks again whether the credential that opened it still does. */
  readonly recheck: () => Soon<Admission | TurnedAway>;
};

/** The open streams of a server. */
export type StreamHub = {
  readonly slots: Slots;
  readonly stopping: () => boolean;
  readonly begin: (beginning: Beginning) => Reader;
  /** Its socket is closed. */
  readonly gone: (reader: Reader) => void;
  /** The heartbeat of a number, as of now. */
  readonly heartbeat: (route: AnyStreamRoute) => Heartbeat;
  /** Ends all of them in order, and resolves when the last socket is closed. */
  readonly stop: () => Promise<void>;
};

/** What the hub is made of. */
export type HubParts = {
  readonly routes: readonly AnyStreamRoute[];
  readonly slots: Slots;
  readonly limits: StreamLimits;
  readonly meters: StreamMeters;
  readonly log: Log;
};

/** Makes the hub and starts its timer. */
export function createHub({ routes, slots, limits, meters, log }: HubParts): StreamHub {
  const open = new Map<Reader, Beginning>();
  const accounts = createAccounts(limits.recheckMs, log);
  const flusher = createFlusher();
  let onEmpty: (() => void) | null = null;
  let stopping = false;
  const shortest = Math.min(...routes.map(({ heartbeat_s }) => heartbeat_s * MS_PER_S));
  const intervalMs = Math.min(shortest / LOOKS_A_HEARTBEAT, LOOK_MS_MAX);
  // While the service itself stood still nobody could be heard, so that time does not count.
  let lookedMs = performance.now();
  let clockMs = 0;
  const nowMs = () => clockMs;
  const look = (): void => {
    const now = performance.now();
    clockMs += Math.min(now - lookedMs, 2 * intervalMs);
    lookedMs = now;
    const heartbeats = new Map(routes.map((route) => [route, heartbeatOf(route)]));
    for (const [reader, { route }] of open) {
      const heartbeat = heartbeats.get(route);
      if (heartbeat !== undefined) reader.look(heartbeat);
    }
    accounts.recheckDue(nowMs());
  };
  const timer = setInterval(look, intervalMs);
  timer.unref();

  return {
    slots,
    stopping: () => stopping,
    heartbeat: heartbeatOf,
    begin: (beginning) => {
      const { route, holder, id, door } = beginning;
      meters.opened(route.name, holder.scope);
      const reader = new Reader(door, {
        route,
        limits,
        flusher,
        nowMs,
        onMessage: meters.messages(route.name),
        onEnd: (end) => meters.closed(route.name, holder.scope, end),
        onFault: (fault) =>
          log.error({ request_id: id, route: route.path, fault: describe(fault) }, 'fault'),
      });
      open.set(reader, beginning);
      accounts.join(beginning, reader, nowMs());
      return reader;
    },
    gone: (reader) => {
      const beginning = open.get(reader);
      if (beginning === undefined) return;
      open.delete(reader);
      accounts.leave(beginning, reader);
      if (open.size === 0 && onEmpty !== null) onEmpty();
    },
    stop: () => {
      stopping = true;
      clearInterval(timer);
      return new Promise((resolve) => {
        if (open.size === 0) return resolve();
        onEmpty = resolve;
        for (const reader of open.keys()) reader.end('going_away');
      });
    },
  };
}

// Readers who stand at one place are sent the same bytes.
function heartbeatOf(route: AnyStreamRoute): Heartbeat {
  const made = new Map<number, Sendable>();
  const at = new Date().toISOString();
  return (seq) => {
    const known = made.get(seq);
    const message = known === undefined ? route.own.heartbeat(seq, at) : known;
    made.set(seq, message);
    return message;
  };
}

/** The streams of each credential, which is asked for again in turn. */
function createAccounts(recheckMs: number, log: Log) {
  const accounts = new Map<string, Account>();
  return {
    join: ({ holder, recheck }: Beginning, reader: Reader, now: number): void => {
      const known = accounts.get(holder.id);
      if (known !== undefined) known.readers.add(reader);
      else {
        accounts.set(holder.id, { readers: new Set([reader]), recheck, dueMs: now + recheckMs });
      }
    },
    leave: ({ holder }: Beginning, reader: Reader): void => {
      const account = accounts.get(holder.id);
      account?.readers.delete(reader);
      if (account?.readers.size === 0) accounts.delete(holder.id);
    },
    recheckDue: (now: number): void => {
      for (const account of accounts.values()) {
        if (now < account.dueMs) continue;
        account.dueMs = now + recheckMs;
        recheck(account).catch((fault) => log.error({ fault: describe(fault) }, 'fault'));
      }
    },
  };
}

type Account = {
  readonly readers: Set<Reader>;
  readonly recheck: Beginning['recheck'];
  dueMs: number;
};

// A store that does not answer closes nothing: who was let in stays until it says otherwise.
async function recheck({ readers, recheck }: Account): Promise<void> {
  const said = await recheck();
  if (said.kind !== 'refused') return;
  const { code } = said.refusal;
  const isShut =
    code === 'unauthorized' ||
    (code === 'credential' && reasonOf(said.refusal) !== 'store_unavailable');
  if (!isShut) return;
  for (const reader of readers) reader.shut();
}
