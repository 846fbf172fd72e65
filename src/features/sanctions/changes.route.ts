// Answers GET /api/v1/registry/sanctions/changes from the log that each acceptance writes.
// It refuses to show an empty log that was not read.

import { matchKey } from '../../chain/address.ts';
import { DAY_S, formatIsoTime, parseIsoDate } from '../../chain/time.ts';
import { badInput } from '../../contract/refusals.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { claim } from '../../evidence/claim.ts';
import { decided, map, Part, Read, seen } from '../../evidence/reading.ts';
import type {
  FileEvent,
  ListChange,
  ListChanges,
  Span,
} from '../../ports/sanctions/list-changes.ts';
import type { Listing } from '../../ports/sanctions/publisher.ts';
import {
  FILES_MAX,
  LIST_CHANGES_DEFAULT,
  LIST_CHANGES_MAX,
  sanctionsChanges,
} from './changes.contract.ts';

/** What a reader of the log must know of it. */
export const LIST_CHANGES_CAVEAT =
  'The log tells what came into force on this deployment, and when; it is kept for good. Changes ' +
  'are those of the list before: the first list stands among the files alone. An address that ' +
  'left this list may stand on another.';

/** The handler of the change log. */
export function sanctionsChangesHandler(log: ListChanges): PlainHandler<typeof sanctionsChanges> {
  return async ({ query: { address, from, to, before, limit } }) => {
    const span = spanOf(from, to);
    if (typeof span === 'string') return badInput([span]);
    const found = await log.newest({
      ...span,
      beforeId: before === undefined ? null : before,
      matchKey: address === undefined ? null : matchKey(address),
      limit: limit === undefined ? LIST_CHANGES_DEFAULT : limit,
    });
    const filed = await log.files({ ...span, limit: FILES_MAX });
    // A page of a longer log is whole as a page: it is full, and names what follows.
    const page = decided(found, holdsSome);
    const files = decided(filed, holdsSome);
    if (!(page instanceof Read)) return unavailable(page.why.reason);
    if (!(files instanceof Read)) return unavailable(files.why.reason);
    const last = seen(map(page, (changes) => changes.slice(-1)));
    return sanctionsChanges.reply(200, {
      changes: claim(page, (changes) => changes.map(changeShown)),
      next_before: found instanceof Part && last !== null ? last[0].id : null,
      files: claim(files, (events) => events.map(fileShown)),
      files_whole: claim(filed, isWhole, isCut),
      caveat: LIST_CHANGES_CAVEAT,
    });
  };
}

const holdsSome = (rows: readonly unknown[]): boolean => rows.length > 0;
const isWhole = (): true => true;
const isCut = (): false => false;

function unavailable(reason: string) {
  return sanctionsChanges.reply(503, { error: 'unavailable', reason });
}

/** The span of some days, both included; a text says what is wrong with them. */
function spanOf(from: string | undefined, to: string | undefined): Span | string {
  const first = from === undefined ? null : parseIsoDate(from);
  const last = to === undefined ? null : parseIsoDate(to);
  if (from !== undefined && first === null) return `from: ${from} is not a day of the calendar`;
  if (to !== undefined && last === null) return `to: ${to} is not a day of the calendar`;
  if (first !== null && last !== null && first > last) return 'from: it is later than `to`';
  return { from: first, until: last === null ? null : last + DAY_S };
}

function changeShown({ listing, before, at, ...change }: ListChange) {
  return {
    ...change,
    ...listingShown(listing),
    before: before === null ? null : listingShown(before),
    at: formatIsoTime(at),
  };
}

function listingShown({ programs, currencies, ...listing }: Listing) {
  return {
    ...listing,
    programs: programs === null ? null : [...programs],
    currencies: [...currencies],
  };
}

function fileShown({ source_url, at, counts, ...event }: FileEvent) {
  return {
    ...event,
    source: source_url,
    at: formatIsoTime(at),
    counts: counts === null ? null : { ...counts },
  };
}

const ALL_OF_IT = { from: null, until: null, beforeId: null, matchKey: null };

/** The newest of the log, or why there is nothing to show. */
export async function readChanges(log: ListChanges) {
  const found = await log.newest({ ...ALL_OF_IT, limit: LIST_CHANGES_MAX });
  const filed = await log.files({ ...ALL_OF_IT, limit: FILES_MAX });
  const page = decided(found, holdsSome);
  const files = decided(filed, holdsSome);
  if (!(page instanceof Read)) return { reason: page.why.reason };
  if (!(files instanceof Read)) return { reason: files.why.reason };
  return { changes: page.value, files: files.value, whole: filed instanceof Read };
}

/** What the page shows: the newest of the log, or why there is nothing to show. */
export async function newestChanges(log: ListChanges) {
  const found = await readChanges(log);
  if (found.files === undefined) return { reason: found.reason };
  return {
    changes: found.changes.map(changeShown),
    files: found.files.map(fileShown),
    files_whole: found.whole,
    caveat: LIST_CHANGES_CAVEAT,
  };
}

/** The listings that a file took off the list when it last came into force, or why not read. */
export async function removalsBy(
  log: ListChanges,
  sha256: string,
): Promise<readonly ListChange[] | string> {
  const found = await log.newest({
    ...ALL_OF_IT,
    limit: LIST_CHANGES_MAX,
  });
  const page = decided(found, holdsSome);
  if (!(page instanceof Read)) return page.why.reason;
  const at = page.value[0]?.at;
  return page.value.filter(
    (one) => one.at === at && one.to.sha256 === sha256 && one.change === 'removed',
  );
}
