// Answers one question: what does the list in force hold, from memory.
// It polls the store for a newer list; while the store is silent the loaded one goes on answering
// and its check time stands still. It refuses a list whose rows are not as many as were recorded.

import { matchKey } from '../../chain/address.ts';
import { collect } from '../../evidence/measure.ts';
import { Read, type Reading, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  HeldPublication,
  HeldRefusal,
  InForce,
  KeyedEntry,
  PublicationStore,
} from '../../ports/sanctions/publication-store.ts';
import type {
  ListEntry,
  ListLookUp,
  SanctionsList,
  SanctionsListPort,
} from '../../ports/sanctions/sanctions-list.ts';
import {
  type AroundDay,
  answerNow,
  answerOn,
  aroundDay,
  dayNotCovered,
  type ListRules,
  type LoadedList,
  listedNow,
  neverLoaded,
  type Standing,
  standingOf,
} from './sanctions-answers.ts';
import { distinctAddresses, tableOf } from './sanctions-table.ts';

const PORT = 'sanctions_list';
/** How often the store is asked; a new list is in use after at most this and one loading. */
export const POLL_MS = 15_000;
/** Names of addresses that a reason holds when a day is not covered. */
const NAMED_IN_BOTH_MAX = 5;

/** What a snapshot needs. Both clocks give seconds; `ticks` never goes back. */
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
export type Snapshot = {
  readonly list: SanctionsList;
  /** Asks the store once; never throws for an upstream failure. */
  readonly poll: () => Promise<void>;
  /** Loads, then polls until stopped. */
  readonly start: () => Promise<void>;
  readonly stop: () => void;
  /** What is loaded; `null` before the first load. */
  readonly loaded: () => HeldPublication | null;
  /** What stands at this second by the store's clock, for metrics; `null` before the first load. */
  readonly watched: () => Watched | null;
};

/** The facts that alarms are made of. Times are Unix seconds. */
export type Watched = Pick<InForce, 'now' | 'superseded' | 'refusals'> & {
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
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  let polling: Promise<void> | null = null;

  const set = (next: State): void => {
    state = next;
    standing = null;
  };
  const poll = (): Promise<void> => {
    if (polling === null) {
      const hear = (at: number): void => {
        heard = { store: at, now: now(), ticks: ticks() };
      };
      polling = polled(store, state, { hear, onFault: options.onFault })
        .then(set)
        .finally(() => {
          polling = null;
        });
    }
    return polling;
  };
  const storeNow = () => storeTime(heard, now(), ticks());
  const standingNow = ({ publication, superseded }: LoadedList): Standing => {
    const at = storeNow();
    if (standing === null || standing.at !== at) {
      standing = { at, of: standingOf(publication, superseded, options, at) };
    }
    return standing.of;
  };
  const next = (): void => {
    if (stopped) return;
    timer = setTimeout(() => void poll().catch(options.onBug).then(next), options.pollMs).unref();
  };

  return {
    list: {
      lookUp: async (addresses) =>
        state.kind === 'loaded'
          ? answerNow(state.list.table, standingNow(state.list), addresses)
          : notLoaded(state),
      listed: async () =>
        state.kind === 'loaded'
          ? listedNow(state.list.table, standingNow(state.list))
          : notLoaded(state),
      lookUpOn: (on, addresses) => answeredOn(store, options, on, addresses),
    },
    poll,
    start: async () => {
      await poll();
      next();
    },
    stop: () => {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
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

type Hearing = {
  /** Told the store's clock. */
  readonly hear: (now: number) => void;
  readonly onFault: (fault: Why) => void;
};

/** The state after asking the store once. A loaded list is only ever replaced by another one. */
async function polled(
  store: PublicationStore,
  before: State,
  { hear, onFault }: Hearing,
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
  if (before.kind === 'loaded' && hasRowsOf(before.list.publication, publication)) {
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

/** Whether the rows of one are those of the other: the same file, by the same reader. */
function hasRowsOf(loaded: HeldPublication, { id, reader_version }: HeldPublication): boolean {
  return loaded.id === id && loaded.reader_version === reader_version;
}

/** Answers for a past day from the store, whatever is loaded. */
async function answeredOn(
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
  return answerOn(around.covering, rules, byKey(rows.value));
}

function byKey(rows: readonly KeyedEntry[]): ReadonlyMap<string, readonly ListEntry[]> {
  const found = new Map<string, ListEntry[]>();
  for (const { match_key, entry } of rows) collect(found, match_key, entry);
  return found;
}

/** The addresses that stand in both neighbours, as the earlier one prints them. */
function inBoth({ before, after }: AroundDay, rows: readonly KeyedEntry[]): readonly string[] {
  const later = new Set(
    rows.filter((row) => row.publication_id === after?.id).map((row) => row.match_key),
  );
  const both = rows.filter((row) => row.publication_id === before?.id && later.has(row.match_key));
  return [...new Set(both.map((row) => row.entry.address))].slice(0, NAMED_IN_BOTH_MAX);
}
