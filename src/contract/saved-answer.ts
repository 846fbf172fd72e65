// A signed answer in one file (its request, its bytes, its signature), and how it is verified
// against a pinned key set, with nothing from the service. Nothing here is of Node.js.

import { base64Text, parseBase64, parseBase64Url } from '../chain/bytes.ts';
import { verifyEd25519 } from '../chain/ed25519.ts';
import {
  ALGORITHM,
  ANSWER_COMPONENTS,
  componentText,
  isDigestOf,
  type MessageSeen,
  parameterOf,
  parseByteFields,
  parseSignatureInputs,
  type SignatureInput,
  signatureBase,
} from './http-signature.ts';
import {
  fieldOf,
  numberField,
  objectOf,
  optionalTextField,
  textField,
  WrongFile,
} from './saved-file.ts';

export const SAVED_FORMAT = 'exhibit-saved-answer/1';

/** The fields of an answer that its signature needs. */
const KEPT_FIELDS = ['content-type', 'content-digest', 'signature-input', 'signature'] as const;

/** A signed answer as it is saved. The body of its request is not signed, and is not kept. */
export type SavedAnswer = {
  readonly format: typeof SAVED_FORMAT;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly accept_signature: string;
  };
  readonly answer: {
    readonly status: number;
    readonly headers: { readonly [name in (typeof KEPT_FIELDS)[number]]?: string };
    readonly body_base64: string;
  };
};

/** Makes the file of an answer. `field` gives a header of the answer, `null` where it has none. */
export function saveAnswer(
  request: SavedAnswer['request'],
  status: number,
  field: (name: string) => string | null,
  body: Uint8Array,
): SavedAnswer {
  const named = KEPT_FIELDS.flatMap((name) => {
    const value = field(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    format: SAVED_FORMAT,
    request,
    answer: { status, headers: Object.fromEntries(named), body_base64: base64Text(body) },
  };
}

/** A key of a pinned set. Times are Unix seconds. */
export type PinnedKey = {
  readonly kid: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly nbf: number;
  readonly exp: number;
  readonly compromised_since: number | null;
};

/** Why a saved answer is not taken. */
export type SavedAnswerFault =
  | 'not_a_saved_answer'
  | 'not_a_key_set'
  | 'unsigned'
  | 'malformed_signature'
  | 'covers_too_little'
  | 'unknown_key'
  | 'body_changed'
  | 'signature_wrong'
  | 'nonce_mismatch'
  | 'nonce_replayed'
  | 'key_not_yet_valid'
  | 'key_expired'
  | 'made_in_future'
  | 'key_compromised';

const SAYS: { readonly [fault in SavedAnswerFault]: string } = {
  not_a_saved_answer: 'This is no saved answer of the form that this version reads.',
  not_a_key_set: 'This is no set of Ed25519 keys (a JWK set with kid, x, nbf, exp).',
  unsigned: 'The answer carries no signature.',
  malformed_signature: 'The signature is not of the form of RFC 9421 with Ed25519.',
  covers_too_little: 'The signature does not cover the status, bytes, type, method and address.',
  unknown_key: 'No key of the pinned set has signed it: another service did, or a newer key.',
  body_changed: 'The bytes are not those that were signed.',
  signature_wrong:
    'The signature is wrong: the status, type, method or address is not what was signed.',
  nonce_mismatch: 'The nonce is not that of the request: it is the answer to another one.',
  nonce_replayed: 'The nonce was seen before: it is an answer that was given already.',
  key_not_yet_valid: 'It says that it was signed before its key was valid.',
  key_expired: 'It says that it was signed after its key had expired.',
  made_in_future: 'It says that it was signed at a time that is yet to come.',
  key_compromised:
    'Its key is marked compromised, and no leaf of the log shows that the statement is older.',
};

/** What was signed, by the key of the set. Times are Unix seconds. */
export type SignedAnswer = {
  readonly kid: string;
  readonly created: number;
  readonly nonce: string | null;
  /** Whether the key is of the simulated world, so that all of it is made up. */
  readonly simulated: boolean;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly content_type: string;
  readonly body: Uint8Array;
};

/**
 * The result of verifying. `unproven`: the signature is right, and its key was marked compromised
 * later than it says it was made; whoever holds the key could have written that time.
 */
export type SavedAnswerCheck =
  | { readonly state: 'holds'; readonly signed: SignedAnswer }
  | {
      readonly state: 'unproven';
      readonly fault: 'key_compromised';
      readonly says: string;
      readonly signed: SignedAnswer;
    }
  | { readonly state: 'refused'; readonly fault: SavedAnswerFault; readonly says: string };

/** What a verifier knows beside the file and the keys. Times are Unix seconds. */
export type VerifyOptions = {
  readonly now: number;
  /** The nonce that was asked under, where the verifier asked itself. */
  readonly nonce?: string;
  /** The nonces that were seen before; that of a taken answer is added. */
  readonly seen?: {
    readonly has: (nonce: string) => boolean;
    readonly add: (nonce: string) => void;
  };
  /** The time of the statement's leaf, whose place in the log was proven; `null`: there is none. */
  readonly leaf_at?: number | null;
};

/** A clock of ours may be so far from that of the service. */
const CLOCK_SKEW_S = 300;
const FILE_CHARS_MAX = 32 * 1024 * 1024;
const KEYS_MAX = 10_000;

/** Verifies a saved answer with a pinned key set. Both are JSON as text, or parsed already. */
export function verifySavedAnswer(
  file: unknown,
  keys: unknown,
  options: VerifyOptions,
): SavedAnswerCheck {
  const saved = savedAnswerOf(parseIfText(file));
  if (saved === null) return refuse('not_a_saved_answer');
  const pinned = keySetOf(parseIfText(keys));
  if (pinned === null) return refuse('not_a_key_set');
  const found = signatureIn(saved);
  if (typeof found === 'string') return refuse(found);
  const { input, signature, body, content_type } = found;
  const [kid, created] = [parameterOf(input, 'keyid'), parameterOf(input, 'created')];
  const said = parameterOf(input, 'nonce');
  if (typeof kid !== 'string' || typeof created !== 'number') return refuse('malformed_signature');
  const key = pinned.find((one) => one.kid === kid);
  if (key === undefined) return refuse('unknown_key');
  const digest = saved.answer.headers['content-digest'];
  if (digest === undefined || !isDigestOf(digest, body)) return refuse('body_changed');
  const base = signatureBase(input, messageOf(saved));
  if (base === null) return refuse('signature_wrong');
  if (!verifyEd25519(signature, new TextEncoder().encode(base), key.publicKey)) {
    return refuse('signature_wrong');
  }
  const nonce = typeof said === 'string' ? said : null;
  const fault = nonceFault(nonce, saved, options) ?? timeFault(key, created, options.now);
  if (fault !== null) return refuse(fault);
  const { method, url } = saved.request;
  const simulated = kid.startsWith('simulated:');
  const { status } = saved.answer;
  const signed = { kid, created, nonce, simulated, method, url, status, content_type, body };
  const doubt = compromiseOf(key, created, options.leaf_at ?? null);
  if (doubt === 'refused') return refuse('key_compromised');
  if (doubt === 'unproven') {
    return { state: 'unproven', fault: 'key_compromised', says: SAYS.key_compromised, signed };
  }
  if (nonce !== null) options.seen?.add(nonce);
  return { state: 'holds', signed };
}

function refuse(fault: SavedAnswerFault): SavedAnswerCheck {
  return { state: 'refused', fault, says: SAYS[fault] };
}

type FoundSignature = {
  readonly input: SignatureInput;
  readonly signature: Uint8Array;
  readonly body: Uint8Array;
  readonly content_type: string;
};

const COVERED = ANSWER_COMPONENTS.map(componentText);

/** The first signature of a saved answer, which has to cover everything. */
function signatureIn({ answer }: SavedAnswer): FoundSignature | SavedAnswerFault {
  const { 'signature-input': inputField, signature: field } = answer.headers;
  const { 'content-type': content_type } = answer.headers;
  if (inputField === undefined || field === undefined) return 'unsigned';
  const [input] = parseSignatureInputs(inputField) ?? [];
  const signature = input === undefined ? undefined : parseByteFields(field)?.get(input.label);
  if (input === undefined || signature === undefined) return 'malformed_signature';
  const alg = parameterOf(input, 'alg');
  if (alg !== null && alg !== ALGORITHM) return 'malformed_signature';
  const covered = input.components.map(componentText);
  if (!COVERED.every((one) => covered.includes(one))) return 'covers_too_little';
  const body = parseBase64(answer.body_base64);
  if (body === null || content_type === undefined) return 'not_a_saved_answer';
  return { input, signature, body, content_type };
}

function messageOf({ request, answer }: SavedAnswer): MessageSeen {
  const { method, url } = request;
  const fields = Object.fromEntries(
    Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
  return { request: { method, url, fields: {} }, answer: { status: answer.status, fields } };
}

function nonceFault(
  nonce: string | null,
  { request }: SavedAnswer,
  { nonce: own, seen }: VerifyOptions,
): SavedAnswerFault | null {
  const [asked] = parseSignatureInputs(request.accept_signature) ?? [];
  const wished = asked === undefined ? null : parameterOf(asked, 'nonce');
  if (wished !== nonce || (own !== undefined && own !== nonce)) return 'nonce_mismatch';
  return nonce !== null && seen?.has(nonce) === true ? 'nonce_replayed' : null;
}

function timeFault(key: PinnedKey, created: number, now: number): SavedAnswerFault | null {
  if (created < key.nbf) return 'key_not_yet_valid';
  if (created >= key.exp) return 'key_expired';
  return created > now + CLOCK_SKEW_S ? 'made_in_future' : null;
}

/** Whether a mark on the key speaks against a signature, which may have any time written in it. */
function compromiseOf(
  { compromised_since: since }: PinnedKey,
  created: number,
  leafAt: number | null,
): 'refused' | 'unproven' | null {
  if (since === null || (leafAt !== null && leafAt < since)) return null;
  return created < since ? 'unproven' : 'refused';
}

function parseIfText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value.length > FILE_CHARS_MAX) return null;
  try {
    const parsed: unknown = JSON.parse(value);
    return parsed;
  } catch {
    return null;
  }
}

/** A saved answer out of parsed JSON; `null` where it is none. */
function savedAnswerOf(value: unknown): SavedAnswer | null {
  try {
    return readSavedAnswer(objectOf(value, 'file'));
  } catch (fault) {
    if (fault instanceof WrongFile) return null;
    throw fault;
  }
}

function readSavedAnswer(file: object): SavedAnswer {
  const request = objectOf(fieldOf(file, 'request'), 'request');
  const answer = objectOf(fieldOf(file, 'answer'), 'answer');
  const fields = objectOf(fieldOf(answer, 'headers'), 'answer.headers');
  const status = numberField(answer, 'status');
  if (fieldOf(file, 'format') !== SAVED_FORMAT || !Number.isInteger(status)) {
    throw new WrongFile('file: expected a status, in the format that this version reads');
  }
  const headers = KEPT_FIELDS.flatMap((name) => {
    const field = optionalTextField(fields, name);
    return field === null ? [] : [[name, field] as const];
  });
  return {
    format: SAVED_FORMAT,
    request: {
      method: textField(request, 'method'),
      url: textField(request, 'url'),
      accept_signature: textField(request, 'accept_signature'),
    },
    answer: {
      status,
      headers: Object.fromEntries(headers),
      body_base64: textField(answer, 'body_base64'),
    },
  };
}

/** Bytes of a public key of Ed25519. */
const KEY_BYTES = 32;

/** The Ed25519 keys of a JWK set; `null` where it is none, or names one id twice. */
export function keySetOf(value: unknown): readonly PinnedKey[] | null {
  const keys = fieldOf(value, 'keys');
  if (!Array.isArray(keys) || keys.length > KEYS_MAX) return null;
  const found = new Map<string, PinnedKey>();
  for (const key of keys as readonly unknown[]) {
    const kty = fieldOf(key, 'kty');
    if (typeof kty !== 'string') return null;
    // Keys of other kinds may stand in a set; what verifies nothing is passed over.
    if (kty !== 'OKP' || fieldOf(key, 'crv') !== 'Ed25519') continue;
    const [kid, x] = [fieldOf(key, 'kid'), fieldOf(key, 'x')];
    const [nbf, exp] = [fieldOf(key, 'nbf'), fieldOf(key, 'exp')];
    const since = fieldOf(key, 'compromised_since');
    const publicKey = typeof x === 'string' ? parseBase64Url(x) : null;
    const isTimed = typeof nbf === 'number' && typeof exp === 'number';
    const isMarked = since === null || typeof since === 'number';
    if (typeof kid !== 'string' || publicKey?.length !== KEY_BYTES) return null;
    if (!isTimed || !isMarked || found.has(kid)) return null;
    found.set(kid, { kid, publicKey, nbf, exp, compromised_since: since });
  }
  return [...found.values()];
}
