// The declaration of an imported table: its columns, look-up keys, counting rows and answer. The
// feature of the table decides which rows of a file are valid.

import { z } from 'zod';
import type { Holders } from '../chain/address.ts';
import type { Partly, Reading } from '../evidence/reading.ts';
import type { Why } from '../evidence/reasons.ts';
import { DATED_BY, IMPORT_ORIGINS, type ImportOrigin, type Source } from '../evidence/source.ts';

/** The name of a table's store in readings. */
export type TableStorePort = 'imported_table';

/** The contents of a cell: text, a flag, an ISO 8601 day, or a time in Unix seconds. */
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
      /** The key of a thing. */
      readonly of: keyof Row & string;
      /** The order of rows, the strongest criterion first; then the later import. */
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
  /** The rows of these addresses, of a table in which so many rows count. */
  answer(rows: number, addresses: readonly string[]): Answer;
  /** The holders of what is held; absent: it does not tell them. */
  readonly holders?: Holders;
};

/** A table as it is kept and asked: `Answer` is what a look-up gives, under the port `P`. */
export type TableShape<Row, P extends string, Answer> = {
  /** Its name in the store, and in the records of its imports. */
  readonly name: string;
  readonly port: P;
  /** Its name as a source. */
  readonly title: string;
  /** Whether an answer is as old as it: a list changes, a reference table has a date. */
  readonly ages: Source['kind'];
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

/** A look-up of a table by address. Readable once an import of it has completed. */
export type TableLookUp<P extends string, Answer> = {
  readonly lookUp: (
    addresses: readonly string[],
    formsAmong?: FormsAmong,
  ) => Promise<Reading<Answer, P>>;
};

/**
 * Further spellings to look up: the other forms of those addresses whose holders are among the ones
 * of a table (`addHolder`); `null` where it does not tell them. A look-up that takes it calls it
 * once, and answers for these spellings too.
 */
export type FormsAmong = (holders: Holders | null) => readonly string[];

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

// The import of a published table, whole or not at all: the guarantees of a file of rows, and the
// ways in which an import ends. It leaves open which rows are valid.

/** The name of the file port in readings. */
export type TableFilePort = 'table_file';

/** One row as the file holds it: its line (from 1) and its values by column, never empty ones. */
export type RawRow = {
  readonly line: number;
  readonly fields: ReadonlyMap<string, string>;
};

/** A line that the rules of its table refuse. `line` counts from 1, the heading included. */
export type RefusedLine = {
  readonly line: number;
  readonly chain: string;
  readonly address: string;
  readonly code: string;
  readonly reason: string;
};

/** One line of a table that is read whole: its number (from 1) and its cells in their order. */
export type TableLine = { readonly line: number; readonly cells: readonly string[] };

/** A row that the file itself could not give, with what was wrong. */
export type BrokenRow = { readonly line: number; readonly problem: string };

/** The naming of a file's values: a TagPack has a vocabulary of its own, rows have columns. */
export type FileLayout = 'rows' | 'tagpack';

/** A file that was opened. `rows` can be walked once; the hash is known when it has ended. */
export type OpenedFile = {
  readonly layout: FileLayout;
  readonly bytes: number;
  /** Batches in the order of the file. Unread ends it: the file could not be read on. */
  readonly rows: () => AsyncIterable<Reading<readonly (RawRow | BrokenRow)[], TableFilePort>>;
  readonly bytesRead: () => number;
  /** SHA-256 of the file in hex. Throws before the rows have ended. */
  readonly sha256: () => string;
};

/** Opens files of rows. Unread: missing, over the size cap, or of no known format. */
export type TableFiles = {
  readonly open: (path: string) => Promise<Reading<OpenedFile, TableFilePort>>;
};

const importFacts = z.strictObject({
  source: z.string(),
  source_url: z.string().nullable(),
  origin: z.enum(IMPORT_ORIGINS),
  started_at: z.number(),
});
const importEnd = z.strictObject({
  rows_accepted: z.int(),
  rows_refused: z.int(),
  /** Of the refused, those whose entry may be missing: not those that repeat an earlier one. */
  rows_lost: z.int(),
  sha256: z.string(),
  as_of: z.number(),
  dated_by: z.enum(DATED_BY),
  completed_at: z.number(),
});

export const tableImport = importFacts.extend({
  ...importEnd.shape,
  id: z.int(),
  table_name: z.string(),
});

/** The facts of an import before its rows. `as_of` and `started_at` are Unix seconds. */
export type ImportFacts = Readonly<z.output<typeof importFacts>>;

/** The end of an import. `as_of` is the source's date of its rows, or the time of the import. */
export type ImportEnd = Readonly<z.output<typeof importEnd>>;

export type TableImport = Readonly<z.output<typeof tableImport>>;

/** A refused row: its line in the file, a stable code, and a sentence that quotes no value. */
export type RefusedRow = { readonly line: number; readonly code: string; readonly reason: string };

/** The progress of an import, and its stop signal. */
export type ImportWatch = {
  readonly onRefused: (row: RefusedRow) => void;
  /** Called once for each batch: rows seen so far, bytes read and bytes in all. */
  readonly onProgress: (rows: number, bytesRead: number, bytes: number) => void;
  readonly signal: AbortSignal;
};

/** How many rows were refused for each code. */
export type RefusedCounts = ReadonlyMap<string, number>;

/** The end of an import. Only the first kind stored anything. */
export type ImportOutcome =
  | {
      readonly outcome: 'completed';
      readonly record: TableImport;
      readonly refused: RefusedCounts;
      /** Names of the file that no row was read by, as far as they are counted and can be shown. */
      readonly unread_columns: readonly string[];
    }
  | {
      readonly outcome: 'no_row_accepted';
      readonly rows_refused: number;
      readonly refused: RefusedCounts;
    }
  /** It has far fewer rows than the import of its source in force. */
  | {
      readonly outcome: 'too_few';
      readonly rows_accepted: number;
      readonly rows_before: number;
    }
  | { readonly outcome: 'unread'; readonly why: Why }
  | { readonly outcome: 'stopped' };

/** An import as an operator asks for it. */
export type ImportOrder = {
  readonly path: string;
  readonly source: string;
  /** A public page of the source, for rows that name none of their own. */
  readonly source_url: string | null;
  /** The word for rows whose own words name none, of those that the table offers. */
  readonly otherwise: string | null;
  readonly origin: ImportOrigin;
  /** Unix seconds at which its importer dates it; `null`: as its rows say. */
  readonly as_of: number | null;
  /** Whether it may have far fewer rows than the import of its source in force. */
  readonly acceptSmaller?: boolean;
};

/** Imports a file into a table. */
export type ImportFile = (order: ImportOrder, watch: ImportWatch) => Promise<ImportOutcome>;

// A miss means that no label is held, not that the address is no exchange's.

/** The name of this port in readings and contracts. */
export type ExchangeLabelsPort = 'exchange_labels';

/** The exchange's use of an address. */
export const LABEL_ROLES = ['hot', 'cold', 'deposit', 'deployer', 'treasury', 'other'] as const;
export type LabelRole = (typeof LABEL_ROLES)[number];

/** One row of the table, with where it comes from. */
export const exchangeLabel = z.strictObject({
  address: z.string(),
  /** The chain the source names, or `null` where it names none. */
  chain: z.string().nullable(),
  label: z.string(),
  entity: z.string(),
  role: z.enum(LABEL_ROLES),
  /** A rung of the tag packs' confidence ladder, as its published id. */
  confidence: z.string(),
  /** False for hot and cold wallets: paid by many unrelated people, they link nobody. */
  clusterable: z.boolean(),
  source: z.string(),
  source_url: z.string().nullable(),
  /** ISO 8601 day on which the source dates the row, or on which it was imported. */
  first_seen: z.string(),
});
export type ExchangeLabel = z.output<typeof exchangeLabel>;

/** The result of a look-up, by `matchKey` of the requested address. */
export type LabelLookUp = {
  readonly table_rows: number;
  readonly found: ReadonlyMap<string, readonly ExchangeLabel[]>;
};

/** The exchange-wallet table. Readable once an import of it has completed. */
export type ExchangeLabels = TableLookUp<ExchangeLabelsPort, LabelLookUp>;

// The log is public and only grows. It tells of imports that completed, and of no others.

/** The name of this port in readings. */
export type LabelChangesPort = 'label_changes';

/** The fields of a label that may change under the same source, address, chain and entity. */
const labelWords = exchangeLabel.pick({
  label: true,
  role: true,
  confidence: true,
  source_url: true,
});
export type LabelWords = z.output<typeof labelWords>;

/** The words of a log for what an import changed. */
export const IMPORT_CHANGES = ['added', 'changed', 'removed'] as const;

export const labelChange = exchangeLabel.omit({ clusterable: true }).extend({
  /** Grows with time: a later change has a larger one. */
  id: z.int().positive(),
  change: z.enum(IMPORT_CHANGES),
  /** The earlier value; `null` if it did not change. */
  before: labelWords.nullable(),
  import_id: z.int().positive(),
  /** Unix seconds at which the import completed. */
  at: z.number(),
  /** SHA-256 of the file imported. */
  sha256: z.string(),
  origin: z.enum(IMPORT_ORIGINS),
});
export type LabelChange = z.output<typeof labelChange>;

export type ChangesRequest = {
  /** Only older ones than this; `null`: from the newest on. */
  readonly beforeId: number | null;
  /** Only of this address, in the form that `matchKey` gives; `null`: of any. */
  readonly matchKey: string | null;
  readonly limit: number;
};

/** The log. Unread while no import of labels has completed. A part holds the newest of more. */
export type LabelChanges = {
  readonly newest: (
    asked: ChangesRequest,
  ) => Promise<Partly<readonly LabelChange[], LabelChangesPort>>;
};

// The table of labels that ships with the product, after its rows were validated.

/** A row of the table, and the day (ISO 8601) of its last review. */
export type ShippedLabel = ExchangeLabel & { readonly reviewed: string };

/** The rows that the rules take, and each one that they refuse; `line` counts from 1. */
export type ShippedLabels = {
  readonly rows: readonly ShippedLabel[];
  readonly refused: readonly RefusedLine[];
};

// The log is public and only grows. It tells of imports that completed, and of no others.

/** The name of this port in readings. */
export type OtherListChangesPort = 'other_list_changes';

/**
 * An entry of a list, which is named beside it. What the list leaves open is `null`, and `note`
 * says what was wrong.
 */
export const entryLogged = z.strictObject({
  /** As published; compared by `matchKey`. */
  address: z.string(),
  currency: z.string().nullable(),
  /** The entity, several divided by `; `. */
  entity: z.string().nullable(),
  entity_type: z.string().nullable(),
  programs: z.string().nullable(),
  entry_id: z.string().nullable(),
  source_url: z.string().nullable(),
  /** ISO 8601 days. An entry that ended is kept, and says so. */
  listed_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  note: z.string().nullable(),
});
export type EntryLogged = z.output<typeof entryLogged>;

/** The change of one address by an import. */
export const otherListChange = z.strictObject({
  /** Grows with time: a later change has a larger one. */
  id: z.int().positive(),
  change: z.enum(IMPORT_CHANGES),
  list: z.string(),
  address: z.string(),
  /** All its entries; of a removed one, as they were last. */
  entries: z.array(entryLogged).min(1),
  /** Those before; `null` but where they changed. */
  before: z.array(entryLogged).min(1).nullable(),
  import_id: z.int().positive(),
  /** Unix seconds. */
  at: z.number(),
  sha256: z.string(),
  simulated: z.boolean(),
});
export type OtherListChange = z.output<typeof otherListChange>;

const count = z.int().nonnegative();

export const otherListImport = z.strictObject({
  list: z.string(),
  import_id: z.int().positive(),
  /** Unix seconds. */
  at: z.number(),
  as_of: z.int().nonnegative(),
  dated_by: z.enum(DATED_BY),
  sha256: z.string(),
  source_url: z.string().nullable(),
  rows: z.int().positive(),
  rows_refused: count,
  rows_lost: count,
  simulated: z.boolean(),
  /** Of how many addresses. */
  counts: z.strictObject({ added: count, changed: count, removed: count }),
});
export type OtherListImport = z.output<typeof otherListImport>;

/** Which imports are asked about: of one list, from a time on, before another. */
export type ImportsRequest = {
  readonly list: string | null;
  readonly from: number | null;
  readonly until: number | null;
  readonly limit: number;
};

/** Which changes are asked for: older than one, and of one address, as `matchKey` gives it. */
export type OtherListChangesRequest = ImportsRequest & {
  readonly beforeId: number | null;
  readonly matchKey: string | null;
};

/** The log, newest first. Unread while no list was imported. A part holds the newest of more. */
export type OtherListChanges = {
  readonly newest: (
    asked: OtherListChangesRequest,
  ) => Promise<Partly<readonly OtherListChange[], OtherListChangesPort>>;
  readonly imports: (
    asked: ImportsRequest,
  ) => Promise<Partly<readonly OtherListImport[], OtherListChangesPort>>;
};

// Each list keeps its own name, date and source. None of them is the SDN list, and a listing on one
// never makes an address `sanctioned`.

/** The name of this port in readings and contracts. */
export type OtherListsPort = 'other_lists';

/** One entry of a list, with the name of the list. */
export type OtherListEntry = EntryLogged & { readonly source: string };

/** Whether an entry has not ended by a day, in ISO 8601. */
export function standsOn({ ended_at }: Pick<OtherListEntry, 'ended_at'>, day: string): boolean {
  return ended_at === null || ended_at > day;
}

/** A list as it is in force. Times are Unix seconds. */
export const otherList = z.strictObject({
  name: z.string(),
  /** Its date, and whose word that is. */
  as_of: count,
  dated_by: z.enum(DATED_BY),
  imported_at: count,
  rows: z.int().positive(),
  /** Rows of its file that were refused: an entry may be missing for each. */
  rows_lost: count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  source_url: z.string().nullable(),
  simulated: z.boolean(),
});
export type OtherList = z.output<typeof otherList>;

/** Every list in force, and what a look-up found, by `matchKey` of the address asked. */
export type OtherListsLookUp = {
  readonly lists: readonly OtherList[];
  readonly found: ReadonlyMap<string, readonly OtherListEntry[]>;
};

/** The lists of other authorities. Readable once one has been imported. */
export type OtherLists = TableLookUp<OtherListsPort, OtherListsLookUp>;
