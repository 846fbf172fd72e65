// Notes that accompany findings: the kinds that ran, their blocks, and the reasons why others did
// not run. Every gap is named.

import { matchKey } from '../../chain/address.ts';
import { addDecimals, compareDecimals, formatUnits } from '../../chain/amount.ts';
import { CHAIN_NAMES, CHAINS, type ChainName } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { PAYMENT_KINDS } from '../../chain/transfer.ts';
import { claimOrNull, claimWhole } from '../../evidence/claim.ts';
import { collect, listOrNone, present, rowsUnder } from '../../evidence/measure.ts';
import { map, Read, rowsSeen } from '../../evidence/reading.ts';
import type { CoverageRange, HistoryTransfer } from '../../ports/history.ts';
import { compareText } from '../history/edge-rule.ts';
import type { Walk } from '../sanctions/walk.ts';
import { leadingLabel } from '../tables/labels.ts';
import { type ForensicEvidence, factual, type KindResult, MAIN_CHAINS } from './evidence.ts';
import { anyOwn, byOther, type FindingInputs, sidesOf } from './finding.ts';
import type {
  Amounts,
  CoveredBlocks,
  FlowAsset,
  FlowCounterparty,
  KindCoverage,
  Side,
} from './shapes.ts';

export function coverageOfKind({ kind, found }: KindResult, inputs: FindingInputs): KindCoverage {
  const own = kind.blocksOf === undefined ? [] : [...kind.blocksOf(inputs)];
  const blocks = kind.ofHistory ? blocksOf(inputs) : own.length === 0 ? null : own;
  const main = blocks?.find(({ chain }) => chain === MAIN_CHAINS[inputs.subject.kind]);
  return {
    kind: kind.kind,
    title: kind.title,
    checked: found instanceof Read,
    reason: found instanceof Read ? null : found.why.reason,
    from: main === undefined ? null : main.from,
    to: main === undefined ? null : main.to,
    blocks,
  };
}

function blocksOf({ history }: FindingInputs): CoveredBlocks[] | null {
  const ranges = rowsSeen(map(history, ({ coverage }) => coverage));
  if (ranges === null) return null;
  const covered = present(CHAIN_NAMES.map((chain) => commonRange(chain, ranges)));
  return covered.length === 0 ? null : covered;
}

/** The blocks of which all three kinds were read, as one range; `null` where a kind is missing. */
function commonRange(chain: ChainName, ranges: readonly CoverageRange[]): CoveredBlocks | null {
  const own = ranges.filter((one) => one.chain === chain);
  const longest = PAYMENT_KINDS.map((kind) => longestOf(own.filter((one) => one.kind === kind)));
  let from = 0;
  let to = Number.MAX_SAFE_INTEGER;
  for (const range of longest) {
    if (range === null) return null;
    from = Math.max(from, range.from);
    to = Math.min(to, range.to);
  }
  return from > to ? null : { chain, from, to };
}

type Span = { readonly from: number; readonly to: number };

function longestOf(ranges: readonly CoverageRange[]): Span | null {
  let best: Span | null = null;
  let run: Span | null = null;
  for (const one of [...ranges].sort((a, b) => a.from_block - b.from_block)) {
    run =
      run !== null && one.from_block <= run.to + 1
        ? { from: run.from, to: Math.max(run.to, one.to_block) }
        : { from: one.from_block, to: one.to_block };
    if (best === null || run.to - run.from > best.to - best.from) best = run;
  }
  return best;
}

/** The notes that a reader needs, at least one sentence. */
export function notesOf({ subject, inputs, kinds, mainFacts }: ForensicEvidence): string[] {
  const silent = kinds.filter(({ found }) => !(found instanceof Read));
  const isCut = kinds.some(
    ({ found }) =>
      rowsSeen(found)?.some((one) => one.evidence_count > one.evidence.length) === true,
  );
  const facts =
    mainFacts === null
      ? `No chain facts are read of this kind of address (${subject.kind}).`
      : 'The facts are those of Ethereum at the time beside each; they change with the chain.';
  return [
    facts,
    ...(silent.length === 0
      ? []
      : [
          `${silent.length} of ${kinds.length} kinds of finding were not read to their end; the ` +
            'coverage of the findings names each.',
        ]),
    ...noteLeftOut(inputs),
    ...listOrNone(rowsSeen(map(inputs.walk, (one) => [one]))).flatMap(walkedText),
    ...(isCut ? ['A finding shows its newest evidence, and counts all of it.'] : []),
  ];
}

/** How many transfers are no contact of anybody: they are counted, and never denied. */
function noteLeftOut({ history, subject }: FindingInputs): string[] {
  const shown = rowsSeen(map(history, ({ transfers }) => transfers));
  const { leftOut } = sidesOf(subject.address, listOrNone(shown));
  if (leftOut.length === 0) return [];
  const zero = leftOut.filter(({ why }) => why === 'zero_value').length;
  const unsold = leftOut.length - zero;
  return [
    `Left out of every contact: ${zero} transfers of no value and ${unsold} of tokens without a ` +
      'market that others signed.',
  ];
}

function walkedText(walked: Walk): string[] {
  const { found, hub_contacts_count, hub_contacts, nft_not_examined, ring } = walked;
  const [first] = hub_contacts;
  const hubs =
    first === undefined
      ? null
      : `${hub_contacts_count} times a counterparty with too many counterparties to be walked ` +
        `past dealt with a listed address, first ${first.address} with ${first.listed_address}; ` +
        'the answer of ofac lists them as hub_contacts.';
  const unread =
    nft_not_examined.length === 0
      ? null
      : `Ways by NFTs were not read to their end on ${nft_not_examined.join(', ')}.`;
  const ringless =
    ring instanceof Read || found?.way.length === 1
      ? null
      : 'The ring around listed addresses was not met, so that a busy counterparty may have ' +
        `dealt with one: ${ring.why.reason}`;
  return present([hubs, unread, ringless]);
}

// With whom did an address exchange most, and what of which coin or token went either way?
// Sums are exact and over what has a price; how many have none stands beside each. Poisoning and
// spam are no part of them, by the walk's rule.

const LISTED_MAX = 10;

/** The transfers that the address sent and received, as far as its history was read. */
export function flowsShown({ subject: { address }, history, labels }: FindingInputs) {
  const kept = map(history, ({ transfers }) => {
    return sidesOf(address, transfers).kept.filter(({ raw_amount }) => raw_amount > 0n);
  });
  const transfers = listOrNone(rowsSeen(kept));
  const others = byOther(address, transfers);
  const assets = byAsset(transfers);
  const claimCount = (count: (all: readonly HistoryTransfer[]) => number) =>
    claimOrNull(
      factual(map(kept, count), (n) => n > 0),
      (n) => n,
    );
  const nameOf = (other: string): string | null => {
    if (!(labels instanceof Read)) return null;
    const leading = leadingLabel(rowsUnder(labels.value.found, matchKey(other)));
    return leading === null ? null : leading.label;
  };
  const named = [...others].map(([other, list]) =>
    counterparty(address, other, list, nameOf(other)),
  );
  return {
    checked: claimWhole(kept),
    reason: kept instanceof Read ? null : kept.why.reason,
    transfers: claimCount((all) => all.length),
    counterparties_count: claimCount((all) => byOther(address, all).size),
    counterparties: largest(named, ({ sent, received }) => [sent.usd, received.usd]),
    assets_count: claimCount((all) => byAsset(all).size),
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

function largest<T extends { readonly transfers: number }>(
  rows: readonly T[],
  usdOf: (row: T) => readonly (string | null)[],
): T[] | null {
  const ordered = rows
    .map((row) => ({ row, usd: usdSum(usdOf(row)), text: JSON.stringify(row) }))
    .sort(
      (a, b) =>
        compareDecimals(b.usd, a.usd) ||
        b.row.transfers - a.row.transfers ||
        compareText(a.text, b.text),
    );
  return ordered.length === 0 ? null : ordered.slice(0, LISTED_MAX).map(({ row }) => row);
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
): FlowCounterparty {
  const [newest] = list;
  const oldest = list.at(-1);
  if (newest === undefined || oldest === undefined) throw new TypeError('flows: an empty list');
  return {
    address: other,
    label,
    chains: [...new Set(list.map(({ chain }) => chain))].sort(),
    transfers: list.length,
    sent: sideOf(list.filter(({ from }) => from === subject)),
    received: sideOf(list.filter(({ to }) => to === subject)),
    first_at: formatIsoTime(oldest.at),
    last_at: formatIsoTime(newest.at),
    last_tx: newest.tx,
    initiated_by_subject: anyOwn(subject, list),
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

function asset(subject: string, list: readonly HistoryTransfer[]): FlowAsset {
  const [one] = list;
  if (one === undefined) throw new TypeError('flows: an empty list');
  const token = tokenOf(one);
  const { symbol, decimals } = token === null ? CHAINS[one.chain].native : one;
  const amounts = (way: readonly HistoryTransfer[]): Amounts => {
    const raw = way.reduce((sum, { raw_amount }) => sum + raw_amount, 0n);
    const amount = decimals === null ? null : formatUnits(raw, decimals);
    return { ...sideOf(way), raw_amount: String(raw), amount };
  };
  return {
    chain: one.chain,
    token,
    symbol,
    decimals,
    transfers: list.length,
    sent: amounts(list.filter(({ from }) => from === subject)),
    received: amounts(list.filter(({ to }) => to === subject)),
  };
}
