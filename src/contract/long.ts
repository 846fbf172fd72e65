// Answers one question: how is work declared that outlasts a request?
// Once: from it come the route that begins it (202, Location), the one that tells its state and
// the one that cancels it.

import { z } from 'zod';
import type { Reply } from './answer.ts';
import { type AccessRule, type AnyPlainRoute, plainRoute, type RouteFacts } from './route.ts';
import { harmless, oneOf, prose, unixSeconds, words } from './wire.ts';

/** What bounds the work of one route. */
export type LongBounds = {
  /** Under way at once in all processes; more are refused. */
  readonly runningMax: number;
  /** Held for one caller, ended ones too, until they are a week old. */
  readonly keptMax: number;
  /** It is stopped after so long, and has failed. */
  readonly deadlineMs: number;
};

/** Work is somebody's: whoever began it, and nobody else, sees it. */
type OwnedAccess = Exclude<AccessRule, 'open' | 'visitor'>;

type LongSpec<N extends string, B extends z.ZodType, R extends z.ZodObject> = Omit<
  RouteFacts,
  'name' | 'method' | 'access'
> & {
  readonly name: N;
  readonly access: OwnedAccess;
  readonly body: B;
  readonly result: R;
  readonly bounds: LongBounds;
};

/** One of its three routes. What it replies is held to its declaration when it is written. */
type Step = AnyPlainRoute & {
  readonly reply: (status: number, body: unknown, headers?: object) => Reply<string>;
};

/** Declared work. */
export type LongRoute = {
  readonly bounds: LongBounds;
  readonly result: z.ZodObject;
  readonly begin: Step;
  readonly poll: Step;
  readonly cancel: Step;
};

const STATES = ['running', 'done', 'failed', 'cancelled', 'lost'] as const;

/** Declares work that outlasts its request. Its path has no parameters. */
export function longRoute<const N extends string, B extends z.ZodType, R extends z.ZodObject>(
  spec: LongSpec<N, B, R>,
) {
  const { name, path, summary, body, result, bounds, ...facts } = spec;
  const work = z.strictObject({
    id: words(),
    state: oneOf(STATES),
    began_at: unixSeconds,
    ended_at: unixSeconds.nullable(),
    result: harmless(result.nullable(), 'it is there once the state is done'),
    reason: prose().nullable(),
  });
  const unknown = z
    .strictObject({ error: prose() })
    .describe('No work of this caller has this id.');
  const one = {
    ...facts,
    path: `${path}/{id}`,
    params: z.strictObject({ id: z.string().max(64) }),
  };
  const routes = {
    bounds,
    result,
    begin: plainRoute({
      ...facts,
      name,
      path,
      method: 'POST',
      summary,
      refusals: ['overloaded'],
      body,
      responses: { 202: work.describe('It is under way. Ask at Location what became of it.') },
      headers: { 202: { location: 'Where its state is told.', 'retry-after': 'When to ask.' } },
    }),
    poll: plainRoute({
      ...one,
      name: `${name}_state`,
      method: 'GET',
      summary: `What became of: ${summary}`,
      refusals: ['overloaded'],
      responses: { 200: work, 404: unknown },
    }),
    cancel: plainRoute({
      ...one,
      name: `${name}_cancel`,
      method: 'DELETE',
      summary: `Cancels: ${summary}`,
      refusals: ['overloaded'],
      responses: { 200: work, 404: unknown },
    }),
  };
  return routes as unknown as LongRoute;
}
