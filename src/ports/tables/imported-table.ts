// What is a table that is filled by import, to whoever keeps it and to whoever asks it?
// A table is declared: its columns, the keys it is asked by, which rows count, what it answers.
// Which rows of a file are good its feature says.

import type { Reading } from '../../evidence/reading.ts';
import type { ImportEnd, ImportFacts, TableImport } from './table-import.ts';

/** The name of a table's store in readings. */
export type TableStorePort = 'imported_table';

/** What a cell holds: text, a flag, an ISO 8601 day, or a time in Unix seconds. */
export type ColumnKind = 'text' | 'flag' | 'day' | 'time';

/** A row as it is kept, by column. */
export type StoredRow = { readonly [column: string]: string | number | boolean | null };

/**
 * Which rows count: those of the newest import of each source, or of each thing its best row, of
 * whichever import, where that row has a flag.
 */
export type Counting<Row> =
  | { readonly which: 'newest import' }
  | {
      readonly which: 'best row';
      /** What a thing is known by. */
      readonly of: keyof Row & string;
      /** What makes a row better than another, the weightiest first; then the later import. */
      readonly by: readonly (keyof Row & string)[];
      /** The flag, and a row that has it in words. */
      readonly where: keyof Row & string;
      readonly words: string;
    };

/** Rows held to be asked. Methods, so that tables of different rows can stand in one list. */
export type TableIndex<Row, Answer> = {
  add(row: Row): void;
  /** How much is held: rows, or keys where rows of one key are counted together. */
  size(): number;
  /** What is held of these addresses, of a table in which so many rows count. */
  answer(rows: number, addresses: readonly string[]): Answer;
};

/** A table as it is kept and asked: `Answer` is what a look-up gives, under the port `P`. */
export type TableShape<Row, P extends string, Answer> = {
  /** Its name in the store, and in the records of its imports. */
  readonly name: string;
  readonly port: P;
  /** Its name as a source. */
  readonly title: string;
  /** The table in words, for reasons. */
  readonly what: string;
  readonly columns: { readonly [C in keyof Row]: ColumnKind };
  /**
   * The columns that it is asked by, and the field of each. The column holds the `matchKey` of the
   * field; where both have one name the field is compared as it stands.
   */
  readonly keys: { readonly [column: string]: keyof Row & string };
  readonly counting: Counting<Row>;
  /** How much is held in memory at most. A larger table is asked by key, or not served. */
  readonly held: {
    readonly max: number;
    readonly of: 'rows' | 'keys';
    readonly beyond: 'ask' | 'refuse';
  };
  /** Rows of these imports, the ones in force, are then added to it. */
  readonly index: (imports: readonly TableImport[]) => TableIndex<Row, Answer>;
};

/** What a table says of addresses. Readable once an import of it has completed. */
export type TableLookUp<P extends string, Answer> = {
  readonly lookUp: (addresses: readonly string[]) => Promise<Reading<Answer, P>>;
};

/** A row under import with its place among the rows of its file, from 1. */
export type Numbered<Row> = { readonly n: number; readonly row: Row };

/**
 * A table as it is kept. Nothing of an import is seen by readers before `complete`, and all of it
 * is from then on. An import that is never completed is forgotten after a day.
 */
export type TableStore<Row> = {
  readonly begin: (facts: ImportFacts) => Promise<Reading<{ readonly id: number }, TableStorePort>>;
  /** Keeps rows for the import; answers the numbers of those that repeat an earlier one. */
  readonly stage: (
    id: number,
    rows: readonly Numbered<Row>[],
  ) => Promise<Reading<readonly number[], TableStorePort>>;
  /** Makes the import the one in force of its source. */
  readonly complete: (id: number, end: ImportEnd) => Promise<Reading<TableImport, TableStorePort>>;
  /** Forgets an import that will not be completed. */
  readonly abandon: (id: number) => Promise<Reading<null, TableStorePort>>;
  /** The imports in force, one for each source, oldest first; none where none has completed. */
  readonly inForce: () => Promise<Reading<readonly TableImport[], TableStorePort>>;
  /** How many rows of which import count while these are in force. */
  readonly counting: (
    inForce: readonly TableImport[],
  ) => Promise<Reading<ReadonlyMap<number, number>, TableStorePort>>;
  /** The next rows of an import that count, after the one numbered `afterN`; at last none. */
  readonly page: (
    id: number,
    afterN: number,
  ) => Promise<Reading<readonly Numbered<Row>[], TableStorePort>>;
  /** The rows that count of these addresses. Unread where they are too many for one look-up. */
  readonly under: (
    addresses: readonly string[],
  ) => Promise<Reading<readonly Row[], TableStorePort>>;
};
