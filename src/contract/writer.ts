// The only way from data to JSON, made once for each schema: one pass takes each claim, tests each
// value and writes it. A schema that it cannot write stops the declaration, a value that does not
// fit stops the answer.

import { z } from 'zod';
import { Claim } from '../evidence/claim.ts';
import type { Source } from '../evidence/source.ts';
import { Sections, sectionRoutes } from './answer.ts';
import { CLAIM_META, type ClaimMeta } from './wire.ts';

/**
 * The JSON of a value; the sources of its claims are added to a set of the answer's own. It throws
 * where the value is not what the schema takes.
 */
export type Write = (value: unknown, sources: Set<Source>) => string;

/** The start of a caveat under the sources of an answer: plain words, or none. */
export type Label = (sources: ReadonlySet<Source>) => string;

/**
 * The same in pieces. A text of more than 128 KB costs the engine several times what its bytes
 * cost: it lies among large objects, which are made and collected one by one.
 */
export type WriteInPieces = (value: unknown, sources: Set<Source>) => readonly string[];

/**
 * A place in a contract. No claim may stand `within` what would hide it. A list right in the data
 * puts what is long aside, into `long`.
 */
type Place = {
  readonly at: string;
  readonly depth: number;
  readonly within: string | null;
  readonly long: LongLists | null;
};

/** The pieces of each long list, in the order in which the lists were written. */
type LongLists = { pieces: (readonly string[])[] };

/** Stands where the pieces of a long list belong. JSON writes this character as an escape. */
const ASIDE = '\0';
/** Characters from which on a piece is whole. */
const PIECE_CHARS = 65_536;

/** Schemas nest no deeper than this; a cycle is a mistake in a declaration. */
const DEPTH_MAX = 12;

/** Makes the writer of a schema. `at` is its place, for the words of a fault. */
export function writerOf(schema: z.ZodType, at: string): Write {
  return fieldWriter(schema, { at, depth: 0, within: null, long: null });
}

/** Makes the writer of an answer's data: its caveat is written last, when all sources are known. */
export function dataWriterOf(schema: z.ZodObject, at: string, label: Label): WriteInPieces {
  const long: LongLists = { pieces: [] };
  const place = { at, depth: 0, within: null, long };
  const fields = fieldsOf(schema, place);
  const others = fields.filter(({ name }) => name !== 'caveat');
  const caveats = fields.filter(({ name }) => name === 'caveat');
  const last = caveats.map((field) => ({ ...field, write: labelWriter(field, label) }));
  const write = checkWriter(schema, place, objectWriter([...others, ...last], at));
  return (value, sources) => {
    long.pieces = [];
    const whole = write(value, sources);
    if (long.pieces.length === 0) return [whole];
    const [first = '', ...texts] = whole.split(ASIDE);
    const pieces = [first];
    for (const [i, list] of long.pieces.entries()) pieces.push(...list, String(texts[i]));
    return pieces;
  };
}

function labelWriter({ write }: Field, label: Label): Write {
  return (value, sources) => {
    const text = write(value, sources);
    return text.startsWith('"') ? `"${label(sources)}${text.slice(1)}` : text;
  };
}

function fieldWriter(schema: z.ZodType, place: Place): Write {
  if (place.depth > DEPTH_MAX) throw mistake(place, 'the schema nests too deep');
  if (sectionRoutes(schema) !== null) return sectionsWriter(place);
  const meta = claimMeta(schema);
  if (meta === null) return checkWriter(schema, place, kindOf(schema, place));
  if (place.within !== null) throw mistake(place, `a claim stands inside ${place.within}`);
  const within = { ...place, within: 'a claim' };
  const write = checkWriter(schema, within, kindOf(schema, within));
  const take = claimTaker(meta, place.at);
  return (value, sources) => write(take(value, sources), sources);
}

// An answer was written when its own route made it: nothing of it is taken apart again.
function sectionsWriter({ at }: Place): Write {
  return (value, sources) => {
    if (!(value instanceof Sections)) throw misfit(at, 'expected answers of other routes');
    for (const source of value.sources) sources.add(source);
    return value.text;
  };
}

function kindOf(schema: z.ZodType, place: Place): Write {
  const { type, coerce, values, entries, innerType, element, options, valueType } = defOf(schema);
  const inner = (one: z.ZodType, more: Partial<Place> = {}) =>
    fieldWriter(one, { ...place, depth: place.depth + 1, long: null, ...more });
  if (coerce === true) throw mistake(place, `the schema kind "${type}" changes what it is given`);
  if (type === 'string') return quoteWriter(place.at);
  if (type === 'number') return digits(place.at);
  if (type === 'boolean') return oneOf([true, false], place.at);
  if (type === 'null') return oneOf([null], place.at);
  if (type === 'literal' && values !== undefined) return oneOf(values, place.at);
  if (type === 'enum' && entries !== undefined) return oneOf(Object.values(entries), place.at);
  if (type === 'object') return objectWriter(fieldsOf(schema, place), place.at);
  if (type === 'readonly' && innerType !== undefined) return inner(innerType);
  if (type === 'nullable' && innerType !== undefined) {
    const write = inner(innerType);
    return (value, sources) => (value === null ? 'null' : write(value, sources));
  }
  if (type === 'array' && element !== undefined) {
    return listWriter(inner(element, { at: `${place.at}[]` }), place);
  }
  if (type === 'union' && options !== undefined) {
    const named = options.map((one) => ({ own: ownField(one, options), one }));
    // Forms that a field of their own tells apart are chosen by it, so that they may hold claims.
    if (place.depth === 0 && named.every(({ own }) => own !== null)) {
      return writeOwnForm(
        named.map(({ own, one }) => ({ own: String(own), write: inner(one) })),
        place.at,
      );
    }
    const writes = options.map((one) => [one, inner(one, { within: 'a union' })] as const);
    return firstOf(writes, place.at);
  }
  if (type === 'record' && valueType !== undefined) {
    return recordWriter(schema, inner(valueType, { within: 'a record' }), place.at);
  }
  throw mistake(place, `no writer knows the schema kind "${type}"`);
}

/** Printable ASCII without what JSON writes as an escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quoteWriter(at: string): Write {
  return (value) => {
    if (typeof value !== 'string') throw misfit(at, 'expected string');
    return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
  };
}

function digits(at: string): Write {
  return (value) => {
    if (!Number.isFinite(value)) throw misfit(at, 'expected number');
    return String(value);
  };
}

function oneOf(values: readonly unknown[], at: string): Write {
  const texts = new Map(values.map((value) => [value, JSON.stringify(value)]));
  return (value) => {
    const text = texts.get(value);
    if (text === undefined) throw misfit(at, `expected ${[...texts.values()].join(' or ')}`);
    return text;
  };
}

/** A field that a form must have and no other form declares; `null`: it has none. */
function ownField(form: z.ZodType, forms: readonly z.ZodType[]): string | null {
  const { shape } = defOf(form);
  if (shape === undefined) return null;
  const others = forms.filter((one) => one !== form).map((one) => Object(defOf(one).shape));
  const own = Object.entries(shape).find(
    ([name, field]) => defOf(field).type !== 'optional' && !others.some((one) => name in one),
  );
  return own === undefined ? null : own[0];
}

type OwnForm = { readonly own: string; readonly write: Write };

function writeOwnForm(forms: readonly OwnForm[], at: string): Write {
  return (value, sources) => {
    const form = forms.find(({ own }) => own in Object(value));
    if (form === undefined) throw misfit(at, 'expected one of its forms');
    return form.write(value, sources);
  };
}

// Nothing in any other union, or in a record, is a claim, so zod itself can say which it is.
function firstOf(options: readonly (readonly [z.ZodType, Write])[], at: string): Write {
  return (value, sources) => {
    for (const [schema, write] of options) {
      if (schema.safeParse(value).success) return write(value, sources);
    }
    throw misfit(at, 'expected one of its forms');
  };
}

function recordWriter(schema: z.ZodType, write: Write, at: string): Write {
  return (value, sources) => {
    const parsed = schema.safeParse(value);
    if (!parsed.success) throw misfit(at, z.prettifyError(parsed.error));
    const fields = Object.entries(Object(parsed.data));
    const texts = fields.map(([name, one]) => `${JSON.stringify(name)}:${write(one, sources)}`);
    return `{${texts.join()}}`;
  };
}

function listWriter(write: Write, { at, long }: Place): Write {
  return (value, sources) => {
    if (!Array.isArray(value)) throw misfit(at, 'expected a list');
    const pieces: string[] = [];
    let text = '';
    for (let i = 0; i < value.length; i++) {
      const item = write(value[i], sources);
      text += i === 0 ? item : `,${item}`;
      if (text.length < PIECE_CHARS || long === null) continue;
      pieces.push(text);
      text = '';
    }
    if (pieces.length === 0 || long === null) return `[${text}]`;
    long.pieces.push([...pieces, text]);
    return `[${ASIDE}]`;
  };
}

type Field = { readonly name: string; readonly optional: boolean; readonly write: Write };

function fieldsOf(schema: z.ZodType, place: Place): Field[] {
  const { shape, catchall } = defOf(schema);
  if (shape === undefined || catchall === undefined || defOf(catchall).type !== 'never') {
    throw mistake(place, 'an object of a contract takes fields that it does not declare');
  }
  return Object.entries(shape).map(([name, field]) => {
    const { type, innerType } = defOf(field);
    const optional = type === 'optional' && innerType !== undefined && claimMeta(field) === null;
    // Only the data itself is written once: what stands deeper may be written into other texts.
    const long = place.depth === 0 ? place.long : null;
    const within = { ...place, at: `${place.at}.${name}`, depth: place.depth + 1, long };
    return { name, optional, write: fieldWriter(optional ? innerType : field, within) };
  });
}

/** As many as there are kinds of addresses. */
const KNOWN_MAX = 5;
/** The fewest fields of a shared end that is kept. */
const SHARED_FIELDS_MIN = 3;

type NamedField = Field & { readonly first: string; readonly next: string };

function objectWriter(fields: readonly Field[], at: string): Write {
  const named = fields.map((field): NamedField => {
    const name = JSON.stringify(field.name);
    return { ...field, first: `{${name}:`, next: `,${name}:` };
  });
  // Items of a list share parts, those of one kind each their own: the last few are written once.
  const known: { value: object; sources: Set<Source>; text: string }[] = [];
  let oldest = 0;
  const ends = sharedEnds(named);
  return (value, sources) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw misfit(at, 'expected an object');
    }
    for (let i = 0; i < known.length; i++) {
      const one = known[i];
      if (one?.value === value && one.sources === sources) return one.text;
    }
    const given = value as FieldValues;
    const end = ends.find(given, sources);
    const to = end === null ? named.length : end.from;
    let text = '';
    let met = named.length - to;
    for (let i = 0; i < to; i++) {
      const field = named[i];
      if (field === undefined) break;
      const part = given[field.name];
      if (part === undefined && field.optional) {
        if (field.name in value) met += 1;
        continue;
      }
      const written = field.write(part, sources);
      text += text === '' ? field.first : field.next;
      text += written;
      met += 1;
    }
    for (const _name in given) met -= 1;
    if (met !== 0) throw misfit(at, 'expected no field that is not declared');
    if (end === null) ends.learn(given, sources);
    const whole = end === null ? (text === '' ? '{}' : `${text}}`) : text + end.text;
    known[oldest] = { value, sources, text: whole };
    oldest = (oldest + 1) % KNOWN_MAX;
    return whole;
  };
}

type FieldValues = { readonly [field: string]: unknown };

/** The last fields of an object, from the field at `from` on, as they were written. */
type WrittenEnd = {
  readonly from: number;
  readonly given: FieldValues;
  readonly sources: Set<Source>;
  readonly text: string;
};

/**
 * The ends that items of a list share: where two items in a row end with the very same values, the
 * end is written once more as one flat text, and stands in every further item by a copy.
 */
function sharedEnds(named: readonly NamedField[]) {
  const [head] = named;
  const ends: WrittenEnd[] = [];
  let oldest = 0;
  let last: { readonly given: FieldValues; readonly sources: Set<Source> } | null = null;
  const startOf = (one: FieldValues, other: FieldValues, least: number) => {
    let from = named.length;
    for (; from > least; from--) {
      const field = named[from - 1];
      if (field === undefined) break;
      const part = one[field.name];
      if (part === undefined || part !== other[field.name]) break;
    }
    return from;
  };
  return {
    find: (given: FieldValues, sources: Set<Source>): WrittenEnd | null => {
      for (let i = 0; i < ends.length; i++) {
        const end = ends[i];
        if (end === undefined || end.sources !== sources) continue;
        if (startOf(given, end.given, end.from) === end.from) return end;
      }
      return null;
    },
    learn: (given: FieldValues, sources: Set<Source>): void => {
      const before = last;
      last = { given, sources };
      if (before === null || before.sources !== sources || head?.optional !== false) return;
      const from = startOf(given, before.given, 1);
      if (named.length - from < SHARED_FIELDS_MIN) return;
      const texts = named.slice(from).map(({ name, next, write }) => {
        return next + write(given[name], sources);
      });
      // Bytes and back: a text that was put together is taken apart at each copy.
      const text = Buffer.from(`${texts.join('')}}`).toString();
      ends[oldest] = { from, given, sources, text };
      oldest = (oldest + 1) % KNOWN_MAX;
    },
  };
}

// Zod's own checks, which only look: of these the value is already known to be of their kind.
const CHECKS: ReadonlySet<string> = new Set([
  'min_length',
  'max_length',
  'length_equals',
  'greater_than',
  'less_than',
  'number_format',
  'string_format',
]);

function checkWriter(schema: z.ZodType, place: Place, write: Write): Write {
  const checks = checksOf(schema);
  for (const { _zod } of checks) {
    const { check } = _zod.def;
    if (!CHECKS.has(check)) throw mistake(place, `no writer knows the check "${check}"`);
  }
  if (checks.length === 0) return write;
  const payload: z.core.ParsePayload = { value: undefined, issues: [] };
  return (value, sources) => {
    const text = write(value, sources);
    payload.value = value;
    for (let i = 0; i < checks.length; i++) checks[i]?._zod.check(payload);
    if (payload.issues.length === 0 && payload.value === value) return text;
    const [issue] = payload.issues;
    payload.issues = [];
    if (issue === undefined) throw misfit(place.at, 'expected what its checks leave unchanged');
    throw misfit(place.at, z.core.util.finalizeIssue(issue, undefined, z.core.config()).message);
  };
}

// A whole number and a text of a form are checks themselves.
function checksOf(schema: z.ZodType): readonly Check[] {
  const { checks } = defOf(schema);
  const own = schema._zod.traits.has('$ZodCheck') ? [schema as unknown as Check] : [];
  return checks === undefined ? own : [...own, ...checks];
}

function mistake({ at }: Place, what: string): Error {
  return new Error(`contract: ${at}: ${what}`);
}

function misfit(at: string, what: string): Error {
  return new Error(`answer: not as the contract declares it: ${at}: ${what}`);
}

/** The claim that a schema was marked with, or `null`. */
export function claimMeta(schema: z.ZodType): ClaimMeta | null {
  const meta = schema.meta();
  const found = meta?.[CLAIM_META];
  return found === undefined ? null : (found as ClaimMeta);
}

/** Takes the plain value out of one claim and adds its sources. */
export type TakeClaim = (value: unknown, sources: Set<Source>) => unknown;

/**
 * Takes claims, or values that need none, at one place; refuses what no claim stands behind. Made
 * once for a place: the writer asks it for each answer.
 */
export function claimTaker(meta: ClaimMeta, at: string): TakeClaim {
  // Claims that rest on one reading share its ports: what was found enough is enough again.
  let enough: ReadonlySet<string> | null = null;
  return (value, sources) => {
    if (value instanceof Claim) {
      const shown: unknown = value.shown;
      const { ports, sources: from } = value;
      if (!value.looked) {
        if (denies(meta, shown)) {
          throw new Error(`answer: ${at} denies something that was not read to its end`);
        }
      } else if (ports !== enough || from.length === 0) {
        checkBasis(meta, value, at);
        enough = ports;
      }
      for (const source of from) sources.add(source);
      return shown;
    }
    if (!isFree(meta, value)) {
      throw new Error(`answer: ${at} is said without the reading that it rests on`);
    }
    return value;
  };
}

function isFree(meta: ClaimMeta, value: unknown): boolean {
  if (meta.rule === 'checked') return value === false || value === null;
  return meta.rule === 'literals' && typeof value === 'string' && !isClaimedWord(meta, value);
}

// An unread claim denies nothing, so it need not name every port that a denial rests on.
function checkBasis(meta: ClaimMeta, claimed: Claim<unknown, unknown, never>, at: string): void {
  if (meta.limited_to !== undefined) {
    if (meta.limited_to.some((port) => claimed.ports.has(port))) return;
    throw new Error(`answer: ${at} rests on none of ${meta.limited_to.join(', ')}`);
  }
  for (const port of meta.rests_on) {
    if (!claimed.ports.has(port)) throw new Error(`answer: ${at} does not rest on ${port}`);
  }
  if (claimed.sources.length === 0) throw new Error(`answer: ${at} has no source`);
}

/** Whether a plain value is the form that denies something under a claim's rule. */
export function denies(meta: ClaimMeta, value: unknown): boolean {
  if (meta.rule === 'checked') return value === true;
  if (meta.rule === 'literals') return typeof value === 'string' && isClaimedWord(meta, value);
  if (typeof value === 'string') return ZERO_OR_EMPTY.test(value);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === false || value === 0 || value === 0n;
}

/** No text, or an exact amount of nothing. */
const ZERO_OR_EMPTY = /^-?0*(?:\.0*)?$/;

function isClaimedWord(meta: ClaimMeta, word: string): boolean {
  return meta.claimed?.includes(word) === true;
}

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
