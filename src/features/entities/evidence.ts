// Which ties stand, and what does each say as an item of evidence?
// Services, addresses over a cap, spent change and links that rest on a label that is gone do not
// stand. It is decided again on every answer, so a new label takes a link back.

import { createHash } from 'node:crypto';
import { isSystemAddress } from '../../chain/address.ts';
import type { ChainName } from '../../chain/chain.ts';
import { collect, listFrom, present } from '../../evidence/measure.ts';
import type { HeldTie, Heuristic, TieForm } from '../../ports/entities/cluster-store.ts';
import { calibrationOf, GROUP_OF } from './calibration.ts';
import { statementOf } from './statements.ts';
import { earlier, FUNDING_WINDOW_S, TIED_LIMITS, USER_DEPOSITS_MAX } from './ties.ts';

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
  readonly form: TieForm;
  /** Unix seconds at which the last of its ties was judged. */
  readonly judged_at: number;
  /** Whether every history that it was judged by was read to its end. */
  readonly whole: boolean;
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
export function evidenceOf(ties: readonly HeldTie[], bars: Bars): EvidenceItem[] {
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
    weight: calibrationOf(first.form).weight,
    form: first.form,
    judged_at: sorted.map((one) => one.judged_at).reduce((a, b) => Math.max(a, b)),
    whole: sorted.every((one) => one.whole),
    statement: statementOf(first, addresses.length, bars.exchanges),
  };
}

/**
 * How sure it is that an address belongs to the rest of its cluster: 1 − Π(1 − weight) over groups
 * of evidence that names it. What rests on one kind of observation counts once, by its strongest
 * item. 1 where no item names it: that is not a confident answer.
 */
export function confidenceOf(address: string, items: readonly EvidenceItem[]): number {
  const strongest = new Map<string, number>();
  for (const { heuristic, addresses, weight } of items) {
    if (!addresses.includes(address)) continue;
    const known = strongest.get(GROUP_OF[heuristic]);
    if (known === undefined || known < weight) strongest.set(GROUP_OF[heuristic], weight);
  }
  if (strongest.size === 0) return 1;
  const doubt = [...strongest.values()].reduce((left, weight) => left * (1 - weight), 1);
  return Number((1 - doubt).toFixed(CONFIDENCE_DIGITS));
}

const CONFIDENCE_DIGITS = 4;
