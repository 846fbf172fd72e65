// Which ties stand, and what does each say as an item of evidence?
// Services, addresses over a cap, spent change and links that rest on a label that is gone do not
// stand. It is decided again on every answer, so a new label takes a link back.

import { createHash } from 'node:crypto';
import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { collect, listFrom, present } from '../../evidence/measure.ts';
import type { Heuristic, Tie } from '../../ports/entities/cluster-store.ts';
import { earlier, FUNDING_WINDOW_S, TIED_LIMITS, USER_DEPOSITS_MAX, WEIGHTS } from './ties.ts';

/** One item of evidence: these addresses have one controller, by these transactions. */
export type EvidenceItem = {
  /** Made from what it says, so that the same observation has the same id everywhere. */
  readonly id: string;
  readonly chain: ChainName;
  readonly heuristic: Heuristic;
  /** Two or more, in the order of their codes. */
  readonly addresses: readonly string[];
  /** What they share: a deposit address, a funder, a deployer, a pair, a transaction. */
  readonly through: string;
  /** The earliest that show it, at most `TRANSACTIONS_SHOWN_MAX`. */
  readonly transactions: readonly string[];
  /** Unix seconds at which the second of the addresses had been tied. */
  readonly at: number;
  readonly weight: number;
  readonly statement: string;
};

/** The reasons that keep ties from standing. */
export type Bars = {
  /** The addresses that link nobody: labelled hot and cold wallets, hubs, former ones. */
  readonly services: ReadonlySet<string>;
  /** The wallets that an exchange's label names now, with the exchange's name. */
  readonly exchanges: ReadonlyMap<string, string>;
  /** Bitcoin addresses paid more than once: no one-time change. */
  readonly reused: ReadonlySet<string>;
};

/** The most transactions that an item shows. */
const TRANSACTIONS_SHOWN_MAX = 20;
const ID_CHARS = 24;

/** The evidence that some ties make. The order of the ties changes nothing. */
export function evidenceOf(ties: readonly Tie[], bars: Bars): EvidenceItem[] {
  const groups = new Map<string, Tie[]>();
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

function groupOf({ chain, heuristic, key }: Tie): string {
  return JSON.stringify([chain, heuristic, key]);
}

function userOf({ chain, heuristic, address }: Tie): string {
  return JSON.stringify([chain, heuristic, address, 'user']);
}

// Caps count everything that was ever tied, barred or not: what a label takes away never brings a
// crowd under its cap.
function crowdsIn(ties: readonly Tie[]): ReadonlySet<string> {
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

function stands({ address, key, heuristic, rests_on }: Tie, bars: Bars): boolean {
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
function firstOfEach(ties: readonly Tie[]): ReadonlyMap<string, Tie> {
  const first = new Map<string, Tie>();
  for (const tie of ties) {
    if (tie.heuristic !== 'shared_funder') continue;
    const known = first.get(tie.address);
    if (known === undefined || earlier(tie, known) < 0) first.set(tie.address, tie);
  }
  return first;
}

/** The groups that one key makes: several where a window parts them. */
function partsOf(group: readonly Tie[], fundings: ReadonlyMap<string, Tie>) {
  return listFrom(group[0], (tie): readonly (readonly Tie[])[] => {
    if (tie.heuristic === 'shared_funder') return windows(group, fundings);
    // A deposit address that is itself barred takes those who paid into it with it.
    const whole =
      tie.heuristic !== 'deposit_reuse' || group.some(({ address }) => address === tie.key);
    return whole ? [group] : [];
  });
}

/** One funder's first fundings, parted where more than the window lies between two. */
function windows(group: readonly Tie[], first: ReadonlyMap<string, Tie>): Tie[][] {
  const sorted = group.filter((tie) => first.get(tie.address) === tie).sort(earlier);
  const runs: Tie[][] = [];
  let last: Tie | null = null;
  for (const tie of sorted) {
    const run = runs.at(-1);
    if (run === undefined || last === null || tie.at - last.at > FUNDING_WINDOW_S) runs.push([tie]);
    else run.push(tie);
    last = tie;
  }
  return runs;
}

function itemOf(group: readonly Tie[], bars: Bars): EvidenceItem | null {
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
    weight: WEIGHTS[heuristic].weight,
    statement: statementOf(first, addresses.length, bars),
  };
}

function statementOf({ heuristic, key, rests_on }: Tie, count: number, bars: Bars): string {
  const exchange = rests_on === null ? undefined : bars.exchanges.get(rests_on);
  switch (heuristic) {
    case 'deposit_reuse':
      return (
        `${count - 1} ${count === 2 ? 'address' : 'addresses'} paid into ${key}, ` +
        `an inferred deposit address of ${exchange === undefined ? 'an exchange' : exchange}.`
      );
    case 'shared_funder':
      return `${count} addresses got their first coins from ${key} within a day of each other.`;
    case 'lockstep':
      return 'The two addresses send to each other and act on the same counterparties at one time.';
    case 'same_deployer':
      return `${key} signed the creation of ${count - 1} of these contracts.`;
    case 'multi_input':
      return `${count} addresses were spent together in ${key}, no known joint transaction.`;
    case 'change':
      return `In ${key} one output went to an address never paid before: the change of its inputs.`;
  }
}

/**
 * How sure it is that an address belongs to the rest of its cluster: 1 − Π(1 − weight) over the
 * independent items that name it. One that shows no address which another of its heuristic has not
 * shown is not independent. 1 where no item names it: that is not a confident answer.
 */
export function confidenceOf(address: string, items: readonly EvidenceItem[]): number {
  const shown = new Map<Heuristic, Set<string>>();
  let doubt = 1;
  let counted = false;
  for (const { heuristic, addresses, weight } of [...items].sort(byAge)) {
    if (!addresses.includes(address)) continue;
    const known = shown.get(heuristic);
    const seen = known === undefined ? new Set<string>([address]) : known;
    if (addresses.every((one) => seen.has(one))) continue;
    shown.set(heuristic, new Set([...seen, ...addresses]));
    doubt *= 1 - weight;
    counted = true;
  }
  return counted ? Number((1 - doubt).toFixed(CONFIDENCE_DIGITS)) : 1;
}

const CONFIDENCE_DIGITS = 4;
