// On which lists of other authorities does an address stand, each with its own date and source?
// It refuses to fold any of them into `sanctioned`, which is about the SDN list alone.

import { matchKey } from '../../chain/address.ts';
import { formatIsoDate } from '../../chain/time.ts';
import { claim } from '../../evidence/claim.ts';
import { heldUnder } from '../../evidence/measure.ts';
import { decided, map, Read, type Reading, seen, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  type OtherList,
  type OtherListEntry,
  type OtherLists,
  type OtherListsLookUp,
  type OtherListsPort,
  standsOn,
} from '../../ports/lists/other-lists.ts';
import { readingOfList } from '../tables/list-shortfall.ts';
import { type ListSubject, spellingsOf } from './direct-check.ts';

type Look = Reading<OtherListsLookUp, OtherListsPort>;

/** Asks the other lists, which are held as they are now, about every form of a subject. */
export async function askOtherLists(
  lists: OtherLists,
  subject: ListSubject,
  on: string | null,
): Promise<Look> {
  if (on !== null) return unread('other_lists', why('other_lists_are_of_today'));
  return await lists.lookUp(spellingsOf(subject));
}

/** Whether a list that was read holds an entry of a subject itself. */
export function standsOnOthers(look: Look, { address }: ListSubject): boolean {
  return look instanceof Read && look.value.found.has(matchKey(address));
}

/** What the other lists say of a subject, list by list. `now` is Unix seconds. */
export function otherListsShown(look: Look, subject: ListSubject, now: number) {
  if (!(look instanceof Read)) return { other_lists: null, other_lists_reason: look.why.reason };
  const today = formatIsoDate(now);
  const shown = look.value.lists.map((list) => {
    const { name, simulated, ...facts } = list;
    const whole = readingOfList(look, list);
    const own = (held: OtherListsLookUp) => ownEntries(held, subject, list);
    const stands = (held: OtherListsLookUp) => own(held).some((one) => standsOn(one, today));
    const others = (held: OtherListsLookUp) => otherEntries(held, subject, list);
    return {
      list: name,
      ...facts,
      simulated,
      checked: claim(whole, isRead, isNot),
      listed: claim(decided(whole, stands), stands, unknown),
      matches: claim(
        decided(whole, (held) => own(held).length > 0),
        (held) => own(held).map(matchOf),
        unknown,
      ),
      equivalent_matches: claim(
        decided(whole, (held) => others(held).length > 0),
        (held) => others(held).map(matchOf),
        unknown,
      ),
      reason: whole instanceof Read ? null : whole.why.reason,
    };
  });
  return { other_lists: shown, other_lists_reason: null };
}

const isRead = (): true => true;
const isNot = (): false => false;
const unknown = (): null => null;

/** The lists on which a subject, or another form of it, stands: for the caveat. */
export function otherListsNaming(look: Look, subject: ListSubject): readonly string[] | null {
  const read = seen(map(look, (held) => [held]));
  if (read === null) return null;
  const [held] = read;
  const named = held.lists.filter((list) => {
    const all = [...ownEntries(held, subject, list), ...otherEntries(held, subject, list)];
    return all.length > 0;
  });
  return named.map(({ name }) => name);
}

function ownEntries(
  { found }: OtherListsLookUp,
  { address }: ListSubject,
  { name }: OtherList,
): OtherListEntry[] {
  return heldUnder(found, matchKey(address)).filter(({ source }) => source === name);
}

function otherEntries(
  { found }: OtherListsLookUp,
  { address, forms }: ListSubject,
  { name }: OtherList,
): OtherListEntry[] {
  const keys = new Set(forms.map((form) => matchKey(form.address)));
  keys.delete(matchKey(address));
  const held = [...keys].flatMap((key) => heldUnder(found, key));
  return held.filter(({ source }) => source === name);
}

function matchOf({ address, source: _, ...entry }: OtherListEntry) {
  return { listed_address: address, ...entry };
}
