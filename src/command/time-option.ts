// Which time does an operator state with an option?
// It refuses a time without its zone and one that has not been yet.

import { MS_PER_S, parseIsoDate } from '../chain/time.ts';
import { UsageError } from './command.ts';

/** A time with its zone: `2026-11-21T09:00Z`, `2026-11-21T09:00:00-05:00`. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})$/;

/** The Unix seconds of a time that has been, or `UsageError`; `null` where the option is absent. */
export function timeStated(
  text: string | undefined,
  option: string,
  now: number,
  takes: 'time' | 'day or time' = 'time',
): number | null {
  if (text === undefined) return null;
  const day = takes === 'time' ? null : parseIsoDate(text);
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  const at = day === null ? Math.floor(ms / MS_PER_S) : day;
  if (Number.isNaN(at)) {
    const or = takes === 'time' ? '' : ' or a day such as 2026-11-21';
    throw new UsageError(`${option} takes a time such as 2026-11-21T09:00Z${or}.`);
  }
  if (at > now) throw new UsageError(`${option} takes a time that has been.`);
  return at;
}
