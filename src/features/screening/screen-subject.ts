// What does one text of a bulk screen ask about, and when is it no address?
// It refuses to call a text malformed while the list, which might hold it, is unread.

import {
  describeMisform,
  type EquivalentForm,
  type KnownAddress,
  matchKey,
  otherForms,
  parseKnownAddress,
} from '../../chain/address.ts';

import { type Partly, Read } from '../../evidence/reading.ts';
import type { OtherListsLookUp, OtherListsPort } from '../../ports/lists/other-lists.ts';
import type { ListLookUp, SanctionsListPort } from '../../ports/sanctions/sanctions-list.ts';

/** The kind of one address asked about; `other` is of a chain that only the list can know. */
export type ScreenKind = KnownAddress['kind'];

/** One address asked about. */
export type Subject = {
  readonly address: string;
  readonly kind: ScreenKind;
  /** Whether its own form says that it is an address, whether or not the list holds it. */
  readonly recognised: boolean;
  /** Its other forms, but for those that compare as it does. */
  readonly forms: readonly EquivalentForm[];
};

type MisformCode = 'form_not_recognised' | 'solana_letter_case';

/** An address that cannot be screened: where it stood in the request, and why. */
export type Misformed = { readonly index: number; readonly code: MisformCode };

/** The longest text that may stand on a list without being an address of a known form. */
const LITERAL_CHARS_MAX = 128;
const CODE_FIRST_PRINTABLE = 33;
const CODE_LAST_PRINTABLE = 126;

/** An address of a known form, or a text that might stand literally on the list. */
export function subjectOf(text: string): Subject | null {
  const known = parseKnownAddress(text);
  if (known !== null) {
    const { address, kind } = known;
    return { address, kind, recognised: true, forms: otherForms(known) };
  }
  if (text.length === 0 || text.length > LITERAL_CHARS_MAX) return null;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < CODE_FIRST_PRINTABLE || code > CODE_LAST_PRINTABLE) return null;
  }
  return { kind: 'other', address: matchKey(text), recognised: false, forms: NO_FORMS };
}

const NO_FORMS: readonly EquivalentForm[] = Object.freeze([]);

/** The lists that a screen asked, each `null` where it was not. */
type ListsAsked = {
  readonly list: Partly<ListLookUp, SanctionsListPort> | null;
  readonly others: Partly<OtherListsLookUp, OtherListsPort> | null;
};

/**
 * Why a text cannot be screened. One of no known form is malformed only where no list that was
 * asked about holds it, each read to its end; while one is unread it may be a listed one.
 */
export function misformOf(
  text: string | undefined,
  subject: Subject | null,
  { list, others }: ListsAsked,
): MisformCode | null {
  if (subject === null || text === undefined) return 'form_not_recognised';
  if (subject.recognised) return null;
  for (const asked of [list, others]) {
    if (asked === null) continue;
    if (!(asked instanceof Read) || asked.value.found.has(subject.address)) return null;
  }
  const misform = describeMisform(text);
  return misform === null ? 'form_not_recognised' : misform;
}
