// What is a finding, and what is a kind of finding?
// A kind is a pure function over readings: what it saw in part it shows, and only what it read to
// its end lets it say that it saw nothing. It refuses to weigh or rank what it found.

import { createHash } from 'node:crypto';
import type { AddressKind, ParsedAddress } from '../../chain/address.ts';
import { basis, type Partly, type Reading } from '../../evidence/reading.ts';
import type { ChainFactsPort } from '../../ports/accounts/chain-facts.ts';
import type { MixerLookUp, MixerRegistryPort } from '../../ports/accounts/mixer-registry.ts';
import type { BridgeRegistryPort, RegistryTable } from '../../ports/bridges/bridge-registry.ts';
import type { CoinJoins, EntityClustersPort } from '../../ports/entities/entity-clusters.ts';
import type { FlaggedAddressesPort, FlaggedLookUp } from '../../ports/flags/flagged-addresses.ts';
import type { TransferHistoryPort } from '../../ports/history/transfer-history.ts';
import type { ExchangeLabelsPort, LabelLookUp } from '../../ports/labels/exchange-labels.ts';
import type { ListLookUp, SanctionsListPort } from '../../ports/sanctions/sanctions-list.ts';
import type { AddressHistory } from '../history/address-history.ts';
import type { Walk, WalkPort } from '../sanctions/walk.ts';
import type {
  ApprovalsOf,
  ChainFactsOf,
  FreezesOf,
  LeftOf,
  NamedByFact,
  SetByOf,
} from './read-of-chains.ts';

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
  /** The facts of each chain on which they were asked, the main one first. */
  readonly facts: readonly ChainFactsOf[];
  /** What issuers of tokens say of it, on each chain on which they were asked. */
  readonly freezes: readonly FreezesOf[];
  /** Whom it allowed to take its tokens, on each chain on which that was asked. */
  readonly approvals: readonly ApprovalsOf[];
  /** What is left of the approvals to spenders whom a table names. */
  readonly left: LeftOf;
  /** Which transactions set what those facts name, where a table names whom they name. */
  readonly setBy: SetByOf;
  /** Everyone whom those facts name. The tables were asked of them too. */
  readonly named: Partly<readonly NamedByFact[], ChainFactsPort>;
};

/** A transfer that carries a finding. `tx` is the block's hash for what belongs to none. */
export type TransferEvidence = {
  readonly evidence: 'transfer';
  readonly chain: string;
  readonly tx: string;
  readonly block: number;
  /** ISO 8601. */
  readonly at: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'in' | 'out';
  readonly token: string | null;
  readonly symbol: string | null;
  readonly raw_amount: string;
  /** In whole coins or tokens; `null` where the decimals are unknown. */
  readonly amount: string | null;
  readonly usd: string | null;
  readonly initiator: string | null;
  readonly initiated_by_subject: boolean | null;
};

/**
 * Something that a table or a contract says. `tx` and what follows are null where it has none;
 * `tx_reason` says why, where one may be expected.
 */
export type RecordEvidence = {
  readonly evidence: 'record';
  readonly chain: string | null;
  readonly tx: string | null;
  readonly tx_reason?: string;
  readonly block: number | null;
  readonly at: string | null;
  readonly name: string;
  readonly value: string;
};
type Evidence = TransferEvidence | RecordEvidence;

/** A finding before it has its name. */
export type FindingDraft = {
  readonly statement: string;
  readonly evidence: readonly Evidence[];
  /** How many items carry it in all; `evidence` shows the newest of them. */
  readonly evidence_count: number;
  /** Whether the subject signed any of it; `null` where nothing says so. */
  readonly initiated_by_subject: boolean | null;
  readonly source: string;
  /** Unix seconds: when that source was observed. */
  readonly as_of: number;
  /** What names it in place of its evidence, some of which may be read at one time alone. */
  readonly named_by?: string;
};

/** One thing that was found. `id` is the same wherever the same content is found again. */
export type Finding = Omit<FindingDraft, 'named_by'> & {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
};

/** Blocks of one chain. */
export type AskedBlocks = { readonly chain: string; readonly from: number; readonly to: number };

/** One kind of finding. */
export type FindingKind = {
  readonly kind: string;
  readonly title: string;
  /** The kinds of address to which the question applies. */
  readonly appliesTo: readonly AddressKind[];
  /** Whether the question is one of the address's transfers, so that their coverage bounds it. */
  readonly ofHistory: boolean;
  /** The blocks that it was asked of, where it is one of other blocks than those of transfers. */
  readonly blocksOf?: (inputs: FindingInputs) => readonly AskedBlocks[];
  readonly find: (inputs: FindingInputs) => Partly<readonly FindingDraft[], never>;
};

/** Every kind of address. */
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
