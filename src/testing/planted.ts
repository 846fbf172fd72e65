// What is planted in a world, and what may therefore not be said there?

import type { MixerContract } from '../ports/accounts.ts';
import type { ArrivalLog, DepositStatus, Payment, ReceiptFacts } from '../ports/bridges.ts';
import type { CommittedRecord } from '../ports/deployers.ts';
import type { HistoryTransfer } from '../ports/history.ts';
import type { ReceiptFiles } from '../ports/receipts.ts';
import type { FlaggedRow, LaunchFlag } from '../ports/rug-flags.ts';
import type { ListEntry } from '../ports/sanctions.ts';
import type { ExchangeLabel, OtherListEntry } from '../ports/tables.ts';
import { evm } from './addresses.ts';
import { STILL_NOW } from './clock.ts';
import type { MemoryFact } from './memory/chain-facts.ts';
import type { MemoryClusters } from './memory/entity-clusters.ts';
import type { MemoryFreezes } from './memory/issuer-freezes.ts';
import type { MemoryApproval } from './memory/token-approvals.ts';
import type { MemoryCoverage } from './memory/transfer-history.ts';

export const HOUR_S = 3_600;
/** The address that most worlds are about. */
export const SUBJECT = evm('subject');

/** What may be planted of facts and tables. */
export type ForensicPlanted = {
  readonly facts?: readonly MemoryFact[];
  readonly frozen?: MemoryFreezes['frozen'];
  readonly approvals?: readonly MemoryApproval[];
  readonly flagged?: readonly FlaggedRow[];
  readonly mixers?: readonly MixerContract[];
};

/** Something that is so in a world, and what may therefore not be said there. */
export type Fact = {
  readonly name: string;
  /** The address that has to be asked about, in the form in which it is asked. */
  readonly about: string;
  /** The day that has to be asked about; `null` for today. */
  readonly on: string | null;
  /** The chain that it is on: named, or the one that a route takes by itself. */
  readonly chain: string;
  /** What the list item that it stands in holds under one of its keys, where it stands in one. */
  readonly item: string;
  /** The claims that it contradicts, by route and pattern. */
  readonly contradicts: { readonly [route: string]: readonly string[] };
};

/** What is planted in a world. */
export type Planted = ForensicPlanted & {
  readonly entries?: readonly ListEntry[];
  /** Entries of a list of another authority. */
  readonly otherEntries?: readonly OtherListEntry[];
  /** Entries of the older publication alone. */
  readonly olderEntries?: readonly ListEntry[];
  readonly labels?: readonly ExchangeLabel[];
  readonly launchers?: readonly string[];
  /** Wallets that made a launch which waits to be settled. */
  readonly waiting?: readonly string[];
  readonly transfers?: readonly HistoryTransfer[];
  readonly receipts?: readonly ReceiptFacts[];
  /** What contracts of bridges logged on Base. */
  readonly arrivals?: readonly ArrivalLog[];
  /** What is held of payments on Base, of which no node is set then. */
  readonly paid?: readonly (Payment & { readonly to: string })[];
  /** What a status page says, by the transaction that sent it. */
  readonly pages?: ReadonlyMap<string, DepositStatus>;
  /** Articles about the subject. */
  readonly articles?: ReceiptFiles;
  readonly deployers?: readonly CommittedRecord[];
  /** Launches that the rug model flags. */
  readonly rugFlags?: readonly LaunchFlag[];
  /** The members of each cluster of Ethereum. */
  readonly clusters?: readonly (readonly string[])[];
  /** Who took part in which joint transaction of Bitcoin. */
  readonly joined?: NonNullable<MemoryClusters['joined']>;
  /** The ids of entities that gave way to any that is asked about. */
  readonly formerIds?: readonly string[];
  /** Whether the ring around the list is still to be built. */
  readonly ringUnbuilt?: boolean;
  /** What is held of Ethereum, where that is not all of it. */
  readonly coverage?: readonly MemoryCoverage[];
};

/** A world as it is written down. */
export type Plan = Planted & {
  readonly name: string;
  readonly about: string;
  readonly on?: string;
  readonly chain?: string;
  readonly item?: string;
  readonly contradicts: Fact['contradicts'];
  readonly subjects?: readonly string[];
  readonly days?: readonly string[];
};

let block = 0;

/** A coin that moved between two addresses; each one is newer than the one before. */
export function transferOf(
  from: string,
  to: string,
  change: Partial<HistoryTransfer> = {},
): HistoryTransfer {
  block += 1;
  return {
    chain: 'ethereum',
    kind: 'native',
    tx: `0x${block.toString(16).padStart(64, '0')}`,
    block,
    at: STILL_NOW - HOUR_S * 24 + block,
    from,
    to,
    token: null,
    symbol: null,
    decimals: null,
    raw_amount: 10n ** 18n,
    usd: '3000',
    has_market: null,
    initiator: from,
    success: true,
    ...change,
  };
}

/** Worlds of the walk are asked about their subject alone. */
export function walkPlan(plan: Omit<Plan, 'about' | 'subjects'>): Plan {
  return { ...plan, about: SUBJECT, subjects: [SUBJECT] };
}
