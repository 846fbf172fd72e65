// With which addresses does this one form an entity, by which evidence, and what was looked at?
// Ties that are seen live are kept, so that clusters grow; which stand is decided on each answer.
// It refuses to call an address linked to nobody unless everything that could link it was read.

import { CHAINS, type ChainName } from '../../chain/chain.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../../evidence/deadline.ts';
import {
  both,
  map,
  Part,
  type Partly,
  Read,
  seen,
  Unread,
  unread,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  ClusterStore,
  GivenWay,
  HeldTiesPort,
  Heuristic,
  Tie,
  Tied,
} from '../../ports/entities/cluster-store.ts';
import type { EntityClustersPort } from '../../ports/entities/entity-clusters.ts';
import type { ExchangeLabel, ExchangeLabelsPort } from '../../ports/labels/exchange-labels.ts';
import { namedIn } from '../tables/service-wallets.ts';
import { blockRuns, leastIn } from './blocks.ts';
import { type Bars, confidenceOf, type EvidenceItem, evidenceOf } from './evidence.ts';
import {
  type ExaminationAsked,
  type ExaminationPort,
  type ExaminationPorts,
  type Examined,
  examine,
  type HeuristicRun,
} from './examination.ts';
import { type Cluster, clusterForest, type Merge, mergesOf } from './forest.ts';
import { TIED_LIMITS } from './ties.ts';

/** The ports that an entity rests on. */
export type EntityPorts = ExaminationPorts & { readonly store: ClusterStore };
type HeldPort = HeldTiesPort | ExchangeLabelsPort;

/** The answer about one address. */
export type Entity = {
  readonly chain: ChainName;
  readonly address: string;
  /** `null` where no evidence that stands names it. */
  readonly cluster: Cluster | null;
  readonly confidence: number;
  readonly merges: readonly Merge[];
  /** Ids that were shown and gave way since, the newest first. */
  readonly givenWay: readonly GivenWay[];
  /** Labels of its members, its own included. */
  readonly labels: readonly ExchangeLabel[];
};

/** An answer: what was found, and beside it which heuristic came how far. */
export type EntityAnswer = {
  readonly entity: Partly<Entity, EntityClustersPort>;
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
  asked: ExaminationAsked,
): Promise<EntityAnswer> {
  const { signal } = asked;
  const bounded = await inTime(() => lookAt(ports, chain, address, asked), signal);
  if (bounded !== OUT_OF_TIME) return bounded;
  const silent = unread('entity_clusters' as const, STOPPED_BY_TIME);
  const runs = heuristicsOn(chain).map((heuristic) => {
    return { heuristic, ran: silent };
  });
  const live = unread<ExaminationPort>('transfer_history', STOPPED_BY_TIME);
  return { entity: silent, runs, live };
}

/** The heuristics of each kind of chain. */
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

async function lookAt(
  ports: EntityPorts,
  chain: ChainName,
  address: string,
  asked: ExaminationAsked,
): Promise<EntityAnswer> {
  if (chain === 'bitcoin') return onBitcoin(ports, address, asked);
  const live = await examine(ports, chain, address, asked);
  const told = valueIn(live);
  if (told !== null) await keepSeen(ports.store, chain, address, live, told, asked.now());
  const fresh = told === null ? NOTHING_SEEN : told;
  const held = await heldOf(ports, chain, address, fresh, asked.now());
  const runs = told === null || told.runs.length === 0 ? notRun(chain, live) : told.runs;
  return {
    entity: ports.store.covered(held, live),
    runs: coveredRuns(ports.store, held, runs),
    live,
  };
}

/** The findings of an examination that was not made. */
export const NOTHING_SEEN: Pick<Examined, 'ties' | 'services'> = { ties: [], services: [] };

function notRun(chain: ChainName, live: Partly<unknown, never>): HeuristicRun[] {
  return heuristicsOn(chain).map((heuristic) => ({ heuristic, ran: live }));
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

async function keepSeen(
  store: ClusterStore,
  chain: ChainName,
  address: string,
  live: Partly<Examined, ExaminationPort>,
  { ties, services }: Examined,
  read_at: number,
): Promise<void> {
  const reason = live instanceof Read ? null : live.why.reason;
  const examinations = [{ address, whole: live instanceof Read, read_at, reason }];
  // A store that does not take it is silent when it is asked below, and says so there.
  await store.keep(chain, { ties, services, examinations });
}

/** The entity that the store holds, with the ties just seen; noted at `noteAt`, if at all. */
export async function heldOf(
  { store, labels }: Pick<EntityPorts, 'store' | 'labels'>,
  chain: ChainName,
  address: string,
  fresh: Pick<Examined, 'ties' | 'services'>,
  noteAt: number | null,
): Promise<Partly<Entity, HeldPort>> {
  const tied = await store.tiedTo(chain, [address], TIED_LIMITS);
  const ties = valueIn(tied);
  if (ties === null || tied instanceof Unread) return silentAs('held_ties', tied);
  const all = [...ties.ties, ...fresh.ties.filter((one) => !isAmong(one, ties.ties))];
  const everyone = [...new Set([address, ...everyoneIn(all)])];
  const names = await labels.lookUp(everyone);
  const marks = await store.servicesAmong(chain, everyone);
  if (names instanceof Unread) return silentAs('exchange_labels', names);
  if (marks instanceof Unread) return silentAs('held_ties', marks);
  const named = namedIn(names.value);
  const bars = barsOf(marks.value, ties.reused, fresh, named);
  const cluster = clusterIn(all, bars, address);
  const way =
    cluster === null
      ? map(marks, () => [])
      : await settleCluster(store, chain, cluster, tied, noteAt);
  return map(both({ tied, names, marks, way }), (read) => ({
    chain,
    address,
    cluster,
    confidence: confidenceOf(address, cluster === null ? [] : cluster.items),
    merges: cluster === null ? [] : mergesOf(cluster),
    givenWay: read.way,
    labels: (cluster === null ? [address] : cluster.members).flatMap((one) => named.labelsOf(one)),
  }));
}

/** Notes the cluster as it is shown; not one that was cut, since its id may be a part's. */
async function settleCluster(
  store: ClusterStore,
  chain: ChainName,
  cluster: Cluster,
  tied: Partly<Tied, HeldTiesPort>,
  noteAt: number | null,
) {
  const isCut = tied instanceof Part && tied.why.code === 'cluster_cut';
  if (noteAt !== null && !isCut) await store.settle(chain, [cluster], noteAt);
  return store.givenWay(chain, cluster.cluster_id);
}

function isAmong(tie: Tie, ties: readonly Tie[]): boolean {
  return ties.some(
    ({ heuristic, key, address, tx }) =>
      heuristic === tie.heuristic && key === tie.key && address === tie.address && tx === tie.tx,
  );
}

function everyoneIn(ties: readonly Tie[]): string[] {
  const met = new Set<string>();
  for (const { address, key, rests_on, heuristic } of ties) {
    met.add(address);
    if (heuristic === 'multi_input' || heuristic === 'change') continue;
    met.add(key);
    if (rests_on !== null) met.add(rests_on);
  }
  return [...met];
}

function barsOf(
  services: ReadonlySet<string>,
  reused: ReadonlySet<string>,
  fresh: Pick<Examined, 'services'>,
  named: ReturnType<typeof namedIn>,
): Bars {
  const marked = [...fresh.services, ...named.services].map(({ address }) => address);
  return {
    services: new Set([...services, ...marked]),
    exchanges: named.exchanges,
    reused,
  };
}

function clusterIn(ties: readonly Tie[], bars: Bars, address: string): Cluster | null {
  const forest = clusterForest();
  forest.add(evidenceOf(ties, bars));
  return forest.clusterOf(address);
}

// Bitcoin has no accounts to read live: blocks are imported, and what they tie is held.
async function onBitcoin(
  ports: EntityPorts,
  address: string,
  asked: ExaminationAsked,
): Promise<EntityAnswer> {
  const [held, runs] = await Promise.all([
    heldOf(ports, 'bitcoin', address, NOTHING_SEEN, asked.now()),
    blockRuns(ports.store, address, asked),
  ]);
  const silence = why('not_walked_kind', { kind: 'bitcoin' });
  const live = unread<ExaminationPort>('transfer_history', silence);
  return {
    entity: ports.store.covered(held, leastIn(runs)),
    runs: coveredRuns(ports.store, held, runs),
    live,
  };
}

function silentAs(port: HeldPort, reading: Partly<unknown, never>): Unread<HeldPort> {
  if (reading instanceof Read) throw new Error('entity: a reading has no value');
  return unread<HeldPort>(port, reading.why);
}

function valueIn<T>(reading: Partly<T, never>): T | null {
  const value = seen(map(reading, (one) => [one]));
  return value === null ? null : value[0];
}

/** The evidence of a cluster with the subject's own first. */
export function evidenceFor(address: string, { items }: Cluster): readonly EvidenceItem[] {
  const own = items.filter(({ addresses }) => addresses.includes(address));
  return [...own, ...items.filter((one) => !own.includes(one))];
}
