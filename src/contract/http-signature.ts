// HTTP Message Signatures (RFC 9421) with Ed25519 over answers as they were sent, by their
// Content-Digest (RFC 9530): what is asked for, what is signed, and the fields that carry it.
// Nothing here is of Node.js: the client and the browser verify by the same file.

import * as Hash from 'ox/Hash';
import { base64Text, parseBase64 } from '../chain/bytes.ts';

/** A parameter of a signature: a text, a whole number, or a name alone. */
type Parameter = readonly [name: string, value: string | number | true];

/** A component of a message: a field or a derived one, and its parameters such as `req`. */
export type Component = { readonly name: string; readonly parameters: readonly Parameter[] };

/** One signature of a message: what it covers, and what is said of it. */
export type SignatureInput = {
  readonly label: string;
  readonly components: readonly Component[];
  readonly parameters: readonly Parameter[];
};

/** The request of a message, by the URL that it was sent to. Fields by names in lower case. */
export type RequestSeen = {
  readonly method: string;
  readonly url: string;
  readonly fields: { readonly [name: string]: string };
};

/** A message that is signed: an answer with the request that it is of, or a request alone. */
export type MessageSeen = {
  readonly request: RequestSeen;
  readonly answer: {
    readonly status: number;
    readonly fields: { readonly [name: string]: string };
  } | null;
};

// Structured fields (RFC 8941), as far as signatures need them.

/** The longest field that is read. */
const FIELD_CHARS_MAX = 4_096;
/** Signatures, components and parameters of one field at most. */
const MEMBERS_MAX = 32;

const KEY = /[a-z*][a-z0-9_.*-]*/y;
const TEXT = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const INTEGER = /-?[0-9]{1,15}(?![0-9.])/y;
const BYTES = /:([A-Za-z0-9+/]*={0,2}):/y;

class FieldFault extends Error {}

class FieldReader {
  readonly #text: string;
  #at = 0;
  constructor(text: string) {
    if (text.length > FIELD_CHARS_MAX) throw new FieldFault('it is too long');
    this.#text = text.replace(/^ +| +$/g, '');
  }

  isOver(): boolean {
    return this.#at >= this.#text.length;
  }

  take(pattern: RegExp): readonly string[] | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    this.#at = pattern.lastIndex;
    return found;
  }

  expect(pattern: RegExp, what: string): readonly string[] {
    const found = this.take(pattern);
    if (found === null) throw new FieldFault(`expected ${what} at ${this.#at}`);
    return found;
  }

  skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  key(): string {
    return String(this.expect(KEY, 'a name')[0]);
  }

  text(): string {
    return String(this.expect(TEXT, 'a text')[1]).replaceAll(/\\(["\\])/g, '$1');
  }

  parameters(): readonly Parameter[] {
    const found: Parameter[] = [];
    while (this.skip(';')) {
      this.take(/ */y);
      const name = this.key();
      if (found.some(([known]) => known === name)) throw new FieldFault(`${name} stands twice`);
      if (found.length >= MEMBERS_MAX) throw new FieldFault('it has too many parameters');
      found.push([name, this.skip('=') ? this.bareItem() : true]);
    }
    return found;
  }

  bareItem(): string | number {
    const digits = this.take(INTEGER);
    return digits === null ? this.text() : Number(digits[0]);
  }

  components(): readonly Component[] {
    const found: Component[] = [];
    if (!this.skip('(')) throw new FieldFault('expected a list of components');
    for (;;) {
      this.take(/ */y);
      if (this.skip(')')) return found;
      if (found.length >= MEMBERS_MAX) throw new FieldFault('it has too many components');
      found.push({ name: this.text(), parameters: this.parameters() });
    }
  }
}

/** The members of a dictionary by their names, each once; throws at what is none. */
function dictionary<T>(text: string, member: (reader: FieldReader) => T): Map<string, T> {
  const reader = new FieldReader(text);
  const found = new Map<string, T>();
  while (!reader.isOver()) {
    const label = reader.key();
    if (found.has(label)) throw new FieldFault(`${label} stands twice`);
    if (found.size >= MEMBERS_MAX) throw new FieldFault('it has too many members');
    if (!reader.skip('=')) throw new FieldFault(`${label} has no value`);
    found.set(label, member(reader));
    if (reader.isOver()) return found;
    reader.expect(/[ \t]*,[ \t]*(?=[a-z*])/y, 'a comma and a name');
  }
  return found;
}

function parseOrNull<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch (fault) {
    if (fault instanceof FieldFault) return null;
    throw fault;
  }
}

/** The signatures that `Signature-Input` or `Accept-Signature` names; `null`: it is neither. */
export function parseSignatureInputs(text: string): readonly SignatureInput[] | null {
  return parseOrNull(() => {
    const found = dictionary(text, (reader) => {
      return { components: reader.components(), parameters: reader.parameters() };
    });
    return [...found].map(([label, input]) => ({ label, ...input }));
  });
}

/** The bytes by name of `Signature` or `Content-Digest`; `null` where it is neither. */
export function parseByteFields(text: string): ReadonlyMap<string, Uint8Array> | null {
  return parseOrNull(() =>
    dictionary(text, (reader) => {
      const bytes = parseBase64(String(reader.expect(BYTES, 'bytes')[1]));
      if (bytes === null) throw new FieldFault('it holds no base64');
      reader.parameters();
      return bytes;
    }),
  );
}

function textItem(value: string): string {
  if (!/^[\x20-\x7e]*$/.test(value)) throw new TypeError('expected printable ASCII');
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

function parametersText(parameters: readonly Parameter[]): string {
  return parameters
    .map(([name, value]) => {
      if (value === true) return `;${name}`;
      return `;${name}=${typeof value === 'number' ? value : textItem(value)}`;
    })
    .join('');
}

/** The identifier of a component as a signature base has it. */
export function componentText({ name, parameters }: Component): string {
  return textItem(name) + parametersText(parameters);
}

/** A signature's input as its field has it, behind the label. */
export function inputText({
  components,
  parameters,
}: Pick<SignatureInput, 'components' | 'parameters'>): string {
  return `(${components.map(componentText).join(' ')})${parametersText(parameters)}`;
}

/** The value of one parameter; `null` where it does not stand. */
export function parameterOf(
  { parameters }: Pick<SignatureInput, 'parameters'>,
  name: string,
): string | number | true | null {
  const found = parameters.find(([known]) => known === name);
  return found === undefined ? null : found[1];
}

// The signature base (RFC 9421, section 2.5).

/** The value of a component in a message; `null`: the message has none, or it is not known here. */
function componentValue({ name, parameters }: Component, message: MessageSeen): string | null {
  const isOfRequest = parameters.length === 1 && parameters[0]?.[0] === 'req';
  if (parameters.length > 0 && !isOfRequest) return null;
  const { request, answer } = message;
  // In an answer only `;req` means the request; in a request nothing has that mark.
  if (isOfRequest && answer === null) return null;
  const of = isOfRequest || answer === null ? request : answer;
  if (!name.startsWith('@')) {
    const value = Object.hasOwn(of.fields, name) ? of.fields[name] : undefined;
    return value === undefined ? null : value.replaceAll(/^[ \t]+|[ \t]+$/g, '');
  }
  if (name === '@status') return 'status' in of ? String(of.status) : null;
  return 'method' in of ? requestPart(name, of) : null;
}

function requestPart(name: string, { method, url }: RequestSeen): string | null {
  if (name === '@method') return method;
  if (name === '@target-uri') return url;
  const parts = URL.canParse(url) ? new URL(url) : null;
  if (parts === null) return null;
  if (name === '@authority') return parts.host;
  if (name === '@scheme') return parts.protocol.slice(0, -1);
  if (name === '@path') return parts.pathname;
  return name === '@query' ? `?${parts.search.slice(1)}` : null;
}

/** What is signed of a message; `null`: it lacks a component, or a component stands twice. */
export function signatureBase(
  input: Pick<SignatureInput, 'components' | 'parameters'>,
  message: MessageSeen,
): string | null {
  const lines: string[] = [];
  const names = new Set<string>();
  for (const component of input.components) {
    const name = componentText(component);
    const value = componentValue(component, message);
    if (value === null || /[\r\n]/.test(value) || names.has(name)) return null;
    names.add(name);
    lines.push(`${name}: ${value}`);
  }
  return [...lines, `"@signature-params": ${inputText(input)}`].join('\n');
}

// What this service signs.

const REQ: readonly Parameter[] = [['req', true]];

/** What every signature of an answer covers: a signature over less could be put to other use. */
export const ANSWER_COMPONENTS: readonly Component[] = [
  { name: '@status', parameters: [] },
  { name: 'content-digest', parameters: [] },
  { name: 'content-type', parameters: [] },
  { name: '@method', parameters: REQ },
  { name: '@target-uri', parameters: REQ },
];
const COVERED = ANSWER_COMPONENTS.map(componentText);

/** The longest nonce and tag. */
const WISH_CHARS_MAX = 256;

/** Why an answer goes out without the signature that was asked for. */
export type UnsignedReason =
  /** `Accept-Signature` is not of the form of RFC 9421. */
  | 'malformed'
  /** It asks for other components than those that are signed. */
  | 'components'
  /** It asks for a key, an algorithm or an end that is not given. */
  | 'parameters'
  /** No key is in force. */
  | 'no_key'
  /** A fault of the service; its log has it. */
  | 'fault';

/** The signature that a client asks for. */
export type SignatureWish = Pick<SignatureInput, 'label' | 'components'> & {
  readonly nonce: string | null;
  readonly tag: string | null;
  readonly keyid: string | null;
};

/** What `Accept-Signature` asks for: the first signature that it names. */
export function readWish(text: string): SignatureWish | UnsignedReason {
  const [first] = parseSignatureInputs(text) ?? [];
  if (first === undefined) return 'malformed';
  const asked = first.components.map(componentText);
  // An empty list leaves to us what is covered.
  const isOurs =
    asked.length === COVERED.length && COVERED.every((component) => asked.includes(component));
  if (asked.length > 0 && !isOurs) return 'components';
  const wish: { nonce: string | null; tag: string | null; keyid: string | null } = {
    nonce: null,
    tag: null,
    keyid: null,
  };
  for (const [name, value] of first.parameters) {
    if (name === 'nonce' || name === 'tag' || name === 'keyid') {
      if (typeof value !== 'string' || value.length > WISH_CHARS_MAX) return 'parameters';
      wish[name] = value;
    } else if (name === 'alg' ? value !== ALGORITHM : name !== 'created') return 'parameters';
  }
  const components = asked.length === 0 ? ANSWER_COMPONENTS : first.components;
  return { label: first.label, components, ...wish };
}

export const ALGORITHM = 'ed25519';

/** `Accept-Signature` of a client that asks for a signature under a nonce of its own. */
export function signatureWishText(nonce: string): string {
  return `exhibit=${inputText({
    components: ANSWER_COMPONENTS,
    parameters: [
      ['created', true],
      ['alg', ALGORITHM],
      ['nonce', nonce],
    ],
  })}`;
}

/** `Content-Digest` of bytes as they are sent. */
export function contentDigest(sha256: Uint8Array): string {
  return `sha-256=:${base64Text(sha256)}:`;
}

/** Whether a `Content-Digest` is of these bytes: by SHA-256, which has to stand in it. */
export function isDigestOf(field: string, bytes: Uint8Array): boolean {
  const named = parseByteFields(field)?.get('sha-256');
  const own = Hash.sha256(bytes, { as: 'Bytes' });
  return named !== undefined && named.length === own.length && own.every((b, i) => b === named[i]);
}

/** The facts of an answer that is signed. `created` is Unix seconds. */
export type SignedFacts = { readonly keyid: string; readonly created: number };

/** What is signed for a wish, and how the signature's field says it; `null`: it lacks something. */
export function answerSignature(
  { components, nonce, tag }: SignatureWish,
  { keyid, created }: SignedFacts,
  message: MessageSeen,
): { readonly base: string; readonly input: string } | null {
  const parameters: Parameter[] = [
    ['created', created],
    ['keyid', keyid],
    ['alg', ALGORITHM],
  ];
  if (nonce !== null) parameters.push(['nonce', nonce]);
  if (tag !== null) parameters.push(['tag', tag]);
  const input = { components, parameters };
  const base = signatureBase(input, message);
  return base === null ? null : { base, input: inputText(input) };
}
