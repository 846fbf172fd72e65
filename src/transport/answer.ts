// Answers a known caller of a route: parses the input, asks the handler, writes the answer, charges
// it. This file knows no HTTP: every interface that knows the caller (web server, tools, scan) asks
// here. No answer leaves before its charge is stored, and no 4xx or 5xx is charged. A handler gives
// an `Answer` of evidence, the `Reply` of a plain route (both contract/answer.ts), or a `Refusal`.

import { hash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { z } from 'zod';
import {
  type AccessGate,
  type Admission,
  type Admitted,
  type QuotaFigures,
  quotaHeaders,
  quotaSpent,
  untilReset,
} from '../access/gate.ts';
import { Answer, type Headers, type PageRest, Reply } from '../contract/answer.ts';
import { badInput, type InputProblem, overloadRefusal, Refusal } from '../contract/refusals.ts';
import { HTML_TYPE, isPage } from '../contract/reply.ts';
import {
  type AnyEvidenceRoute,
  type AnyPlainRoute,
  type Caller,
  deprecationHeaders,
  type RequestContext,
} from '../contract/route.ts';
import { defOf } from '../contract/writer.ts';
import { type Guard, type Guarding, guardOf } from './guard.ts';
import type { Meters } from './metrics.ts';
import type { Tracing } from './tracing.ts';
import type { TurnWatch } from './turn-watch.ts';

/** One request: its id in the log, when it came (`performance.now`), what its handler is told. */
export type RouteQuestion = {
  readonly id: string;
  readonly startedMs: number;
  readonly asked: RequestContext;
  /** Whether its client has hung up, where the door can tell. */
  readonly isGone?: () => boolean;
};

export type WrittenAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The texts that follow the bytes; absent: the bytes are all of it. */
  readonly rest?: WrittenRest;
};

/** The rest of a page as it comes. `end` is called once, when no more of it is written. */
export type WrittenRest = {
  readonly texts: AsyncIterable<string>;
  readonly end: () => void;
};

/** A whole page that says what was refused, and what to do next. */
export type RefusalPage = (refusal: Refusal) => string;

/** The dependencies of answering. Without a page of refusals it answers no pages. */
export type Answering = Guarding & {
  readonly meters: Meters;
  readonly log: Log;
  readonly refusalPage?: RefusalPage;
  /** Where traces are made: runs the work of a request under a span. */
  readonly trace?: Tracing['request'];
  /** Whether requests wait for their turn for too long already. */
  readonly isLate?: TurnWatch['isLate'];
};

/** Asks one route: parses, answers, charges. It never rejects: a fault of ours is a 500. */
export type AskRoute = (
  sent: Sent,
  by: Admission,
  question: RouteQuestion,
) => Promise<WrittenAnswer>;

/** Counts a refusal of a route, and makes what leaves of it. */
export type Refuse = (refusal: Refusal, figures: QuotaFigures | null) => WrittenAnswer;

/** A mounted route as its doors hold it: who may come in, how it is asked, how it refuses. */
export type Asking = {
  readonly route: Mounted['route'];
  readonly guard: Guard;
  readonly ask: AskRoute;
  readonly refuse: Refuse;
};

/** The mounted routes by name. One for all doors of a server, so that they share its bounds. */
export type Answers = ReadonlyMap<string, Asking>;

/** Makes what every door asks. Throws where a route cannot be served, and names it. */
export function answersOf(mounted: readonly Mounted[], parts: Answering): Answers {
  const answers = new Map<string, Asking>();
  const underWay = requestsUnderWay(parts.gate);
  parts.meters.watchUnderWay(underWay.count);
  for (const one of mounted) {
    const { route } = one;
    if (answers.has(route.name)) throw new Error(`${route.name} is mounted twice`);
    const refuse = refuserOf(route, parts);
    const guard = guardInTime(route, guardOf(route, parts), parts);
    const ask = tracedAsk(route, answerer(one, refuse, underWay, parts), parts.trace);
    answers.set(route.name, { route, guard, refuse, ask });
  }
  return answers;
}

// A caller that is not remembered would wait to be looked up behind all the others. Who it is, is
// remembered for its next request all the same.
function guardInTime(
  { isLight, path }: Mounted['route'],
  guard: Guard,
  { isLate, log }: Answering,
): Guard {
  if (isLight === true || isLate === undefined) return guard;
  return (headers, search, use) => {
    const said = guard(headers, search, use);
    if (!(said instanceof Promise) || !isLate()) return said;
    said.catch((fault) => log.error({ route: path, fault: describe(fault) }, 'fault'));
    return { kind: 'refused', refusal: overloadRefusal(LATE) };
  };
}

// Every door asks here, so that a tool's call and a section of a scan are traced like a request.
function tracedAsk(
  { path, method }: Mounted['route'],
  ask: AskRoute,
  trace: Answering['trace'],
): AskRoute {
  if (trace === undefined) return ask;
  return (sent, by, question) => {
    const traceparent: unknown = Reflect.get(Object(sent.headers), 'traceparent');
    return trace({ method, route: path, traceparent }, () => ask(sent, by, question));
  };
}

const OK = 200;
/** From this status on nothing was answered, so that nothing is charged. */
const FAILED = 400;
const JSON_TYPE = 'application/json; charset=utf-8';
const NO_STORE = 'no-store';
/** The headers by which answers differ between callers, wherever a cache is involved. */
const VARY = 'Authorization, x-service-membership, Origin';

function answerer(
  { route, handle }: Mounted,
  refuse: Refuse,
  underWay: UnderWay,
  parts: Answering,
): AskRoute {
  const { gate, meters, log } = parts;
  const isLate = route.isLight === true ? undefined : parts.isLate;
  const headersOf = route.access === 'open' ? openHeaders(route) : ownHeaders(route);
  const { deprecated } = route;
  const notice = deprecated === undefined ? null : deprecationHeaders(deprecated);
  const answerNobody = (): WrittenAnswer => {
    meters.refused(route.name, HUNG_UP);
    return NOBODY_READS;
  };
  return async (sent, by, { id, startedMs, asked, isGone }) => {
    if (isGone?.() === true) return answerNobody();
    const refusal =
      isLate?.() === true ? overloadRefusal(LATE) : underWay.begin(by, route.name, asked.now());
    if (refusal !== null) return refuse(refusal, figuresOf(by, asked.now()));
    const end = () => underWay.end(by, route.name);
    let isOver = true;
    const onFault = (fault: unknown) =>
      log.error({ request_id: id, route: route.path, fault: describe(fault) }, 'fault');
    try {
      const input = parseInput(route, sent);
      if (input instanceof Refusal) return refuse(input, figuresOf(by, asked.now()));
      const said = await handle(input, asked, by.caller);
      if (said instanceof Refusal) return refuse(said, figuresOf(by, asked.now()));
      // Written before it is charged, so that a fault in the answer is never paid for.
      const { status, state, bytes, declared, rest, isKept } = writeAnswer(said, asked.now());
      // An answer is charged if it is ready while its client is still there.
      if (isGone?.() === true) return answerNobody();
      const isFree = by.kind === 'uncharged' || status >= FAILED;
      const charged = isFree ? null : await charge(gate, by, route.name);
      if (charged?.kind === 'refused') return refuse(charged.refusal, null);
      meters.answered(route.name, state, (performance.now() - startedMs) / 1000);
      const figures = charged === null ? figuresOf(by, asked.now()) : charged.figures;
      const headers =
        figures === null ? headersOf(declared, isKept, bytes) : chargedHeaders(figures, declared);
      const whole = {
        status,
        headers: notice === null ? headers : { ...headers, ...notice },
        bytes,
      };
      if (rest === null) return whole;
      isOver = false;
      return { ...whole, rest: { texts: textsAsTheyCome(rest, id, onFault), end } };
    } catch (fault) {
      onFault(fault);
      return refuse(faultRefusal(id), figuresOf(by, asked.now()));
    } finally {
      if (isOver) end();
    }
  };
}

/** The pieces of a page, each when it is there. One that fails says so in its own place. */
async function* textsAsTheyCome(
  { pieces, end }: PageRest,
  id: string,
  onFault: (fault: unknown) => void,
): AsyncGenerator<string> {
  const waiting = new Map(
    pieces.map(({ draw, failed }, at) => {
      const drawn = draw().catch((fault) => {
        onFault(fault);
        return failed(id);
      });
      return [at, drawn.then((text) => ({ at, text }))];
    }),
  );
  while (waiting.size > 0) {
    const { at, text } = await Promise.race(waiting.values());
    waiting.delete(at);
    yield text;
  }
  yield end;
}

/** The reason under which a request is counted whose client left before its answer was ready. */
const HUNG_UP = 'hung_up';
const NOBODY_READS: WrittenAnswer = { status: 499, headers: {}, bytes: Buffer.alloc(0) };

type HeadersOf = (declared: Headers | null, isKept: boolean, bytes: Buffer) => Headers;

const OPEN_JSON: Headers = { 'content-type': JSON_TYPE, 'cache-control': NO_STORE };

function ownHeaders({ access }: Mounted['route']): HeadersOf {
  const bySession = access === 'session' || access === 'visitor';
  const own: Headers = { 'cache-control': NO_STORE, vary: bySession ? 'Cookie' : VARY };
  const json: Headers = { 'content-type': JSON_TYPE, ...own };
  return (declared) => (declared === null ? json : { ...own, ...declared });
}

// The bytes of a cacheable answer name it.
function openHeaders(route: Mounted['route']): HeadersOf {
  const keptS = route.kind === 'plain' ? route.keptS : undefined;
  // One reply may answer many requests: its bytes are named once.
  const named = new WeakMap<Buffer, string>();
  const nameOf = (bytes: Buffer): string => {
    const known = named.get(bytes);
    if (known !== undefined) return known;
    const etag = `"${hash('sha256', bytes, 'base64url')}"`;
    named.set(bytes, etag);
    return etag;
  };
  return (declared, isKept, bytes) => {
    if (declared === null) return OPEN_JSON;
    if (keptS === undefined || !isKept) return { 'cache-control': NO_STORE, ...declared };
    const etag = nameOf(bytes);
    return { 'cache-control': `public, max-age=${keptS}`, etag, ...declared };
  };
}

// Written out, because this is on the way of every answer that somebody pays for.
function chargedHeaders({ limit, remaining, reset_s }: QuotaFigures, own: Headers | null): Headers {
  const headers = {
    'content-type': JSON_TYPE,
    'cache-control': NO_STORE,
    vary: VARY,
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(reset_s),
  };
  return own === null ? headers : withDeclared(headers, own);
}

function withDeclared({ 'content-type': _, ...headers }: Headers, declared: Headers): Headers {
  return { ...headers, ...declared };
}

function refuserOf(route: Mounted['route'], { gate, meters, refusalPage }: Answering): Refuse {
  const page = isPage(route) ? refusalPage : undefined;
  if (page === undefined && isPage(route)) {
    throw new Error(`${route.name} needs a page for its refusals`);
  }
  return (refusal, figures) => {
    meters.refused(route.name, reasonOf(refusal));
    // On the hosted surface every response says what is left, of a caller that is not known too.
    const none = gate !== null && route.surface === 'hosted' ? gate.noFigures() : null;
    return refusalSaid(refusal, figures === null ? none : figures, page);
  };
}

/** The response of a refusal, with the caller's allowance if it is known. */
export function refusalSaid(
  refusal: Refusal,
  figures: QuotaFigures | null,
  page?: RefusalPage,
): WrittenAnswer {
  const headers = {
    'content-type': page === undefined ? JSON_TYPE : HTML_TYPE,
    'cache-control': NO_STORE,
    vary: VARY,
    ...(figures === null ? {} : quotaHeaders(figures)),
    ...refusal.headers,
  };
  const text = page === undefined ? JSON.stringify(refusal.body) : page(refusal);
  return { status: refusal.status, headers, bytes: Buffer.from(text) };
}

/** The allowance of a caller that has one, as it stands now. */
export function figuresOf(by: Admission | null, now: number): QuotaFigures | null {
  if (by?.kind !== 'admitted') return null;
  return { ...by.figures, reset_s: untilReset(by.credential.allowance, now) };
}

/** Charges a caller that the gate admitted, for a route by its name. */
export function charge(gate: AccessGate | null, by: Admitted, route: string) {
  if (gate === null) throw new Error('an admitted caller needs the gate that admitted it');
  return gate.charge(by, route);
}

function writeAnswer(said: unknown, now: number) {
  if (said instanceof Answer) {
    const bytes = said.bytes(now);
    return { status: OK, state: said.state, bytes, declared: null, rest: null, isKept: false };
  }
  if (!(said instanceof Reply)) throw new Error('neither an answer nor a reply');
  const { status, headers, rest } = said;
  const isKept = status === OK && said.isKept;
  return { status, state: String(status), bytes: said.bytes(), declared: headers, rest, isKept };
}

// Problems name the field and what was expected. What was sent is never echoed, but for a name that
// is not known and can be nothing but a name.

type Declared = {
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: z.ZodType | null;
  readonly requestHeaders?: z.ZodObject | null;
};
/** The raw request. */
export type Sent = {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers?: unknown;
};
/** The input of a request, as its route declares it. */
export type Input = Sent;

/** The declared input, or the refusal that names every field that was wrong. */
export function parseInput(route: Declared, sent: Sent): Input | Refusal {
  const problems: InputProblem[] = [];
  const params = take(route.params, withPlainNumbers(route.params, sent.params), '', problems);
  const query = take(route.query, withPlainNumbers(route.query, sent.query), '', problems);
  const body = route.body === null ? undefined : take(route.body, sent.body, 'body', problems);
  const { requestHeaders } = route;
  if (requestHeaders === undefined || requestHeaders === null) {
    return problems.length > 0 ? badInput(problems) : { params, query, body };
  }
  const headers = take(requestHeaders, selectDeclared(requestHeaders, sent.headers), '', problems);
  return problems.length > 0 ? badInput(problems) : { params, query, body, headers };
}

/** A whole number of a path or a query is written in digits: no exponent, sign, space or prefix. */
const DIGITS = /^(0|[1-9][0-9]*)$/;
const NO_NUMBER = 'NaN';
const COERCED = new WeakMap<z.ZodObject, ReadonlySet<string>>();

// A coerced number would take `0x10`, `1e1` or ` 1`, which no reader of the documents expects.
function withPlainNumbers(schema: z.ZodObject, sent: unknown): unknown {
  const coerced = coercedFieldsOf(schema);
  if (coerced.size === 0 || typeof sent !== 'object' || sent === null) return sent;
  const fields = Object.entries(sent).map(([name, value]) => {
    const isPlain = typeof value !== 'string' || DIGITS.test(value);
    return [name, isPlain || !coerced.has(name) ? value : NO_NUMBER];
  });
  return Object.fromEntries(fields);
}

/** The fields that are sent as text and are numbers. */
export function coercedFieldsOf(schema: z.ZodObject): ReadonlySet<string> {
  const known = COERCED.get(schema);
  if (known !== undefined) return known;
  const named = Object.entries(schema.shape).flatMap(([name, one]) =>
    isCoerced(one) ? [name] : [],
  );
  const coerced = new Set(named);
  COERCED.set(schema, coerced);
  return coerced;
}

function isCoerced(schema: z.ZodType): boolean {
  const { coerce, innerType } = defOf(schema);
  return coerce === true || (innerType !== undefined && isCoerced(innerType));
}

function selectDeclared({ shape }: z.ZodObject, sent: unknown): object {
  return Object.fromEntries(
    Object.keys(shape).map((name) => [name, Reflect.get(Object(sent), name)]),
  );
}

function take(schema: z.ZodType, value: unknown, whole: string, problems: InputProblem[]): unknown {
  const result = schema.safeParse(value, { error: expectationOf });
  if (!result.success) {
    for (const issue of result.error.issues) problems.push(problem(issue, whole, schema));
    return undefined;
  }
  if (isBroken(result.data)) {
    for (const path of brokenTexts(result.data)) {
      problems.push({ path: pathOf(path, whole), says: WHOLE_TEXT });
    }
  }
  return result.data;
}

const BROKEN = /[\0\p{Cs}]/u;
const WHOLE_TEXT = 'expected text of whole Unicode characters, without NUL';

// No store keeps such a text, and no address, day or id holds one. What is looked at was parsed: it
// is no deeper than its schema.
function isBroken(value: unknown): boolean {
  if (typeof value === 'string') return BROKEN.test(value);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false;
  return Array.isArray(value) ? value.some(isBroken) : Object.values(value).some(isBroken);
}

function brokenTexts(value: unknown): PropertyKey[][] {
  if (typeof value === 'string') return BROKEN.test(value) ? [[]] : [];
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, one]) =>
    brokenTexts(one).map((path) => [isList ? Number(name) : name, ...path]),
  );
}

/** The words about an expected value: the validator asks for them where a schema has none. */
function expectationOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type': {
      const noun = nounOf(issue.expected);
      return `expected ${noun}${issue.input === undefined ? ', and nothing was sent' : ''}`;
    }
    case 'invalid_value': {
      const values = issue.values.map(String).join(', ');
      return `expected ${issue.values.length === 1 ? '' : 'one of '}${values}`;
    }
    case 'too_small': {
      const { minimum, origin, exact, inclusive } = issue;
      const bound = inclusive === true ? 'at least' : 'more than';
      return `expected ${exact === true ? 'exactly' : bound} ${countText(minimum, origin)}`;
    }
    case 'too_big': {
      const { maximum, origin, exact, inclusive } = issue;
      const bound = inclusive === true ? 'at most' : 'less than';
      return `expected ${exact === true ? 'exactly' : bound} ${countText(maximum, origin)}`;
    }
    case 'invalid_format':
      return issue.pattern === undefined
        ? OTHER_FORM
        : `expected text of the form ${issue.pattern}`;
    case 'invalid_union': {
      const types = issue.errors
        .flat()
        .flatMap((one) => (one.code === 'invalid_type' ? nounOf(one.expected) : []));
      return types.length === 0 ? OTHER_FORM : `expected ${[...new Set(types)].join(' or ')}`;
    }
    default:
      return OTHER_FORM;
  }
}

const OTHER_FORM = 'expected another form, which /openapi.json shows';
const NOUNS: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['record', 'an object'],
]);

function nounOf(type: string): string {
  const noun = NOUNS.get(type);
  return noun === undefined ? type : noun;
}

function countText(bound: number | bigint, origin: string): string {
  const unit = UNITS.get(origin);
  if (unit === undefined) return String(bound);
  return `${bound} ${Number(bound) === 1 ? unit.one : unit.many}`;
}

const UNITS: ReadonlyMap<string, { readonly one: string; readonly many: string }> = new Map([
  ['string', { one: 'character', many: 'characters' }],
  ['array', { one: 'entry', many: 'entries' }],
]);

function problem(issue: z.core.$ZodIssue, whole: string, schema: z.ZodType): InputProblem {
  const path = pathOf(issue.path, whole);
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(shapeOf(schema));
    const names = issue.keys.map(nameText).join(', ');
    const expected = known.length === 0 ? 'no fields here' : `only ${known.join(', ')}`;
    return { path, says: `unknown name ${names}; expected ${expected}` };
  }
  return { path, says: issue.message };
}

/** Where a value stands; `whole` names the part of the request, which has no name of its own. */
function pathOf(path: readonly PropertyKey[], whole: string): InputProblem['path'] {
  if (path.length === 0) return whole === '' ? [] : [whole];
  return path.map((step) => (typeof step === 'number' ? step : String(step)));
}

// A key can be sent in the place of a name: what has no name's form, or begins as our keys do, is
// not repeated.
function nameText(name: string): string {
  const isName = /^[A-Za-z][A-Za-z0-9_-]{0,29}$/.test(name) && !/^sc[pt]?_/i.test(name);
  return isName ? JSON.stringify(name) : `of ${name.length} characters, not repeated here`;
}

/** The fields of an object, also of one that may be left out. */
function shapeOf(schema: z.ZodType): object {
  const { shape, innerType } = defOf(schema);
  if (shape !== undefined) return shape;
  return innerType === undefined ? {} : shapeOf(innerType);
}

/** A handler as the transport calls it: the declaration's types were checked where it was made. */
export type AnyHandler = (
  input: { params: unknown; query: unknown; body: unknown; headers?: unknown },
  asked: RequestContext,
  caller: Caller,
) => Promise<unknown>;

/** A declared route with its handler. */
export type Mounted = {
  readonly route: AnyEvidenceRoute | AnyPlainRoute;
  readonly handle: AnyHandler;
};

/** The log. Messages carry no address, key or query. */
export type Log = {
  readonly info: (facts: object, message: string) => void;
  readonly warn: (facts: object, message: string) => void;
  readonly error: (facts: object, message: string) => void;
};

/** The reason under which a refusal is counted. */
export function reasonOf(refusal: Refusal): string {
  const { body } = refusal;
  if (typeof body === 'object' && body !== null && 'reason' in body) return String(body.reason);
  return refusal.code;
}

/** The refusal of a request that met a fault of ours: the id that the log has, and nothing else. */
export function faultRefusal(requestId: string): Refusal {
  const error = 'A fault of the service; its log has this id.';
  return new Refusal('fault', { error, request_id: requestId });
}

/** A fault as the log takes it. */
export function describe(fault: unknown): string {
  return fault instanceof Error && fault.stack !== undefined ? fault.stack : String(fault);
}

// Requests under way are counted and never wait: one too many is refused at once, and told when to
// come again.

/** Requests under way at once in one server, whoever asks. */
export const REQUESTS_MAX = 2_048;
/** Of them, with one allowance, however much of it is left. */
export const OF_ONE_ALLOWANCE_MAX = 256;
/** Of them, of one route, where no allowance bounds them. */
export const UNCHARGED_OF_ONE_ROUTE_MAX = 256;

/** The requests under way. What has begun must end, once. */
export type UnderWay = {
  /** Begins one of a route, or says why not. */
  readonly begin: (by: Admission, route: string, now: number) => Refusal | null;
  readonly end: (by: Admission, route: string) => void;
  readonly count: () => number;
};

/** Counts the requests under way of one server. */
export function requestsUnderWay(gate: AccessGate | null): UnderWay {
  let all = 0;
  const counts = new Map<string, number>();

  const begin = (by: Admission, route: string, now: number): Refusal | null => {
    const name = counterOf(by, route);
    const counted = counts.get(name);
    const mine = counted === undefined ? NONE : counted;
    const refusal = refuseOneMore(by, gate, { all, mine, now });
    if (refusal !== null) return refusal;
    all += 1;
    counts.set(name, mine + 1);
    return null;
  };

  const end = (by: Admission, route: string): void => {
    const name = counterOf(by, route);
    const mine = counts.get(name);
    if (mine === undefined) throw new Error(`${route}: ended, and was not under way`);
    all -= 1;
    if (mine === 1) counts.delete(name);
    else counts.set(name, mine - 1);
  };

  return { begin, end, count: () => all };
}

const NONE = 0;

// An allowance is named with a colon inside, a route never.
function counterOf(by: Admission, route: string): string {
  return by.kind === 'admitted' ? by.credential.allowance.allowance.subject : route;
}

function refuseOneMore(
  by: Admission,
  gate: AccessGate | null,
  { all, mine, now }: { readonly all: number; readonly mine: number; readonly now: number },
): Refusal | null {
  if (all >= REQUESTS_MAX) return overloadRefusal(BUSY);
  if (by.kind === 'uncharged')
    return mine < UNCHARGED_OF_ONE_ROUTE_MAX ? null : overloadRefusal(BUSY);
  if (mine >= OF_ONE_ALLOWANCE_MAX) {
    const many = `${mine} requests with this allowance are under way at once`;
    return overloadRefusal(`${many}; try again in a second.`);
  }
  // Each of them may be charged: no more begin than can be paid for.
  if (gate === null) throw new Error('an admitted caller needs the gate that admitted it');
  const left = gate.left(by);
  if (mine < left) return null;
  if (left === 0) return quotaSpent(by.credential.allowance, now);
  return overloadRefusal(
    `The ${left} requests that this allowance has left are under way; try again in a second. ` +
      'Nothing was charged.',
  );
}

const BUSY = 'Too many requests at once; try again in a second.';
const LATE = 'Requests wait too long now; try again in a second. Nothing was charged.';

/** The context of a handler, and the release of its abort listener. */
export type ContextHandle = { readonly asked: RequestContext; readonly done: () => void };

/** Begins to answer through a response. `now` is Unix seconds. */
export function contextOf(
  response: ServerResponse,
  now: () => number,
  budgetMs: number,
): ContextHandle {
  return asking(now, budgetMs, (end) => {
    if (response.destroyed) end();
    response.once('close', end);
    return () => response.off('close', end);
  });
}

/** Begins to answer until a signal says that nobody waits. `now` is Unix seconds. */
export function contextUntil(
  gone: AbortSignal,
  now: () => number,
  budgetMs: number,
): ContextHandle {
  return asking(now, budgetMs, (end) => {
    if (gone.aborted) end();
    gone.addEventListener('abort', end, { once: true });
    return () => gone.removeEventListener('abort', end);
  });
}

/** Calls `end` when whoever waits has gone, until what it returns is called. */
type Watch = (end: () => void) => () => void;

// The signal ends when the client hangs up or the time is spent. Most answers come from memory and
// never look at it, so it is made when it is first asked for; it is a field of its own, because
// engines pass on what they are told with limits of their own beside it.
function asking(now: () => number, budgetMs: number, watch: Watch): ContextHandle {
  let ending: Ending | null = null;
  const asked = {
    now,
    get signal(): AbortSignal {
      if (ending === null) ending = endingWith(watch, budgetMs);
      return ending.signal;
    },
  };
  return { asked, done: () => ending?.stop() };
}

type Ending = { readonly signal: AbortSignal; readonly stop: () => void };

function endingWith(watch: Watch, budgetMs: number): Ending {
  const controller = new AbortController();
  // Every look-up of one request listens: node would take as many for a leak and print a warning.
  setMaxListeners(0, controller.signal);
  const end = () => controller.abort();
  const unwatch = watch(end);
  const timer = setTimeout(end, budgetMs);
  const stop = () => {
    clearTimeout(timer);
    unwatch();
  };
  return { signal: controller.signal, stop };
}

/** Headers of every answer of the API: nothing may be framed, sniffed, cached or referred. */
export const API_HEADERS: { readonly [name: string]: string } = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

/** Headers of every page: own styles and scripts, nothing inline, nothing from another host. */
export const PAGE_HEADERS: { readonly [name: string]: string } = {
  ...API_HEADERS,
  // With no referrer at all browsers hide the origin of a form from us too.
  'referrer-policy': 'same-origin',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
};
