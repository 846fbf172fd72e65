// Answers one question: how does what a known caller sends to a route become status and bytes.
// It knows no HTTP: every door (the web server, tools, a scan) that knows the caller asks here.
// It refuses to let an answer leave before its charge is stored, and to charge for a fault.

import type { Admission, Admitted, Gate } from '../access/gate.ts';
import { type QuotaFigures, quotaHeaders } from '../access/quota.ts';
import { Answer, Reply } from '../contract/answer.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Asked } from '../contract/route.ts';
import { type Guard, type Guarding, guardOf } from './guard.ts';
import { parseInput, type Sent } from './input.ts';
import type { Meters } from './metrics.ts';
import type { Log, Mounted } from './mounted.ts';
import { describe, faultRefusal, reasonOf } from './refusing.ts';

/** One request: its id in the log, when it came (`performance.now`), what its handler is told. */
export type Question = {
  readonly id: string;
  readonly startedMs: number;
  readonly asked: Asked;
};

/** What leaves. */
export type Said = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly bytes: Buffer;
};

/** What answering needs of the server. */
export type Answering = Guarding & { readonly meters: Meters; readonly log: Log };

/** Asks one route: parses, answers, charges. It never rejects: a fault of ours is a 500. */
export type AskRoute = (sent: Sent, by: Admission, question: Question) => Promise<Said>;

/** A mounted route as its doors hold it: who may come in, and how it is asked. */
export type Asking = {
  readonly route: Mounted['route'];
  readonly guard: Guard;
  readonly ask: AskRoute;
};

/** The mounted routes by name. One for all doors of a server, so that they share its bounds. */
export type Answers = ReadonlyMap<string, Asking>;

/** Makes what every door asks. Throws where a route cannot be guarded. */
export function answersOf(mounted: readonly Mounted[], parts: Answering): Answers {
  return new Map(
    mounted.map((one) => {
      const { route } = one;
      return [route.name, { route, guard: guardOf(route, parts), ask: answerer(one, parts) }];
    }),
  );
}

/** Requests of a route that run at once where no quota bounds them; more are shed. */
const UNCHARGED_REQUESTS_MAX = 256;
const OK = 200;
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** What is about one caller is kept by nobody on the way. */
const NOT_KEPT = {
  'cache-control': 'no-store',
  vary: 'Authorization, x-service-membership',
};

/** Makes what answers a route. */
export function answerer({ route, handle }: Mounted, parts: Answering): AskRoute {
  const { gate, meters, log } = parts;
  let running = 0;
  return async (sent, by, { id, startedMs, asked }) => {
    if (by.kind === 'uncharged' && running >= UNCHARGED_REQUESTS_MAX) {
      const busy = { error: 'Too many requests at once; try again in a second.' };
      const shed = new Refusal('overloaded', busy, { 'retry-after': '1' });
      return refused(route.name, shed, null, meters);
    }
    running += 1;
    try {
      const input = parseInput(route, sent);
      if (input instanceof Refusal) return refused(route.name, input, figuresOf(by), meters);
      const said = await handle(input, asked, by.caller);
      if (said instanceof Refusal) return refused(route.name, said, figuresOf(by), meters);
      // Written before it is charged, so that a fault in the answer is never paid for.
      const { status, state, bytes } = written(said, asked.now());
      const charged = by.kind === 'uncharged' ? null : await charge(gate, by);
      if (charged?.kind === 'refused') return refused(route.name, charged.refusal, null, meters);
      meters.answered(route.name, state, (performance.now() - startedMs) / 1000);
      const headers =
        charged === null
          ? JSON_TYPE
          : { ...JSON_TYPE, ...NOT_KEPT, ...quotaHeaders(charged.figures) };
      return { status, headers, bytes };
    } catch (fault) {
      log.error({ request_id: id, route: route.path, fault: describe(fault) }, 'fault');
      return refusalSaid(faultRefusal(id), figuresOf(by));
    } finally {
      running -= 1;
    }
  };
}

/** Counts a refusal, and makes what leaves of it. */
export function refused(
  route: string,
  refusal: Refusal,
  figures: QuotaFigures | null,
  meters: Meters,
): Said {
  meters.refused(route, reasonOf(refusal));
  return refusalSaid(refusal, figures);
}

/** What leaves of a refusal, with the caller's allowance where it is known. */
export function refusalSaid(refusal: Refusal, figures: QuotaFigures | null): Said {
  const headers = {
    ...JSON_TYPE,
    ...NOT_KEPT,
    ...(figures === null ? {} : quotaHeaders(figures)),
    ...refusal.headers,
  };
  return { status: refusal.status, headers, bytes: Buffer.from(JSON.stringify(refusal.body)) };
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
  if (said instanceof Answer) return { status: OK, state: said.state, bytes: said.bytes(now) };
  if (!(said instanceof Reply)) throw new Error('neither an answer nor a reply');
  return { status: said.status, state: String(said.status), bytes: said.bytes() };
}
