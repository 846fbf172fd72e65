// What do the lists of other authorities say of one address of a bulk screen?
// None of them is the SDN list, and a deployment that never took one in answers as if there were
// none to ask.

import { matchKey } from '../../chain/address.ts';
import { claim } from '../../evidence/claim.ts';
import { heldUnder } from '../../evidence/measure.ts';
import { decided, Read, type Reading } from '../../evidence/reading.ts';
import {
  type OtherList,
  type OtherListEntry,
  type OtherListsLookUp,
  type OtherListsPort,
  standsOn,
} from '../../ports/lists/other-lists.ts';
import { readingOfList } from '../tables/list-shortfall.ts';
import type { ListedForm, ListingElsewhere } from './bulk-result.ts';
import type { Subject } from './screen-subject.ts';

/** What was read of the other lists; `null` where they do not apply. */
export type OtherListsRead = Reading<OtherListsLookUp, OtherListsPort> | null;

/** The other lists as they apply: where none was ever imported, only to who asked by name. */
export function othersApplying(reading: OtherListsRead, isNamed: boolean): OtherListsRead {
  if (reading === null || reading instanceof Read || isNamed) return reading;
  return reading.why.code === 'table_never_imported' ? null : reading;
}

/** Whether a list has an entry of a subject or of another form of it, one that ended included. */
export function isOnOthers(look: OtherListsLookUp, { address, forms }: Subject): boolean {
  const { found } = look;
  return (
    found.size > 0 && [address, ...forms.map(addressOf)].some((one) => found.has(matchKey(one)))
  );
}

/**
 * What each list says of some subjects together, `today` being an ISO 8601 day: of one that a list
 * names, or of all that none does.
 */
export function listingsElsewhere(
  read: Read<OtherListsLookUp, OtherListsPort>,
  subjects: readonly Subject[],
  today: string,
): ListingElsewhere[] {
  return read.value.lists.map((list): ListingElsewhere => {
    const { name, as_of, dated_by } = list;
    const whole = readingOfList(read, list);
    const stands = (look: OtherListsLookUp, address: string) =>
      entriesIn(look, list, address).some((entry) => standsOn(entry, today));
    const isListed = (look: OtherListsLookUp) =>
      subjects.some(({ address }) => stands(look, address));
    const formsListed = (look: OtherListsLookUp) =>
      subjects.flatMap(({ forms }) =>
        forms
          .filter(({ address }) => stands(look, address))
          .map((one): ListedForm => ({ ...one, listed: true })),
      );
    return {
      list: name,
      listed: claim(decided(whole, isListed), isListed, unknown),
      entity: entityIn(read.value, list, subjects),
      equivalent_forms: claim(
        decided(whole, (look) => formsListed(look).length > 0),
        formsListed,
        unknown,
      ),
      as_of,
      dated_by,
      reason: whole instanceof Read ? null : whole.why.reason,
    };
  });
}

const unknown = (): null => null;

/** What the lists say of those of some subjects that none of them names, all together. */
export function listingsOfUnnamed(
  others: Read<OtherListsLookUp, OtherListsPort>,
  subjects: readonly Subject[],
  today: string,
): ListingElsewhere[] {
  const unnamed = subjects.filter((one) => !isOnOthers(others.value, one));
  return listingsElsewhere(others, unnamed, today);
}

/** Whom a list names, by the address itself before another form of it. */
function entityIn(look: OtherListsLookUp, list: OtherList, subjects: readonly Subject[]) {
  const addresses = subjects.flatMap(({ address, forms }) => [address, ...forms.map(addressOf)]);
  const named = addresses
    .flatMap((address) => entriesIn(look, list, address))
    .find(({ entity }) => entity !== null);
  return named === undefined ? null : named.entity;
}

function entriesIn(look: OtherListsLookUp, { name }: OtherList, address: string): OtherListEntry[] {
  if (look.found.size === 0) return [];
  return heldUnder(look.found, matchKey(address)).filter(({ source }) => source === name);
}

const addressOf = ({ address }: { readonly address: string }): string => address;
