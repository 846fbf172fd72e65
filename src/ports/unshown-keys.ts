import { z } from 'zod';
import type { UnixSeconds } from '../chain/time.ts';
import type { Reading } from '../evidence/reading.ts';
import type { SessionsPort } from './access.ts';
import type { Sealed } from './integrations.ts';

/** A key that was made, as its page shows it; sealed until then. */
export const unshownKey = z.strictObject({
  text: z.string(),
  name: z.string().nullable(),
  expires_at: z.number(),
  /** Until when the key opens whose place it takes; `null`: it takes none. */
  instead_until: z.number().nullable(),
});
export type UnshownKey = z.output<typeof unshownKey>;

/** The keys that were made and that no page has shown yet, sealed. */
export type UnshownKeyStore = {
  /** Keeps a key for a session; those past their time at `at` go. */
  readonly keep: (key: {
    readonly id: string;
    readonly session_id: string;
    readonly sealed: Sealed;
    readonly at: UnixSeconds;
    readonly expires_at: UnixSeconds;
  }) => Promise<Reading<true, SessionsPort>>;
  /** Takes a key away for good; `null`: none of this session, or its time is over. */
  readonly take: (
    id: string,
    sessionId: string,
    at: UnixSeconds,
  ) => Promise<Reading<Sealed | null, SessionsPort>>;
};
