// A check that could not be made exits 3 and never prints unlisted. A listed other form of the same
// key or account stands beside the answer about the address, never in it. The list is opened as in
// `sanctions.command.ts`.

import { formatIsoDate } from '../../chain/time.ts';
import {
  ADDRESSES_MAX,
  addressLayoutOf,
  columnName,
  type FileAddress,
  FileUnreadable,
  fileAddresses,
  type ReadRecords,
} from '../../command/address-file.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  type ExitStatus,
  filePath,
  flag,
  type Io,
  optional,
  several,
  UsageError,
} from '../../command/command.ts';
import { type ListAnswer, otherListsText } from '../../command/other-lists-text.ts';
import {
  formatTime,
  print,
  printable,
  printJson,
  tableLines,
  timeText,
} from '../../command/output.ts';
import { progressLine } from '../../command/run-import.ts';
import { listOrNone, present, textOrEmpty } from '../../evidence/measure.ts';
import { Read } from '../../evidence/reading.ts';
import { SIMULATED_CAVEAT } from '../../evidence/source.ts';
import type {
  ListEntry,
  ListFacts,
  PublicationGate,
  PublicationStore,
  SanctionsList,
} from '../../ports/sanctions.ts';
import { type BrokenRow, type OtherLists, standsOn } from '../../ports/tables.ts';
import {
  askOtherLists,
  type CaseHint,
  caseHint,
  directCheck,
  entriesOf,
  type ListSubject,
  listSubject,
  otherListsNaming,
  otherListsShown,
  type ScreenedForm,
  spellingsOf,
  standsOnOthers,
} from './direct-check.ts';
import { fromFile, type SanctionsServices } from './sanctions.command.ts';
import { directCaveat } from './wallet-ofac.route.ts';

const CHECKED_MAX = 1_000;

/** The dependencies of a check, from the services of its group. */
export type CheckServices = {
  readonly sanctions: Pick<
    SanctionsServices['sanctions'],
    'list' | 'poll' | 'simulated' | 'reader' | 'lookUpIn' | 'readRecords'
  > & {
    readonly gate: Pick<PublicationGate, 'absolute'>;
    readonly store: Pick<PublicationStore, 'inForce' | 'entries'>;
  };
  /** The lists of other authorities, read anew by `poll`. */
  readonly otherLists: OtherLists & {
    readonly poll: () => Promise<void>;
    /** Unix seconds. */
    readonly now: () => number;
  };
};

export const sanctionsCheck = defineCommand({
  name: 'sanctions check',
  summary: 'Check addresses, or those of a file, directly against the lists in force.',
  usage: 'ADDRESS… | --file FILE.csv [--source FILE]',
  example: 'exhibit sanctions check 12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h',
  arguments: { addresses: several('ADDRESS', null, anyText) },
  options: {
    file: optional(
      'FILE.csv',
      'check every column that holds addresses; one line for each of them',
      filePath,
    ),
    column: several(
      'NAME',
      'of the file read this column alone; may be given more than once',
      anyText,
    ),
    source: optional(
      'FILE',
      'ask this file of the publisher’s formats, instead of the list in force',
      anyText,
    ),
    'fail-on-listed': flag('exit status 1 where an address, or another form of it, is on any list'),
  },
  json: 'one address a line, with the caveat',
  notes: [
    'Not listed is a statement about the sanctions list alone. The lists of other authorities that',
    'were imported are asked too, and other forms of the same key or account; each told apart.',
    'Exit status 3: at least one address or row could not be checked. 1: a --source is refused.',
  ],
  run: async (values, io, { sanctions, otherLists }: CheckServices) => {
    const { addresses, file, column, source } = values;
    if (file === null) checkArguments(addresses, column);
    else if (addresses.length > 0) throw new UsageError('Either ADDRESS or --file FILE.csv.');
    const list = await listAsked(source, io, sanctions);
    if ('status' in list) return list.status;
    await otherLists.poll();
    const { simulated, readRecords } = sanctions;
    const hint = caseHint(list.entries);
    const asked = { lookUp: list.lookUp, otherLists, now: otherLists.now, simulated, hint };
    const ask = (address: string) => checkOne(address, asked);
    const tally = newTally();
    if (file === null) {
      const results: Checked[] = [];
      for (const address of addresses) results.push(await ask(address));
      for (const result of results) countChecked(result, tally);
      if (io.json) for (const result of results) printJson(io, jsonOfCheck(result, simulated));
      else showChecks(results, simulated, io);
    } else {
      await checkFile({ path: file, columns: column, readRecords, ask, simulated }, tally, io);
    }
    return statusOf(tally, values['fail-on-listed']);
  },
});

function checkArguments(addresses: readonly string[], column: readonly string[]): void {
  if (addresses.length === 0) throw new UsageError('ADDRESS is missing.');
  if (column.length > 0) throw new UsageError('--column goes with --file FILE.csv.');
  if (addresses.length <= CHECKED_MAX) return;
  throw new UsageError(`At most ${CHECKED_MAX} addresses at a time; --file takes more.`);
}

type CheckedList =
  | (Pick<SanctionsList, 'lookUp'> & {
      /** Its rows; `null` where they could not be read. */
      readonly entries: () => Promise<readonly ListEntry[] | null>;
    })
  | { readonly status: ExitStatus };

async function listAsked(
  source: string | null,
  io: Io,
  sanctions: CheckServices['sanctions'],
): Promise<CheckedList> {
  if (source === null) {
    await sanctions.poll();
    return { lookUp: sanctions.list.lookUp, entries: () => entriesInForce(sanctions.store) };
  }
  const found = await fromFile(source, io, sanctions);
  if ('status' in found) return found;
  const { list } = found;
  return { lookUp: sanctions.lookUpIn(list), entries: async () => list.addresses };
}

async function entriesInForce(
  store: CheckServices['sanctions']['store'],
): Promise<readonly ListEntry[] | null> {
  const inForce = await store.inForce();
  if (!(inForce instanceof Read) || inForce.value.publication === null) return null;
  const entries = await store.entries(inForce.value.publication.id);
  return entries instanceof Read ? entries.value : null;
}

const COLUMNS = [
  'address',
  'listed',
  'entity',
  'type',
  'programmes',
  'uid',
  'currency',
  'other lists',
].map((title) => ({ title }));

const NO_ENTRY = [null, null, null, null, null] as const;

function showChecks(results: readonly Checked[], simulated: boolean, io: Io): void {
  const label = simulated ? ' (simulated)' : '';
  const rows = results.flatMap((result) => {
    const { address } = result;
    const { text: others } = result.others;
    if (result.listed === null) return [[address, 'not checked', ...NO_ENTRY, others]];
    if (result.matches.length === 0) return [[address, `no${label}`, ...NO_ENTRY, others]];
    return result.matches.map((match) => [
      match.address,
      `yes${label}`,
      match.entity,
      match.type,
      match.programs === null ? null : match.programs.join(', '),
      match.uid,
      match.currency,
      others,
    ]);
  });
  print(io, tableLines(COLUMNS, rows, io));
  for (const result of results) {
    if (result.reason !== null) io.err(`${result.address}: ${result.reason}`);
    if (result.others.isShort) io.err(`${result.address}: ${shortfallOf(result)}`);
    if (result.listed === null || result.listedForms.length === 0) continue;
    const forms = result.listedForms.join(', ');
    io.out(`${result.address}: another form of the same key or account is listed: ${forms}`);
  }
  const told = results.flatMap((one) => (one.listed === null ? [] : [one.caveat]));
  print(io, [...new Set(told)]);
  const facts = results.flatMap((one) => (one.listed === null ? [] : [one.list])).at(0);
  if (facts === undefined) return;
  const checked = timeText(facts.as_of);
  io.out(
    `${facts.name}${label} of ${facts.published}, ${facts.addresses} addresses, checked ` +
      `${checked}. Not listed is a statement about this list alone.`,
  );
}

// Each address and each row that could not be taken gets a line of its own. Nothing of the file is
// kept but the rows that are about to be shown.

/** A file, and what its addresses are asked of. */
export type FileCheck = {
  readonly path: string;
  /** The columns to read; empty for every one that holds addresses. */
  readonly columns: readonly string[];
  readonly readRecords: ReadRecords;
  readonly ask: (address: string) => Promise<Checked>;
  readonly simulated: boolean;
};

type Row = BrokenRow | (FileAddress & { readonly result: Checked });

const SHOWN_AT_ONCE = 500;

/** Checks a file and counts into `tally`; the last line, on the error stream, is the summary. */
export async function checkFile(check: FileCheck, tally: Tally, io: Io): Promise<void> {
  const columns: string[] = [];
  let shown = 0;
  const rows: Row[] = [];
  const flush = async () => {
    show(rows.splice(0), shown === 0, check.simulated, io);
    shown += 1;
    await io.room?.();
  };
  try {
    for await (const row of checkRows(check, columns, tally, io)) {
      rows.push(row);
      if (rows.length >= SHOWN_AT_ONCE) await flush();
    }
  } catch (fault) {
    if (!(fault instanceof FileUnreadable)) throw fault;
    tally.stopped = `the file cannot be read: ${fault.message}`;
  }
  if (rows.length > 0) await flush();
  io.err(summary(tally, columns, check.simulated));
}

async function* checkRows(
  { path, columns: named, readRecords, ask }: FileCheck,
  columns: string[],
  tally: Tally,
  io: Io,
): AsyncGenerator<Row, void> {
  const layout = await addressLayoutOf(readRecords(path), named);
  columns.push(...layout.columns.map((place) => columnName(layout, place)));
  // A bar that renews its line would wipe out a row where both streams go to one terminal.
  const progress = progressLine({ err: io.err, colour: false }, () => performance.now());
  let records = 0;
  async function* showProgress() {
    for await (const record of readRecords(path)) {
      records += 1;
      yield record;
      if (records % PROGRESS_ROWS !== 0) continue;
      const fraction = records / layout.records;
      progress.show({ phase: 'Checking', rows: records, fraction });
    }
  }
  for await (const row of fileAddresses(showProgress(), layout)) {
    if (io.signal.aborted) {
      tally.stopped = 'it was told to';
      return;
    }
    if ('problem' in row) {
      tally.unread += 1;
      yield row;
      continue;
    }
    if (tally.addresses >= ADDRESSES_MAX) {
      throw new FileUnreadable(`it holds over ${ADDRESSES_MAX} addresses`);
    }
    const result = await ask(row.address);
    countChecked(result, tally);
    yield { ...row, result };
  }
}

const PROGRESS_ROWS = 10_000;

const FILE_COLUMNS = [
  'line',
  'column',
  'address',
  'listed',
  'entity',
  'programmes',
  'uid',
  'other lists',
].map((title) => ({ title, right: title === 'line' }));

function show(rows: readonly Row[], isFirst: boolean, simulated: boolean, io: Io): void {
  if (io.json) {
    for (const row of rows) printJson(io, jsonOf(row, simulated));
    return;
  }
  const [heading, ...lines] = tableLines(
    FILE_COLUMNS,
    rows.map((row) => cellsOf(row, simulated)),
    io,
  );
  if (isFirst) io.out(textOrEmpty(heading));
  // The caveat stands in each row: rows get cut out and passed on.
  print(
    io,
    lines.map((line, i) => `${line}  ${printable(sentenceOf(rows[i]))}`),
  );
}

function jsonOf(row: Row, simulated: boolean): object {
  if ('result' in row) {
    const { line, column, result } = row;
    return { line, column, ...jsonOfCheck(result, simulated) };
  }
  const { line, problem } = row;
  const label = simulated ? { simulated } : {};
  return { line, column: null, address: null, ...UNCHECKED, reason: problem, ...label };
}

function cellsOf(row: Row, simulated: boolean): (string | number | null)[] {
  const label = simulated ? ' (simulated)' : '';
  if (!('result' in row))
    return [row.line, null, null, `not checked${label}`, ...NO_FILE_ENTRY, null];
  const { line, column, address, result } = row;
  const place = [line, column, address];
  const { text: others } = result.others;
  if (result.listed === null) return [...place, `not checked${label}`, ...NO_FILE_ENTRY, others];
  if (!result.listed) return [...place, `not on the list${label}`, ...NO_FILE_ENTRY, others];
  const { matches } = result;
  const all = (texts: readonly (string | null)[]) =>
    [...new Set(texts)].map(textOrEmpty).join('; ');
  const programmes = matches.flatMap(({ programs }) =>
    programs === null ? [null] : [...programs],
  );
  const names = all(matches.map(({ entity }) => entity));
  const uids = all(matches.map(({ uid }) => uid));
  return [...place, `LISTED${label}`, names, all(programmes), uids, others];
}

const NO_FILE_ENTRY = [null, null, null] as const;

function sentenceOf(row: Row | undefined): string {
  if (row === undefined) throw new Error('check: a line without a row');
  if (!('result' in row)) return `${row.problem}.`;
  const { result } = row;
  const said = result.listed === null ? textOrEmpty(result.reason) : result.caveat;
  return result.others.isShort ? `${said} ${shortfallOf(result)}` : said;
}

/** That nothing is listed is said where the list was read for every address. */
function summary(tally: Tally, columns: readonly string[], simulated: boolean): string {
  const { addresses, listed, formListed, elsewhere, inPart, stopped } = tally;
  const { misformed, unchecked, unread } = tally;
  const from = columns.length === 0 ? '' : ` (${columns.join(', ')})`;
  const parts = [`${addresses} addresses${from}`];
  const label = simulated ? ' (simulated)' : '';
  const dated = [...tally.published].map((day) => ` of ${day}`).join(' and');
  if (addresses === 0) parts.push('nothing was checked');
  else if (listed > 0 || misformed + unchecked === 0) {
    parts.push(`${listed} on the sanctions list${dated}${label}`);
  }
  if (formListed > 0) parts.push(`${formListed} with another form on it`);
  if (elsewhere > 0) parts.push(`${elsewhere} on lists of other authorities`);
  if (misformed > 0) parts.push(`${misformed} of no known form, not checked`);
  if (inPart > 0) parts.push(`${inPart} not checked on every list`);
  if (unchecked > 0) parts.push(`${unchecked} not checked`);
  if (unread > 0) parts.push(`${unread} rows not read in full`);
  const told = `${parts.join(', ')}.`;
  return stopped === null ? told : `${told} Stopped: ${stopped}. The rest was not checked.`;
}

// None was imported is no fault of a check; one that is unread, or lost rows, is.

/** The answers of other lists about one address. */
export type CheckedOthers = {
  /** List by list, as the interface shows it; `null` where none was read. */
  readonly shown: readonly object[] | null;
  /** Why none was read. */
  readonly reason: string | null;
  readonly text: string;
  /** The lists that hold it, or another form of it; `null` where none was read. */
  readonly named: readonly string[] | null;
  /** Whether an entry of it is on one. */
  readonly holds: boolean;
  /** Whether it, or another form of it, is listed. */
  readonly listed: boolean;
  /** Whether it could not be shown that one of them does not list it. */
  readonly isShort: boolean;
};

/** Of a text that no list could hold, nothing is asked. */
export const NOT_ASKED: CheckedOthers = {
  shown: null,
  reason: null,
  text: 'not checked',
  named: null,
  holds: false,
  listed: false,
  isShort: false,
};

/** Asks the other lists about every form of a subject. `now` is Unix seconds. */
export async function checkOthers(
  lists: OtherLists,
  subject: ListSubject,
  now: number,
): Promise<CheckedOthers> {
  const look = await askOtherLists(lists, subject, null);
  const { other_lists, other_lists_reason: reason } = otherListsShown(look, subject, now);
  const named = otherListsNaming(look, subject);
  const holds = standsOnOthers(look, subject);
  if (other_lists === null) {
    const isShort = !('why' in look) || look.why.code !== 'table_never_imported';
    return { ...NOT_ASKED, reason, isShort };
  }
  const shown = other_lists.map(
    ({ checked, listed, matches, equivalent_matches, equivalent_listed, ...one }) => ({
      ...one,
      checked: checked.shown,
      listed: listed.shown,
      matches: matches.shown,
      equivalent_matches: equivalent_matches.shown,
      equivalent_listed: equivalent_listed.shown,
    }),
  );
  const today = formatIsoDate(now);
  const said = shown.map(({ list, as_of, listed, matches, equivalent_matches }): ListAnswer => {
    const [own, others] = [listOrNone(matches), listOrNone(equivalent_matches)];
    const names = (own.length > 0 ? own : others).map(({ entity }) => entity ?? UNNAMED);
    const entity = names.length === 0 ? null : [...new Set(names)].join('; ');
    const forms = others.filter((one) => standsOn(one, today));
    const ended = [...own, ...others].some((one) => !standsOn(one, today));
    return { list, as_of, listed, entity, forms: forms.map((one) => one.listed_address), ended };
  });
  return {
    shown,
    reason,
    text: otherListsText(said),
    named,
    holds,
    listed: said.some(({ listed, forms }) => listed === true || forms.length > 0),
    isShort: said.some(({ listed }) => listed === null),
  };
}

const UNNAMED = 'an entry without a name';

// An unchecked result is `null`, never unlisted, and makes the exit status 3.

/** The outcome of a check of one address. `listed` is `null` where it could not be checked. */
export type Checked = {
  readonly address: string;
  readonly reason: string | null;
  /** The other forms of it that the list holds, as far as it was read. */
  readonly listedForms: readonly string[];
  /** The answers of the lists of other authorities. */
  readonly others: CheckedOthers;
} & (
  | { readonly listed: null; readonly recognised: boolean }
  | {
      readonly listed: boolean;
      readonly matches: readonly ListEntry[];
      readonly forms: readonly ScreenedForm[];
      readonly list: ListFacts;
      /** With the label of made-up data, where it is. */
      readonly caveat: string;
    }
);

export type CheckDependencies = {
  readonly lookUp: SanctionsList['lookUp'];
  readonly otherLists: OtherLists;
  /** Unix seconds. */
  readonly now: () => number;
  readonly simulated: boolean;
  /** Which listed address a text of no known form may have been meant to be. */
  readonly hint: CaseHint;
};

export async function checkOne(
  address: string,
  { lookUp, otherLists, now, simulated, hint }: CheckDependencies,
): Promise<Checked> {
  const subject = listSubject(address);
  if (subject === null) return notRecognised(address, null);
  const others = await checkOthers(otherLists, subject, now());
  const check = directCheck(subject, await lookUp(spellingsOf(subject)), others.holds);
  if (check.outcome === 'misformed') return notRecognised(address, await hint(address));
  const { listedForms } = check;
  if (check.outcome === 'silent') {
    const { reason } = check.why;
    return { address, listed: null, recognised: true, reason, listedForms, others };
  }
  const { look, forms } = check;
  const { list } = look.value;
  const matches = entriesOf(look.value, subject.address);
  const { named } = others;
  const caveat = directCaveat({ subject, list, listedForms, named, on: null }).join(' ');
  return {
    address,
    listed: matches.length > 0,
    reason: null,
    matches,
    forms,
    listedForms,
    others,
    list,
    caveat: simulated ? SIMULATED_CAVEAT + caveat : caveat,
  };
}

const NO_FORMS: readonly string[] = Object.freeze([]);

function notRecognised(address: string, meant: string | null): Checked {
  const alike = meant === null ? '' : ` The list holds ${meant}: check the letter case.`;
  const reason = `Form not recognised; nothing was checked.${alike}`;
  const nothing = { listedForms: NO_FORMS, others: NOT_ASKED };
  return { address, listed: null, recognised: false, reason, ...nothing };
}

export function jsonOfCheck(result: Checked, simulated: boolean): object {
  const { address, listed, reason } = result;
  const label = simulated ? { simulated } : {};
  const others = {
    other_lists: result.others.shown,
    other_lists_reason: result.others.reason,
  };
  if (result.listed === null) return { address, ...UNCHECKED, reason, ...others, ...label };
  const { matches, forms, list, caveat } = result;
  return {
    address,
    listed,
    reason,
    matches,
    equivalent_forms: forms,
    list: { ...list, as_of: formatTime(list.as_of) },
    ...others,
    caveat,
    ...label,
  };
}

/** The fields of what could not be checked; its `reason` says why. */
export const UNCHECKED = {
  listed: null,
  reason: null,
  matches: null,
  equivalent_forms: null,
  list: null,
  other_lists: null,
  other_lists_reason: null,
  caveat: null,
} as const;

/** The counts of one command's checks. */
export type Tally = {
  addresses: number;
  listed: number;
  formListed: number;
  /** Addresses that, or another form of which, a list of another authority names. */
  elsewhere: number;
  /** Addresses for which a list of another authority could not show that it lacks them. */
  inPart: number;
  /** Addresses of no known form, and others, that were not checked. */
  misformed: number;
  unchecked: number;
  /** Rows of a file that could not be taken as its columns say. */
  unread: number;
  /** Why the rest of a file was not reached; `null` where all of it was. */
  stopped: string | null;
  /** The publications that answered. */
  readonly published: Set<string>;
};

/** Nothing counted yet. */
export function newTally(): Tally {
  const counts = { addresses: 0, listed: 0, formListed: 0, misformed: 0, unchecked: 0, unread: 0 };
  return { ...counts, elsewhere: 0, inPart: 0, stopped: null, published: new Set() };
}

export function countChecked(result: Checked, tally: Tally): void {
  tally.addresses += 1;
  if (result.listedForms.length > 0) tally.formListed += 1;
  if (result.others.listed) tally.elsewhere += 1;
  if (result.listed === null) {
    if (result.recognised) tally.unchecked += 1;
    else tally.misformed += 1;
    return;
  }
  if (result.listed) tally.listed += 1;
  if (result.others.isShort) tally.inPart += 1;
  tally.published.add(result.list.published);
}

/** A listing is no fault of a check, unless its caller says so. */
export function statusOf(tally: Tally, failOnListed: boolean): ExitStatus {
  const { addresses, listed, formListed, elsewhere, stopped } = tally;
  if (failOnListed && listed + formListed + elsewhere > 0) return EXIT.failed;
  const left = tally.misformed + tally.unchecked + tally.inPart + tally.unread;
  return addresses === 0 || left > 0 || stopped !== null ? EXIT.couldNotCheck : EXIT.done;
}

/** The unchecked lists of other authorities, with reasons. */
export function shortfallOf({ others }: Checked): string {
  const { shown, reason } = others;
  if (shown === null) return `lists of other authorities were not checked: ${textOrEmpty(reason)}`;
  const reasons = shown.flatMap((one) => ('reason' in one ? [one.reason] : []));
  return present(reasons).join(' ');
}
