// What did an import come to when each row passed through JavaScript, block by block?
// The rule as it stood before the engine took it over: it proves by comparison that the set-based
// one accepts, refuses, numbers and proves the same. Never for production: it is slow.

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CHAINS } from '../../chain/chain.ts';
import { tally } from '../../evidence/measure.ts';
import type { BulkImportOrder, ImportedFile } from '../../ports/indexing/bulk-import.ts';
import type { Facts, TransferStore } from '../../ports/indexing/transfer-store.ts';
import { coverageOf } from '../../stores/warehouse/bulk-import/coverage.ts';
import { type HeldRange, withRange } from '../../stores/warehouse/bulk-import/held-blocks.ts';
import { layoutOf } from '../../stores/warehouse/bulk-import/layout.ts';
import { planOf, sourceOf } from '../../stores/warehouse/bulk-import/plan.ts';
import { openScratch, type Scratch } from './scratch.ts';
import { byBlock, hasTime, type ValidatedBlock, validateBlock } from './validate-block.ts';

/** What an import by rows came to, as far as it is compared. */
export type ByRows = {
  readonly rows: number;
  readonly transfers: number;
  readonly creations: number;
  readonly refused: ReadonlyMap<string, number>;
  /** `file row reason` of each refused row, in their order. */
  readonly refusedLines: readonly string[];
  readonly left_out: ReadonlyMap<string, number>;
};

type Store = Pick<TransferStore, 'appendImported' | 'recordCoverage' | 'blockTimes'>;

const LINES_MAX = 10_000;
const CHUNK_ROWS = 1_000_000;

/** Imports files row by row; `folder` is for scratch. */
export async function importByRows(
  store: Store,
  order: BulkImportOrder,
  folder: string,
): Promise<ByRows> {
  const plan = await planOf(order);
  const scratch = await openScratch(join(folder, 'scratch'), CHUNK_ROWS);
  try {
    const files: ImportedFile[] = [];
    for (const file of plan.files) files.push(...(await staged(scratch, file, order, folder)));
    const state = await written(scratch, store, order, plan.id);
    const counted = { ...state, of_another_fork: 0, contradicted: 0 };
    const left_out = Object.fromEntries(state.left_out);
    const source = sourceOf(plan);
    const told = { ...counted, left_out };
    const coverage = await coverageOf(told, order, files, source, scratch, () => undefined);
    await store.recordCoverage(coverage);
    const lines = await scratch.refusedLines(LINES_MAX);
    return {
      rows: files.reduce((sum, { rows }) => sum + rows, 0),
      transfers: state.transfers,
      creations: state.creations,
      refused: await scratch.refusedCounts(),
      refusedLines: lines.map(({ file, line, reason }) => `${file} ${line} ${reason}`),
      left_out: state.left_out,
    };
  } finally {
    await scratch.close();
  }
}

async function staged(
  scratch: Scratch,
  file: Awaited<ReturnType<typeof planOf>>['files'][number],
  order: BulkImportOrder,
  folder: string,
): Promise<readonly ImportedFile[]> {
  const { format, gzip, number, name } = file;
  if (format === 'empty') return [];
  const path = join(folder, `by-rows-${number}`);
  await symlink(file.path, path);
  const columns =
    file.columns === null
      ? await scratch.columnsOf(path)
      : file.columns.map((column) => ({ name: column, type: null }));
  const layout = layoutOf(
    name,
    columns.map((column) => column.name),
  );
  const about = { name, layout: layout.name, dataset: layout.dataset };
  if (layout.dataset === 'left_aside') return [{ ...about, rows: 0 }];
  const chainId = Number(CHAINS[order.chain].chain_id);
  const { signal } = new AbortController();
  const rows = await scratch.stage(
    { path, format, gzip, number, layout, columns, chainId },
    signal,
  );
  return [{ ...about, rows }];
}

async function written(scratch: Scratch, store: Store, order: BulkImportOrder, import_id: string) {
  const proved: HeldRange[] = [];
  const left_out = new Map<string, number>();
  const all: ValidatedBlock[] = [];
  const chunk = await scratch.chunk(0);
  const blocks = byBlock(chunk === null ? [] : chunk.rows);
  const timeless = [...blocks].filter(([, rows]) => !hasTime(rows)).map(([block]) => block);
  const times = await store.blockTimes(order.chain, timeless);
  if (!times.checked) throw new Error(times.why.reason);
  for (const [block, rows] of blocks) {
    const refusedHere = chunk?.refused.get(block);
    const known = { refusedHere: refusedHere === undefined ? new Set<string>() : refusedHere };
    const one = validateBlock(rows, order, { ...known, time: times.value.get(block) });
    all.push(one);
    for (const [code, n] of one.leftOut) for (let i = 0; i < n; i += 1) tally(left_out, code);
    const header = one.blocks[0];
    if (header === undefined) continue;
    for (const kind of ['native', 'internal'] as const) {
      const range = { kind, from_block: block, to_block: block, to_time: header.time };
      if (one.proof[kind]) withRange(proved, range);
    }
  }
  const facts: Facts = {
    transfers: all.flatMap(({ transfers }) => transfers),
    creations: all.flatMap(({ creations }) => creations),
    blocks: all.flatMap((one) => one.blocks),
    transactions: all.flatMap(({ transactions }) => transactions),
  };
  const provenance = { source: 'by rows', origin: order.origin, import_id };
  const appended = await store.appendImported(facts, provenance);
  if (!appended.checked) throw new Error(appended.why.reason);
  await scratch.refuse(all.flatMap(({ refused }) => refused));
  const moved = facts.transfers.filter(({ success }) => success !== false);
  const success_unknown = moved.filter((one) => one.success === null).length;
  const creations = facts.creations.length;
  return { proved, left_out, transfers: moved.length, success_unknown, creations };
}
