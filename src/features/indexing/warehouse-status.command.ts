// What an operator types to see which transfers of which chains are held, and by which imports.
// A store that does not answer is said to be unread; that is never an empty store.

import { type Command, EXIT, type Io, readArgs } from '../../command/command.ts';
import { formatTime, print, printJson, tableLines, timeText } from '../../command/output.ts';
import type { FollowReport, FollowReports } from '../../ports/indexing/follow-reports.ts';
import type { ImportList, ListedImport } from '../../ports/indexing/imports.ts';
import type { TableMove, TableMoving } from '../../ports/indexing/table-move.ts';
import type { HeldChain, TransferStore } from '../../ports/indexing/transfer-store.ts';

/** The command's services; compose fills them. */
type WarehouseStatusServices = {
  readonly warehouseStatus: Pick<TransferStore, 'status'> &
    ImportList & {
      readonly followers: FollowReports['all'];
      readonly tableMove: TableMoving['status'];
    };
};

/** `exhibit warehouse status`. */
export const warehouseStatus: Command<WarehouseStatusServices> = {
  name: 'warehouse status',
  summary: 'Show which transfers of which chains are held.',
  usage: 'exhibit warehouse status [--json]',
  example: 'exhibit warehouse status',
  details: ['Exit status 3: the warehouse could not be read.'],
  run: async (argv, io, { warehouseStatus: store }) => {
    readArgs(argv, { options: {} });
    const [held, listed] = [await store.status(), await store.imports()];
    const move = await store.tableMove();
    for (const reading of [held, listed, move]) {
      if (reading.checked) continue;
      io.err(reading.why.reason);
      return EXIT.couldNotCheck;
    }
    if (!held.checked || !listed.checked || !move.checked) return EXIT.couldNotCheck;
    const followers = await store.followers();
    if (io.json) {
      const following = followers.checked ? followers.value.map(reportJson) : null;
      const imports = listed.value.map(importJson);
      const chains = held.value.map(jsonOf);
      printJson(io, { chains, following, imports, tables_by_chain: move.value });
      return EXIT.done;
    }
    tell(held.value, io);
    tellImports(listed.value, io);
    tellMove(move.value, io);
    if (!followers.checked) io.err(followers.why.reason);
    else print(io, followers.value.flatMap(heldUp));
    return EXIT.done;
  },
};

function jsonOf({ coverage, ...chain }: HeldChain) {
  const ranges = coverage.map((one) => ({ ...one, to_time: formatTime(one.to_time) }));
  return { ...chain, coverage: ranges };
}

/** What an earlier version left, and how much of it is moved; nothing where all is. */
function tellMove(move: TableMove, io: Io): void {
  if (move.state === 'moved') return;
  const { tables, tables_moved, rows, rows_moved } = move;
  const how = `${rows_moved} of ${rows} rows, ${tables_moved} of ${tables} tables replaced`;
  print(io, ['', `Tables are being moved to tables by chain: ${how}.`]);
}

function reportJson({ since, ...report }: FollowReport) {
  return { ...report, since: formatTime(since) };
}

/** A line for a chain that is not followed just now. */
function heldUp({ chain, state, reason, since }: FollowReport): readonly string[] {
  if (state === 'following') return [];
  const word = state === 'stopped' ? 'stopped' : 'held up';
  return [`${chain}: following ${word} since ${timeText(since)}. ${reason}`];
}

function importJson({ began_at, changed_at, ...one }: ListedImport) {
  return { ...one, began_at: formatTime(began_at), changed_at: formatTime(changed_at) };
}

const IMPORTS_SHOWN = 20;

function tellImports(imports: readonly ListedImport[], io: Io): void {
  if (imports.length === 0) return;
  const columns = [
    ...[{ title: 'import' }, { title: 'chain' }, { title: 'state' }],
    ...[
      { title: 'transfers', right: true },
      { title: 'refused', right: true },
    ],
    ...[{ title: 'begun' }, { title: 'files' }],
  ];
  const rows = imports
    .slice(0, IMPORTS_SHOWN)
    .map((one) => [
      ...[one.import_id, one.chain, one.state, one.transfers, one.rows_refused],
      ...[timeText(one.began_at), one.source],
    ]);
  print(io, ['', ...tableLines(columns, rows, io)]);
  const more = imports.length - IMPORTS_SHOWN;
  if (more > 0) print(io, [`and ${more} more; --json tells all of them`]);
}

function tell(chains: readonly HeldChain[], io: Io): void {
  if (chains.length === 0) {
    print(io, ['No transfers are held.']);
    return;
  }
  const columns = [
    { title: 'chain' },
    { title: 'origin' },
    { title: 'transfers', right: true },
    { title: 'from block', right: true },
    { title: 'to block', right: true },
    { title: 'followed to', right: true },
  ];
  const rows = chains.map(({ chain, origin, transfers, from_block, to_block, following }) => {
    const followed = following === null ? null : following.tip_block;
    return [chain, origin, transfers, from_block, to_block, followed];
  });
  print(io, tableLines(columns, rows, io));
  const ranges = chains.flatMap(({ chain, coverage }) =>
    coverage.map((one) => [
      ...[chain, one.kind, one.origin],
      ...[one.from_block, one.to_block, timeText(one.to_time)],
    ]),
  );
  if (ranges.length === 0) {
    print(io, ['', 'No block is held in full.']);
    return;
  }
  const heading = [
    { title: 'held in full' },
    { title: 'kind' },
    { title: 'origin' },
    { title: 'from block', right: true },
    { title: 'to block', right: true },
    { title: 'last block of' },
  ];
  print(io, ['', ...tableLines(heading, ranges, io)]);
}
