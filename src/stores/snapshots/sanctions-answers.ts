// Answers one question: what may be said of these addresses from the list that is loaded.
// The age rule and the rule of past days live here, for every adapter of the port. It reads
// nothing: it is given the list, the publications held and the time.

import { endOfWashingtonDay } from '../../chain/time.ts';
import {
  type Origin,
  type Partly,
  part,
  type Reading,
  read,
  unread,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  HeldPublication,
  HeldRefusal,
  Superseded,
} from '../../ports/sanctions/publication-store.ts';
import type {
  ListEntry,
  Listed,
  ListFacts,
  ListLookUp,
  SanctionsListPort,
} from '../../ports/sanctions/sanctions-list.ts';
import { ageOf } from './sanctions-age.ts';
import { addressesOf, type ListTable, rowsUnder } from './sanctions-table.ts';

const PORT = 'sanctions_list';
/** The only list that sets `sanctioned`. */
const LIST_NAME = 'OFAC SDN List';

/** What this deployment decided about the list. */
export type ListRules = {
  /** Seconds since the last check past which a miss is no answer; `null` lifts the limit. */
  readonly maxAgeS: number | null;
  readonly simulated: boolean;
};

/** A list in memory: the publication and its rows. */
export type LoadedList = {
  readonly publication: HeldPublication;
  readonly superseded: Superseded | null;
  readonly table: ListTable;
};

/** What a look-up at this second carries besides the rows found. */
export type Standing = {
  readonly facts: ListFacts;
  readonly origin: Origin<SanctionsListPort>;
  readonly tooOld: Why | null;
};

/** What is said of a publication, whether or not the store holds it. */
type Dated = Pick<
  HeldPublication,
  'published' | 'sha256' | 'distinct_addresses' | 'source_url' | 'checked_at' | 'checked_by'
>;

/** How the list stands now (Unix seconds), with the newer file that stands against it, if any. */
export function standingOf(
  publication: Dated,
  superseded: Superseded | null,
  rules: ListRules,
  now: number,
): Standing {
  const { notes, tooOld } = ageOf({ ...publication, superseded, now, maxAgeS: rules.maxAgeS });
  return {
    facts: factsOf(publication, notes),
    origin: { port: PORT, source: sourceOf(publication, rules) },
    tooOld,
  };
}

/** The list in force answers: to its end while it is young enough, else in part. */
export function answerNow(
  table: ListTable,
  standing: Standing,
  addresses: readonly string[],
): Partly<ListLookUp, SanctionsListPort> {
  const value = { list: standing.facts, found: rowsUnder(table, addresses) };
  const { origin, tooOld } = standing;
  return tooOld === null ? read(value, origin) : part(value, origin, tooOld);
}

/** Every address of the list in force: to its end while the list is young enough, else in part. */
export function listedNow(
  table: ListTable,
  { facts, origin, tooOld }: Standing,
): Partly<Listed, SanctionsListPort> {
  const value = { list: facts, addresses: addressesOf(table) };
  return tooOld === null ? read(value, origin) : part(value, origin, tooOld);
}

/** A publication that was the newest on a day answers for it; the age of today does not matter. */
export function answerOn(
  publication: HeldPublication,
  rules: ListRules,
  found: ReadonlyMap<string, readonly ListEntry[]>,
): Reading<ListLookUp, SanctionsListPort> {
  const value = { list: factsOf(publication, NO_NOTES), found };
  return read(value, { port: PORT, source: sourceOf(publication, rules) });
}

const NO_NOTES: readonly string[] = Object.freeze([]);

function factsOf(publication: Dated, age_notes: readonly string[]): ListFacts {
  return {
    name: LIST_NAME,
    published: publication.published,
    addresses: publication.distinct_addresses,
    source: publication.source_url,
    sha256: publication.sha256,
    as_of: publication.checked_at,
    age_notes,
  };
}

function sourceOf(publication: Dated, rules: ListRules): Source {
  return {
    name: LIST_NAME,
    url: publication.source_url,
    as_of: publication.checked_at,
    kind: 'observation',
    simulated: rules.simulated,
  };
}

/** No list was ever loaded here: the newest refused file is named, if there was one. */
export function neverLoaded(newest: HeldRefusal | null): Reading<never, SanctionsListPort> {
  const detail = newest === null ? '' : ` (${refusedText(newest)})`;
  return unread(PORT, why('list_never_loaded', { detail }));
}

function refusedText({ source_url, code, reason }: HeldRefusal): string {
  return `the newest file, from ${source_url}, was refused as ${code}: ${reason}`;
}

/** The publications around a day. */
export type AroundDay = {
  /** The newest held that a check after the end of that day still found the newest. */
  readonly covering: HeldPublication | null;
  /** The nearest held before and after, where none covers the day. */
  readonly before: HeldPublication | null;
  readonly after: HeldPublication | null;
};

/** Places a day (`YYYY-MM-DD`) among the publications held, which are in order, newest first. */
export function aroundDay(held: readonly HeldPublication[], on: string): AroundDay {
  const before = orNull(held.find(({ published }) => published <= on));
  const after = orNull(held.findLast(({ published }) => published > on));
  const covers = before !== null && isNewestAfter(before, endOfWashingtonDay(on));
  return { covering: covers ? before : null, before, after };
}

/** Whether somebody's word is that it still was the newest at a time: its own date is nobody's. */
function isNewestAfter({ checked_at, checked_by }: HeldPublication, time: number): boolean {
  return checked_by !== 'own_date' && checked_at >= time;
}

function orNull<T>(found: T | undefined): T | null {
  return found === undefined ? null : found;
}

/** No held publication answers for the day: both neighbours are named, and a listing in both. */
export function dayNotCovered(
  on: string,
  { before, after }: AroundDay,
  inBoth: readonly string[],
): Reading<never, SanctionsListPort> {
  const both = inBoth.length === 0 ? '' : ` Listed in both: ${inBoth.join(', ')}.`;
  return unread(
    PORT,
    why('list_date_not_covered', { on, before: named(before), after: named(after), both }),
  );
}

function named(publication: HeldPublication | null): string {
  return publication === null ? 'none' : `the publication of ${publication.published}`;
}
