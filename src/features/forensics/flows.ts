// With whom did an address exchange most, and what of which coin or token went either way?
// Sums are exact and over what has a price; how many have none stands beside each. Poisoning and
// spam are no part of them, by the walk's rule.

import { matchKey } from '../../chain/address.ts';
import { addDecimals, compareDecimals, formatUnits } from '../../chain/amount.ts';
import { CHAINS } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { claim } from '../../evidence/claim.ts';
import { collect, given, heldUnder } from '../../evidence/measure.ts';
import { map, Read, seen } from '../../evidence/reading.ts';
import type { HistoryTransfer } from '../../ports/history/transfer-history.ts';
import { compareText } from '../history/edge-rule.ts';
import { leadingLabel } from '../tables/labels.ts';
import { factual } from './evidence.ts';
import type { FindingInputs } from './finding.ts';
import { byOther, sidesOf } from './finding-evidence.ts';

/** One direction: how many transfers, what those with a price were worth, how many have none. */
type Side = { transfers: number; usd: string | null; unpriced: number };
type Amounts = Side & { raw_amount: string; amount: string | null };
type Counterparty = {
  address: string;
  label: string | null;
  transfers: number;
  sent: Side;
  received: Side;
  first_at: string;
  last_at: string;
  last_tx: string;
};
type Asset = {
  chain: string;
  token: string | null;
  symbol: string | null;
  decimals: number | null;
  transfers: number;
  sent: Amounts;
  received: Amounts;
};

/** How many counterparties and assets are listed; all of them are counted. */
const LISTED_MAX = 10;

/** What the address sent and received, as far as its history was read. */
export function flowsShown({ subject: { address }, history, labels }: FindingInputs) {
  const kept = map(history, ({ transfers }) => {
    return sidesOf(address, transfers).kept.filter(({ raw_amount }) => raw_amount > 0n);
  });
  const transfers = given(seen(kept));
  const others = byOther(address, transfers);
  const assets = byAsset(transfers);
  const counted = (count: (all: readonly HistoryTransfer[]) => number) =>
    claim(
      factual(map(kept, count), (n) => n > 0),
      (n) => n,
      () => null,
    );
  const nameOf = (other: string): string | null => {
    if (!(labels instanceof Read)) return null;
    const leading = leadingLabel(heldUnder(labels.value.found, matchKey(other)));
    return leading === null ? null : leading.label;
  };
  const named = [...others].map(([other, list]) =>
    counterparty(address, other, list, nameOf(other)),
  );
  return {
    checked: claim(
      kept,
      () => true as const,
      () => false as const,
    ),
    reason: kept instanceof Read ? null : kept.why.reason,
    transfers: counted((all) => all.length),
    counterparties_count: counted((all) => byOther(address, all).size),
    counterparties: largest(named, ({ sent, received }) => [sent.usd, received.usd]),
    assets_count: counted((all) => byAsset(all).size),
    assets: largest(
      [...assets.values()].map((list) => asset(address, list)),
      ({ sent, received }) => [sent.usd, received.usd],
    ),
  };
}

function byAsset(
  transfers: readonly HistoryTransfer[],
): ReadonlyMap<string, readonly HistoryTransfer[]> {
  const lists = new Map<string, HistoryTransfer[]>();
  for (const one of transfers) collect(lists, `${one.chain} ${String(tokenOf(one))}`, one);
  return lists;
}

function tokenOf({ kind, token }: HistoryTransfer): string | null {
  return kind === 'token' ? token : null;
}

/** The largest by what was priced, then by transfers; null where there is none. */
function largest<T extends { readonly transfers: number }>(
  rows: readonly T[],
  usdOf: (row: T) => readonly (string | null)[],
): T[] | null {
  const worth = new Map(rows.map((row) => [row, usdSum(usdOf(row))]));
  const sum = (row: T): string => String(worth.get(row));
  const ordered = [...rows].sort(
    (a, b) =>
      compareDecimals(sum(b), sum(a)) ||
      b.transfers - a.transfers ||
      compareText(JSON.stringify(a), JSON.stringify(b)),
  );
  return ordered.length === 0 ? null : ordered.slice(0, LISTED_MAX);
}

/** A sum to compare by: what has no price adds nothing to it. */
function usdSum(list: readonly (string | null)[]): string {
  return list.reduce<string>((sum, usd) => (usd === null ? sum : addDecimals(sum, usd)), '0');
}

function counterparty(
  subject: string,
  other: string,
  list: readonly HistoryTransfer[],
  label: string | null,
): Counterparty {
  const [newest] = list;
  const oldest = list.at(-1);
  if (newest === undefined || oldest === undefined) throw new TypeError('flows: an empty list');
  return {
    address: other,
    label,
    transfers: list.length,
    sent: sideOf(list.filter(({ from }) => from === subject)),
    received: sideOf(list.filter(({ to }) => to === subject)),
    first_at: formatIsoTime(oldest.at),
    last_at: formatIsoTime(newest.at),
    last_tx: newest.tx,
  };
}

function sideOf(list: readonly HistoryTransfer[]): Side {
  const priced = list.filter(({ usd }) => usd !== null);
  return {
    transfers: list.length,
    usd: priced.length === 0 ? null : usdSum(priced.map(({ usd }) => usd)),
    unpriced: list.length - priced.length,
  };
}

function asset(subject: string, list: readonly HistoryTransfer[]): Asset {
  const [one] = list;
  if (one === undefined) throw new TypeError('flows: an empty list');
  const token = tokenOf(one);
  const { native } = CHAINS[one.chain];
  const decimals = token === null ? native.decimals : one.decimals;
  const amounts = (way: readonly HistoryTransfer[]): Amounts => {
    const raw = way.reduce((sum, { raw_amount }) => sum + raw_amount, 0n);
    const amount = decimals === null ? null : formatUnits(raw, decimals);
    return { ...sideOf(way), raw_amount: String(raw), amount };
  };
  return {
    chain: one.chain,
    token,
    symbol: token === null ? native.symbol : one.symbol,
    decimals,
    transfers: list.length,
    sent: amounts(list.filter(({ from }) => from === subject)),
    received: amounts(list.filter(({ to }) => to === subject)),
  };
}
