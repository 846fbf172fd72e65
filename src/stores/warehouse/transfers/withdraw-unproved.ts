// Which coverage of earlier versions is taken back when a warehouse is opened?
// What cannot be held in full (chain/whole-kinds.ts) was recorded once by nodes and files. It would
// rule out transfers that no such source tells; the rows themselves stay.

import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import { wholeKinds } from '../../../chain/whole-kinds.ts';
import { type Warehouse, WarehouseUnavailable } from '../engine/executor.ts';
import { claim, claimedEpoch, readPosition, Superseded, writePosition } from './follow-position.ts';
import { adoptTip } from './follow-takeover.ts';
import { deleteRows } from './forget-rows.ts';

/** Whoever records blocks of a chain, and whoever records ranges of an address of Solana. */
const OF_SOLANA = ['solana_node'] as const;
const OF_BLOCKS = ['trace_block', 'call_tracer', 'trace_files'] as const;
/** A block above all: what no source tells from there on is told by none at all. */
const NEWEST_BLOCK = Number.MAX_SAFE_INTEGER;
const UNTRACED = CHAIN_NAMES.filter((chain) =>
  (chain === 'solana' ? OF_SOLANA : OF_BLOCKS).every((source) => {
    return !wholeKinds(source, chain, NEWEST_BLOCK).includes('internal');
  }),
);
const WHOLE_OF_SOLANA = wholeKinds('solana_node', 'solana', NEWEST_BLOCK);
/** How often a chain may be taken over while it is taken back. */
const TRIES_MAX = 5;

/** Takes it back where there is any. A crash in between leaves the rest to the next start. */
export async function withdrawUnproved(warehouse: Warehouse): Promise<void> {
  const chains = UNTRACED.map((chain) => `'${chain}'`).join(', ');
  await deleteRows(warehouse, 'coverage', `kind = 'internal' AND chain IN (${chains})`);
  const whole = WHOLE_OF_SOLANA.map((kind) => `AND kind != '${kind}'`).join(' ');
  await deleteRows(warehouse, 'address_coverage', `chain = 'solana' ${whole}`);
  for (const chain of UNTRACED) await withdrawFollowed(warehouse, chain);
}

/**
 * Takes it back of what is followed, under an epoch of its own: a follower that does not know of
 * it, paused or at work, makes nothing count any more, and neither does this once another has taken
 * over.
 */
async function withdrawFollowed(warehouse: Warehouse, chain: ChainName): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const before = await readPosition(warehouse, chain);
    if (before === null || !before.cursor.kinds.includes('internal')) return;
    const epoch = Math.max(before.epoch, await claimedEpoch(warehouse, chain)) + 1;
    try {
      await claim(warehouse, chain, epoch);
      const position = await adoptTip(warehouse, before, epoch);
      const kinds = position.cursor.kinds.filter((kind) => kind !== 'internal');
      position.cursor = { ...position.cursor, kinds };
      const over = position.version;
      // A statement of theirs that was under way at the claim bears the next version.
      position.version += 1;
      await writePosition(warehouse, position, over);
    } catch (error) {
      // Whoever took over meanwhile may have begun from the row as it was.
      if (!(error instanceof Superseded)) throw error;
    }
  }
  throw new WarehouseUnavailable('interrupted');
}
