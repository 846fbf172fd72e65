// Answers one question: how is a watchlist shown, and which text names an address to watch?

import { describeMisform } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { present } from '../../evidence/measure.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type Finding,
  type PartStanding,
  WATCH_PARTS,
  type WatchChange,
  type Watched,
  type WatchPart,
} from '../../ports/watchlist/watchlist.ts';
import { listSubject } from '../sanctions/direct-check.ts';

/** What is said where a plan watches as many as it may. */
export const FULL = 'This membership watches as many addresses as its plan does.';
/** What is said of an id that is nobody's, and of one that is another's. */
export const UNKNOWN = 'This membership watches nothing under this id.';

/** The address that a text names, as it is watched, or why it names none. */
export function addressOf(text: string): string | Why {
  const subject = listSubject(text);
  if (subject?.recognised === true) return subject.address;
  const misform = describeMisform(text);
  return why(misform === null ? 'form_not_recognised' : misform);
}

/** A watched address as routes and pages show it. */
export function watchedShown({ id, address, added_at, parts }: Watched) {
  return {
    id,
    address,
    added_at: formatIsoTime(added_at),
    parts: present(WATCH_PARTS.map((part) => partShown(part, parts[part]))),
  };
}

function partShown(part: WatchPart, standing: PartStanding | undefined) {
  if (standing === undefined) return null;
  const { findings, version, read_at, not_read } = standing;
  return {
    part,
    found: findings === null ? null : findings.map(findingShown),
    version,
    read_at: read_at === null ? null : formatIsoTime(read_at),
    not_read,
  };
}

/** A change as routes, streams and pages show it, without its number. */
export function changeShown({ seq: _, before, after, at, not_read, ...change }: WatchChange) {
  return {
    ...change,
    before: before === null ? null : before.map(findingShown),
    after: after.map(findingShown),
    not_read: [...not_read],
    at: formatIsoTime(at),
  };
}

function findingShown({ source, address, entity, ref, detail }: Finding) {
  return { source, address, entity, ref, detail };
}
