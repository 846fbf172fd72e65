// The anchors of the transparency log: its roots, as a contract on a chain holds them.

import { z } from 'zod';
import type { Reading } from '../evidence/reading.ts';

export type AnchorsPort = 'anchors';

/**
 * How far the anchor that covers a leaf is: nothing was sent, or what was sent is gone again
 * (`queued`); sent and not final (`submitted`); final (`confirmed`); refused by the chain
 * (`failed`).
 */
export const ANCHOR_STATUSES = ['queued', 'submitted', 'confirmed', 'failed'] as const;

/** The anchor that covers a leaf of the log, as this deployment keeps it. No chain is asked. */
export const leafAnchor = z.strictObject({
  anchor_status: z.enum(ANCHOR_STATUSES),
  /** The hash of the transaction, once it is final. */
  anchor_tx: z.string().nullable(),
  /** The size of the log whose root was sent; `null` while none that covers the leaf was sent. */
  anchor_size: z.int().positive().nullable(),
});
export type LeafAnchor = z.output<typeof leafAnchor>;

/** What the contract holds for a size of the log at a finalised block of its chain. */
export type AnchoredRoot = {
  /** 32 bytes as `0x` hex; `null`: the contract holds none for this size. */
  readonly root: string | null;
  /** The finalised block at which the contract was read. */
  readonly block: number;
};

/** The anchors of the log. */
export type Anchors = {
  /** The chain that anchors are meant for, by its number of EIP-155. */
  readonly anchor_chain_id: number;
  /** The anchor of each leaf, in the order of the indexes. At most `LEAVES_ASKED_MAX`. */
  readonly anchorsOf: (
    indexes: readonly number[],
  ) => Promise<Reading<readonly LeafAnchor[], AnchorsPort>>;
  /** Asks the chain. Unread where no contract is set, and where the node gave no answer. */
  readonly rootAt: (
    size: number,
    signal: AbortSignal,
  ) => Promise<Reading<AnchoredRoot, AnchorsPort>>;
};

/** The most leaves that one question names. */
