// What is the last line of a screen: how much was checked, and what was left?
// That nothing is listed is said where the list was read for every address.

import type { Outcome } from './screen-out.command.ts';

/** What the addresses of a file came to. */
export type ScreenCounts = {
  addresses: number;
  listed: number;
  formListed: number;
  /** Addresses for which no list was read. */
  listUnread: number;
  /** Addresses on a list of another authority, and those for which not all of them were read. */
  elsewhere: number;
  othersUnread: number;
  inPart: number;
  misformed: number;
  unchecked: number;
  /** Rows of the file that could not be taken as its columns say. */
  unread: number;
};

/** Nothing counted yet. */
export function newCounts(): ScreenCounts {
  const counts = { addresses: 0, listed: 0, formListed: 0, listUnread: 0 };
  const others = { elsewhere: 0, othersUnread: 0 };
  return { ...counts, ...others, inPart: 0, misformed: 0, unchecked: 0, unread: 0 };
}

/** Counts one address. */
export function countOutcome(outcome: Outcome, counts: ScreenCounts): void {
  counts.addresses += 1;
  if (outcome.listed) counts.listed += 1;
  if (outcome.formListed) counts.formListed += 1;
  if (!outcome.listRead) counts.listUnread += 1;
  if (outcome.elsewhere) counts.elsewhere += 1;
  if (!outcome.othersRead) counts.othersUnread += 1;
  if (outcome.kind === 'in part') counts.inPart += 1;
  if (outcome.kind === 'misformed') counts.misformed += 1;
  if (outcome.kind === 'not checked') counts.unchecked += 1;
}

/** The last line. `isKept`: what was done is in a file, with which a run can go on. */
export function summary(
  counts: ScreenCounts,
  columns: readonly string[],
  stopped: string | null,
  isKept: boolean,
): string {
  const { addresses, listed, formListed, listUnread, elsewhere, othersUnread } = counts;
  const { inPart, misformed, unchecked, unread } = counts;
  const from = columns.length === 0 ? '' : ` (${columns.join(', ')})`;
  const parts = [`${addresses} addresses${from}`];
  if (addresses === 0) parts.push('nothing was checked');
  else if (listed > 0 || listUnread === 0) parts.push(`${listed} on the sanctions list`);
  if (formListed > 0) parts.push(`${formListed} with another form on it`);
  if (elsewhere > 0 || (addresses > 0 && othersUnread === 0)) {
    parts.push(`${elsewhere} on lists of other authorities`);
  }
  if (misformed > 0) parts.push(`${misformed} of no known form, not checked`);
  if (inPart > 0) parts.push(`${inPart} not checked in full`);
  if (unchecked > 0) parts.push(`${unchecked} not checked`);
  if (unread > 0) parts.push(`${unread} rows not read in full`);
  const told = `${parts.join(', ')}.`;
  if (stopped === null) return told;
  const next = isKept ? ' The rest of the file was not reached; go on with --resume.' : '';
  return `${told} Stopped: ${stopped.replace(/\.$/, '')}.${next}`;
}
