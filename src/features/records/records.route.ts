// A record quotes the answer of its route as text, so that the hash of the answer can be checked.
// `record-pages.route.tsx` shows records to people.

import { hash } from 'node:crypto';
import { z } from 'zod';
import { formatIsoTime } from '../../chain/time.ts';
import type { Answer } from '../../contract/answer.ts';
import { Refusal } from '../../contract/refusals.ts';
import {
  type Caller,
  type Handler,
  memberOf,
  type PlainHandler,
  plainRoute,
  type RequestContext,
} from '../../contract/route.ts';
import {
  addressText,
  askedDay,
  harmless,
  isoDay,
  isoTime,
  oneOf,
  prose,
  rowFact,
  rowFacts,
  sharedShape,
  sourceShown,
  unavailable,
  words,
} from '../../contract/wire.ts';
import { listOrNone } from '../../evidence/measure.ts';
import { map, rowsSeen, Unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { SanctionsList } from '../../ports/sanctions.ts';
import {
  type ListVersion,
  type NewRecord,
  RECORDED_ROUTES,
  RECORDED_STATES,
  type RecordedInput,
  type ScreeningRecord,
  type ScreeningRecords,
  type ServedVersions,
  type TableVersion,
  tableVersion,
  type Versions,
} from '../../ports/screening.ts';
import { walletOfac } from '../sanctions/wallet-ofac.route.ts';
import {
  BULK_BODY_BYTES_MAX,
  bulkAsked,
  bulkWalletScreen,
} from '../screening/bulk-wallet-screen.route.ts';

/** The routes whose answers are kept. */
export const RECORDED = { wallet_ofac: walletOfac, bulk_wallet_screen: bulkWalletScreen } as const;

const ID_CHARS_MAX = 64;
const sha256 = words(z.string().regex(/^[0-9a-f]{64}$/));
const asAsked = 'it is what was asked';
const asThen = 'it is what the answer of then rested on';

const importServed = rowFacts(tableVersion).extend({ sha256, imported_at: isoTime });

const told = 'it lists the sentences of the answer';
const spoken = {
  caveats: harmless(z.array(prose()), told),
  not_read: harmless(z.array(prose()), told).describe('What the answer says was not looked at.'),
};

const screeningRecord = sharedShape(
  'ScreeningRecord',
  z.strictObject({
    id: words(),
    made_at: isoTime,
    kept_until: isoTime,
    key_id: words().describe('The key that asked, or the session of the browser that did.'),
    asked: z.strictObject({
      route: oneOf(RECORDED_ROUTES),
      addresses: z.array(words()).min(1),
      on: isoDay.nullable(),
      tables: harmless(z.array(words()).nullable(), asAsked),
    }),
    list: z
      .strictObject({
        name: words(),
        published: isoDay,
        sha256,
        as_of: isoTime,
        reason: prose().nullable(),
      })
      .nullable()
      .describe('The sanctions list that answered. `reason`: why it showed listings only.'),
    list_reason: prose().nullable().describe('Why the list was not read.'),
    tables: harmless(z.array(importServed), asThen).describe('The imports that were served.'),
    code_version: words(),
    sources: harmless(z.array(sourceShown), asThen),
    state: oneOf(RECORDED_STATES),
    answer: words().describe('The answer as JSON: `state`, `subject`, `data` and `reason`.'),
    answer_sha256: sha256.describe('Of the characters of `answer`, as UTF-8.'),
    ...spoken,
  }),
);

/** An input of an answer, then and now. */
const input = z.strictObject({
  input: words(),
  state: oneOf(['same', 'former_held', 'moved', 'read_anew', 'not_read_then']).describe(
    '`former_held`: another version is in force, and the former one was asked. `moved`: the ' +
      'former one is gone. `read_anew`: it has no versions, and was read again.',
  ),
  recorded: words().nullable(),
  current: words().nullable(),
});
export type InputThenAndNow = z.output<typeof input>;

const replay = z.strictObject({
  id: words(),
  replayed_at: isoTime,
  same: rowFact(z.boolean()),
  recorded_sha256: sha256,
  answer_sha256: sha256,
  inputs: z.array(input).min(1),
  moved: rowFact(z.array(words())).describe('Inputs that may account for another answer.'),
  differs: rowFact(z.array(words())).describe('Where the answers differ, as paths; 50 at most.'),
  reason: prose(),
  answer: words().describe('The answer of now, as the record quotes that of then.'),
  ...spoken,
});

const unread = unavailable.describe(
  'Something that the record rests on could not be read; what was asked is not kept.',
);
const full = z
  .strictObject({ error: prose() })
  .describe('The membership holds as many records as its plan keeps; what was asked is not kept.');
const unknown = z
  .strictObject({ error: prose() })
  .describe('The membership that asks has no record of this id.');

const HOSTED = { surface: 'hosted', access: 'analyst' } as const;
const made = { 201: screeningRecord, 409: full, 503: unread };
const headers = { 201: { location: 'Where the record is.' } };
const one = { params: z.strictObject({ id: z.string().min(1).max(ID_CHARS_MAX) }) };

export const recordScreen = plainRoute({
  ...HOSTED,
  name: 'record_screen',
  method: 'POST',
  path: '/api/v1/screens',
  summary: 'Screens one address as wallet_ofac does, and keeps the answer as a record.',
  body: z.strictObject({ address: addressText, on: askedDay.optional() }),
  responses: made,
  headers,
});

export const recordBulkScreen = plainRoute({
  surface: 'hosted',
  access: 'desk',
  name: 'record_bulk_screen',
  method: 'POST',
  path: '/api/v1/screens/bulk',
  summary: 'Screens up to 500 addresses as bulk_wallet_screen does, and keeps one record of it.',
  bodyBytesMax: BULK_BODY_BYTES_MAX,
  body: bulkAsked,
  responses: made,
  headers,
});

const recordListed = z.strictObject({
  id: words(),
  made_at: isoTime,
  route: oneOf(RECORDED_ROUTES),
  addresses: z.array(words()).min(1),
  on: isoDay.nullable(),
  state: oneOf(RECORDED_STATES),
  answer_sha256: sha256,
});

export const screenRecords = plainRoute({
  ...HOSTED,
  name: 'screen_records',
  method: 'GET',
  path: '/api/v1/screens',
  summary: 'The newest records of screens of the membership, newest first.',
  responses: {
    200: z.strictObject({
      records: harmless(z.array(recordListed), 'whoever recorded no screen lists none'),
      whole: rowFact(z.boolean()).describe('False: there are others, which are not listed.'),
      reason: rowFact(prose().nullable()).describe('Why not all are listed; null where all are.'),
    }),
    503: unavailable,
  },
});

export const screenRecord = plainRoute({
  ...HOSTED,
  ...one,
  name: 'screen_record',
  method: 'GET',
  path: '/api/v1/screens/{id}',
  summary: 'A record of a screen: what was asked, on which versions, and what was answered.',
  responses: { 200: screeningRecord, 404: unknown, 503: unread },
});

export const screenReplay = plainRoute({
  ...HOSTED,
  ...one,
  name: 'screen_replay',
  method: 'GET',
  path: '/api/v1/screens/{id}/replay',
  summary: 'Asks a recorded screen again on the versions held, and compares the answers.',
  responses: { 200: replay, 404: unknown, 503: unread },
});

// A record holds the answer of the screen's own route; its owner follows from the key alone.

type Recorded = typeof RECORDED;
type Plan = Extract<Caller, { kind: 'member' }>['plan'];

/** The handlers of the recorded routes. */
export type Screens = { readonly [R in keyof Recorded]: Handler<Recorded[R]> };

export type RecordsDependencies = {
  readonly records: ScreeningRecords;
  readonly versions: ServedVersions;
  /** The recorded routes over a sanctions list of the caller's choice; `null`: over the served. */
  readonly screensOver: (list: SanctionsList | null) => Screens;
  readonly code_version: string;
  /** How many records each plan keeps. */
  readonly recordsMax: { readonly [P in Plan]: number };
};

/** The versions may move while a screen is under way: it is asked so often at most. */
const TRIES_MAX = 3;
const MOVING = 'The lists and tables are being replaced just now; ask again.';
const RETRY = { 'retry-after': '5' };

type Member = Extract<Caller, { kind: 'member' }>;

type Made = { readonly record: ScreeningRecord } | 'full' | { readonly why: Why } | Refusal;

/** @internal */
export function recordScreenHandler(
  dependencies: RecordsDependencies,
): PlainHandler<typeof recordScreen> {
  return async ({ body: { address, on } }, request, caller) => {
    const day = on === undefined ? null : on;
    const input = { route: 'wallet_ofac', address, on: day } as const;
    const made = await makeRecord(dependencies, input, memberOf(caller), request);
    if (made instanceof Refusal) return made;
    if (made === 'full') return recordScreen.reply(409, { error: FULL });
    if ('why' in made) return recordScreen.reply(503, unavailableBody(made.why));
    return recordScreen.reply(201, viewRecord(made.record), { location: pathOf(made.record) });
  };
}

/** @internal */
export function recordBulkScreenHandler(
  dependencies: RecordsDependencies,
): PlainHandler<typeof recordBulkScreen> {
  return async ({ body: { addresses, tables } }, request, caller) => {
    const limited = tables === undefined ? null : tables;
    const input = { route: 'bulk_wallet_screen', addresses, tables: limited } as const;
    const made = await makeRecord(dependencies, input, memberOf(caller), request);
    if (made instanceof Refusal) return made;
    if (made === 'full') return recordBulkScreen.reply(409, { error: FULL });
    if ('why' in made) return recordBulkScreen.reply(503, unavailableBody(made.why));
    return recordBulkScreen.reply(201, viewRecord(made.record), { location: pathOf(made.record) });
  };
}

/** The sentence of a membership that holds as many records as it may. */
export const FULL = 'This membership holds as many records as its plan keeps.';

function unavailableBody({ reason }: Why) {
  return { error: 'unavailable', reason };
}

function pathOf({ id }: ScreeningRecord): string {
  return `/api/v1/screens/${id}`;
}

/** @internal Screens, and keeps the answer as a record of whoever asks. */
export async function makeRecord(
  dependencies: RecordsDependencies,
  input: RecordedInput,
  caller: Member,
  request: RequestContext,
): Promise<Made> {
  const { membership_id, key_id, plan } = caller;
  const screened = await screenSteadily(dependencies, input, request, caller);
  if (screened instanceof Refusal || 'why' in screened) return screened;
  const kept = await dependencies.records.keep(
    { membership_id, key_id, input, code_version: dependencies.code_version, ...screened },
    dependencies.recordsMax[plan],
  );
  if (kept instanceof Unread) return { why: kept.why };
  return kept.value === 'full' ? 'full' : { record: kept.value };
}

type Screened = Omit<NewRecord, 'membership_id' | 'key_id' | 'input' | 'code_version'>;

async function screenSteadily(
  { versions, screensOver }: RecordsDependencies,
  input: RecordedInput,
  request: RequestContext,
  caller: Caller,
): Promise<Screened | { readonly why: Why } | Refusal> {
  const look = async () =>
    map(await versions.now(dayOf(input)), (all) => versionsOf(input.route, all));
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const before = await look();
    if (before instanceof Unread) return { why: before.why };
    const made_at = request.now();
    const answer = await ask(screensOver(null), input, at(made_at, request), caller);
    if (answer instanceof Refusal) return answer;
    const after = await look();
    if (after instanceof Unread) return { why: after.why };
    if (!(JSON.stringify(before.value) === JSON.stringify(after.value))) continue;
    const { sources } = answer.envelope(made_at);
    return { ...quoteAnswer(answer, made_at), versions: before.value, sources, made_at };
  }
  return new Refusal('overloaded', { error: MOVING }, RETRY);
}

function dayOf(input: RecordedInput): string | null {
  return input.route === 'wallet_ofac' ? input.on : null;
}

/** The question as it is put at a time, then and again: its answer knows no other one. */
function at(now: number, { signal }: RequestContext): RequestContext {
  return { now: () => now, signal };
}

function ask(screens: Screens, input: RecordedInput, request: RequestContext, caller: Caller) {
  if (input.route === 'wallet_ofac') {
    const { address, on } = input;
    const query = on === null ? {} : { on };
    return screens.wallet_ofac({ params: { address }, query, body: undefined }, request, caller);
  }
  const body = bodyOf(input);
  return screens.bulk_wallet_screen({ params: {}, query: {}, body }, request, caller);
}

type BulkInput = Extract<RecordedInput, { route: 'bulk_wallet_screen' }>;
type BulkBody = Parameters<Screens['bulk_wallet_screen']>[0]['body'];

function bodyOf({ addresses, tables }: BulkInput): BulkBody {
  const all = { addresses: [...addresses] };
  // They were parsed when the record was made.
  return tables === null ? all : { ...all, tables: [...tables] as BulkBody['tables'] };
}

type Quoted = Pick<NewRecord, 'state' | 'answer' | 'answer_sha256'>;

/** An answer as it is kept: when its sources were read stands beside it, and is not hashed. */
function quoteAnswer(
  answer: Answer<'wallet_ofac'> | Answer<'bulk_wallet_screen'>,
  now: number,
): Quoted {
  const { state, subject, data, reason } = answer.envelope(now);
  const text = JSON.stringify({ state, subject, data, reason });
  return { state, answer: text, answer_sha256: hash('sha256', text) };
}

/** @internal */
export function screenRecordsHandler({
  records,
}: Pick<RecordsDependencies, 'records'>): PlainHandler<typeof screenRecords> {
  return async (_input, _request, caller) => {
    const newest = await records.newest(memberOf(caller).membership_id);
    if (newest instanceof Unread) return screenRecords.reply(503, unavailableBody(newest.why));
    const lines = listOrNone(rowsSeen(newest));
    return screenRecords.reply(200, {
      records: lines.map(({ id, made_at, input, state, answer_sha256 }) => ({
        id,
        made_at: formatIsoTime(made_at),
        route: input.route,
        addresses: input.route === 'wallet_ofac' ? [input.address] : [...input.addresses],
        on: input.route === 'wallet_ofac' ? input.on : null,
        state,
        answer_sha256,
      })),
      whole: newest.checked,
      reason: newest.checked ? null : newest.why.reason,
    });
  };
}

/** @internal */
export function screenRecordHandler({
  records,
}: Pick<RecordsDependencies, 'records'>): PlainHandler<typeof screenRecord> {
  return async ({ params: { id } }, _request, caller) => {
    const found = await records.find(memberOf(caller).membership_id, id);
    if (found instanceof Unread) return screenRecord.reply(503, unavailableBody(found.why));
    if (found.value === null) return screenRecord.reply(404, { error: UNKNOWN });
    return screenRecord.reply(200, viewRecord(found.value));
  };
}

/** The same answer for an unknown id and for another membership's id. */
export const UNKNOWN = 'This membership has no such record.';

/** @internal */
export function screenReplayHandler(
  dependencies: RecordsDependencies,
): PlainHandler<typeof screenReplay> {
  return async ({ params: { id } }, request, caller) => {
    const found = await dependencies.records.find(memberOf(caller).membership_id, id);
    if (found instanceof Unread) return screenReplay.reply(503, unavailableBody(found.why));
    const record = found.value;
    if (record === null) return screenReplay.reply(404, { error: UNKNOWN });
    const current = await dependencies.versions.now(dayOf(record.input));
    if (current instanceof Unread) return screenReplay.reply(503, unavailableBody(current.why));
    const former = await dependencies.versions.listOf(record.versions.list);
    if (former instanceof Unread) return screenReplay.reply(503, unavailableBody(former.why));
    const atThatTime = at(record.made_at, request);
    const answer = await ask(
      dependencies.screensOver(former.value),
      record.input,
      atThatTime,
      caller,
    );
    if (answer instanceof Refusal) throw new Error('a question that was answered is refused');
    const inputs = inputsOf({
      input: record.input,
      recorded: record.versions,
      current: versionsOf(record.input.route, current.value),
      listHeld: former.value !== null,
      codeRecorded: record.code_version,
      codeNow: dependencies.code_version,
    });
    const again = quoteAnswer(answer, record.made_at);
    return screenReplay.reply(200, compareRecord(record, again, inputs, request.now()));
  };
}

const SAME = 'The answer is the same, to the character.';
const MOVED = 'The answer is another one. What moved since the record was made: ';

function compareRecord(
  record: ScreeningRecord,
  again: Quoted,
  inputs: readonly [InputThenAndNow, ...InputThenAndNow[]],
  now: number,
) {
  const same = record.answer_sha256 === again.answer_sha256;
  const moved = inputs
    .filter(({ state }) => state === 'moved' || state === 'read_anew')
    .map(({ input }) => input);
  return {
    id: record.id,
    replayed_at: formatIsoTime(now),
    same,
    recorded_sha256: record.answer_sha256,
    answer_sha256: again.answer_sha256,
    inputs: [...inputs],
    moved: same ? [] : moved,
    differs: same ? [] : differingPlaces(record.answer, again.answer),
    reason: same ? SAME : `${MOVED}${moved.join(', ')}.`,
    answer: again.answer,
    ...spokenShown(again.answer),
  };
}

/** @internal A record as its route and its page show it. */
export function viewRecord(record: ScreeningRecord) {
  const { id, input, versions, state, answer, answer_sha256, code_version, key_id } = record;
  return {
    id,
    made_at: formatIsoTime(record.made_at),
    kept_until: formatIsoTime(record.kept_until),
    key_id,
    asked: viewInput(input),
    list: listShown(versions),
    list_reason: versions.list.read ? null : versions.list.why.reason,
    tables: versions.tables.map(({ imported_at, ...table }) => {
      return { ...table, imported_at: formatIsoTime(imported_at) };
    }),
    code_version,
    sources: [...record.sources],
    state,
    answer,
    answer_sha256,
    ...spokenShown(answer),
  };
}

/** @internal The sentences of an answer, beside it. */
export function spokenShown(answer: string) {
  const { caveats, not_read } = sentencesIn(answer);
  return { caveats: [...caveats], not_read: [...not_read] };
}

function viewInput(input: RecordedInput) {
  const { route } = input;
  if (input.route === 'wallet_ofac') {
    return { route, addresses: [input.address], on: input.on, tables: null };
  }
  const tables = input.tables === null ? null : [...input.tables];
  return { route, addresses: [...input.addresses], on: null, tables };
}

function listShown({ list }: Versions) {
  if (!list.read) return null;
  const { name, published, sha256, as_of } = list.facts;
  const reason = list.cut === null ? null : list.cut.reason;
  return { name, published, sha256, as_of: formatIsoTime(as_of), reason };
}

type Compared = {
  readonly input: RecordedInput;
  readonly recorded: Versions;
  readonly current: Versions;
  readonly listHeld: boolean;
  readonly codeRecorded: string;
  readonly codeNow: string;
};

const TABLES_OF: { readonly [R in RecordedInput['route']]: readonly string[] } = {
  wallet_ofac: ['exchange_labels', 'other_lists'],
  bulk_wallet_screen: ['exchange_labels', 'other_lists', 'launches'],
};

/** The versions that the answer of a route rests on: what it does not ask moves nothing. */
export function versionsOf(route: RecordedInput['route'], { list, tables }: Versions): Versions {
  return { list, tables: tables.filter(({ table }) => TABLES_OF[route].includes(table)) };
}

/** Every input of an answer: the list, each import of a table, the history, and the code. */
export function inputsOf(compared: Compared): readonly [InputThenAndNow, ...InputThenAndNow[]] {
  const { input, recorded, current, listHeld, codeRecorded, codeNow } = compared;
  const code: InputThenAndNow = {
    input: 'code',
    state: codeRecorded === codeNow ? 'same' : 'moved',
    recorded: codeRecorded,
    current: codeNow,
  };
  const tables = tablesOf(recorded.tables, current.tables);
  const isWalked = input.route === 'wallet_ofac' && input.on === null;
  return [
    listOf(recorded.list, current.list, listHeld),
    ...tables,
    ...(isWalked ? [HISTORY] : []),
    code,
  ];
}

const HISTORY: InputThenAndNow = {
  input: 'transfer_history',
  state: 'read_anew',
  recorded: null,
  current: null,
};

function listOf(was: ListVersion, is: ListVersion, held: boolean): InputThenAndNow {
  const said = { input: 'sanctions_list', recorded: listText(was), current: listText(is) };
  if (!was.read) return { ...said, state: 'not_read_then' };
  if (is.read && is.facts.sha256 === was.facts.sha256) return { ...said, state: 'same' };
  return { ...said, state: held ? 'former_held' : 'moved' };
}

function listText(version: ListVersion): string | null {
  return version.read ? `${version.facts.published} ${version.facts.sha256}` : null;
}

function tablesOf(
  recorded: readonly TableVersion[],
  current: readonly TableVersion[],
): InputThenAndNow[] {
  const nameOf = ({ table, source }: TableVersion) => `${table}: ${source}`;
  const byName = (versions: readonly TableVersion[]) =>
    new Map(versions.map((one) => [nameOf(one), one]));
  const [before, after] = [byName(recorded), byName(current)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().map((name) => {
    const [was, is] = [tableText(before.get(name)), tableText(after.get(name))];
    return { input: name, state: was === is ? 'same' : 'moved', recorded: was, current: is };
  });
}

function tableText(version: TableVersion | undefined): string | null {
  if (version === undefined) return null;
  return `${formatIsoTime(version.imported_at)} ${version.sha256}`;
}

type Side = unknown;

const PLACES_MAX = 50;

/** The places at which two texts of JSON differ, as paths: `data.proximity.found`. */
export function differingPlaces(one: string, other: string): string[] {
  const places: string[] = [];
  compare(parseSide(one), parseSide(other), '', places);
  return places.slice(0, PLACES_MAX);
}

function parseSide(text: string): Side {
  const value: unknown = JSON.parse(text);
  return value;
}

function compare(one: Side, other: Side, at: string, places: string[]): void {
  if (Object.is(one, other)) return;
  if (!isHolder(one) || !isHolder(other) || Array.isArray(one) !== Array.isArray(other)) {
    places.push(at);
    return;
  }
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const place = Array.isArray(one) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
    compare(Reflect.get(one, key), Reflect.get(other, key), place, places);
  }
}

function isHolder(value: Side): value is object {
  return typeof value === 'object' && value !== null;
}

/** The sentences of an answer, each once, in its order. */
export type Spoken = { readonly caveats: readonly string[]; readonly not_read: readonly string[] };

type Sentences = { readonly caveats: Set<string>; readonly reasons: Set<string> };

/** Takes out of the text of an answer its caveats, its reasons, and the flags that are not set. */
export function sentencesIn(answer: string): Spoken {
  const quoted: unknown = JSON.parse(answer);
  const sentences: Sentences = { caveats: new Set(), reasons: new Set() };
  gather(quoted, '', sentences);
  return { caveats: [...sentences.caveats], not_read: [...sentences.reasons] };
}

/** Whether this is one result of many whose tables were read and do not hold the address. */
function isMiss(value: object): boolean {
  return 'kind' in value && 'state' in value && value.state === 'insufficient_evidence';
}

function gather(value: unknown, key: string, sentences: Sentences): void {
  if (typeof value === 'string') {
    if (key === 'caveat') sentences.caveats.add(value);
    if (key === 'reason' || key.endsWith('_reason')) sentences.reasons.add(value);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, held] of Object.entries(value)) {
    // Of a miss the reason tells what was read.
    if (name === 'reason' && isMiss(value)) continue;
    // Of many addresses each has its flags, by the name of the table.
    if (key === 'checked' && held === false) {
      sentences.reasons.add(`Not checked for each address: ${name}.`);
    }
    gather(held, name, sentences);
  }
}
