// Which clusters were put into this memory, and who is known to have been examined?
// An adapter, not a mock: its readings are the real ones. It can be told that nothing is held.

import type { ChainName } from '../../chain/chain.ts';
import { given } from '../../evidence/measure.ts';
import { type Partly, part, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import {
  type CoinJoins,
  type EntityCluster,
  type EntityClusters,
  type EntityClustersPort,
  JOINT_FORMS,
  type JoinedIn,
} from '../../ports/entities.ts';

const PORT = 'entity_clusters';

/** What the memory holds. `examined`: `everyone`, or those whose own history came to its end. */
export type MemoryClusters = {
  readonly clusters: readonly (EntityCluster & { readonly chain: ChainName })[];
  readonly examined: 'everyone' | readonly string[];
  /** Left out: nobody took part in a joint transaction. */
  readonly joined?: readonly (JoinedIn & { readonly address: string })[];
  /** Unix seconds. */
  readonly as_of: number;
  readonly simulated: boolean;
};

/** The clusters in memory. */
export function memoryEntityClusters(held: MemoryClusters): EntityClusters {
  const { clusters, examined, as_of, simulated } = held;
  const source: Source = { name: CLUSTERS_TITLE, url: 'memory:', as_of, kind: 'table', simulated };
  const origin = { port: PORT, source } as const;
  return {
    clusterOf: async (
      chain,
      address,
    ): Promise<Partly<EntityCluster | null, EntityClustersPort>> => {
      const found = clusters.find((one) => one.chain === chain && one.members.includes(address));
      const whole = examined === 'everyone' || examined.includes(address);
      if (found === undefined) {
        if (!whole || simulated) return unread(PORT, why('entity_not_examined', { chain }));
        return read(null, origin);
      }
      const { cluster_id, confidence, members, labels } = found;
      const cluster = { cluster_id, confidence, members, labels };
      if (simulated) return part(cluster, origin, why('simulated'));
      return whole
        ? read(cluster, origin)
        : part(cluster, origin, why('entity_not_examined', { chain }));
    },
    coinJoinsOf: async (address): Promise<Partly<CoinJoins, EntityClustersPort>> => {
      const own = given(held.joined).filter((one) => one.address === address);
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

/** How the table of clusters is called as a source. */
const CLUSTERS_TITLE = 'Entity clusters of this deployment';
