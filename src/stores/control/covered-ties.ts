// Is what is held of the ties of an address all there is, so that it may be said to be linked to
// nobody? The store knows what was seen alone: it answers as far as whoever looked came.

import { mintAs, type Partly, Read, weaken } from '../../evidence/reading.ts';
import type { HeldTiesPort } from '../../ports/entities/cluster-store.ts';
import type { EntityClustersPort } from '../../ports/entities/entity-clusters.ts';

/** What is held, whole only where what could have tied it was read to its end. */
export function coveredTies<T>(
  held: Partly<T, HeldTiesPort>,
  looked: Partly<unknown, never>,
): Partly<T, EntityClustersPort> {
  const told = looked instanceof Read ? held : weaken(held, looked.why);
  return mintAs('entity_clusters', told);
}
