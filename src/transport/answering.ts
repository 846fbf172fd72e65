// Answers one question: how does what a known caller sends to a route become status and bytes.
// It knows no HTTP: every door (the web server, tools, a scan) that knows the caller asks here.
// It refuses to let an answer leave before its charge is stored, and to charge for a fault.

import { hash } from 'node:crypto';
import type { Admission, Admitted, Gate } from '../access/gate.ts';
import { type QuotaFigures, quotaHeaders } from '../access/quota.ts';
import { Answer, type Headers, Reply } from '../contract/answer.ts';
import { deprecationHeaders } from '../contract/deprecation.ts';
import { HTML_TYPE } from '../contract/media.ts';
import { Refusal } from '../contract/refusals.ts';
import { isPage } from '../contract/reply.ts';
import type { Asked } from '../contract/route.ts';
import { type Guard, type Guarding, guardOf } from './guard.ts';
import { parseInput, type Sent } from './input.ts';
import type { Meters } from './metrics.ts';
import type { Log, Mounted } from './mounted.ts';
import { describe, faultRefusal, reasonOf } from './refusing.ts';
import { requestsUnderWay, type UnderWay } from './under-way.ts';

/** One request: its id in the log, when it came (`performance.now`), what its handler is told. */
export type Question = {
  readonly id: string;
  readonly startedMs: number;
  readonly asked: Asked;
  /** Whether its client has hung up, where the door can tell. */
  readonly isGone?: () => boolean;
};

/** What leaves. */
export type Said = {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
};

/** A whole page that says what was refused, and what to do next. */
export type RefusalPage = (refusal: Refusal) => string;

/** What answering needs of the server. Without a page of refusals it answers no pages. */
export type Answering = Guarding & {
  readonly meters: Meters;
  readonly log: Log;
  readonly refusalPage?: RefusalPage;
};

/** Asks one route: parses, answers, charges. It never rejects: a fault of ours is a 500. */
export type AskRoute = (sent: Sent, by: Admission, question: Question) => Promise<Said>;

/** Counts a refusal of a route, and makes what leaves of it. */
export type Refuse = (refusal: Refusal, figures: QuotaFigures | null) => Said;

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
  for (const one of mounted) {
    const { route } = one;
    if (answers.has(route.name)) throw new Error(`${route.name} is mounted twice`);
    const refuse = refuserOf(route, parts);
    const guard = guardOf(route, parts);
    answers.set(route.name, { route, guard, refuse, ask: answerer(one, refuse, underWay, parts) });
  }
  return answers;
}

const OK = 200;
const JSON_TYPE = 'application/json; charset=utf-8';
const NO_STORE = 'no-store';
/** By what the answers to callers differ, wherever one has to hold something. */
const VARY = 'Authorization, x-service-membership';

function answerer(
  { route, handle }: Mounted,
  refuse: Refuse,
  underWay: UnderWay,
  parts: Answering,
): AskRoute {
  const { gate, meters, log } = parts;
  const headersOf = route.access === 'open' ? openHeaders(route) : ownHeaders(route);
  const { deprecated } = route;
  const notice = deprecated === undefined ? null : deprecationHeaders(deprecated);
  const hungUp = (): Said => {
    meters.refused(route.name, HUNG_UP);
    return NOBODY_READS;
  };
  return async (sent, by, { id, startedMs, asked, isGone }) => {
    if (isGone?.() === true) return hungUp();
    const tooMany = underWay.begin(by, route.name);
    if (tooMany !== null) return refuse(tooMany, figuresOf(by));
    try {
      const input = parseInput(route, sent);
      if (input instanceof Refusal) return refuse(input, figuresOf(by));
      const said = await handle(input, asked, by.caller);
      if (said instanceof Refusal) return refuse(said, figuresOf(by));
      // Written before it is charged, so that a fault in the answer is never paid for.
      const { status, state, bytes, declared } = written(said, asked.now());
      // What is charged is an answer that is ready while its client is still there.
      if (isGone?.() === true) return hungUp();
      const charged = by.kind === 'uncharged' ? null : await charge(gate, by);
      if (charged?.kind === 'refused') return refuse(charged.refusal, null);
      meters.answered(route.name, state, (performance.now() - startedMs) / 1000);
      const headers =
        charged === null
          ? headersOf(declared, status, bytes)
          : chargedHeaders(charged.figures, declared);
      return { status, headers: notice === null ? headers : { ...headers, ...notice }, bytes };
    } catch (fault) {
      log.error({ request_id: id, route: route.path, fault: describe(fault) }, 'fault');
      return refuse(faultRefusal(id), figuresOf(by));
    } finally {
      underWay.end(by, route.name);
    }
  };
}

/** The reason under which a request is counted whose client left before its answer was ready. */
const HUNG_UP = 'hung_up';
const NOBODY_READS: Said = { status: 499, headers: {}, bytes: Buffer.alloc(0) };

type HeadersOf = (declared: Headers | null, status: number, bytes: Buffer) => Headers;

const OPEN_JSON: Headers = { 'content-type': JSON_TYPE, 'cache-control': NO_STORE };

function ownHeaders({ access }: Mounted['route']): HeadersOf {
  const bySession = access === 'session' || access === 'visitor';
  const own: Headers = { 'cache-control': NO_STORE, vary: bySession ? 'Cookie' : VARY };
  const json: Headers = { 'content-type': JSON_TYPE, ...own };
  return (declared) => (declared === null ? json : { ...own, ...declared });
}

// What anybody may keep is named by its bytes.
function openHeaders(route: Mounted['route']): HeadersOf {
  const keptS = route.kind === 'plain' ? route.keptS : undefined;
  return (declared, status, bytes) => {
    if (declared === null) return OPEN_JSON;
    if (keptS === undefined || status !== OK) return { 'cache-control': NO_STORE, ...declared };
    const etag = `"${hash('sha256', bytes, 'base64url')}"`;
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

/** What leaves of a refusal, with the caller's allowance where it is known. */
export function refusalSaid(
  refusal: Refusal,
  figures: QuotaFigures | null,
  page?: RefusalPage,
): Said {
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

/** The allowance of a caller that has one. */
export function figuresOf(by: Admission | null): QuotaFigures | null {
  return by?.kind === 'admitted' ? by.figures : null;
}

function charge(gate: Gate | null, by: Admitted) {
  if (gate === null) throw new Error('an admitted caller needs the gate that admitted it');
  return gate.charge(by);
}

function written(said: unknown, now: number) {
  if (said instanceof Answer) {
    return { status: OK, state: said.state, bytes: said.bytes(now), declared: null };
  }
  if (!(said instanceof Reply)) throw new Error('neither an answer nor a reply');
  const { status, headers } = said;
  return { status, state: String(status), bytes: said.bytes(), declared: headers };
}
