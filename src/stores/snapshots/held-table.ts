// Caches an imported table from its store. It polls for a change of the imports in force and loads
// the table anew. Rows count only if there are as many as their imports recorded. While the store
// is silent the loaded table keeps answering; before the first load nothing does. If the store
// reports that no import was ever completed, a table that ships with the product may answer.

import { Read, type Reading, read, unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import { type LaunchCorpus, type ReachedAt, staleness } from '../../ports/launches.ts';
import type {
  FormsAmong,
  StoredRow,
  TableImport,
  TableIndex,
  TableLookUp,
  TableShape,
  TableStore,
} from '../../ports/tables.ts';
import { tableSource } from '../../sources/files/table-source.ts';

/** How often the store is asked; a new import is in use after at most this and one loading. */
export const TABLE_POLL_MS = 15_000;

export type HeldOptions<Row extends StoredRow, P extends string, Answer> = {
  readonly table: TableShape<Row, P, Answer>;
  readonly store: TableStore<Row>;
  readonly pollMs: number;
  /** Answers, as a source of its own, while the store holds no import; absent: nothing does. */
  readonly unimported?: TableLookUp<P, Answer> | undefined;
  /** Told whenever a poll could not read the store. */
  readonly onFault: (fault: Why) => void;
  /** Told of a bug met by a poll nobody waits for; polling goes on. Else it ends the process. */
  readonly onBug?: ((error: unknown) => void) | undefined;
};

/** A table kept ready, and asked. */
export type HeldTable<P extends string, Answer> = TableLookUp<P, Answer> &
  Polling & {
    /** The imports whose rows are served. */
    readonly imports: () => readonly TableImport[];
  };

type Imports = readonly [TableImport, ...TableImport[]];

/** A table that is loaded, or why it is not. `index` is `null` where it is too large to be held. */
type Holding<Row, P extends string, Answer> =
  | {
      readonly rows: number;
      readonly index: TableIndex<Row, Answer> | null;
      readonly imports: Imports;
      readonly source: Source;
    }
  | { readonly unimported: TableLookUp<P, Answer> }
  | { readonly why: Why };

/** The loaded table, and its imports in force. */
type State<Row, P extends string, Answer> = {
  readonly of: Imports | null;
  readonly held: Holding<Row, P, Answer>;
};

/** Keeps a table ready; nothing is read before `start` or `poll`. */
export function heldTable<Row extends StoredRow, P extends string, Answer>(
  options: HeldOptions<Row, P, Answer>,
): HeldTable<P, Answer> {
  const { table, store, pollMs, onBug } = options;
  let state: State<Row, P, Answer> = {
    of: null,
    held: silent(table, 'it has not been loaded yet'),
  };
  const ask = async () => {
    state = await pollStore(options, state);
  };
  return {
    lookUp: (addresses, formsAmong) => lookUp(table, store, state.held, addresses, formsAmong),
    ...polling(ask, pollMs, onBug),
    imports: () => ('imports' in state.held ? state.held.imports : NONE_SERVED),
  };
}

/** The poll: concurrent callers wait for the same result. */
export type Polling = {
  readonly poll: () => Promise<void>;
  /** Polls, then again and again until stopped. */
  readonly start: () => Promise<void>;
  readonly stop: () => void;
};

/** Polls one at a time. A bug in a poll that nobody waits for ends the process without `onBug`. */
export function polling(
  ask: () => Promise<void>,
  pollMs: number,
  onBug?: (error: unknown) => void,
): Polling {
  let asking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const poll = (): Promise<void> => {
    if (asking === null) {
      asking = ask().finally(() => {
        asking = null;
      });
    }
    return asking;
  };
  const next = (): void => {
    if (stopped) return;
    const pollOnce = () => (onBug === undefined ? poll() : poll().catch(onBug));
    timer = setTimeout(() => void pollOnce().then(next), pollMs).unref();
  };
  return {
    poll,
    start: async () => {
      await poll();
      next();
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Of a table that is not loaded, or that was never imported. */
const NONE_SERVED: readonly TableImport[] = [];

async function lookUp<Row extends StoredRow, P extends string, Answer>(
  table: TableShape<Row, P, Answer>,
  store: TableStore<Row>,
  held: Holding<Row, P, Answer>,
  asked: readonly string[],
  formsAmong: FormsAmong | undefined,
): Promise<Reading<Answer, P>> {
  const { port } = table;
  if ('why' in held) return unread(port, held.why);
  if ('unimported' in held) return held.unimported.lookUp(asked, formsAmong);
  const { rows, source, imports } = held;
  let { index } = held;
  const holders = index?.holders === undefined ? null : index.holders;
  const addresses = formsAmong === undefined ? asked : [...asked, ...formsAmong(holders)];
  if (index === null) {
    const under = await store.under(addresses);
    if (!(under instanceof Read)) return unread(port, under.why);
    index = table.index(imports);
    for (const row of under.value) index.add(row);
  }
  return read(index.answer(rows, addresses), { port, source });
}

async function pollStore<Row extends StoredRow, P extends string, Answer>(
  { table, store, unimported, onFault }: HeldOptions<Row, P, Answer>,
  before: State<Row, P, Answer>,
): Promise<State<Row, P, Answer>> {
  const unreadable = (fault: Why): State<Row, P, Answer> => {
    onFault(fault);
    return 'why' in before.held ? { of: null, held: { why: fault } } : before;
  };
  const inForce = await store.inForce();
  if (!(inForce instanceof Read)) return unreadable(inForce.why);
  const [first, ...more] = inForce.value;
  if (first === undefined) {
    if (!('why' in before.held)) return before;
    const never = why('table_never_imported', { what: table.what });
    return { of: null, held: unimported === undefined ? { why: never } : { unimported } };
  }
  const imports: Imports = [first, ...more];
  if (
    before.of !== null &&
    before.of.length === imports.length &&
    before.of.every(({ id }, i) => id === imports[i]?.id)
  )
    return before;
  const held = await load(table, store, imports);
  return 'why' in held ? unreadable(held.why) : { of: imports, held };
}

async function load<Row extends StoredRow, P extends string, Answer>(
  table: TableShape<Row, P, Answer>,
  store: TableStore<Row>,
  imports: Imports,
): Promise<Holding<Row, P, Answer>> {
  const counting = await store.counting(imports);
  if (!(counting instanceof Read)) return { why: counting.why };
  const rows = [...counting.value.values()].reduce((sum, one) => sum + one, 0);
  if (rows === 0) return { why: nothingCounts(table) };
  const source = tableSource(table, imports, rows);
  const { max, of, beyond } = table.held;
  const tooMany = (): Holding<Row, P, Answer> =>
    beyond === 'ask'
      ? { rows, index: null, imports, source }
      : silent(table, `it has ${rows} rows, more than the ${max} that are held`);
  if (of === 'rows' && rows > max) return tooMany();
  const index = table.index(imports);
  for (const [id, expected] of counting.value) {
    let loaded = 0;
    for (let afterN = 0; loaded < expected; ) {
      const page = await store.page(id, afterN);
      if (!(page instanceof Read)) return { why: page.why };
      const last = page.value.at(-1);
      if (last === undefined) return changedWhileRead(table);
      for (const { row } of page.value) index.add(row);
      loaded += page.value.length;
      afterN = last.n;
      if (index.size() > max) return tooMany();
    }
    if (loaded !== expected) return changedWhileRead(table);
  }
  return { rows, index, imports, source };
}

/** Why a table in which no row counts answers nothing: it can deny nothing. */
export function nothingCounts({
  what,
  counting,
}: Pick<TableShape<never, string, unknown>, 'what' | 'counting'>): Why {
  const words = counting.which === 'best row' ? ` with ${counting.words}` : '';
  return why('table_never_imported', { what: `${what}${words}` });
}

function changedWhileRead(table: { readonly what: string }): { readonly why: Why } {
  return silent(table, 'it changed while it was read');
}

function silent({ what }: { readonly what: string }, fault: string): { readonly why: Why } {
  return { why: why('store_unreadable', { what, fault }) };
}

// Has what is collected of the chain fallen behind, so that the launch corpus can deny nothing?
// It polls how far the collection has read and weakens every reading of the corpus while that is
// too long ago. While the store is silent what was last read of it goes on counting.

/** A corpus that carries no negative while its collection has fallen behind. */
export type CollectedCorpus = LaunchCorpus & Polling;

/** Watches how old the collection behind a corpus is; nothing is asked before `start` or `poll`. */
export function collectedCorpus({
  corpus,
  reachedAt,
  now,
  pollMs,
  onBug,
}: {
  readonly corpus: LaunchCorpus;
  readonly reachedAt: ReachedAt;
  readonly now: () => number;
  readonly pollMs: number;
  readonly onBug: (error: unknown) => void;
}): CollectedCorpus {
  let reached: number | null = null;
  const ask = async (): Promise<void> => {
    const reading = await reachedAt();
    if (reading instanceof Read) reached = reading.value;
  };
  return {
    lookUp: async (addresses) => {
      const reading = await corpus.lookUp(addresses);
      const stale = staleness(reached, now());
      return stale === null ? reading : weaken(reading, stale);
    },
    ...polling(ask, pollMs, onBug),
  };
}
