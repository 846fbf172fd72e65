// Answers one question: which launches were collected, how far, and what was missed on the way?
// Launches, gaps and the place in the list move together: a process that is killed leaves all of a
// step or nothing of it.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { SeenLaunch } from './launch-feed.ts';

/** The name of this port in readings. */
export type LaunchCollectionPort = 'launch_collection';

/** How far an account was read. */
export type Cursor = {
  readonly signature: string | null;
  readonly since: UnixSeconds;
  readonly reached_at: UnixSeconds;
  /** How often in a row the next transaction could not be read. */
  readonly attempts: number;
};

/** What was not read, from one second to another. */
export type Gap = {
  readonly from_at: UnixSeconds;
  readonly to_at: UnixSeconds;
  readonly reason: string;
};

/** A step forward in the list of an account. */
export type Step = {
  readonly account: string;
  /** The place that it was read from; another's step since then makes this one void. */
  readonly from: Cursor | null;
  readonly to: Cursor;
  readonly launches: readonly SeenLaunch[];
  readonly gaps: readonly Gap[];
};

/** A launch that is due to be asked for at the venue. */
export type DueLaunch = {
  readonly mint: string;
  readonly deployer: string;
  readonly launched_at: UnixSeconds;
};

export type LaunchCollection = {
  readonly cursorOf: (account: string) => Promise<Reading<Cursor | null, LaunchCollectionPort>>;
  /** Keeps a step, or nothing where another process has gone on meanwhile: `false`. */
  readonly keep: (step: Step) => Promise<Reading<boolean, LaunchCollectionPort>>;
  /**
   * Takes launches that are due, for so many seconds: those whose window has passed, and not
   * so long ago that the venue could no longer tell. Imported launches that wait are among them.
   */
  readonly takeDue: (
    max: number,
    forS: number,
  ) => Promise<Reading<readonly DueLaunch[], LaunchCollectionPort>>;
  /** Notes why launches were not settled; they are due again after so many seconds. */
  readonly postpone: (
    mints: readonly string[],
    reason: string,
    forS: number,
  ) => Promise<Reading<true, LaunchCollectionPort>>;
};
