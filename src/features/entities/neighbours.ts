// What do the neighbours of an address show: who funded it, where it deposits, who acts like it?
// Each heuristic says for itself what it judged and whether it came to its end.

import type { ChainName } from '../../chain/chain.ts';
import { listFrom, present } from '../../evidence/measure.ts';
import { all, both, map, type Partly, Read, seen, Unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ChainFacts } from '../../ports/accounts/chain-facts.ts';
import type { Judged, Objection, Tie } from '../../ports/entities/cluster-store.ts';
import type {
  HistoryTransfer,
  TransferHistory,
  TransferHistoryPort,
} from '../../ports/history/transfer-history.ts';
import type { ExchangeLabels } from '../../ports/labels/exchange-labels.ts';
import { candidatesOf, depositsIn } from '../deposits/around.ts';
import {
  type AddressHistory,
  addressHistories,
  type HistoryAsked,
} from '../history/address-history.ts';
import type { Named } from '../tables/service-wallets.ts';
import { depositTies } from './deposits.ts';
import {
  type FirstFunding,
  firstFunding,
  funderObjection,
  funderTies,
  isPayersOwn,
  recipientsOf,
} from './funders.ts';
import { type LockstepPair, lockstepPair, lockstepTies, pairKey } from './lockstep.ts';
import { FUNDING_WINDOW_S } from './ties.ts';

/** How many of the addresses that a subject pays are read as deposit addresses. */
const DEPOSITS_READ_MAX = 20;
/** How many of those with whom it deals both ways are read as its like. */
const PARTNERS_READ_MAX = 10;
/** How many targets of its moments are read, to know how popular they are. */
const TARGETS_READ_MAX = 20;

type History = Partly<AddressHistory, TransferHistoryPort>;
type Histories = ReadonlyMap<string, History>;

/** The findings of one heuristic; `ran`: whether it came to its end, or why not. */
export type Found = {
  readonly ties: readonly Tie[];
  readonly objections: readonly Objection[];
  readonly judged: readonly Judged[];
  readonly ran: Partly<unknown, never>;
  /** What was read for it. */
  readonly histories: Histories;
};

/** The address whose neighbours are looked at. */
export type Scene = {
  readonly chain: ChainName;
  readonly reading: History;
  readonly own: AddressHistory;
  readonly kept: readonly HistoryTransfer[];
  readonly named: Named;
  readonly asked: HistoryAsked;
};
type Ports = {
  readonly labels: ExchangeLabels;
  readonly history: TransferHistory;
  readonly facts: ChainFacts;
};

/**
 * Reads at once those whom every heuristic will ask for: a history that answers each address once
 * (`readOnce`) has them ready then.
 */
export async function readAhead(scene: Scene, ports: Ports): Promise<void> {
  const { own, kept, named, reading, chain, asked } = scene;
  const paid = candidatesOf(own.address, kept, named.isLabelled);
  const first = firstFunding(reading, chain);
  const funder = first !== null && isPayersOwn(first) ? [first.by.from] : [];
  const wanted = [
    ...paid.slice(0, DEPOSITS_READ_MAX),
    ...partnersIn(paid, kept).slice(0, PARTNERS_READ_MAX),
    ...funder.filter((one) => !named.isService(one)),
  ];
  await read([...new Set(wanted)], ports, asked);
}

function partnersIn(paid: readonly string[], kept: readonly HistoryTransfer[]): string[] {
  return paid.filter((one) => kept.some((row) => row.from === one));
}

/** The deposit addresses that the address pays, or is, and who else pays into them. */
export async function depositsFound(scene: Scene, ports: Ports): Promise<Found> {
  const { own, kept, named, reading, asked } = scene;
  const paid = candidatesOf(own.address, kept, named.isLabelled);
  const taken = paid.slice(0, DEPOSITS_READ_MAX);
  const histories = new Map([[own.address, reading], ...(await read(taken, ports, asked))]);
  const inferred = await depositsIn(histories, ports, asked.signal);
  const deposits = listFrom(seen(map(inferred, (found) => [found])), ([found]) => found);
  const ties = deposits.flatMap((one) =>
    listFrom(valueIn(histories.get(one.inferred.address)), (known) => depositTies(one, known)),
  );
  const open = deposits.find(({ externallyOwned }) => externallyOwned === null);
  const ran = cutWhere(paid.length > taken.length, both({ near: allOf(histories), inferred }));
  // What is held is taken back by a whole history alone: one that was cut may just not show it.
  const judged = [...histories]
    .filter(([, one]) => one instanceof Read && inferred instanceof Read)
    .map(([key]): Judged => ({ heuristic: 'deposit_reuse', key }));
  return {
    ties,
    judged,
    histories,
    objections: [],
    ran:
      open === undefined
        ? ran
        : weaken(ran, why('deposit_kind_unknown', { address: open.inferred.address })),
  };
}

/** Who paid the address its first coins, and whom else within a window. */
export async function fundingFound(scene: Scene, ports: Ports): Promise<Found> {
  const { own, chain, reading, named, asked } = scene;
  const alone: Histories = new Map([[own.address, reading]]);
  const judged = [own.address]
    .filter(() => reading instanceof Read)
    .map((address): Judged => ({ heuristic: 'shared_funder', address }));
  const nothing = { ties: [], objections: [], judged, histories: alone, ran: allOf(alone) };
  const first = firstFunding(reading, chain);
  if (first === null) return nothing;
  if (!isPayersOwn(first)) {
    return { ...nothing, objections: [funderObjection(first, 'contract_payer', null)] };
  }
  const funder = first.by.from;
  if (named.isService(funder)) return nothing;
  const near = await read([funder], ports, asked);
  const payer = near.get(funder);
  const recipients = payer === undefined ? null : recipientsOf(payer);
  const histories = new Map([...alone, ...near]);
  if (recipients === null) return { ...nothing, judged: [], histories, ran: allOf(histories) };
  if (recipients.isCrowd) {
    const count = String(recipients.first.size);
    return { ...nothing, histories, objections: [funderObjection(first, 'crowd', count)] };
  }
  const funded = [...recipients.first].flatMap(([one, at]) => {
    const near = Math.abs(at - first.by.at) <= FUNDING_WINDOW_S;
    return near && one !== own.address && !named.isService(one) ? [one] : [];
  });
  const far = await read(funded, ports, asked);
  const began = [...far].flatMap(([, one]): FirstFunding[] => {
    const funding = firstFunding(one, chain);
    return funding !== null && funding.by.from === funder && isPayersOwn(funding) ? [funding] : [];
  });
  const everyone = new Map([...histories, ...far]);
  // Whoever was begun by somebody else is judged when they are examined themselves.
  for (const { funded: address } of began) judged.push({ heuristic: 'shared_funder', address });
  const ties = funderTies([first, ...began]);
  return { ties, judged, objections: [], histories: everyone, ran: allOf(everyone) };
}

/** Who sends to the address and back, and acts like it. */
export async function lockstepFound(scene: Scene, ports: Ports): Promise<Found> {
  const { own, kept, named, reading, chain, asked } = scene;
  const paid = candidatesOf(own.address, kept, named.isLabelled);
  const partners = partnersIn(paid, kept);
  const taken = partners.slice(0, PARTNERS_READ_MAX);
  const near = await read(taken, ports, asked);
  const pairs = present(
    [...near.values()].map((one): LockstepPair | null => {
      const value = valueIn(one);
      return value === null ? null : lockstepPair(own, value, chain);
    }),
  );
  const targets = [...new Set(pairs.flatMap((one) => one.targets))].filter(
    (one) => !named.isLabelled(one),
  );
  const shown = targets.slice(0, TARGETS_READ_MAX);
  const around = await read(shown, ports, asked);
  const histories = new Map([[own.address, reading], ...near, ...around]);
  const isWhole = [...histories.values()].every((one) => one instanceof Read);
  const known = new Map(
    [...around].flatMap(([address, one]) =>
      listFrom(valueIn(one), (value) => [[address, value] as const]),
    ),
  );
  const told = pairs.map((pair) => lockstepTies(pair, known, isWhole));
  const isCut = partners.length > taken.length || targets.length > shown.length;
  return {
    histories,
    ties: told.flatMap(({ ties }) => ties),
    objections: told.flatMap(({ objections }) => objections),
    judged: [...near]
      .filter(([, one]) => one instanceof Read && isWhole)
      .map(([address]): Judged => ({ heuristic: 'lockstep', key: pairKey(own.address, address) })),
    ran: cutWhere(isCut, allOf(histories)),
  };
}

/** The value of a history as far as it was read. */
export function valueIn(reading: History | undefined): AddressHistory | null {
  const value = reading === undefined ? null : seen(map(reading, (one) => [one]));
  return value === null ? null : value[0];
}

async function read(addresses: readonly string[], ports: Ports, asked: HistoryAsked) {
  return addresses.length === 0 ? NOBODY : addressHistories(ports.history, addresses, asked);
}

const NOBODY: Histories = new Map();

/** Some histories as one reading of nothing but whether they were read. */
function allOf(histories: Histories): Partly<unknown, TransferHistoryPort> {
  return all([...histories.values()].map((one) => map(one, () => null)));
}

function cutWhere<P extends string>(isCut: boolean, ran: Partly<unknown, P>): Partly<unknown, P> {
  return isCut && !(ran instanceof Unread) ? weaken(ran, why('neighbours_cut')) : ran;
}
