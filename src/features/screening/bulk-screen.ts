// The screen of many addresses reads four tables and nothing else: no chain, no history, no outside
// source. It does not say of an address that nothing is held while a table that applies is unread.
// A reading is a `Read`, a `Part` or `Unread`, and `decide` takes a part for read where what it
// shows already passes a test (evidence/reading.ts). A list of another authority whose file had
// rows refused is a part (`readingOfList` of tables/import-rows.ts).

import {
  describeMisform,
  type EquivalentForm,
  type Holders,
  type KnownAddress,
  matchKey,
  NO_OTHER_FORM,
  otherForms,
  parseWithHolder,
} from '../../chain/address.ts';
import { formatIsoDate } from '../../chain/time.ts';
import { claim, claimWhole } from '../../evidence/claim.ts';
import { present, rowsUnder } from '../../evidence/measure.ts';
import {
  both,
  decide,
  type Partly,
  Read,
  type Reading,
  type Silent,
  Unread,
  unread,
} from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { CorpusLookUp, LaunchCorpus, LaunchCorpusPort } from '../../ports/launches.ts';
import type {
  ListEntry,
  ListLookUp,
  SanctionsList,
  SanctionsListPort,
} from '../../ports/sanctions.ts';
import {
  type ExchangeLabels,
  type ExchangeLabelsPort,
  type FormsAmong,
  type LabelLookUp,
  type OtherList,
  type OtherListEntry,
  type OtherLists,
  type OtherListsLookUp,
  type OtherListsPort,
  standsOn,
} from '../../ports/tables.ts';
import { readingOfList, readingOfLists } from '../tables/import-rows.ts';
import { leadingLabel } from '../tables/labels.ts';
import { launchAnswer } from '../tables/launches.ts';
import type {
  ListedForm,
  ListingElsewhere,
  ScreenResult,
  StateCounts,
  TableName,
  UnreadTable,
} from './shapes.ts';

/** The tables that a screen reads. */
export type ScreenPorts = {
  readonly sanctionsList: SanctionsList;
  readonly exchangeLabels: ExchangeLabels;
  readonly launchCorpus: LaunchCorpus;
  readonly otherLists: OtherLists;
};

type AnyRead = Read<unknown, never>;

/** A screen: refused, answered by no table, or answered. */
export type Screen =
  | { readonly outcome: 'misformed'; readonly misformed: readonly Misformed[] }
  | { readonly outcome: 'silent'; readonly silent: Silent<never>; readonly why: Why }
  | {
      readonly outcome: 'screened';
      readonly results: ScreenResult[];
      readonly counts: StateCounts;
      /** The tables that were not read to their end; `null` where each was. */
      readonly unread: UnreadTable[] | null;
      /** The sentence about the list's age; `null` where no list was read. */
      readonly ageNotes: readonly string[] | null;
      /** The lists of other authorities; `null` where none was read. */
      readonly otherNames: readonly string[] | null;
      readonly rests: readonly [AnyRead, ...AnyRead[]];
    };

/** `null` where a table was not asked about, or no address of the screen can stand in it. */
type Readings = {
  readonly list: Partly<ListLookUp, SanctionsListPort> | null;
  readonly labels: Reading<LabelLookUp, ExchangeLabelsPort> | null;
  readonly corpus: Partly<CorpusLookUp, LaunchCorpusPort> | null;
  readonly others: OtherListsRead;
  /** Other lists that were never imported, and that the caller did not name. */
  readonly unheld: OtherListsRead;
  /** `others` as far as it may show an absence. */
  readonly othersWhole: Partly<OtherListsLookUp, OtherListsPort> | null;
};

type ScreenTime = { readonly now: number; readonly tables?: readonly TableName[] | undefined };

/**
 * Screens every address in the order given, duplicates included, in all tables or in those that
 * are named. Nothing is trimmed.
 */
export async function bulkScreen(
  addresses: readonly string[],
  ports: ScreenPorts,
  { now, tables }: ScreenTime,
): Promise<Screen> {
  const isAsked = (table: TableName) => tables === undefined || tables.includes(table);
  const texts = addresses.map(parseText);
  const labelled: string[] = [];
  const wallets: string[] = [];
  for (const text of texts) {
    if (text === null) continue;
    if (canHold('exchange_table', text)) labelled.push(text.address);
    if (canHold('launch_corpus', text)) wallets.push(text.address);
  }
  const [{ subjects, list, others: asked }, labels, corpus] = await Promise.all([
    lookUpForms(texts, ports, isAsked),
    labelled.length > 0 && isAsked('exchange_table') ? ports.exchangeLabels.lookUp(labelled) : null,
    wallets.length > 0 && isAsked('launch_corpus') ? ports.launchCorpus.lookUp(wallets) : null,
  ]);
  const isUnheld = tables === undefined && isNeverImported(asked);
  const others = isUnheld ? null : asked;
  const othersWhole = others === null ? null : readingOfLists(others);
  const known: Subject[] = [];
  const misformed: Misformed[] = [];
  for (let index = 0; index < subjects.length; index++) {
    const subject = subjects[index] ?? null;
    const code = misformOf(addresses[index], subject, { list, others: othersWhole });
    if (code !== null) misformed.push({ index, code });
    else if (subject !== null) known.push(subject);
  }
  if (misformed.length > 0) return { outcome: 'misformed', misformed };
  const unheld = isUnheld ? asked : null;
  const readings = { list, labels, corpus, others, unheld, othersWhole };
  return screenOf(known, readings, formatIsoDate(now));
}

type FormsRead = Pick<Readings, 'list' | 'others'> & {
  readonly subjects: readonly (Subject | null)[];
};

/**
 * Looks the addresses up in the lists, and of their other forms those that a list may hold: only
 * they are made. A list that tells its holders asks for those forms, and looks them up too; one
 * that does not is asked again, for all of them.
 */
async function lookUpForms(
  texts: readonly (Text | null)[],
  ports: Pick<ScreenPorts, 'sanctionsList' | 'otherLists'>,
  isAsked: (table: TableName) => boolean,
): Promise<FormsRead> {
  const spellings: string[] = [];
  for (const text of texts) if (text !== null) spellings.push(text.address);
  const forms = new Map<Text, readonly EquivalentForm[]>();
  const formsOf = (holders: Holders | null): string[] => {
    const made: string[] = [];
    for (const text of texts) {
      if (text === null || text.known === null || !mayHold(holders, text)) continue;
      const known = forms.get(text);
      const own = known === undefined ? otherForms(text.known) : known;
      forms.set(text, own);
      for (const { address } of own) made.push(address);
    }
    return made;
  };
  const lookUp = async <R extends Partly<unknown, never>>(
    ask: (addresses: readonly string[], formsAmong?: FormsAmong) => Promise<R>,
  ): Promise<R> => {
    let isTaken = false;
    const reading = await ask(spellings, (holders) => {
      isTaken = true;
      return formsOf(holders);
    });
    if (isTaken || reading instanceof Unread) return reading;
    const others = formsOf(null);
    return others.length === 0 ? reading : ask([...spellings, ...others]);
  };
  const { sanctionsList, otherLists } = ports;
  const [list, others] = await Promise.all([
    isAsked('sanctions_list') ? lookUp(sanctionsList.lookUp) : null,
    isAsked('other_lists') ? lookUp(otherLists.lookUp) : null,
  ]);
  const subjects = texts.map((text): Subject | null => {
    const own = text === null ? undefined : forms.get(text);
    return text === null || own === undefined ? text : { ...text, forms: own };
  });
  return { subjects, list, others };
}

/**
 * Whether a list with these holders may hold another form of an address. All forms of an address
 * have one holder (chain/address.ts); a list says which of its texts has it, or `null` for several.
 */
function mayHold(holders: Holders | null, { holder, address }: Text): boolean {
  if (holder === NO_OTHER_FORM) return false;
  if (holders === null || holder === null) return true;
  const only = holders.get(holder);
  return only !== undefined && only !== address;
}

function screenOf(subjects: readonly Subject[], readings: Readings, today: string): Screen {
  const groups = new Map<ScreenKind, Applying>();
  const tablesOf = (kind: ScreenKind) => {
    const known = groups.get(kind);
    if (known !== undefined) return known;
    const alike = subjects.filter((one) => one.kind === kind);
    const applied = applying(kind, alike, readings, today);
    groups.set(kind, applied);
    return applied;
  };
  const results: ScreenResult[] = [];
  const counts = { ok: 0, insufficient_evidence: 0, not_deployed: 0 };
  let list: Read<ListLookUp, SanctionsListPort> | null = null;
  let corpus: Read<CorpusLookUp, LaunchCorpusPort> | null = null;
  for (const subject of subjects) {
    const tables = tablesOf(subject.kind);
    const onList = onListAs(readings.list, (look) => look.found.has(subject.address));
    const formsOnList = onListAs(readings.list, (look) => isFormListed(look, subject));
    if (onList instanceof Read) list = onList;
    else if (formsOnList instanceof Read) list = formsOnList;
    const onCorpus =
      tables.corpus === null
        ? null
        : decide(tables.corpus, ({ found }) => {
            const count = found.get(subject.address);
            return count !== undefined && count.died > 0;
          });
    if (onCorpus instanceof Read) corpus = onCorpus;
    const own = onCorpus === tables.corpus ? tables : { ...tables, corpus: onCorpus };
    const result = resultOf(subject, onList, formsOnList, own);
    results.push(result);
    counts[typeof result.state === 'string' ? result.state : result.state.shown] += 1;
  }
  const { labels, others } = readings;
  const read = [list, labels, corpus, others].filter((one) => one instanceof Read);
  const [first, ...more] = read;
  if (first === undefined) return silence(readings);
  const ageNotes = list === null ? null : list.value.list.age_notes;
  const otherNames = others instanceof Read ? others.value.lists.map(({ name }) => name) : null;
  const unread = unreadTables(readings);
  const rests = [first, ...more] as const;
  return { outcome: 'screened', results, counts, unread, ageNotes, otherNames, rests };
}

function onListAs(
  list: Readings['list'],
  test: (look: ListLookUp) => boolean,
): Reading<ListLookUp, SanctionsListPort> | null {
  return list === null || list instanceof Read ? list : decide(list, test);
}

/** Whether a table can hold an address of a form: a label has a chain that is served here. */
function canHold(table: TableName, { kind }: Pick<Subject, 'kind'>): boolean {
  if (table === 'launch_corpus') return kind === 'solana';
  return table !== 'exchange_table' || kind !== 'other';
}

/** What is left of the readings where they are about one kind of address. */
function readingsFor(kind: ScreenKind, readings: Readings): Readings {
  const labels = canHold('exchange_table', { kind }) ? readings.labels : null;
  const corpus = canHold('launch_corpus', { kind }) ? readings.corpus : null;
  return { ...readings, labels, corpus };
}

function whyUnasked(kind: ScreenKind, readings: Readings): ScreenResult['unasked'] {
  const { list, labels, corpus, unheld, others } = readings;
  const whyNot = (table: TableName, reading: object | null) => {
    if (!canHold(table, { kind })) return 'does_not_apply';
    return reading === null ? 'not_asked' : null;
  };
  return {
    exchange_table: whyNot('exchange_table', labels),
    launch_corpus: whyNot('launch_corpus', corpus),
    other_lists: whyNot('other_lists', unheld === null ? others : unheld),
    sanctions_list: whyNot('sanctions_list', list),
  };
}

function silence(readings: Readings): Screen {
  const { list, labels, corpus, others } = readings;
  const silent = [list, labels, corpus, others].find(
    (one) => one !== null && !(one instanceof Read),
  );
  if (silent === undefined || silent === null || silent instanceof Read) {
    // Of a table for one kind of address nobody asks about another.
    const none = why('no_table_applies');
    return {
      outcome: 'silent',
      silent: unread<LaunchCorpusPort>('launch_corpus', none),
      why: none,
    };
  }
  const reason = why('no_table_read', { tables: silentTables(readings) });
  return { outcome: 'silent', silent, why: reason };
}

/**
 * The tables that apply to one kind of address, and what all of that kind share. Whom a table
 * lacks is told of all of them at once: a claim for each of hundreds costs more than to look.
 */
type Applying = Omit<Readings, 'list' | 'othersWhole' | 'unheld'> & {
  /** An ISO 8601 day. */
  readonly today: string;
  /** Whether each of them was read to its end. */
  readonly isWhole: boolean;
  readonly checked: ScreenResult['checked'];
  readonly unasked: ScreenResult['unasked'];
  /** The state of those that no table was found to hold. */
  readonly absent: ScreenResult['state'];
  /** The state of those that a list read to its end does not hold. */
  readonly unlisted: ScreenResult['sanctions'];
  /** The fields of addresses without another form on the list. */
  readonly formsUnlisted: ScreenResult['equivalent_forms'];
  /** The other lists' fields of addresses that none of them names. */
  readonly unnamed: ScreenResult['other_lists'];
  /** Why nothing is said of an address that no table was found to hold. */
  readonly reason: string;
};

type Tables = {
  readonly list: ListLookUp | null;
  readonly labels: LabelLookUp | null;
  readonly corpus: CorpusLookUp | null;
  readonly others: OtherListsLookUp | null;
};

function applying(
  kind: ScreenKind,
  subjects: readonly Subject[],
  readings: Readings,
  today: string,
): Applying {
  const applied = readingsFor(kind, readings);
  const { list, labels, corpus, others, unheld, othersWhole } = applied;
  const othersAsked = unheld === null ? othersWhole : unheld;
  const isWhole = silentTables(applied) === '';
  return {
    labels,
    corpus,
    others,
    today,
    isWhole,
    checked: {
      exchange_table: labels === null ? null : claimWhole(labels),
      launch_corpus: corpus === null ? null : claimWhole(corpus),
      other_lists: othersAsked === null ? null : claimWhole(othersAsked),
      sanctions_list: list === null ? null : claimWhole(list),
    },
    unasked: whyUnasked(kind, readings),
    absent: isWhole ? absence(applied, subjects) : 'not_deployed',
    unlisted: list instanceof Read ? missFrom(list, subjects) : null,
    formsUnlisted: list instanceof Read ? formsUnlisted(list, subjects) : null,
    unnamed: others instanceof Read ? listingsOfUnnamed(others, subjects, today) : null,
    reason: reasonOf(applied, isWhole),
  };
}

function reasonOf(readings: Readings, isWhole: boolean): string {
  const asked = namedTables(readings).filter(([, reading]) => reading !== null);
  const tables: string = asked.map(([name]) => name).join(', ');
  if (tables === '') return why('no_table_applies').reason;
  if (isWhole) return why('no_record_held', { tables }).reason;
  return why('tables_unread', { tables: silentTables(readings) }).reason;
}

function unreadTables({
  list,
  labels,
  corpus,
  unheld,
  othersWhole,
}: Readings): UnreadTable[] | null {
  const asked = [
    ['sanctions_list', list],
    ['exchange_table', labels],
    ['launch_corpus', corpus],
    ['other_lists', unheld === null ? othersWhole : unheld],
  ] as const;
  const unread = asked.flatMap(([table, reading]): UnreadTable[] => {
    return reading === null || reading instanceof Read ? [] : [{ table, ...reading.why }];
  });
  return unread.length === 0 ? null : unread;
}

const LIST_NAME = 'the sanctions list';
const LABELS_NAME = 'the exchange-wallet table';
const CORPUS_NAME = 'the Solana launch corpus';
const OTHERS_NAME = 'the lists of other authorities';

function namedTables({ list, labels, corpus, othersWhole }: Readings) {
  return [
    [LIST_NAME, list],
    [LABELS_NAME, labels],
    [CORPUS_NAME, corpus],
    [OTHERS_NAME, othersWhole],
  ] as const;
}

function silentTables(readings: Readings): string {
  const silent: string[] = [];
  for (const [name, reading] of namedTables(readings)) {
    if (reading === null || reading instanceof Read) continue;
    silent.push(`${name} (${reading.why.reason.replace(/\.$/, '')})`);
  }
  return silent.join(', ');
}

function resultOf(
  subject: Subject,
  list: Reading<ListLookUp, SanctionsListPort> | null,
  forms: Reading<ListLookUp, SanctionsListPort> | null,
  tables: Applying,
): ScreenResult {
  const { address, kind } = subject;
  const { labels, corpus, others } = tables;
  const listed = list instanceof Read && list.value.found.has(address);
  const formListed = forms instanceof Read && isFormListed(forms.value, subject);
  const exchange = labels instanceof Read ? exchangeOf(labels.value, address) : null;
  const launches = corpus instanceof Read ? launchesOf(corpus.value, address) : null;
  const elsewhere = others instanceof Read && isOnOthers(others.value, subject);
  const held = listed || formListed || elsewhere || exchange !== null || launches !== null;
  const result: ScreenResult = {
    address,
    kind,
    state: held ? 'ok' : tables.absent,
    exchange,
    launches,
    sanctions: listed ? listingFrom(list, address) : tables.unlisted,
    equivalent_forms: formListed
      ? claim(forms, (look) => listedForms(look, subject))
      : tables.formsUnlisted,
    other_lists: elsewhere ? listingsElsewhere(others, [subject], tables.today) : tables.unnamed,
    // A list past its age is read for those it holds and unread for the rest.
    checked:
      listed && !tables.isWhole
        ? { ...tables.checked, sanctions_list: claimWhole(list) }
        : tables.checked,
    unasked: tables.unasked,
  };
  if (!held) result.reason = tables.reason;
  return result;
}

/**
 * The state of addresses that no complete table holds. They are looked up again, all together; if
 * one of them were held after all, none of them would be denied.
 */
function absence(readings: Readings, subjects: readonly Subject[]): ScreenResult['state'] {
  const { list, labels, corpus, others } = readings;
  const tables = {
    list: valueRead(list),
    labels: valueRead(labels),
    corpus: valueRead(corpus),
    others: valueRead(others),
  };
  const missing = subjects.filter((subject) => !holds(tables, subject));
  const stateOf = (looks: Partial<Tables>) =>
    missing.some((subject) => holds({ ...tables, ...looks }, subject))
      ? 'ok'
      : 'insufficient_evidence';
  if (list instanceof Read && labels instanceof Read) {
    if (others instanceof Read) return claim(both({ list, labels, others }), stateOf, unsaid);
    return claim(both({ list, labels }), stateOf, unsaid);
  }
  if (list instanceof Read) return claim(list, (look) => stateOf({ list: look }));
  if (labels instanceof Read) return claim(labels, (look) => stateOf({ labels: look }));
  if (corpus instanceof Read) return claim(corpus, (look) => stateOf({ corpus: look }));
  if (others instanceof Read) return claim(others, (look) => stateOf({ others: look }));
  return 'not_deployed';
}

const unsaid = () => 'not_deployed' as const;

function valueRead<T>(reading: Partly<T, never> | null): T | null {
  return reading instanceof Read ? reading.value : null;
}

function holds(tables: Tables, subject: Subject): boolean {
  const { address } = subject;
  const { list, labels, corpus, others } = tables;
  return (
    (list !== null && (list.found.has(address) || isFormListed(list, subject))) ||
    labels?.found.has(address) === true ||
    corpus?.found.has(address) === true ||
    (others !== null && isOnOthers(others, subject))
  );
}

// One statement covers all missing addresses: their rows, together, are none.

/** The fields of addresses that the list does not hold. */
export function missFrom(
  list: Read<ListLookUp, SanctionsListPort>,
  subjects: readonly Subject[],
): NonNullable<ScreenResult['sanctions']> {
  const { found } = list.value;
  const missing = subjects.filter(({ address }) => !found.has(address));
  const rowsIn = (look: ListLookUp) => {
    const rows: ListEntry[] = [];
    for (const { address } of missing) rows.push(...rowsUnder(look.found, address));
    return rows;
  };
  return {
    listed: claim(list, (look) => missing.some(({ address }) => look.found.has(address))),
    programs: claim(list, (look) => programsOf(rowsIn(look))),
    ...entriesNamed([]),
    ...publication(list.value),
  };
}

/** The same of their other forms. */
export function formsUnlisted(
  list: Read<ListLookUp, SanctionsListPort>,
  subjects: readonly Subject[],
): NonNullable<ScreenResult['equivalent_forms']> {
  const missing = subjects.filter((one) => !isFormListed(list.value, one));
  return claim(list, (look) => listedFormsOf(look, missing));
}

function isFormListed({ found }: ListLookUp, { forms }: Subject): boolean {
  return forms.length > 0 && forms.some(({ address }) => found.has(address));
}

/** The forms of an address that the list holds. */
export function listedForms({ found }: ListLookUp, { forms }: Subject): ListedForm[] {
  return forms
    .filter(({ address }) => found.has(address))
    .map(({ form, address, relation }) => ({ form, address, relation, listed: true }));
}

function listedFormsOf(look: ListLookUp, subjects: readonly Subject[]): ListedForm[] {
  const withForms = subjects.filter(({ forms }) => forms.length > 0);
  return withForms.flatMap((one) => listedForms(look, one));
}

/** The fields of an address that the list holds. */
export function listingFrom(
  list: Read<ListLookUp, SanctionsListPort>,
  address: string,
): NonNullable<ScreenResult['sanctions']> {
  return {
    listed: claim(list, (look) => look.found.has(address)),
    programs: claim(list, (look) => programsOf(rowsUnder(look.found, address))),
    ...entriesNamed(rowsUnder(list.value.found, address)),
    ...publication(list.value),
  };
}

function entriesNamed(entries: readonly ListEntry[]) {
  const entities = present(entries.map(({ entity }) => entity));
  return {
    entity: entities.length === 0 ? null : [...new Set(entities)].join('; '),
    uids: [...new Set(entries.map(({ uid }) => uid))],
  };
}

function publication({ list }: ListLookUp) {
  return { list_published: list.published, list_sha256: list.sha256 };
}

// The lists of other authorities, none of which is the SDN list. Lists that were never imported are
// not checked, and keep a miss of the tables that were read from being an answer only for callers
// who named them.

/** The reading of the other lists; `null` if nobody asked for them. */
type OtherListsRead = Reading<OtherListsLookUp, OtherListsPort> | null;

function isNeverImported(reading: OtherListsRead): boolean {
  return reading !== null && !reading.checked && reading.why.code === 'table_never_imported';
}

/** Whether a list has an entry of a subject or of another form of it, one that ended included. */
export function isOnOthers(look: OtherListsLookUp, { address, forms }: Subject): boolean {
  const { found } = look;
  if (found.size === 0) return false;
  return found.has(address) || forms.some((one) => found.has(one.address));
}

/**
 * The answers of each list about some subjects together, `today` being an ISO 8601 day: about one
 * that a list names, or about all that none names.
 */
export function listingsElsewhere(
  read: Read<OtherListsLookUp, OtherListsPort>,
  subjects: readonly Subject[],
  today: string,
): ListingElsewhere[] {
  const spellings: string[] = [];
  for (const { address, forms } of subjects) {
    spellings.push(address);
    for (const one of forms) spellings.push(one.address);
  }
  return read.value.lists.map((list): ListingElsewhere => {
    const { name, as_of, dated_by } = list;
    const whole = readingOfList(read, list);
    const named = entriesIn(read.value, list, spellings).find(({ entity }) => entity !== null);
    const stands = (look: OtherListsLookUp, address: string) =>
      entriesIn(look, list, [address]).some((entry) => standsOn(entry, today));
    const hasEnded = (look: OtherListsLookUp) =>
      entriesIn(look, list, spellings).some((entry) => !standsOn(entry, today));
    const isListed = (look: OtherListsLookUp) =>
      subjects.some(({ address }) => stands(look, address));
    const formsListed = (look: OtherListsLookUp) =>
      subjects.flatMap(({ forms }) =>
        forms
          .filter(({ address }) => stands(look, address))
          .map((one): ListedForm => ({ ...one, listed: true })),
      );
    return {
      list: name,
      listed: claim(decide(whole, isListed), isListed, unknown),
      entity: named === undefined ? null : named.entity,
      equivalent_forms: claim(
        decide(whole, (look) => formsListed(look).length > 0),
        formsListed,
        unknown,
      ),
      ended: claim(decide(whole, hasEnded), hasEnded, unknown),
      as_of,
      dated_by,
      reason: whole instanceof Read ? null : whole.why.reason,
    };
  });
}

const unknown = (): null => null;

/** The answers of the lists about subjects that none of them names, all together. */
export function listingsOfUnnamed(
  others: Read<OtherListsLookUp, OtherListsPort>,
  subjects: readonly Subject[],
  today: string,
): ListingElsewhere[] {
  const unnamed = subjects.filter((one) => !isOnOthers(others.value, one));
  return listingsElsewhere(others, unnamed, today);
}

function entriesIn(
  { found }: OtherListsLookUp,
  { name }: OtherList,
  addresses: readonly string[],
): OtherListEntry[] {
  const entries: OtherListEntry[] = [];
  for (const address of addresses) {
    for (const entry of rowsUnder(found, address)) if (entry.source === name) entries.push(entry);
  }
  return entries;
}

// The fields of one address of a bulk screen, each from the readings that may support it.

/** The exchange of an address's leading label. */
export function exchangeOf(look: LabelLookUp, address: string): ScreenResult['exchange'] {
  const leading = leadingLabel(rowsUnder(look.found, address));
  if (leading === null) return null;
  const { label, entity, role, confidence, clusterable } = leading;
  return { label, entity, role, confidence, clusterable };
}

/** The outcomes of an address's launches. */
export function launchesOf(look: CorpusLookUp, address: string): ScreenResult['launches'] {
  const count = look.found.get(address);
  if (count === undefined) return null;
  const { launches_settled, died } = count;
  return { answer: launchAnswer(count), launches_settled, died };
}

/** The programmes of entries; `null` where the list leaves that of one open. */
export function programsOf(entries: readonly ListEntry[]): string[] | null {
  const programmes = new Set<string>();
  for (const { programs } of entries) {
    if (programs === null) return null;
    for (const programme of programs) programmes.add(programme);
  }
  return [...programmes];
}

// Parses one text of a bulk screen. A text is not called malformed while the list, which might hold
// it, is unread.

/** The kind of one address asked about; `other` is of a chain that only the list can know. */
export type ScreenKind = KnownAddress['kind'];

/** One address asked about. */
export type Subject = {
  readonly address: string;
  readonly kind: ScreenKind;
  /** Whether its own form says that it is an address, whether or not the list holds it. */
  readonly recognised: boolean;
  /** Its other forms that a list may hold, but for those that compare as it does. */
  readonly forms: readonly EquivalentForm[];
};

type MisformCode = 'form_not_recognised' | 'solana_letter_case';

/** An address that cannot be screened: where it stood in the request, and why. */
export type Misformed = { readonly index: number; readonly code: MisformCode };

/** The longest text that may stand on a list without being an address of a known form. */
const LITERAL_CHARS_MAX = 128;
const CODE_FIRST_PRINTABLE = 33;
const CODE_LAST_PRINTABLE = 126;

/** A text that was asked about, with its holder, before its other forms were made. */
type Text = Subject & { readonly known: KnownAddress | null; readonly holder: string | null };

/** An address of a known form, or a text that might stand literally on the list. */
function parseText(text: string): Text | null {
  const held = parseWithHolder(text);
  if (held !== null) {
    const { known, holder } = held;
    const { kind, address } = known;
    return { kind, address, recognised: true, forms: NO_FORMS, known, holder };
  }
  if (text.length === 0 || text.length > LITERAL_CHARS_MAX) return null;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < CODE_FIRST_PRINTABLE || code > CODE_LAST_PRINTABLE) return null;
  }
  const address = matchKey(text);
  const unknown = { recognised: false, forms: NO_FORMS, known: null, holder: NO_OTHER_FORM };
  return { kind: 'other', address, ...unknown };
}

/** Of a text whose other forms no list may hold. */
const NO_FORMS: readonly EquivalentForm[] = Object.freeze([]);

type ListReadings = {
  readonly list: Partly<ListLookUp, SanctionsListPort> | null;
  readonly others: Partly<OtherListsLookUp, OtherListsPort> | null;
};

/**
 * Why a text cannot be screened. One of no known form is malformed only where no list that was
 * asked about holds it, each read to its end; while one is unread it may be a listed one.
 */
export function misformOf(
  text: string | undefined,
  subject: Subject | null,
  { list, others }: ListReadings,
): MisformCode | null {
  if (subject === null || text === undefined) return 'form_not_recognised';
  if (subject.recognised) return null;
  for (const asked of [list, others]) {
    if (asked === null) continue;
    if (!(asked instanceof Read) || asked.value.found.has(subject.address)) return null;
  }
  return describeMisform(text);
}
