// Computes the entity of an address after every member was examined as well. Each member leads to
// the next, so the answer does not depend on the first address. One answer examines a bounded
// number; unexamined members make it a part.

import { type ChainName, isEvmChain } from '../../chain/chain.ts';
import { collect, listFrom, listOrNone } from '../../evidence/measure.ts';
import {
  both,
  map,
  Part,
  type Partly,
  Read,
  rowsSeen,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ContractCreations, ContractCreationsPort } from '../../ports/accounts.ts';
import type {
  ClusterStore,
  Examination,
  FormerCluster,
  HeldTie,
  HeldTiesPort,
  Heuristic,
  Judged,
  Objection,
  SeenTies,
  ServiceMark,
  Tie,
} from '../../ports/entities.ts';
import type { TransferHistoryPort } from '../../ports/history.ts';
import type { ExchangeLabel, ExchangeLabelsPort } from '../../ports/tables.ts';
import { keptTransfers } from '../deposits/activity.ts';
import type { DepositsPorts } from '../deposits/around.ts';
import { type AddressHistory, addressHistory, readOnce } from '../history/address-history.ts';
import { type LabelledNames, namesInLabels } from '../tables/labels.ts';
import {
  type Bars,
  type Cluster,
  type Confidence,
  clusterForest,
  confidenceOf,
  earlier,
  evidenceFrom,
  type Merge,
  mergesOf,
  objectionText,
  SERVICE_DEGREE,
  stands,
  TIED_LIMITS,
} from './evidence.ts';
import {
  deployerTies,
  depositsFound,
  type Found,
  fundingFound,
  historyAsRead,
  lockstepFound,
  readAhead,
  type Scene,
} from './neighbours.ts';
import type { AgainstItem } from './shapes.ts';

export type EntityPorts = ExaminationPorts & { readonly entityTies: ClusterStore };

const MEMBERS_EXAMINED_MAX = 10;

type Live = Partly<Examined, ExaminationPort>;

/** An entity, and what was examined for it. */
export type Closure = {
  readonly held: Partly<HeldEntity, HeldPort>;
  /** The address's own examination. */
  readonly live: Live;
  /** Why the entity may have more members; `null` where each was examined to its end. */
  readonly open: Why | null;
  /** The same for one heuristic. */
  readonly openFor: (heuristic: Heuristic) => Why | null;
};

/** Examines an address, and its members until no new one is found. */
export async function closureOf(
  ports: EntityPorts,
  chain: ChainName,
  address: string,
  asked: ExaminationRequest,
): Promise<Closure> {
  const now = asked.now();
  const once = { ...ports, transferHistory: readOnce(ports.transferHistory) };
  const examined = new Map<string, Live>();
  let fresh = NOTHING_FRESH;
  const look = async (one: string): Promise<Live> => {
    const live = await examine(once, chain, one, asked);
    examined.set(one, live);
    fresh = withMore(fresh, live);
    await keep(ports.entityTies, chain, one, live, now);
    return live;
  };
  const live = await look(address);
  const faults: Why[] = [];
  const step = async () => {
    const held = await readEntity(ports, { chain, address, now, fresh });
    if (!(held instanceof Read)) faults.push(held.why);
    return { held, next: openIn(held, examined, asked) };
  };
  let { held, next } = await step();
  while (next.length > 0 && examined.size <= MEMBERS_EXAMINED_MAX) {
    for (const one of next.slice(0, MEMBERS_EXAMINED_MAX + 1 - examined.size)) await look(one);
    ({ held, next } = await step());
  }
  const reasonsFor = (count: number) => {
    return count === 0 ? [] : [why('members_not_examined', { count: String(count) })];
  };
  const others = [...examined].filter(([one, made]) => one !== address && !isService(made));
  const countOf = (isDone: (made: Live) => boolean) =>
    others.filter(([, made]) => !isDone(made)).length + next.length;
  return {
    live,
    held: await keepMerges(ports.entityTies, held, now),
    open: firstOf([...faults, ...reasonsFor(countOf((made) => made instanceof Read))]),
    openFor: (heuristic) =>
      firstOf([...faults, ...reasonsFor(countOf((made) => ranOf(made, heuristic)))]),
  };
}

function firstOf(whys: readonly Why[]): Why | null {
  const [first] = whys;
  return first === undefined ? null : first;
}

/** A hub among those met links nobody, and nothing more is asked of it. */
function isService(live: Live): boolean {
  return !(live instanceof Read) && live.why.code === 'entity_service';
}

function ranOf(live: Live, heuristic: Heuristic): boolean {
  const runs = listFrom(rowsSeen(map(live, (one) => one.runs)), (told) => told);
  return runs.some((one) => one.heuristic === heuristic && one.ran instanceof Read);
}

function openIn(
  held: Partly<HeldEntity, HeldPort>,
  examined: ReadonlyMap<string, Live>,
  { now, tipMaxAgeS }: ExaminationRequest,
): string[] {
  const known = rowsSeen(map(held, (one) => [one.examinations]));
  return listOrNone(
    rowsSeen(map(held, (one) => (one.cluster === null ? [] : one.cluster.members))),
  ).filter((member) => {
    if (examined.has(member)) return false;
    const last = known === null ? undefined : known[0].get(member);
    return last === undefined || !last.whole || now() - last.read_at >= tipMaxAgeS;
  });
}

/** A new judgement replaces the earlier one of the same subject. */
function withMore(fresh: Fresh, live: Live): Fresh {
  const told = rowsSeen(map(live, (one) => [one]));
  if (told === null) return fresh;
  const [{ ties, objections, judged, services }] = told;
  const before = fresh.ties.filter((tie) => !judged.some((one) => isUnder(tie, one)));
  return {
    ties: [...before, ...ties],
    objections: [...fresh.objections, ...objections],
    judged: [...fresh.judged, ...judged],
    services: [...fresh.services, ...services],
  };
}

async function keep(
  store: ClusterStore,
  chain: ChainName,
  address: string,
  live: Live,
  read_at: number,
): Promise<void> {
  const told = rowsSeen(map(live, (one) => [one]));
  if (told === null) return;
  const [{ ties, objections, judged, services }] = told;
  const reason = live instanceof Read ? null : live.why.reason;
  const examinations = [{ address, whole: live instanceof Read, read_at, reason }];
  // A store that does not take it is silent when it is asked next, and says so there.
  await store.keep(chain, { ties, objections, judged, services, examinations }, read_at);
}

/** A reading as far as it and what else it needs came. */
export function asFarAs<T, P extends string>(ran: Partly<T, P>, open: Why | null): Partly<T, P> {
  return open === null ? ran : weaken(ran, open);
}

// Every heuristic says for itself whether it came to its end, and why not. A service is named and
// left alone: it links nobody. Poisoning and spam, by the walk's rule, never tie.

const ROWS_MAX = 2_000;

/** How far one heuristic came: what it read is whole, a part, or unread with the reason. */
export type HeuristicRun = { readonly heuristic: Heuristic; readonly ran: Partly<unknown, never> };

/** The findings of an examination. */
export type Examined = {
  readonly ties: readonly Tie[];
  readonly objections: readonly Objection[];
  /** The new judgements, which replace stored ones of the same subject. */
  readonly judged: readonly Judged[];
  readonly services: readonly ServiceMark[];
  readonly runs: readonly HeuristicRun[];
  /** Transfers of the subject that the walk's rule leaves out, by rule. */
  readonly leftOut: { readonly zero_value: number; readonly no_market_token: number };
};

export type ExaminationPorts = DepositsPorts & { readonly contractCreations: ContractCreations };
export type ExaminationPort = TransferHistoryPort | ExchangeLabelsPort;
export type ExaminationRequest = {
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly tipMaxAgeS: number;
};

/** Examines an address of a chain that has accounts. Whole where every heuristic was. */
export async function examine(
  ports: ExaminationPorts,
  chain: ChainName,
  address: string,
  { signal }: ExaminationRequest,
): Promise<Partly<Examined, ExaminationPort>> {
  const asked = { chains: [chain], rowsMax: ROWS_MAX, signal };
  const reading = await addressHistory(ports.transferHistory, address, asked);
  const own = historyAsRead(reading);
  if (own === null) return silentAs<ExaminationPort>('transfer_history', reading);
  const { kept, left } = keptTransfers(address, own.transfers);
  const labels = await ports.exchangeLabels.lookUp([
    address,
    ...[...new Set(own.transfers.map(({ from, to }) => (from === own.address ? to : from)))],
  ]);
  if (labels instanceof Unread) return silentAs<ExaminationPort>('exchange_labels', labels);
  const named = namesInLabels(labels.value);
  const leftOut = { zero_value: 0, no_market_token: 0 };
  for (const one of left) leftOut[one.why] += 1;
  const rests = both({ reading, labels });
  const service = serviceOf(own, named);
  if (service !== null) {
    const alone = { ...NOTHING_FRESH, services: [service], runs: [], leftOut };
    return weaken(
      map(rests, (): Examined => alone),
      why('entity_service'),
    );
  }
  const scene: Scene = { chain, reading, own, kept, named, asked };
  await readAhead(scene, ports);
  const found = {
    deposit_reuse: await depositsFound(scene, ports),
    shared_funder: await fundingFound(scene, ports),
    lockstep: await lockstepFound(scene, ports),
  };
  const made = await readCreations(ports, chain, address, signal);
  return conclude(scene, found, made, rests, leftOut);
}

function conclude(
  { named }: Scene,
  found: { readonly [H in 'deposit_reuse' | 'shared_funder' | 'lockstep']: Found },
  made: Created,
  reading: Partly<unknown, ExaminationPort>,
  leftOut: Examined['leftOut'],
): Partly<Examined, ExaminationPort> {
  const { deposit_reuse, shared_funder, lockstep } = found;
  const each = [deposit_reuse, shared_funder, lockstep];
  const runs: HeuristicRun[] = [
    { heuristic: 'deposit_reuse', ran: deposit_reuse.ran },
    { heuristic: 'shared_funder', ran: shared_funder.ran },
    { heuristic: 'lockstep', ran: lockstep.ran },
    ...made.runs,
  ];
  const services = new Map<string, ServiceMark>();
  for (const { histories } of each) {
    for (const one of histories.values()) {
      const value = historyAsRead(one);
      const mark = value === null ? null : serviceOf(value, named);
      if (mark !== null) services.set(mark.address, mark);
    }
  }
  const rests = made.reading === null ? reading : both({ reading, made: made.reading });
  const told = map(rests, (): Examined => {
    return {
      runs,
      leftOut,
      ties: [...each.flatMap(({ ties }) => ties), ...made.ties],
      objections: each.flatMap(({ objections }) => objections),
      judged: [...each.flatMap(({ judged }) => judged), ...made.judged],
      services: [...services.values(), ...named.services],
    };
  });
  const cut = runs.find(({ ran }) => !(ran instanceof Read));
  return cut === undefined || cut.ran instanceof Read ? told : weaken(told, cut.ran.why);
}

function silentAs<P extends string>(port: P, reading: Partly<unknown, never>): Unread<P> {
  if (reading instanceof Read) throw new Error('entity: a reading has no value');
  return unread(port, reading.why);
}

function serviceOf({ address, degree }: AddressHistory, named: LabelledNames): ServiceMark | null {
  if (named.isService(address)) return { address, why: 'label' };
  return degree > SERVICE_DEGREE ? { address, why: 'degree' } : null;
}

type Created = {
  readonly ties: readonly Tie[];
  readonly judged: readonly Judged[];
  readonly runs: readonly HeuristicRun[];
  /** `null` where there was nothing to ask, or nothing was answered. */
  readonly reading: Exclude<Partly<unknown, ContractCreationsPort>, Unread<never>> | null;
};

/** Contracts are made on EVM chains alone; elsewhere there is nothing to ask. */
async function readCreations(
  { contractCreations }: ExaminationPorts,
  chain: ChainName,
  address: string,
  signal: AbortSignal,
): Promise<Created> {
  if (!isEvmChain(chain)) return { ties: [], judged: [], runs: [], reading: null };
  const reading = await contractCreations.around(chain, address, signal);
  const found = rowsSeen(map(reading, (one) => [one]));
  const runs = [{ heuristic: 'same_deployer', ran: reading } as const];
  if (reading instanceof Unread || found === null) {
    return { ties: [], judged: [], runs, reading: null };
  }
  const [made] = found;
  const keys = new Set([
    address,
    ...made.flatMap(({ signer }) => (signer === null ? [] : [signer])),
  ]);
  const judged = [...keys]
    .filter(() => reading instanceof Read)
    .map((key): Judged => ({ heuristic: 'same_deployer', key }));
  return { ties: deployerTies(made, reading instanceof Read), judged, runs, reading };
}

// Evidence against a link stands beside the evidence for it; by itself it removes no link.

const COMPARED_MAX = 100;

/** The evidence against links of these members; items that name the address come first. */
export function againstOf(
  address: string,
  members: readonly string[],
  objections: readonly Objection[],
  ties: readonly HeldTie[],
  bars: Bars,
): AgainstItem[] {
  const own = objections.filter((one) => members.includes(one.address));
  const all = [...own, ...separateAccounts(address, members, ties, bars)];
  const byName = new Map<string, Objection[]>();
  for (const one of all) collect(byName, JSON.stringify([one.kind, one.key]), one);
  const items = [...byName.values()].flatMap(itemFrom);
  return items.sort(
    (a, b) =>
      Number(b.addresses.includes(address)) - Number(a.addresses.includes(address)) ||
      a.at - b.at ||
      (a.through < b.through ? -1 : 1),
  );
}

function itemFrom(group: readonly Objection[]): readonly AgainstItem[] {
  const sorted = [...group].sort(earlier);
  return listFrom(sorted[0], (first) => {
    const addresses = [...new Set(sorted.map((one) => one.address))].sort();
    const { kind, key, at } = first;
    return [
      {
        kind,
        addresses,
        at,
        through: key,
        transactions: [...new Set(sorted.map(({ tx }) => tx))],
        statement: objectionText(first, addresses.length),
      },
    ];
  });
}

/** Members who pay into deposit addresses of their own, none of which the address uses. */
function separateAccounts(
  address: string,
  members: readonly string[],
  ties: readonly HeldTie[],
  bars: Bars,
): Objection[] {
  const uses = ties
    .filter((one) => one.heuristic === 'deposit_reuse' && one.address !== one.key)
    .filter((one) => stands(one, bars))
    .sort((a, b) => earlier(a, b) || (a.key < b.key ? -1 : 1));
  const own = uses.filter((one) => one.address === address);
  const accounts = new Set(own.map(({ key }) => key));
  return members.slice(0, COMPARED_MAX).flatMap((member) => {
    const theirs = uses.filter((one) => one.address === member && member !== address);
    const pair = [...own.slice(0, 1), ...theirs.slice(0, 1)];
    if (pair.length < 2 || theirs.some(({ key }) => accounts.has(key))) return [];
    const detail = pair.map((one) => `${nameOf(one, bars)} (${one.key})`).join(' and ');
    return pair.map((one): Objection => {
      const { chain, tx, block, at } = one;
      const key = [address, member].sort().join(' ');
      return { chain, kind: 'separate_accounts', key, address: one.address, tx, block, at, detail };
    });
  });
}

function nameOf({ rests_on, key }: HeldTie, { exchanges }: Bars): string {
  const name = rests_on === null ? undefined : exchanges.get(rests_on);
  return name === undefined ? key : name;
}

export type HeldPort = HeldTiesPort | ExchangeLabelsPort;

/** The findings that count beside what is held, and in place of it where they judge the same. */
export type Fresh = Pick<SeenTies, 'ties' | 'objections' | 'judged' | 'services'>;

/** Nothing was looked at beside what is held. */
export const NOTHING_FRESH: Fresh = { ties: [], objections: [], judged: [], services: [] };

/** The answer about one address. */
export type HeldEntity = Confidence & {
  readonly chain: ChainName;
  readonly address: string;
  /** `null` where no evidence that stands names it. */
  readonly cluster: Cluster | null;
  readonly merges: readonly Merge[];
  /** Ids that were shown and gave way since, the newest first. */
  readonly givenWay: readonly FormerCluster[];
  /** Labels of its members, its own included. */
  readonly labels: readonly ExchangeLabel[];
  /** Evidence against links of its members; items that name the address come first. */
  readonly against: readonly AgainstItem[];
  /** The last examinations of its members, as far as there were any. */
  readonly examinations: ReadonlyMap<string, Examination>;
};

type EntityRequest = {
  readonly chain: ChainName;
  readonly address: string;
  readonly fresh: Fresh;
  /** Unix seconds at which what was just seen was judged. */
  readonly now: number;
};

/** The entity that the store holds, with what was just seen. */
export async function readEntity(
  { entityTies, exchangeLabels }: Pick<EntityPorts, 'entityTies' | 'exchangeLabels'>,
  { chain, address, fresh, now }: EntityRequest,
): Promise<Partly<HeldEntity, HeldPort>> {
  const tied = await entityTies.tiedTo(chain, [address], TIED_LIMITS);
  const known = rowsSeen(map(tied, (one) => [one]));
  if (known === null || tied instanceof Unread) return silentAs<HeldPort>('held_ties', tied);
  const [held] = known;
  const ties = [
    ...held.ties.filter((one) => !fresh.judged.some((judged) => isUnder(one, judged))),
    ...fresh.ties.map((one): HeldTie => ({ ...one, judged_at: now })),
  ];
  const everyone = [...new Set([address, ...everyoneIn(ties)])];
  const names = await exchangeLabels.lookUp(everyone);
  const marks = await entityTies.servicesAmong(chain, everyone);
  if (names instanceof Unread) return silentAs<HeldPort>('exchange_labels', names);
  if (marks instanceof Unread) return silentAs<HeldPort>('held_ties', marks);
  const named = namesInLabels(names.value);
  const marked = [...fresh.services, ...named.services].map((one) => one.address);
  const bars: Bars = {
    services: new Set([...marks.value, ...marked]),
    exchanges: named.exchanges,
    reused: held.reused,
  };
  const forest = clusterForest();
  forest.add(evidenceFrom(ties, bars));
  const cluster = forest.clusterOf(address);
  const members = cluster === null ? [address] : cluster.members;
  const objections = [...held.objections, ...fresh.objections];
  return map(both({ tied, names, marks }), () => ({
    chain,
    address,
    cluster,
    ...confidenceOf(address, cluster === null ? [] : cluster.items),
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
export async function keepMerges(
  store: ClusterStore,
  held: Partly<HeldEntity, HeldPort>,
  now: number,
): Promise<Partly<HeldEntity, HeldPort>> {
  const known = rowsSeen(map(held, (one) => [one]));
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
