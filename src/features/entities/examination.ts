// Every heuristic says for itself whether it came to its end, and why not. A service is named and
// left alone: it links nobody. Poisoning and spam, by the walk's rule, never tie.

import { type ChainName, isEvmChain } from '../../chain/chain.ts';
import { listFrom } from '../../evidence/measure.ts';
import {
  both,
  map,
  type Partly,
  Read,
  seen,
  Unread,
  unread,
  weaken,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ChainFacts } from '../../ports/accounts/chain-facts.ts';
import type {
  ContractCreations,
  ContractCreationsPort,
} from '../../ports/accounts/contract-creations.ts';
import type {
  HeldTie,
  Heuristic,
  Judged,
  Objection,
  ServiceMark,
  Tie,
} from '../../ports/entities/cluster-store.ts';
import type { TransferHistory, TransferHistoryPort } from '../../ports/history/transfer-history.ts';
import type { ExchangeLabels, ExchangeLabelsPort } from '../../ports/labels/exchange-labels.ts';
import { keptTransfers } from '../deposits/activity.ts';
import { type AddressHistory, addressHistory } from '../history/address-history.ts';
import { type Named, namedIn } from '../tables/service-wallets.ts';
import { type Bars, stands } from './evidence.ts';
import {
  deployerTies,
  depositsFound,
  type Found,
  fundingFound,
  lockstepFound,
  readAhead,
  type Scene,
  valueIn,
} from './neighbours.ts';
import { objectionText } from './statements.ts';
import { earlier, SERVICE_DEGREE } from './ties.ts';

/** The most transfers of the subject and of each neighbour. */
const ROWS_MAX = 2_000;

/** How far one heuristic came: what it read is whole, a part, or unread with the reason. */
export type HeuristicRun = { readonly heuristic: Heuristic; readonly ran: Partly<unknown, never> };

/** The findings of an examination. */
export type Examined = {
  readonly ties: readonly Tie[];
  readonly objections: readonly Objection[];
  /** What is said anew here, in place of what was held of the same. */
  readonly judged: readonly Judged[];
  readonly services: readonly ServiceMark[];
  readonly runs: readonly HeuristicRun[];
  /** Transfers of the subject that the walk's rule leaves out, by rule. */
  readonly leftOut: { readonly zero_value: number; readonly no_market_token: number };
};

/** The ports of an examination. */
export type ExaminationPorts = {
  readonly labels: ExchangeLabels;
  readonly history: TransferHistory;
  readonly creations: ContractCreations;
  readonly facts: ChainFacts;
};
export type ExaminationPort = TransferHistoryPort | ExchangeLabelsPort;
export type ExaminationAsked = {
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly tipMaxAgeS: number;
};

/** Examines an address of a chain that has accounts. Whole where every heuristic was. */
export async function examine(
  ports: ExaminationPorts,
  chain: ChainName,
  address: string,
  { signal }: ExaminationAsked,
): Promise<Partly<Examined, ExaminationPort>> {
  const asked = { chains: [chain], rowsMax: ROWS_MAX, signal };
  const reading = await addressHistory(ports.history, address, asked);
  const own = valueIn(reading);
  if (own === null) return silentAs('transfer_history', reading);
  const { kept, left } = keptTransfers(address, own.transfers);
  const labels = await ports.labels.lookUp([address, ...othersIn(own)]);
  if (labels instanceof Unread) return silentAs('exchange_labels', labels);
  const named = namedIn(labels.value);
  const leftOut = { zero_value: 0, no_market_token: 0 };
  for (const one of left) leftOut[one.why] += 1;
  const rests = both({ reading, labels });
  const service = serviceOf(own, named);
  if (service !== null) {
    const alone = { ...NOTHING_SEEN, services: [service], runs: [], leftOut };
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
  const made = await createdAround(ports, chain, address, signal);
  return concluded(scene, found, made, rests, leftOut);
}

/** The findings of an examination that was not made. */
export const NOTHING_SEEN = {
  ties: [],
  objections: [],
  judged: [],
  services: [],
} as const satisfies Partial<Examined>;

function concluded(
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
      const value = valueIn(one);
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

function silentAs(port: ExaminationPort, reading: Partly<unknown, never>): Unread<ExaminationPort> {
  if (reading instanceof Read) throw new Error('examination: a reading has no value');
  return unread<ExaminationPort>(port, reading.why);
}

function serviceOf({ address, degree }: AddressHistory, named: Named): ServiceMark | null {
  if (named.isService(address)) return { address, why: 'label' };
  return degree > SERVICE_DEGREE ? { address, why: 'degree' } : null;
}

function othersIn({ address, transfers }: AddressHistory): string[] {
  return [...new Set(transfers.map(({ from, to }) => (from === address ? to : from)))];
}

type Created = {
  readonly ties: readonly Tie[];
  readonly judged: readonly Judged[];
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
  if (!isEvmChain(chain)) return { ties: [], judged: [], runs: [], reading: null };
  const reading = await creations.around(chain, address, signal);
  const found = seen(map(reading, (one) => [one]));
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

// It is shown beside the evidence, for whoever weighs it; it takes no link away by itself.

/** An item against a link, with the addresses that it names. */
export type AgainstItem = {
  readonly kind: Objection['kind'];
  readonly addresses: readonly string[];
  /** The transaction or the address that it is about. */
  readonly through: string;
  readonly transactions: readonly string[];
  /** Unix seconds of the earliest. */
  readonly at: number;
  readonly statement: string;
};

/** The members with whom an address is compared for accounts of their own. */
const COMPARED_MAX = 100;

/** What is held against links of these members; items that name the address come first. */
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
  for (const one of all) {
    const name = JSON.stringify([one.kind, one.key]);
    const list = byName.get(name);
    if (list === undefined) byName.set(name, [one]);
    else list.push(one);
  }
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
