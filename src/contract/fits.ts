// Answers one question: is a plain value what a schema declares, told as quickly as can be.
// Made once for each schema. A yes is the schema's own yes; a no settles nothing: whoever gets one
// asks the schema itself, which also says why. What it does not know it gives to the schema.

import type { z } from 'zod';

/** Whether a value is what a schema declares, as the schema would find it, unchanged. */
export type Fits = (value: unknown) => boolean;

type Check = {
  readonly check: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly length?: number;
  readonly value?: unknown;
  readonly inclusive?: boolean;
  readonly format?: string;
  readonly pattern?: RegExp;
};
type Def = {
  readonly type: string;
  readonly check?: string;
  readonly format?: string;
  readonly coerce?: boolean;
  readonly checks?: readonly { readonly _zod: { readonly def: Check } }[];
  readonly shape?: { readonly [field: string]: z.ZodType };
  readonly catchall?: z.ZodType;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly values?: readonly unknown[];
  readonly entries?: { readonly [name: string]: string | number };
};

/** Makes the test of a schema. */
export function fitsOf(schema: z.ZodType): Fits {
  const fits = made(schema);
  return (value) => {
    pass += 1;
    return fits(value);
  };
}

// Which test is under way. An object is looked at once in each: items of a list often share parts.
let pass = 0;

function made(schema: z.ZodType): Fits {
  const def = schema._zod.def as unknown as Def;
  const known = def.coerce === true ? null : kindOf(def);
  const checks = checksOf(def);
  if (known === null || checks === null) return (value) => schema.safeParse(value).success;
  return checks.reduce<Fits>((fits, check) => (value) => fits(value) && check(value), known);
}

function kindOf(def: Def): Fits | null {
  switch (def.type) {
    case 'string':
      return def.check === undefined ? (value) => typeof value === 'string' : null;
    case 'number':
      if (def.check === undefined) return Number.isFinite;
      return def.format === 'safeint' ? Number.isSafeInteger : null;
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'null':
      return (value) => value === null;
    case 'literal':
      return def.values === undefined ? null : oneOf(def.values);
    case 'enum':
      return def.entries === undefined ? null : oneOf(Object.values(def.entries));
    case 'nullable':
      return inside(def.innerType, (fits) => (value) => value === null || fits(value));
    case 'optional':
      return inside(def.innerType, (fits) => (value) => value === undefined || fits(value));
    case 'array':
      return inside(def.element, (fits) => (value) => Array.isArray(value) && value.every(fits));
    case 'union': {
      const options = def.options?.map(made);
      return options === undefined ? null : (value) => options.some((fits) => fits(value));
    }
    case 'object':
      return objectOf(def);
    default:
      return null;
  }
}

function oneOf(values: readonly unknown[]): Fits {
  const known = new Set(values);
  return (value) => known.has(value);
}

function inside(inner: z.ZodType | undefined, make: (fits: Fits) => Fits): Fits | null {
  return inner === undefined ? null : make(made(inner));
}

// An object that takes no field but those it declares.
function objectOf({ shape, catchall }: Def): Fits | null {
  if (shape === undefined || catchall?._zod.def.type !== 'never') return null;
  const names = Object.keys(shape);
  const fields = Object.values(shape).map(made);
  let known: { readonly value: object; readonly pass: number } | null = null;
  return (value) => {
    if (typeof value !== 'object' || value === null) return false;
    if (known !== null && known.value === value && known.pass === pass) return true;
    const given = value as { readonly [field: string]: unknown };
    let met = 0;
    for (const [i, name] of names.entries()) {
      const field = given[name];
      if (fields[i]?.(field) !== true) return false;
      if (field !== undefined) met += 1;
    }
    // A field that is there but undefined leaves the count short, which is no yes.
    for (const _name in given) met -= 1;
    if (met === 0) known = { value, pass };
    return met === 0;
  };
}

function checksOf({ checks }: Def): Fits[] | null {
  const all: Fits[] = [];
  for (const { _zod } of checks === undefined ? NONE : checks) {
    const check = checkOf(_zod.def);
    if (check === null) return null;
    all.push(check);
  }
  return all;
}

const NONE: NonNullable<Def['checks']> = [];

// Each check runs on what its kind let through, so that a length is one of a text or a list.
function checkOf({ check, minimum, maximum, length, value: bound, ...more }: Check): Fits | null {
  if (check === 'min_length' && minimum !== undefined) return (value) => sizeOf(value) >= minimum;
  if (check === 'max_length' && maximum !== undefined) return (value) => sizeOf(value) <= maximum;
  if (check === 'length_equals' && length !== undefined) return (value) => sizeOf(value) === length;
  const { inclusive, format, pattern } = more;
  if (check === 'greater_than' && typeof bound === 'number') {
    return (value) => Number(value) > bound || (inclusive === true && value === bound);
  }
  if (check === 'less_than' && typeof bound === 'number') {
    return (value) => Number(value) < bound || (inclusive === true && value === bound);
  }
  // A pattern that remembers where it stood would answer differently each time.
  if (format === 'regex' && pattern !== undefined && !pattern.global && !pattern.sticky) {
    return (value) => pattern.test(String(value));
  }
  return null;
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : Number.NaN;
}
