// Answers one question: how much may the streams of a process hold, and for how long.

import type { Caller } from '../contract/caller.ts';

/** The bounds of the streams of a process. */
export type StreamLimits = {
  /** Open streams of the process, whoever reads them. */
  readonly connectionsMax: number;
  /** Unsent bytes and messages of one reader, past which nothing more is taken for it. */
  readonly queueBytesMax: number;
  readonly queueMessagesMax: number;
  /** How long a reader may stay past them before it is told that it lags. */
  readonly lagMs: number;
  /** The largest frame of a client, and how many it may send at once and each second after. */
  readonly frameBytesMax: number;
  readonly framesAtOnceMax: number;
  readonly framesPerSecondMax: number;
  /** How long a handler may take to open a stream. */
  readonly openMs: number;
  /** How long a closing handshake, or the end of a stream, may take. */
  readonly closeMs: number;
  /** How often it is asked again whether a credential still opens its streams. */
  readonly recheckMs: number;
  /** How long one stream of server-sent events lives: its reader cannot be asked for a pong. */
  readonly eventsLifeMs: number;
};

/** The bounds in force. */
export const STREAM_LIMITS: StreamLimits = {
  connectionsMax: 20_000,
  queueBytesMax: 1024 * 1024,
  queueMessagesMax: 10_000,
  lagMs: 5_000,
  frameBytesMax: 4 * 1024,
  framesAtOnceMax: 20,
  framesPerSecondMax: 5,
  openMs: 10_000,
  closeMs: 2_000,
  recheckMs: 60_000,
  eventsLifeMs: 60 * 60 * 1_000,
};

/** Open streams of one credential, by its tier or plan. All who send none share one bound. */
export const CONNECTIONS_MAX = {
  free: 10,
  pro: 100,
  desk: 1_000,
  analyst: 10,
  enterprise: 1_000,
  partner: 10,
  session: 10,
  operator: 100,
  anonymous: 1_000,
} as const;

/** A name under which streams are counted together, in answers and in the metrics. */
export type StreamScope = keyof typeof CONNECTIONS_MAX;

/** On whose account a stream is open, and how many more of it there may be. */
export type StreamHolder = {
  readonly id: string;
  readonly scope: StreamScope;
  readonly limit: number;
};

/** On whose account a caller's streams are counted. */
export function holderOf(caller: Caller): StreamHolder {
  const [id, scope] = account(caller);
  return { id, scope, limit: CONNECTIONS_MAX[scope] };
}

function account(caller: Caller): readonly [string, StreamScope] {
  switch (caller.kind) {
    case 'nobody':
      return ['anonymous', 'anonymous'];
    case 'token':
      return [`token:${caller.token_id}`, caller.tier];
    case 'member':
      return [`key:${caller.key_id}`, caller.plan];
    case 'partner':
      return [`key:${caller.key_id}`, 'partner'];
    case 'session':
      return [`session:${caller.session_id}`, 'session'];
    case 'operator':
      return ['operator', 'operator'];
    default:
      throw new Error(`no streams are counted for ${JSON.stringify(caller satisfies never)}`);
  }
}
