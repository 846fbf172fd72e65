// What does a store say that holds no tie and keeps none? It may know an id that gave way.
// An adapter, not a mock: its readings are the real ones. What ties addresses is then what a live
// reading just saw.

import { type Reading, read } from '../../evidence/reading.ts';
import type { ClusterStore, HeldTiesPort } from '../../ports/entities.ts';
import { coveredTies } from '../../stores/control/clusters.ts';

/** A store of ties with nothing in it; `formerIds` gave way to each cluster. Unix seconds. */
export function memoryNoTies(as_of: number, formerIds: readonly string[]): ClusterStore {
  const source = {
    name: 'Memory',
    url: 'memory:',
    as_of,
    kind: 'table',
    simulated: false,
  } as const;
  const said = async <T>(value: T): Promise<Reading<T, HeldTiesPort>> =>
    read(value, { port: 'held_ties', source });
  return {
    covered: coveredTies,
    tiedTo: () => said({ ties: [], objections: [], reused: new Set(), examinations: new Map() }),
    servicesAmong: () => said(new Set()),
    keep: () => said(null),
    settle: () => said(null),
    givenWay: (_chain, cluster_id) =>
      said(formerIds.map((former_id) => ({ former_id, cluster_id, noted_at: as_of }))),
    memberOf: () => said(null),
    blocksHeld: () => said([]),
    paidBefore: () => said(new Set()),
    coinJoinsOf: () => said({ forms: [], newest: [] }),
    keepBlocks: () => said(null),
  };
}
