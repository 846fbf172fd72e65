// What do the lists of other authorities say of an address that is checked, beside the SDN list?
// None was imported is no fault of a check; one that is unread, or lost rows, is.

import { otherListsText, type SaidByList } from '../../command/other-lists-text.ts';
import { given } from '../../evidence/measure.ts';
import type { OtherLists } from '../../ports/lists/other-lists.ts';
import type { ListSubject } from './direct-check.ts';
import { askOtherLists, otherListsNaming, otherListsShown, standsOnOthers } from './other-lists.ts';

/** What was said of one address. */
export type CheckedOthers = {
  /** List by list, as the interface shows it; `null` where none was read. */
  readonly shown: readonly object[] | null;
  /** Why none was read. */
  readonly reason: string | null;
  readonly text: string;
  /** The lists that hold it, or another form of it; `null` where none was read. */
  readonly named: readonly string[] | null;
  /** Whether an entry of it is on one. */
  readonly holds: boolean;
  /** Whether it, or another form of it, is listed. */
  readonly listed: boolean;
  /** Whether it could not be shown that one of them does not list it. */
  readonly isShort: boolean;
};

/** Of a text that no list could hold, nothing is asked. */
export const NOT_ASKED: CheckedOthers = {
  shown: null,
  reason: null,
  text: 'not checked',
  named: null,
  holds: false,
  listed: false,
  isShort: false,
};

/** Asks the other lists about every form of a subject. `now` is Unix seconds. */
export async function checkOthers(
  lists: OtherLists,
  subject: ListSubject,
  now: number,
): Promise<CheckedOthers> {
  const look = await askOtherLists(lists, subject, null);
  const { other_lists, other_lists_reason: reason } = otherListsShown(look, subject, now);
  const named = otherListsNaming(look, subject);
  const holds = standsOnOthers(look, subject);
  if (other_lists === null) {
    const isShort = !('why' in look) || look.why.code !== 'table_never_imported';
    const text = isShort ? 'not checked' : 'none imported';
    return { ...NOT_ASKED, reason, text, isShort };
  }
  const shown = other_lists.map(({ checked, listed, matches, equivalent_matches, ...one }) => ({
    ...one,
    checked: checked.shown,
    listed: listed.shown,
    matches: matches.shown,
    equivalent_matches: equivalent_matches.shown,
  }));
  const said = shown.map(({ list, as_of, listed, matches, equivalent_matches }): SaidByList => {
    const own = given(matches).map(({ entity }) => (entity === null ? UNNAMED : entity));
    const forms = given(equivalent_matches).map(({ listed_address }) => listed_address);
    const entity = own.length === 0 ? null : [...new Set(own)].join('; ');
    return { list, as_of, listed, entity, forms };
  });
  return {
    shown,
    reason,
    text: otherListsText(said),
    named,
    holds,
    listed: said.some(({ listed, forms }) => listed === true || forms.length > 0),
    isShort: said.some(({ listed }) => listed === null),
  };
}

const UNNAMED = 'an entry without a name';
