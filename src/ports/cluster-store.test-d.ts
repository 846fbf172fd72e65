// Uses of stored ties that must not compile. A missing tie denies a link only if everything that
// could tie was read completely.

import { type Claim, claim } from '../evidence/claim.ts';
import type { Partly, Read } from '../evidence/reading.ts';
import type { ClusterStore, Tied } from './entities.ts';

declare const store: ClusterStore;
declare const held: Read<Tied, 'held_ties'>;
declare const looked: Partly<null, 'transfer_history'>;

type OnClusters = Claim<boolean, boolean | null, 'entity_clusters'>;

const hasNone = ({ ties }: Tied) => ties.length === 0;

/** Uses that must compile. */
export function truths(): unknown[] {
  return [claim(store.covered(held, looked), hasNone, () => null) satisfies OnClusters];
}

/** A stored reading is not accepted as a covered one. */
export function heldAsCovered(): unknown[] {
  return [
    // @ts-expect-error what a store holds came to its end, and says nothing of what nobody saw
    held satisfies Read<Tied, 'entity_clusters'>,
    // @ts-expect-error a claim on it rests on what is held
    claim(held, hasNone) satisfies OnClusters,
    // @ts-expect-error what was looked at may be a part, and so may the answer
    store.covered(held, looked) satisfies Read<Tied, 'entity_clusters'>,
  ];
}
