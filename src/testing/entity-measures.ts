import { collect, listFrom, rowsUnder, tally } from '../evidence/measure.ts';
import { map, rowsSeen } from '../evidence/reading.ts';
import {
  type DepositRule,
  inferDeposits,
  type KnownExchanges,
  type Movement,
} from '../features/deposits/inference.ts';
import { changeTies, inputTies } from '../features/entities/bitcoin.ts';
import { examine } from '../features/entities/closure.ts';
import { type Bars, evidenceFrom } from '../features/entities/evidence.ts';
import type { EvidenceItem } from '../features/entities/shapes.ts';
import type { BitcoinTransaction, HeldTie, Tie, TieForm } from '../ports/entities.ts';
import { accountPopulation } from './account-population.ts';
import { memoryChainFacts, memoryCreations } from './twins/accounts.ts';
import { walkedPorts } from './walked-world.ts';
import { walletPopulation } from './wallet-population.ts';

/** The counts of one form: right links of drawn links. */
export type FormMeasure = { right: number; n: number };

/** Pairs or transactions of one owner that could be joined, and those that were. */
export type Recall = { found: number; of: number };

export type Measures = {
  readonly forms: ReadonlyMap<TieForm, FormMeasure>;
  /** By heuristic. */
  readonly recall: ReadonlyMap<string, Recall>;
};

const JUDGED_AT = 1_790_000_000;
const judgeTies = (ties: readonly Tie[]): HeldTie[] =>
  ties.map((one) => ({ ...one, judged_at: JUDGED_AT }));

/** Of the items of each form: how many name addresses of one owner alone. */
function countsOf(
  items: readonly EvidenceItem[],
  ownerOf: ReadonlyMap<string, number | string>,
): Map<TieForm, FormMeasure> {
  const forms = new Map<TieForm, FormMeasure>();
  for (const { form, addresses } of items) {
    const known = addresses.filter((one) => ownerOf.has(one));
    if (known.length < 2) continue;
    const count = forms.get(form) ?? { right: 0, n: 0 };
    count.n += 1;
    if (new Set(known.map((one) => ownerOf.get(one))).size === 1) count.right += 1;
    forms.set(form, count);
  }
  return forms;
}

/** Multi-input and change on the simulated population of wallets. */
export function walletMeasures(seed: number): Measures {
  const { made, ownerOf } = walletPopulation(seed);
  const paid = new Map<string, number>();
  const ties: Tie[] = [];
  const inputs: Recall = { found: 0, of: 0 };
  const changes: Recall = { found: 0, of: 0 };
  const told: { readonly change: string; readonly by: string | null }[] = [];
  for (const { transaction, change } of made) {
    const spent = inputTies(transaction);
    const own = changeTies(transaction, (address) => !paid.has(address));
    ties.push(...spent, ...own);
    if (isOneOwners(transaction, ownerOf)) {
      inputs.of += 1;
      if (spent.length > 0) inputs.found += 1;
    }
    if (change !== null) {
      const by = own.map(({ rests_on }) => rests_on).find((one) => one !== null);
      told.push({ change, by: by === undefined ? null : by });
    }
    for (const address of new Set(transaction.outputs.map((one) => one.address))) {
      if (address !== null) tally(paid, address);
    }
  }
  const reused = new Set([...paid].filter(([, times]) => times > 1).map(([address]) => address));
  for (const { change, by } of told) {
    changes.of += 1;
    if (by === change && !reused.has(change)) changes.found += 1;
  }
  const bars: Bars = { services: new Set(), exchanges: new Map(), reused };
  return {
    forms: countsOf(evidenceFrom(judgeTies(ties), bars), ownerOf),
    recall: new Map([
      ['multi_input', inputs],
      ['change', changes],
    ]),
  };
}

function isOneOwners(
  { inputs }: BitcoinTransaction,
  ownerOf: ReadonlyMap<string, number>,
): boolean {
  const addresses = new Set(inputs.map(({ address }) => address));
  const owners = new Set([...addresses].map((one) => (one === null ? null : ownerOf.get(one))));
  return addresses.size > 1 && owners.size === 1;
}

/** The heuristics of chains with accounts on the simulated population of accounts. */
export async function accountMeasures(seed: number): Promise<Measures> {
  const { transfers, creations, labels, ownerOf } = accountPopulation(seed);
  const times = transfers.map(({ at }) => at);
  const now = times.reduce((a, b) => Math.max(a, b)) + 600;
  const world = walkedPorts({ now, transfers, listed: [], labels });
  const told = { as_of: now, simulated: false };
  const ports = {
    transferHistory: world.history,
    exchangeLabels: world.labels,
    contractCreations: memoryCreations({ creations, whole: true, ...told }),
    chainFacts: memoryChainFacts({ chains: ['ethereum'], facts: [], ...told }),
  };
  const asked = { now: () => now, signal: new AbortController().signal, tipMaxAgeS: now };
  const ties = new Map<string, Tie>();
  for (const address of ownerOf.keys()) {
    const found = rowsSeen(map(await examine(ports, 'ethereum', address, asked), (one) => [one]));
    for (const tie of listFrom(found, ([one]) => one.ties)) {
      ties.set(JSON.stringify([tie.heuristic, tie.key, tie.address, tie.tx]), tie);
    }
  }
  const exchanges = new Map(labels.map(({ address, entity }) => [address, entity]));
  const bars: Bars = { services: new Set(exchanges.keys()), exchanges, reused: new Set() };
  const items = evidenceFrom(judgeTies([...ties.values()]), bars);
  return { forms: countsOf(items, ownerOf), recall: recallOf(items, ownerOf) };
}

/** Of the pairs of one owner's addresses: how many an item of the heuristic names together. */
function recallOf(
  items: readonly EvidenceItem[],
  ownerOf: ReadonlyMap<string, string>,
): Map<string, Recall> {
  const owned = new Map<string, string[]>();
  for (const [address, owner] of ownerOf) collect(owned, owner, address);
  const pairs = [...owned.values()].reduce(
    (sum, { length }) => sum + (length * (length - 1)) / 2,
    0,
  );
  const joined = new Map<string, Set<string>>();
  for (const { heuristic, addresses } of items) {
    const found = joined.get(heuristic) ?? new Set<string>();
    for (const [i, a] of addresses.entries()) {
      for (const b of addresses.slice(i + 1)) {
        const isOne = ownerOf.has(a) && ownerOf.get(a) === ownerOf.get(b);
        if (isOne) found.add([a, b].sort().join(' '));
      }
    }
    joined.set(heuristic, found);
  }
  return new Map([...joined].map(([name, { size }]) => [name, { found: size, of: pairs }]));
}

/** The share of a network's movements by which deposit addresses are inferred to be held later. */
const EARLIER = 0.8;

/** The figures of a recorded network for deposit addresses, without known owners. */
export type NetworkMeasures = {
  readonly inferred: number;
  readonly shared: number;
  /** Inferred by the earlier part, and whether all that they send later goes to that exchange. */
  readonly later: FormMeasure;
  /** Pairs of payers into one: something else joins them, something parts them, or neither. */
  readonly pairs: { readonly joined: number; readonly parted: number; readonly open: number };
};

/** Deposit addresses by a rule on the movements of a network. */
export function networkMeasures(
  movements: readonly Movement[],
  known: KnownExchanges,
  rule: DepositRule,
): NetworkMeasures {
  const all = inferDeposits(movements, known, rule);
  const usersOf = new Map(
    all.map(({ address, forwards }) => [address, [...new Set(forwards.map(({ user }) => user))]]),
  );
  const exchangeOf = new Map(all.map(({ address, exchange }) => [address, exchange]));
  const accounts = new Map<string, string[]>();
  for (const [address, users] of usersOf) for (const one of users) collect(accounts, one, address);
  const dealt = new Set(movements.map(({ from, to }) => `${from} ${to}`));
  const pairs = { joined: 0, parted: 0, open: 0 };
  for (const [address, users] of usersOf) {
    for (const [i, a] of users.entries()) {
      for (const b of users.slice(i + 1)) {
        const [ofA, ofB] = [a, b].map((one) =>
          rowsUnder(accounts, one).filter((d) => d !== address),
        );
        const both = ofA?.filter((one) => ofB?.includes(one));
        const isJoined =
          dealt.has(`${a} ${b}`) || dealt.has(`${b} ${a}`) || (both?.length ?? 0) > 0;
        const exchange = exchangeOf.get(address);
        const at = (list: readonly string[] | undefined) =>
          list?.some((one) => exchangeOf.get(one) === exchange) === true;
        if (isJoined) pairs.joined += 1;
        else if (at(ofA) && at(ofB)) pairs.parted += 1;
        else pairs.open += 1;
      }
    }
  }
  const shared = [...usersOf.values()].filter(({ length }) => length > 1).length;
  return { inferred: all.length, shared, later: laterOf(movements, known, rule), pairs };
}

function laterOf(
  movements: readonly Movement[],
  known: KnownExchanges,
  rule: DepositRule,
): FormMeasure {
  const times = movements.map(({ when }) => when).sort((a, b) => a - b);
  const middle = times[Math.floor(times.length * EARLIER)];
  if (middle === undefined) throw new Error('measures: a network without movements');
  const later = new Map<string, Movement[]>();
  for (const one of movements) if (one.when > middle) collect(later, one.from, one);
  const early = inferDeposits(
    movements.filter(({ when }) => when <= middle),
    known,
    rule,
  );
  const measure: FormMeasure = { right: 0, n: 0 };
  for (const { address, exchange } of early) {
    const sent = rowsUnder(later, address).filter(({ raw_amount }) => raw_amount > 0n);
    if (sent.length === 0) continue;
    measure.n += 1;
    if (sent.every(({ to }) => known.owners.get(to) === exchange)) measure.right += 1;
  }
  return measure;
}
