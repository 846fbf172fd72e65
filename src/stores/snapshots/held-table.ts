// What does an imported table hold, kept ready from its store?
// It polls for a change of the imports in force and loads the table anew. While the store is silent
// what was loaded goes on answering; before the first load nothing does.

import { Read, type Reading } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { TableImport } from '../../ports/tables/table-import.ts';

/** How often the store is asked; a new import is in use after at most this and one loading. */
export const TABLE_POLL_MS = 15_000;

/** The imports in force of a table that has any, oldest first. */
export type Imports = readonly [TableImport, ...TableImport[]];

/** What a held table needs. */
type HeldOptions<T> = {
  /** The table in words, for reasons. */
  readonly what: string;
  readonly inForce: () => Promise<Reading<readonly TableImport[], never>>;
  /** Loads the table; not where it changed meanwhile or the store fell silent. */
  readonly load: (imports: Imports) => Promise<Holding<T>>;
  readonly pollMs: number;
  /** Told whenever a poll could not read the store. */
  readonly onFault: (fault: Why) => void;
  /** Told of a bug met by a poll nobody waits for; polling goes on. Else it ends the process. */
  readonly onBug?: ((error: unknown) => void) | undefined;
};

/** A table that is loaded, or why it is not. */
export type Holding<T> =
  | { readonly loaded: true; readonly value: T }
  | { readonly loaded: false; readonly why: Why };

/** A table kept ready. */
export type HeldTable<T> = {
  readonly holding: () => Holding<T>;
  /** Asks the store once; never throws for weather. */
  readonly poll: () => Promise<void>;
  /** Loads, then polls until stopped. */
  readonly start: () => Promise<void>;
  readonly stop: () => void;
};

/** Keeps a table ready; nothing is read before `start` or `poll`. */
export function heldTable<T>(options: HeldOptions<T>): HeldTable<T> {
  const unasked = { what: options.what, fault: 'it has not been loaded yet' };
  let state: State<T> = {
    of: null,
    held: { loaded: false, why: why('store_unreadable', unasked) },
  };
  let polling: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  const poll = (): Promise<void> => {
    if (polling === null) {
      polling = polled(options, state)
        .then((next) => {
          state = next;
        })
        .finally(() => {
          polling = null;
        });
    }
    return polling;
  };
  const next = (): void => {
    if (stopped) return;
    const polled = () => (options.onBug === undefined ? poll() : poll().catch(options.onBug));
    timer = setTimeout(() => void polled().then(next), options.pollMs);
    timer.unref();
  };
  return {
    holding: () => state.held,
    poll,
    start: async () => {
      await poll();
      next();
    },
    stop: () => {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** What is held, and of which imports in force. */
type State<T> = { readonly of: Imports | null; readonly held: Holding<T> };

async function polled<T>(options: HeldOptions<T>, before: State<T>): Promise<State<T>> {
  const silent = (fault: Why): State<T> => {
    options.onFault(fault);
    return before.held.loaded ? before : { of: null, held: { loaded: false, why: fault } };
  };
  const inForce = await options.inForce();
  if (!(inForce instanceof Read)) return silent(inForce.why);
  const [first, ...more] = inForce.value;
  if (first === undefined) {
    const never = why('table_never_imported', { what: options.what });
    return before.held.loaded ? before : { of: null, held: { loaded: false, why: never } };
  }
  const imports: Imports = [first, ...more];
  if (before.of !== null && sameImports(before.of, imports)) return before;
  const held = await options.load(imports);
  return held.loaded ? { of: imports, held } : silent(held.why);
}

function sameImports(before: Imports, after: Imports): boolean {
  return before.length === after.length && before.every(({ id }, i) => id === after[i]?.id);
}
