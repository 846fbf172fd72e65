// Answers one question: how does a parsed request of a known caller become status and bytes.
// It knows no HTTP: whoever has parsed the input and knows the caller asks here.
// It refuses to let an answer leave before its charge is stored, and to charge for a fault.

import type { Admitted, Gate } from '../access/gate.ts';
import { type QuotaFigures, quotaHeaders } from '../access/quota.ts';
import { Answer, Reply } from '../contract/answer.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Asked } from '../contract/route.ts';
import type { Input } from './input.ts';
import type { Meters } from './metrics.ts';
import type { Log, Mounted } from './mounted.ts';
import { describe, faultRefusal, reasonOf } from './refusing.ts';

/** Who asks, as the guard of a route let them in: their answers are charged, or free. */
export type Caller = Admitted | { readonly kind: 'uncharged' };

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
export type Answering = {
  readonly gate: Gate | null;
  readonly meters: Meters;
  readonly log: Log;
};

/** Asks one route. It never rejects: a fault of ours is a 500. */
export type AskRoute = (input: Input, caller: Caller, question: Question) => Promise<Said>;

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
  return async (input, caller, { id, startedMs, asked }) => {
    if (caller.kind === 'uncharged' && running >= UNCHARGED_REQUESTS_MAX) {
      const busy = { error: 'Too many requests at once; try again in a second.' };
      const shed = new Refusal('overloaded', busy, { 'retry-after': '1' });
      return refused(route.name, shed, null, meters);
    }
    running += 1;
    try {
      const said = await handle(input, asked);
      if (said instanceof Refusal) return refused(route.name, said, figuresOf(caller), meters);
      // Written before it is charged, so that a fault in the answer is never paid for.
      const { status, state, bytes } = written(said, asked.now());
      const charged = caller.kind === 'uncharged' ? null : await charge(gate, caller);
      if (charged?.kind === 'refused') return refused(route.name, charged.refusal, null, meters);
      meters.answered(route.name, state, (performance.now() - startedMs) / 1000);
      const headers =
        charged === null
          ? JSON_TYPE
          : { ...JSON_TYPE, ...NOT_KEPT, ...quotaHeaders(charged.figures) };
      return { status, headers, bytes };
    } catch (fault) {
      log.error({ request_id: id, route: route.path, fault: describe(fault) }, 'fault');
      return refusalSaid(faultRefusal(id), figuresOf(caller));
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
export function figuresOf(caller: Caller | null): QuotaFigures | null {
  return caller?.kind === 'admitted' ? caller.figures : null;
}

function charge(gate: Gate | null, caller: Admitted) {
  if (gate === null) throw new Error('an admitted caller needs the gate that admitted it');
  return gate.charge(caller);
}

function written(said: unknown, now: number) {
  if (said instanceof Answer) return { status: OK, state: said.state, bytes: said.bytes(now) };
  if (!(said instanceof Reply)) throw new Error('neither an answer nor a reply');
  return { status: said.status, state: String(said.status), bytes: said.bytes() };
}
