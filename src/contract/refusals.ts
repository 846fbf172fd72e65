// A refusal is about the request or the caller; it never says anything about an address.

import { z } from 'zod';
import { describeMisform } from '../chain/address.ts';
import { why } from '../evidence/reasons.ts';
import { sharedShape } from './wire.ts';

/** How many problems of a body are named; the rest are counted. */
export const PROBLEMS_SHOWN_MAX = 20;
/** The longest text of one problem, so that a body can never be echoed back at length. */
const PROBLEM_CHARS_MAX = 200;
const NAME_CHARS_MAX = 100;

/** Why a credential opened nothing. */
export const CREDENTIAL_REASONS = [
  'no_credential',
  'unknown_membership',
  'tier_too_low',
  'store_unavailable',
] as const;
export type CredentialReason = (typeof CREDENTIAL_REASONS)[number];

const plain = z.strictObject({ error: z.string() });

/** What was wrong with an input: where it stood, and what was expected there. */
const inputProblem = sharedShape(
  'InputProblem',
  z.strictObject({
    path: z
      .array(z.union([z.string(), z.int().nonnegative()]))
      .describe('Names of fields and places in lists, from the outermost on.'),
    says: z.string(),
  }),
);
export type InputProblem = z.output<typeof inputProblem>;

const badInputBody = sharedShape(
  'BadInput',
  z.strictObject({
    error: z.string().describe('All of it in words, for people.'),
    fields: z
      .array(inputProblem)
      .min(1)
      .max(PROBLEMS_SHOWN_MAX)
      .describe('The same for programs; the first of them, where there are many.'),
  }),
);

/** Every refusal that the service can give. `docs/reference/errors.md` is made from this table. */
export const REFUSALS = {
  bad_input: {
    status: 400,
    body: badInputBody,
    means: 'A field was not what was expected; `fields` names it by its path.',
  },
  unauthorized: {
    status: 401,
    body: z.strictObject({ error: z.literal('unauthorized'), reason: z.string() }),
    means: 'The bearer token is missing or not known.',
  },
  credential: {
    status: 402,
    body: z.strictObject({
      error: z.string(),
      reason: z.enum(CREDENTIAL_REASONS),
      entitlements_durable: z.boolean(),
    }),
    means: 'The key opened nothing. Do not retry in a loop.',
  },
  wrong_origin: {
    status: 403,
    body: plain,
    means:
      'The Host or the Origin of the request is not one of this service, or not one that the ' +
      'publishable key lists.',
  },
  foreign_form: {
    status: 403,
    body: plain,
    means: 'It was not sent by a page of this service that this browser had opened.',
  },
  too_slow: { status: 408, body: plain, means: 'The request did not come whole in time.' },
  not_found: { status: 404, body: plain, means: 'No such route.' },
  wrong_method: { status: 405, body: plain, means: 'The route takes another method; see Allow.' },
  body_too_large: { status: 413, body: plain, means: 'The body is over the published size.' },
  wrong_content_type: {
    status: 415,
    body: plain,
    means: 'The body is not of the type that the route takes, or is encoded.',
  },
  upgrade_required: {
    status: 426,
    body: z.strictObject({
      state: z.literal('upgrade_required'),
      reason: z.string(),
      websocket_url: z.string(),
      sse_url: z.string(),
    }),
    means: 'The path is that of a WebSocket; its twin sends the same as server-sent events.',
  },
  head_too_large: { status: 431, body: plain, means: 'Path and headers are over 16 KiB.' },
  quota: {
    status: 429,
    body: z.strictObject({
      error: z.string(),
      reason: z.literal('quota_exhausted'),
      reset: z.int().nonnegative(),
    }),
    means: 'The allowance is spent; wait for its reset.',
  },
  fault: {
    status: 500,
    body: z.strictObject({ error: z.string(), request_id: z.string() }),
    means: 'A fault of the service. The id stands in its log.',
  },
  at_capacity: {
    status: 503,
    body: z.strictObject({
      state: z.literal('at_capacity'),
      error: z.literal('too_many_connections'),
      scope: z.string(),
      limit: z.int().nonnegative(),
      current: z.int().nonnegative(),
      reason: z.string(),
    }),
    means: 'As many streams are open as the credential, or the process, may hold; see Retry-After.',
  },
  overloaded: {
    status: 503,
    body: plain,
    means: 'Too much is under way; nothing was charged. Try again.',
  },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** A refused request: which row of the table, its body, and headers that go with it. */
export class Refusal {
  readonly code: RefusalCode;
  readonly status: number;
  readonly body: unknown;
  readonly headers: { readonly [name: string]: string };
  constructor(code: RefusalCode, body: unknown, headers: { readonly [name: string]: string } = {}) {
    this.code = code;
    this.status = REFUSALS[code].status;
    this.body = body;
    this.headers = headers;
  }
}

/** Refuses an input by naming each field and what was expected; the input is never echoed. */
export function badInput(problems: readonly InputProblem[]): Refusal {
  const fields = problems.slice(0, PROBLEMS_SHOWN_MAX).map(({ path, says }) => ({
    path: path.map((step) => (typeof step === 'string' ? step.slice(0, NAME_CHARS_MAX) : step)),
    says: says.slice(0, PROBLEM_CHARS_MAX),
  }));
  const rest = problems.length - fields.length;
  const texts = fields.map((one) => problemText(one).slice(0, PROBLEM_CHARS_MAX));
  const error = texts.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
  return new Refusal('bad_input', { error, fields });
}

/** Refuses one field of an input. */
export function badField(name: string, says: string): Refusal {
  return badInput([{ path: [name], says }]);
}

/** Refuses a text that is no address of a known form, in the field of this name. */
export function badAddress(text: string, name = 'address'): Refusal {
  return badField(name, why(describeMisform(text)).reason);
}

/** A problem in words: `addresses[3]: form not recognised`. What is of the whole has no name. */
export function problemText({ path, says }: InputProblem): string {
  const name = path.reduce<string>((named, step) => {
    if (typeof step === 'number') return `${named}[${step}]`;
    return named === '' ? step : `${named}.${step}`;
  }, '');
  return name === '' ? says : `${name}: ${says}`;
}

/** The refusal of who may come again in a second: nothing of the request is at fault. */
export function overloadRefusal(error: string): Refusal {
  return new Refusal('overloaded', { error }, { 'retry-after': '1' });
}
