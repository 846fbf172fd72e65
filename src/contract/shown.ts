// Answers one question: what is an evidence answer to whoever reads it.
// An absence has no `data` to its reader, so that nothing can be read of it before its state was:
// a `data?.listed` that is undefined would be taken for "not listed".

import type { z } from 'zod';
import type { ShownSource } from '../evidence/source.ts';
import type { Absence } from './answer.ts';

/** An answer that carries data. `as_of` is Unix seconds: the age of its oldest observation. */
export type Ok<D> = {
  readonly state: 'ok';
  readonly subject: string;
  readonly sources: readonly ShownSource[];
  readonly as_of: number;
  readonly data: D;
};

/** An answer that says why there is none. It denies nothing about its subject. */
export type Absent<A extends Absence> = {
  readonly state: A;
  readonly subject: string;
  readonly sources: readonly ShownSource[];
  readonly as_of: number;
  readonly reason: string;
};

/** An answer: data, or one of the absences that its route declares. Look at `state` first. */
export type ShownAnswer<D, A extends Absence> = Ok<D> | (A extends Absence ? Absent<A> : never);

/** What the reader of an evidence route is given. */
export type ShownBy<R> = R extends {
  readonly data: infer D extends z.ZodType;
  readonly absences: readonly (infer A extends Absence)[];
}
  ? ShownAnswer<z.output<D>, A>
  : never;
