import {
  decide,
  map,
  Part,
  type Partly,
  Read,
  rowsSeen,
  type Unread,
} from '../../evidence/reading.ts';

/** A page of a log, newest first. One of a longer log is full, hence whole, and names the next. */
export function pageOfLog<Row extends { readonly id: number }, P extends string>(
  found: Partly<readonly Row[], P>,
): Unread<P> | { readonly page: Read<readonly Row[], P>; readonly next_before: number | null } {
  const page = decide(found, holdsSome);
  if (!(page instanceof Read)) return page;
  const last = rowsSeen(map(page, (rows) => rows.slice(-1)));
  return { page, next_before: found instanceof Part && last !== null ? last[0].id : null };
}

/** Whether there is a row, so that one that was cut holds something to show. */
export function holdsSome(rows: readonly unknown[]): boolean {
  return rows.length > 0;
}
