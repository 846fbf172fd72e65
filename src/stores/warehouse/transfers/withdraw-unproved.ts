// Which coverage of earlier versions is taken back when a warehouse is opened?
// What cannot be held in full (chain/whole-kinds.ts) was recorded once by nodes and files. It would
// rule out transfers that no such source tells; the rows themselves stay.

import { z } from 'zod';
import { CHAIN_NAMES } from '../../../chain/chain.ts';
import { wholeKinds } from '../../../chain/whole-kinds.ts';
import type { Warehouse } from '../engine/executor.ts';
import { WRITE } from './append.ts';
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
const one = z.tuple([z.coerce.number()]);

/** Takes it back where there is any. A crash in between leaves the rest to the next start. */
export async function withdrawUnproved(warehouse: Warehouse): Promise<void> {
  const chains = UNTRACED.map((chain) => `'${chain}'`).join(', ');
  await deleteRows(warehouse, 'coverage', `kind = 'internal' AND chain IN (${chains})`);
  const whole = WHOLE_OF_SOLANA.map((kind) => `AND kind != '${kind}'`).join(' ');
  await deleteRows(warehouse, 'address_coverage', `chain = 'solana' ${whole}`);
  const followed = `FROM following FINAL WHERE chain IN (${chains}) AND has(kinds, 'internal')`;
  const some = await warehouse.query(`SELECT 1 ${followed} LIMIT 1`, {
    ...WRITE,
    row: one,
    tuples: true,
  });
  if (some.length === 0) return;
  await warehouse.command(
    `INSERT INTO following (chain, from_block, kinds, source, observed, final_block, final_hash,
       final_time, rollbacks, version, epoch, stamp_blocks, stamps, sealed_block)
     SELECT chain, from_block, arrayFilter(kind -> kind != 'internal', kinds), source, observed,
       final_block, final_hash, final_time, rollbacks + 1, version + 1, epoch, stamp_blocks,
       stamps, sealed_block ${followed}`,
    WRITE,
  );
}
