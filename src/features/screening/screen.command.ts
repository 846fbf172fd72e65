// `exhibit screen`: every address of a file gets a row. A row that could not be checked says so,
// and the command exits 3. Once the service refuses or is silent, the rest is not asked.
// `shapes.ts` has one word for what a table says of an address (`looksOf`, `LOOK_WORDS`).
// `screened-file.command.ts` writes the file of `--out`, and gives the rows of an earlier run, one
// at a time (`earlier`). `client/policy.ts` decides on rows, loaded only where a policy is named.

import { z } from 'zod';
import type { Decision, Policy } from '../../client/policy.ts';
import {
  ADDRESSES_MAX,
  type AddressInRow,
  addressLayoutOf,
  type CsvDialect,
  columnName,
  type FileProblem,
  FileUnreadable,
  fileAddresses,
  type ReadRecords,
} from '../../command/address-file.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  fail,
  filePath,
  flag,
  type Io,
  mandatory,
  optional,
  type Parse,
  several,
  UsageError,
  wordIn,
} from '../../command/command.ts';
import {
  askService,
  CONNECTION_NOTE,
  CONNECTION_OPTIONS,
  type Connection,
  type ConnectionServices,
  findConnection,
  refusalText,
  refusedFields,
} from '../../command/connection.ts';
import { otherListsText } from '../../command/other-lists-text.ts';
import { type FieldText, rowsPrinter } from '../../command/output.ts';
import { loadEvaluator, readPolicy } from '../../command/policy-file.ts';
import { listOrNone, textOrEmpty } from '../../evidence/measure.ts';
import {
  fileColumns,
  type OutFile,
  OutRefused,
  openOut,
  placeOf,
} from './screened-file.command.ts';
import { LOOK_WORDS, looksOf, SCREEN_STATES, SCREENED_TABLES, UNASKED } from './shapes.ts';

/** A path from where the caller stands; `-`, which is standard input, stays as it is. */
const fileOrInput: Parse<string> = (text, name, io) =>
  text === '-' ? text : filePath(text, name, io);

/** A connection, the reader of files, and what tells how a file that was read is written. */
export type ScreenServices = ConnectionServices & {
  readonly readRecords: ReadRecords;
  readonly readDialect: (path: string) => Promise<CsvDialect>;
};

export const screenCommand = defineCommand({
  name: 'screen',
  summary: 'Screen the addresses of a CSV file through a running service.',
  usage: 'FILE.csv [--column NAME] [--require TABLE] [--out FILE.csv]',
  example: 'exhibit screen addresses.csv --require sanctions_list --out screened.csv',
  arguments: {
    file: mandatory(
      'FILE.csv',
      'every column that holds addresses is read, and named on the last line; - is standard input',
      fileOrInput,
    ),
  },
  options: {
    column: several('NAME', 'read this column alone; may be given more than once', anyText),
    require: several(
      'TABLE',
      'ask about this table alone; may be given more than once; one of ' +
        SCREENED_TABLES.join(', '),
      wordIn(SCREENED_TABLES),
    ),
    out: optional(
      'FILE.csv',
      'write the rows of the file there, each with its own columns and those of the screen, ' +
        'which begin with exhibit_; no cell begins a formula',
      filePath,
    ),
    resume: flag('go on with the rows of an --out file of a run that stopped'),
    policy: optional(
      'FILE',
      'decide on each address by this policy, here and not by the service: allow, hold or ' +
        'could_not_check',
      filePath,
    ),
    'fail-on-listed': flag('exit status 1 where an address, or another form of it, is on any list'),
    ...CONNECTION_OPTIONS,
  },
  json: 'one address a line, in the order of the file, with the caveat',
  notes: [
    CONNECTION_NOTE,
    'Up to 500 addresses are one request of the allowance. Exit status 3: at least one address or',
    'row could not be checked. With --policy, 1: at least one is held; 3: none is held, and one or',
    'more could not be decided on.',
  ],
  run: async (
    { file, column, require: tables, out: outPath, resume, policy: policyFile, ...rest },
    io,
    services: ScreenServices,
  ) => {
    if (resume && outPath === null) throw new UsageError('--resume needs --out FILE.csv.');
    const read = policyFile === null ? null : await readPolicy(policyFile, io);
    if (read !== null && 'status' in read) return read.status;
    const policy = read === null ? null : await screenPolicy(read.policy);
    const to = await findConnection(rest, io, services);
    const { readRecords } = services;
    const written = policy === null ? WRITTEN : [...WRITTEN, ...DECIDED];
    try {
      const layout = await addressLayoutOf(readRecords(file), column);
      const fileNames = fileColumns(
        layout,
        written.map(([title]) => title),
      );
      const out =
        outPath === null
          ? null
          : await openOut({
              path: outPath,
              isResumed: resume,
              readRecords,
              dialect: await services.readDialect(file),
              columns: fileNames,
              own: written,
            });
      for (const [name, became] of out === null ? [] : fileNames.renamed) {
        io.err(`The file has a column ${name}: that of this screen is ${became}.`);
      }
      const columnsShown = policy === null ? SHOWN : [...SHOWN, ...DECIDED.slice(0, 2)];
      const show = rowsPrinter<ScreenRow>(io, { columns: columnsShown, json: jsonOf });
      const counts: ScreenCounts = {
        addresses: 0,
        listed: 0,
        formListed: 0,
        listUnread: 0,
        elsewhere: 0,
        othersUnread: 0,
        inPart: 0,
        misformed: 0,
        unchecked: 0,
        unread: 0,
        allow: 0,
        hold: 0,
        could_not_check: 0,
      };
      const run: Run = { to, tables, policy, io, show, out, counts, stopped: null };
      for await (const batch of batches(fileAddresses(readRecords(file), layout), run)) {
        await screenNext(run, batch);
        if (run.stopped !== null && out !== null) break;
      }
      const columns = layout.columns.map((place) => columnName(layout, place));
      io.err(summary(counts, columns, run.stopped, out !== null));
      const { listed, formListed, elsewhere, misformed, unchecked, inPart, unread } = counts;
      if (rest['fail-on-listed'] && listed + formListed + elsewhere > 0) return EXIT.failed;
      if (policy !== null) return decidedExit(counts, io);
      const left = misformed + unchecked + inPart + unread;
      return counts.addresses === 0 || left > 0 ? EXIT.couldNotCheck : EXIT.done;
    } catch (fault) {
      if (!(fault instanceof FileUnreadable) && !(fault instanceof OutRefused)) throw fault;
      const what = fault instanceof OutRefused ? 'written' : 'read';
      return fail(io, `The file cannot be ${what}: ${fault.message}.`);
    }
  },
});

type HashedPolicy = { readonly policy: Policy; readonly sha256: string };

/** A policy that a bulk screen can answer, with its hash. */
async function screenPolicy(policy: Policy): Promise<HashedPolicy> {
  const other = policy.fields.find((field) => !field.startsWith('screen.'));
  const { policyHash } = await loadEvaluator();
  if (other === undefined) return { policy, sha256: await policyHash(policy) };
  throw new UsageError(`--policy names ${other}, and a bulk screen tells fields of screen alone.`);
}

function decidedExit({ allow, hold, could_not_check: open, unread }: ScreenCounts, io: Io) {
  io.err(`The policy: ${allow} allowed, ${hold} held, ${open} could not be checked.`);
  if (hold > 0) return EXIT.failed;
  return allow > 0 && open + unread === 0 ? EXIT.done : EXIT.couldNotCheck;
}

type Run = {
  readonly to: Connection;
  readonly tables: readonly string[];
  readonly policy: HashedPolicy | null;
  readonly io: Io;
  readonly show: (rows: readonly ScreenRow[]) => void;
  readonly out: OutFile<ScreenRow> | null;
  readonly counts: ScreenCounts;
  /** Why nobody is asked any more. */
  stopped: string | null;
};

/** An address to screen; `problem`: a row without one, which a file of rows keeps too. */
type FileRow = AddressInRow & { readonly problem: string | null };

/** The addresses in batches. Rows that could not be taken are said, and counted, on the way. */
async function* batches(
  rows: AsyncIterable<AddressInRow | FileProblem>,
  { counts, io, out, policy }: Run,
): AsyncGenerator<FileRow[], void> {
  let batch: FileRow[] = [];
  let isEarlier = out !== null;
  for await (const read of rows) {
    if ('problem' in read) {
      counts.unread += 1;
      io.err(`Line ${read.line}: ${read.problem}.`);
      // A file keeps the row; where addresses of it were taken, those have come before.
      if (out === null || read.isTaken) continue;
    }
    const row: FileRow =
      'problem' in read ? { ...read, column: '', address: '' } : { ...read, problem: null };
    if (counts.addresses + batch.length >= ADDRESSES_MAX) {
      throw new FileUnreadable(`it holds over ${ADDRESSES_MAX} addresses`);
    }
    if (isEarlier && out !== null) {
      const done = await out.earlier();
      isEarlier = done !== null;
      if (done !== null) {
        if (done.place !== placeOf(row)) {
          throw new OutRefused(`its rows are not of this file from line ${row.line} on`);
        }
        countOutcome(outcomeAsWritten(done.cells), counts);
        if (policy !== null) counts[decisionAsWritten(done.cells, policy)] += 1;
        continue;
      }
    }
    batch.push(row);
    if (batch.length < BATCH_MAX) continue;
    yield batch;
    batch = [];
  }
  if (isEarlier && (await out?.earlier()) !== null) {
    throw new OutRefused('it holds more rows than this file');
  }
  if (batch.length > 0) yield batch;
}

async function screenNext(run: Run, batch: readonly FileRow[]): Promise<void> {
  const rows = run.stopped === null ? await screenBatch(run.to, batch, run.tables, run.io) : null;
  const screened: readonly ScreenRow[] =
    rows === null
      ? batch.map((row) => ({ ...row, kind: 'unchecked', reason: String(run.stopped) }))
      : rows;
  const told = run.policy === null ? screened : await decideRows(screened, run.policy.policy);
  const silent = told.find((row) => row.kind === 'unchecked');
  if (silent?.kind === 'unchecked') run.stopped = silent.reason;
  // Unchecked addresses are not written, so that a resumed run checks them.
  if (run.out !== null && silent === undefined) await run.out.add(told);
  if (run.out === null) {
    run.show(told);
    const said = told.find((row) => row.kind === 'result');
    if (said?.kind === 'result' && !run.io.json) run.io.out(said.caveat);
  }
  for (const row of told) {
    countOutcome(outcomeOfRow(row), run.counts);
    if (row.decision !== undefined) run.counts[row.decision.decision] += 1;
  }
}

/** Decides on each row by its own result alone; a row without one could not be checked. */
async function decideRows(rows: readonly ScreenRow[], policy: Policy): Promise<ScreenRow[]> {
  const { evaluatePolicy, screenOf } = await loadEvaluator();
  return Promise.all(
    rows.map(async (row) => {
      const given = row.kind === 'result' ? { screen: screenOf(row.answer, row.place) } : {};
      return { ...row, decision: await evaluatePolicy(policy, given) };
    }),
  );
}

function jsonOf(row: ScreenRow): object {
  const { line, column, address, kind, decision } = row;
  const decided = decision === undefined ? {} : { decision };
  if (row.kind !== 'result') {
    return { line, column, address, state: kind, reason: row.reason, ...decided };
  }
  const { result, caveat, simulated } = row;
  return { line, column, ...result, caveat, simulated, ...decided };
}

// A failure that is no answer applies to every address that it leaves unchecked.

/** The most addresses that one screen takes. */
const BATCH_MAX = 500;
/** Each round takes out the misformed rows that a refusal names; it names at least one. */
const ROUNDS_MAX = BATCH_MAX + 1;
const PATH = '/api/v1/bulk/wallet-screen';

type ScreenRow = FileRow & {
  /** Where a policy was named. */
  readonly decision?: Decision;
} & (
    | {
        readonly kind: 'result';
        readonly result: AnsweredScreen;
        /** The answer as it came, and the place of the result in it. */
        readonly answer: unknown;
        readonly place: number;
        readonly caveat: string;
        readonly simulated: boolean;
        readonly unread: UnreadTables;
      }
    | { readonly kind: 'misformed' | 'unchecked' | 'unread'; readonly reason: string }
  );

/** Asks for one batch; `tables` limits the question, and is empty where all are asked about. */
async function screenBatch(
  to: Connection,
  batch: readonly FileRow[],
  tables: readonly string[],
  io: Io,
): Promise<ScreenRow[]> {
  const misformed = new Map<FileRow, string>();
  const limited = tables.length === 0 ? {} : { tables };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const asked = batch.filter((row) => row.problem === null && !misformed.has(row));
    if (asked.length === 0) return inOrder(batch, misformed, 'it was not asked about');
    const body = { addresses: asked.map((row) => row.address), ...limited };
    const said = await askService(to, { method: 'POST', path: PATH, body }, io.signal);
    if (said.kind === 'silent') return inOrder(batch, misformed, said.reason);
    if (said.status === 400) {
      const named = refusedRows(said.body, asked);
      if (named.size === 0) return inOrder(batch, misformed, refusalText(400, said.body));
      for (const [row, reason] of named) misformed.set(row, reason);
      continue;
    }
    if (said.status !== 200) return inOrder(batch, misformed, refusalText(said.status, said.body));
    return answeredRows(batch, asked, misformed, said.body);
  }
  return inOrder(batch, misformed, 'the service refused every part of the batch');
}

function answeredRows(
  batch: readonly FileRow[],
  asked: readonly FileRow[],
  misformed: ReadonlyMap<FileRow, string>,
  body: unknown,
): ScreenRow[] {
  const parsed = screenedBody.safeParse(body);
  if (!parsed.success) return inOrder(batch, misformed, 'the answer is not one of this interface');
  if (parsed.data.state === 'not_deployed') return inOrder(batch, misformed, parsed.data.reason);
  const { simulated, data } = parsed.data;
  const { results, caveat, unread } = data;
  if (results.length !== asked.length) {
    return inOrder(batch, misformed, 'the answer has another number of results than was asked');
  }
  const found: Found = new Map();
  for (const [place, row] of asked.entries()) {
    const result = results[place];
    if (result !== undefined) found.set(row, { result, place });
  }
  return inOrder(batch, misformed, { found, answer: body, caveat, simulated, unread });
}

type Found = Map<FileRow, { readonly result: AnsweredScreen; readonly place: number }>;

type Rest = {
  readonly found: Found;
  readonly answer: unknown;
  readonly caveat: string;
  readonly simulated: boolean;
  readonly unread: UnreadTables;
};

function inOrder(
  batch: readonly FileRow[],
  misformed: ReadonlyMap<FileRow, string>,
  rest: Rest | string,
): ScreenRow[] {
  return batch.map((row) => {
    if (row.problem !== null) return { ...row, kind: 'unread', reason: row.problem };
    const why = misformed.get(row);
    if (why !== undefined) return { ...row, kind: 'misformed', reason: why };
    if (typeof rest === 'string') return { ...row, kind: 'unchecked', reason: rest };
    const found = rest.found.get(row);
    if (found === undefined) return { ...row, kind: 'unchecked', reason: 'no result came' };
    const { answer, caveat, simulated, unread } = rest;
    return { ...row, kind: 'result', ...found, answer, caveat, simulated, unread };
  });
}

/** The rows that a refusal names by their places among the addresses, each with what it says. */
function refusedRows(body: unknown, asked: readonly FileRow[]): Map<FileRow, string> {
  const named = new Map<FileRow, string>();
  for (const { path, says } of refusedFields(body)) {
    const [field, place] = path;
    const row = field === 'addresses' && typeof place === 'number' ? asked[place] : undefined;
    if (row !== undefined) named.set(row, says);
  }
  return named;
}

// The words of a row, for people and for a file that is gone on with.

/** The outcome of one address, for the last line and the exit status. */
type RowOutcome = {
  /** `listed`, `form_listed`: it, or another form of it, stands on the list. */
  readonly listed: boolean;
  readonly formListed: boolean;
  /** Whether the list was read for it. */
  readonly listRead: boolean;
  /** Whether it, or another form of it, stands on a list of another authority. */
  readonly elsewhere: boolean;
  /** Whether such lists were read for it, each whole. */
  readonly othersRead: boolean;
  readonly kind: 'screened' | 'in part' | 'misformed' | 'not checked' | 'not read';
};

function outcomeOfRow(row: ScreenRow): RowOutcome {
  if (row.kind !== 'result') {
    const kind = UNSCREENED[row.kind];
    const nowhere = { listed: false, formListed: false, elsewhere: false };
    return { ...nowhere, listRead: false, othersRead: false, kind };
  }
  const { result, unread } = row;
  const looks = looksOf(result);
  return outcomeOfLooks({
    sanctions: LOOK_WORDS[looks.sanctions_list],
    forms: LOOK_WORDS[looks.equivalent_forms],
    others: LOOK_WORDS[looks.other_lists],
    kind: leftUnread(result, unread) ? 'in part' : 'screened',
  });
}

const UNSCREENED = {
  misformed: 'misformed',
  unchecked: 'not checked',
  unread: 'not read',
} as const;

type LookWords = {
  readonly sanctions: string;
  readonly forms: string;
  readonly others: string;
  readonly kind: RowOutcome['kind'];
};

/** The outcome by the words of a row, which a file of an earlier run holds too. */
function outcomeOfLooks({ sanctions, forms, others, kind }: LookWords): RowOutcome {
  const { listed, form_listed, ended, no_record } = LOOK_WORDS;
  const elsewhere = others === listed || others === form_listed;
  return {
    listed: sanctions === listed,
    formListed: forms === listed,
    listRead: sanctions === listed || sanctions === no_record,
    elsewhere,
    // One list that names an address says nothing of another that was not read.
    othersRead: kind === 'screened' && (elsewhere || others === ended || others === no_record),
    kind,
  };
}

type ScreenColumn = Exclude<FieldText<ScreenRow>, string>;

function resultColumn(
  title: string,
  text: (result: AnsweredScreen) => string | null,
): ScreenColumn {
  return [title, (row) => (row.kind === 'result' ? text(row.result) : null)];
}

/** The columns of a screen, for people and for files. */
const SHOWN: readonly ScreenColumn[] = [
  ['line', ({ line }) => line, 'right'],
  ['column', ({ column }) => column],
  ['address', ({ address }) => address],
  ['checked', (row) => outcomeOfRow(row).kind],
  resultColumn('state', ({ state }) => state),
  resultColumn('sanctions', (result) => LOOK_WORDS[looksOf(result).sanctions_list]),
  resultColumn('programmes', ({ sanctions }) =>
    sanctions?.listed === true ? listOrNone(sanctions.programs).join(', ') : null,
  ),
  resultColumn('other forms', (result) => LOOK_WORDS[looksOf(result).equivalent_forms]),
  resultColumn('other lists', (result) => LOOK_WORDS[looksOf(result).other_lists]),
  resultColumn('forms listed', (result) => formsOnList(result).join(' ')),
  resultColumn('lists', ({ other_lists: lists }) => {
    if (lists === null || lists === undefined) return null;
    const answers = lists.map(({ equivalent_forms: forms, ended, ...one }) => {
      const hasEnded = ended === undefined ? one.entity !== null : ended;
      return { ...one, ended: hasEnded, forms: listOrNone(forms).map(({ address }) => address) };
    });
    return otherListsText(answers);
  }),
  resultColumn('exchange', (result) => screenText.exchange(result)),
  resultColumn('launches', (result) => screenText.launches(result)),
  ['simulated', (row) => (row.kind === 'result' && row.simulated ? 'simulated' : null)],
  ['reason', (row) => textOrEmpty(row.kind === 'result' ? row.result.reason : row.reason)],
];
/** The caveat stands in each row, since rows are cut out and passed on. */
const WRITTEN: readonly ScreenColumn[] = [
  ...SHOWN,
  resultColumn('list_published', ({ sanctions }) => textOrEmpty(sanctions?.list_published)),
  resultColumn('list_sha256', ({ sanctions }) => textOrEmpty(sanctions?.list_sha256)),
  resultColumn('entity', ({ sanctions }) => textOrEmpty(sanctions?.entity)),
  resultColumn('uid', ({ sanctions }) => listOrNone(sanctions?.uids).join(' ')),
  ['caveat', (row) => (row.kind === 'result' ? row.caveat : null)],
];
/** What a policy came to, behind the columns of the screen. */
const DECIDED: readonly ScreenColumn[] = [
  ['decision', ({ decision }) => textOrEmpty(decision?.decision)],
  ['decided by', ({ decision }) => listOrNone(decision?.decided_by).join(' ')],
  ['answer_sha256', ({ decision }) => textOrEmpty(decision?.answers[0]?.sha256)],
  ['policy_sha256', ({ decision }) => textOrEmpty(decision?.policy_sha256)],
];
const DECISIONS = ['allow', 'hold', 'could_not_check'] as const;

/** The decision of a row of an earlier run, which was made by the same policy. */
function decisionAsWritten(cells: readonly string[], policy: HashedPolicy): Decision['decision'] {
  const [word, , , sha256] = cells.slice(WRITTEN.length);
  const known = DECISIONS.find((one) => one === word);
  if (known === undefined || sha256 !== policy.sha256) {
    throw new OutRefused('a row of the file was not decided on by this policy');
  }
  return known;
}

const KINDS = ['screened', 'in part', 'misformed', 'not read'] as const;

/** The outcome of a row of an earlier run, by its cells in the order of `WRITTEN`. */
function outcomeAsWritten(cells: readonly string[]): RowOutcome {
  const [, , , kind, , sanctions, , forms, others] = cells;
  const known = KINDS.find((one) => one === kind);
  const isWhole = sanctions !== undefined && forms !== undefined && others !== undefined;
  if (known === undefined || !isWhole) {
    throw new OutRefused('a row of the file is not of this command');
  }
  return outcomeOfLooks({ sanctions, forms, others, kind: known });
}

// Unread and not held are different words everywhere.

const otherList = z.looseObject({
  list: z.string(),
  as_of: z.number(),
  listed: z.boolean().nullable(),
  entity: z.string().nullable(),
  equivalent_forms: z.array(z.looseObject({ address: z.string() })).nullable(),
  ended: z.boolean().nullish(),
});

const screenResult = z.looseObject({
  address: z.string(),
  kind: z.string(),
  state: z.enum(SCREEN_STATES),
  exchange: z.looseObject({ label: z.string(), entity: z.string(), role: z.string() }).nullable(),
  launches: z
    .looseObject({ answer: z.string(), launches_settled: z.number(), died: z.number() })
    .nullable(),
  sanctions: z
    .looseObject({
      listed: z.boolean(),
      programs: z.array(z.string()).nullable(),
      entity: z.string().nullish(),
      uids: z.array(z.string()).nullish(),
      list_published: z.string().nullish(),
      list_sha256: z.string().nullish(),
    })
    .nullable(),
  equivalent_forms: z.array(z.looseObject({ address: z.string() })).nullish(),
  other_lists: z.array(otherList).nullish(),
  checked: z.looseObject({
    exchange_table: z.boolean().nullable(),
    launch_corpus: z.boolean().nullable(),
    other_lists: z.boolean().nullish(),
    sanctions_list: z.boolean().nullable(),
  }),
  unasked: z
    .looseObject({
      exchange_table: z.enum(UNASKED).nullable(),
      launch_corpus: z.enum(UNASKED).nullable(),
      other_lists: z.enum(UNASKED).nullable(),
      sanctions_list: z.enum(UNASKED).nullable(),
    })
    .optional(),
  reason: z.string().optional(),
});
export type AnsweredScreen = z.output<typeof screenResult>;

const unreadTables = z.array(z.looseObject({ table: z.string(), code: z.string() })).nullish();
/** The tables that a screen left unread; an earlier service does not tell them. */
type UnreadTables = z.output<typeof unreadTables>;

/** The envelope of a bulk screen. */
export const screenedBody = z.union([
  z.object({
    state: z.literal('ok'),
    simulated: z.boolean(),
    data: z.object({ results: z.array(screenResult), unread: unreadTables, caveat: z.string() }),
  }),
  z.object({ state: z.literal('not_deployed'), reason: z.string() }),
]);

/** Each part of a result in words. */
export const screenText = {
  exchange: (result: AnsweredScreen): string => {
    const { exchange } = result;
    if (exchange === null) return LOOK_WORDS[looksOf(result).exchange_table];
    return `${exchange.entity} (${exchange.role}): ${exchange.label}`;
  },
  launches: (result: AnsweredScreen): string => {
    if (result.launches === null) return LOOK_WORDS[looksOf(result).launch_corpus];
    const { answer, died, launches_settled: settled } = result.launches;
    return `${answer}: ${died} of ${settled} settled launches died`;
  },
  forms: (result: AnsweredScreen): string => {
    const word = LOOK_WORDS[looksOf(result).equivalent_forms];
    const forms = formsOnList(result);
    return forms.length === 0 ? word : `${word}: ${forms.join(', ')}`;
  },
};

/** Other forms of the same key or account that stand on the list. */
function formsOnList({ equivalent_forms: forms }: AnsweredScreen): readonly string[] {
  return forms === null || forms === undefined ? NO_FORMS : forms.map(({ address }) => address);
}

const NO_FORMS: readonly string[] = Object.freeze([]);

/** Whether any table that applies to the address was left unread. */
export function leftUnread({ checked }: AnsweredScreen, unread: UnreadTables): boolean {
  return Object.entries(checked).some(([table, read]) => {
    return read === false && !isNeverImported(table, unread);
  });
}

// Lists that nobody imported are told as not checked, and are no fault of a check.
function isNeverImported(name: string, unread: UnreadTables): boolean {
  const of = unread?.find(({ table }) => table === name);
  return name === 'other_lists' && of?.code === 'table_never_imported';
}

// That nothing is listed is said where the list was read for every address.

type ScreenCounts = {
  addresses: number;
  listed: number;
  formListed: number;
  /** Addresses for which no list was read. */
  listUnread: number;
  /** Addresses on a list of another authority, and those for which not all of them were read. */
  elsewhere: number;
  othersUnread: number;
  inPart: number;
  misformed: number;
  unchecked: number;
  /** Rows of the file that could not be taken as its columns say. */
  unread: number;
  /** By a policy, where one was named. */
  allow: number;
  hold: number;
  could_not_check: number;
};

function countOutcome(outcome: RowOutcome, counts: ScreenCounts): void {
  if (outcome.kind === 'not read') return;
  counts.addresses += 1;
  if (outcome.listed) counts.listed += 1;
  if (outcome.formListed) counts.formListed += 1;
  if (!outcome.listRead) counts.listUnread += 1;
  if (outcome.elsewhere) counts.elsewhere += 1;
  if (!outcome.othersRead) counts.othersUnread += 1;
  if (outcome.kind === 'in part') counts.inPart += 1;
  if (outcome.kind === 'misformed') counts.misformed += 1;
  if (outcome.kind === 'not checked') counts.unchecked += 1;
}

/** The last line. `isKept`: what was done is in a file, with which a run can go on. */
function summary(
  counts: ScreenCounts,
  columns: readonly string[],
  stopped: string | null,
  isKept: boolean,
): string {
  const { addresses, listed, formListed, listUnread, elsewhere, othersUnread } = counts;
  const { inPart, misformed, unchecked, unread } = counts;
  const from = columns.length === 0 ? '' : ` (${columns.join(', ')})`;
  const parts = [`${addresses} addresses${from}`];
  if (addresses === 0) parts.push('nothing was checked');
  else if (listed > 0 || listUnread === 0) parts.push(`${listed} on the sanctions list`);
  if (formListed > 0) parts.push(`${formListed} with another form on it`);
  if (elsewhere > 0 || (addresses > 0 && othersUnread === 0)) {
    parts.push(`${elsewhere} on lists of other authorities`);
  }
  if (misformed > 0) parts.push(`${misformed} of no known form, not checked`);
  if (inPart > 0) parts.push(`${inPart} not checked in full`);
  if (unchecked > 0) parts.push(`${unchecked} not checked`);
  if (unread > 0) parts.push(`${unread} rows not read in full`);
  const told = `${parts.join(', ')}.`;
  if (stopped === null) return told;
  const next = isKept ? ' The rest of the file was not reached; go on with --resume.' : '';
  return `${told} Stopped: ${stopped.replace(/\.$/, '')}.${next}`;
}
