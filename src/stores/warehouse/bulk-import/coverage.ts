// Which blocks does an import record as held in full?
// Those that its files prove, and those that the operator declared, without the blocks of which a
// row was refused. What no file can tell is not taken on anybody's word.

import { type TransferKind, wholeKinds } from '../../../chain/transfer.ts';

import type {
  BulkDataset,
  BulkImportOrder,
  ImportedFile,
} from '../../../ports/indexing/imports.ts';
import type { HeldRange } from '../../../ports/indexing/transfer-store.ts';
import type { Checkpoint } from './checkpoint.ts';
import { RANGES_MAX, without } from './held-blocks.ts';
import type { ImportTables } from './import-tables.ts';

/** Blocks with refused rows that a declared range is cut at; with more it is not believed. */
const HOLES_MAX = 1_000;

/** What is asked of the rows of an import that were refused, and of their times. */
export type ToldRows = Pick<ImportTables, 'refusedBlocks' | 'lastTime'>;

/** What of an import's counts its coverage hangs on. */
type Counted = Pick<
  Checkpoint,
  'proved' | 'of_another_fork' | 'contradicted' | 'success_unknown' | 'left_out'
>;
type Told = { readonly kind: TransferKind; readonly by: readonly BulkDataset[] };

/** The ranges to record. */
export async function coverageOf(
  state: Counted,
  order: BulkImportOrder,
  files: readonly ImportedFile[],
  source: string,
  rows: ToldRows,
  onNote: (line: string) => void,
): Promise<readonly HeldRange[]> {
  const common = { chain: order.chain, source, origin: order.origin } as const;
  const proved = state.proved.map((range) => ({ ...common, ...range }));
  if (proved.length >= RANGES_MAX) {
    onNote(`Only the first ${RANGES_MAX} ranges of blocks are recorded as held in full.`);
  }
  if (order.declared === null) return proved;
  if (state.of_another_fork > 0) {
    onNote('Another fork is held of some of these blocks, so no declared block is held in full.');
    return proved;
  }
  if (state.contradicted > 0) {
    onNote('Headers of some blocks are not those of their rows, so no declared block is held.');
    return proved;
  }
  const declared: HeldRange[] = [];
  for (const told of toldKinds(state, order, files, onNote)) {
    const holes = await holesOf(told, rows);
    if (holes === null) {
      onNote(`${told.kind}: too many rows were refused, so no declared block is held in full.`);
      continue;
    }
    for (const part of without(order.declared, holes)) {
      const to_time = await rows.lastTime(part.to_block);
      if (to_time === null) onNote(`No time is known up to block ${part.to_block}.`);
      else declared.push({ ...common, ...part, kind: told.kind, to_time });
    }
  }
  return [...proved, ...declared];
}

/** The kinds of transfer that the files can tell whole, each with the datasets that tell it. */
function toldKinds(
  state: Counted,
  { chain }: BulkImportOrder,
  files: readonly ImportedFile[],
  onNote: (line: string) => void,
): readonly Told[] {
  const has = (dataset: BulkDataset) => files.some((file) => file.dataset === dataset);
  const kinds: Told[] = [];
  if (has('token_transfers')) kinds.push({ kind: 'token', by: ['token_transfers'] });
  const coins: BulkDataset[] = (['traces', 'transactions', 'native_transfers'] as const).filter(
    has,
  );
  const untold = state.left_out['created_address_not_told'];
  if (coins.length > 0 && (state.success_unknown > 0 || untold !== undefined)) {
    onNote('native: the files do not tell of every transaction whether and whom it reached.');
    return kinds;
  }
  if (coins.length > 0) kinds.push({ kind: 'native', by: coins });
  if (!has('traces')) return kinds;
  if (wholeKinds('trace_files', chain, FIRST_BLOCK).includes('internal')) {
    kinds.push({ kind: 'internal', by: ['traces', 'blocks'] });
  } else {
    onNote(`internal: traces of ${chain} do not tell all of it, so no declared block is held.`);
  }
  return kinds;
}

const FIRST_BLOCK = 0;

async function holesOf({ by }: Told, rows: ToldRows): Promise<readonly number[] | null> {
  const holes = new Set<number>();
  for (const dataset of by) {
    const blocks = await rows.refusedBlocks(dataset, HOLES_MAX + 1);
    // A refused row that names no block may be of any.
    if (blocks.length > HOLES_MAX || blocks.includes(0)) return null;
    for (const block of blocks) holes.add(block);
  }
  return [...holes].sort((a, b) => a - b);
}
