// Answers one question: who is to be walked next, and what did each walk come to?
// A walk that was taken and never ended is due again; only a record that is whole is kept.

import type { Reading } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { DeployerWalk, FailedWalk } from './deployer-records.ts';

/** The name of this port in readings. */
export type DeployerWalksPort = 'deployer_walks';

/** How a walk ended. `failed`: it came to nothing, or what it came to could not be kept. */
export type WalkEnd =
  | { readonly end: 'committed'; readonly walk: DeployerWalk }
  | { readonly end: 'failed'; readonly why: Why }
  /** Whoever asked for it stopped it: nothing is noted of it. */
  | { readonly end: 'stopped' };

/** Walks an address and commits what it came to. */
export type WalkAndCommit = (address: string, signal: AbortSignal) => Promise<WalkEnd>;

/** The durable queue of walks, and the place where records are committed. */
export type DeployerWalks = {
  /** Takes the next address that is due for so many seconds; `null` where nobody is. */
  readonly take: (forS: number) => Promise<Reading<string | null, DeployerWalksPort>>;
  /** Commits a record in place of any before, and ends the walk's place in the queue. */
  readonly commit: (walk: DeployerWalk) => Promise<Reading<true, DeployerWalksPort>>;
  /** Notes a failed walk: a record that stands is kept; one in the queue is due again later. */
  readonly fail: (address: string, failed: FailedWalk) => Promise<Reading<true, DeployerWalksPort>>;
};
