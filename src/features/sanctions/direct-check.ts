// Looks an address up on the list. A list that is unread or past its age never shows that an
// address is not listed, and a listed equivalent form stands beside the answer about the address,
// never in it.

import {
  type AddressKind,
  describeMisform,
  type EquivalentForm,
  equivalentForms,
  matchKey,
  type ParsedAddress,
  parseKnownAddress,
} from '../../chain/address.ts';
import { formatIsoDate } from '../../chain/time.ts';
import { claim } from '../../evidence/claim.ts';
import { listOrNone, rowsUnder } from '../../evidence/measure.ts';
import {
  decide,
  map,
  type Partly,
  Read,
  type Reading,
  rowsSeen,
  type Silent,
  unread,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ListEntry, ListLookUp, SanctionsListPort } from '../../ports/sanctions.ts';
import {
  type OtherList,
  type OtherListEntry,
  type OtherLists,
  type OtherListsLookUp,
  type OtherListsPort,
  standsOn,
} from '../../ports/tables.ts';
import { readingOfList } from '../tables/import-rows.ts';
import { LITERAL_PATTERN } from '../tables/other-lists.ts';

type List = SanctionsListPort;

/** The subject of a question: an address of a known form, or a text that only the list can know. */
export type ListSubject = {
  /** As the answer names it, which is as it is compared. */
  readonly address: string;
  readonly kind: AddressKind | 'other';
  /** Whether its own form says that it is an address, whether or not the list holds it. */
  readonly recognised: boolean;
  /** An address whose history can be walked; `null` for every other text. */
  readonly parsed: ParsedAddress | null;
  readonly forms: readonly EquivalentForm[];
};

const NO_FORMS: readonly EquivalentForm[] = Object.freeze([]);

/** The subject that a text names, or `null` where it is none and cannot stand on a list. */
export function listSubject(text: string): ListSubject | null {
  const known = parseKnownAddress(text);
  if (known !== null) {
    const { address, kind } = known;
    const parsed = known.kind === 'other' ? null : known;
    return { address, kind, recognised: true, parsed, forms: equivalentForms(known) };
  }
  if (!LITERAL_PATTERN.test(text)) return null;
  const address = matchKey(text);
  return { address, kind: 'other', recognised: false, parsed: null, forms: NO_FORMS };
}

/** Every spelling under which the list is asked about a subject. */
export function spellingsOf({ address, forms }: ListSubject): string[] {
  return [address, ...forms.map((form) => form.address)];
}

/** Another form of the subject; `listed` is `null` where the list cannot show that it lacks it. */
export type ScreenedForm = EquivalentForm & { readonly listed: boolean | null };

/** The list's result for a subject: nothing (with the reason), no address, or its entries. */
export type DirectCheck =
  | {
      readonly outcome: 'silent';
      readonly silent: Silent<List>;
      readonly why: Why;
      /** The other forms that the list does hold, as far as it was read. */
      readonly listedForms: readonly string[];
    }
  /** Not known as an address, or likely one whose letter case was lost. */
  | {
      readonly outcome: 'misformed';
      readonly code: 'form_not_recognised' | 'solana_letter_case';
    }
  | {
      readonly outcome: 'checked';
      readonly look: Read<ListLookUp, List>;
      readonly forms: readonly ScreenedForm[];
      /** The other forms that the list does hold. */
      readonly listedForms: readonly string[];
    };

/**
 * Reads one look-up of a subject's spellings. A list past its age still shows a listing; a text of
 * no known form is refused only where a list that was read to its end does not hold it, and no
 * other one either (`isElsewhere`).
 */
export function directCheck(
  subject: ListSubject,
  look: Partly<ListLookUp, List>,
  isElsewhere: boolean,
): DirectCheck {
  const key = matchKey(subject.address);
  const forms = subject.forms.map((form) => {
    const formKey = matchKey(form.address);
    const held = decide(look, ({ found }) => found.has(formKey));
    return { ...form, listed: held instanceof Read ? held.value.found.has(formKey) : null };
  });
  // EIP-55 writes the same address in another letter case: listed, it is the subject that is.
  const listedForms = forms
    .filter(({ address, listed }) => listed === true && matchKey(address) !== key)
    .map(({ address }) => address);
  const settled = decide(look, ({ found }) => found.has(key));
  if (!(settled instanceof Read)) {
    const why = silenceOf(settled.why, listedForms);
    return { outcome: 'silent', silent: settled, why, listedForms };
  }
  if (!subject.recognised && !isElsewhere && !settled.value.found.has(key)) {
    return { outcome: 'misformed', code: describeMisform(subject.address) };
  }
  return { outcome: 'checked', look: settled, forms, listedForms };
}

/** The entries under which the list holds an address; it holds none under one it lacks. */
export function entriesOf({ found }: ListLookUp, address: string): readonly ListEntry[] {
  return rowsUnder(found, matchKey(address));
}

/** An old list that acquits nobody may still hold another form of the subject: that is said. */
function silenceOf(silence: Why, listedForms: readonly string[]): Why {
  if (listedForms.length === 0) return silence;
  const { reason } = why('equivalent_listed', { forms: listedForms.join(', ') });
  return { code: silence.code, reason: `${silence.reason} ${reason}` };
}

// A hint for people, never a match: in most forms another letter case is another address, or none.

/** The likely intended address of a text; `null` if no listed one is spelled alike. */
export type CaseHint = (text: string) => Promise<string | null>;

/** Looks among listed addresses, which are read when the first text is asked about. */
export function caseHint(listed: () => Promise<readonly ListEntry[] | null>): CaseHint {
  let held: Promise<ReadonlyMap<string, string>> | null = null;
  const read = async () => {
    const entries = listOrNone(await listed());
    return new Map(entries.map(({ address }) => [address.toLowerCase(), address]));
  };
  return async (text) => {
    if (held === null) held = read();
    const found = (await held).get(text.toLowerCase());
    return found === undefined || found === text ? null : found;
  };
}

// On which lists of other authorities does an address stand, each with its own date and source?
// It refuses to fold any of them into `sanctioned`, which is about the SDN list alone.

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

/** The results of the other lists for a subject, list by list. `now` is Unix seconds. */
export function otherListsShown(look: Look, subject: ListSubject, now: number) {
  if (!(look instanceof Read)) return { other_lists: null, other_lists_reason: look.why.reason };
  const today = formatIsoDate(now);
  const shown = look.value.lists.map((list) => {
    const { name, simulated, ...facts } = list;
    const whole = readingOfList(look, list);
    const own = (held: OtherListsLookUp) => ownEntries(held, subject, list);
    const stands = (held: OtherListsLookUp) => own(held).some((one) => standsOn(one, today));
    const others = (held: OtherListsLookUp) => otherEntries(held, subject, list);
    const formStands = (held: OtherListsLookUp) => others(held).some((one) => standsOn(one, today));
    return {
      list: name,
      ...facts,
      simulated,
      checked: claim(whole, isRead, isNot),
      listed: claim(decide(whole, stands), stands, unknown),
      matches: claim(
        decide(whole, (held) => own(held).length > 0),
        (held) => own(held).map(matchOf),
        unknown,
      ),
      equivalent_matches: claim(
        decide(whole, (held) => others(held).length > 0),
        (held) => others(held).map(matchOf),
        unknown,
      ),
      equivalent_listed: claim(decide(whole, formStands), formStands, unknown),
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
  const read = rowsSeen(map(look, (held) => [held]));
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
  return rowsUnder(found, matchKey(address)).filter(({ source }) => source === name);
}

function otherEntries(
  { found }: OtherListsLookUp,
  { address, forms }: ListSubject,
  { name }: OtherList,
): OtherListEntry[] {
  const keys = new Set(forms.map((form) => matchKey(form.address)));
  keys.delete(matchKey(address));
  const held = [...keys].flatMap((key) => rowsUnder(found, key));
  return held.filter(({ source }) => source === name);
}

function matchOf({ address, source: _, ...entry }: OtherListEntry) {
  return { listed_address: address, ...entry };
}
