// Answers one question: how old is the list, and what must be said or left unsaid because of it.
// Pure: it is told the time. It never calls a list fresh; it only has nothing to add.

import { DAY_S, HOUR_S, startOfDay } from '../../chain/time.ts';
import { type Why, why } from '../../evidence/reasons.ts';

const MINUTE_S = 60;

/** From this age on, an answer says when the list was last checked. */
const CHECK_TOLD_FROM_S = DAY_S;
/** From this age on, an answer says of when the publication is, however recently it was checked. */
const PUBLICATION_TOLD_FROM_S = 30 * DAY_S;
/** Up to this many of a unit the next smaller one is used. */
const UNITS_MIN = 2;

/** The times of a list, in Unix seconds but for the publication date. */
type ListTimes = {
  readonly now: number;
  readonly checked_at: number;
  readonly published: string;
  /** `null` where the operator lifted the limit. */
  readonly maxAgeS: number | null;
};

/** What the age asks for: sentences for every answer, and why a miss is none, if it is none. */
type ListAge = { readonly notes: readonly string[]; readonly tooOld: Why | null };

/** Applies the age rule. */
export function ageOf({ now, checked_at, published, maxAgeS }: ListTimes): ListAge {
  const notes: string[] = [];
  const age = now - checked_at;
  if (age >= CHECK_TOLD_FROM_S) {
    notes.push(`The list was last checked against its publisher ${spanText(age)} ago.`);
  }
  const publishedAge = now - startOfDay(published);
  if (publishedAge > PUBLICATION_TOLD_FROM_S) {
    notes.push(`The publication is of ${published}, ${spanText(publishedAge)} ago.`);
  }
  if (maxAgeS === null) {
    notes.push('The age limit of the list is lifted on this deployment.');
    return { notes, tooOld: null };
  }
  if (age <= maxAgeS) return { notes, tooOld: null };
  const filling = { age: spanText(age), limit: spanText(maxAgeS) };
  return { notes, tooOld: why('list_too_old', filling) };
}

/** A span of seconds in its largest unit of which there are two or more: `26 hours`, `9 days`. */
export function spanText(seconds: number): string {
  const units = [
    [DAY_S, 'day'],
    [HOUR_S, 'hour'],
    [MINUTE_S, 'minute'],
  ] as const;
  for (const [unit, name] of units) {
    const count = Math.floor(seconds / unit);
    if (count >= UNITS_MIN) return `${count} ${name}s`;
  }
  const whole = Math.max(0, Math.floor(seconds));
  return `${whole} second${whole === 1 ? '' : 's'}`;
}
