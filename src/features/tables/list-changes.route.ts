// Answers GET /api/v1/registry/lists/changes from the log that each import writes.
// It refuses to show an empty log that was not read.

import { matchKey, parseKnownAddress } from '../../chain/address.ts';
import { formatIsoTime } from '../../chain/time.ts';
import { badInput } from '../../contract/refusals.ts';
import type { PlainHandler } from '../../contract/route.ts';
import { daySpan } from '../../contract/wire.ts';
import { claim } from '../../evidence/claim.ts';
import { decided, map, Part, Read, seen } from '../../evidence/reading.ts';
import type {
  EntryLogged,
  OtherListChange,
  OtherListChanges,
  OtherListImport,
} from '../../ports/lists/list-changes.ts';
import { IMPORTS_MAX, LIST_CHANGES_DEFAULT, otherListChanges } from './list-changes.contract.ts';

/** What a reader of the log must know of it. */
export const OTHER_LIST_CHANGES_CAVEAT =
  'The log tells what was imported on this deployment, and when; it is kept for good. An address ' +
  'that left one list may stand on another. Where rows were refused (rows_lost) an address may ' +
  'be told as removed that the list still has.';

/** @internal The handler of the change log. */
export function otherListChangesHandler(
  log: OtherListChanges,
): PlainHandler<typeof otherListChanges> {
  return async ({ query: { list, address, from, to, before, limit } }) => {
    const span = daySpan(from, to);
    if (typeof span === 'string') return badInput([span]);
    const of = { ...span, list: list === undefined ? null : list };
    const found = await log.newest({
      ...of,
      beforeId: before === undefined ? null : before,
      matchKey: address === undefined ? null : keyOf(address),
      limit: limit === undefined ? LIST_CHANGES_DEFAULT : limit,
    });
    const filed = await log.imports({ ...of, limit: IMPORTS_MAX });
    // A page of a longer log is whole as a page: it is full, and names what follows.
    const page = decided(found, holdsSome);
    const imports = decided(filed, holdsSome);
    if (!(page instanceof Read)) return unavailable(page.why.reason);
    if (!(imports instanceof Read)) return unavailable(imports.why.reason);
    const last = seen(map(page, (changes) => changes.slice(-1)));
    return otherListChanges.reply(200, {
      changes: claim(page, (changes) => changes.map(changeShown)),
      next_before: found instanceof Part && last !== null ? last[0].id : null,
      imports: claim(imports, (all) => all.map(importShown)),
      imports_whole: claim(filed, isWhole, isCut),
      caveat: OTHER_LIST_CHANGES_CAVEAT,
    });
  };
}

const holdsSome = (rows: readonly unknown[]): boolean => rows.length > 0;
const isWhole = (): true => true;
const isCut = (): false => false;

function keyOf(text: string): string {
  const known = parseKnownAddress(text);
  return matchKey(known === null ? text : known.address);
}

function unavailable(reason: string) {
  return otherListChanges.reply(503, { error: 'unavailable', reason });
}

function changeShown({ at, entries, before, ...change }: OtherListChange) {
  return {
    ...change,
    entries: entries.map(entryShown),
    before: before === null ? null : before.map(entryShown),
    at: formatIsoTime(at),
  };
}

function entryShown(entry: EntryLogged) {
  return { ...entry };
}

function importShown({ at, counts, ...one }: OtherListImport) {
  return { ...one, at: formatIsoTime(at), counts: { ...counts } };
}
