// How do staged rows become facts of the store, whole blocks at a time?
// A part that was written and not yet counted is written again, which changes nothing.

import { tally } from '../../../evidence/measure.ts';
import type { Why } from '../../../evidence/reasons.ts';
import type { BulkImportOrder } from '../../../ports/indexing/bulk-import.ts';
import type { Facts, Provenance, TransferStore } from '../../../ports/indexing/transfer-store.ts';
import type { Checkpoint } from './checkpoint.ts';
import { withBlock } from './held-blocks.ts';
import type { Chunk, Scratch } from './scratch.ts';
import { byBlock, hasTime, type ValidatedBlock, validateBlock } from './validate-block.ts';

/** What of the store an import writes to. */
export type ImportStore = Pick<TransferStore, 'appendImported' | 'recordCoverage' | 'blockTimes'>;

/** Writes a chunk and answers the checkpoint behind it, or why the store was not written. */
export async function writeChunk(
  chunk: Chunk,
  state: Checkpoint,
  order: BulkImportOrder,
  provenance: Provenance,
  to: { readonly store: ImportStore; readonly scratch: Scratch },
): Promise<{ readonly state: Checkpoint } | { readonly why: Why }> {
  const proved = state.proved.map((range) => ({ ...range }));
  const leftOut = new Map(Object.entries(state.left_out));
  const all: ValidatedBlock[] = [];
  const blocks = byBlock(chunk.rows);
  const timeless = [...blocks].filter(([, rows]) => !hasTime(rows)).map(([block]) => block);
  // Files that do not tell when their blocks were made rest on headers imported before.
  const times = await to.store.blockTimes(order.chain, timeless);
  if (!times.checked) return { why: times.why };
  for (const [block, rows] of blocks) {
    const refusedHere = chunk.refused.get(block);
    const known = { refusedHere: refusedHere === undefined ? NONE_REFUSED : refusedHere };
    const one = validateBlock(rows, order, { ...known, time: times.value.get(block) });
    all.push(one);
    for (const [code, n] of one.leftOut) for (let i = 0; i < n; i += 1) tally(leftOut, code);
    const header = one.blocks[0];
    if (header === undefined) continue;
    if (one.proof.native) withBlock(proved, 'native', block, header.time);
    if (one.proof.internal) withBlock(proved, 'internal', block, header.time);
  }
  const facts: Facts = {
    transfers: all.flatMap(({ transfers }) => transfers),
    creations: all.flatMap(({ creations }) => creations),
    blocks: all.flatMap(({ blocks }) => blocks),
    transactions: all.flatMap(({ transactions }) => transactions),
  };
  const written = await to.store.appendImported(facts, provenance);
  if (!written.checked) return { why: written.why };
  await to.scratch.refuse(all.flatMap(({ refused }) => refused));
  const moved = facts.transfers.filter(({ success }) => success !== false);
  return {
    state: {
      ...state,
      next_block: chunk.toBlock + 1,
      rows_written: state.rows_written + chunk.rows.length,
      transfers: state.transfers + moved.length,
      success_unknown: state.success_unknown + moved.filter((one) => one.success === null).length,
      creations: state.creations + facts.creations.length,
      of_another_fork: state.of_another_fork + written.value.of_another_fork,
      left_out: Object.fromEntries(leftOut),
      // A block of which transfers were left out is not held as these files have it.
      proved: written.value.of_another_fork === 0 ? proved : state.proved,
    },
  };
}

const NONE_REFUSED: ReadonlySet<string> = new Set<string>();
