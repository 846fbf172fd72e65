// What do the tables of a running service hold of the addresses of a file?
// Every address of the file gets a row; one that could not be checked says so, and the command
// exits 3. Once the service refuses or is silent nobody is asked any more.

import {
  ADDRESSES_MAX,
  columnName,
  type FileAddress,
  FileUnreadable,
  fileAddresses,
  layoutOf,
  type ReadRecords,
  type UnreadRow,
} from '../../command/address-file.ts';
import {
  type Command,
  EXIT,
  type ExitStatus,
  fileArgument,
  type Io,
  oneOf,
  readArgs,
  requireOption,
  UsageError,
} from '../../command/command.ts';
import {
  CONNECTION_DETAILS,
  CONNECTION_OPTIONS,
  type Connection,
  type ConnectionServices,
  findConnection,
} from '../../command/connection.ts';
import { print, printJson, tableLines } from '../../command/output.ts';
import { BATCH_MAX, type Row, screenBatch } from './screen-batch.command.ts';
import {
  type OutFile,
  OutRefused,
  openOut,
  outcomeOf,
  placeOf,
  SCREEN_COLUMNS,
  screenCells,
} from './screen-out.command.ts';
import { isSimulated } from './screen-result.command.ts';
import { countOutcome, newCounts, type ScreenCounts, summary } from './screen-summary.command.ts';

const TABLES = ['sanctions_list', 'exchange_table', 'launch_corpus', 'other_lists'] as const;

/** A connection, and the reader of files. */
export type ScreenServices = ConnectionServices & { readonly readRecords: ReadRecords };

/** `exhibit screen`. */
export const screenCommand: Command<ScreenServices> = {
  name: 'screen',
  summary: 'Screen the addresses of a CSV file through a running service.',
  usage: 'exhibit screen FILE.csv [--column NAME] [--require TABLE] [--out FILE.csv] [--json]',
  example: 'exhibit screen addresses.csv --require sanctions_list --out screened.csv',
  details: [
    'FILE.csv          every column that holds addresses is read, and named on the last line',
    '--column NAME     read this column alone; may be given more than once',
    '--require TABLE   ask about this table alone; may be given more than once; one of',
    `                  ${TABLES.join(', ')}`,
    '--out FILE.csv    write the rows there; no cell of it begins a formula',
    '--resume          go on with the rows of an --out file of a run that stopped',
    '--fail-on-listed  exit status 1 where an address, or another form of it, is on any list',
    ...CONNECTION_DETAILS,
    '--json            one address a line, in the order of the file, with the caveat',
    'Up to 500 addresses are one request of the allowance. Exit status 3: at least one address or',
    'row could not be checked.',
  ],
  run: async (argv, io, services) => {
    const { values, positionals } = readArgs(argv, {
      options: {
        ...CONNECTION_OPTIONS,
        column: { type: 'string', multiple: true },
        require: { type: 'string', multiple: true },
        out: { type: 'string' },
        resume: { type: 'boolean' },
        'fail-on-listed': { type: 'boolean' },
      },
      positionals: ['FILE.csv'],
    });
    const file = fileArgument(requireOption(positionals[0], 'FILE.csv'), io);
    const required = values.require === undefined ? NONE : values.require;
    const tables = required.map((one) => oneOf(one, '--require', TABLES));
    const resume = values.resume === true;
    if (resume && values.out === undefined) throw new UsageError('--resume needs --out FILE.csv.');
    const to = await findConnection(values, io, services);
    const { readRecords } = services;
    try {
      const named = values.column === undefined ? NONE : values.column;
      const layout = await layoutOf(readRecords(file), named);
      const out =
        values.out === undefined
          ? null
          : await openOut(fileArgument(values.out, io), resume, readRecords);
      const run: Run = { to, tables, io, out, counts: newCounts(), stopped: null, shown: 0 };
      for await (const batch of batches(fileAddresses(readRecords(file), layout), run)) {
        await screenNext(run, batch);
        if (run.stopped !== null && out !== null) break;
      }
      const columns = layout.columns.map((place) => columnName(layout, place));
      io.err(summary(run.counts, columns, run.stopped, out !== null));
      return statusOf(run, values['fail-on-listed'] === true);
    } catch (fault) {
      if (!(fault instanceof FileUnreadable) && !(fault instanceof OutRefused)) throw fault;
      io.err(
        `The file cannot be ${fault instanceof OutRefused ? 'written' : 'read'}: ${fault.message}.`,
      );
      return EXIT.failed;
    }
  },
};

const NONE: readonly string[] = Object.freeze([]);

type Run = {
  readonly to: Connection;
  readonly tables: readonly string[];
  readonly io: Io;
  readonly out: OutFile | null;
  readonly counts: ScreenCounts;
  /** Why nobody is asked any more. */
  stopped: string | null;
  shown: number;
};

function statusOf({ counts }: Run, failOnListed: boolean): ExitStatus {
  const { addresses, listed, formListed, elsewhere, misformed, unchecked, inPart, unread } = counts;
  if (failOnListed && listed + formListed + elsewhere > 0) return EXIT.failed;
  const left = misformed + unchecked + inPart + unread;
  return addresses === 0 || left > 0 ? EXIT.couldNotCheck : EXIT.done;
}

/** The addresses in batches. Rows that could not be taken are said, and counted, on the way. */
async function* batches(
  rows: AsyncIterable<FileAddress | UnreadRow>,
  { counts, io, out }: Run,
): AsyncGenerator<FileAddress[], void> {
  let batch: FileAddress[] = [];
  let isEarlier = out !== null;
  for await (const row of rows) {
    if ('problem' in row) {
      counts.unread += 1;
      io.err(`Line ${row.line}: ${row.problem}.`);
      continue;
    }
    if (counts.addresses + batch.length >= ADDRESSES_MAX) {
      throw new FileUnreadable(`it holds over ${ADDRESSES_MAX} addresses`);
    }
    if (isEarlier && out !== null) {
      const done = await out.earlier();
      isEarlier = done !== null;
      if (done !== null) {
        if (done.place !== placeOf(row)) {
          throw new OutRefused(`its rows are not of this file from line ${row.line} on`);
        }
        countOutcome(done.outcome, counts);
        continue;
      }
    }
    batch.push(row);
    if (batch.length < BATCH_MAX) continue;
    yield batch;
    batch = [];
  }
  if (isEarlier && (await out?.earlier()) !== null) {
    throw new OutRefused('it holds more rows than this file');
  }
  if (batch.length > 0) yield batch;
}

async function screenNext(run: Run, batch: readonly FileAddress[]): Promise<void> {
  const rows = run.stopped === null ? await screenBatch(run.to, batch, run.tables, run.io) : null;
  const told: readonly Row[] =
    rows === null
      ? batch.map((row) => ({ ...row, kind: 'unchecked', reason: String(run.stopped) }))
      : rows;
  const silent = told.find((row) => row.kind === 'unchecked');
  if (silent?.kind === 'unchecked') run.stopped = silent.reason;
  // What was not checked is not written down, so that a run that goes on asks about it.
  if (run.out !== null && silent === undefined) await run.out.add(told);
  if (run.out === null) show(told, run);
  for (const row of told) countOutcome(outcomeOf(row), run.counts);
}

function show(rows: readonly Row[], run: Run): void {
  const { io } = run;
  if (io.json) {
    for (const row of rows) printJson(io, jsonOf(row));
    return;
  }
  const columns = SCREEN_COLUMNS.map((title) => ({ title, right: title === 'line' }));
  const lines = tableLines(columns, rows.map(screenCells), io);
  print(io, run.shown === 0 ? lines : lines.slice(1));
  run.shown += rows.length;
  const told = rows.flatMap((row) => (row.kind === 'result' ? [row.caveat] : [])).at(0);
  if (told !== undefined) io.out(told);
}

function jsonOf(row: Row): object {
  const { line, column, address, kind } = row;
  if (row.kind !== 'result') return { line, column, address, state: kind, reason: row.reason };
  const { result, caveat } = row;
  const simulated = isSimulated(caveat) ? { simulated: true } : {};
  return { line, column, ...result, caveat, ...simulated };
}
