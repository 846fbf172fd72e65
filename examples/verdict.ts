// Reads an answer of the service as one of three words. Only one that says `false` in so many
// letters is "not listed": whatever is missing, absent or new to this program could not be checked.

import { textAt, valueAt } from './ask.ts';

/** What may be said of an address, and on what it rests. */
export type Verdict = {
  readonly word: 'listed' | 'not listed' | 'could not check';
  readonly why: string;
};

/** Nobody looked, for this reason. */
export function unchecked(why: string): Verdict {
  return { word: 'could not check', why };
}

/** The verdict of an envelope of GET /api/v1/wallet/{address}/ofac. */
export function verdictOf(envelope: unknown): Verdict {
  const state = valueAt(envelope, 'state');
  switch (state) {
    case 'ok': {
      const data = valueAt(envelope, 'data');
      const published = textAt(valueAt(data, 'list'), 'published');
      return said(valueAt(data, 'sanctioned'), `the list of ${published}`);
    }
    // Read, and nothing on record. That is no word about the list.
    case 'insufficient_evidence':
    // Nothing was checked: this kind of address or chain is not served.
    case 'not_supported':
    // Nothing was checked: the list is missing, silent, too old, or of another day.
    case 'not_deployed':
      return unchecked(textAt(envelope, 'reason'));
    default:
      return unchecked(`a state that this program does not know: ${String(state)}`);
  }
}

/** The verdict of one result of POST /api/v1/bulk/wallet-screen, which has the list's own flag. */
export function verdictOfResult(result: unknown): Verdict {
  const sanctions = valueAt(result, 'sanctions');
  const listed = valueAt(sanctions, 'listed');
  const looked = valueAt(valueAt(result, 'checked'), 'sanctions_list') === true;
  // A list that is too old can still show that an address stands on it.
  if (!looked && listed !== true) return unchecked(textAt(result, 'reason'));
  return said(listed, `the list of ${textAt(sanctions, 'list_published')}`);
}

function said(value: unknown, why: string): Verdict {
  if (value === true) return { word: 'listed', why };
  if (value === false) return { word: 'not listed', why };
  return unchecked('the answer does not say');
}
