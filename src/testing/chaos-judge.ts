// What an answer in a fault says, held against what was said without one.

import { z } from 'zod';
import { CONTRACTS } from '../compose/list.ts';
import { type AnyEvidenceRoute, envelopeSchema } from '../contract/route.ts';
import { missRests } from '../contract/wire.ts';
import { collect } from '../evidence/measure.ts';
import { isDenial, isRecord, type Leaf, leavesOf } from './silence-answer.ts';

/** An answer as it came over HTTP. */
type Answer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
};

/** What an answer says: its state, what it denies, and what is wrong with it by itself. */
export type Statement = {
  readonly status: number;
  readonly state: string;
  readonly denied: ReadonlySet<string>;
  readonly wrong: string | null;
  /** The records of deployers in it, by their paths. */
  readonly records: ReadonlyMap<string, LaunchRecord>;
  /** The values that stand at each pattern, in order. */
  readonly facts: ReadonlyMap<string, readonly string[]>;
  /** Everything by which it says that something was not read: sentences, flags and nulls. */
  readonly words: ReadonlySet<string>;
};
export type Answers = ReadonlyMap<string, Statement>;

const ROUTES = new Map(CONTRACTS.map((route) => [route.name, route]));
const envelope = z.looseObject({
  state: z.string(),
  data: z.unknown(),
  reason: z.string().optional(),
});

function envelopeSaid(route: AnyEvidenceRoute, { status, body }: Answer): Statement {
  const parsed = envelopeSchema(route).safeParse(JSON.parse(body));
  if (!parsed.success) {
    return { ...SAYS_NOTHING, status, wrong: parsed.error.message };
  }
  const { state, data, reason } = envelope.parse(parsed.data);
  const leaves = data === null || data === undefined ? [] : leavesOf(route.data, data);
  // An empty list or text that no claim declares is judged by the silence test, port by port. What
  // is declared harmless is a fact: another one without a word is false by itself.
  const denied = leaves
    .filter((leaf) => leaf.declared && !leaf.free && isDenial(leaf))
    .map(({ path }) => path);
  // A miss that rests on named ports rests on imported tables, which no source of the world feeds.
  const isDenied = state === 'insufficient_evidence' && missRests(route.data) === null;
  const missed = isDenied ? ['the whole answer'] : [];
  const records = launchRecordsIn(data);
  const { facts, words } = factsIn(leaves);
  if (reason !== undefined) words.add(withoutNumbers(reason));
  const all = new Set([...denied, ...missed]);
  return { status, state, denied: all, wrong: null, records, facts, words };
}

/** What an answer tells, and the words by which it says that something is missing. */
function factsIn(leaves: readonly Leaf[]) {
  const facts = new Map<string, string[]>();
  const words = new Set<string>();
  for (const { pattern, meta, declared, value } of leaves) {
    if (value === null && declared) words.add(`${pattern} is null`);
    // A flag says the opposite of what it said, whichever that was.
    if (typeof value === 'boolean') words.add(`${pattern} is ${value}`);
    if (typeof value === 'string' && value.includes(' ')) words.add(withoutNumbers(value));
    // How much was not read is such a word, and depends on what was read before.
    if (UNREAD_COUNT.test(pattern)) {
      if (Number(value) > 0) words.add(`${pattern} is over zero`);
      continue;
    }
    const isEmpty = value === null || typeof value === 'object';
    if (isEmpty || meta === null) continue;
    // A time goes on by itself where rounds do: that there is one is the fact.
    collect(facts, pattern, isTime(pattern, value) ? 'a time' : withoutPort(String(value)));
  }
  for (const values of facts.values()) values.sort();
  return { facts, words };
}

/**
 * Ages, counts and times change by themselves, and are no word about what was not read; which of
 * many addresses a sentence names as examples depends on what was asked before.
 */
function withoutNumbers(sentence: string): string {
  const counted = sentence
    .replaceAll(/\b0x[0-9a-fA-F]{40}\b/g, '#')
    .replaceAll(/less than two minutes|\d[\d.,:TZ-]*/g, '#');
  return counted.replaceAll(/# (days|hours|minutes|seconds)\b/g, '#');
}

const UNREAD_COUNT = /(^|\.)nodes_unread$/;

/** Each stand-in listens where there was room. */
function withoutPort(fact: string): string {
  return fact.replaceAll(/\b127\.0\.0\.1:\d+/g, '127.0.0.1');
}

function isTime(pattern: string, value: unknown): boolean {
  return AGE.test(pattern) || (typeof value === 'string' && TIME.test(value));
}

const AGE = /_age_(days|s)$/;
const TIME = /^\d{4}-\d\d-\d\dT/;

/** Whether an answer has a word about something unread that another has not. */
function hasNewWord(whole: Statement, said: Statement): boolean {
  return [...said.words].some((one) => !whole.words.has(one));
}

/** The patterns of which an answer tells less than another. */
function lessIn(whole: Statement, said: Statement): string[] {
  return [...whole.facts].flatMap(([pattern, values]) => {
    const left = said.facts.get(pattern);
    return left !== undefined && left.length >= values.length ? [] : [pattern];
  });
}

/** The patterns of which an answer tells as much as another or more, but not the same. */
function otherIn(whole: Statement, said: Statement): string[] {
  const lost = new Set(lessIn(whole, said));
  return [...said.facts].flatMap(([pattern, values]) => {
    const before = whole.facts.get(pattern);
    const isSame = before !== undefined && values.join('\n') === before.join('\n');
    const isGrown = before !== undefined && TOTAL.test(pattern) && hasGrown(before, values);
    return isSame || isGrown || lost.has(pattern) ? [] : [pattern];
  });
}

/** What a board has scored so far: a service that is asked later counts more rounds. */
const TOTAL = /^scored\[\]\.scored$/;

/** Whether totals are as many as before and more than those, but not twice as much. */
function hasGrown(before: readonly string[], now: readonly string[]): boolean {
  const sumOf = (values: readonly string[]) => values.reduce((sum, one) => sum + Number(one), 0);
  const [least, told] = [sumOf(before), sumOf(now)];
  return now.length === before.length && told > least && told < 2 * least;
}

/** What says nothing at all. */
export const SAYS_NOTHING: Omit<Statement, 'status' | 'wrong'> = {
  state: 'none',
  denied: new Set(),
  records: new Map(),
  facts: new Map(),
  words: new Set(),
};

/** A record of a deployer, as far as its counts say what was not read. */
const launchRecord = z.looseObject({
  state: z.string(),
  listed_launches: z.number(),
  died: z.number(),
  survived: z.number(),
  never_listed: z.number(),
  launches: z.array(z.unknown()),
  coverage: z.looseObject({
    truncated: z.boolean(),
    unchecked: z.number(),
    skipped: z.array(z.looseObject({ reason: z.string() })),
  }),
});
type LaunchRecord = z.output<typeof launchRecord>;

/** The records of deployers that stand somewhere in a value, by the paths of `leavesOf`. */
function launchRecordsIn(value: unknown, at = ''): Map<string, LaunchRecord> {
  if (Array.isArray(value)) {
    return new Map(value.flatMap((one, i) => [...launchRecordsIn(one, `${at}[${i}]`)]));
  }
  if (!isRecord(value)) return new Map();
  const own = launchRecord.safeParse(value);
  const dot = at === '' ? '' : '.';
  const inner = Object.entries(value).flatMap(([name, one]) => [
    ...launchRecordsIn(one, `${at}${dot}${name}`),
  ]);
  return new Map(own.success ? [[at, own.data], ...inner] : inner);
}

/** How many launches a field of a record counts; `null`: it counts none. */
function countIn(record: LaunchRecord, field: string): number | null {
  if (field === 'launches') return record.launches.length;
  const counts: Readonly<Record<string, number>> = {
    listed_launches: record.listed_launches,
    died: record.died,
    death_rate: record.died,
    survived: record.survived,
    never_listed: record.never_listed,
  };
  const count = counts[field];
  return count === undefined ? null : count;
}

/**
 * Whether a count of a record says by itself that launches are missing from it. Its contract has
 * integers there and puts beside them what was not read: that has to cover every launch that the
 * whole answer counts and this one does not, and a state that tells of all launches covers none.
 */
function isToldAsUnread(path: string, whole: Statement, said: Statement): boolean {
  const found = [...said.records].find(([at]) => isFieldOf(path, at));
  if (found === undefined) return false;
  const [at, record] = found;
  const before = whole.records.get(at);
  const field = path.slice(at === '' ? 0 : at.length + 1);
  const [missing, left] = [before, record].map((one) => {
    return one === undefined ? null : countIn(one, field);
  });
  if (typeof missing !== 'number' || typeof left !== 'number') return false;
  if (!TELLS_OF_SOME.has(record.state)) return false;
  const { truncated, unchecked, skipped } = record.coverage;
  const undetermined = skipped.filter(({ reason }) => reason === 'undetermined').length;
  // A launch that could not be checked is still one of the launches that are listed there.
  const unread = field === 'launches' ? undetermined : unchecked + undetermined;
  return truncated || missing - left <= unread;
}

function isFieldOf(path: string, at: string): boolean {
  const field = at === '' ? path : path.slice(at.length + 1);
  return (at === '' || path.startsWith(`${at}.`)) && !/[.[]/.test(field);
}

/** The states of a record that say nothing of every launch. */
const TELLS_OF_SOME: ReadonlySet<string> = new Set(['unchecked', 'mixed']);

const collected = z.looseObject({ data_mode: z.string() });

function plainSaid(name: string, { status, headers, body }: Answer): Statement {
  const state = String(status);
  const none = { ...SAYS_NOTHING, status, state };
  const hasId = headers.some(([header]) => header === 'x-request-id');
  if (status >= 500 && !hasId) return { ...none, wrong: 'a fault without an id' };
  const route = ROUTES.get(name);
  if (status === 500) return { ...none, wrong: body.slice(0, 200) };
  const schema = route?.kind === 'plain' ? route.responses[status] : undefined;
  const isJson = headers.some(([header, value]) => {
    return header === 'content-type' && value.startsWith('application/json');
  });
  if (schema === undefined || !isJson) return { ...none, wrong: null };
  const parsed = schema.safeParse(JSON.parse(body));
  if (!parsed.success) return { ...none, wrong: parsed.error.message };
  // An answer that says of itself that nothing was collected yet tells of no window.
  if (collected.safeParse(parsed.data).data?.data_mode === 'empty') return { ...none, wrong: null };
  const leaves = leavesOf(schema, parsed.data);
  const denied = leaves.filter((leaf) => leaf.declared && isDenial(leaf)).map(({ path }) => path);
  return { ...none, denied: new Set(denied), wrong: null };
}

/** Reads an answer of a route by its declaration. */
export function statementOf(routeName: string, answer: Answer): Statement {
  const route = ROUTES.get(routeName);
  const isEnvelope = route?.kind === 'evidence' && /^\{"state":/.test(answer.body);
  return isEnvelope ? envelopeSaid(route, answer) : plainSaid(routeName, answer);
}

/** The first thing of which an answer says less than another, or `null` where it says as much. */
export function lessThan(whole: Statement, said: Statement): string | null {
  if (whole.state !== said.state) return `${said.state}, and ${whole.state} before`;
  const denials = [...whole.denied].filter((one) => !said.denied.has(one));
  const fresh = [...said.denied].filter((one) => !whole.denied.has(one));
  const words = [...said.words].filter((one) => !whole.words.has(one));
  const [first] = [
    ...denials.map((one) => `no longer denies ${one}`),
    ...fresh.map((one) => `denies ${one}`),
    ...words.map((one) => `says “${one.slice(0, WORD_CHARS_MAX)}”`),
    ...lessIn(whole, said).map((one) => `tells less of ${one}`),
  ];
  return first === undefined ? null : first;
}
const WORD_CHARS_MAX = 500;

/** Whether an answer says as much as another, and names nothing beside as unread. */
export function isAsWhole(whole: Statement, said: Statement): boolean {
  return lessThan(whole, said) === null;
}

/** What is false about an answer in a fault; `whole`: what was said without it. */
export function falseIn(name: string, whole: Statement | undefined, said: Statement): string[] {
  const wrong = said.wrong === null ? [] : [`${name}: ${said.wrong.slice(0, 300)}`];
  if (whole === undefined) return [...wrong, `${name}: was not asked without faults`];
  const denied = [...said.denied].filter((path) => {
    return !whole.denied.has(path) && !isToldAsUnread(path, whole, said);
  });
  const isSilent = whole.state === said.state && !hasNewWord(whole, said);
  const vanished = isSilent ? lessIn(whole, said) : [];
  // Whoever says that nothing is missing says what was said without faults.
  const other = isSilent ? otherIn(whole, said) : [];
  return [
    ...wrong,
    ...denied.map((path) => `${name}: denies ${path}`),
    ...(vanished.length > 0 ? [`${name}: lost without a word: ${vanished.join(', ')}`] : []),
    ...(other.length > 0 ? [`${name}: otherwise without a word: ${other.join(', ')}`] : []),
  ];
}

const countedBoard = z.looseObject({
  total_scores: z.int().positive(),
  windows: z.looseObject({ all: z.looseObject({ rows: z.array(z.unknown()).min(1) }) }),
});

const flaggedBoard = z.looseObject({
  data: z.looseObject({ count: z.int().positive(), scored: z.array(z.unknown()).min(1) }),
});

/**
 * Whether a board of providers, or of flagged wallets, is of a round that counted something. Before
 * that it is empty with or without faults and says so, so that two services are compared once it is
 * so in both.
 */
export function isCounted({ status, body }: Answer): boolean {
  if (status !== 200) return false;
  const board: unknown = JSON.parse(body);
  return countedBoard.safeParse(board).success || flaggedBoard.safeParse(board).success;
}

const unwalked = z.looseObject({ state: z.literal('not_deployed') });

/** Whether a record of a deployer was walked; until then nothing is told of it, and it says so. */
export function isWalked({ status, body }: Answer): boolean {
  return status === 200 && !unwalked.safeParse(JSON.parse(body)).success;
}

/** How often each source was asked. */
export type Calls = { readonly [source: string]: number };

/** The retries after a passing failure, and the question itself. */
const ASKED_FOR_EACH_MAX = 3;

/**
 * The sources that were asked more often than a question is asked again. A refusal that lasts is
 * not kept, so that each of the `questions` may ask a source once more.
 */
export function sourcesOverasked(whole: Calls, said: Calls, questions: number): string[] {
  return Object.entries(said).flatMap(([source, calls]) => {
    const before = whole[source];
    if (before === undefined) return [`${source}: was not counted without faults`];
    const most = before === 0 ? 0 : Math.max(ASKED_FOR_EACH_MAX * before, questions);
    return calls > most
      ? [`${source}: asked ${calls} times, and ${before} times without faults`]
      : [];
  });
}
