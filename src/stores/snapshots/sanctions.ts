// The list in memory, as it is asked. It polls the store for a newer one; while the store is silent
// the loaded one goes on answering and its check time stands still. It refuses a list whose rows
// are not as many as were recorded. The age rule, the rule of past days and the index of the rows
// stand here too; `held-table.ts` polls.

import {
  type AddressKind,
  addHolder,
  type Holders,
  matchKey,
  parseAddress,
} from '../../chain/address.ts';
import { AddressMap } from '../../chain/address-map.ts';
import {
  DAY_S,
  endOfWashingtonDay,
  formatIsoDate,
  formatIsoTime,
  HOUR_S,
  startOfDay,
} from '../../chain/time.ts';
import { collect } from '../../evidence/measure.ts';
import {
  map,
  type Origin,
  type Partly,
  part,
  Read,
  type Reading,
  read,
  rowsSeen,
  unread,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type {
  CheckedBy,
  HeldPublication,
  HeldRefusal,
  InForce,
  KeyedEntry,
  ListEntry,
  ListedAddresses,
  ListFacts,
  ListLookUp,
  NewerRefusal,
  PublicationStore,
  ReadList,
  SanctionsList,
  SanctionsListPort,
} from '../../ports/sanctions.ts';
import type {
  ListVersion,
  ServedVersions,
  ServedVersionsPort,
  Versions,
} from '../../ports/screening.ts';
import type { FormsAmong, TableImport } from '../../ports/tables.ts';
import { type Polling, polling } from './held-table.ts';

const PORT = 'sanctions_list';
/** How often the store is asked; a new list is in use after at most this and one loading. */
export const POLL_MS = 15_000;
/** Names of addresses that a reason holds when a day is not covered. */
const NAMED_IN_BOTH_MAX = 5;

/** The options of a snapshot. Both clocks give seconds; `ticks` never goes back. */
type SnapshotOptions = ListRules & {
  readonly store: PublicationStore;
  readonly now: () => number;
  readonly ticks: () => number;
  readonly pollMs: number;
  /** Told whenever a poll could not read the store or found a list that does not add up. */
  readonly onFault: (fault: Why) => void;
  /** Told of a bug met by a poll nobody waits for; polling goes on. */
  readonly onBug: (error: unknown) => void;
};

/** A list served from memory. */
export type Snapshot = Polling & {
  readonly list: SanctionsList;
  /** The loaded publication; `null` before the first load. */
  readonly loaded: () => HeldPublication | null;
  /** The state at this second by the store's clock, for metrics; `null` before the first load. */
  readonly watched: () => WatchedList | null;
};

/** The facts that alarms are made of. Times are Unix seconds. */
export type WatchedList = Pick<InForce, 'now' | 'superseded' | 'refusals'> & {
  readonly publication: HeldPublication;
};

type State =
  | { readonly kind: 'unasked' }
  | { readonly kind: 'silent'; readonly why: Why }
  | { readonly kind: 'never'; readonly newest: HeldRefusal | null }
  | { readonly kind: 'loaded'; readonly list: LoadedList; readonly refusals: number };

/** The store's clock as it was at a poll, and this process's clocks at the same moment. */
type Heard = { readonly store: number; readonly now: number; readonly ticks: number };

/** Makes a snapshot; nothing is read before `start` or `poll`. */
export function sanctionsSnapshot(options: SnapshotOptions): Snapshot {
  const { store, now, ticks } = options;
  let state: State = { kind: 'unasked' };
  let heard: Heard | null = null;
  let standing: { readonly at: number; readonly of: Standing } | null = null;

  const hear = (at: number): void => {
    heard = { store: at, now: now(), ticks: ticks() };
  };
  const ask = async (): Promise<void> => {
    state = await pollStore(store, state, hear, options.onFault);
    standing = null;
  };
  const storeNow = () => storeTime(heard, now(), ticks());
  const standingNow = ({ publication, superseded }: LoadedList): Standing => {
    const at = storeNow();
    if (standing === null || standing.at !== at) {
      standing = { at, of: standingOf(publication, superseded, options, at) };
    }
    return standing.of;
  };
  return {
    list: {
      lookUp: async (addresses, formsAmong) =>
        state.kind === 'loaded'
          ? answerNow(state.list.table, standingNow(state.list), addresses, formsAmong)
          : notLoaded(state),
      listed: async () =>
        state.kind === 'loaded'
          ? listInForce(state.list.table, standingNow(state.list))
          : notLoaded(state),
      lookUpOn: (on, addresses) => answerForDay(store, options, on, addresses),
    },
    ...polling(ask, options.pollMs, options.onBug),
    loaded: () => (state.kind === 'loaded' ? state.list.publication : null),
    watched: () => {
      if (state.kind !== 'loaded') return null;
      const { publication, superseded } = state.list;
      return { now: storeNow(), publication, superseded, refusals: state.refusals };
    },
  };
}

/**
 * The store's clock goes on by whichever of this process's clocks went further: one stands while
 * the machine sleeps, the other may be set back.
 */
function storeTime(heard: Heard | null, now: number, ticks: number): number {
  if (heard === null) return now;
  return heard.store + Math.floor(Math.max(now - heard.now, ticks - heard.ticks));
}

function notLoaded(state: Exclude<State, { kind: 'loaded' }>): Reading<never, SanctionsListPort> {
  if (state.kind === 'silent') return unread(PORT, state.why);
  return neverLoaded(state.kind === 'never' ? state.newest : null);
}

/**
 * The state after asking the store once, whose clock `hear` is told. A loaded list is only ever
 * replaced by another one.
 */
async function pollStore(
  store: PublicationStore,
  before: State,
  hear: (now: number) => void,
  onFault: (fault: Why) => void,
): Promise<State> {
  const silent = (fault: Why): State => {
    onFault(fault);
    return before.kind === 'loaded' ? before : { kind: 'silent', why: fault };
  };
  const inForce = await store.inForce();
  if (!(inForce instanceof Read)) return silent(inForce.why);
  const { publication, superseded, newest_refusal, refusals } = inForce.value;
  hear(inForce.value.now);
  if (publication === null) {
    return before.kind === 'loaded' ? before : { kind: 'never', newest: newest_refusal };
  }
  if (
    before.kind === 'loaded' &&
    before.list.publication.id === publication.id &&
    before.list.publication.reader_version === publication.reader_version
  ) {
    const { table } = before.list;
    return { kind: 'loaded', list: { publication, superseded, table }, refusals };
  }
  const entries = await store.entries(publication.id);
  if (!(entries instanceof Read)) return silent(entries.why);
  const held = distinctAddresses(entries.value);
  if (held !== publication.distinct_addresses) {
    const fault = `it holds ${held} of ${publication.distinct_addresses} recorded addresses`;
    return silent(why('store_unreadable', { what: 'The sanctions list', fault }));
  }
  const table = tableOf(entries.value);
  return { kind: 'loaded', list: { publication, superseded, table }, refusals };
}

async function answerForDay(
  store: PublicationStore,
  rules: ListRules,
  on: string,
  addresses: readonly string[],
): Promise<Reading<ListLookUp, SanctionsListPort>> {
  const held = await store.held();
  if (!(held instanceof Read)) return unread(PORT, held.why);
  if (held.value.length === 0) {
    const inForce = await store.inForce();
    if (!(inForce instanceof Read)) return unread(PORT, inForce.why);
    return neverLoaded(inForce.value.newest_refusal);
  }
  const around = aroundDay(held.value, on);
  const asked = around.covering === null ? [around.before, around.after] : [around.covering];
  const ids = asked.flatMap((publication) => (publication === null ? [] : [publication.id]));
  const rows = await store.entriesUnder(ids, [...new Set(addresses.map(matchKey))]);
  if (!(rows instanceof Read)) return unread(PORT, rows.why);
  if (around.covering === null) return dayNotCovered(on, around, inBoth(around, rows.value));
  const found = new Map<string, ListEntry[]>();
  for (const { match_key, entry } of rows.value) collect(found, match_key, entry);
  return answerOn(around.covering, rules, found);
}

/** The addresses that stand in both neighbours, as the earlier one prints them. */
function inBoth({ before, after }: AroundDay, rows: readonly KeyedEntry[]): readonly string[] {
  const later = new Set(
    rows.filter((row) => row.publication_id === after?.id).map((row) => row.match_key),
  );
  const both = rows.filter((row) => row.publication_id === before?.id && later.has(row.match_key));
  return [...new Set(both.map((row) => row.entry.address))].slice(0, NAMED_IN_BOTH_MAX);
}

// The age rule and the rule of past days live here, for every adapter of the port. It reads
// nothing: it is given the list, the publications held and the time.

/** The only list that sets `sanctioned`. */
const LIST_NAME = 'OFAC SDN List';

/** The deployment's settings for the list. */
export type ListRules = {
  /** Seconds since the last check past which a miss is no answer; `null` lifts the limit. */
  readonly maxAgeS: number | null;
  readonly simulated: boolean;
};

/** A list in memory: the publication and its rows. */
export type LoadedList = {
  readonly publication: HeldPublication;
  readonly superseded: NewerRefusal | null;
  readonly table: ListTable;
};

/** The state that a look-up at this second carries besides its rows. */
export type Standing = {
  readonly facts: ListFacts;
  readonly origin: Origin<SanctionsListPort>;
  readonly tooOld: Why | null;
};

/** The facts of a publication, whether or not the store holds it. */
type Dated = Pick<
  HeldPublication,
  'published' | 'sha256' | 'distinct_addresses' | 'source_url' | 'checked_at' | 'checked_by'
>;

/** The state of the list now (Unix seconds), with the newer file that stands against it, if any. */
export function standingOf(
  publication: Dated,
  superseded: NewerRefusal | null,
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
  formsAmong?: FormsAmong,
): Partly<ListLookUp, SanctionsListPort> {
  const forms = formsAmong === undefined ? [] : formsAmong(holdersIn(table));
  const found = listEntriesUnder(table, [...addresses, ...forms]);
  const value = { list: standing.facts, found };
  const { origin, tooOld } = standing;
  return tooOld === null ? read(value, origin) : part(value, origin, tooOld);
}

/** Every address of the list in force: to its end while the list is young enough, else in part. */
export function listInForce(
  table: ListTable,
  { facts, origin, tooOld }: Standing,
): Partly<ListedAddresses, SanctionsListPort> {
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
  if (newest === null) return unread(PORT, why('list_never_loaded', { detail: '' }));
  const { source_url, code, reason } = newest;
  const detail = ` (the newest file, from ${source_url}, was refused as ${code}: ${reason})`;
  return unread(PORT, why('list_never_loaded', { detail }));
}

export type AroundDay = {
  /** The newest held that a check after the end of that day still found the newest. */
  readonly covering: HeldPublication | null;
  /** The nearest held before and after, where none covers the day. */
  readonly before: HeldPublication | null;
  readonly after: HeldPublication | null;
};

/** Places a day (`YYYY-MM-DD`) among the publications held, which are in order, newest first. */
export function aroundDay(held: readonly HeldPublication[], on: string): AroundDay {
  const before = held.find(({ published }) => published <= on) ?? null;
  const after = held.findLast(({ published }) => published > on) ?? null;
  // Its own date is nobody's word that it still was the newest.
  const covers =
    before !== null &&
    before.checked_by !== 'own_date' &&
    before.checked_at >= endOfWashingtonDay(on);
  return { covering: covers ? before : null, before, after };
}

/** No held publication answers for the day: both neighbours are named, and a listing in both. */
export function dayNotCovered(
  on: string,
  { before, after }: AroundDay,
  inBoth: readonly string[],
): Reading<never, SanctionsListPort> {
  const both = inBoth.length === 0 ? '' : ` Listed in both: ${inBoth.join(', ')}.`;
  const around = { before: publicationText(before), after: publicationText(after) };
  return unread(PORT, why('list_date_not_covered', { on, ...around, both }));
}

function publicationText(publication: HeldPublication | null): string {
  return publication === null ? 'none' : `the publication of ${publication.published}`;
}

// Pure: it is told the time. It never calls a list fresh; it only has nothing to add.

const MINUTE_S = 60;

/** From this age on, an answer says when the list was last checked. */
const CHECK_TOLD_FROM_S = DAY_S;
/** From this age on, an answer says of when the publication is, however recently it was checked. */
const PUBLICATION_TOLD_FROM_S = 30 * DAY_S;
/** So long after a newer file was refused a miss is no answer any more. */
const SUPERSEDED_MAX_S = DAY_S;
/** How far the day of a list may be ahead of the clock: the day may begin in another zone. */
const AHEAD_MAX_S = DAY_S;
/** Up to this many of a unit the next smaller one is used. */
const UNITS_MIN = 2;

/** The times of a list, in Unix seconds but for the publication date. */
type ListTimes = {
  readonly now: number;
  readonly checked_at: number;
  readonly checked_by: CheckedBy;
  readonly published: string;
  /** A newer file that was refused and stands against it; `null` where there is none. */
  readonly superseded: NewerRefusal | null;
  /** `null` where the operator lifted the limit. */
  readonly maxAgeS: number | null;
};

/**
 * The consequences of age: sentences for every answer, and the reason why a miss is no answer, if
 * it is none.
 */
type ListAge = { readonly notes: readonly string[]; readonly tooOld: Why | null };

/** Applies the age rule. */
export function ageOf(times: ListTimes): ListAge {
  const { now, checked_at, published, superseded, maxAgeS } = times;
  const age = now - checked_at;
  const notes = checkNotes(times, age);
  const publishedAge = now - startOfDay(published);
  if (publishedAge > PUBLICATION_TOLD_FROM_S) {
    notes.push(`The publication is of ${published}, ${listAgeText(publishedAge)} ago.`);
  }
  if (superseded !== null) notes.push(supersededNote(superseded, now));
  if (maxAgeS === null) notes.push('The age limit of the list is lifted on this deployment.');
  return { notes, tooOld: noNegative(times, age) };
}

function checkNotes({ checked_at, checked_by }: ListTimes, age: number): string[] {
  if (checked_by === 'obtained') {
    const at = `${formatIsoTime(checked_at).slice(0, MINUTE_CHARS)}Z`;
    return [`The operator states that the list was obtained at ${at}, ${listAgeText(age)} ago.`];
  }
  if (age < CHECK_TOLD_FROM_S) return [];
  if (checked_by === 'asked') {
    return [`The list was last checked against its publisher ${listAgeText(age)} ago.`];
  }
  const own = 'on its own publication date';
  return [
    `The publisher did not confirm the list: it counts as checked ${own}, ${listAgeText(age)} ago.`,
  ];
}

/** `2026-11-21T12:00`. */
const MINUTE_CHARS = 16;

function supersededNote({ published, source_url, code, since }: NewerRefusal, now: number): string {
  const seen = `first seen ${listAgeText(now - since)} ago`;
  const refused = `was refused (${code}) and is not in force`;
  return `A list of ${published} from ${source_url}, ${seen}, ${refused}.`;
}

/** Why a miss is no answer: the list is of a day to come, not the newest, or too old. */
function noNegative(times: ListTimes, age: number): Why | null {
  const { now, published, superseded, maxAgeS } = times;
  if (startOfDay(published) > now + AHEAD_MAX_S) {
    return why('list_ahead_of_clock', { published, today: formatIsoDate(now) });
  }
  if (superseded !== null && now - superseded.since > SUPERSEDED_MAX_S) {
    const span = listAgeText(now - superseded.since);
    return why('list_superseded', { published: superseded.published, code: superseded.code, span });
  }
  if (maxAgeS === null || age <= maxAgeS) return null;
  return why('list_too_old', { age: listAgeText(age), limit: listAgeText(maxAgeS) });
}

/** A span of seconds in its largest unit of which there are two or more: `26 hours`, `9 days`. */
export function listAgeText(seconds: number): string {
  const units = [
    [DAY_S, 'day'],
    [HOUR_S, 'hour'],
    [MINUTE_S, 'minute'],
  ] as const;
  for (const [unit, name] of units) {
    const count = Math.floor(seconds / unit);
    if (count >= UNITS_MIN) return `${count} ${name}s`;
  }
  const whole = Math.max(0, Math.floor(seconds));
  return `${whole} second${whole === 1 ? '' : 's'}`;
}

// Synchronous and in memory: a bulk screen asks it for hundreds of addresses in one go.

/** The rows of one publication by the key under which two spellings of an address meet. */
export type ListTable = ReadonlyMap<string, readonly ListEntry[]>;

/** Files the rows of a publication, every currency code alike. */
export function tableOf(entries: readonly ListEntry[]): ListTable {
  const table = new AddressMap<ListEntry[]>();
  for (const entry of entries) collect(table, matchKey(entry.address), entry);
  return table;
}

/** The rows under some addresses, by their key. An address that is not listed has no key in it. */
export function listEntriesUnder(
  table: ListTable,
  addresses: readonly string[],
): ReadonlyMap<string, readonly ListEntry[]> {
  const found = new Map<string, readonly ListEntry[]>();
  for (const address of addresses) {
    const key = matchKey(address);
    const rows = table.get(key);
    if (rows !== undefined) found.set(key, rows);
  }
  return found;
}

const HOLDERS_KEPT = new WeakMap<ListTable, Holders>();

function holdersIn(table: ListTable): Holders {
  const kept = HOLDERS_KEPT.get(table);
  if (kept !== undefined) return kept;
  const holders = new AddressMap<string | null>();
  for (const key of table.keys()) addHolder(holders, key);
  HOLDERS_KEPT.set(table, holders);
  return holders;
}

const KINDS_KEPT = new WeakMap<ListTable, ReadonlyMap<AddressKind, readonly string[]>>();

/** The addresses of a list by their kind, worked out once for each list. */
export function addressesOf(table: ListTable): ReadonlyMap<AddressKind, readonly string[]> {
  const kept = KINDS_KEPT.get(table);
  if (kept !== undefined) return kept;
  const kinds = new Map<AddressKind, string[]>();
  for (const key of table.keys()) {
    const parsed = parseAddress(key);
    if (parsed !== null) collect(kinds, parsed.kind, parsed.address);
  }
  KINDS_KEPT.set(table, kinds);
  return kinds;
}

/** Distinct addresses as published. */
export function distinctAddresses(entries: readonly ListEntry[]): number {
  return new Set(entries.map(({ address }) => address)).size;
}

// Answers from a file of the publisher's that is not in force. Only its own date gives its age: an
// old file shows a listing, not an absence.

/** Asks the list of a file. `now` gives Unix seconds. */
export function listOfFile(
  list: ReadList,
  rules: ListRules,
  now: () => number,
): SanctionsList['lookUp'] {
  const table = tableOf(list.addresses);
  return async (addresses, formsAmong) => {
    const at = now();
    const dated = {
      published: list.published,
      sha256: list.sha256,
      distinct_addresses: list.distinct_addresses,
      source_url: 'file:',
      checked_at: Math.min(startOfDay(list.published), at),
      checked_by: 'own_date',
    } as const;
    return answerNow(table, standingOf(dated, null, rules, at), addresses, formsAmong);
  };
}

const VERSIONS_PORT = 'served_versions';

/** The versions that a process answers from. `imports` are those whose rows are served. */
export function servedVersions({
  list,
  store,
  imports,
  simulated,
  now,
}: {
  readonly list: SanctionsList;
  readonly store: Pick<PublicationStore, 'held' | 'entries'>;
  readonly imports: () => readonly TableImport[];
  readonly simulated: boolean;
  readonly now: () => number;
}): ServedVersions {
  const mint = <T>(value: T): Reading<T, ServedVersionsPort> => {
    const as_of = now();
    const source = { name: 'Control store', url: 'control-store:', as_of, simulated } as const;
    return read(value, { port: VERSIONS_PORT, source: { ...source, kind: 'table' } });
  };
  return {
    now: async (on) => {
      const looked = await (on === null ? list.lookUp([]) : list.lookUpOn(on, []));
      const version = versionOf(looked, simulated);
      const tables = imports().map(({ table_name, source, sha256, completed_at }) => {
        return { table: table_name, source, sha256, imported_at: completed_at };
      });
      const versions: Versions = { list: version, tables };
      return mint(versions);
    },
    listOf: async (version) => {
      if (!version.read) return mint(silentList(version.why));
      const held = await store.held();
      if (!(held instanceof Read)) return unread(VERSIONS_PORT, held.why);
      const publication = held.value.find(({ sha256 }) => sha256 === version.facts.sha256);
      if (publication === undefined) return mint(null);
      const entries = await store.entries(publication.id);
      if (!(entries instanceof Read)) return unread(VERSIONS_PORT, entries.why);
      const isWhole = distinctAddresses(entries.value) === version.facts.addresses;
      return mint(isWhole ? listAt(version, entries.value) : null);
    },
  };
}

function versionOf(looked: Partly<ListLookUp, SanctionsListPort>, simulated: boolean): ListVersion {
  const sight = rowsSeen(map(looked, ({ list }) => [list]));
  const cut = looked instanceof Read ? null : looked.why;
  if (sight !== null) return { read: true, facts: sight[0], cut, simulated };
  if (cut === null) throw new Error('a list that was read has facts');
  return { read: false, why: cut };
}

/** The rows of a publication, as the list stood then: a day that is named is that of the rows. */
function listAt(
  { facts, cut, simulated }: Extract<ListVersion, { read: true }>,
  entries: readonly ListEntry[],
): SanctionsList {
  const table = tableOf(entries);
  const { name, source: url, as_of } = facts;
  const source = { name, url, as_of, kind: 'observation', simulated } as const;
  const standing: Standing = { facts, origin: { port: 'sanctions_list', source }, tooOld: cut };
  return {
    lookUp: async (addresses, formsAmong) => answerNow(table, standing, addresses, formsAmong),
    lookUpOn: async (_on, addresses) => answerNow(table, standing, addresses),
    listed: async () => listInForce(table, standing),
  };
}

function silentList(why: Why): SanctionsList {
  const silent = unread('sanctions_list', why);
  return { lookUp: async () => silent, lookUpOn: async () => silent, listed: async () => silent };
}
