// Answers one question: how does an answer's data become JSON, checked, as quickly as can be.
// Made once for each schema: one pass takes each claim, tests each value and writes it. It refuses
// to judge: what it cannot write is `null`, and whoever gets that asks the schema itself, which
// also says why. A text is what the schema would have taken, unchanged.

import type { z } from 'zod';
import type { Source } from '../evidence/source.ts';
import { claimMeta, claimTaker } from './plan.ts';

/** What writing learns beside the text: whence it is, and whether every sign of it is ASCII. */
export type Writing = { readonly sources: Set<Source>; ascii: boolean };

/** The JSON of a value whose claims' sources are added; `null` where the schema must be asked. */
export type Write = (value: unknown, writing: Writing) => string | null;

/** What a caveat becomes under the sources that an answer rests on. */
export type Amend = (caveat: string, sources: ReadonlySet<Source>) => string;

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
type Fits = (value: unknown) => boolean;

// Which writing is under way. An object is written once in each: items of a list share parts.
let pass = 0;

/** Makes the writer of a schema. `at` is its place, for the words of a claim's refusal. */
export function writerOf(schema: z.ZodType, at: string): Write {
  return counted(made(schema, at));
}

function counted(write: Write): Write {
  return (value, writing) => {
    pass += 1;
    return write(value, writing);
  };
}

/** Makes the writer of an answer's data: its caveat is written last, when all sources are known. */
export function dataWriterOf(schema: z.ZodObject, at: string, amend: Amend): Write {
  const def = schema._zod.def as unknown as Def;
  const fields = fieldsOf(def, at);
  const checks = checksOf(def);
  if (fields === null || checks === null || checks.length > 0) return () => null;
  const isCaveat = ({ name }: Field) => name === 'caveat';
  const last = fields.filter(isCaveat).map((field) => ({ ...field, write: amended(field, amend) }));
  return counted(objectWriter([...fields.filter((field) => !isCaveat(field)), ...last]));
}

function amended({ write }: Field, amend: Amend): Write {
  return (value, writing) => {
    const text = write(value, writing);
    if (text === null || typeof value !== 'string') return null;
    const caveat = amend(value, writing.sources);
    if (caveat === value) return text;
    noteSigns(caveat, writing);
    return JSON.stringify(caveat);
  };
}

function made(schema: z.ZodType, at: string): Write {
  const write = plainWriter(schema, at);
  const meta = claimMeta(schema);
  if (meta === null) return write;
  const take = claimTaker(meta, at);
  return (value, writing) => write(take(value, writing.sources), writing);
}

function plainWriter(schema: z.ZodType, at: string): Write {
  const def = schema._zod.def as unknown as Def;
  const known = def.coerce === true ? null : kindOf(def, at);
  const checks = checksOf(def);
  if (known === null || checks === null) return writtenBySchema(schema);
  return checks.reduce<Write>(
    // A check runs on what the kind let through, so that a length is one of a text or a list.
    (write, check) => (value, writing) => {
      const text = write(value, writing);
      return text !== null && check(value) ? text : null;
    },
    known,
  );
}

function writtenBySchema(schema: z.ZodType): Write {
  return (value, writing) => {
    if (!schema.safeParse(value).success) return null;
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) return null;
    noteSigns(text, writing);
    return text;
  };
}

function kindOf(def: Def, at: string): Write | null {
  switch (def.type) {
    case 'string':
      return def.check === undefined ? quoted() : null;
    case 'number':
      if (def.check === undefined) return digits(Number.isFinite);
      return def.format === 'safeint' ? digits(Number.isSafeInteger) : null;
    case 'boolean':
      return (value) => (value === true ? 'true' : value === false ? 'false' : null);
    case 'null':
      return (value) => (value === null ? 'null' : null);
    case 'literal':
      return def.values === undefined ? null : oneOf(def.values);
    case 'enum':
      return def.entries === undefined ? null : oneOf(Object.values(def.entries));
    case 'nullable':
      return inside(def.innerType, at, (write) => (value, writing) => {
        return value === null ? 'null' : write(value, writing);
      });
    // Left out where it is undefined, which its object sees to.
    case 'optional':
    case 'readonly':
      return inside(def.innerType, at, (write) => write);
    case 'array':
      return inside(def.element, `${at}[]`, listWriter);
    case 'union':
      return def.options === undefined ? null : firstOf(def.options.map((one) => made(one, at)));
    case 'object': {
      const fields = fieldsOf(def, at);
      return fields === null ? null : objectWriter(fields);
    }
    default:
      return null;
  }
}

/** Printable ASCII without what JSON writes as an escape. */
const PLAIN = /^[ !#-[\]-~]*$/;
const ASCII = /^\p{ASCII}*$/u;

/** Whether every sign of a text is ASCII, so that it is as many bytes as signs. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

function noteSigns(text: string, writing: Writing): void {
  if (!isAscii(text)) writing.ascii = false;
}

// Many values of a place are the same text, or the one before: that is written already.
function quoted(): Write {
  let last = '';
  let lastText = '""';
  let lastPlain = true;
  return (value, writing) => {
    if (typeof value !== 'string') return null;
    if (value !== last) {
      lastPlain = PLAIN.test(value);
      lastText = lastPlain ? `"${value}"` : JSON.stringify(value);
      last = value;
    }
    if (!lastPlain) noteSigns(value, writing);
    return lastText;
  };
}

function digits(is: (value: unknown) => boolean): Write {
  return (value) => (is(value) ? String(value) : null);
}

function oneOf(values: readonly unknown[]): Write {
  const texts = new Map(values.map((value) => [value, JSON.stringify(value)]));
  const plain = [...texts.values()].every(isAscii);
  return (value, writing) => {
    const text = texts.get(value);
    if (text === undefined) return null;
    if (!plain) noteSigns(text, writing);
    return text;
  };
}

function inside(
  inner: z.ZodType | undefined,
  at: string,
  make: (write: Write) => Write,
): Write | null {
  return inner === undefined ? null : make(made(inner, at));
}

function firstOf(options: readonly Write[]): Write {
  return (value, writing) => {
    for (const write of options) {
      const text = write(value, writing);
      if (text !== null) return text;
    }
    return null;
  };
}

function listWriter(write: Write): Write {
  return (value, writing) => {
    if (!Array.isArray(value)) return null;
    let text = '[';
    for (let i = 0; i < value.length; i++) {
      const item = write(value[i], writing);
      if (item === null) return null;
      text += i === 0 ? item : `,${item}`;
    }
    return `${text}]`;
  };
}

type Field = { readonly name: string; readonly optional: boolean; readonly write: Write };

// The fields of an object that takes none but those it declares.
function fieldsOf({ shape, catchall }: Def, at: string): Field[] | null {
  if (shape === undefined || catchall?._zod.def.type !== 'never') return null;
  return Object.entries(shape).map(([name, schema]) => ({
    name,
    optional: schema._zod.def.type === 'optional',
    write: made(schema, `${at}.${name}`),
  }));
}

function objectWriter(fields: readonly Field[]): Write {
  const named = fields.map((field) => ({
    ...field,
    first: `{${JSON.stringify(field.name)}:`,
    next: `,${JSON.stringify(field.name)}:`,
  }));
  let known: Shared | null = null;
  return (value, writing) => {
    if (typeof value !== 'object' || value === null) return null;
    if (known !== null && known.value === value && known.pass === pass) return again(known);
    const given = value as { readonly [field: string]: unknown };
    let text = '';
    let met = 0;
    for (let i = 0; i < named.length; i++) {
      const field = named[i];
      if (field === undefined) return null;
      const part = given[field.name];
      if (part === undefined && field.optional) continue;
      const written = field.write(part, writing);
      if (written === null) return null;
      text += met === 0 ? field.first : field.next;
      text += written;
      met += 1;
    }
    // A field that is not declared, or there but undefined, leaves the count short.
    for (const _name in given) met -= 1;
    if (met !== 0) return null;
    known = { value, pass, text: text === '' ? '{}' : `${text}}`, whole: false };
    return known.text;
  };
}

type Shared = { readonly value: object; readonly pass: number; text: string; whole: boolean };

// A text that was put together of pieces stays a tree of them, which is walked wherever it stands:
// one that stands in many places is made whole first.
function again(shared: Shared): string {
  if (!shared.whole) {
    shared.text = [shared.text, ''].join('');
    shared.whole = true;
  }
  return shared.text;
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
