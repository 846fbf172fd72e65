// What may be said of addresses from a file of the publisher's that is not in force?
// Only its own date vouches for its age: an old file shows a listing, not an absence.

import { startOfDay } from '../../chain/time.ts';
import type { ReadList } from '../../ports/sanctions/publisher.ts';
import type { SanctionsList } from '../../ports/sanctions/sanctions-list.ts';
import { answerNow, type ListRules, standingOf } from './sanctions-answers.ts';
import { tableOf } from './sanctions-table.ts';

/** Asks the list of a file. `now` gives Unix seconds. */
export function listOfFile(
  list: ReadList,
  rules: ListRules,
  now: () => number,
): SanctionsList['lookUp'] {
  const table = tableOf(list.addresses);
  return async (addresses) => {
    const at = now();
    const dated = {
      published: list.published,
      sha256: list.sha256,
      distinct_addresses: list.distinct_addresses,
      source_url: 'file:',
      checked_at: Math.min(startOfDay(list.published), at),
      checked_by: 'own_date',
    } as const;
    return answerNow(table, standingOf(dated, null, rules, at), addresses);
  };
}
