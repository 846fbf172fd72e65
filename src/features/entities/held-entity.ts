// Which entity does an address form, by what is held of its ties and what was just seen?
// Which ties stand is decided here, on every answer, by the labels and services of now.

import type { ChainName } from '../../chain/chain.ts';
import { listFrom } from '../../evidence/measure.ts';
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
import type {
  ClusterStore,
  Examination,
  GivenWay,
  HeldTie,
  HeldTiesPort,
  Judged,
  SeenTies,
  Tie,
} from '../../ports/entities/cluster-store.ts';
import type {
  ExchangeLabel,
  ExchangeLabels,
  ExchangeLabelsPort,
} from '../../ports/labels/exchange-labels.ts';
import { namedIn } from '../tables/service-wallets.ts';
import { type Bars, confidenceOf, evidenceOf } from './evidence.ts';
import { type AgainstItem, againstOf } from './examination.ts';
import { type Cluster, clusterForest, type Merge, mergesOf } from './forest.ts';
import { TIED_LIMITS } from './ties.ts';

export type HeldPort = HeldTiesPort | ExchangeLabelsPort;

/** The findings that count beside what is held, and in place of it where they judge the same. */
export type Fresh = Pick<SeenTies, 'ties' | 'objections' | 'judged' | 'services'>;

/** Nothing was looked at beside what is held. */
export const NOTHING_FRESH: Fresh = { ties: [], objections: [], judged: [], services: [] };

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
  /** What speaks against links of its members; those that name the address first. */
  readonly against: readonly AgainstItem[];
  /** The last examinations of its members, as far as there were any. */
  readonly examinations: ReadonlyMap<string, Examination>;
};

type Asked = {
  readonly chain: ChainName;
  readonly address: string;
  readonly fresh: Fresh;
  /** Unix seconds at which what was just seen was judged. */
  readonly now: number;
};

/** The entity that the store holds, with what was just seen. */
export async function heldOf(
  { store, labels }: { readonly store: ClusterStore; readonly labels: ExchangeLabels },
  { chain, address, fresh, now }: Asked,
): Promise<Partly<Entity, HeldPort>> {
  const tied = await store.tiedTo(chain, [address], TIED_LIMITS);
  const known = seen(map(tied, (one) => [one]));
  if (known === null || tied instanceof Unread) return silentAs('held_ties', tied);
  const [held] = known;
  const ties = [
    ...held.ties.filter((one) => !fresh.judged.some((judged) => isUnder(one, judged))),
    ...fresh.ties.map((one): HeldTie => ({ ...one, judged_at: now })),
  ];
  const everyone = [...new Set([address, ...everyoneIn(ties)])];
  const names = await labels.lookUp(everyone);
  const marks = await store.servicesAmong(chain, everyone);
  if (names instanceof Unread) return silentAs('exchange_labels', names);
  if (marks instanceof Unread) return silentAs('held_ties', marks);
  const named = namedIn(names.value);
  const marked = [...fresh.services, ...named.services].map((one) => one.address);
  const bars: Bars = {
    services: new Set([...marks.value, ...marked]),
    exchanges: named.exchanges,
    reused: held.reused,
  };
  const forest = clusterForest();
  forest.add(evidenceOf(ties, bars));
  const cluster = forest.clusterOf(address);
  const members = cluster === null ? [address] : cluster.members;
  const objections = [...held.objections, ...fresh.objections];
  return map(both({ tied, names, marks }), () => ({
    chain,
    address,
    cluster,
    confidence: confidenceOf(address, cluster === null ? [] : cluster.items),
    merges: cluster === null ? [] : mergesOf(cluster),
    givenWay: [],
    labels: members.flatMap((one) => named.labelsOf(one)),
    against: againstOf(address, members, objections, ties, bars),
    examinations: held.examinations,
  }));
}

/** Whether what was judged anew takes the place of a tie. */
export function isUnder(tie: Tie, judged: Judged): boolean {
  if (tie.heuristic !== judged.heuristic) return false;
  return 'key' in judged ? tie.key === judged.key : tie.address === judged.address;
}

/**
 * Notes a cluster as it is shown, and tells which ids gave way to it. One that was cut is not
 * noted, since its id may be a part's.
 */
export async function noted(
  store: ClusterStore,
  held: Partly<Entity, HeldPort>,
  now: number,
): Promise<Partly<Entity, HeldPort>> {
  const known = seen(map(held, (one) => [one]));
  if (known === null) return held;
  const [{ chain, cluster }] = known;
  if (cluster === null) return held;
  const isCut = held instanceof Part && held.why.code === 'cluster_cut';
  if (!isCut) await store.settle(chain, [cluster], now);
  const way = await store.givenWay(chain, cluster.cluster_id);
  return map(both({ held, way }), (read) => ({ ...read.held, givenWay: read.way }));
}

function everyoneIn(ties: readonly Tie[]): string[] {
  const met = new Set<string>();
  for (const { address, key, rests_on, heuristic } of ties) {
    met.add(address);
    if (heuristic === 'multi_input' || heuristic === 'change') continue;
    met.add(key);
    for (const one of listFrom(rests_on, (wallet) => [wallet])) met.add(one);
  }
  return [...met];
}

function silentAs(port: HeldPort, reading: Partly<unknown, never>): Unread<HeldPort> {
  if (reading instanceof Read) throw new Error('entity: a reading has no value');
  return unread<HeldPort>(port, reading.why);
}
