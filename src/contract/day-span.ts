// Which time do some days span, both of them included?

import { DAY_S, parseIsoDate } from '../chain/time.ts';

/** Unix seconds: from a time on, before another; `null` is no bound. */
export type DaySpan = { readonly from: number | null; readonly until: number | null };

/** The span of some days (UTC), both included; a text says what is wrong with them. */
export function daySpan(from: string | undefined, to: string | undefined): DaySpan | string {
  const first = from === undefined ? null : parseIsoDate(from);
  const last = to === undefined ? null : parseIsoDate(to);
  if (from !== undefined && first === null) return `from: ${from} is not a day of the calendar`;
  if (to !== undefined && last === null) return `to: ${to} is not a day of the calendar`;
  if (first !== null && last !== null && first > last) return 'from: it is later than `to`';
  return { from: first, until: last === null ? null : last + DAY_S };
}
