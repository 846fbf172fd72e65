// Runs an import of a table and prints its progress and its end. Refused rows go to the error
// stream as they are met, so that no number of them is too many.

import { HOUR_S } from '../chain/time.ts';
import { type DatedBy, IMPORT_ORIGINS, type ImportOrigin } from '../evidence/source.ts';
import type { ImportOutcome, ImportWatch, RefusedCounts } from '../ports/tables.ts';
import { chooseOne, EXIT, type ExitStatus, type Io, UsageError } from './command.ts';
import { factLines, formatTime, paint, print, printJson, timeText } from './output.ts';

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
  const asked = text === undefined ? null : chooseOne(text, '--origin', IMPORT_ORIGINS);
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
  { record, refused, unread_columns }: Extract<ImportOutcome, { outcome: 'completed' }>,
  io: Io,
): void {
  const { id, table_name, source, source_url, origin, rows_accepted, rows_refused } = record;
  const { rows_lost, sha256, as_of, dated_by, completed_at } = record;
  if (io.json) {
    const facts = { import_id: id, table: table_name, source, source_url, origin };
    const counts = countsOf({ rows_refused, refused });
    const dated = { sha256, as_of, dated_by, completed_at: formatTime(completed_at) };
    printJson(io, { ...facts, rows_accepted, ...counts, rows_lost, unread_columns, ...dated });
    return;
  }
  const noun = rows_accepted === 1 ? one : several;
  const imported = `Imported ${rows_accepted.toLocaleString('en')} ${noun}.`;
  print(io, [
    paint(imported, 'green', io),
    ...factLines(
      [
        ['import', id],
        ['source', source],
        ['origin', origin],
        ['refused', rows_refused],
        ...[...refused].map(([code, rows]) => [`  ${code}`, rows] as const),
        ...(unread_columns.length === 0 ? [] : [['not read', unread_columns.join(', ')] as const]),
        ['dated', `${timeText(as_of)} (${DATED[dated_by]})`],
        ['sha256', sha256],
      ],
      io,
    ),
  ]);
}

// A terminal sees one line of progress that renews itself; anything else sees a plain line now and
// then.

/** How far the work is: rows so far, and the part done of the phase, from 0 to 1. */
type Progress = {
  readonly phase: string;
  readonly rows: number;
  readonly fraction: number;
};

const TERMINAL_MS = 200;
const LOG_MS = 10_000;
const BAR_CHARS = 24;
const SECOND_MS = 1_000;
const MINUTE_S = 60;
/** One line up, and that line cleared. */
const RENEW = '\u001b[1A\u001b[2K';

/**
 * Progress on the error stream, and lines between which it must not be torn. `nowMs` is a clock
 * that never goes back.
 */
export function progressLine(
  io: Pick<Io, 'err' | 'colour'>,
  nowMs: () => number,
): { readonly show: (progress: Progress) => void; readonly say: (line: string) => void } {
  let phase: { readonly name: string; readonly since: number; readonly rows: number } | null = null;
  let shownAt = Number.NEGATIVE_INFINITY;
  let isLast = false;
  return {
    show: (progress) => {
      const now = nowMs();
      if (phase === null || phase.name !== progress.phase) {
        phase = { name: progress.phase, since: now, rows: progress.rows };
        shownAt = Number.NEGATIVE_INFINITY;
        isLast = false;
      }
      const whole = progress.fraction >= 1;
      if (!whole && now - shownAt < (io.colour ? TERMINAL_MS : LOG_MS)) return;
      shownAt = now;
      const elapsed = (now - phase.since) / SECOND_MS;
      const line = lineOf(progress, progress.rows - phase.rows, elapsed, io.colour);
      io.err(io.colour && isLast ? `${RENEW}${line}` : line);
      isLast = true;
    },
    say: (line) => {
      io.err(line);
      isLast = false;
    },
  };
}

function lineOf(
  { phase, rows, fraction }: Progress,
  rowsSince: number,
  elapsed_s: number,
  bar: boolean,
): string {
  const part = Math.min(1, Math.max(0, fraction));
  const filled = Math.round(part * BAR_CHARS);
  const drawn = bar ? ` ${'█'.repeat(filled)}${'░'.repeat(BAR_CHARS - filled)}` : '';
  const said = [`${phase}${drawn} ${Math.floor(part * 100)}%`, `${rows.toLocaleString('en')} rows`];
  if (elapsed_s > 0 && rowsSince > 0) {
    said.push(`${Math.round(rowsSince / elapsed_s).toLocaleString('en')} rows/s`);
    if (part > 0 && part < 1) said.push(`${duration((elapsed_s * (1 - part)) / part)} left`);
  }
  return said.join(', ');
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < MINUTE_S) return `${whole} s`;
  if (whole < HOUR_S) return `${Math.ceil(whole / MINUTE_S)} min`;
  return `${Math.floor(whole / HOUR_S)} h ${Math.floor((whole % HOUR_S) / MINUTE_S)} min`;
}
