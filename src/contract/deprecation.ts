// Answers one question: how is a caller told that a route will go?
// By the headers of RFC 9745 (Deprecation) and RFC 8594 (Sunset), in the API's own description, and
// in its reference. How long a route stays after that: docs/reference/versioning.md.

import { DAY_S, MS_PER_S, startOfDay } from '../chain/time.ts';
import type { Headers } from './answer.ts';

/** Days are `YYYY-MM-DD`. */
export type Deprecation = {
  readonly since: string;
  /** The first day on which the route need not answer any more. */
  readonly sunset: string;
  /** What to ask in its place, in words. */
  readonly instead: string;
};

/** A route is answered for at least this long after it was called deprecated. */
const NOTICE_DAYS = 180;
const POLICY = '</docs/reference/versioning>; rel="deprecation"; type="text/html"';

/** Throws where the notice is shorter than the one that was promised. */
export function deprecationHeaders({ since, sunset }: Deprecation): Headers {
  const [from, to] = [startOfDay(since), startOfDay(sunset)];
  if (to - from < NOTICE_DAYS * DAY_S) throw new Error(`a notice of under ${NOTICE_DAYS} days`);
  return {
    Deprecation: `@${from}`,
    Sunset: new Date(to * MS_PER_S).toUTCString(),
    Link: POLICY,
  };
}

/** What is added to the summary of a route that will go. */
export function deprecationSentence({ since, sunset, instead }: Deprecation): string {
  return `Deprecated since ${since}, answered until ${sunset}. ${instead}`;
}
