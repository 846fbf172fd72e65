// What speaks against joining an address with the others of its cluster?
// It is shown beside the evidence, for whoever weighs it; it takes no link away by itself.

import { listFrom } from '../../evidence/measure.ts';
import type { HeldTie, Objection } from '../../ports/entities/cluster-store.ts';
import { type Bars, stands } from './evidence.ts';
import { objectionText } from './statements.ts';
import { earlier } from './ties.ts';

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
