// Times of files: with an offset of their own, or of a wall clock, which a zone turns into UTC.
// Where such a clock is set back, an hour repeats, and the order of the rows tells which is which;
// where it is set forward, an hour does not exist.

import { HOUR_S, MS_PER_S } from '../../chain/time.ts';

const HOUR_MS = HOUR_S * MS_PER_S;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60 * MS_PER_S;

/** A time as a file writes it. `local` is a reading of a wall clock, as if it were of UTC. */
export type FileTime = { readonly at: number } | { readonly local: number };

const STAMP = new RegExp(
  [
    /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?/,
    / ?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/,
  ]
    .map(({ source }) => source)
    .join(''),
);
/** Unix seconds, milliseconds or microseconds, which say by their length what they are. */
const EPOCHS: readonly (readonly [form: RegExp, toMs: (count: number) => number])[] = [
  [/^\d{9,10}(\.0+)?$/, (count) => count * MS_PER_S],
  [/^\d{12,13}$/, (count) => count],
  [/^\d{15,16}$/, (count) => Math.floor(count / MS_PER_S)],
];

/** Parses a time; `null` for any other text and for one that no calendar has. */
export function parseStamp(text: string): FileTime | null {
  const epoch = EPOCHS.find(([form]) => form.test(text));
  if (epoch !== undefined) return { at: epoch[1](Number(text)) };
  const match = STAMP.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const ms = fraction === undefined ? 0 : Math.floor(Number(`0.${fraction}`) * MS_PER_S);
  const whole = second === undefined ? '00' : second;
  const parts = [year, month, day, hour, minute, whole].map(Number);
  const [y, mo, d, h, mi, s] = parts as [number, number, number, number, number, number];
  const local = Date.UTC(y, mo - 1, d, h, mi, s, ms);
  // Date.UTC rolls over what no calendar and no clock has; writing it back shows that.
  const date = new Date(local);
  const isReal = date.getUTCDate() === d && date.getUTCMonth() === mo - 1 && mi < 60 && s < 60;
  if (!isReal || h > 23) return null;
  return zone === undefined ? { local } : { at: local - offsetIn(zone) };
}

function offsetIn(zone: string): number {
  if (zone === 'Z' || zone === 'UTC') return 0;
  const [hours, minutes] = [zone.slice(1, 3), zone.slice(3).replace(':', '')].map(Number);
  const offset = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
  return zone.startsWith('-') ? -offset : offset;
}

/** A zone of the IANA database by which wall clocks are read. */
export type Zone = {
  /** The times at which a wall clock of it shows a reading: one, two where it repeats, or none. */
  readonly timesOf: (local: number) => readonly number[];
};

/** The zone of a name; `null` where there is none. */
export function zoneNamed(name: string): Zone | null {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  const offsetAt = (at: number): number => {
    const whole = Math.floor(at / MS_PER_S) * MS_PER_S;
    const parts = new Map(format.formatToParts(whole).map(({ type, value }) => [type, value]));
    const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
    const day = Date.UTC(part('year'), part('month') - 1, part('day'));
    const time = (part('hour') * 60 + part('minute')) * MINUTE_MS + part('second') * MS_PER_S;
    return day + time - whole;
  };
  return {
    timesOf: (local) => {
      const offsets = new Set([offsetAt(local - DAY_MS), offsetAt(local + DAY_MS)]);
      const times = [...offsets].map((offset) => local - offset);
      return times.filter((at) => offsetAt(at) === local - at).sort((a, b) => a - b);
    },
  };
}

/** A wall clock's time in UTC, or why it cannot be told. */
export type LocalTime = { readonly at: number } | { readonly problem: 'repeated' | 'skipped' };

/**
 * The times of wall clocks in the order of a file that has one row an hour. An hour that repeats
 * stands twice in a row in it, and the rows around tell whether the file goes forward or backward;
 * where they do not, it cannot be told which is which.
 */
export function localTimes(locals: readonly number[], zone: Zone): readonly LocalTime[] {
  const hours = locals.map((local) => Math.floor(local / HOUR_MS));
  return locals.map((local, n) => {
    const [first, second] = zone.timesOf(local);
    if (first === undefined) return { problem: 'skipped' };
    if (second === undefined) return { at: first };
    const place = placeInPair(hours, n);
    if (place === null) return { problem: 'repeated' };
    return { at: place === 'earlier' ? first : second };
  });
}

/** Which of two rows of one hour a row is; `null` where the order of the file does not tell. */
function placeInPair(hours: readonly number[], n: number): 'earlier' | 'later' | null {
  const hour = Number(hours[n]);
  const from = hours[n - 1] === hour ? n - 1 : n;
  const [before, , next, after] = [hours[from - 1], hour, hours[from + 1], hours[from + 2]];
  if (next !== hour || before === hour || after === hour) return null;
  const isForward = isInOrder(before, hour) && isInOrder(hour, after);
  const isBackward = isInOrder(after, hour) && isInOrder(hour, before);
  if (isForward === isBackward) return null;
  return isForward === (n === from) ? 'earlier' : 'later';
}

/** Whether one hour comes before another; one that is not there is in any order. */
function isInOrder(first: number | undefined, second: number | undefined): boolean {
  return first === undefined || second === undefined || first < second;
}
