// The shape of a finding and of a kind of finding. A kind is a pure function over readings: it
// shows hits of a part, but denies only by a complete reading. It never weighs or ranks its
// findings.

import { createHash } from 'node:crypto';
import type { AddressKind, ParsedAddress } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import { basis, type Partly, type Reading } from '../../evidence/reading.ts';
import type { ChainFactsPort, MixerLookUp, MixerRegistryPort } from '../../ports/accounts.ts';
import type { BridgeRegistryPort, RegistryTable } from '../../ports/bridges.ts';
import type { CoinJoins, EntityClustersPort } from '../../ports/entities.ts';
import {
  type HistoryTransfer,
  isSignedBy,
  signerOf,
  type TransferHistoryPort,
} from '../../ports/history.ts';
import type { FlaggedAddressesPort, FlaggedLookUp } from '../../ports/rug-flags.ts';
import type { ListLookUp, SanctionsListPort } from '../../ports/sanctions.ts';
import type { ExchangeLabelsPort, LabelLookUp } from '../../ports/tables.ts';
import type { Contact, TracePort } from '../bridges/trace.ts';
import { type AddressHistory, viewTransfer } from '../history/address-history.ts';
import { type LeftOut, sift } from '../history/edge-rule.ts';
import type { Walk, WalkPort } from '../sanctions/walk.ts';
import type {
  ApprovalsOf,
  ChainFactsOf,
  FreezesOf,
  LeftOf,
  NamedByFact,
  SetByOf,
} from './facts-asked.ts';
import type { CoveredBlocks, Finding, TransferEvidence } from './shapes.ts';

/** The readings that the kinds are functions of: tables were asked of everyone in the history. */
export type FindingInputs = {
  readonly subject: ParsedAddress;
  readonly history: Partly<AddressHistory, TransferHistoryPort>;
  /** The walk to a listed address: whole where nothing that could hold a way went unread. */
  readonly walk: Partly<Walk, WalkPort>;
  /** The joint transactions of a Bitcoin address. */
  readonly coinJoins: Partly<CoinJoins, EntityClustersPort>;
  readonly listed: Partly<ListLookUp, SanctionsListPort>;
  readonly flagged: Reading<FlaggedLookUp, FlaggedAddressesPort>;
  readonly labels: Reading<LabelLookUp, ExchangeLabelsPort>;
  readonly mixers: Reading<MixerLookUp, MixerRegistryPort>;
  readonly bridges: Reading<RegistryTable, BridgeRegistryPort>;
  /** The contacts with bridges that the trace of each chain shows. */
  readonly bridged: Partly<readonly Contact[], TracePort>;
  /** The facts of each chain on which they were asked, the main one first. */
  readonly facts: readonly ChainFactsOf[];
  /** The freezes by token issuers, on each chain that was read. */
  readonly freezes: readonly FreezesOf[];
  /** The approvals of the address, on each chain that was read. */
  readonly approvals: readonly ApprovalsOf[];
  /** The remaining amounts of approvals to spenders that a table names. */
  readonly left: LeftOf;
  /** Which transactions set what those facts name, where a table names whom they name. */
  readonly setBy: SetByOf;
  /** Everyone whom those facts name. The tables were asked of them too. */
  readonly named: Partly<readonly NamedByFact[], ChainFactsPort>;
};

/** A finding before it has its name. */
export type FindingDraft = Omit<Finding, 'id' | 'kind' | 'title'> & {
  /** The identity of the finding, in place of evidence that may not always be readable. */
  readonly named_by?: string;
};

export type FindingKind = {
  readonly kind: string;
  readonly title: string;
  /** The kinds of address to which the question applies. */
  readonly appliesTo: readonly AddressKind[];
  /** Whether the question is one of the address's transfers, so that their coverage bounds it. */
  readonly ofHistory: boolean;
  /** The blocks that it was asked of, where it is one of other blocks than those of transfers. */
  readonly blocksOf?: (inputs: FindingInputs) => readonly CoveredBlocks[];
  readonly find: (inputs: FindingInputs) => Partly<readonly FindingDraft[], never>;
};

export const EVERY_KIND: readonly AddressKind[] = ['evm', 'solana', 'bitcoin', 'tron'];

const ID_HEX_CHARS = 32;

/** Names a finding after a hash of what it says, without the edition of its source. */
export function nameFinding(kind: FindingKind, subject: string, draft: FindingDraft): Finding {
  const { named_by, ...own } = draft;
  const { as_of: _, source: __, ...content } = own;
  const name = named_by === undefined ? sortedFields(content) : [named_by];
  const said = JSON.stringify([kind.kind, subject, name]);
  const hash = createHash('sha256').update(said).digest('hex');
  return { ...own, id: hash.slice(0, ID_HEX_CHARS), kind: kind.kind, title: kind.title };
}

/** The same fields in the order of their names, at every depth: one text for one content. */
function sortedFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedFields);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return fields.map(([name, held]) => [name, sortedFields(held)]);
}

/** The sources of a reading, all of them by name, and the oldest of their dates. */
export function jointSource(
  reading: Partly<unknown, never>,
): Pick<FindingDraft, 'source' | 'as_of'> {
  const names = new Set(basis(reading).sources.map(({ name }) => name));
  const { as_of } = draftSource(reading);
  return { source: [...names].join('; '), as_of };
}

/** The source of a reading by name and date; of several, the first with the oldest date. */
export function draftSource(
  reading: Partly<unknown, never>,
): Pick<FindingDraft, 'source' | 'as_of'> {
  const [first, ...more] = basis(reading).sources;
  if (first === undefined) throw new Error('finding: found in a reading without a source');
  const as_of = more.reduce((oldest, one) => Math.min(oldest, one.as_of), first.as_of);
  return { source: first.name, as_of };
}

// Sorts transfers with findings by the party that wanted them. The walk's rule (`edge-rule.ts`)
// identifies poisoning and spam: those transfers are kept apart here, shown as such, and never
// taken for a contact.

/** How many transfers a finding shows, the newest; it counts all of them. */
export const EVIDENCE_SHOWN_MAX = 20;

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

  const { leftOut } = sift([subject], transfers);
  const out = new Set(leftOut.map(({ transfer }) => transfer));
  const kept = transfers.filter((one) => one.success !== false && !out.has(one));
  const sides: Sides = { kept, leftOut };
  SIFTED.set(transfers, { subject, sides });
  return sides;
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
export function describeTransfer(
  subject: string,
  transfer: HistoryTransfer,
  end: string = subject,
): TransferEvidence {
  const { block, from, to } = transfer;
  return {
    evidence: 'transfer',
    ...viewTransfer(subject, transfer),
    block,
    from,
    to,
    direction: from === end ? 'out' : 'in',
    initiator: signerOf(transfer),
  };
}

/** The transfers that carry a finding as it shows them, newest first. */
export function carryEvidence(
  subject: string,
  transfers: readonly HistoryTransfer[],
): Pick<FindingDraft, 'evidence' | 'evidence_count' | 'initiated_by_subject'> {
  return {
    evidence: transfers.slice(0, EVIDENCE_SHOWN_MAX).map((one) => describeTransfer(subject, one)),
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
