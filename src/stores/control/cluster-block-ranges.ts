// Which ranges of blocks are held once some more are? Those that adjoin and are alike become one.
// A block that is held already is refused: what it paid was counted, and would be counted twice.

import type { BlockRange } from '../../ports/entities/cluster-store.ts';

/** Blocks came that are held already: another import was faster. */
export class BlocksTaken extends Error {
  constructor() {
    super('another import has taken in some of these blocks meanwhile');
    this.name = 'BlocksTaken';
  }
}

/** The ranges held and the new ones, lowest first, joined where they adjoin. */
export function joinedRanges(
  held: readonly BlockRange[],
  added: readonly BlockRange[],
): BlockRange[] {
  const joined: BlockRange[] = [];
  for (const range of [...held, ...added].sort((a, b) => a.from_block - b.from_block)) {
    const last = joined.at(-1);
    if (last !== undefined && range.from_block <= last.to_block) throw new BlocksTaken();
    const adjoins = last?.to_block === range.from_block - 1 && isAlike(last, range);
    if (last === undefined || !adjoins) joined.push(range);
    else joined.splice(-1, 1, { ...range, from_block: last.from_block });
  }
  return joined;
}

function isAlike(a: BlockRange, b: BlockRange): boolean {
  return a.change === b.change && a.signatures === b.signatures;
}
