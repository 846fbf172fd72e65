// Parses seconds and days. All days are UTC days. Refuses dates that no calendar has, and reads no
// clock: the caller passes the time.

/** Seconds since 1970-01-01T00:00:00Z, whole unless a source measures finer. */
export type UnixSeconds = number;

/** Milliseconds of a second. */
export const MS_PER_S = 1_000;
export const HOUR_S = 3_600;
/** Seconds of a UTC day. */
export const DAY_S = 86_400;

const ISO_DATE_PATTERN = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const ISO_DATE_CHARS = 10;
const FIRST_SECOND = Date.UTC(1000, 0, 1) / MS_PER_S;
const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59, 999) / MS_PER_S;

/**
 * The first second of a calendar day written `YYYY-MM-DD`, years 1000 to 9999. Null for any other
 * text and for a day that does not exist, such as `2023-02-29`.
 */
export function parseIsoDate(text: string): UnixSeconds | null {
  const match = ISO_DATE_PATTERN.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match;
  const seconds = Date.UTC(Number(year), Number(month) - 1, Number(day)) / MS_PER_S;
  // Date.UTC rolls an impossible day over into the next month; writing it back shows that.
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) return null;
  return formatIsoDate(seconds) === text ? seconds : null;
}

/**
 * The UTC day of a time, as `YYYY-MM-DD`. Throws a RangeError outside the years 1000 to 9999,
 * which milliseconds taken for seconds are.
 */
export function formatIsoDate(seconds: UnixSeconds): string {
  if (!(seconds >= FIRST_SECOND && seconds <= LAST_SECOND)) {
    throw new RangeError('a time outside the years 1000 to 9999');
  }
  return new Date(seconds * MS_PER_S).toISOString().slice(0, ISO_DATE_CHARS);
}

/** The first second of a day that is known to be one; any other text is a RangeError. */
export function startOfDay(day: string): UnixSeconds {
  const seconds = parseIsoDate(day);
  if (seconds === null) throw new RangeError('a day that no calendar has');
  return seconds;
}

/** A time as `2026-11-21T12:00:00.000Z`. */
export function formatIsoTime(seconds: UnixSeconds): string {
  return new Date(seconds * MS_PER_S).toISOString();
}

/** The first midnight UTC after a time; at midnight itself, the next one. */
export function nextUtcMidnight(now: UnixSeconds): UnixSeconds {
  return (Math.floor(now / DAY_S) + 1) * DAY_S;
}

/** The first second, UTC, of the month after the one a time lies in. */
export function nextUtcMonth(now: UnixSeconds): UnixSeconds {
  const date = new Date(now * MS_PER_S);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / MS_PER_S;
}

const WASHINGTON_DAY = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  day: 'numeric',
});

/** The first second after a day (`YYYY-MM-DD`) in Washington: the publisher dates by its time. */
export function endOfWashingtonDay(day: string): UnixSeconds {
  const next = startOfDay(day) + DAY_S;
  // Midnight there is 4 hours behind in summer, 5 in winter; the clocks change later in the night.
  const summer = next + SUMMER_BEHIND_S;
  const dayThere = Number(WASHINGTON_DAY.format(new Date(summer * MS_PER_S)));
  const nextDay = new Date(next * MS_PER_S).getUTCDate();
  return dayThere === nextDay ? summer : summer + HOUR_S;
}

const SUMMER_BEHIND_S = 4 * HOUR_S;
