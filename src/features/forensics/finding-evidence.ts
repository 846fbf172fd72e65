// Which transfers of an address carry a finding, and what do they say of who wanted them?
// Poisoning and spam are told by the walk's rule (`edge-rule.ts`): those transfers are kept
// apart here, shown as what they are, and never taken for a contact.

import { formatUnits } from '../../chain/amount.ts';
import { CHAINS } from '../../chain/chain.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { collect } from '../../evidence/measure.ts';
import {
  type HistoryTransfer,
  isSignedBy,
  signerOf,
} from '../../ports/history/transfer-history.ts';

import { type LeftOut, sift } from '../history/edge-rule.ts';
import type { FindingDraft, TransferEvidence } from './finding.ts';

/** How many transfers a finding shows, the newest; it counts all of them. */
export const EVIDENCE_SHOWN_MAX = 20;

/** The transfers of an address that succeeded or may have, sifted. */
type Sides = {
  readonly kept: readonly HistoryTransfer[];
  readonly leftOut: readonly LeftOut[];
};

/** The sides of a history, once for all kinds that ask; forgotten with the history. */
const SIFTED = new WeakMap<readonly HistoryTransfer[], { subject: string; sides: Sides }>();

/** Sifts the transfers of an address into those that are a contact and those that are not. */
export function sidesOf(subject: string, transfers: readonly HistoryTransfer[]): Sides {
  const known = SIFTED.get(transfers);
  if (known !== undefined && known.subject === subject) return known.sides;
  const sides = sifted(subject, transfers);
  SIFTED.set(transfers, { subject, sides });
  return sides;
}

function sifted(subject: string, transfers: readonly HistoryTransfer[]): Sides {
  const { leftOut } = sift([subject], transfers);
  const out = new Set(leftOut.map(({ transfer }) => transfer));
  const kept = transfers.filter((one) => one.success !== false && !out.has(one));
  return { kept, leftOut };
}

/** The other end of a transfer of the subject. */
export function otherSide({ from, to }: HistoryTransfer, subject: string): string {
  return from === subject ? to : from;
}

/** Transfers by the other end, each list in the order of the history. */
export function byOther(
  subject: string,
  transfers: readonly HistoryTransfer[],
): ReadonlyMap<string, readonly HistoryTransfer[]> {
  const lists = new Map<string, HistoryTransfer[]>();
  for (const one of transfers) collect(lists, otherSide(one, subject), one);
  return lists;
}

/** Whether any was signed by the subject: unknown where one of them is and none is known to be. */
export function anyOwn(subject: string, transfers: readonly HistoryTransfer[]): boolean | null {
  const own = transfers.map((one) => isSignedBy(subject, one));
  if (own.includes(true)) return true;
  return own.includes(null) ? null : false;
}

/** A transfer as evidence, its direction as seen from one of its ends. */
export function evidenceOf(
  subject: string,
  transfer: HistoryTransfer,
  end: string = subject,
): TransferEvidence {
  const { chain, tx, block, at, from, to, token, usd, raw_amount } = transfer;
  const native = token === null ? CHAINS[chain].native : null;
  const decimals = native === null ? transfer.decimals : native.decimals;
  const hasAmount = decimals !== null && transfer.kind !== 'nft';
  return {
    evidence: 'transfer',
    chain,
    tx,
    block,
    from,
    to,
    token,
    usd,
    at: formatIsoTime(at),
    direction: from === end ? 'out' : 'in',
    symbol: native === null ? transfer.symbol : native.symbol,
    raw_amount: raw_amount.toString(),
    amount: hasAmount ? formatUnits(raw_amount, decimals) : null,
    initiator: signerOf(transfer),
    initiated_by_subject: isSignedBy(subject, transfer),
  };
}

/** The transfers that carry a finding as it shows them, newest first. */
export function carriedBy(
  subject: string,
  transfers: readonly HistoryTransfer[],
): Pick<FindingDraft, 'evidence' | 'evidence_count' | 'initiated_by_subject'> {
  return {
    evidence: transfers.slice(0, EVIDENCE_SHOWN_MAX).map((one) => evidenceOf(subject, one)),
    evidence_count: transfers.length,
    initiated_by_subject: anyOwn(subject, transfers),
  };
}

/** Transfers in words: `3 transfers (2 sent, 1 received)`. */
export function countText(subject: string, transfers: readonly HistoryTransfer[]): string {
  const sent = transfers.filter(({ from }) => from === subject).length;
  const received = transfers.length - sent;
  const parts = [sent > 0 ? `${sent} sent` : null, received > 0 ? `${received} received` : null];
  const noun = transfers.length === 1 ? 'transfer' : 'transfers';
  return `${transfers.length} ${noun} (${parts.filter((one) => one !== null).join(', ')})`;
}

/** The signer, in words that end a statement. */
export function wishText(subject: string, transfers: readonly HistoryTransfer[]): string {
  const own = anyOwn(subject, transfers);
  if (own === true) return 'the address itself signed at least one of them';
  return own === false
    ? 'the address itself signed none of them'
    : 'whether the address itself signed one of them is not known';
}
