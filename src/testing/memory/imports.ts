// How does a memory take in an import, whole or not at all?
// The same promises as the control store's, for tests: nothing survives it. It can fall silent.

import { type Reading, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type {
  ImportedTable,
  ImportFacts,
  ImportTable,
  Numbered,
  TableImport,
} from '../../ports/tables/table-import.ts';

const SOURCE = {
  name: 'Memory',
  url: 'memory:',
  as_of: 0,
  kind: 'table',
  simulated: false,
} as const;

/** What differs between tables. */
type MemoryShape<Row, P extends string> = {
  readonly port: P;
  readonly table: ImportedTable;
  /** Two rows of one import with the same key repeat each other. */
  readonly keyOf: (row: Row) => string;
};

type Staged<Row> = { readonly facts: ImportFacts; readonly rows: Map<string, Numbered<Row>> };

/** A memory that takes imports in. */
export type MemoryImports<Row, P extends string> = {
  readonly table: ImportTable<Row, P>;
  /** The rows of an import that has completed, in the order of its file. */
  readonly rowsOf: (id: number) => readonly Numbered<Row>[];
  readonly inForce: () => readonly TableImport[];
  /** Whatever is asked answers through this: unread while the memory is silent. */
  readonly said: <T>(work: () => T) => Reading<T, P>;
  readonly fallSilent: (reason: Why | null) => void;
};

/** Makes such a memory. `onComplete` is told of each import that completes, with its rows. */
export function memoryImports<Row, P extends string>(
  shape: MemoryShape<Row, P>,
  onComplete: (rows: readonly Numbered<Row>[]) => void,
): MemoryImports<Row, P> {
  const staged = new Map<number, Staged<Row>>();
  const completed = new Map<number, readonly Numbered<Row>[]>();
  let inForce: readonly TableImport[] = [];
  let silence: Why | null = null;
  let ids = 0;

  const said = <T>(work: () => T): Reading<T, P> =>
    silence === null
      ? read(work(), { port: shape.port, source: SOURCE })
      : unread(shape.port, silence);

  const table: ImportTable<Row, P> = {
    begin: async (facts) =>
      said(() => {
        ids += 1;
        staged.set(ids, { facts, rows: new Map() });
        return { id: ids };
      }),
    stage: async (id, rows) => said(() => repeated(staged.get(id), rows, shape.keyOf)),
    complete: async (id, end) => {
      const import_ = staged.get(id);
      if (import_ === undefined) {
        const fault = 'the import was begun over a day ago';
        return unread(shape.port, why('store_unreadable', { what: 'The memory', fault }));
      }
      return said(() => {
        const rows = [...import_.rows.values()];
        if (rows.length !== end.rows_accepted) throw new Error('memory: rows are missing');
        const record = { ...import_.facts, ...end, id, table_name: shape.table };
        staged.delete(id);
        completed.set(id, rows);
        inForce = [...inForce.filter(({ source }) => source !== record.source), record];
        onComplete(rows);
        return record;
      });
    },
    abandon: async (id) =>
      said(() => {
        staged.delete(id);
        return null;
      }),
    inForce: async () => said(() => inForce),
  };
  return {
    table,
    rowsOf: (id) => {
      const rows = completed.get(id);
      if (rows === undefined) throw new Error('memory: no such import');
      return rows;
    },
    inForce: () => inForce,
    said,
    fallSilent: (reason) => {
      silence = reason;
    },
  };
}

function repeated<Row>(
  import_: Staged<Row> | undefined,
  rows: readonly Numbered<Row>[],
  keyOf: (row: Row) => string,
): readonly number[] {
  if (import_ === undefined) throw new Error('memory: no such import is under way');
  return rows.flatMap((row) => {
    const key = keyOf(row);
    if (import_.rows.has(key)) return [row.n];
    import_.rows.set(key, row);
    return [];
  });
}
