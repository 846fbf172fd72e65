// Answers one question: up to which flag were the chats told?
// The place moves in the transaction that queues what was told.

import type { Reading } from '../../evidence/reading.ts';
import type { NewDispatch } from './dispatches.ts';

/** The name of this port in readings. */
export type FlagsToldPort = 'flags_told';

/** A dispatch to all memberships that ask for flags. */
export type FlagDispatch = Omit<NewDispatch, 'membership_id' | 'kind'>;

/** A step from one number of the log of flags to another, with what is told of it. */
export type FlagStep = {
  readonly after: number;
  readonly up_to: number;
  readonly dispatches: readonly FlagDispatch[];
};

/** The place in the log of flags. */
export type FlagsTold = {
  /** The number of the last flag that was told; `newest` where none ever was. */
  readonly place: (newest: number) => Promise<Reading<number, FlagsToldPort>>;
  /** Queues and moves on; `false`: another process has. */
  readonly tell: (step: FlagStep) => Promise<Reading<boolean, FlagsToldPort>>;
};
