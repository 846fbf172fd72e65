// Answers one question: where in an answer do claims stand, and are they what the contract asks.
// Compiled once for each schema: walking metadata for each request costs more than parsing.

import type { z } from 'zod';
import { Claim } from '../evidence/claim.ts';
import type { Source } from '../evidence/source.ts';
import { CLAIM_META, type ClaimMeta } from './wire.ts';

/** A schema reduced to the places where claims stand. */
export type Plan =
  | { readonly kind: 'plain' }
  | { readonly kind: 'claim'; readonly meta: ClaimMeta }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Plan])[] }
  | { readonly kind: 'list'; readonly item: Plan }
  | { readonly kind: 'maybe'; readonly inner: Plan };

type AnyClaim = Claim<unknown, unknown, never>;

const PLAIN: Plan = { kind: 'plain' };
/** Schemas nest no deeper than this; a cycle is a mistake in a declaration. */
const DEPTH_MAX = 12;

type Def = {
  readonly type: string;
  readonly shape?: { readonly [field: string]: z.ZodType };
  readonly catchall?: z.ZodType;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly valueType?: z.ZodType;
};

const LEAVES: ReadonlySet<string> = new Set([
  'string',
  'number',
  'int',
  'boolean',
  'bigint',
  'null',
  'literal',
  'enum',
  'unknown',
  'any',
]);

/** Reads a schema's claims. A kind of schema that it does not know is an error in the contract. */
export function planOf(schema: z.ZodType, depth = 0): Plan {
  if (depth > DEPTH_MAX) throw new Error('plan: schema nests too deep');
  const inside = planInside(schema, depth);
  const meta = claimMeta(schema);
  if (meta === null) return inside;
  onlyPlain(inside, 'a claim');
  return { kind: 'claim', meta };
}

function planInside(schema: z.ZodType, depth: number): Plan {
  const def = defOf(schema);
  if (LEAVES.has(def.type)) return PLAIN;
  if (def.type === 'object' && def.shape !== undefined) {
    if (def.catchall !== undefined && defOf(def.catchall).type !== 'never') {
      throw new Error('plan: an object of a contract takes fields that it does not declare');
    }
    const fields = Object.entries(def.shape)
      .map(([name, field]) => [name, planOf(field, depth + 1)] as const)
      .filter(([, plan]) => plan.kind !== 'plain');
    return fields.length > 0 ? { kind: 'object', fields } : PLAIN;
  }
  if (def.type === 'array' && def.element !== undefined) {
    const item = planOf(def.element, depth + 1);
    return item.kind === 'plain' ? PLAIN : { kind: 'list', item };
  }
  if (['nullable', 'optional', 'readonly'].includes(def.type) && def.innerType !== undefined) {
    const inner = planOf(def.innerType, depth + 1);
    return inner.kind === 'plain' ? PLAIN : { kind: 'maybe', inner };
  }
  if (def.type === 'record' && def.valueType !== undefined) {
    return onlyPlain(planOf(def.valueType, depth + 1), 'a record');
  }
  if (def.type === 'union' && def.options !== undefined) {
    for (const option of def.options) onlyPlain(planOf(option, depth + 1), 'a union');
    return PLAIN;
  }
  throw new Error(`plan: a contract uses the schema kind "${def.type}", which no plan knows`);
}

function onlyPlain(plan: Plan, where: string): Plan {
  if (plan.kind !== 'plain') throw new Error(`plan: a claim stands inside ${where}`);
  return plan;
}

/** The definition of a zod schema: its kind and its parts. */
export function defOf(schema: z.ZodType): Def {
  return schema._zod.def as unknown as Def;
}

/** The claim that a schema was marked with, or `null`. */
export function claimMeta(schema: z.ZodType): ClaimMeta | null {
  const meta = schema.meta();
  const found = meta?.[CLAIM_META];
  return found === undefined ? null : (found as ClaimMeta);
}

/**
 * Replaces each claim by its plain value, refuses one that is missing or too weak, collects
 * sources. `at` is the place of the value, for the words of a refusal.
 */
export function unwrap(plan: Plan, value: unknown, sources: Set<Source>, at: string): unknown {
  switch (plan.kind) {
    case 'plain':
      return value;
    case 'maybe':
      return value === null || value === undefined ? value : unwrap(plan.inner, value, sources, at);
    case 'list':
      if (!Array.isArray(value)) throw new Error(`answer: ${at} is not a list`);
      return value.map((one) => unwrap(plan.item, one, sources, `${at}[]`));
    case 'object':
      return unwrapObject(plan.fields, value, sources, at);
    case 'claim':
      return claimTaker(plan.meta, at)(value, sources);
  }
}

function unwrapObject(
  fields: readonly (readonly [string, Plan])[],
  value: unknown,
  sources: Set<Source>,
  at: string,
): unknown {
  if (typeof value !== 'object' || value === null) throw new Error(`answer: ${at} is missing`);
  const plain: { [field: string]: unknown } = { ...value };
  for (const [name, plan] of fields) {
    if (name in plain) plain[name] = unwrap(plan, plain[name], sources, `${at}.${name}`);
  }
  return plain;
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

// What was not looked at denies nothing, so it need not name every port that a denial rests on.
function checkBasis(meta: ClaimMeta, claimed: AnyClaim, at: string): void {
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
