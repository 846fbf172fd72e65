// Answers one question: how is a wrong import taken out of the warehouse again?
// Coverage goes before rows, so that nothing is ever held in full of which a row is gone.

import type { ChainName } from '../../chain/chain.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { TransferStorePort } from './transfer-store.ts';

/** What is to be forgotten: blocks of a chain, both ends included. */
export type ForgetOrder = {
  readonly chain: ChainName;
  readonly from_block: number;
  readonly to_block: number;
};

/** Blocks of a kind that are no longer held in full; `source` is who had said so. */
export type Withdrawn = {
  readonly kind: TransferKind;
  readonly from_block: number;
  readonly to_block: number;
  readonly source: string;
};

/** Blocks of which the rows of some kinds stay, because a follower vouches for them. */
export type Staying = {
  readonly kinds: readonly TransferKind[];
  readonly from_block: number;
  readonly to_block: number;
};

/** What forgetting would take out, or has taken out. */
export type Forgotten = {
  readonly chain: ChainName;
  readonly from_block: number;
  readonly to_block: number;
  /** Transfers that are held of these blocks and go. */
  readonly transfers: number;
  readonly withdrawn: readonly Withdrawn[];
  /** Ranges of single addresses that touch these blocks; they are read anew when asked for. */
  readonly addresses: number;
  readonly staying: readonly Staying[];
};

/**
 * Takes blocks out of the warehouse. `plan` changes nothing. An unread `forget` may have been done
 * in part: coverage is gone then, rows may not be, and the same order takes out the rest.
 */
export type Forgetting = {
  readonly plan: (order: ForgetOrder) => Promise<Reading<Forgotten, TransferStorePort>>;
  /** The signal ends it between two steps. */
  readonly forget: (
    order: ForgetOrder,
    signal: AbortSignal,
  ) => Promise<Reading<Forgotten, TransferStorePort>>;
};
