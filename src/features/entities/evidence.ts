// Decides which ties stand, and describes each as an item of evidence. Services, addresses over a
// cap, spent change and links by a deleted label do not stand. Each answer decides anew, so a new
// label takes a link back.

import { createHash } from 'node:crypto';
import { isSystemAddress } from '../../chain/address.ts';
import { collect, listFrom, present, rowsUnder } from '../../evidence/measure.ts';
import type { WeightBasis } from '../../evidence/weight.ts';
import type { FormerCluster, HeldTie, Objection, Tie, TiedLimits } from '../../ports/entities.ts';
import { GROUP_OF, linkCalibration } from './calibration.ts';
import type { EvidenceItem } from './shapes.ts';

/** The reasons that keep ties from standing. */
export type Bars = {
  /** The addresses that link nobody: labelled hot and cold wallets, hubs, former ones. */
  readonly services: ReadonlySet<string>;
  /** The wallets that an exchange's label names now, with the exchange's name. */
  readonly exchanges: ReadonlyMap<string, string>;
  /** Bitcoin addresses paid more than once: no one-time change. */
  readonly reused: ReadonlySet<string>;
};

const TRANSACTIONS_SHOWN_MAX = 20;
const ID_CHARS = 24;

/** The evidence that some ties make. The order of the ties changes nothing. */
export function evidenceFrom(ties: readonly HeldTie[], bars: Bars): EvidenceItem[] {
  const groups = new Map<string, HeldTie[]>();
  const crowds = crowdsIn(ties);
  for (const tie of ties) {
    if (stands(tie, bars) && !crowds.has(groupOf(tie)) && !crowds.has(userOf(tie))) {
      collect(groups, groupOf(tie), tie);
    }
  }
  const fundings = firstOfEach(ties);
  const parts = [...groups.values()].flatMap((group) => partsOf(group, fundings));
  return present(parts.map((group) => itemOf(group, bars))).sort(byAge);
}

/** Puts the older item first. */
export function byAge(a: Pick<EvidenceItem, 'at' | 'id'>, b: typeof a): number {
  return a.at - b.at || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function groupOf({ chain, heuristic, key }: HeldTie): string {
  return JSON.stringify([chain, heuristic, key]);
}

function userOf({ chain, heuristic, address }: HeldTie): string {
  return JSON.stringify([chain, heuristic, address, 'user']);
}

// Caps count everything that was ever tied, barred or not: what a label takes away never brings a
// crowd under its cap.
function crowdsIn(ties: readonly HeldTie[]): ReadonlySet<string> {
  const sizes = new Map<string, Set<string>>();
  const most = new Map<string, number>();
  const count = (group: string, member: string, max: number) => {
    const known = sizes.get(group);
    if (known === undefined) sizes.set(group, new Set([member]));
    else known.add(member);
    most.set(group, max);
  };
  for (const tie of ties) {
    count(groupOf(tie), tie.address, TIED_LIMITS.perKeyMax[tie.heuristic]);
    if (tie.heuristic !== 'deposit_reuse' || tie.address === tie.key) continue;
    count(userOf(tie), tie.key, USER_DEPOSITS_MAX);
  }
  const over = [...sizes].filter(([group, members]) => members.size > Number(most.get(group)));
  return new Set(over.map(([group]) => group));
}

/** Whether a tie stands by the labels, services and payments that are known now. */
export function stands({ address, key, heuristic, rests_on }: HeldTie, bars: Bars): boolean {
  if (bars.services.has(address) || isSystemAddress(address)) return false;
  if (heuristic === 'deposit_reuse') {
    return rests_on !== null && bars.exchanges.has(rests_on) && !bars.services.has(key);
  }
  if (heuristic === 'shared_funder' || heuristic === 'same_deployer') {
    return !bars.services.has(key) && !bars.exchanges.has(key) && !isSystemAddress(key);
  }
  if (heuristic === 'change') return rests_on !== null && !bars.reused.has(rests_on);
  return true;
}

/** The first funding of each address: an earlier one that was read later replaces a later one. */
function firstOfEach(ties: readonly HeldTie[]): ReadonlyMap<string, HeldTie> {
  const first = new Map<string, HeldTie>();
  for (const tie of ties) {
    if (tie.heuristic !== 'shared_funder') continue;
    const known = first.get(tie.address);
    if (known === undefined || earlier(tie, known) < 0) first.set(tie.address, tie);
  }
  return first;
}

/** The groups that one key makes: several where a window parts them. */
function partsOf(group: readonly HeldTie[], fundings: ReadonlyMap<string, HeldTie>) {
  return listFrom(group[0], (tie): readonly (readonly HeldTie[])[] => {
    if (tie.heuristic === 'shared_funder') return windows(group, fundings);
    // A deposit address that is itself barred takes those who paid into it with it.
    const whole =
      tie.heuristic !== 'deposit_reuse' || group.some(({ address }) => address === tie.key);
    return whole ? [group] : [];
  });
}

/**
 * One funder's first fundings, by windows in which no two lie further apart: each as large as it
 * can be, so that who is known already does not change who is in one with whom.
 */
function windows(group: readonly HeldTie[], first: ReadonlyMap<string, HeldTie>): HeldTie[][] {
  const sorted = group.filter((tie) => first.get(tie.address) === tie).sort(earlier);
  const runs = sorted.map((from, i) =>
    sorted.slice(i).filter(({ at }) => at - from.at <= FUNDING_WINDOW_S),
  );
  return runs.filter((run, i) => {
    const before = runs[i - 1];
    return run.length > 1 && (before === undefined || before.at(-1) !== run.at(-1));
  });
}

function itemOf(group: readonly HeldTie[], bars: Bars): EvidenceItem | null {
  const sorted = [...group].sort(earlier);
  const [first] = sorted;
  const addresses = [...new Set(sorted.map(({ address }) => address))];
  const [, second] = addresses;
  if (first === undefined || second === undefined) return null;
  const { chain, heuristic, key } = first;
  const joined = sorted.find(({ address }) => address === second);
  const named = JSON.stringify([
    chain,
    heuristic,
    key,
    heuristic === 'shared_funder' ? first.tx : '',
  ]);
  const transactions = [...new Set(sorted.map(({ tx }) => tx))].slice(0, TRANSACTIONS_SHOWN_MAX);
  return {
    id: createHash('sha256').update(named).digest('hex').slice(0, ID_CHARS),
    chain,
    heuristic,
    through: key,
    transactions,
    addresses: addresses.sort(),
    at: joined === undefined ? first.at : joined.at,
    weight: linkCalibration(first.form).weight,
    form: first.form,
    judged_at: sorted.map((one) => one.judged_at).reduce((a, b) => Math.max(a, b)),
    histories_whole: sorted.every((one) => one.whole),
    statement: describeTie(first, addresses.length, bars.exchanges),
  };
}

/** `basis`: `measured` where each weight that counts is; `null` where no item names the address. */
export type Confidence = { readonly confidence: number; readonly basis: WeightBasis | null };

/**
 * The probability that an address belongs to the rest of its cluster: 1 − Π(1 − weight) over groups
 * of evidence that names it. Evidence of one kind counts once, by its strongest item. 1 if no item
 * names it: that is not a confident answer.
 */
export function confidenceOf(address: string, items: readonly EvidenceItem[]): Confidence {
  const strongest = new Map<string, EvidenceItem>();
  for (const item of items) {
    if (!item.addresses.includes(address)) continue;
    const known = strongest.get(GROUP_OF[item.heuristic]);
    if (known === undefined || known.weight < item.weight) {
      strongest.set(GROUP_OF[item.heuristic], item);
    }
  }
  const counted = [...strongest.values()];
  if (counted.length === 0) return { confidence: 1, basis: null };
  const doubt = counted.reduce((left, { weight }) => left * (1 - weight), 1);
  const isMeasured = counted.every(({ form }) => linkCalibration(form).basis === 'measured');
  return {
    confidence: Number((1 - doubt).toFixed(CONFIDENCE_DIGITS)),
    basis: isMeasured ? 'measured' : 'assumed',
  };
}

const CONFIDENCE_DIGITS = 4;

/** Describes a tie of so many addresses. `exchanges`: the names of labelled wallets. */
export function describeTie(
  { heuristic, form, key, rests_on }: Tie,
  count: number,
  exchanges: ReadonlyMap<string, string>,
): string {
  const exchange = rests_on === null ? undefined : exchanges.get(rests_on);
  switch (heuristic) {
    case 'deposit_reuse': {
      const payers = `${count - 1} ${count === 2 ? 'address' : 'addresses'} paid into ${key}`;
      const whose = exchange === undefined ? 'an exchange' : exchange;
      const said = `${payers}, an inferred deposit address of ${whose}.`;
      if (form === 'hot_wallet') return said;
      return `${said} The label of the wallet that it forwards to tells no role.`;
    }
    case 'shared_funder':
      return `${count} addresses got their first coins from ${key} within a day of each other.`;
    case 'lockstep':
      return (
        'The two addresses send to each other and act on the same counterparties at one time, ' +
        'more often than chance would have it.'
      );
    case 'same_deployer':
      return form === 'signed'
        ? `${key} made ${count - 1} of these contracts in transactions of its own.`
        : `${key} made ${count - 1} of these contracts through a contract that it had made.`;
    case 'multi_input': {
      const spent = form === 'payjoin_form' || form === 'tx0' ? form : 'spent_together';
      return `${count} addresses were spent together in ${key}, ${SPENT[spent]}`;
    }
    case 'change': {
      const signs = form === 'two_signs' || form === 'three_signs' ? form : 'one_sign';
      return (
        `In ${key} one of two outputs went to an address never paid before: the change of its ` +
        `inputs, by ${SIGNS[signs]}.`
      );
    }
  }
}

const SPENT = {
  spent_together: 'no known joint transaction; a PayJoin cannot be told from a payment.',
  payjoin_form: 'which has the form of a PayJoin: one of the inputs may be the payee’s.',
  tx0: 'in which a wallet cuts its coins for a Whirlpool mix (Tx0).',
} as const;

const SIGNS = {
  one_sign: 'that sign alone',
  two_signs: 'that and one more sign',
  three_signs: 'that and two or more signs',
} as const;

const PROTOCOLS: { readonly [protocol: string]: string } = {
  joinmarket: 'a CoinJoin of JoinMarket’s form',
  wasabi_1_0: 'a CoinJoin of Wasabi 1.0',
  wasabi_1_1: 'a CoinJoin of Wasabi 1.1’s form',
  wasabi_2_0: 'a CoinJoin of Wasabi 2.0’s form (WabiSabi)',
  whirlpool: 'a CoinJoin of Whirlpool',
};

/** Describes an objection to joining so many addresses. */
export function objectionText({ kind, key, detail }: Objection, count: number): string {
  const these = `${count} ${count === 1 ? 'address' : 'addresses'}`;
  switch (kind) {
    case 'coinjoin': {
      const named = detail === null ? undefined : PROTOCOLS[detail];
      const protocol = named === undefined ? 'a CoinJoin by its equal outputs' : named;
      return `${key} is ${protocol}: its inputs are many people’s and link nobody.`;
    }
    case 'partial_signature':
      return (
        `An input of ${key} is signed only in part (ANYONECANPAY, SINGLE or NONE), so that ` +
        'others could add theirs: its inputs link nobody.'
      );
    case 'marketplace_trade':
      return `${key} has the form of a trade of inscribed coins: buyer and seller both sign it.`;
    case 'payjoin_form':
      return `${key} has the form of a PayJoin, so that one of its inputs may be the payee’s.`;
    case 'crowd':
      return (
        `${key} serves many${detail === null ? '' : ` (${detail} addresses)`}: that ${these} ` +
        'dealt with it links nobody.'
      );
    case 'contract_payer':
      return (
        `The first coins of ${these} came from ${key}, which is a contract or did not sign ` +
        'itself: whoever asks it to pays through it.'
      );
    case 'by_chance':
      return 'The two act on the same targets at one time no more often than strangers would.';
    case 'separate_accounts': {
      const which = detail === null ? 'which, is not told' : detail;
      return `Two linked addresses use accounts that they do not share: ${which}.`;
    }
  }
}

/** More counterparties than this make an address a service for clustering: it links nobody. */
export const SERVICE_DEGREE = 1_000;
/** More users than this share a deposit address that is nobody's own (a memo, a merchant). */
export const DEPOSIT_USERS_MAX = 8;
/** A payer into more deposit addresses than this is a service itself. */
export const USER_DEPOSITS_MAX = 10;
/** A payer of more addresses than this funds customers, not wallets of its own. */
export const FUNDED_MAX = 25;
/** More contracts than this of one signer are a deployment service's. */
const DEPLOYED_MAX = 200;
/** Two addresses funded by one funder are tied where no more than this lies between. */
export const FUNDING_WINDOW_S = 24 * 3_600;
/** More inputs' addresses than this in one transaction say a service, not a wallet. */
export const INPUT_ADDRESSES_MAX = 500;

/** How far ties are followed for one answer. Under one key there are never more that can stand. */
export const TIED_LIMITS: TiedLimits = {
  addressesMax: 10_000,
  roundsMax: 100,
  keysMax: 20_000,
  perKeyMax: {
    deposit_reuse: DEPOSIT_USERS_MAX + 1,
    shared_funder: FUNDED_MAX,
    lockstep: 2,
    same_deployer: DEPLOYED_MAX + 1,
    multi_input: INPUT_ADDRESSES_MAX,
    change: INPUT_ADDRESSES_MAX + 1,
  },
};

/** The most transactions kept of one address under one key: the earliest. */
const TIES_OF_PAIR_MAX = 5;

/** A transaction that ties. */
export type TiedBy = Pick<Tie, 'tx' | 'block' | 'at'>;

/** Puts the earlier first: by time, then block, then name. */
export function earlier(a: TiedBy, b: TiedBy): number {
  return a.at - b.at || a.block - b.block || (a.tx < b.tx ? -1 : Number(a.tx > b.tx));
}

/** The earliest transactions of a list, each once, as many as are kept. */
export function earliest(transactions: readonly TiedBy[]): TiedBy[] {
  const byName = new Map(transactions.map((one) => [one.tx, one]));
  return [...byName.values()].sort(earlier).slice(0, TIES_OF_PAIR_MAX);
}

// Joins addresses by evidence into clusters with ids and a history of merges. Evidence may come in
// any order and in any number of pieces: clusters, ids and history follow from its content alone.

/** Two clusters that one item made one. The younger's id gave way. */
export type Merge = Omit<FormerCluster, 'noted_at'> & {
  /** Unix seconds. */
  readonly at: number;
  /** The item that joined them. */
  readonly by: string;
};

/** Addresses joined by evidence. */
export type Cluster = {
  /** The name of its oldest item: what comes later never changes it. */
  readonly cluster_id: string;
  /** In the order of their codes. */
  readonly members: readonly string[];
  /** The oldest first. */
  readonly items: readonly EvidenceItem[];
};

/** A step of the way from one member to another. */
export type EvidenceStep = {
  readonly from: string;
  readonly to: string;
  readonly item: EvidenceItem;
};

type Forest = {
  /** Takes items in; one that is known by its id takes the place of the earlier one. */
  readonly add: (items: Iterable<EvidenceItem>) => void;
  /** The cluster of an address; `null` where no item names it. */
  readonly clusterOf: (address: string) => Cluster | null;
  /** Every cluster, by its id. */
  readonly clusters: () => Cluster[];
};

function clusterIdOf({ chain, id }: Pick<EvidenceItem, 'chain' | 'id'>): string {
  return `${chain}:${id}`;
}

/** An empty forest. An item whose addresses became fewer needs a new one: joins are not undone. */
export function clusterForest(): Forest {
  const parents = new Map<string, string>();
  const items = new Map<string, EvidenceItem>();

  function rootOf(address: string): string {
    let root = address;
    for (let up = parents.get(root); up !== undefined && up !== root; up = parents.get(root)) {
      root = up;
    }
    // The way is halved for whoever asks next.
    for (let at = address; at !== root; ) {
      const up = parents.get(at);
      parents.set(at, root);
      at = up === undefined ? root : up;
    }
    return root;
  }

  function join(a: string, b: string): void {
    const [one, other] = [rootOf(a), rootOf(b)].sort();
    if (one === undefined || other === undefined) return;
    parents.set(one, one);
    parents.set(other, one);
  }

  function clusters(): Cluster[] {
    const members = new Map<string, string[]>();
    for (const address of parents.keys()) collect(members, rootOf(address), address);
    const owned = new Map<string, EvidenceItem[]>();
    for (const item of items.values()) collect(owned, rootOf(firstOf(item)), item);
    return [...members]
      .map(([root, joined]) => clusterFrom(joined, rowsUnder(owned, root)))
      .sort((a, b) => (a.cluster_id < b.cluster_id ? -1 : 1));
  }

  return {
    add: (more) => {
      for (const item of more) {
        items.set(item.id, item);
        for (const address of item.addresses) join(firstOf(item), address);
      }
    },
    clusterOf: (address) => {
      if (!parents.has(address)) return null;
      const root = rootOf(address);
      const joined = [...parents.keys()].filter((one) => rootOf(one) === root);
      const own = [...items.values()].filter((item) => rootOf(firstOf(item)) === root);
      return clusterFrom(joined, own);
    },
    clusters,
  };
}

function firstOf({ addresses }: EvidenceItem): string {
  const [first] = addresses;
  if (first === undefined) throw new Error('forest: an item without addresses');
  return first;
}

function clusterFrom(members: readonly string[], own: readonly EvidenceItem[]): Cluster {
  const items = [...own].sort(byAge);
  const [oldest] = items;
  if (oldest === undefined) throw new Error('forest: a cluster without evidence');
  return { cluster_id: clusterIdOf(oldest), members: [...members].sort(), items };
}

/** The history of a cluster: its items in order, from the oldest on. */
export function mergesOf({ items }: Pick<Cluster, 'items'>): Merge[] {
  const clusterAt = new Map<string, EvidenceItem>();
  const held = new Map<string, string[]>();
  const merges: Merge[] = [];
  for (const item of [...items].sort(byAge)) {
    const founders = item.addresses.flatMap((one) => listFrom(clusterAt.get(one), (at) => [at]));
    const [oldest, ...younger] = [...new Set(founders)].sort(byAge);
    const founder = oldest === undefined ? item : oldest;
    const cluster_id = clusterIdOf(founder);
    for (const one of younger) {
      merges.push({ former_id: clusterIdOf(one), cluster_id, at: item.at, by: item.id });
    }
    const moved = younger.flatMap(({ id }) => rowsUnder(held, id));
    for (const address of new Set([...item.addresses, ...moved])) {
      if (clusterAt.get(address) === founder) continue;
      clusterAt.set(address, founder);
      collect(held, founder.id, address);
    }
  }
  return merges;
}

/**
 * The fewest items that lead from an address to each member, the older item where two ways are as
 * short. The address itself has no step to go.
 */
export function pathsFrom(
  items: readonly EvidenceItem[],
  from: string,
): ReadonlyMap<string, readonly EvidenceStep[]> {
  const naming = new Map<string, EvidenceItem[]>();
  for (const item of [...items].sort(byAge)) {
    for (const address of item.addresses) collect(naming, address, item);
  }
  const paths = new Map<string, readonly EvidenceStep[]>([[from, []]]);
  // A map is walked in the order in which it was filled, also while it is: the nearest come first.
  for (const [next, path] of paths) {
    for (const item of rowsUnder(naming, next)) {
      for (const address of item.addresses) {
        if (!paths.has(address)) paths.set(address, [...path, { from: next, to: address, item }]);
      }
    }
  }
  return paths;
}
