// Shapes that the wire uses everywhere. A field that could be read as "nothing there" is declared
// here as a claim; the types do the rest.

import { z } from 'zod';
import { DAY_S, parseIsoDate, startOfDay } from '../chain/time.ts';
import type { Claim } from '../evidence/claim.ts';

/**
 * The mark of a claimed field in a schema's metadata (read by `claims.ts` and `silence.test.ts`).
 */
export type ClaimMeta = {
  readonly rests_on: readonly string[];
  readonly rule: 'negative' | 'checked' | 'literals';
  readonly claimed?: readonly string[];
  /** A question may be limited to some of these ports: a claim rests on at least one of them. */
  readonly limited_to?: readonly string[];
};

/** The metadata key under which a claimed field carries its ports. */
export const CLAIM_META = 'exhibit_claim';

/**
 * A shape that several routes share, under the name that it has in the published document. One of a
 * single route needs none: it is called after the route and the field.
 */
export function sharedShape<S extends z.ZodType>(title: string, schema: S): S {
  return schema.meta({ title });
}

/** The values that need no reading: everything but the empty form of the type. */
export type Free<I> = I extends boolean
  ? Exclude<I, false>
  : I extends readonly (infer E)[]
    ? readonly [E, ...E[]]
    : I extends number | bigint | string
      ? never
      : I extends { readonly [key: string]: unknown }
        ? FreeObject<I>
        : I;
// A record may be empty, which denies; an object with named fields is a thing that is there.
type FreeObject<I> = string extends keyof I ? never : I;

/** The ports that a field rests on: at least one. */
export type RestsOn<P extends string> = { readonly restsOn: readonly [P, ...P[]] };

type Claimed<S extends z.ZodType, In> = z.ZodType<z.output<S>, In>;

/**
 * A field whose empty form (`false`, `[]`, `{}`, `0`, `'0'`, `''`) denies something. A handler
 * fills it with a claim that rests on at least these ports; unread, it can say no more than the
 * free forms.
 */
export function negative<S extends z.ZodType, const P extends string>(
  schema: S,
  rests: RestsOn<P>,
): Claimed<S, Claim<z.input<S>, Free<z.input<S>>, P>> {
  return mark(schema, { rests_on: rests.restsOn, rule: 'negative' });
}

/** A flag that says "this was looked at": `true` is claimed, `false` is free. */
export function checkedFlag<const P extends string>(
  rests: RestsOn<P>,
): Claimed<z.ZodBoolean, false | Claim<boolean, false, P>> {
  return mark(z.boolean(), { rests_on: rests.restsOn, rule: 'checked' });
}

/** A flag that may also be `null`, where the question does not apply to the subject. */
export function checkedFlagOrNull<const P extends string>(
  rests: RestsOn<P>,
): Claimed<z.ZodNullable<z.ZodBoolean>, false | null | Claim<boolean, false, P>> {
  return mark(z.boolean().nullable(), { rests_on: rests.restsOn, rule: 'checked' });
}

/** A closed set of words of which some mean "looked, nothing there": those are claimed. */
export function claimedWords<
  const W extends readonly [string, ...string[]],
  const C extends W[number],
  const P extends string,
>(
  words: W,
  claimed: readonly [C, ...C[]],
  rests: RestsOn<P>,
): Claimed<
  z.ZodType<W[number]>,
  Exclude<W[number], C> | Claim<W[number], Exclude<W[number], C>, P>
> {
  return mark(z.enum(words), { rests_on: rests.restsOn, rule: 'literals', claimed });
}

/**
 * The same for a question that may be limited to some ports (`limitedTo`), one of which it then
 * rests on; a question that is not rests on `restsOn`.
 */
export function claimedWordsOfAsked<
  const W extends readonly [string, ...string[]],
  const C extends W[number],
  const P extends string,
>(
  words: W,
  claimed: readonly [C, ...C[]],
  { restsOn, limitedTo }: RestsOn<P> & { readonly limitedTo: readonly P[] },
): Claimed<
  z.ZodType<W[number]>,
  Exclude<W[number], C> | { [Q in P]: Claim<W[number], Exclude<W[number], C>, Q> }[P]
> {
  return mark(z.enum(words), {
    rests_on: restsOn,
    rule: 'literals',
    claimed,
    limited_to: limitedTo,
  });
}

// The one cast that gives a plain schema the input type of its claim. The value is unwrapped and
// checked against this very metadata before the plain schema sees it (`claims.ts`).
function mark<Out>(schema: z.ZodType, meta: ClaimMeta): Out {
  return schema.meta({ [CLAIM_META]: meta }) as unknown as Out;
}

/**
 * Why the empty form of a field denies nothing by itself (read by `silence.test.ts` alone, so that
 * no document and no request carries it). `rests_on`: it may be empty only while these ports spoke.
 * `unless`: it denies where the flag of that name beside it is true. `prose`: sentences, which are
 * read for words that deny.
 */
export type HarmlessMark = {
  readonly because: string;
  readonly rests_on?: readonly string[];
  readonly unless?: string;
  readonly prose?: true;
};

const HARMLESS = z.registry<HarmlessMark>();
const MISSES = z.registry<{ readonly rests_on: readonly string[] }>();

/** The mark of a field that was declared as denying nothing, or `null`. */
export function harmlessMark(schema: z.ZodType): HarmlessMark | null {
  const mark = HARMLESS.get(schema);
  return mark === undefined ? null : mark;
}

/** The ports that a miss of this data rests on, where it may be said although others are silent. */
export function missRests(data: z.ZodType): readonly string[] | null {
  const mark = MISSES.get(data);
  return mark === undefined ? null : mark.rests_on;
}

/** Text that names or tells of something found and denies nothing: a name, a hash, an amount. */
export function words(): z.ZodString;
export function words<S extends z.ZodType>(schema: S): S;
export function words(schema: z.ZodType = z.string()): z.ZodType {
  return harmless(schema, 'it names something that was found');
}

/** One of a closed set of words, none of which denies anything. */
export function oneOf<const W extends readonly [string, ...string[]]>(values: W) {
  return harmless(z.enum(values), 'none of its words denies anything');
}

/** Sentences of the product: reasons, caveats, notes. A word in them that denies is a denial. */
export function prose(): z.ZodString {
  const schema = z.string();
  HARMLESS.add(schema, { because: 'it is read for words that deny', prose: true });
  return schema;
}

/** A fact of a row that was found: its empty form is told of that row, once these ports spoke. */
export function rowFact<S extends z.ZodType, const P extends string>(
  schema: S,
  rests?: RestsOn<P>,
): S {
  return harmless(schema, 'it is a fact of a row that was found', rests);
}

/** A row that was found, as its port declares it: all but its lists are facts of that row. */
export function rowFacts<S extends z.core.$ZodType>(row: S): S;
export function rowFacts(row: z.core.$ZodType): z.core.$ZodType {
  if (row instanceof z.ZodArray) return row.clone({ ...row.def, element: rowFacts(row.element) });
  if (row instanceof z.ZodNullable) {
    return row.clone({ ...row.def, innerType: rowFacts(row.def.innerType) });
  }
  if (row instanceof z.ZodReadonly) {
    return row.clone({ ...row.def, innerType: rowFacts(row.def.innerType) });
  }
  if (row instanceof z.ZodObject) {
    const shape = Object.entries(row.shape).map(([name, field]) => [name, rowFacts(field)]);
    return row.clone({ ...row.def, shape: Object.fromEntries(shape) });
  }
  return row instanceof z.ZodType ? rowFact(row) : row;
}

/** A field whose empty form denies nothing, and why not. */
export function harmless<S extends z.ZodType, const P extends string>(
  schema: S,
  because: string,
  rests?: RestsOn<P>,
): S {
  const on = rests === undefined ? null : { rests_on: rests.restsOn };
  const marked = clone(schema);
  HARMLESS.add(marked, { because, ...on });
  return marked;
}

/** A field that is empty also where nothing was looked at; only the flag beside it denies. */
export function emptyUnless<S extends z.ZodType>(flag: string, schema: S): S {
  const marked = clone(schema);
  HARMLESS.add(marked, { because: `only a true ${flag} beside it makes it deny`, unless: flag });
  return marked;
}

/** Data of which a miss may be said once these ports spoke; its reason names what is silent. */
export function missOf<S extends z.ZodType, const P extends string>(data: S, rests: RestsOn<P>): S {
  const marked = clone(data);
  MISSES.add(marked, { rests_on: rests.restsOn });
  return marked;
}

// A schema may be used in several places, so that a mark is put on one of its own.
function clone<S extends z.ZodType>(schema: S): S {
  return schema.clone(schema._zod.def, { parent: true });
}

/** Unix time in whole seconds. */
export const unixSeconds = z.int().nonnegative();
const NO_DAY = 'expected a day of the calendar, written YYYY-MM-DD';
/** A day, `YYYY-MM-DD`, in UTC. */
export const isoDay = words(
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .meta({ format: 'date' }),
);
/** A day that is asked about: one of the calendar. */
export const askedDay = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, NO_DAY)
  .refine((text) => parseIsoDate(text) !== null, NO_DAY)
  .meta({ format: 'date' });
/** ISO 8601 date-time in UTC. */
export const isoTime = words(
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/)
    .meta({ format: 'date-time' }),
);

/** One source of an answer, as the interface shows it. */
export const sourceShown = z.strictObject({
  name: words().min(1),
  url: words().min(1),
  as_of: unixSeconds,
});

/** The longest text that can name an address of any form. */
export const ADDRESS_CHARS_MAX = 128;

// Answers and problems name their subject, and a credential is never echoed: no form of an address
// has the beginning of a key.
const KEY_START = /sc[pt]?_/i;
const KEY_AS_ADDRESS =
  'expected an address, and a key or token stands here, which is not repeated. Revoke it where ' +
  'it was sent in a URL: URLs are kept in logs and histories';

/** Any address as it is written: the route that takes it says which forms it knows. */
export const addressText = z
  .string()
  .min(1)
  .max(ADDRESS_CHARS_MAX)
  .refine((text) => !KEY_START.test(text), KEY_AS_ADDRESS);

const ID_CHARS_MAX = 64;

/** The id of something published: an unknown one is repeated in the answer, and a key is not. */
export const idText = z
  .string()
  .regex(/^[\w.-]+$/, 'expected an id')
  .max(ID_CHARS_MAX)
  .refine((text) => !KEY_START.test(text), KEY_AS_ADDRESS.replace('an address', 'an id'));

/** Unix seconds: from a time on, before another; `null` is no bound. */
export type DaySpan = { readonly from: number | null; readonly until: number | null };

export const LATER_THAN_TO = 'it is later than `to`';

/** No store can write the day after it, and nothing lies there. */
const LAST_DAY = '9999-12-31';

/** The span of some days (UTC), both included; `null`: it ends before it begins. */
export function daySpan(from: string | undefined, to: string | undefined): DaySpan | null {
  const first = from === undefined ? null : startOfDay(from);
  const last = to === undefined ? null : startOfDay(to);
  if (first !== null && last !== null && first > last) return null;
  return { from: first, until: last === null || to === LAST_DAY ? null : last + DAY_S };
}

/** What was asked about was never set up on this deployment. */
export const notSetUp = sharedShape(
  'NotSetUp',
  z.strictObject({ error: z.literal('not_set_up'), reason: prose().min(1) }),
);

/** Something that an answer rests on could not be read, and which. */
export const unavailable = sharedShape(
  'Unavailable',
  z.strictObject({ error: prose().min(1), reason: prose().min(1) }),
);

/** A handler that could not answer, and why: the others are whole. Nobody keeps it. */
export const handlerFailure = sharedShape(
  'HandlerFailure',
  z.strictObject({ error: prose().min(1), handler: words().min(1) }),
);
