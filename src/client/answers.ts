// Answers one question: what does each method of the client take, and what does it give?
// Both follow from the declaration of its route.

import type { z } from 'zod';
import type { ShownBy } from '../contract/shown.ts';
import type { Contracts } from './routes.ts';

type Declared = {
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType | null;
};

/** The body that a route takes: none, one that may be left out, or one that has to be sent. */
type Body<B> = [B] extends [never]
  ? unknown
  : undefined extends B
    ? { readonly body?: Exclude<B, undefined> }
    : { readonly body: B };

/** The fields of an object; of one without any, nothing is asked. */
type Fields<F> = string extends keyof F ? unknown : Readonly<F>;

/** What a route is asked: the fields of its path and query by name, and its body under `body`. */
type Question<R extends Declared> = Fields<z.input<R['params']>> &
  Fields<z.input<R['query']>> &
  Body<z.input<NonNullable<R['body']>>>;

/** A reply of a route without the envelope: look at `status` before `body`. */
type Replied<S> = {
  [K in keyof S & number]: {
    readonly status: K;
    readonly body: S[K] extends z.ZodType ? z.output<S[K]> : never;
  };
}[keyof S & number];

/** What a route gives: the envelope, or one of its declared replies. */
type Given<R> = R extends { readonly kind: 'evidence' }
  ? ShownBy<R>
  : R extends { readonly responses: infer S }
    ? Replied<S>
    : never;

/** What one call may say beside its question. */
export type CallOptions = {
  /** Ends the call; it rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** The time for all of it, attempts and waiting included, instead of the client's own. */
  readonly timeoutMs?: number;
};

type Method<R extends Declared> =
  Record<never, never> extends Question<R>
    ? (question?: Question<R>, options?: CallOptions) => Promise<Given<R>>
    : (question: Question<R>, options?: CallOptions) => Promise<Given<R>>;

/** A method for each declared route, under the route's own name. */
export type Client = { readonly [N in keyof Contracts]: Method<Contracts[N]> };

/** What a method of the client takes, by its name. */
export type QuestionOf<N extends keyof Contracts> = Question<Contracts[N]>;

/** What a method of the client gives, by its name. */
export type AnswerOf<N extends keyof Contracts> = Given<Contracts[N]>;
