// Answers one question: which leaves of an answer deny something, by the declaration of its route.
// It walks schema and value together; a kind of schema that it does not know is an error.

import type { z } from 'zod';
import { claimMeta, denies } from '../contract/claims.ts';
import { defOf } from '../contract/schema.ts';
import type { ClaimMeta } from '../contract/wire.ts';

/** A leaf: where it is, what stands there, and the claim that it was declared as, if it was. */
export type Leaf = {
  /** `results[3].sanctions.listed` */
  readonly path: string;
  /** `results[].sanctions.listed` */
  readonly pattern: string;
  /** The claim that it is or stands in. */
  readonly meta: ClaimMeta | null;
  /** Whether it is that claim itself. */
  readonly declared: boolean;
  readonly value: unknown;
  /** The addresses of the list items that it stands in. */
  readonly of: readonly string[];
};

const UNDECLARED: ClaimMeta = { rests_on: [], rule: 'negative' };

/**
 * Whether a leaf denies something: by its claim's rule, or by being empty where none is declared.
 */
export function isDenial({ meta, value }: Leaf): boolean {
  return denies(meta === null ? UNDECLARED : meta, value);
}

type Place = Pick<Leaf, 'path' | 'pattern' | 'of'>;
const ROOT: Place = { path: '', pattern: '', of: [] };

/**
 * The leaves of a value under its schema. Nothing is a leaf where the value is null or left out.
 * What stands inside a claim is a leaf as well, and denies something on the ports of that claim.
 */
export function leavesOf(
  schema: z.ZodType,
  value: unknown,
  at: Place = ROOT,
  around: ClaimMeta | null = null,
): Leaf[] {
  const meta = claimMeta(schema);
  if (meta === null) return leavesInside(schema, value, at, around);
  const inherited: ClaimMeta = { rests_on: meta.rests_on, rule: 'negative' };
  const inside = leavesInside(schema, value, at, inherited).filter(({ path }) => path !== at.path);
  return [{ ...at, meta, declared: true, value }, ...inside];
}

function leavesInside(
  schema: z.ZodType,
  value: unknown,
  at: Place,
  meta: ClaimMeta | null,
): Leaf[] {
  const def = defOf(schema);
  if (value === null || value === undefined) return [];
  switch (def.type) {
    case 'object':
      return fieldsOf(def.shape, value, at, meta);
    case 'array':
      return itemsOf(def.element, value, at, meta);
    case 'nullable':
    case 'optional':
    case 'readonly':
      return def.innerType === undefined ? [] : leavesOf(def.innerType, value, at, meta);
    case 'record':
    case 'union':
    case 'string':
    case 'number':
    case 'int':
    case 'boolean':
    case 'bigint':
    case 'enum':
    case 'literal':
    case 'null':
      return [{ ...at, meta, declared: false, value }];
    default:
      throw new Error(
        `silence: a contract uses the schema kind "${def.type}", which no walk knows`,
      );
  }
}

function fieldsOf(
  shape: { readonly [field: string]: z.ZodType } | undefined,
  value: unknown,
  at: Place,
  around: ClaimMeta | null,
): Leaf[] {
  if (shape === undefined || !isRecord(value)) throw new Error(`silence: ${at.path} is no object`);
  const { address } = value;
  const inItem = at.pattern.endsWith('[]') && typeof address === 'string';
  const of = inItem ? [...at.of, address] : at.of;
  const dot = at.path === '' ? '' : '.';
  return Object.entries(shape).flatMap(([name, field]) => {
    const place = { path: `${at.path}${dot}${name}`, pattern: `${at.pattern}${dot}${name}`, of };
    return leavesOf(field, value[name], place, around);
  });
}

function itemsOf(
  element: z.ZodType | undefined,
  value: unknown,
  at: Place,
  meta: ClaimMeta | null,
): Leaf[] {
  if (element === undefined || !Array.isArray(value)) {
    throw new Error(`silence: ${at.path} is no list`);
  }
  if (value.length === 0) return [{ ...at, meta, declared: false, value }];
  return value.flatMap((item: unknown, i) => {
    const place = { ...at, path: `${at.path}[${i}]`, pattern: `${at.pattern}[]` };
    return leavesOf(element, item, place, meta);
  });
}

/** Whether a value is an object with fields. */
export function isRecord(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every claim that a schema declares, by pattern. */
export function claimsOf(schema: z.ZodType, pattern = ''): Map<string, ClaimMeta> {
  const meta = claimMeta(schema);
  if (meta !== null) return new Map([[pattern, meta]]);
  const { shape, element, innerType } = defOf(schema);
  const found = new Map<string, ClaimMeta>();
  const add = (more: ReadonlyMap<string, ClaimMeta>) => {
    for (const [at, one] of more) found.set(at, one);
  };
  if (element !== undefined) add(claimsOf(element, `${pattern}[]`));
  if (innerType !== undefined) add(claimsOf(innerType, pattern));
  const dot = pattern === '' ? '' : '.';
  for (const [name, field] of Object.entries(shape === undefined ? {} : shape)) {
    add(claimsOf(field, `${pattern}${dot}${name}`));
  }
  return found;
}
