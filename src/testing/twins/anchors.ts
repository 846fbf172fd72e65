// The twin of anchors: what was sent to the contract, and what the chain holds.

import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { AnchoredRoot, Anchors, LeafAnchor } from '../../ports/anchoring.ts';
import { type Dated, memorySource } from './dated.ts';

export type AnchorsPorts = { readonly anchors: Anchors };

/** The anchors of a memory: what was sent over each leaf, and what the chain holds by size. */
export type MemoryAnchors = Dated & {
  readonly sent?: LeafAnchor;
  readonly roots?: ReadonlyMap<number, AnchoredRoot>;
  /** Why the chain gives no answer. */
  readonly chain?: Why;
};

export const MEMORY_CHAIN = 8_453;
const NOTHING_SENT: LeafAnchor = {
  anchor_status: 'queued',
  anchor_tx: null,
  anchor_size: null,
};

export function memoryAnchors(memory: MemoryAnchors): Anchors {
  const { sent = NOTHING_SENT, roots, chain, ...dated } = memory;
  const origin = { port: 'anchors', source: memorySource('Anchors', 'table', dated) } as const;
  return {
    anchor_chain_id: MEMORY_CHAIN,
    anchorsOf: async (indexes) =>
      read(
        indexes.map(() => sent),
        origin,
      ),
    rootAt: async (size) => {
      if (chain !== undefined) return unread('anchors', chain);
      const root = roots?.get(size);
      return read(root === undefined ? { root: null, block: 1 } : root, origin);
    },
  };
}

/** Every anchor, silent for one reason. */
export function silentAnchors(cause: Why): AnchorsPorts {
  return {
    anchors: {
      anchor_chain_id: MEMORY_CHAIN,
      anchorsOf: async () => unread('anchors', cause),
      rootAt: async () => unread('anchors', cause),
    },
  };
}
