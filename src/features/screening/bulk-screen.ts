// Which of these addresses do the tables held here have on record?
// It reads three tables and nothing else: no chain, no history, no outside source.
// It refuses to say of an address that nothing is held while a table that applies went unread.

import type { EquivalentForm } from '../../chain/equivalent-form.ts';
import { type Claim, claim } from '../../evidence/claim.ts';
import { heldUnder } from '../../evidence/measure.ts';
import {
  both,
  decided,
  map,
  type Partly,
  Read,
  type Reading,
  type Silent,
  seen,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { ExchangeLabels, LabelLookUp } from '../../ports/labels/exchange-labels.ts';
import type { CorpusLookUp, LaunchCorpus } from '../../ports/launches/launches.ts';
import type { ListEntry, ListLookUp, SanctionsList } from '../../ports/sanctions/sanctions-list.ts';
import { leadingLabel } from '../tables/labels.ts';
import { launchAnswer } from '../tables/launches.ts';
import {
  type Misformed,
  misformOf,
  type ScreenKind,
  type Subject,
  subjectOf,
} from './screen-subject.ts';

type ListPort = 'sanctions_list';
type LabelsPort = 'exchange_labels';
type CorpusPort = 'launch_corpus';

/** The tables that a screen reads. */
export type ScreenPorts = {
  readonly sanctionsList: SanctionsList;
  readonly exchangeLabels: ExchangeLabels;
  readonly launchCorpus: LaunchCorpus;
};

/** Another form of the same key or account that stands on the list. */
type ListedForm = EquivalentForm & { listed: true };

/** The entries of one address in the tables that were read. */
export type ScreenResult = {
  address: string;
  kind: ScreenKind;
  state:
    | 'ok'
    | 'not_deployed'
    | Claim<'ok' | 'insufficient_evidence', never, ListPort | LabelsPort>;
  exchange: {
    label: string;
    entity: string;
    role: string;
    confidence: string;
    clusterable: boolean;
  } | null;
  launches: { answer: 'flagged' | 'record'; launches_settled: number; died: number } | null;
  sanctions: {
    listed: Claim<boolean, never, ListPort>;
    /** `null` where the list leaves the programme of an entry open. */
    programs: Claim<string[] | null, never, ListPort>;
    list_published: string;
  } | null;
  /** Those of its other forms that stand on the list; `null` where the list was not read. */
  equivalent_forms: Claim<ListedForm[], null, ListPort>;
  checked: {
    exchange_table: Claim<true, false, LabelsPort>;
    launch_corpus: Claim<true, false, CorpusPort> | null;
    sanctions_list: Claim<true, false, ListPort>;
  };
  reason?: string;
};

/** How many of the results are in each state. */
type ScreenCounts = { ok: number; insufficient_evidence: number; not_deployed: number };

type AnyRead = Read<unknown, never>;

/** A screen: refused, answered by no table, or answered. */
export type Screen =
  | { readonly outcome: 'misformed'; readonly misformed: readonly Misformed[] }
  | { readonly outcome: 'silent'; readonly silent: Silent<never>; readonly why: Why }
  | {
      readonly outcome: 'screened';
      readonly results: ScreenResult[];
      readonly counts: ScreenCounts;
      /** The sentence about the list's age; `null` where no list was read. */
      readonly ageNotes: readonly string[] | null;
      readonly rests: readonly [AnyRead, ...AnyRead[]];
    };

type Readings = {
  readonly list: Partly<ListLookUp, ListPort>;
  readonly labels: Reading<LabelLookUp, LabelsPort>;
  /** `null` where no address of the screen can be a launcher's. */
  readonly corpus: Reading<CorpusLookUp, CorpusPort> | null;
};

/** Screens every address in the order given, duplicates included. Nothing is trimmed. */
export async function bulkScreen(
  addresses: readonly string[],
  ports: ScreenPorts,
): Promise<Screen> {
  const subjects = addresses.map(subjectOf);
  const keys: string[] = [];
  const spellings: string[] = [];
  const wallets: string[] = [];
  for (const subject of subjects) {
    if (subject === null) continue;
    keys.push(subject.address);
    spellings.push(subject.address);
    for (const { address } of subject.forms) spellings.push(address);
    if (subject.kind === 'solana') wallets.push(subject.address);
  }
  const [list, labels, corpus] = await Promise.all([
    ports.sanctionsList.lookUp(spellings),
    ports.exchangeLabels.lookUp(keys),
    wallets.length === 0 ? null : ports.launchCorpus.lookUp(wallets),
  ]);
  const known: Subject[] = [];
  const misformed: Misformed[] = [];
  for (const [index, subject] of subjects.entries()) {
    const code = misformOf(addresses[index], subject, list);
    if (code !== null) misformed.push({ index, code });
    else if (subject !== null) known.push(subject);
  }
  if (misformed.length > 0) return { outcome: 'misformed', misformed };
  return screenOf(known, { list, labels, corpus });
}

function screenOf(subjects: readonly Subject[], readings: Readings): Screen {
  const launchers = applying(subjects.filter(isLauncher), readings, readings.corpus);
  const others = applying(subjects.filter(isNoLauncher), readings, null);
  const results: ScreenResult[] = [];
  const counts = { ok: 0, insufficient_evidence: 0, not_deployed: 0 };
  let list: Read<ListLookUp, ListPort> | null = null;
  for (const subject of subjects) {
    const tables = isLauncher(subject) ? launchers : others;
    const onList = decided(readings.list, (look) => look.found.has(subject.address));
    const formsOnList = decided(readings.list, (look) => listedForms(look, subject).length > 0);
    if (onList instanceof Read) list = onList;
    else if (formsOnList instanceof Read) list = formsOnList;
    const result = resultOf(subject, onList, formsOnList, tables);
    results.push(result);
    counts[typeof result.state === 'string' ? result.state : result.state.shown] += 1;
  }
  const read = [list, readings.labels, readings.corpus].filter((one) => one instanceof Read);
  const [first, ...more] = read;
  if (first === undefined) return silence(readings);
  const ageNotes = list === null ? null : list.value.list.age_notes;
  return { outcome: 'screened', results, counts, ageNotes, rests: [first, ...more] };
}

const isLauncher = ({ kind }: Subject): boolean => kind === 'solana';
const isNoLauncher = (subject: Subject): boolean => !isLauncher(subject);

function silence(readings: Readings): Screen {
  const { list, labels, corpus } = readings;
  const silent = [list, labels, corpus].find((one) => one !== null && !(one instanceof Read));
  if (silent === undefined || silent === null || silent instanceof Read) {
    throw new Error('bulk screen: a table that was read stands behind no result');
  }
  const reason = why('no_table_read', { tables: silentTables(readings) });
  return { outcome: 'silent', silent, why: reason };
}

/**
 * The tables that apply to one kind of address, and what all of that kind share. Whom a table
 * lacks is told of all of them at once: a claim for each of hundreds costs more than to look.
 */
type Applying = {
  readonly labels: Readings['labels'];
  readonly corpus: Readings['corpus'];
  readonly whole: Partly<Tables, ListPort | LabelsPort>;
  readonly checked: ScreenResult['checked'];
  /** The state of those that no table was found to hold. */
  readonly absent: ScreenResult['state'];
  /** The state of those that a list read to its end does not hold. */
  readonly unlisted: ScreenResult['sanctions'];
  /** What is said of those of which no other form was found on the list. */
  readonly formsUnlisted: ScreenResult['equivalent_forms'];
  /** Why nothing is said of an address that no table was found to hold. */
  readonly reason: string;
};

type Tables = {
  readonly list: ListLookUp;
  readonly labels: LabelLookUp;
  readonly corpus?: CorpusLookUp;
};

function applying(
  subjects: readonly Subject[],
  readings: Readings,
  corpus: Readings['corpus'],
): Applying {
  const { list, labels } = readings;
  const whole = corpus === null ? both({ list, labels }) : both({ list, labels, corpus });
  return {
    labels,
    corpus,
    whole,
    checked: {
      exchange_table: claim(labels, wasRead, wasNot),
      launch_corpus: corpus === null ? null : claim(corpus, wasRead, wasNot),
      sanctions_list: claim(list, wasRead, wasNot),
    },
    absent: absence(whole, subjects),
    unlisted: list instanceof Read ? unlisted(list, subjects) : null,
    formsUnlisted: formsUnlisted(list, subjects),
    reason:
      whole instanceof Read
        ? why('no_record_held', { tables: tableNames(corpus) }).reason
        : why('tables_unread', { tables: silentTables({ list, labels, corpus }) }).reason,
  };
}

const wasRead = (): true => true;
const wasNot = (): false => false;

const LIST_NAME = 'the sanctions list';
const LABELS_NAME = 'the exchange-wallet table';
const CORPUS_NAME = 'the Solana launch corpus';

function tableNames(corpus: Readings['corpus']): string {
  const names = [LIST_NAME, LABELS_NAME];
  if (corpus !== null) names.push(CORPUS_NAME);
  return names.join(', ');
}

/** The tables that gave no whole answer, each with its reason. */
function silentTables(readings: Readings): string {
  const named = [
    [LIST_NAME, readings.list],
    [LABELS_NAME, readings.labels],
    [CORPUS_NAME, readings.corpus],
  ] as const;
  const silent: string[] = [];
  for (const [name, reading] of named) {
    if (reading === null || reading instanceof Read) continue;
    silent.push(`${name} (${reading.why.reason.replace(/\.$/, '')})`);
  }
  return silent.join(', ');
}

function resultOf(
  subject: Subject,
  list: Reading<ListLookUp, ListPort>,
  forms: Reading<ListLookUp, ListPort>,
  tables: Applying,
): ScreenResult {
  const { address, kind } = subject;
  const { labels, corpus, whole } = tables;
  const listed = list instanceof Read && list.value.found.has(address);
  const formListed = forms instanceof Read && listedForms(forms.value, subject).length > 0;
  const exchange = labels instanceof Read ? exchangeOf(labels.value, address) : null;
  const launches = corpus instanceof Read ? launchesOf(corpus.value, address) : null;
  const held = listed || formListed || exchange !== null || launches !== null;
  const result: ScreenResult = {
    address,
    kind,
    state: held ? 'ok' : tables.absent,
    exchange,
    launches,
    sanctions: listed ? listedAs(list, address) : tables.unlisted,
    equivalent_forms: formListed
      ? claim(forms, (look) => listedForms(look, subject))
      : tables.formsUnlisted,
    // A list past its age is read for those it holds and unread for the rest.
    checked: listed && !(whole instanceof Read) ? withList(tables.checked, list) : tables.checked,
  };
  if (!held) result.reason = tables.reason;
  return result;
}

function withList(
  checked: ScreenResult['checked'],
  list: Reading<ListLookUp, ListPort>,
): ScreenResult['checked'] {
  return { ...checked, sanctions_list: claim(list, wasRead, wasNot) };
}

/**
 * What is said of those whom no table holds. They are looked for again, all together, and were one
 * of them held after all, it would be said of none that nothing is.
 */
function absence(whole: Applying['whole'], subjects: readonly Subject[]): ScreenResult['state'] {
  if (!(whole instanceof Read)) return 'not_deployed';
  const { value } = whole;
  const missing = subjects.filter((subject) => !holds(value, subject));
  return claim(whole, (tables) =>
    missing.some((subject) => holds(tables, subject)) ? 'ok' : 'insufficient_evidence',
  );
}

/** The same of the list alone: their rows, all together, are none. */
function unlisted(
  list: Read<ListLookUp, ListPort>,
  subjects: readonly Subject[],
): NonNullable<ScreenResult['sanctions']> {
  const { found } = list.value;
  const missing = subjects.filter(({ address }) => !found.has(address));
  const rowsIn = (look: ListLookUp) =>
    missing.flatMap(({ address }) => heldUnder(look.found, address));
  return {
    listed: claim(list, (look) => missing.some(({ address }) => look.found.has(address))),
    programs: claim(list, (look) => programsOf(rowsIn(look))),
    list_published: list.value.list.published,
  };
}

/** The same of their other forms. */
function formsUnlisted(
  list: Readings['list'],
  subjects: readonly Subject[],
): ScreenResult['equivalent_forms'] {
  const sight = seen(map(list, (look) => [look]));
  const missing =
    sight === null ? [] : subjects.filter((one) => listedForms(sight[0], one).length === 0);
  return claim(list, (look) => missing.flatMap((one) => listedForms(look, one)), notLooked);
}

const notLooked = (): null => null;

function listedForms({ found }: ListLookUp, { forms }: Subject): ListedForm[] {
  return forms
    .filter(({ address }) => found.has(address))
    .map(({ form, address, relation }) => ({ form, address, relation, listed: true }));
}

function holds(tables: Tables, subject: Subject): boolean {
  const { address } = subject;
  return (
    tables.list.found.has(address) ||
    listedForms(tables.list, subject).length > 0 ||
    tables.labels.found.has(address) ||
    tables.corpus?.found.has(address) === true
  );
}

function exchangeOf(look: LabelLookUp, address: string): ScreenResult['exchange'] {
  const leading = leadingLabel(heldUnder(look.found, address));
  if (leading === null) return null;
  const { label, entity, role, confidence, clusterable } = leading;
  return { label, entity, role, confidence, clusterable };
}

function launchesOf(look: CorpusLookUp, address: string): ScreenResult['launches'] {
  const count = look.found.get(address);
  if (count === undefined) return null;
  const { launches_settled, died } = count;
  return { answer: launchAnswer(count), launches_settled, died };
}

function listedAs(
  list: Read<ListLookUp, ListPort>,
  address: string,
): NonNullable<ScreenResult['sanctions']> {
  return {
    listed: claim(list, (look) => look.found.has(address)),
    programs: claim(list, (look) => programsOf(heldUnder(look.found, address))),
    list_published: list.value.list.published,
  };
}

function programsOf(entries: readonly ListEntry[]): string[] | null {
  const programmes = new Set<string>();
  for (const { programs } of entries) {
    if (programs === null) return null;
    for (const programme of programs) programmes.add(programme);
  }
  return [...programmes];
}
