// Which addresses of a file does a list hold, row for row?
// Each address and each row that could not be taken gets a line of its own. Nothing of the file is
// kept but the rows that are about to be shown.

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
import type { Io } from '../../command/command.ts';
import { print, printable, printJson, tableLines } from '../../command/output.ts';
import { progressLine } from '../../command/progress-line.ts';
import { written } from '../../evidence/measure.ts';
import {
  type Checked,
  countChecked,
  jsonOfCheck,
  shortfallOf,
  type Tally,
  UNCHECKED,
} from './check-result.command.ts';

/** A file, and what its addresses are asked of. */
export type FileCheck = {
  readonly path: string;
  /** The columns to read; empty for every one that holds addresses. */
  readonly columns: readonly string[];
  readonly readRecords: ReadRecords;
  readonly ask: (address: string) => Promise<Checked>;
  readonly simulated: boolean;
};

type Row = UnreadRow | (FileAddress & { readonly result: Checked });

/** So many rows are aligned with one another, and shown at once. */
const SHOWN_AT_ONCE = 500;

/** Checks a file and counts into `tally`; the last line, on the error stream, is the summary. */
export async function checkFile(check: FileCheck, tally: Tally, io: Io): Promise<void> {
  const columns: string[] = [];
  let shown = 0;
  const rows: Row[] = [];
  const flush = async () => {
    show(rows.splice(0), shown === 0, check.simulated, io);
    shown += 1;
    await io.room?.();
  };
  try {
    for await (const row of checkedRows(check, columns, tally, io)) {
      rows.push(row);
      if (rows.length >= SHOWN_AT_ONCE) await flush();
    }
  } catch (fault) {
    if (!(fault instanceof FileUnreadable)) throw fault;
    tally.stopped = `the file cannot be read: ${fault.message}`;
  }
  if (rows.length > 0) await flush();
  io.err(summary(tally, columns, check.simulated));
}

async function* checkedRows(
  { path, columns: named, readRecords, ask }: FileCheck,
  columns: string[],
  tally: Tally,
  io: Io,
): AsyncGenerator<Row, void> {
  const layout = await layoutOf(readRecords(path), named);
  columns.push(...layout.columns.map((place) => columnName(layout, place)));
  // A bar that renews its line would wipe out a row where both streams go to one terminal.
  const progress = progressLine({ err: io.err, colour: false }, () => performance.now());
  let records = 0;
  async function* watched() {
    for await (const record of readRecords(path)) {
      records += 1;
      yield record;
      if (records % PROGRESS_ROWS !== 0) continue;
      const fraction = records / layout.records;
      progress.show({ phase: 'Checking', rows: records, fraction });
    }
  }
  for await (const row of fileAddresses(watched(), layout)) {
    if (io.signal.aborted) {
      tally.stopped = 'it was told to';
      return;
    }
    if ('problem' in row) {
      tally.unread += 1;
      yield row;
      continue;
    }
    if (tally.addresses >= ADDRESSES_MAX) {
      throw new FileUnreadable(`it holds over ${ADDRESSES_MAX} addresses`);
    }
    const result = await ask(row.address);
    countChecked(result, tally);
    yield { ...row, result };
  }
}

/** How many rows lie between two looks at the clock. */
const PROGRESS_ROWS = 10_000;

const COLUMNS = [
  'line',
  'column',
  'address',
  'listed',
  'entity',
  'programmes',
  'uid',
  'other lists',
].map((title) => ({ title, right: title === 'line' }));

function show(rows: readonly Row[], isFirst: boolean, simulated: boolean, io: Io): void {
  if (io.json) {
    for (const row of rows) printJson(io, jsonOf(row, simulated));
    return;
  }
  const [heading, ...lines] = tableLines(
    COLUMNS,
    rows.map((row) => cellsOf(row, simulated)),
    io,
  );
  if (isFirst) io.out(written(heading));
  // What is said of a row stands behind it, whole: rows get cut out and passed on.
  print(
    io,
    lines.map((line, i) => `${line}  ${printable(saidOf(rows[i]))}`),
  );
}

function jsonOf(row: Row, simulated: boolean): object {
  if ('result' in row) {
    const { line, column, result } = row;
    return { line, column, ...jsonOfCheck(result, simulated) };
  }
  const { line, problem } = row;
  const label = simulated ? { simulated } : {};
  return { line, column: null, address: null, ...UNCHECKED, reason: problem, ...label };
}

function cellsOf(row: Row, simulated: boolean): (string | number | null)[] {
  const label = simulated ? ' (simulated)' : '';
  if (!('result' in row)) return [row.line, null, null, `not checked${label}`, ...NO_ENTRY, null];
  const { line, column, address, result } = row;
  const place = [line, column, address];
  const { text: others } = result.others;
  if (result.listed === null) return [...place, `not checked${label}`, ...NO_ENTRY, others];
  if (!result.listed) return [...place, `not on the list${label}`, ...NO_ENTRY, others];
  const { matches } = result;
  const all = (texts: readonly (string | null)[]) => [...new Set(texts)].map(written).join('; ');
  const programmes = matches.flatMap(({ programs }) =>
    programs === null ? [null] : [...programs],
  );
  const names = all(matches.map(({ entity }) => entity));
  const uids = all(matches.map(({ uid }) => uid));
  return [...place, `LISTED${label}`, names, all(programmes), uids, others];
}

/** The cells of an entry where there is none. */
const NO_ENTRY = [null, null, null] as const;

function saidOf(row: Row | undefined): string {
  if (row === undefined) throw new Error('check: a line without a row');
  if (!('result' in row)) return `${row.problem}.`;
  const { result } = row;
  const said = result.listed === null ? written(result.reason) : result.caveat;
  return result.others.isShort ? `${said} ${shortfallOf(result)}` : said;
}

/** That nothing is listed is said where the list was read for every address. */
function summary(tally: Tally, columns: readonly string[], simulated: boolean): string {
  const { addresses, listed, formListed, elsewhere, inPart, stopped } = tally;
  const { misformed, unchecked, unread } = tally;
  const from = columns.length === 0 ? '' : ` (${columns.join(', ')})`;
  const parts = [`${addresses} addresses${from}`];
  const label = simulated ? ' (simulated)' : '';
  const dated = [...tally.published].map((day) => ` of ${day}`).join(' and');
  if (addresses === 0) parts.push('nothing was checked');
  else if (listed > 0 || misformed + unchecked === 0) {
    parts.push(`${listed} on the sanctions list${dated}${label}`);
  }
  if (formListed > 0) parts.push(`${formListed} with another form on it`);
  if (elsewhere > 0) parts.push(`${elsewhere} on lists of other authorities`);
  if (misformed > 0) parts.push(`${misformed} of no known form, not checked`);
  if (inPart > 0) parts.push(`${inPart} not checked on every list`);
  if (unchecked > 0) parts.push(`${unchecked} not checked`);
  if (unread > 0) parts.push(`${unread} rows not read in full`);
  const told = `${parts.join(', ')}.`;
  return stopped === null ? told : `${told} Stopped: ${stopped}. The rest was not checked.`;
}
