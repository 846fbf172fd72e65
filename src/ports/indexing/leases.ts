// Answers one question: may this process do a work that only one process at a time may do?
// A lease ends by itself, so that one whose holder was killed is free again.

import type { Reading } from '../../evidence/reading.ts';

/** The name of this port in readings. */
export type LeasesPort = 'leases';

/** Leases by name; each process is a holder of its own. */
export type Leases = {
  /**
   * Takes a lease for so many seconds, or holds the own one for longer. `false`: another holder has
   * it and has not let it end.
   */
  readonly take: (name: string, forS: number) => Promise<Reading<boolean, LeasesPort>>;
  /** Lets the own lease end; one that another holder has is left alone. */
  readonly release: (name: string) => Promise<Reading<true, LeasesPort>>;
};
