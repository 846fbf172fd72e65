// Answers one question: how is a wrong import taken out of the warehouse again?
// Coverage goes before rows, so that nothing is ever held in full of which a row is gone.

import type { ChainName } from '../../chain/chain.ts';
import type { TransferKind } from '../../chain/transfer.ts';
import type { Reading } from '../../evidence/reading.ts';
import type { TransferStorePort } from './transfer-store.ts';

/** What is to be forgotten: blocks of a chain, both ends included, or what an import wrote. */
export type ForgetOrder =
  | { readonly chain: ChainName; readonly from_block: number; readonly to_block: number }
  | { readonly import_id: string };

/** Blocks of a kind that are no longer held in full; `source` is who had said so. */
export type Withdrawn = {
  readonly kind: TransferKind;
  readonly from_block: number;
  readonly to_block: number;
  readonly source: string;
};

/** Blocks of which the rows of a kind stay: whoever else brought them vouches for them. */
export type Staying = {
  readonly because: 'followed' | 'held_in_full' | 'another_import';
  readonly kind: TransferKind;
  readonly blocks: number;
};

/** What forgetting would take out, or has taken out. */
export type Forgotten = {
  readonly chain: ChainName;
  readonly import_id: string | null;
  /** The lowest and the highest block that it touches. */
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
 * Takes blocks out of the warehouse. `plan` changes nothing; `null`: no such import is listed, or
 * it wrote nothing. An unread `forget` may have been done in part: coverage is gone then, rows may
 * not be, and the same order takes out the rest.
 */
export type Forgetting = {
  readonly plan: (order: ForgetOrder) => Promise<Reading<Forgotten | null, TransferStorePort>>;
  /** The signal ends it between two steps. */
  readonly forget: (
    order: ForgetOrder,
    signal: AbortSignal,
  ) => Promise<Reading<Forgotten | null, TransferStorePort>>;
};
