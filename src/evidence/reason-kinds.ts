// What kinds of reason there are, for those who answer differently by it.

import type { ReasonCode, Why } from './reasons.ts';

/** The reasons that tell of a search which came to its end and met nothing. */
const NONE_FOUND: ReadonlySet<ReasonCode> = new Set([
  'no_record',
  'no_record_no_token',
  'no_record_settled',
  'mint_not_held',
  'account_without_code',
]);

/** Whether what was asked about was looked for to the end, and is not there. */
export function isNoneFound({ code }: Pick<Why, 'code'>): boolean {
  return NONE_FOUND.has(code);
}

/** The reasons that say that nobody set it up, so that waiting changes nothing. */
const NOT_SET_UP: ReadonlySet<ReasonCode> = new Set([
  'not_configured',
  'table_never_imported',
  'model_not_published',
  'never_scored',
]);

/** Whether it was never set up here: an outage is another thing, which passes. */
export function isNotSetUp({ code }: Pick<Why, 'code'>): boolean {
  return NOT_SET_UP.has(code);
}

/**
 * The reasons of which none failed: nobody looked yet, a source that answered does not know, or the
 * world is made up and shows that nothing is there by no answer.
 */
const NOT_KNOWN: ReadonlySet<ReasonCode> = new Set([
  'deployer_not_walked',
  'creation_not_found',
  'simulated',
]);

/** Whether something failed, which may answer later. */
export function isOutage(why: Pick<Why, 'code'>): boolean {
  return !isNotSetUp(why) && !NOT_KNOWN.has(why.code);
}
