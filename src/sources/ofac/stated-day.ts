// Answers one question: of which day does a file say that it is, when it cannot be read to its end.
// It looks at the beginning alone, whatever the root, the namespace and the rest of the file are:
// that a newer list was published is known even where its format is not.

import { isoDay } from './publication.ts';

/** Both formats state their day in their first kilobyte. */
export const STATED_WITHIN_BYTES = 64 * 1024;

const LEGACY = /<Publish_Date>\s*(?<month>\d{1,2})\/(?<day>\d{1,2})\/(?<year>\d{4})\s*</;
const ADVANCED = new RegExp(
  '<DateOfIssue[^>]*>\\s*<Year>\\s*(?<year>\\d{4})\\s*</Year>' +
    '\\s*<Month>\\s*(?<month>\\d{1,2})\\s*</Month>\\s*<Day>\\s*(?<day>\\d{1,2})\\s*<',
);

/** The day as `YYYY-MM-DD`; `null` where the beginning of the document states none. */
export function statedDay(head: string): string | null {
  const legacy = LEGACY.exec(head);
  const stated = legacy === null ? ADVANCED.exec(head) : legacy;
  if (stated?.groups === undefined) return null;
  const { year, month, day } = stated.groups;
  return isoDay(String(year), String(month), String(day));
}
