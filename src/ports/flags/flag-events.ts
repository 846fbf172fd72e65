// Answers one question: what was flagged, and what was taken back, in which order?
// The log is one for all processes. Its numbers begin at 1 and have no gap; its oldest events go.

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type FlagEventsPort = 'flag_events';

/** What can be had again: this many of the newest events, and none that is older than this. */
export const FLAG_EVENTS_KEPT = { eventsMax: 10_000, ageMaxS: 24 * 60 * 60 } as const;
/** Events that may be appended, or read, at once. */
export const FLAG_EVENTS_AT_ONCE_MAX = 1_000;

type Subject = {
  readonly chain: ChainName;
  /** The wallet that launched the token. */
  readonly address: string;
  readonly token: string;
  /** The model that flagged it. */
  readonly model_version: string;
  readonly simulated: boolean;
};

/** A flag, with the one piece of evidence that weighs most, in words and numbers. */
export type NewFlag = Subject & {
  readonly kind: 'flag';
  /** The calibrated output of the model, from 0 to 1. */
  readonly score: number;
  readonly evidence: string;
  readonly flagged_at: UnixSeconds;
};

/** A flag taken back because what it rested on is gone: a block that left the chain, mostly. */
export type NewRetraction = Subject & {
  readonly kind: 'retraction';
  /** The number under which the flag was told. */
  readonly retracts: number;
  readonly reason: string;
  readonly retracted_at: UnixSeconds;
};

/** What may be appended. */
export type NewFlagEvent = NewFlag | NewRetraction;

/** An event under its number. */
export type FlagEvent = NewFlagEvent & { readonly seq: number };

/** Both ends of the log: `newest` is 0 while nothing was ever told, `oldest` can still be had. */
export type FlagLogBounds = { readonly newest: number; readonly oldest: number | null };

/** Events that follow each other, and both ends of the log when they were read. */
export type FlagEventChunk = FlagLogBounds & { readonly events: readonly FlagEvent[] };

/** The log of flags. */
export type FlagEvents = {
  /** The first events after a number, `FLAG_EVENTS_AT_ONCE_MAX` of them at most. */
  readonly after: (seq: number) => Promise<Reading<FlagEventChunk, FlagEventsPort>>;
  readonly bounds: () => Promise<Reading<FlagLogBounds, FlagEventsPort>>;
  /** Lets go of what is too old; the newest number stays. */
  readonly prune: () => Promise<Reading<true, FlagEventsPort>>;
};
