// Answers one question: may this process do a work that only one process at a time may do?
// A lease ends by itself, so that one whose holder was killed is free again.

import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type LeasesPort = 'leases';

/**
 * A lease that is held. `epoch` is greater than that of every holder before, whatever became of it;
 * it stays while the lease is held. `released`: nobody held it before, or who did has let it go.
 */
export type Lease = { readonly epoch: number; readonly released: boolean };

/** Leases by name; each process is a holder of its own. */
export type Leases = {
  /**
   * Takes a lease for so many seconds, or holds the own one for longer. `null`: another holder has
   * it and has not let it end.
   */
  readonly take: (name: string, forS: number) => Promise<Reading<Lease | null, LeasesPort>>;
  /** Lets the own lease end; one that another holder has is left alone. */
  readonly release: (name: string) => Promise<Reading<true, LeasesPort>>;
};
