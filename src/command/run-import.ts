// How is an import of a table run and shown, whichever table it fills?
// Refused rows go to the error stream as they are met, so that no number of them is too many.

import { type DatedBy, IMPORT_ORIGINS, type ImportOrigin } from '../evidence/origin.ts';
import type { ImportOutcome, ImportWatch, RefusedCounts } from '../ports/tables/table-import.ts';
import { EXIT, type ExitStatus, type Io, oneOf, UsageError } from './command.ts';
import { coloured, factLines, formatTime, print, printJson, timeText } from './output.ts';

/** How many rows lie between two lines of progress. */
const PROGRESS_ROWS = 50_000;
type Nouns = readonly [one: string, several: string];

const DATED: Readonly<Record<DatedBy, string>> = {
  file: 'as the file says',
  operator: 'as you state',
  import: 'when it was imported',
};

const SOURCE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The name of a source as it is kept, or `UsageError`. */
export function sourceName(text: string, option = 'source'): string {
  if (SOURCE_NAME.test(text)) return text;
  throw new UsageError(
    `--${option} takes up to 64 letters, digits, dots, dashes and underscores; a letter or ` +
      'a digit first.',
  );
}

/** Whether the rows were observed or made up; in the simulated world all of them are made up. */
export function parseOrigin(text: string | undefined, simulated: boolean): ImportOrigin {
  const asked = text === undefined ? null : oneOf(text, '--origin', IMPORT_ORIGINS);
  if (!simulated) return asked === null ? 'observed' : asked;
  if (asked === 'observed') {
    throw new UsageError('--origin observed: this deployment serves the simulated world.');
  }
  return 'simulated';
}

/** Runs an import and shows how it ended. `nouns` say one row of the table, and several. */
export async function runImport(
  nouns: Nouns,
  work: (watch: ImportWatch) => Promise<ImportOutcome>,
  io: Io,
): Promise<ExitStatus> {
  let told = 0;
  const outcome = await work({
    onRefused: ({ line, code, reason }) => io.err(`line ${line}: ${code}: ${reason}`),
    onProgress: (rows, bytesRead, bytes) => {
      if (rows < told + PROGRESS_ROWS) return;
      told = rows;
      io.err(`${rows.toLocaleString('en')} rows, ${Math.floor((100 * bytesRead) / bytes)}%`);
    },
    signal: io.signal,
  });
  switch (outcome.outcome) {
    case 'completed':
      tellCompleted(nouns, outcome, io);
      return EXIT.done;
    case 'no_row_accepted':
      if (io.json) printJson(io, { rows_accepted: 0, ...countsOf(outcome) });
      io.err(`No row was accepted (${outcome.rows_refused} refused); nothing was imported.`);
      return EXIT.failed;
    case 'too_few':
      if (io.json) printJson(io, outcome);
      io.err(
        `The file has ${outcome.rows_accepted} rows, the import in force ${outcome.rows_before}: ` +
          'it may have been cut off, and nothing was imported. Where it was not, say so with ' +
          '--accept-smaller.',
      );
      return EXIT.failed;
    case 'unread':
      io.err(outcome.why.reason);
      return EXIT.failed;
    case 'stopped':
      io.err('Stopped; nothing was imported.');
      return EXIT.failed;
  }
}

function countsOf(outcome: { readonly rows_refused: number; readonly refused: RefusedCounts }) {
  return { rows_refused: outcome.rows_refused, refused: Object.fromEntries(outcome.refused) };
}

function tellCompleted(
  [one, several]: Nouns,
  { record, refused }: Extract<ImportOutcome, { outcome: 'completed' }>,
  io: Io,
): void {
  const { id, table_name, source, source_url, origin, rows_accepted, rows_refused } = record;
  const { rows_lost, sha256, as_of, dated_by, completed_at } = record;
  if (io.json) {
    const facts = { import_id: id, table: table_name, source, source_url, origin };
    const counts = countsOf({ rows_refused, refused });
    const dated = { sha256, as_of, dated_by, completed_at: formatTime(completed_at) };
    printJson(io, { ...facts, rows_accepted, ...counts, rows_lost, ...dated });
    return;
  }
  const noun = rows_accepted === 1 ? one : several;
  const imported = `Imported ${rows_accepted.toLocaleString('en')} ${noun}.`;
  print(io, [
    coloured(imported, 'green', io),
    ...factLines([
      ['import', id],
      ['source', source],
      ['origin', origin],
      ['refused', rows_refused],
      ...[...refused].map(([code, rows]) => [`  ${code}`, rows] as const),
      ['dated', `${timeText(as_of)} (${DATED[dated_by]})`],
      ['sha256', sha256],
    ]),
  ]);
}
