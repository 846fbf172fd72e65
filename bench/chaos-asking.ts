// Asks a service in a fault what it was asked without one, and again until it says as much.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Answers,
  falseIn,
  isAsWhole,
  lessThan,
  SAYS_NOTHING,
  type Statement,
  statementOf,
} from '../src/testing/chaos-judge.ts';
import { type Ask, askingAt, askUntilRead, type Request } from './answers-recorder.ts';
import {
  type Credentials,
  type Operation,
  operationsOf,
  readingRequests,
} from './answers-requests.ts';

const ASKED_TOGETHER = 4;
const RECOVERY_MS_MAX = 60_000;
export const RECOVERY_EACH_MS = 500;

/** A question, with the route that answers it. */
export type Question = { readonly operation: Operation; readonly request: Request };

/** How a service is asked. */
export type Asking = {
  readonly port: number;
  readonly credentials: Credentials;
  readonly isAsked: (request: Request) => boolean;
  /** How many questions are under way at a time. */
  readonly together?: number;
};

/** Every question of a service to routes that read and are no stream. */
async function questionsOf(ask: Ask, { credentials, isAsked }: Asking): Promise<Question[]> {
  const document = await ask({ name: '', path: '/openapi.json' });
  return operationsOf(JSON.parse(document.body) as unknown).flatMap((operation) => {
    const { method, scheme, path } = operation;
    if (method !== 'GET' || scheme === 'partner' || /^\/(ws|sse)\//.test(path)) return [];
    const requests = readingRequests(operation, credentials).filter(isAsked);
    return requests.map((request) => ({ operation, request }));
  });
}

/** Asks everything; `isWhole`: whoever is out of time is asked again. */
export async function askAll(asking: Asking, isWhole: boolean) {
  const { ask, close } = askingAt(asking.port);
  try {
    const questions = await questionsOf(ask, asking);
    const said = await askEach(asking.port, questions, isWhole, asking.together);
    return { questions, said };
  } finally {
    close();
  }
}

/** The state of what broke off before it had an answer: it says nothing. */
const NO_ANSWER: Statement = { ...SAYS_NOTHING, status: 0, state: 'no answer', wrong: null };

/** Asks some questions, a few at once. */
export async function askEach(
  port: number,
  questions: readonly Question[],
  isWhole: boolean,
  together = ASKED_TOGETHER,
): Promise<Map<string, Statement>> {
  const said = new Map<string, Statement>();
  const left = [...questions];
  const work = async () => {
    const { ask, close } = askingAt(port);
    try {
      for (let one = left.pop(); one !== undefined; one = left.pop()) {
        const { operation, request } = one;
        // A source that fails is asked once: what is asked again would be let off.
        const answer = isWhole ? await askUntilRead(ask, request) : await answerOr(ask, request);
        said.set(request.name, answer === null ? NO_ANSWER : statementOf(operation.id, answer));
      }
    } finally {
      close();
    }
  };
  await Promise.all(Array.from({ length: together }, work));
  return said;
}

/** The answer; `null`: the line broke. */
async function answerOr(ask: Ask, request: Request) {
  try {
    return await ask(request);
  } catch {
    return null;
  }
}

/** The questions whose answers say less or more than before. */
export function changedAmong(
  questions: readonly Question[],
  whole: Answers,
  said: Answers,
): Question[] {
  return questions.filter(({ request: { name } }) => {
    const [before, now] = [whole.get(name), said.get(name)];
    return before !== undefined && now !== undefined && !isAsWhole(before, now);
  });
}

/** How long it took until everything was said again, or what was not within the minute. */
export type Recovery = { readonly recoveredMs: number | null; readonly unlike: string | null };

/**
 * Asks everything in turn until all is answered as before, since what one route tells may rest on
 * what another was asked and kept; notes what is false meanwhile.
 */
export async function recover(
  port: number,
  questions: readonly Question[],
  whole: Answers,
  lies: string[],
): Promise<Recovery> {
  const { ask, close } = askingAt(port);
  const began = performance.now();
  try {
    for (let turn = 1; ; turn += 1) {
      const unlike: string[] = [];
      for (const { operation, request } of questions) {
        const answer = await answerOr(ask, request);
        const said = answer === null ? NO_ANSWER : statementOf(operation.id, answer);
        const before = whole.get(request.name);
        lies.push(...falseIn(request.name, before, said));
        const how = before === undefined ? null : lessThan(before, said);
        if (how !== null) unlike.push(`${request.name}: ${how}`);
      }
      const sinceMs = performance.now() - began;
      const [first] = unlike;
      if (first === undefined) return { recoveredMs: turn === 1 ? 0 : sinceMs, unlike: null };
      if (sinceMs > RECOVERY_MS_MAX) return { recoveredMs: null, unlike: first };
      await sleep(RECOVERY_EACH_MS);
    }
  } finally {
    close();
  }
}
