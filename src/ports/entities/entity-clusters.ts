// Answers one question: to which cluster of addresses does this address belong, as far as is held.
// A miss is read only where the address's own history was examined to its end: an address that
// nobody examined, or only in part, is silence and never "linked to nobody".

import type { ChainName } from '../../chain/chain.ts';
import type { Partly } from '../../evidence/reading.ts';

/** The name of this port in readings and contracts. */
export type EntityClustersPort = 'entity_clusters';

/**
 * The protocol of a joint transaction of Bitcoin; `equal_outputs`: the form of one, and no name is
 * known; `whirlpool_tx0`: one wallet cuts its coins for a mix.
 */
export const JOINT_FORMS = [
  'joinmarket',
  'wasabi_1_0',
  'wasabi_1_1',
  'wasabi_2_0',
  'whirlpool',
  'whirlpool_tx0',
  'equal_outputs',
] as const;
export type JointForm = (typeof JOINT_FORMS)[number];

/** One address in one joint transaction: whether it spent coins of the address, or paid it. */
export type JoinedIn = {
  readonly tx: string;
  readonly block: number;
  /** Unix seconds. */
  readonly at: number;
  readonly form: JointForm;
  readonly spent: boolean;
  readonly paid: boolean;
};

/** How many joint transactions of each form, and the newest of all. */
export type CoinJoins = {
  readonly forms: readonly { readonly form: JointForm; readonly transactions: number }[];
  readonly newest: readonly JoinedIn[];
};

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
  /**
   * The joint transactions of a Bitcoin address, by their form. `Read` only where every block from
   * the first to a fresh tip is held.
   */
  readonly coinJoinsOf: (address: string) => Promise<Partly<CoinJoins, EntityClustersPort>>;
};
