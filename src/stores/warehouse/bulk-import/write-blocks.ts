// How do the rows of whole blocks become facts of the warehouse?
// All of it may be written again: a part that was cut off is, and changes nothing.

import type { ChainName } from '../../../chain/chain.ts';
import type { Warehouse } from '../engine/executor.ts';
import { completeBlocks, WRITE } from '../transfers/append.ts';
import type { Checkpoint } from './checkpoint.ts';
import {
  blocksStatement,
  factsStatement,
  type Window,
  withdrawalsStatement,
  writingStatements,
} from './facts-sql.ts';
import { RANGES_MAX, withRange } from './held-blocks.ts';
import type { ImportTables } from './import-tables.ts';

/** Writes whole blocks, `rows` of them, and answers the checkpoint behind them. */
export async function writeBlocks(
  warehouse: Warehouse,
  tables: ImportTables,
  window: Window,
  rows: number,
  state: Checkpoint,
): Promise<Checkpoint> {
  // What an earlier try left of these blocks would count twice.
  await tables.drop('import_facts');
  // Whoever wrote last of two imports of one block sees the signers of both.
  await inTurn(window.chain, async () => {
    const statements = [blocksStatement(window), factsStatement(window)];
    if (window.datasets.has('blocks')) statements.push(withdrawalsStatement(window));
    statements.push(...writingStatements(window));
    for (const statement of statements) await warehouse.command(statement, WRITE);
    await completeBlocks(warehouse, window.chain, window.from_block, window.to_block);
  });
  const counts = await tables.counts(window);
  const proved = state.proved.map((range) => ({ ...range }));
  for (const range of await tables.proved(window, RANGES_MAX)) withRange(proved, range);
  await tables.drop('import_facts');
  const left_out = { ...state.left_out };
  for (const [code, n] of Object.entries(counts.left_out)) {
    const before = left_out[code];
    left_out[code] = before === undefined ? n : before + n;
  }
  return {
    ...state,
    next_block: window.to_block + 1,
    rows_written: state.rows_written + rows,
    transfers: state.transfers + counts.transfers,
    success_unknown: state.success_unknown + counts.success_unknown,
    creations: state.creations + counts.creations,
    of_another_fork: state.of_another_fork + counts.of_another_fork,
    contradicted: state.contradicted + counts.contradicted,
    left_out,
    proved,
  };
}

const turns = new Map<ChainName, Promise<unknown>>();

/** One import at a time writes blocks of a chain; the others read their files meanwhile. */
async function inTurn(chain: ChainName, work: () => Promise<void>): Promise<void> {
  const before = turns.get(chain);
  const turn = (before === undefined ? Promise.resolve() : before).then(work);
  turns.set(
    chain,
    turn.catch(() => undefined),
  );
  await turn;
}
