// With which addresses does this one form an entity, by which evidence, and what was looked at?
// Ties that are seen live are kept, so that clusters grow; which stand is decided on each answer.
// It refuses to call an address linked to nobody unless everything that could link it was read.

import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { both, map, type Partly, rowsSeen, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/waiting.ts';
import type { ClusterStore, EntityClustersPort, Heuristic } from '../../ports/entities.ts';
import { blockRuns, leastIn } from './bitcoin.ts';
import {
  asFarAs,
  closureOf,
  type EntityPorts,
  type ExaminationPort,
  type ExaminationRequest,
  type Examined,
  type HeldEntity,
  type HeldPort,
  type HeuristicRun,
  keepMerges,
  NOTHING_FRESH,
  readEntity,
} from './closure.ts';
import type { Cluster } from './evidence.ts';
import type { EvidenceItem } from './shapes.ts';

/** An answer: what was found, and beside it which heuristic came how far. */
export type EntityAnswer = {
  readonly entity: Partly<HeldEntity, EntityClustersPort>;
  readonly runs: readonly CoveredRun[];
  readonly live: Partly<Examined, ExaminationPort>;
};

/** How far one heuristic came, what is held beside it included: `ran` is whole where both are. */
type CoveredRun = {
  readonly heuristic: Heuristic;
  readonly ran: Partly<unknown, EntityClustersPort>;
};

/** The entity of an address: what is held of it, and on chains with accounts what is read now. */
export async function entityOf(
  ports: EntityPorts,
  chain: ChainName,
  address: string,
  asked: ExaminationRequest,
): Promise<EntityAnswer> {
  const { signal } = asked;
  const look = chain === 'bitcoin' ? onBitcoin : onAccounts;
  const bounded = await inTime(() => look(ports, chain, address, asked), signal);
  if (bounded !== OUT_OF_TIME) return bounded;
  const silent = unread('entity_clusters' as const, STOPPED_BY_TIME);
  const runs = heuristicsOn(chain).map((heuristic) => {
    return { heuristic, ran: silent };
  });
  const live = unread<ExaminationPort>('transfer_history', STOPPED_BY_TIME);
  return { entity: silent, runs, live };
}

const HEURISTICS_OF: { readonly [K in (typeof CHAINS)[ChainName]['kind']]: readonly Heuristic[] } =
  {
    evm: ['deposit_reuse', 'shared_funder', 'lockstep', 'same_deployer'],
    solana: ['deposit_reuse', 'shared_funder', 'lockstep'],
    bitcoin: ['multi_input', 'change'],
  };

/** The heuristics that can tie addresses of a chain. */
export function heuristicsOn(chain: ChainName): readonly Heuristic[] {
  return HEURISTICS_OF[CHAINS[chain].kind];
}

async function onAccounts(
  ports: EntityPorts,
  chain: ChainName,
  address: string,
  asked: ExaminationRequest,
): Promise<EntityAnswer> {
  const { held, live, open, openFor } = await closureOf(ports, chain, address, asked);
  const told = rowsSeen(map(live, (one) => one.runs));
  const own: readonly HeuristicRun[] =
    told === null ? heuristicsOn(chain).map((heuristic) => ({ heuristic, ran: live })) : told;
  const runs = own.map(({ heuristic, ran }) => {
    return { heuristic, ran: asFarAs(ran, openFor(heuristic)) };
  });
  return {
    entity: ports.entityTies.covered(held, asFarAs(live, open)),
    runs: coveredRuns(ports.entityTies, held, runs),
    live,
  };
}

// A heuristic came to its end where what it reads was whole; that nothing more is held rests on the
// store of ties beside it.
function coveredRuns(
  store: ClusterStore,
  held: Partly<unknown, HeldPort>,
  runs: readonly HeuristicRun[],
): CoveredRun[] {
  return runs.map(({ heuristic, ran }) => ({
    heuristic,
    ran: both({ ran, held: store.covered(held, ran) }),
  }));
}

// Bitcoin has no accounts to read live: blocks are imported, and what they tie is held.
async function onBitcoin(
  ports: EntityPorts,
  _chain: ChainName,
  address: string,
  asked: ExaminationRequest,
): Promise<EntityAnswer> {
  const step = { chain: 'bitcoin', address, fresh: NOTHING_FRESH } as const;
  const now = asked.now();
  const [found, runs] = await Promise.all([
    readEntity(ports, { ...step, now }),
    blockRuns(ports.entityTies, address, asked),
  ]);
  const held = await keepMerges(ports.entityTies, found, now);
  const silence = why('not_walked_kind', { kind: 'bitcoin' });
  const live = unread<ExaminationPort>('transfer_history', silence);
  return {
    entity: ports.entityTies.covered(held, leastIn(runs)),
    runs: coveredRuns(ports.entityTies, held, runs),
    live,
  };
}

/** The evidence of a cluster with the subject's own first. */
export function evidenceFor(address: string, { items }: Cluster): readonly EvidenceItem[] {
  const own = items.filter(({ addresses }) => addresses.includes(address));
  return [...own, ...items.filter((one) => !own.includes(one))];
}
