// Summarises in a few words how the lists of other authorities answer about one address. Each list
// is named with its date. Listings come first; unread and not listed are different words.

import { formatIsoDate } from '../chain/time.ts';

/** The answer of one list about an address. */
export type ListAnswer = {
  readonly list: string;
  /** Unix seconds. */
  readonly as_of: number;
  /** Whether an entry of the address itself has not ended; `null` where a miss is no answer. */
  readonly listed: boolean | null;
  /** The entity of its entries, ended ones included. */
  readonly entity: string | null;
  /** Other forms of it that are listed. */
  readonly forms: readonly string[];
  /** Whether an entry of it, or of another form of it, has ended. */
  readonly ended: boolean | null;
};

/** The words with which a text begins that names a listing; `FORM` is of another form. */
export const LISTED = 'LISTED';
export const FORM_LISTED = 'FORM LISTED';
/** The words that a text holds where a list could not be read whole. */
export const NOT_CHECKED = 'not checked';

const ORDER = [LISTED, FORM_LISTED, NOT_CHECKED, 'ended', 'not'] as const;

/** The lists with their dates, each with what it says. */
export function otherListsText(said: readonly ListAnswer[]): string {
  const texts = said.flatMap(textsOf);
  return ORDER.flatMap((word) => texts.filter((one) => one.word === word))
    .map(({ text }) => text)
    .join('; ');
}

type Text = { readonly word: (typeof ORDER)[number]; readonly text: string };

function textsOf({ list, as_of, listed, entity, forms, ended }: ListAnswer): Text[] {
  const dated = `${list} of ${formatIsoDate(as_of)}`;
  const whom = entity === null ? '' : `: ${entity}`;
  const texts: Text[] = [];
  if (listed === true) texts.push({ word: LISTED, text: `LISTED on ${dated}${whom}` });
  if (forms.length > 0) {
    texts.push({ word: FORM_LISTED, text: `FORM LISTED on ${dated}: ${forms.join(' ')}` });
  }
  if (listed === null) texts.push({ word: NOT_CHECKED, text: `not checked: ${dated}` });
  if (listed === false && forms.length === 0) {
    if (ended === true) texts.push({ word: 'ended', text: `ended on ${dated}${whom}` });
    else texts.push({ word: 'not', text: `not on ${dated}` });
  }
  return texts;
}
