// Answers one question: is what was sent what the route declares.
// Problems name the field and what was expected; what was sent is never echoed, but for a name
// that is not known and can be nothing but a name.

import type { z } from 'zod';
import { badInput, type Refusal } from '../contract/refusals.ts';
import { defOf } from '../contract/schema.ts';

type Declared = {
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: z.ZodType | null;
  readonly requestHeaders?: z.ZodObject | null;
};
/** What a request says, before anything is known of it. */
export type Sent = {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers?: unknown;
};
/** What a request says, as its route declares it. */
export type Input = Sent;

/** The declared input, or the refusal that names every field that was wrong. */
export function parseInput(route: Declared, sent: Sent): Input | Refusal {
  const problems: string[] = [];
  const params = take(route.params, sent.params, '', problems);
  const query = take(route.query, sent.query, '', problems);
  const body = route.body === null ? undefined : take(route.body, sent.body, 'body', problems);
  const { requestHeaders } = route;
  if (requestHeaders === undefined || requestHeaders === null) {
    return problems.length > 0 ? badInput(problems) : { params, query, body };
  }
  const headers = take(requestHeaders, declaredOf(requestHeaders, sent.headers), '', problems);
  return problems.length > 0 ? badInput(problems) : { params, query, body, headers };
}

function declaredOf({ shape }: z.ZodObject, sent: unknown): object {
  return Object.fromEntries(
    Object.keys(shape).map((name) => [name, Reflect.get(Object(sent), name)]),
  );
}

function take(schema: z.ZodType, value: unknown, whole: string, problems: string[]): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) problems.push(problem(issue, whole, schema));
  return undefined;
}

function problem(issue: z.core.$ZodIssue, whole: string, schema: z.ZodType): string {
  const at = fieldName(issue.path);
  const where = at === '' ? whole : at;
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(shapeOf(schema));
    const names = issue.keys.map(shownName).join(', ');
    const expected = known.length === 0 ? 'no fields here' : `only ${known.join(', ')}`;
    return `${where === '' ? '' : `${where}: `}unknown name ${names}; expected ${expected}`;
  }
  const expected = issue.message.replace(/^Invalid input: /, '');
  return `${where === '' ? 'request' : where}: ${expected}`;
}

// A key can be sent in the place of a name: what has no name's form, or begins as our keys do, is
// not repeated.
function shownName(name: string): string {
  const isName = /^[A-Za-z][A-Za-z0-9_-]{0,29}$/.test(name) && !/^sc[pt]?_/i.test(name);
  return isName ? JSON.stringify(name) : `of ${name.length} characters, not repeated here`;
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === 'number') return `${name}[${step}]`;
    return name === '' ? String(step) : `${name}.${String(step)}`;
  }, '');
}

/** The fields of an object, also of one that may be left out. */
function shapeOf(schema: z.ZodType): object {
  const { shape, innerType } = defOf(schema);
  if (shape !== undefined) return shape;
  return innerType === undefined ? {} : shapeOf(innerType);
}
