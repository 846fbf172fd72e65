// Answers GET /api/v1/registry/sanctions/changes from the log that each acceptance writes.
// It refuses to show an empty log that was not read.

import { matchKey } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { daySpan } from '../../contract/day-span.ts';
import { badInput } from '../../contract/refusals.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { claim } from '../../evidence/claim.ts';
import { decided, map, Part, Read, seen } from '../../evidence/reading.ts';
import type { FileEvent, ListChange, ListChanges } from '../../ports/sanctions/list-changes.ts';
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
    const span = daySpan(from, to);
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

/** Pages of the log that are read for one list; the rest of its removals is counted. */
const REMOVAL_PAGES_MAX = 100;

/** The listings that a file took off the list, and how many more there are. */
export type Removals = { readonly removed: readonly ListChange[]; readonly unnamed: number };

/** The listings that a file took off the list when it last came into force, or why not read. */
export async function removalsBy(log: ListChanges, sha256: string): Promise<Removals | string> {
  const removed: ListChange[] = [];
  let at: number | null = null;
  let beforeId: number | null = null;
  for (let pages = 0; pages < REMOVAL_PAGES_MAX; pages += 1) {
    const found = await log.newest({ ...ALL_OF_IT, beforeId, limit: LIST_CHANGES_MAX });
    const page = decided(found, holdsSome);
    if (!(page instanceof Read)) return page.why.reason;
    const last = page.value.at(-1);
    if (last === undefined) return { removed, unnamed: 0 };
    if (at === null && page.value[0] !== undefined) at = page.value[0].at;
    const own = page.value.filter((one) => one.at === at && one.to.sha256 === sha256);
    removed.push(...own.filter(({ change }) => change === 'removed'));
    if (own.length < page.value.length || !(found instanceof Part)) return { removed, unnamed: 0 };
    beforeId = last.id;
  }
  const filed = await log.files({ ...ALL_OF_IT, limit: FILES_MAX });
  const files = decided(filed, holdsSome);
  if (!(files instanceof Read)) return files.why.reason;
  const file = files.value.find((one) => one.at === at && one.sha256 === sha256);
  if (file === undefined || file.counts === null) return 'The list is not in its change log.';
  return { removed, unnamed: file.counts.removed - removed.length };
}
