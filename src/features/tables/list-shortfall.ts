// May a miss on a list of another authority be said, or were rows of its file refused?
// A list with refused rows is read in part: it shows a listing, never that there is none.

import { type Partly, Read, type Reading, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { OtherList, OtherListsLookUp, OtherListsPort } from '../../ports/lists/other-lists.ts';

type Look = Partly<OtherListsLookUp, OtherListsPort>;

/** What was read of one list. */
export function readingOfList(look: Read<OtherListsLookUp, OtherListsPort>, list: OtherList): Look {
  return weakenedBy(look, list.rows_lost === 0 ? [] : [list]);
}

/** What was read of all lists together: a part where rows of one were refused. */
export function readingOfLists(look: Reading<OtherListsLookUp, OtherListsPort>): Look {
  if (!(look instanceof Read)) return look;
  return weakenedBy(
    look,
    look.value.lists.filter(({ rows_lost }) => rows_lost > 0),
  );
}

function weakenedBy(look: Read<OtherListsLookUp, OtherListsPort>, short: readonly OtherList[]) {
  if (short.length === 0) return look;
  const lists = short.map(rowsOf).join(', ');
  return weaken(look, why('list_rows_refused', { lists }));
}

function rowsOf({ name, rows_lost }: OtherList): string {
  return `${rows_lost} ${rows_lost === 1 ? 'row' : 'rows'} of ${name}`;
}
