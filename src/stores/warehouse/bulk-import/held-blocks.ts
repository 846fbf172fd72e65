// Which ranges of blocks may be recorded as held in full, and on whose word?
// What the files prove, block by block, and what the operator declares; a refused row breaks both.

import type { TransferKind } from '../../../chain/transfer.ts';

/** Blocks of a kind, both ends included; `to_time` is the last one's, in Unix seconds. */
export type HeldRange = {
  readonly kind: TransferKind;
  readonly from_block: number;
  readonly to_block: number;
  readonly to_time: number;
};

/** Ranges kept apart at most; an import of scattered blocks proves no more than these. */
export const RANGES_MAX = 5_000;

/** Adds a range of a kind: it goes on with the last one of its kind, or is one of its own. */
export function withRange(ranges: HeldRange[], range: HeldRange): void {
  const at = ranges.findLastIndex(({ kind }) => kind === range.kind);
  const last = ranges[at];
  if (last !== undefined && last.to_block + 1 === range.from_block) {
    ranges[at] = { ...range, from_block: last.from_block };
  } else if (ranges.length < RANGES_MAX) {
    ranges.push(range);
  }
}

/** A range without some of its blocks, which are given lowest first. */
export function without(
  range: { readonly from_block: number; readonly to_block: number },
  blocks: readonly number[],
): readonly { readonly from_block: number; readonly to_block: number }[] {
  const parts: { from_block: number; to_block: number }[] = [];
  let from = range.from_block;
  for (const block of blocks) {
    if (block < from || block > range.to_block) continue;
    if (block > from) parts.push({ from_block: from, to_block: block - 1 });
    from = block + 1;
  }
  if (from <= range.to_block) parts.push({ from_block: from, to_block: range.to_block });
  return parts;
}
