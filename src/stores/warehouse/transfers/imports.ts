// Lists the imports of the warehouse with their states. An import is listed before it writes
// anything: its id suffices to remove whatever it leaves.

import { z } from 'zod';
import { CHAIN_NAMES, type ChainName } from '../../../chain/chain.ts';
import {
  type Part,
  part,
  type Read,
  type Reading,
  read,
  type Unread,
  unread,
} from '../../../evidence/reading.ts';
import { type Why, why } from '../../../evidence/reasons.ts';
import {
  type HeldRange,
  IMPORT_STATES,
  type ImportList,
  type ImportState,
  type ListedImport,
} from '../../../ports/indexing.ts';
import {
  type Params,
  type UnavailableCode,
  type Warehouse,
  WarehouseUnavailable,
} from '../engine/executor.ts';
import { coverageRows, insertRows, observedFlag, storedOrigin, WRITE } from './append.ts';

const text = z.string();
const whole = z.coerce.number();
const importRow = z.tuple([
  ...[text, z.enum(CHAIN_NAMES), text, whole, z.enum(IMPORT_STATES)],
  ...[whole, whole, whole, whole, whole, whole],
] as const);

const SQL = `SELECT import_id, chain, source, observed, toString(state), rows, rows_refused,
  transfers, began_at, changed_at, version FROM imports FINAL`;

type Versioned = ListedImport & { readonly version: number };

/** The ledger of imports. `now` is Unix seconds. It rejects with the executor's errors. */
export function importLedger(warehouse: Warehouse, now: () => number) {
  async function query(where: string, params: Params): Promise<readonly Versioned[]> {
    const rows = await warehouse.query(`${SQL} ${where}`, {
      ...WRITE,
      row: importRow,
      tuples: true,
      params,
    });
    return rows.map(([import_id, chain, source, isObserved, state, ...numbers]) => {
      const [rows_of, rows_refused, transfers, began_at, changed_at, version] = numbers;
      const counts = { rows: rows_of, rows_refused, transfers };
      const origin = storedOrigin(isObserved);
      const listed = { import_id, chain, source, origin, state, ...counts };
      return { ...listed, began_at, changed_at, version };
    });
  }

  async function write(one: Omit<Versioned, 'changed_at'>): Promise<void> {
    const columns = [
      ...['import_id', 'chain', 'source', 'observed', 'state', 'rows', 'rows_refused'],
      ...['transfers', 'began_at', 'changed_at', 'version'],
    ];
    const row = [
      ...[one.import_id, one.chain, one.source, observedFlag(one.origin), one.state, one.rows],
      ...[one.rows_refused, one.transfers, one.began_at, now(), one.version + 1],
    ];
    await insertRows(warehouse, 'imports', { columns, rows: [row] });
  }

  async function find(importId: string): Promise<Versioned | null> {
    const [found] = await query('WHERE import_id = {id:String}', { id: importId });
    return found === undefined ? null : found;
  }

  return {
    find,
    /** Lists an import as begun, anew where it was listed before. */
    begin: async (one: Pick<ListedImport, 'import_id' | 'chain' | 'source' | 'origin'>) => {
      const before = await find(one.import_id);
      const counts = { rows: 0, rows_refused: 0, transfers: 0, began_at: now() };
      const version = before === null ? 0 : before.version;
      await write({ ...one, ...counts, state: 'begun', version });
    },
    /** Says how an import stands from now on; one that is not listed is left alone. */
    change: async (
      importId: string,
      state: ImportState,
      counts?: Pick<ListedImport, 'rows' | 'rows_refused' | 'transfers'>,
    ) => {
      const before = await find(importId);
      if (before !== null) await write({ ...before, ...counts, state });
    },
    /** Says what an import is about to record as held in full. */
    vouch: (importId: string, ranges: readonly HeldRange[]) => {
      const { columns, rows } = coverageRows(ranges);
      return insertRows(warehouse, 'import_coverage', {
        columns: ['import_id', ...columns],
        rows: rows.map((row) => [importId, ...row]),
      });
    },
    /** Imports of a chain that are not forgotten. */
    standing: (chain: ChainName) =>
      query(`WHERE chain = '${chain}' AND state != 'forgotten' ORDER BY began_at`, {}),
    all: () => query('ORDER BY began_at DESC, import_id LIMIT 1000', {}),
  };
}

export type ImportLedger = ReturnType<typeof importLedger>;

/** The imports of a warehouse, as they are told. */
export function importList(warehouse: Warehouse, now: () => number): ImportList {
  const ledger = importLedger(warehouse, now);
  const ask = warehouseReadings('transfer_store', now, false);
  return {
    imports: () =>
      ask(async () => {
        const all = await ledger.all();
        return all.map(({ version: _, ...one }): ListedImport => one);
      }),
  };
}

// Translates failures of the warehouse for callers. A failure is silence with its cause; anything
// else is a bug and is thrown on.

const FAULTS: Readonly<Record<UnavailableCode, string>> = {
  down: 'it is not reachable',
  interrupted: 'it stopped before it had answered',
  timeout: 'it did not answer in time',
  aborted: 'nobody waited for it any more',
  overloaded: 'it has no room for this now',
  too_large: 'this needs more memory than it gives one statement; ask for less',
  replicas: 'too few of its replicas can be written or read; see system.replicas and its Keeper',
  disk: 'its disk takes no more; make room there',
  damaged: 'parts of it are lost or damaged; restore them from a replica or a backup',
  rejected: 'it refused our credentials',
  closed: 'it has been closed',
};

/** The silence of a port whose warehouse was not available; throws anything else. */
export function unreadFor<P extends string>(port: P, error: unknown): Unread<P> {
  if (!(error instanceof WarehouseUnavailable)) throw error;
  const filling = { what: 'The transfer warehouse', fault: FAULTS[error.code] };
  return unread(port, why('store_unreadable', filling));
}

/** Runs questions for a port: a failure of the warehouse is unread, anything else thrown on. */
export function warehouseReadings<P extends string>(
  port: P,
  now: () => number,
  simulated: boolean,
) {
  return async <T>(question: () => Promise<T>): Promise<Reading<T, P>> => {
    try {
      const value = await question();
      return read(value, { port, source: warehouseSource(now(), simulated) });
    } catch (error) {
      return unreadFor(port, error);
    }
  };
}

/**
 * The reading of a warehouse result: a part if it is cut, or simulated; that it is cut is said
 * first. `as_of` is Unix seconds.
 */
export function warehouseAnswer<T, P extends string>(
  port: P,
  value: T,
  { as_of, simulated }: { readonly as_of: number; readonly simulated: boolean },
  cut: Why | null,
): Read<T, P> | Part<T, P> {
  const origin = { port, source: warehouseSource(as_of, simulated) };
  const cause = cut ?? (simulated ? why('simulated') : null);
  return cause === null ? read(value, origin) : part(value, origin, cause);
}

/** The source of what the warehouse holds. `as_of` is Unix seconds. */
export function warehouseSource(as_of: number, simulated: boolean) {
  const kind = 'observation' as const;
  return { name: 'Transfer warehouse', url: 'warehouse:', as_of, kind, simulated };
}
