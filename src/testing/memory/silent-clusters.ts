// What does a deployment say of clusters that it cannot read? Nothing, and why.

import { unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { EntityClusters } from '../../ports/entities.ts';

/** The clusters, silent for one reason. */
export function silentEntityClusters(why: Why): EntityClusters {
  const silent = unread('entity_clusters', why);
  return { clusterOf: async () => silent, coinJoinsOf: async () => silent };
}
