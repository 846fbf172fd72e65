// Answers one question: how old is the list, and what must be said or left unsaid because of it.
// Pure: it is told the time. It never calls a list fresh; it only has nothing to add.

import { DAY_S, formatIsoDate, formatIsoTime, HOUR_S, startOfDay } from '../../chain/time.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { CheckedBy, Superseded } from '../../ports/sanctions/publication-store.ts';

const MINUTE_S = 60;

/** From this age on, an answer says when the list was last checked. */
const CHECK_TOLD_FROM_S = DAY_S;
/** From this age on, an answer says of when the publication is, however recently it was checked. */
const PUBLICATION_TOLD_FROM_S = 30 * DAY_S;
/** So long after a newer file was refused a miss is no answer any more. */
const SUPERSEDED_MAX_S = DAY_S;
/** How far the day of a list may be ahead of the clock: the day may begin in another zone. */
const AHEAD_MAX_S = DAY_S;
/** Up to this many of a unit the next smaller one is used. */
const UNITS_MIN = 2;

/** The times of a list, in Unix seconds but for the publication date. */
type ListTimes = {
  readonly now: number;
  readonly checked_at: number;
  readonly checked_by: CheckedBy;
  readonly published: string;
  /** A newer file that was refused and stands against it; `null` where there is none. */
  readonly superseded: Superseded | null;
  /** `null` where the operator lifted the limit. */
  readonly maxAgeS: number | null;
};

/** What the age asks for: sentences for every answer, and why a miss is none, if it is none. */
type ListAge = { readonly notes: readonly string[]; readonly tooOld: Why | null };

/** Applies the age rule. */
export function ageOf(times: ListTimes): ListAge {
  const { now, checked_at, published, superseded, maxAgeS } = times;
  const age = now - checked_at;
  const notes = checkNotes(times, age);
  const publishedAge = now - startOfDay(published);
  if (publishedAge > PUBLICATION_TOLD_FROM_S) {
    notes.push(`The publication is of ${published}, ${spanText(publishedAge)} ago.`);
  }
  if (superseded !== null) notes.push(supersededNote(superseded, now));
  if (maxAgeS === null) notes.push('The age limit of the list is lifted on this deployment.');
  return { notes, tooOld: noNegative(times, age) };
}

function checkNotes({ checked_at, checked_by }: ListTimes, age: number): string[] {
  if (checked_by === 'obtained') {
    const at = `${formatIsoTime(checked_at).slice(0, MINUTE_CHARS)}Z`;
    return [`The operator states that the list was obtained at ${at}, ${spanText(age)} ago.`];
  }
  if (age < CHECK_TOLD_FROM_S) return [];
  if (checked_by === 'asked') {
    return [`The list was last checked against its publisher ${spanText(age)} ago.`];
  }
  const own = 'on its own publication date';
  return [
    `The publisher did not confirm the list: it counts as checked ${own}, ${spanText(age)} ago.`,
  ];
}

/** `2026-11-21T12:00`. */
const MINUTE_CHARS = 16;

function supersededNote({ published, source_url, code, since }: Superseded, now: number): string {
  const seen = `first seen ${spanText(now - since)} ago`;
  const refused = `was refused (${code}) and is not in force`;
  return `A list of ${published} from ${source_url}, ${seen}, ${refused}.`;
}

/** Why a miss is no answer: the list is of a day to come, not the newest, or too old. */
function noNegative(times: ListTimes, age: number): Why | null {
  const { now, published, superseded, maxAgeS } = times;
  if (startOfDay(published) > now + AHEAD_MAX_S) {
    return why('list_ahead_of_clock', { published, today: formatIsoDate(now) });
  }
  if (superseded !== null && now - superseded.since > SUPERSEDED_MAX_S) {
    const span = spanText(now - superseded.since);
    return why('list_superseded', { published: superseded.published, code: superseded.code, span });
  }
  if (maxAgeS === null || age <= maxAgeS) return null;
  return why('list_too_old', { age: spanText(age), limit: spanText(maxAgeS) });
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
