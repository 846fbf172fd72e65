// How large is the ring around the list, what does it lack, and how is it built anew?
// For whoever looks after it; walks ask the ring itself.

import type { ChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { RawRingPort, RingGap } from '../history/counterparty-ring.ts';

/** What the ring holds of one chain. */
export type RingChain = {
  readonly chain: ChainName;
  /** Listed addresses of its kind, and how many of them are held in full to a fresh tip. */
  readonly listed: number;
  readonly held_in_full: number;
  /** Pairs of a counterparty and a listed address. */
  readonly pairs: number;
};

/** A ring that was brought up to date. `build_ms`: how long the last build from nothing took. */
export type RingStatus = {
  readonly listed: number;
  readonly pairs: number;
  readonly bytes: number;
  readonly build_ms: number | null;
  readonly chains: readonly RingChain[];
  /** What is missing, listed address by listed address; nothing where the ring is whole. */
  readonly gaps: readonly RingGap[];
};

/** Progress in listed addresses. */
export type RingBuilding = (done: number, of: number) => void;

/** Who looks after the ring. Both bring it up to date; `rebuild` begins from nothing. */
export type RingKeeping = {
  readonly status: () => Promise<Reading<RingStatus, RawRingPort>>;
  readonly rebuild: (told: RingBuilding) => Promise<Reading<RingStatus, RawRingPort>>;
};

/** How the ring stood when it was last looked at; `null` before the first time. */
export type RingReport = {
  readonly as_of: UnixSeconds;
  readonly status: Reading<RingStatus, RawRingPort>;
} | null;
