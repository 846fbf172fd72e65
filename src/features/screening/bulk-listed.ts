// What does the sanctions list say of addresses of a bulk screen, listed or not?
// Whom it lacks is told of all of them at once: their rows, all together, are none.

import { claim } from '../../evidence/claim.ts';
import { heldUnder } from '../../evidence/measure.ts';
import type { Read } from '../../evidence/reading.ts';
import type { ListLookUp } from '../../ports/sanctions/sanctions-list.ts';
import { type ListedForm, type ListPort, programsOf, type ScreenResult } from './bulk-result.ts';
import type { Subject } from './screen-subject.ts';

/** What the list says of those that it does not hold. */
export function unlisted(
  list: Read<ListLookUp, ListPort>,
  subjects: readonly Subject[],
): NonNullable<ScreenResult['sanctions']> {
  const { found } = list.value;
  const missing = subjects.filter(({ address }) => !found.has(address));
  const rowsIn = (look: ListLookUp) =>
    missing.flatMap(({ address }) => heldUnder(look.found, address));
  return {
    listed: claim(list, (look) => missing.some(({ address }) => look.found.has(address))),
    programs: claim(list, (look) => programsOf(rowsIn(look))),
    list_published: list.value.list.published,
  };
}

/** The same of their other forms. */
export function formsUnlisted(
  list: Read<ListLookUp, ListPort>,
  subjects: readonly Subject[],
): NonNullable<ScreenResult['equivalent_forms']> {
  const missing = subjects.filter((one) => listedForms(list.value, one).length === 0);
  return claim(list, (look) => missing.flatMap((one) => listedForms(look, one)));
}

/** The forms of an address that the list holds. */
export function listedForms({ found }: ListLookUp, { forms }: Subject): ListedForm[] {
  return forms
    .filter(({ address }) => found.has(address))
    .map(({ form, address, relation }) => ({ form, address, relation, listed: true }));
}

/** What the list says of an address that it holds. */
export function listedAs(
  list: Read<ListLookUp, ListPort>,
  address: string,
): NonNullable<ScreenResult['sanctions']> {
  return {
    listed: claim(list, (look) => look.found.has(address)),
    programs: claim(list, (look) => programsOf(heldUnder(look.found, address))),
    list_published: list.value.list.published,
  };
}
