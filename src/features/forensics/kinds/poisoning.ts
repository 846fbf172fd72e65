// Transfers planted in the address's history to be mistaken for its own. Distinguishes four tricks,
// none of which the address signed. Each stays visible with its count; transfers that are left out
// of every contact are shown here.

import { CHAINS, type ChainName } from '../../../chain/chain.ts';
import { collect, present, rowsUnder } from '../../../evidence/measure.ts';
import { map, rowsSeen } from '../../../evidence/reading.ts';
import { type HistoryTransfer, isSignedBy } from '../../../ports/history.ts';
import type { AddressHistory } from '../../history/address-history.ts';
import {
  carryEvidence,
  draftSource,
  type FindingInputs,
  type FindingKind,
  otherSide,
  sidesOf,
} from '../finding.ts';
import type { RecordEvidence } from '../shapes.ts';

/** Pairs of look-alikes that are shown one by one; a history may hold thousands. */
const PAIRS_SHOWN_MAX = 20;

/** Transfers that imitate the address's own. */
export const poisoningReceived: FindingKind = {
  kind: 'poisoning_received',
  title: 'Address poisoning or spam received',
  appliesTo: ['evm', 'solana'],
  ofHistory: true,
  find: ({ subject: { address }, history, facts }) =>
    map(history, (known) => {
      const called = contractChains(facts);
      const drafts = [...draftLeftOut(address, known, called), ...likeDrafts(address, known)];
      return drafts.map(({ statement, transfers, records }) => {
        const carried = carryEvidence(address, transfers);
        const evidence = [...carried.evidence, ...records];
        return { statement, ...carried, evidence, ...draftSource(history) };
      });
    }),
};

type Trick = {
  readonly statement: string;
  readonly transfers: readonly HistoryTransfer[];
  readonly records: readonly RecordEvidence[];
};

/** The chains on which the address is a contract: a coin's transfer of no value is a call there. */
function contractChains(facts: FindingInputs['facts']): ReadonlySet<string> {
  const chains = new Set<string>();
  for (const one of facts) {
    const code = rowsSeen(map(one.facts.code, (known) => [known]));
    if (code !== null && code[0].size > 0 && code[0].delegates_to === null) chains.add(one.chain);
  }
  return chains;
}

function draftLeftOut(
  subject: string,
  { transfers }: AddressHistory,
  called: ReadonlySet<string>,
): Trick[] {
  const isCall = ({ kind, chain, to }: HistoryTransfer) =>
    kind !== 'token' && to === subject && called.has(chain);
  const leftOut = sidesOf(subject, transfers).leftOut.filter(({ transfer }) => !isCall(transfer));
  const under = (rule: 'zero_value' | 'no_market_token') =>
    leftOut.filter(({ why }) => why === rule).map(({ transfer }) => transfer);
  const zero = under('zero_value');
  const unsold = under('no_market_token');
  return [
    ...trick(zero, `${timesText(zero.length)} of no value that others signed`),
    ...trick(unsold, `${timesText(unsold.length)} of tokens without a market that others signed`),
  ];
}

function trick(transfers: readonly HistoryTransfer[], what: string): Trick[] {
  const statement = `${what}; none is counted as a contact.`;
  return transfers.length === 0 ? [] : [{ statement, transfers, records: [] }];
}

function timesText(times: number): string {
  return times === 1 ? '1 transfer' : `${times} transfers`;
}

/** Others' transfers from or to an address, or of a token, that looks like one of its own. */
function likeDrafts(subject: string, { transfers }: AddressHistory): Trick[] {
  const live = transfers.filter(({ success }) => success !== false);
  const own = live.filter((one) => isSignedBy(subject, one) === true && one.raw_amount > 0n);
  const others = live.filter((one) => isSignedBy(subject, one) === false);
  return [...likeAddresses(subject, own, others), ...likeTokens(own, others)];
}

function likeAddresses(
  subject: string,
  own: readonly HistoryTransfer[],
  others: readonly HistoryTransfer[],
): Trick[] {
  const known = new Set(own.map((one) => otherSide(one, subject)));
  const byEnds = new Map<string, string>();
  for (const address of known) byEnds.set(endsOf(address), address);
  const pairs = new Map<string, HistoryTransfer[]>();
  for (const one of others) {
    const other = otherSide(one, subject);
    if (!known.has(other) && byEnds.has(endsOf(other))) collect(pairs, other, one);
  }
  return [...pairs].slice(0, PAIRS_SHOWN_MAX).map(([other, transfers]) => {
    const imitated = String(byEnds.get(endsOf(other)));
    return {
      statement:
        `${timesText(transfers.length)} with ${other}, whose first and last four characters are ` +
        `those of ${imitated}, to which this address sent before; others signed.`,
      transfers,
      records: [recordOf('imitated_address', imitated)],
    };
  });
}

type Held = { readonly chain: ChainName; readonly token: string | null };

function likeTokens(own: readonly HistoryTransfer[], others: readonly HistoryTransfer[]): Trick[] {
  const bySymbol = new Map<string, Held[]>();
  for (const { chain, token, symbol } of own) {
    if (symbol !== null) collect(bySymbol, foldedSymbol(symbol), { chain, token });
  }
  const copies = new Map<string, HistoryTransfer[]>();
  for (const one of others) {
    if (copiedName(one, bySymbol) !== null) collect(copies, `${one.chain} ${one.token}`, one);
  }
  const tricks = [...copies.values()].slice(0, PAIRS_SHOWN_MAX).map((transfers): Trick | null => {
    const [first] = transfers;
    const copied = first === undefined ? null : copiedName(first, bySymbol);
    if (first === undefined || copied === null) return null;
    const what = copied === COIN ? 'the coin of its chain' : `the token ${copied}`;
    return {
      statement:
        `${timesText(transfers.length)} of ${first.token}, whose symbol “${first.symbol}” reads ` +
        `like that of ${what}; others signed.`,
      transfers,
      records: [recordOf('copied_symbol_of', copied)],
    };
  });
  return present(tricks);
}

const COIN = 'coin';

/**
 * The name that a token's symbol copies: another token of the address's, or the coin of the chain.
 */
function copiedName(
  { chain, kind, token, symbol, has_market }: HistoryTransfer,
  bySymbol: ReadonlyMap<string, readonly Held[]>,
): string | null {
  // A token that is known to have a market is another token, whatever it is called.
  if (kind !== 'token' || symbol === null || has_market === true) return null;
  const folded = foldedSymbol(symbol);
  if (folded === CHAINS[chain].native.symbol) return COIN;
  const held = rowsUnder(bySymbol, folded).filter((one) => one.chain === chain);
  // The very token that it holds copies nothing.
  if (held.some((one) => one.token === token)) return null;
  const other = held.find((one) => one.token !== null);
  return other === undefined ? null : other.token;
}

function recordOf(name: string, value: string): RecordEvidence {
  return { evidence: 'record', chain: null, tx: null, block: null, at: null, name, value };
}

// Finds addresses and token symbols that look like others. Wallets show the ends of an address and
// the letters of a symbol, so those are compared; a likeness may be chance, and no reason is given.

/** How many characters at each end wallets show, and poisoners therefore copy. */
const SHOWN_CHARS = 4;
const HEX_PREFIX = '0x';

/**
 * The part of an address that a wallet shows; two different addresses with the same part look
 * alike.
 */
export function endsOf(address: string): string {
  const digits = address.startsWith(HEX_PREFIX) ? address.slice(HEX_PREFIX.length) : address;
  return `${digits.slice(0, SHOWN_CHARS)}…${digits.slice(-SHOWN_CHARS)}`;
}

// Letters of other scripts drawn like Latin ones: unicode.org/Public/security, confusables.txt,
// those that occur in copies of USDT, USDC, DAI, WETH and the chains' coins.
const DRAWN_ALIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    А: 'A',
    В: 'B',
    С: 'C',
    Е: 'E',
    Н: 'H',
    І: 'I',
    Ј: 'J',
    К: 'K',
    М: 'M',
    О: 'O',
    Р: 'P',
    Ѕ: 'S',
    Т: 'T',
    Х: 'X',
    У: 'Y',
    Ԁ: 'D',
    Ԝ: 'W',
    Ս: 'U',
    Ո: 'N',
    Α: 'A',
    Β: 'B',
    Ε: 'E',
    Η: 'H',
    Ι: 'I',
    Κ: 'K',
    Μ: 'M',
    Ν: 'N',
    Ο: 'O',
    Ρ: 'P',
    Τ: 'T',
    Υ: 'Y',
    Χ: 'X',
    Ζ: 'Z',
    Ϲ: 'C',
    Ꭰ: 'D',
    Ꮪ: 'S',
    Ꭲ: 'T',
    Ꮯ: 'C',
    Ꭼ: 'E',
    Ꮃ: 'W',
    ꓓ: 'D',
    ꓢ: 'S',
    ꓚ: 'C',
    ꓴ: 'U',
    ꓔ: 'T',
    ꓮ: 'A',
    '₮': 'T',
    $: 'S',
    '0': 'O',
    '1': 'I',
  }),
);
const MARKS = /[\p{M}\p{Cf}\p{Z}\p{Cc}.\-_]/gu;

/** A symbol as a hurried reader sees it: compatible forms, marks and other scripts folded. */
export function foldedSymbol(symbol: string): string {
  const plain = symbol.normalize('NFKD').replace(MARKS, '').toUpperCase();
  return [...plain].map((letter) => DRAWN_ALIKE.get(letter) ?? letter).join('');
}
