// Answers one question: to which cluster of addresses does this address belong, as far as is held.
// A miss is read only where the address's own history was examined to its end: an address that
// nobody examined, or only in part, is silence and never "linked to nobody".

import type { ChainName } from '../../chain/chain.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type EntityClustersPort = 'entity_clusters';

/** A cluster as others show it. */
export type EntityCluster = {
  /** The name of its oldest link: it stays when the cluster grows. */
  readonly cluster_id: string;
  /** That the address asked about belongs to the rest: 1 − Π(1 − weight) over its own links. */
  readonly confidence: number;
  /** Every address of it in the form that `parseAddress` gives, the one asked about included. */
  readonly members: readonly string[];
  /** The labels that its members carry, each once; `null` where the label table was not read. */
  readonly labels: readonly string[] | null;
};

/**
 * The clusters held. `Read`: the address was examined to its end, so `null` says that no link of
 * it was found. `Part`: this cluster was seen and may be larger; the reason says what is missing.
 * `Unread`: no link of it is held and nothing shows that it was looked at.
 */
export type EntityClusters = {
  readonly clusterOf: (
    chain: ChainName,
    address: string,
  ) => Promise<Partly<EntityCluster | null, EntityClustersPort>>;
};
