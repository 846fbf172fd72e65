// What does one list of an address's transfers hold from a block on? As a provider lists it, one
// slice after another, so that a long history is read and kept bit by bit.

import type { EvmChainName } from '../../chain/chain.ts';
import type { UnixSeconds } from '../../chain/time.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { HistoryTransfer, RawHistoryPort } from './transfer-history.ts';

/** One list of one address, from a block on. */
export type ListAsked = {
  readonly chain: EvmChainName;
  readonly address: string;
  readonly kind: TransferKind;
  readonly from_block: number;
};

/** What may be spent: calls, and the time that `signal` leaves. Each call is told. */
export type ListSpending = {
  readonly callsMax: number;
  readonly signal: AbortSignal;
  readonly onCall: () => void;
};

/** All rows of a list from the block asked up to `to_block`, each of whole transactions. */
export type ListSlice = {
  readonly transfers: readonly HistoryTransfer[];
  readonly to_block: number;
  /** When `to_block` was made, or some time before. */
  readonly to_time: UnixSeconds;
  /** Whether `to_block` is the newest block that is settled. */
  readonly ended: boolean;
};

/** The lists of a deployment's providers. */
export type ListedHistories = {
  /** Which kinds are told in full, chain by chain; a list of any other kind is not asked for. */
  readonly kinds: ReadonlyMap<EvmChainName, readonly TransferKind[]>;
  readonly slice: (
    asked: ListAsked,
    spending: ListSpending,
  ) => Promise<Reading<ListSlice, RawHistoryPort>>;
};
