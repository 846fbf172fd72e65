// Answers one question: what is a schema made of.

import type { z } from 'zod';

/** A check as zod runs it: it adds to the issues what does not pass. */
export type Check = z.core.$ZodCheck<unknown>;

/** The parts of a schema, whatever its kind. */
export type Def = {
  readonly type: string;
  readonly coerce?: boolean;
  readonly checks?: readonly Check[];
  readonly shape?: { readonly [field: string]: z.ZodType };
  readonly catchall?: z.ZodType;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly keyType?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly values?: readonly unknown[];
  readonly entries?: { readonly [name: string]: string | number };
};

/** The definition of a schema: its kind and its parts. */
export function defOf(schema: z.ZodType): Def {
  return schema._zod.def as unknown as Def;
}
