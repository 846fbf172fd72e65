// Canonical JSON (RFC 8785) without fractions: the one writer and the one strict parser of what is
// hashed. Sorting and escaping are all that a second implementation needs. Nothing here is of
// Node.js: the client and the browser check by the same file.

/** A value with one canonical form. A number is a safe integer, a text has no lone surrogate. */
export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [key: string]: CanonicalValue };

/** The largest canonical document. */
export const CANONICAL_BYTES_MAX = 256 * 1024;
/** Lists and objects nest no deeper; the outermost is the first level. */
export const CANONICAL_DEPTH_MAX = 8;

/** Why bytes are no canonical document. `not_canonical`: the same content in other bytes. */
export type CanonicalFault =
  | 'too_large'
  | 'byte_order_mark'
  | 'not_utf8'
  | 'not_json'
  | 'after_the_value'
  | 'equal_keys'
  | 'lone_surrogate'
  | 'not_integer'
  | 'unsafe_integer'
  | 'too_deep'
  | 'not_canonical';

const SAYS: { readonly [fault in CanonicalFault]: string } = {
  too_large: `larger than ${CANONICAL_BYTES_MAX} bytes`,
  byte_order_mark: 'begins with a byte order mark',
  not_utf8: 'not UTF-8',
  not_json: 'not JSON',
  after_the_value: 'something stands after the value',
  equal_keys: 'an object has two equal keys: two readers would read two contents',
  lone_surrogate: 'a text holds half of a character (a lone surrogate)',
  not_integer: 'a number has a fraction or an exponent: every number is a whole one in digits',
  unsafe_integer: 'an integer is beyond 2^53 - 1: readers would round it differently',
  too_deep: `lists and objects nest deeper than ${CANONICAL_DEPTH_MAX}`,
  not_canonical: 'not canonical: same content, other bytes',
};

/** A value without a canonical form, or bytes that are none. */
export class CanonicalRefusal extends Error {
  override readonly name = 'CanonicalRefusal';
  readonly fault: CanonicalFault;
  constructor(fault: CanonicalFault, at?: number) {
    super(at === undefined ? SAYS[fault] : `${SAYS[fault]} (at character ${at})`);
    this.fault = fault;
  }
}

/** The value of canonical bytes, or what keeps them from being canonical. */
export type ParsedCanonical =
  | { readonly ok: true; readonly value: CanonicalValue }
  | {
      readonly ok: false;
      readonly fault: Exclude<CanonicalFault, 'not_canonical'>;
      /** In one sentence, without a word of the document. */
      readonly says: string;
    }
  | {
      readonly ok: false;
      readonly fault: 'not_canonical';
      readonly says: string;
      /** The bytes that the same content has in canonical form. */
      readonly canonical: Uint8Array;
    };

/** Half of a character: no UTF-8 holds it, so that two texts would have one hash. */
const LONE_SURROGATE = /\p{Cs}/u;

/** The canonical bytes of a value. Throws a `CanonicalRefusal` where it has none. */
export function writeCanonical(value: CanonicalValue): Uint8Array {
  const bytes = new TextEncoder().encode(textOf(value, 0));
  if (bytes.length > CANONICAL_BYTES_MAX) throw new CanonicalRefusal('too_large');
  return bytes;
}

function textOf(value: CanonicalValue, depth: number): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return digitsOf(value);
  if (depth === CANONICAL_DEPTH_MAX) throw new CanonicalRefusal('too_deep');
  if (Array.isArray(value)) {
    // A hole in a list is no value either, and `map` would leave it out.
    return `[${Array.from<CanonicalValue>(value)
      .map((one) => textOf(one, depth + 1))
      .join()}]`;
  }
  if (!isPlainObject(value)) throw new CanonicalRefusal('not_json');
  // The order of RFC 8785 is that of UTF-16 code units, as JavaScript compares texts.
  const keys = Object.keys(value).sort();
  const fields = keys.map((key) => `${quote(key)}:${textOf(fieldOf(value, key), depth + 1)}`);
  return `{${fields.join()}}`;
}

type CanonicalObject = { readonly [key: string]: CanonicalValue };

function isPlainObject(value: unknown): value is CanonicalObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function fieldOf(value: CanonicalObject, key: string): CanonicalValue {
  const field = value[key];
  if (field === undefined) throw new CanonicalRefusal('not_json');
  return field;
}

// The escapes of RFC 8785 are those that JSON.stringify writes for whole characters.
function quote(text: string): string {
  if (LONE_SURROGATE.test(text)) throw new CanonicalRefusal('lone_surrogate');
  return JSON.stringify(text);
}

function digitsOf(value: number): string {
  if (!Number.isInteger(value)) throw new CanonicalRefusal('not_integer');
  if (!Number.isSafeInteger(value)) throw new CanonicalRefusal('unsafe_integer');
  return String(value);
}

/**
 * Reads bytes that must be canonical. Whatever two readers could read differently is refused;
 * bytes that mean the same and are written otherwise are `not_canonical`.
 */
export function parseCanonical(bytes: Uint8Array): ParsedCanonical {
  try {
    const value = parseStrictly(bytes);
    const canonical = writeCanonical(value);
    if (areEqual(bytes, canonical)) return { ok: true, value };
    return { ok: false, fault: 'not_canonical', says: SAYS.not_canonical, canonical };
  } catch (fault) {
    if (!(fault instanceof CanonicalRefusal) || fault.fault === 'not_canonical') throw fault;
    return { ok: false, fault: fault.fault, says: fault.message };
  }
}

function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

function parseStrictly(bytes: Uint8Array): CanonicalValue {
  if (bytes.length > CANONICAL_BYTES_MAX) throw new CanonicalRefusal('too_large');
  const reader: TextReader = { text: decode(bytes), at: 0 };
  if (reader.text.startsWith('\ufeff')) throw new CanonicalRefusal('byte_order_mark');
  skipSpace(reader);
  const value = readValue(reader, 0);
  skipSpace(reader);
  if (reader.at < reader.text.length) throw new CanonicalRefusal('after_the_value', reader.at);
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CanonicalRefusal('not_utf8');
  }
}

type TextReader = { readonly text: string; at: number };

const SPACE = /[\t\n\r ]*/y;
const WORD = /true|false|null/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
/** A text between quotes: its characters and escapes are judged by JSON.parse. */
const QUOTED = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;

/** What stands at the reader's place, which moves behind it; `null` where it does not match. */
function take(reader: TextReader, form: RegExp): RegExpExecArray | null {
  form.lastIndex = reader.at;
  const match = form.exec(reader.text);
  if (match !== null) reader.at = form.lastIndex;
  return match;
}

function skipSpace(reader: TextReader): void {
  take(reader, SPACE);
}

function readValue(reader: TextReader, depth: number): CanonicalValue {
  switch (reader.text[reader.at]) {
    case '"':
      return readText(reader);
    case '{':
      return readObject(reader, depth);
    case '[':
      return readList(reader, depth);
    default:
      return readWord(reader);
  }
}

function readWord(reader: TextReader): CanonicalValue {
  const word = take(reader, WORD);
  if (word !== null) return word[0] === 'null' ? null : word[0] === 'true';
  const start = reader.at;
  const number = take(reader, NUMBER);
  if (number === null) throw new CanonicalRefusal('not_json', start);
  const [digits, fraction, exponent] = number;
  if (fraction !== undefined || exponent !== undefined) {
    throw new CanonicalRefusal('not_integer', start);
  }
  const value = Number(digits);
  if (!Number.isSafeInteger(value)) throw new CanonicalRefusal('unsafe_integer', start);
  return value;
}

function readText(reader: TextReader): string {
  const start = reader.at;
  const quoted = take(reader, QUOTED);
  if (quoted === null) throw new CanonicalRefusal('not_json', start);
  const text = unquote(quoted[0], start);
  if (LONE_SURROGATE.test(text)) throw new CanonicalRefusal('lone_surrogate', start);
  return text;
}

function unquote(quoted: string, at: number): string {
  try {
    const text: unknown = JSON.parse(quoted);
    return String(text);
  } catch {
    throw new CanonicalRefusal('not_json', at);
  }
}

function readObject(reader: TextReader, depth: number): CanonicalValue {
  const fields = new Map<string, CanonicalValue>();
  readItems(reader, { depth, end: '}' }, () => {
    const start = reader.at;
    if (reader.text[start] !== '"') throw new CanonicalRefusal('not_json', start);
    const key = readText(reader);
    if (fields.has(key)) throw new CanonicalRefusal('equal_keys', start);
    skipSpace(reader);
    if (reader.text[reader.at] !== ':') throw new CanonicalRefusal('not_json', reader.at);
    reader.at += 1;
    skipSpace(reader);
    fields.set(key, readValue(reader, depth + 1));
  });
  return Object.fromEntries(fields);
}

function readList(reader: TextReader, depth: number): CanonicalValue {
  const items: CanonicalValue[] = [];
  readItems(reader, { depth, end: ']' }, () => items.push(readValue(reader, depth + 1)));
  return items;
}

/** Reads the items of a list or an object, whose first character is next. */
function readItems(
  reader: TextReader,
  { depth, end }: { readonly depth: number; readonly end: '}' | ']' },
  readItem: () => void,
): void {
  if (depth === CANONICAL_DEPTH_MAX) throw new CanonicalRefusal('too_deep', reader.at);
  reader.at += 1;
  skipSpace(reader);
  if (reader.text[reader.at] === end) {
    reader.at += 1;
    return;
  }
  // Each round takes at least one character of a text whose length is bounded.
  for (;;) {
    readItem();
    skipSpace(reader);
    const next = reader.text[reader.at];
    if (next !== ',' && next !== end) throw new CanonicalRefusal('not_json', reader.at);
    reader.at += 1;
    if (next === end) return;
    skipSpace(reader);
  }
}
