// The bus carries no event and keeps none: a called process reads the log, and reads it now and
// then uncalled, so that a silent bus delays and loses nothing.

import { z } from 'zod';
import type { Reading } from '../evidence/reading.ts';

/** The name of this port in readings. */
export type BusPort = 'bus';

/** How many streams this process holds for a holder, which is of a tier. */
export type HeldStreams = { readonly holder: string; readonly tier: string; readonly own: number };

/** Whether they were noted, and how many the other processes hold of the holder. */
export const heldTogether = z.strictObject({ granted: z.boolean(), others: z.int() });
export type HeldTogether = z.output<typeof heldTogether>;

export type Bus = {
  readonly kind: 'in_process' | 'postgres';
  /** Calls all who listen, in every process. */
  readonly callAll: () => void;
  /** Listens until what it gives is called. */
  readonly listen: (call: () => void) => () => void;
  /**
   * Notes what this process holds now. It is not granted where all processes together would hold
   * more than `max`; then what is held without it has to be noted. What a process that was killed
   * held is forgotten by itself.
   */
  readonly hold: (held: HeldStreams, max: number | null) => Promise<Reading<HeldTogether, BusPort>>;
  /** How many streams of a tier the other processes hold. */
  readonly others: (tier: string) => Promise<Reading<number, BusPort>>;
  readonly close: () => Promise<void>;
};
