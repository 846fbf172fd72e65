// Answers one question: is what is collected of the chain too old to deny anything?

import { formatIsoTime, type UnixSeconds } from '../../chain/time.ts';
import type { Reading } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { LaunchCollectionPort } from './launch-collection.ts';

/** A collection past this age carries no negative, in seconds. */
const COLLECTION_MAX_AGE_S = 172_800;

/** Up to when everything that is watched was read; `null`: nothing is watched. */
export type ReachedAt = () => Promise<Reading<UnixSeconds | null, LaunchCollectionPort>>;

/** Why a collection that reached so far carries no negative, or `null`. */
export function staleness(reachedAt: UnixSeconds | null, now: UnixSeconds): Why | null {
  if (reachedAt === null || now - reachedAt <= COLLECTION_MAX_AGE_S) return null;
  return why('launch_collection_stale', { at: formatIsoTime(reachedAt) });
}
