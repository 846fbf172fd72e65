// To which cluster does an address belong, by what is held alone? For other questions' answers.
// Nothing is read live here: an address that the entity route has not examined lately is silence.

import type { ChainName } from '../../chain/chain.ts';
import { map, type Partly, Read, seen, Unread, unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Examination, HeldTiesPort } from '../../ports/entities/cluster-store.ts';
import type { EntityCluster, EntityClusters } from '../../ports/entities/entity-clusters.ts';
import { blocksReading } from './blocks.ts';
import { type Entity, type EntityPorts, heldOf, NOTHING_SEEN } from './entity.ts';
import type { ExaminationAsked } from './examination.ts';
import { TIED_LIMITS } from './ties.ts';

type Held = Pick<EntityPorts, 'store' | 'labels'>;
type Asked = Pick<ExaminationAsked, 'now' | 'tipMaxAgeS'>;

/** The clusters held, as a port. */
export function heldClusters(ports: Held, asked: Asked): EntityClusters {
  return {
    clusterOf: async (chain, address) => {
      const held = await heldOf(ports, chain, address, NOTHING_SEEN, null);
      const missing =
        chain === 'bitcoin'
          ? await blocksReading(ports.store, address, asked)
          : await examinedLately(ports, chain, address, asked);
      const told = ports.store.covered(map(held, clusterFrom), missing);
      if (missing instanceof Read || held instanceof Unread) return told;
      const isSomething = seen(map(told, (one) => (one === null ? [] : [one]))) !== null;
      return isSomething ? told : unread('entity_clusters', missing.why);
    },
  };
}

function clusterFrom({ cluster, confidence, labels }: Entity): EntityCluster | null {
  if (cluster === null) return null;
  const { cluster_id, members } = cluster;
  const names = [...new Set(labels.map(({ label }) => label))];
  return { cluster_id, confidence, members, labels: names };
}

async function examinedLately(
  { store }: Held,
  chain: ChainName,
  address: string,
  { now, tipMaxAgeS }: Asked,
): Promise<Partly<unknown, HeldTiesPort>> {
  const tied = await store.tiedTo(chain, [address], TIED_LIMITS);
  const told = seen(map(tied, ({ examinations }) => [...examinations.values()]));
  const isWhole = told?.some((one: Examination) => one.whole && now() - one.read_at < tipMaxAgeS);
  return isWhole === true ? tied : weaken(tied, why('entity_not_examined', { chain }));
}
