// Names the cluster of an address by the stored ties alone, for the answers of other routes.
// Nothing is read live here: an address that the entity route has not examined lately is silence.

import type { ChainName } from '../../chain/chain.ts';
import {
  map,
  type Partly,
  Read,
  rowsSeen,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { EntityCluster, EntityClusters } from '../../ports/entities.ts';
import { blocksReading, everyBlock } from './bitcoin.ts';
import {
  type EntityPorts,
  type ExaminationRequest,
  type HeldEntity,
  type HeldPort,
  NOTHING_FRESH,
  readEntity,
} from './closure.ts';

type Held = Pick<EntityPorts, 'entityTies' | 'exchangeLabels'>;
type ClusterRequest = Pick<ExaminationRequest, 'now' | 'tipMaxAgeS'>;

export function heldClusters(ports: Held, asked: ClusterRequest): EntityClusters {
  return {
    clusterOf: async (chain, address) => {
      const step = { chain, address, fresh: NOTHING_FRESH, now: asked.now() };
      const held = await readEntity(ports, step);
      const missing =
        chain === 'bitcoin'
          ? await blocksReading(ports.entityTies, address, asked)
          : requireExamined(held, chain, address, asked);
      const found = map(held, ({ cluster, confidence, basis, labels }): EntityCluster | null => {
        if (cluster === null || basis === null) return null;
        const { cluster_id, members } = cluster;
        const names = [...new Set(labels.map(({ label }) => label))];
        return { cluster_id, confidence, basis, members, labels: names };
      });
      const told = ports.entityTies.covered(found, missing);
      if (missing instanceof Read || held instanceof Unread) return told;
      const isSomething = rowsSeen(map(told, (one) => (one === null ? [] : [one]))) !== null;
      return isSomething ? told : unread('entity_clusters', missing.why);
    },
    coinJoinsOf: async (address) => {
      const held = await ports.entityTies.coinJoinsOf(address);
      return ports.entityTies.covered(held, await everyBlock(ports.entityTies, address, asked));
    },
  };
}

// An address that was examined says who is tied to it; its members say who else is.
function requireExamined(
  held: Partly<HeldEntity, HeldPort>,
  chain: ChainName,
  address: string,
  { now, tipMaxAgeS }: ClusterRequest,
): Partly<unknown, HeldPort> {
  const told = rowsSeen(map(held, (one) => [one]));
  if (told === null) return held;
  const [{ cluster, examinations }] = told;
  const members = cluster === null ? [address] : cluster.members;
  const isWhole = members.every((member) => {
    const last = examinations.get(member);
    return last?.whole === true && now() - last.read_at < tipMaxAgeS;
  });
  return isWhole ? held : weaken(held, why('entity_not_examined', { chain }));
}
