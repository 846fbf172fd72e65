// Answers one question: what became of work that outlasts the request that began it?
// Whoever works says again and again that it goes on; work of which nobody says so is lost.

import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
type WorkPort = 'long_work';

/** `lost`: whoever worked is gone (a restart, a crash), and what it came to is not known. */
export type WorkState = 'running' | 'done' | 'failed' | 'cancelled' | 'lost';

/** Work as its beginner sees it. `result` is the JSON of what it came to, once it is done. */
export type Work = {
  readonly id: string;
  readonly state: WorkState;
  readonly began_at: UnixSeconds;
  readonly ended_at: UnixSeconds | null;
  readonly result: string | null;
};

/** To whom work belongs: nobody else sees it, nor that it is there. */
export type OwnWork = { readonly id: string; readonly route: string; readonly owner: string };

/** The work under way, and what it came to. */
export type WorkStore = {
  /** Notes new work; `null` where its route has `runningMax` under way, or its owner `keptMax`. */
  readonly begin: (
    work: OwnWork,
    bounds: { readonly runningMax: number; readonly keptMax: number },
  ) => Promise<Reading<Work | null, WorkPort>>;
  /** Says that work goes on; answers whether it still should. */
  readonly goesOn: (id: string) => Promise<Reading<boolean, WorkPort>>;
  /** Notes the end of work that was neither cancelled nor lost meanwhile. */
  readonly end: (
    id: string,
    state: 'done' | 'failed',
    result: string | null,
  ) => Promise<Reading<true, WorkPort>>;
  readonly find: (work: OwnWork) => Promise<Reading<Work | null, WorkPort>>;
  /** Cancels work that is under way; what has ended stays as it ended. */
  readonly cancel: (work: OwnWork) => Promise<Reading<Work | null, WorkPort>>;
};
