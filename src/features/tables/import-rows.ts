// Imports a file of rows into a table. Every row is judged alone and each refused one is named; the
// file counts whole or not at all. An import without an accepted row fails.

import { matchKey } from '../../chain/address.ts';
import { AddressMap } from '../../chain/address-map.ts';
import { collect, tally } from '../../evidence/measure.ts';
import { type Partly, Read, type Reading, Unread, weaken } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  BrokenRow,
  FileLayout,
  ImportEnd,
  ImportFile,
  ImportOrder,
  ImportOutcome,
  ImportWatch,
  Numbered,
  OpenedFile,
  OtherList,
  OtherListsLookUp,
  OtherListsPort,
  RawRow,
  StoredRow,
  TableFiles,
  TableShape,
  TableStore,
  TableStorePort,
} from '../../ports/tables.ts';

/** Why a row was refused, as `registry/SOURCES.md` shows it. */
export const ROW_REFUSALS = {
  unreadable_row: 'the row could not be read',
  not_an_exchange: 'the tag names no exchange',
  no_abuse: 'the tag names no abuse',
  missing_field: 'a required value is missing',
  bad_address: 'no EVM, Solana, Bitcoin or Tron address',
  wrong_form_for_chain: 'not an address of the chain that the row names',
  chain_not_told_apart: 'an address of this chain can be spelled like a Bitcoin address',
  system_address: 'the address belongs to a chain itself, or to nobody',
  duplicate: 'an earlier row of this file says the same',
  account_only: 'it names an account of a service, and no address',
  unknown_role: 'the role is none of those known',
  unknown_confidence: 'the confidence is no rung of the ladder',
  bad_text: 'too long, or with characters that cannot be shown',
  bad_link: 'no plain http or https address',
  bad_time: 'no time, or one that cannot be',
  bad_flag: 'neither true nor false',
} as const;
type RowRefusalCode = keyof typeof ROW_REFUSALS;

/** Refusals with which no entry is lost: another row has it, or there is none to hold. */
const LOSES_NOTHING: ReadonlySet<RowRefusalCode> = new Set([
  'duplicate',
  'account_only',
  'no_abuse',
  'not_an_exchange',
]);

/** Why a row is refused, and what that is about: a field's name, a chain, a parser's words. */
export type RowRefused = { readonly code: RowRefusalCode; readonly about: string | null };

/** A row that was accepted, and the time (Unix seconds) at which its file dates it, if it does. */
export type Accepted<Row> = { readonly row: Row; readonly dated_at: number | null };

/** Judges one row of a file. */
export type Judge<Row> = (raw: RawRow, layout: FileLayout) => Accepted<Row> | RowRefused;

/** The values that an importer adds to rows without them. */
export type ImportContext = Pick<ImportOrder, 'source' | 'source_url' | 'otherwise'> & {
  /** Unix seconds: the day of rows that their source does not date. */
  readonly imported_at: number;
};

/** The words of the command that fills a table. */
export type ImportWords = {
  readonly command: string;
  readonly summary: string;
  /** One row in a word, and several. */
  readonly nouns: readonly [one: string, several: string];
  /** An example of the arguments after the command's name. */
  readonly example: string;
  /** Which files are taken, line by line. */
  readonly file: readonly string[];
  /** The option that names the source of the rows. */
  readonly sourceOption: 'source' | 'list';
  /** The meaning of that option; if it may be left out, also the default source. */
  readonly source: string;
  readonly unnamed: string | null;
  /** Whether rows have a public page, which may be given for all. */
  readonly linked: boolean;
  /** Whether whoever imports a file may state its date. */
  readonly datable: boolean;
  /** An option for rows whose own words name none of these. */
  readonly otherwise: { readonly option: string; readonly words: readonly string[] } | null;
  /** Further notes, line by line. */
  readonly notes: readonly string[];
};

/** A table that is filled by import: how it is kept and asked, and how its rows are judged. */
export type ImportedTable<Row extends StoredRow, P extends string, Answer> = TableShape<
  Row,
  P,
  Answer
> & {
  readonly judge: (told: ImportContext) => Judge<Row>;
  /**
   * The least share of the rows in force of its source that an import must have: a file that lost
   * more was cut off, unless an operator says that it was not. Without it any number is taken.
   */
  readonly leastShare?: number;
  readonly words: ImportWords;
};

type Through<Row extends StoredRow> = {
  readonly table: Pick<ImportedTable<Row, string, unknown>, 'judge' | 'leastShare'>;
  readonly store: TableStore<Row>;
  readonly files: TableFiles;
  /** Unix seconds. */
  readonly now: () => number;
};

type Least = { readonly rows: number; readonly before: number };

/** The fewest rows that an import of a source may have; `null` where any number is taken. */
async function leastOf<Row extends StoredRow>(
  share: number | undefined,
  store: TableStore<Row>,
  source: string,
): Promise<Least | null | Unread<TableStorePort>> {
  if (share === undefined) return null;
  const inForce = await store.inForce();
  if (!(inForce instanceof Read)) return inForce;
  const before = inForce.value.find((one) => one.source === source)?.rows_accepted;
  return before === undefined ? null : { rows: Math.ceil(share * before), before };
}

type Begun<Row extends StoredRow> = Pick<Through<Row>, 'store' | 'now'> & {
  readonly least: Least | null;
  readonly id: number;
  readonly started_at: number;
  /** The date that its importer states, if any. */
  readonly stated: number | null;
  readonly judge: Judge<Row>;
};

/** The importer of a table. What was staged is forgotten unless the whole import completes. */
export function tableImporter<Row extends StoredRow>(through: Through<Row>): ImportFile {
  const { table, store, files, now } = through;
  return async (order, watch) => {
    const { path, source, source_url, otherwise, origin, as_of, acceptSmaller } = order;
    const opened = await files.open(path);
    if (!(opened instanceof Read)) return { outcome: 'unread', why: opened.why };
    const started_at = now();
    const begun = await store.begin({ source, source_url, origin, started_at });
    if (!(begun instanceof Read)) return { outcome: 'unread', why: begun.why };
    const judge = table.judge({ source, source_url, otherwise, imported_at: started_at });
    const { id } = begun.value;
    const least = acceptSmaller === true ? null : await leastOf(table.leastShare, store, source);
    if (least instanceof Unread) return { outcome: 'unread', why: least.why };
    const into = { id, judge, store, started_at, stated: as_of, now, least };
    const outcome = await stageRows(opened.value, into, watch);
    if (outcome.outcome !== 'completed') await store.abandon(id);
    return outcome;
  };
}

type Counts = {
  seen: number;
  accepted: number;
  refused: number;
  lost: number;
  datedAt: number | null;
  readonly byCode: Map<string, number>;
  readonly columns: ColumnReads;
};

/** Names of one file that are told; further ones are left out. */
const COLUMNS_TOLD_MAX = 100;
const COLUMN_CHARS_MAX = 80;

/** The names that the rows of a file have, and those by which a judge read them. */
type ColumnReads = { readonly named: Set<string>; readonly read: Set<string> };

/** The fields of a row, which note by which names they are read. */
class NotedFields extends Map<string, string> {
  readonly #read: Set<string>;
  constructor(fields: ReadonlyMap<string, string>, read: Set<string>) {
    super(fields);
    this.#read = read;
  }
  override get(name: string): string | undefined {
    this.#read.add(name);
    return super.get(name);
  }
}

function noteReads({ line, fields }: RawRow, { named, read }: ColumnReads): RawRow {
  for (const name of fields.keys()) {
    const isTold = named.size < COLUMNS_TOLD_MAX && isShowable(name, COLUMN_CHARS_MAX);
    if (isTold) named.add(name);
  }
  return { line, fields: new NotedFields(fields, read) };
}

type Refuse = (line: number, refused: RowRefused) => void;

async function stageRows<Row extends StoredRow>(
  file: OpenedFile,
  begun: Begun<Row>,
  watch: ImportWatch,
): Promise<ImportOutcome> {
  const counts: Counts = {
    seen: 0,
    accepted: 0,
    refused: 0,
    lost: 0,
    datedAt: null,
    byCode: new Map(),
    columns: { named: new Set(), read: new Set() },
  };
  const refuse: Refuse = (line, { code, about }) => {
    counts.refused += 1;
    if (!LOSES_NOTHING.has(code)) counts.lost += 1;
    tally(counts.byCode, code);
    watch.onRefused({ line, code, reason: rowRefusalText({ code, about }) });
  };
  for await (const batch of file.rows()) {
    if (watch.signal.aborted) return { outcome: 'stopped' };
    if (!(batch instanceof Read)) return { outcome: 'unread', why: batch.why };
    const good = judgeBatch(batch.value, (raw) => begun.judge(raw, file.layout), counts, refuse);
    const repeated = await begun.store.stage(begun.id, good.rows);
    if (!(repeated instanceof Read)) return { outcome: 'unread', why: repeated.why };
    for (const n of repeated.value) {
      const line = good.lines.get(n);
      if (line !== undefined) refuse(line, { code: 'duplicate', about: null });
    }
    counts.accepted += good.rows.length - repeated.value.length;
    watch.onProgress(counts.seen, file.bytesRead(), file.bytes);
  }
  if (counts.accepted === 0) {
    return { outcome: 'no_row_accepted', rows_refused: counts.refused, refused: counts.byCode };
  }
  if (begun.least !== null && counts.accepted < begun.least.rows) {
    const { before } = begun.least;
    return { outcome: 'too_few', rows_accepted: counts.accepted, rows_before: before };
  }
  const ended = await begun.store.complete(begun.id, {
    rows_accepted: counts.accepted,
    rows_refused: counts.refused,
    rows_lost: counts.lost,
    sha256: file.sha256(),
    ...dateImport(begun.stated, counts.datedAt, begun.started_at),
    completed_at: begun.now(),
  });
  if (!(ended instanceof Read)) return { outcome: 'unread', why: ended.why };
  const { named, read } = counts.columns;
  const unread_columns = [...named].filter((name) => !read.has(name));
  return { outcome: 'completed', record: ended.value, refused: counts.byCode, unread_columns };
}

function judgeBatch<Row>(
  batch: readonly (RawRow | BrokenRow)[],
  judge: (raw: RawRow) => Accepted<Row> | RowRefused,
  counts: Counts,
  refuse: Refuse,
): { readonly rows: readonly Numbered<Row>[]; readonly lines: ReadonlyMap<number, number> } {
  const rows: Numbered<Row>[] = [];
  const lines = new Map<number, number>();
  for (const raw of batch) {
    counts.seen += 1;
    if ('problem' in raw) {
      refuse(raw.line, { code: 'unreadable_row', about: raw.problem });
      continue;
    }
    const verdict = judge(noteReads(raw, counts.columns));
    if ('code' in verdict) {
      refuse(raw.line, verdict);
      continue;
    }
    rows.push({ n: counts.seen, row: verdict.row });
    lines.set(counts.seen, raw.line);
    const at = verdict.dated_at;
    if (at !== null && (counts.datedAt === null || at > counts.datedAt)) counts.datedAt = at;
  }
  return { rows, lines };
}

/** The date of an import. A file that dates itself ahead of the clock is as old as its import. */
function dateImport(
  stated: number | null,
  byFile: number | null,
  started_at: number,
): Pick<ImportEnd, 'as_of' | 'dated_by'> {
  if (stated !== null) return { as_of: stated, dated_by: 'operator' };
  if (byFile === null || byFile > started_at) return { as_of: started_at, dated_by: 'import' };
  return { as_of: byFile, dated_by: 'file' };
}

/** A row that is refused, and what about it. */
export function refuseRow(code: RowRefusalCode, about: string | null): RowRefused {
  return { code, about };
}

/** Why a row is refused, for people. */
export function rowRefusalText({ code, about }: RowRefused): string {
  return about === null ? ROW_REFUSALS[code] : `${ROW_REFUSALS[code]} (${about})`;
}

/** A flag in any letter case, `null` where none is written; undefined for any other word. */
export function flagIn(text: string | null): boolean | null | undefined {
  if (text === null) return null;
  const word = text.toLowerCase();
  return word === 'true' || (word === 'false' ? false : undefined);
}

/** The text of a row's value without the space around it; `null` where there is none. */
export function valueIn(raw: RawRow, field: string): string | null {
  const value = raw.fields.get(field);
  if (value === undefined) return null;
  const text = value.trim();
  return text === '' ? null : text;
}

const UNSHOWABLE = /[\ufffd\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Whether a text may be kept and shown: within its length, without control or hidden signs. */
export function isShowable(text: string, charsMax: number): boolean {
  return text.length <= charsMax && !UNSHOWABLE.test(text);
}

type RowsByAddress<Row> = {
  readonly add: (address: string, row: Row) => void;
  /** How many rows are held. */
  readonly size: () => number;
  /** The rows of these addresses by their match keys; an address without rows has no key. */
  readonly under: (addresses: readonly string[]) => ReadonlyMap<string, readonly Row[]>;
};

/** No rows yet. */
export function rowsByAddress<Row>(): RowsByAddress<Row> {
  const byKey = new AddressMap<Row[]>();
  let rows = 0;
  return {
    add: (address, row) => {
      rows += 1;
      const key = matchKey(address);
      // Where both are the same text one copy of it is kept.
      collect(byKey, key === address ? address : key, row);
    },
    size: () => rows,
    under: (addresses) => {
      const found = new Map<string, readonly Row[]>();
      for (const address of addresses) {
        const key = matchKey(address);
        const held = byKey.get(key);
        if (held !== undefined) found.set(key, held);
      }
      return found;
    },
  };
}

// May a miss on a list of another authority be said, or were rows of its file refused?
// A list with refused rows is read in part: it shows a listing, never that there is none.

type Look = Partly<OtherListsLookUp, OtherListsPort>;

export function readingOfList(look: Read<OtherListsLookUp, OtherListsPort>, list: OtherList): Look {
  return weakenByShort(look, list.rows_lost === 0 ? [] : [list]);
}

/** The combined reading of all lists: a part if rows of one were refused. */
export function readingOfLists(look: Reading<OtherListsLookUp, OtherListsPort>): Look {
  if (!(look instanceof Read)) return look;
  return weakenByShort(
    look,
    look.value.lists.filter(({ rows_lost }) => rows_lost > 0),
  );
}

function weakenByShort(look: Read<OtherListsLookUp, OtherListsPort>, short: readonly OtherList[]) {
  if (short.length === 0) return look;
  const lists = short
    .map(({ name, rows_lost }) => `${rows_lost} ${rows_lost === 1 ? 'row' : 'rows'} of ${name}`)
    .join(', ');
  return weaken(look, why('list_rows_refused', { lists }));
}
