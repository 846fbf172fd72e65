// What ties an address to others, by its own history and that of a bounded number of neighbours?
// Every heuristic says for itself whether it came to its end, and why not. A service is named and
// left alone: it links nobody. Poisoning and spam, by the walk's rule, never tie.

import { type ChainName, isEvmChain } from '../../chain/chain.ts';
import { collect, heldUnder, listFrom, present } from '../../evidence/measure.ts';
import {
  all,
  both,
  map,
  Part,
  type Partly,
  Read,
  seen,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  ContractCreations,
  ContractCreationsPort,
} from '../../ports/accounts/contract-creations.ts';
import type { Heuristic, ServiceMark, Tie } from '../../ports/entities/cluster-store.ts';
import type {
  HistoryTransfer,
  TransferHistory,
  TransferHistoryPort,
} from '../../ports/history/transfer-history.ts';
import type {
  ExchangeLabels,
  ExchangeLabelsPort,
  LabelLookUp,
} from '../../ports/labels/exchange-labels.ts';
import { keptTransfers } from '../deposits/activity.ts';
import { candidatesOf, movementOf } from '../deposits/around.ts';
import { inferDeposit, type KnownExchanges, OWN_RULE } from '../deposits/inference.ts';
import {
  type AddressHistory,
  addressHistories,
  addressHistory,
  everyoneIn,
} from '../history/address-history.ts';
import { type Named, namedIn } from '../tables/service-wallets.ts';
import { deployerTies } from './deployers.ts';
import { type DepositUse, depositTies } from './deposits.ts';
import { type FirstFunding, firstFunding, funderTies } from './funders.ts';
import { lockstepTies } from './lockstep.ts';
import { FUNDED_MAX, FUNDING_WINDOW_S, SERVICE_DEGREE } from './ties.ts';

/** How many of the addresses that a subject pays are read as deposit addresses. */
const DEPOSITS_READ_MAX = 20;
/** How many of those with whom it deals both ways are read as its like. */
const PARTNERS_READ_MAX = 10;
/** The most transfers of the subject and of each neighbour. */
const ROWS_MAX = 2_000;

/** How far one heuristic came: what it read is whole, a part, or unread with the reason. */
export type HeuristicRun = { readonly heuristic: Heuristic; readonly ran: Partly<unknown, never> };

/** The findings of an examination. */
export type Examined = {
  readonly ties: readonly Tie[];
  readonly services: readonly ServiceMark[];
  readonly runs: readonly HeuristicRun[];
  /** Transfers of the subject that the walk's rule leaves out, by rule. */
  readonly leftOut: { readonly zero_value: number; readonly no_market_token: number };
};

/** The ports of an examination. `creations`: `null` where this deployment holds none. */
export type ExaminationPorts = {
  readonly labels: ExchangeLabels;
  readonly history: TransferHistory;
  readonly creations: ContractCreations;
};
export type ExaminationPort = TransferHistoryPort | ExchangeLabelsPort;
export type ExaminationAsked = {
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly tipMaxAgeS: number;
};

type History = Partly<AddressHistory, TransferHistoryPort>;
type Scene = {
  readonly chain: ChainName;
  readonly own: AddressHistory;
  readonly kept: readonly HistoryTransfer[];
  readonly named: Named;
  /** Everyone whose history was asked for. */
  readonly histories: ReadonlyMap<string, History>;
};

/** Examines an address of a chain that has accounts. Whole where every heuristic was. */
export async function examine(
  ports: ExaminationPorts,
  chain: ChainName,
  address: string,
  asked: ExaminationAsked,
): Promise<Partly<Examined, ExaminationPort>> {
  const limits = { ...asked, chains: [chain], rowsMax: ROWS_MAX };
  const reading = await addressHistory(ports.history, address, limits);
  const own = valueIn(reading);
  if (own === null) return silentAs('transfer_history', reading);
  const { kept, left } = keptTransfers(address, own.transfers);
  const labels = await ports.labels.lookUp([address, ...othersIn(address, kept)]);
  if (labels instanceof Unread) return silentAs('exchange_labels', labels);
  const named = namedIn(labels.value);
  const leftOut = { zero_value: 0, no_market_token: 0 };
  for (const one of left) leftOut[one.why] += 1;
  const service = serviceOf(own, named);
  if (service !== null) {
    const alone: Examined = { ties: [], services: [service], runs: [], leftOut };
    return weaken(
      map(both({ reading, labels }), () => alone),
      why('entity_service'),
    );
  }
  const scene = { chain, own, kept, named, histories: new Map([[address, reading]]) };
  const near = await readNeighbours(scene, ports, limits);
  const made = await createdAround(ports, chain, address, asked.signal);
  return concluded(near, both({ reading, labels }), made, leftOut);
}

function concluded(
  scene: Scene & { readonly runs: readonly HeuristicRun[]; readonly uses: readonly DepositUse[] },
  reading: Partly<unknown, ExaminationPort>,
  made: Created,
  leftOut: Examined['leftOut'],
): Partly<Examined, ExaminationPort> {
  const { chain, own, histories } = scene;
  const all = [...histories.values()].flatMap((one) => {
    const value = valueIn(one);
    return value === null ? [] : [{ value, whole: isUncut(one) }];
  });
  const fundings = all.flatMap(({ value, whole }): FirstFunding[] => {
    const first = whole ? firstFunding(value, chain) : null;
    return first === null ? [] : [first];
  });
  const pairs = all.flatMap(({ value }) =>
    value.address === own.address ? [] : lockstepTies(own, value, chain),
  );
  const ties = [...depositTies(scene.uses), ...funderTies(fundings), ...pairs, ...made.ties];
  const services = all.flatMap(({ value }) => {
    const mark = serviceOf(value, scene.named);
    return mark === null ? [] : [mark];
  });
  const runs = [...scene.runs, ...made.runs];
  const cut = runs.find(({ ran }) => !(ran instanceof Read));
  const rests = made.reading === null ? reading : both({ reading, made: made.reading });
  const told = map(rests, (): Examined => {
    return { ties, services: [...services, ...scene.named.services], runs, leftOut };
  });
  return cut === undefined || cut.ran instanceof Read ? told : weaken(told, cut.ran.why);
}

/** The neighbours that the heuristics need, read in two batches, and how far each of them came. */
async function readNeighbours(
  scene: Scene,
  ports: ExaminationPorts,
  limits: Parameters<typeof addressHistories>[2],
) {
  const { chain, own, kept, named } = scene;
  const { address } = own;
  const first = firstFunding(own, chain);
  const funder = first === null || named.isService(first.funder) ? null : first.funder;
  const paid = candidatesOf(address, kept, named.isLabelled);
  const partners = paid.filter((one) => kept.some((row) => row.from === one));
  const deposits = paid.slice(0, DEPOSITS_READ_MAX);
  const mutual = partners.slice(0, PARTNERS_READ_MAX);
  const wanted = [...new Set([...(funder === null ? [] : [funder]), ...deposits, ...mutual])];
  const near = wanted.length === 0 ? NOBODY : await addressHistories(ports.history, wanted, limits);
  const funded = fundedWith(first, funder === null ? null : valueIn(near.get(funder)), named);
  const more = funded.filter((one) => !near.has(one) && one !== address);
  const far = more.length === 0 ? NOBODY : await addressHistories(ports.history, more, limits);
  const histories = new Map([...scene.histories, ...near, ...far]);
  const receivers = await ports.labels.lookUp(everyoneIn(histories));
  const uses = listFrom(seen(map(receivers, (one) => [one])), ([labels]) =>
    usesIn(chain, histories, labels),
  );
  const ranOn = (asked: readonly string[], isCut: boolean) =>
    ranIn(histories, [address, ...asked], isCut);
  const runs: HeuristicRun[] = [
    {
      heuristic: 'deposit_reuse',
      ran: both({ near: ranOn(deposits, paid.length > DEPOSITS_READ_MAX), receivers }),
    },
    {
      heuristic: 'shared_funder',
      ran: ranOn(funder === null ? [] : [funder, ...funded], funded.length > FUNDED_MAX),
    },
    { heuristic: 'lockstep', ran: ranOn(mutual, partners.length > PARTNERS_READ_MAX) },
  ];
  return { ...scene, histories, uses, runs };
}

const NOBODY: ReadonlyMap<string, History> = new Map();

function silentAs(port: ExaminationPort, reading: Partly<unknown, never>): Unread<ExaminationPort> {
  if (reading instanceof Read) throw new Error('examination: a reading has no value');
  return unread<ExaminationPort>(port, reading.why);
}

function valueIn(reading: History | undefined): AddressHistory | null {
  const value = reading === undefined ? null : seen(map(reading, (one) => [one]));
  return value === null ? null : value[0];
}

/** The reason that a history shows its newest rows only, or not all of them. */
const CUT_CODES: readonly string[] = ['row_cap', 'time_budget', 'call_budget', 'provider_failed'];

/** Whether the oldest rows of a history are surely among those read. */
function isUncut(reading: History): boolean {
  return (
    reading instanceof Read || (reading instanceof Part && !CUT_CODES.includes(reading.why.code))
  );
}

/** Some histories as one reading of nothing but whether they were read. */
function ranIn(
  histories: ReadonlyMap<string, History>,
  addresses: readonly string[],
  isCut: boolean,
): Partly<unknown, TransferHistoryPort> {
  const readings = addresses.flatMap((address) => {
    const reading = histories.get(address);
    return reading === undefined ? [] : [map(reading, () => null)];
  });
  return isCut ? weaken(all(readings), why('neighbours_cut')) : all(readings);
}

function serviceOf({ address, degree }: AddressHistory, named: Named): ServiceMark | null {
  if (named.isService(address)) return { address, why: 'label' };
  return degree > SERVICE_DEGREE ? { address, why: 'degree' } : null;
}

function othersIn(address: string, transfers: readonly HistoryTransfer[]): string[] {
  return [...new Set(transfers.map(({ from, to }) => (from === address ? to : from)))];
}

/** Whom a funder sent coins within the window around a first funding; one over the cap shows it. */
function fundedWith(
  first: FirstFunding | null,
  funder: AddressHistory | null,
  named: Named,
): readonly string[] {
  return listFrom(first, ({ at: then }) =>
    listFrom(funder, ({ address, degree, transfers }) => {
      if (degree > SERVICE_DEGREE) return [];
      const near = transfers.filter(
        ({ from, kind, raw_amount, at }) =>
          from === address &&
          kind !== 'token' &&
          raw_amount > 0n &&
          Math.abs(at - then) <= FUNDING_WINDOW_S,
      );
      const funded = [...new Set(near.map(({ to }) => to))];
      return funded.filter((one) => !named.isService(one)).slice(0, FUNDED_MAX + 1);
    }),
  );
}

/** The uses of those neighbours, and of the subject, that pass coins on as deposit addresses do. */
function usesIn(
  chain: ChainName,
  histories: ReadonlyMap<string, History>,
  labels: LabelLookUp,
): DepositUse[] {
  const { hotWallets, labelled } = namedIn(labels);
  const known: KnownExchanges = { hotWallets, labelled };
  return present([...histories.values()].map(valueIn)).flatMap((value) => {
    if (value.degree > SERVICE_DEGREE) return [];
    const { kept } = keptTransfers(value.address, value.transfers);
    const inferred = inferDeposit(value.address, kept.map(movementOf), known, OWN_RULE);
    if (typeof inferred === 'string') return [];
    const [wallet] = inferred.wallets;
    if (wallet === undefined) throw new Error('examination: a deposit address without a wallet');
    const users = new Set(inferred.forwards.map(({ user }) => user));
    const sent = new Map<string, HistoryTransfer[]>();
    for (const one of kept) if (users.has(one.from)) collect(sent, one.from, one);
    return [...users].map((user) => ({
      chain,
      user,
      deposit: value.address,
      exchange: inferred.exchange,
      wallet,
      transactions: heldUnder(sent, user).filter(({ to }) => to === value.address),
    }));
  });
}

type Created = {
  readonly ties: readonly Tie[];
  readonly runs: readonly HeuristicRun[];
  /** `null` where there was nothing to ask, or nothing was answered. */
  readonly reading: Exclude<Partly<unknown, ContractCreationsPort>, Unread<never>> | null;
};

/** Contracts are made on EVM chains alone; elsewhere there is nothing to ask. */
async function createdAround(
  { creations }: ExaminationPorts,
  chain: ChainName,
  address: string,
  signal: AbortSignal,
): Promise<Created> {
  if (!isEvmChain(chain)) return { ties: [], runs: [], reading: null };
  const reading = await creations.around(chain, address, signal);
  const found = seen(reading);
  const ties = found === null ? [] : deployerTies(found);
  const runs = [{ heuristic: 'same_deployer', ran: reading } as const];
  return { ties, runs, reading: reading instanceof Unread ? null : reading };
}
