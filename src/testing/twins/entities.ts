// The twin of clusters and ties: in memory, planted and silent.

import type { ChainName } from '../../chain/chain.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { type Partly, part, type Reading, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type ClusterStore,
  type CoinJoins,
  type EntityCluster,
  type EntityClusters,
  type EntityClustersPort,
  type HeldTiesPort,
  JOINT_FORMS,
  type JoinedIn,
} from '../../ports/entities.ts';
import { coveredTies } from '../../stores/control/clusters.ts';
import { type Dated, memorySource, PLANTED, UNDATED } from './dated.ts';

const CLUSTERS = 'entity_clusters';

/**
 * The contents of the memory. `examined`: `everyone`, or the addresses whose own history is
 * complete.
 */
export type MemoryClusters = Dated & {
  readonly clusters: readonly (EntityCluster & { readonly chain: ChainName })[];
  readonly examined: 'everyone' | readonly string[];
  /** Left out: nobody took part in a joint transaction. */
  readonly joined?: readonly (JoinedIn & { readonly address: string })[];
};

/** The clusters in memory. */
export function memoryEntityClusters(held: MemoryClusters): EntityClusters {
  const { clusters, examined, simulated } = held;
  const source = memorySource('Entity clusters of this deployment', 'table', held);
  const origin = { port: CLUSTERS, source } as const;
  return {
    clusterOf: async (
      chain,
      address,
    ): Promise<Partly<EntityCluster | null, EntityClustersPort>> => {
      const found = clusters.find((one) => one.chain === chain && one.members.includes(address));
      const whole = examined === 'everyone' || examined.includes(address);
      if (found === undefined) {
        if (!whole || simulated) return unread(CLUSTERS, why('entity_not_examined', { chain }));
        return read(null, origin);
      }
      const { cluster_id, confidence, basis, members, labels } = found;
      const cluster = { cluster_id, confidence, basis, members, labels };
      if (simulated) return part(cluster, origin, why('simulated'));
      return whole
        ? read(cluster, origin)
        : part(cluster, origin, why('entity_not_examined', { chain }));
    },
    coinJoinsOf: async (address): Promise<Partly<CoinJoins, EntityClustersPort>> => {
      const own = listOrNone(held.joined).filter((one) => one.address === address);
      const forms = JOINT_FORMS.map((form) => {
        return { form, transactions: own.filter((one) => one.form === form).length };
      }).filter(({ transactions }) => transactions > 0);
      const newest = own.map(({ address: _, ...one }) => one);
      return simulated
        ? part({ forms, newest }, origin, why('simulated'))
        : read({ forms, newest }, origin);
    },
  };
}

/** A store of ties with nothing in it; `formerIds` gave way to each cluster. Unix seconds. */
export function memoryNoTies(as_of: number, formerIds: readonly string[]): ClusterStore {
  const source = memorySource('Memory', 'table', { as_of, simulated: false });
  const readTies = async <T>(value: T): Promise<Reading<T, HeldTiesPort>> =>
    read(value, { port: 'held_ties', source });
  return {
    covered: coveredTies,
    tiedTo: () =>
      readTies({ ties: [], objections: [], reused: new Set(), examinations: new Map() }),
    servicesAmong: () => readTies(new Set()),
    keep: () => readTies(null),
    settle: () => readTies(null),
    givenWay: (_chain, cluster_id) =>
      readTies(formerIds.map((former_id) => ({ former_id, cluster_id, noted_at: as_of }))),
    memberOf: () => readTies(null),
    blocksHeld: () => readTies([]),
    paidBefore: () => readTies(new Set()),
    coinJoinsOf: () => readTies({ forms: [], newest: [] }),
    keepBlocks: () => readTies(null),
  };
}

export type EntitiesPorts = { readonly entityClusters: EntityClusters };

/** Left out: nothing is held, and nobody was examined. */
export function memoryEntities(held: { readonly entities?: MemoryClusters }): EntitiesPorts {
  const nobody = { ...UNDATED, clusters: [], examined: [] };
  return { entityClusters: memoryEntityClusters(held.entities ?? nobody) };
}

export function silentEntities(cause: Why): EntitiesPorts {
  const silent = unread(CLUSTERS, cause);
  return { entityClusters: { clusterOf: async () => silent, coinJoinsOf: async () => silent } };
}

/** The clusters and ties that a world may plant. */
export type PlantedEntities = {
  /** The members of each cluster of Ethereum. */
  readonly clusters?: readonly (readonly string[])[];
  /** The participants of each joint transaction of Bitcoin. */
  readonly joined?: NonNullable<MemoryClusters['joined']>;
  /** The ids of entities that gave way to any that is asked about. */
  readonly formerIds?: readonly string[];
};

export function plantedEntities({ clusters = [], joined = [], formerIds = [] }: PlantedEntities) {
  const held = clusters.map((members, i) => {
    const weight = { confidence: 0.9, basis: 'assumed' } as const;
    return { chain: 'ethereum', cluster_id: `c${i}`, ...weight, labels: [], members } as const;
  });
  const entities = { ...PLANTED, clusters: held, joined, examined: 'everyone' } as const;
  return { ...memoryEntities({ entities }), entityTies: memoryNoTies(PLANTED.as_of, formerIds) };
}
