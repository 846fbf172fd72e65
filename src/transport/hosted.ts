// Answers one question: how does a request of a hosted route become its answer.
// It works on node's own response, whoever found the route: the framework or `direct.ts`.
// It refuses to let an answer leave before its charge is stored, and to charge for a fault.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { HostedRule } from '../access/credential.ts';
import type { Admitted, Gate, TurnedAway } from '../access/gate.ts';
import { type QuotaFigures, quotaHeaders } from '../access/quota.ts';
import { Answer } from '../contract/answer.ts';
import { Refusal } from '../contract/refusals.ts';
import type { AccessRule, AnyEvidenceRoute, AnyPlainRoute, Asked } from '../contract/route.ts';
import type { Soon } from '../evidence/soon.ts';
import { parseInput, type Sent } from './input.ts';
import type { Meters } from './metrics.ts';
import type { Log, Mounted } from './mounted.ts';
import { describe, faultRefusal, HOSTED_HEADERS, reasonOf } from './refusing.ts';
import { API_HEADERS } from './security-headers.ts';

/** What answering needs of the server. */
export type Answering = {
  readonly gate: Gate | null;
  readonly meters: Meters;
  readonly log: Log;
  readonly now: () => number;
  readonly budgetMs: number;
};

/** One request on its way: its id, when it came (`performance.now`), and where its answer goes. */
export type Exchange = {
  readonly id: string;
  readonly startedMs: number;
  readonly response: ServerResponse;
};

const JSON_TYPE = 'application/json; charset=utf-8';
const OK = 200;
// As names and values in turn, the form that node writes fastest.
const ANSWER_HEADERS: readonly string[] = Object.entries({
  ...API_HEADERS,
  ...HOSTED_HEADERS,
  'content-type': JSON_TYPE,
}).flat();

/** Whether this caller may ask this route. Nothing is charged yet. */
export function admit(
  { authorization, 'x-service-membership': membership }: IncomingHttpHeaders,
  search: string,
  { route }: Mounted,
  { gate }: Answering,
): Soon<Admitted | TurnedAway> {
  if (gate === null) throw new Error('a hosted route needs a gate');
  const serviceMembership = typeof membership === 'string' ? membership : undefined;
  return gate.admit({ authorization, serviceMembership, search }, hostedRule(route.access));
}

function hostedRule(access: AccessRule): HostedRule {
  if (access === 'open' || access === 'bearer') throw new Error('a hosted route needs a plan');
  return access;
}

/** Answers an admitted request, or refuses it. It never rejects: a fault of ours is a 500. */
export async function answerHosted(
  exchange: Exchange,
  admitted: Admitted,
  sent: Sent,
  mounted: Mounted,
  options: Answering,
): Promise<void> {
  const { route } = mounted;
  const { gate, meters, now } = options;
  try {
    if (gate === null) throw new Error('a hosted route needs a gate');
    const said = await ask(exchange.response, sent, mounted, options);
    if (said instanceof Refusal) {
      refuse(exchange, said, admitted.figures, route, meters);
      return;
    }
    if (!(said instanceof Answer)) throw new Error(`${route.name}: not an answer`);
    // Serialised before it is charged, so that a fault in the answer is never paid for.
    const bytes = said.bytes(now());
    const charged = await gate.charge(admitted);
    if (charged.kind === 'refused') {
      refuse(exchange, charged.refusal, null, route, meters);
      return;
    }
    meters.answered(route.name, said.state, (performance.now() - exchange.startedMs) / 1000);
    sendAnswer(exchange, charged.figures, bytes);
  } catch (fault) {
    sendFault(exchange, fault, admitted.figures, route, options);
  }
}

/** Answers a request that came straight from the socket: admission first, then the answer. */
export async function serveHosted(
  exchange: Exchange,
  headers: IncomingHttpHeaders,
  sent: Sent,
  mounted: Mounted,
  options: Answering,
): Promise<void> {
  let admitted: Admitted | TurnedAway;
  try {
    const said = admit(headers, '', mounted, options);
    admitted = said instanceof Promise ? await said : said;
  } catch (fault) {
    sendFault(exchange, fault, null, mounted.route, options);
    return;
  }
  if (admitted.kind === 'admitted') {
    await answerHosted(exchange, admitted, sent, mounted, options);
  } else refuse(exchange, admitted.refusal, null, mounted.route, options.meters);
}

function refuse(
  exchange: Exchange,
  refusal: Refusal,
  figures: QuotaFigures | null,
  route: AnyEvidenceRoute | AnyPlainRoute,
  meters: Meters,
): void {
  meters.refused(route.name, reasonOf(refusal));
  sendRefusal(exchange, refusal, figures);
}

function sendFault(
  exchange: Exchange,
  fault: unknown,
  figures: QuotaFigures | null,
  route: AnyEvidenceRoute | AnyPlainRoute,
  { log }: Answering,
): void {
  const { id, response } = exchange;
  log.error({ request_id: id, route: route.path, fault: describe(fault) }, 'fault');
  // Half an answer cannot be taken back: the client sees a broken connection, never a whole one.
  if (response.headersSent) response.destroy();
  else sendRefusal(exchange, faultRefusal(id), figures);
}

function sendRefusal(
  { id, response }: Exchange,
  refusal: Refusal,
  figures: QuotaFigures | null,
): void {
  const text = JSON.stringify(refusal.body);
  response.writeHead(refusal.status, {
    ...API_HEADERS,
    ...HOSTED_HEADERS,
    'content-type': JSON_TYPE,
    'x-request-id': id,
    ...(figures === null ? {} : quotaHeaders(figures)),
    ...refusal.headers,
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

function sendAnswer({ id, response }: Exchange, figures: QuotaFigures, bytes: Buffer): void {
  const { limit, remaining, reset_s } = figures;
  response.writeHead(OK, [
    ...ANSWER_HEADERS,
    'x-request-id',
    id,
    'X-RateLimit-Limit',
    String(limit),
    'X-RateLimit-Remaining',
    String(remaining),
    'X-RateLimit-Reset',
    String(reset_s),
    'content-length',
    String(bytes.length),
  ]);
  response.end(bytes);
}

/** Parses the input and asks the handler; a refusal where the input does not parse. */
export async function ask(
  response: ServerResponse,
  sent: Sent,
  { route, handle }: Mounted,
  { now, budgetMs }: Pick<Answering, 'now' | 'budgetMs'>,
): Promise<unknown> {
  const input = parseInput(route, sent);
  if (input instanceof Refusal) return input;
  const asking = askedOf(response, now, budgetMs);
  try {
    return await handle(input, asking.asked);
  } finally {
    asking.done();
  }
}

// The signal ends when the client hangs up or the time is spent. Most answers come from memory and
// never look at it, so it is made when it is first asked for; it is a field of its own, because
// engines pass on what they are told with limits of their own beside it.
function askedOf(
  response: ServerResponse,
  now: () => number,
  budgetMs: number,
): { asked: Asked; done: () => void } {
  let ending: Ending | null = null;
  const asked = {
    now,
    get signal(): AbortSignal {
      if (ending === null) ending = endingWith(response, budgetMs);
      return ending.signal;
    },
  };
  return { asked, done: () => ending?.stop() };
}

type Ending = { readonly signal: AbortSignal; readonly stop: () => void };

function endingWith(response: ServerResponse, budgetMs: number): Ending {
  const controller = new AbortController();
  const end = () => controller.abort();
  if (response.destroyed) end();
  response.once('close', end);
  const timer = setTimeout(end, budgetMs);
  const stop = () => {
    clearTimeout(timer);
    response.off('close', end);
  };
  return { signal: controller.signal, stop };
}
