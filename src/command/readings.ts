// Answers one question: how does a list command end, for each way its reading can end.
// A reading that failed ends with status 3 and never with an empty table.

import type { Partly } from '../evidence/reading.ts';
import { seen } from '../evidence/reading.ts';
import { EXIT, type ExitStatus, type Io } from './command.ts';
import { formatTime, printJson } from './output.ts';

/** Shows a list: as rows for people, one JSON object a line for pipes. */
export function showList<T, P extends string>(
  reading: Partly<readonly T[], P>,
  io: Io,
  show: {
    readonly none: string;
    readonly rows: (rows: readonly T[]) => void;
    readonly json: (row: T) => object;
  },
): ExitStatus {
  const had = seen(reading);
  if (had !== null) {
    if (io.json) for (const row of had) printJson(io, withIsoTimes(show.json(row)));
    else show.rows(had);
  }
  if (!reading.checked) {
    io.err(reading.why.reason);
    return EXIT.couldNotCheck;
  }
  if (had === null && !io.json) io.out(show.none);
  return EXIT.done;
}

/** The same object with its `…_at` fields, Unix seconds in the stores, as ISO 8601 texts. */
export function withIsoTimes(row: object): object {
  const fields = Object.entries(row).map(([name, value]) => [
    name,
    name.endsWith('_at') && typeof value === 'number' ? formatTime(value) : value,
  ]);
  return Object.fromEntries(fields);
}
