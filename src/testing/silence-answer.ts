// Finds the fields of an answer that deny something, by the declaration of its route. It walks
// schema and value together, unions by the option that matches and records by their values; an
// unknown kind of schema is an error.

import type { z } from 'zod';
import { type SectionRoutes, sectionRoutes } from '../contract/answer.ts';
import { mediaOf } from '../contract/reply.ts';
import { type ClaimMeta, type HarmlessMark, harmlessMark } from '../contract/wire.ts';
import { claimMeta, defOf, denies } from '../contract/writer.ts';

/** A leaf: where it is, what stands there, and what it was declared as. */
export type Leaf = {
  /** `results[3].sanctions.listed` */
  readonly path: string;
  /** `results[].sanctions.listed`; a value of a record is `routes{}.access`. */
  readonly pattern: string;
  /** The claim that it is or stands in. */
  readonly meta: ClaimMeta | null;
  /** Whether it is that claim itself. */
  readonly declared: boolean;
  /** Whether its empty form was declared as denying nothing, whoever was silent. */
  readonly free: boolean;
  /** Whether it is made of sentences. */
  readonly prose: boolean;
  readonly value: unknown;
  /** The values of its list items under their own keys, as texts. */
  readonly of: readonly string[];
};

const UNDECLARED: ClaimMeta = { rests_on: [], rule: 'negative' };

/**
 * Whether a leaf denies something: by its claim's rule, or by being empty where none is declared.
 */
export function isDenial({ meta, free, declared, value }: Leaf): boolean {
  if (free && !declared) return false;
  return denies(meta === null ? UNDECLARED : meta, value);
}

type Place = Pick<Leaf, 'path' | 'pattern' | 'of'>;
/** The properties that a leaf inherits from its container. */
type Around = Pick<Leaf, 'meta' | 'free' | 'prose'>;
const ROOT: Place = { path: '', pattern: '', of: [] };
const PLAIN: Around = { meta: null, free: false, prose: false };
/** A mark is of a field's own empty form, and not of what stands in its items. */
const within = ({ meta }: Around): Around => ({ ...PLAIN, meta });

type Marks = { readonly mark: HarmlessMark | null; readonly meta: ClaimMeta | null };
const known = new Map<z.ZodType, Marks>();

/** The marks of a schema, cached: a registry searches all of its ancestors at each call. */
function marksOf(schema: z.ZodType): Marks {
  const held = known.get(schema);
  if (held !== undefined) return held;
  const marks = { mark: harmlessMark(schema), meta: claimMeta(schema) };
  known.set(schema, marks);
  return marks;
}

/**
 * The leaves of a value under its schema. Nothing is a leaf where the value is null or left out.
 * What stands inside a claim is a leaf as well, and denies something on the ports of that claim.
 */
export function leavesOf(schema: z.ZodType, value: unknown): Leaf[] {
  const leaves: Leaf[] = [];
  collectLeaves(leaves, schema, value, ROOT, PLAIN);
  return leaves;
}

// Into one list: there are a great many leaves, and to join lists of them costs more than the rest.
function collectLeaves(
  leaves: Leaf[],
  schema: z.ZodType,
  value: unknown,
  at: Place,
  around: Around,
): void {
  const { mark, meta } = marksOf(schema);
  const own = mark === null ? around : underMark(mark, around);
  if (meta === null) {
    collectInside(leaves, schema, value, at, own);
    return;
  }
  leaves.push({ ...at, meta, declared: true, free: own.free, prose: false, value });
  const inherited: ClaimMeta = { rests_on: meta.rests_on, rule: 'negative' };
  const inside: Leaf[] = [];
  collectInside(inside, schema, value, at, { ...PLAIN, meta: inherited });
  for (const leaf of inside) if (leaf.path !== at.path) leaves.push(leaf);
}

// A flag beside it decides in `collectFields`: until then it denies nothing.
function underMark({ rests_on, prose }: HarmlessMark, around: Around): Around {
  if (rests_on === undefined) return { ...around, free: true, prose: prose === true };
  return { ...around, meta: { rests_on, rule: 'negative' }, free: false };
}

function collectInside(
  leaves: Leaf[],
  schema: z.ZodType,
  value: unknown,
  at: Place,
  around: Around,
): void {
  const def = defOf(schema);
  if (value === null || value === undefined) return;
  switch (def.type) {
    case 'object':
      collectFields(leaves, def.shape, value, at, within(around));
      break;
    case 'array':
      collectItems(leaves, def.element, value, at, around);
      break;
    case 'record':
      collectValues(leaves, def.valueType, value, at, around);
      break;
    case 'nullable':
    case 'optional':
    case 'readonly':
      if (def.innerType !== undefined) collectLeaves(leaves, def.innerType, value, at, around);
      break;
    case 'union':
      collectLeaves(leaves, optionOf(def.options, value, at), value, at, around);
      break;
    default:
      if (!LEAVES.has(def.type)) throw unknownKind(def.type, at.pattern);
      leaves.push(leafOf(at, around, value));
  }
}

const LEAVES: ReadonlySet<string> = new Set([
  ...['string', 'number', 'int', 'boolean', 'bigint', 'enum', 'literal', 'null'],
]);

// Field by field: there are a great many, and to spread objects costs more than all of the rest.
function leafOf({ path, pattern, of }: Place, around: Around, value: unknown): Leaf {
  const { meta, free, prose } = around;
  return { path, pattern, of, meta, free, prose, declared: false, value };
}

function unknownKind(kind: string, at: string): Error {
  return new Error(
    `silence: ${at === '' ? 'a contract' : at} uses the schema kind "${kind}", which no walk knows`,
  );
}

function optionOf(options: readonly z.ZodType[] | undefined, value: unknown, at: Place) {
  const option = options?.find((one) => one.safeParse(value).success);
  if (option === undefined)
    throw new Error(`silence: no option of the union at ${at.path} matches`);
  return option;
}

function collectFields(
  leaves: Leaf[],
  shape: { readonly [field: string]: z.ZodType } | undefined,
  value: unknown,
  at: Place,
  around: Around,
): void {
  if (shape === undefined || !isRecord(value)) throw new Error(`silence: ${at.path} is no object`);
  const inItem = at.pattern.endsWith('[]') || at.pattern.endsWith('{}');
  const texts = Object.values(value).filter((one) => typeof one === 'string');
  const of = inItem ? [...at.of, ...texts] : at.of;
  const dot = at.path === '' ? '' : '.';
  for (const [name, field] of Object.entries(shape)) {
    const place = { path: `${at.path}${dot}${name}`, pattern: `${at.pattern}${dot}${name}`, of };
    const first = leaves.length;
    collectLeaves(leaves, field, value[name], place, around);
    const flag = marksOf(field).mark?.unless;
    if (flag === undefined || value[flag] !== true) continue;
    const told = shape[flag] === undefined ? null : marksOf(shape[flag]).meta;
    if (told === null) throw new Error(`silence: ${place.pattern} names ${flag}, which is no flag`);
    const meta: ClaimMeta = { rests_on: told.rests_on, rule: 'negative' };
    const own = leaves.splice(first);
    for (const leaf of own) {
      leaves.push(leaf.path === place.path ? { ...leaf, meta, free: false } : leaf);
    }
  }
}

function collectItems(
  leaves: Leaf[],
  element: z.ZodType | undefined,
  value: unknown,
  at: Place,
  around: Around,
): void {
  if (element === undefined || !Array.isArray(value)) {
    throw new Error(`silence: ${at.path} is no list`);
  }
  if (value.length === 0) leaves.push(leafOf(at, around, value));
  const inner = within(around);
  for (const [i, item] of value.entries()) {
    const place = { path: `${at.path}[${i}]`, pattern: `${at.pattern}[]`, of: at.of };
    collectLeaves(leaves, element, item, place, inner);
  }
}

function collectValues(
  leaves: Leaf[],
  valueType: z.ZodType | undefined,
  value: unknown,
  at: Place,
  around: Around,
): void {
  if (valueType === undefined || !isRecord(value)) {
    throw new Error(`silence: ${at.path} is no record`);
  }
  const entries = Object.entries(value);
  if (entries.length === 0) leaves.push(leafOf(at, around, value));
  const inner = within(around);
  for (const [name, one] of entries) {
    const of = [...at.of, name];
    const place = { path: `${at.path}{${name}}`, pattern: `${at.pattern}{}`, of };
    collectLeaves(leaves, valueType, one, place, inner);
  }
}

/** Whether a value is an object with fields. */
export function isRecord(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A place of a declaration: its claim, and what its empty form was said to be. */
export type Declared = {
  readonly pattern: string;
  readonly meta: ClaimMeta | null;
  readonly mark: HarmlessMark | null;
  /** The kind of schema. */
  readonly kind: string;
  /** The routes whose answers stand there, by section. */
  readonly sections: SectionRoutes;
};

/** Of a place where no answer of another route stands. */
export const NO_SECTIONS: SectionRoutes = {};

/** Every place that a schema declares, whatever is said there. */
export function placesOf(
  schema: z.ZodType,
  pattern = '',
  around: HarmlessMark | null = null,
): Declared[] {
  // Bytes are published as they were stored: no field of theirs is made by a route.
  if (mediaOf(schema).kind === 'bytes') return [];
  const own = harmlessMark(schema);
  const mark = own === null ? around : own;
  const meta = claimMeta(schema);
  const { type, shape, element, innerType, valueType, options } = defOf(schema);
  const sections = sectionRoutes(schema) ?? NO_SECTIONS;
  if (meta !== null) return [{ pattern, meta, mark, kind: type, sections }];
  if (innerType !== undefined) return placesOf(innerType, pattern, mark);
  if (options !== undefined) return options.flatMap((one) => placesOf(one, pattern, mark));
  const here = { pattern, meta, mark, kind: type, sections };
  if (valueType !== undefined) return [here, ...placesOf(valueType, `${pattern}{}`)];
  if (element !== undefined) return [here, ...placesOf(element, `${pattern}[]`)];
  if (shape === undefined) {
    if (!LEAVES.has(type)) throw unknownKind(type, pattern);
    return [here];
  }
  const dot = pattern === '' ? '' : '.';
  const fields = Object.entries(shape).flatMap(([name, field]) =>
    placesOf(field, `${pattern}${dot}${name}`),
  );
  return [here, ...fields];
}

/** The texts that a schema neither claims nor declares to deny nothing, with what to write. */
export function undeclaredWords(schema: z.ZodType): string[] {
  return placesOf(schema)
    .filter(
      ({ kind, meta, mark }) => meta === null && mark === null && /^(string|enum)$/.test(kind),
    )
    .map(({ pattern, kind }) => {
      const harmless = kind === 'enum' ? 'oneOf([…])' : 'words(), or prose() if it is sentences';
      const claimed = kind === 'enum' ? 'claimedWords(…)' : 'negative(…)';
      return (
        `${pattern} is a plain z.${kind}(): write ${harmless} if none of its values denies ` +
        `anything, ${claimed} if one does (src/contract/wire.ts)`
      );
    });
}
