// Saved answers of docs/reference/vectors, right and wrong, with what a check of them must find.

import * as Hash from 'ox/Hash';
import {
  ANSWER_COMPONENTS,
  type Component,
  contentDigest,
  inputText,
  signatureBase,
  signatureWishText,
} from '../contract/http-signature.ts';
import {
  type SavedAnswer,
  type SavedAnswerCheck,
  type SavedAnswerFault,
  saveAnswer,
} from '../contract/saved-answer.ts';
import {
  base64Of,
  CURRENT,
  GENERATED,
  LOST,
  LOST_AT,
  STRANGER,
  type VectorKey,
} from './vector-keys.ts';

const CREATED = GENERATED + 60;
const NONCE = 'n-1';
const bytesOf = (text: string) => new TextEncoder().encode(text);
const digestOf = (bytes: Uint8Array) => contentDigest(Hash.sha256(bytes, { as: 'Bytes' }));

/** What differs from the answer that holds. */
type Over = {
  readonly key?: VectorKey;
  readonly method?: string;
  /** Of the address, with its question mark. */
  readonly query?: string;
  readonly status?: number;
  readonly body?: Uint8Array;
  readonly type?: string;
  readonly created?: number;
  readonly nonce?: string | null;
  readonly components?: readonly Component[];
  /** Parameters of the signature beside its own, or in their place. */
  readonly parameters?: readonly (readonly [name: string, value: string | number | true])[];
};

/** A saved answer as a key signed it. */
export function savedAnswerVector(over: Over = {}): SavedAnswer {
  const { key = CURRENT, method = 'GET', status = 200, created = CREATED, nonce = NONCE } = over;
  const { body = bytesOf('{"state":"ok"}'), type = 'application/json; charset=utf-8' } = over;
  const url = `https://exhibit.example/api/v1/receipts${over.query ?? ''}`;
  const input = {
    components: over.components ?? ANSWER_COMPONENTS,
    parameters: over.parameters ?? [
      ['created', created],
      ['keyid', key.jwk.kid],
      ['alg', 'ed25519'],
      ...(nonce === null ? [] : [['nonce', nonce] as const]),
    ],
  };
  const fields = { 'content-type': type, 'content-digest': digestOf(body) };
  const request = { method, url, fields: {} };
  const base = signatureBase(input, { request, answer: { status, fields } });
  if (base === null) throw new Error('vectors: nothing to sign');
  const headers = new Map<string, string>([
    ...Object.entries(fields),
    ['signature-input', `exhibit=${inputText(input)}`],
    ['signature', `exhibit=:${base64Of(key.sign(bytesOf(base)))}:`],
  ]);
  const accept_signature = signatureWishText(nonce === null ? NONCE : nonce);
  const headerOf = (name: string) => headers.get(name) ?? null;
  return saveAnswer({ method, url, accept_signature }, status, headerOf, body);
}

/** A saved answer, what its verifier knows beside it, and what it must find. */
export type AnswerVector = {
  readonly name: string;
  readonly file: object;
  /** The verifier's clock, in Unix seconds. */
  readonly now: number;
  /** The nonce that the verifier asked under; `null`: another one asked. */
  readonly nonce: string | null;
  /** The nonces of answers that it took before. */
  readonly seen: readonly string[];
  /** The time of the statement's leaf, whose place in the log was proven. */
  readonly leaf_at: number | null;
  readonly state: SavedAnswerCheck['state'];
  readonly fault: SavedAnswerFault | null;
};

type Known = Partial<Pick<AnswerVector, 'now' | 'nonce' | 'seen' | 'leaf_at'>>;

function vector(
  name: string,
  file: object,
  fault: SavedAnswerFault | null = null,
  { now = CREATED + 60, nonce = null, seen = [], leaf_at = null }: Known = {},
): AnswerVector {
  const state = fault === null ? 'holds' : 'refused';
  return { name, file, now, nonce, seen, leaf_at, state, fault };
}

const HOLDS = savedAnswerVector();
type Changes = {
  readonly request?: Partial<SavedAnswer['request']>;
  readonly answer?: Partial<Omit<SavedAnswer['answer'], 'headers'>>;
  readonly headers?: { readonly [name: string]: string | null };
};

/** The answer that holds, changed after it was signed. A header of `null` is taken away. */
function changeAnswer({ request, answer, headers }: Changes): object {
  const all = Object.entries({ ...HOLDS.answer.headers, ...headers });
  const kept = Object.fromEntries(all.filter(([, value]) => value !== null));
  return {
    ...HOLDS,
    request: { ...HOLDS.request, ...request },
    answer: { ...HOLDS.answer, ...answer, headers: kept },
  };
}

function rightVectors(): readonly AnswerVector[] {
  const refusal = bytesOf('{"error":"A key is needed.","reason":"missing_key"}');
  const reversed = [...ANSWER_COMPONENTS].reverse();
  const packed = Uint8Array.from({ length: 256 }, (_, n) => n);
  return [
    vector('an answer', HOLDS),
    vector('under the nonce that was asked', HOLDS, null, { nonce: NONCE, seen: ['n-0'] }),
    vector('without a nonce', {
      ...savedAnswerVector({ nonce: null }),
      request: { ...HOLDS.request, accept_signature: 'sig=();created' },
    }),
    vector('a nonce in quotes of its own', savedAnswerVector({ nonce: 'a"b\\c, ;d="e"' })),
    vector('with a query', savedAnswerVector({ query: '?from=2026-05-01&to=a%20b' })),
    vector('a refusal', savedAnswerVector({ status: 402, body: refusal })),
    vector('a spent allowance', savedAnswerVector({ status: 429, body: refusal })),
    vector('a fault', savedAnswerVector({ status: 500, body: refusal })),
    vector('to a post', savedAnswerVector({ method: 'POST', status: 201 })),
    vector('to HEAD, without content', savedAnswerVector({ method: 'HEAD', body: bytesOf('') })),
    vector('a page', savedAnswerVector({ type: 'text/html; charset=utf-8' })),
    vector('bytes that are no text', savedAnswerVector({ body: packed })),
    vector('components in another order', savedAnswerVector({ components: reversed })),
    vector(
      'a parameter that nobody here knows',
      savedAnswerVector({
        parameters: [
          ['keyid', CURRENT.jwk.kid],
          ['flag', true],
          ['created', CREATED],
          ['nonce', NONCE],
        ],
      }),
    ),
    vector('years later', HOLDS, null, { now: CURRENT.jwk.exp + 315_360_000 }),
    vector(
      'at the last second of its key',
      savedAnswerVector({ created: CURRENT.jwk.exp - 1 }),
      null,
      {
        now: CURRENT.jwk.exp,
      },
    ),
    vector(
      'spaces between components',
      changeAnswer({ headers: { 'signature-input': inputWithSpaces(HOLDS) } }),
    ),
  ];
}

/** The same input with spaces where its field may have some: what is signed has none. */
function inputWithSpaces({ answer: { headers } }: SavedAnswer): string {
  return String(headers['signature-input']).replace('("', '( "').replace('" "', '"  "');
}

function changedVectors(): readonly AnswerVector[] {
  const { url } = HOLDS.request;
  const other = bytesOf('{"state":"not_deployed"}');
  const signature = String(HOLDS.answer.headers.signature);
  const input = String(HOLDS.answer.headers['signature-input']);
  return [
    vector('another status', changeAnswer({ answer: { status: 404 } }), 'signature_wrong'),
    vector(
      'moved to another address',
      changeAnswer({ request: { url: url.replace('receipts', 'screens') } }),
      'signature_wrong',
    ),
    vector(
      'moved to another service',
      changeAnswer({ request: { url: url.replace('exhibit', 'other') } }),
      'signature_wrong',
    ),
    vector('of another method', changeAnswer({ request: { method: 'HEAD' } }), 'signature_wrong'),
    vector(
      'of another type',
      changeAnswer({ headers: { 'content-type': 'text/html' } }),
      'signature_wrong',
    ),
    vector(
      'other bytes',
      changeAnswer({ answer: { body_base64: base64Of(other) } }),
      'body_changed',
    ),
    vector(
      'other bytes under their own digest',
      changeAnswer({
        answer: { body_base64: base64Of(other) },
        headers: { 'content-digest': digestOf(other) },
      }),
      'signature_wrong',
    ),
    vector(
      'without a digest',
      changeAnswer({ headers: { 'content-digest': null } }),
      'body_changed',
    ),
    vector(
      'a digest by another hash alone',
      changeAnswer({ headers: { 'content-digest': 'sha-512=:AA==:' } }),
      'body_changed',
    ),
    vector(
      'a changed signature',
      changeAnswer({ headers: { signature: signature.replace(/.{6}==:$/, 'AAAAAA==:') } }),
      'signature_wrong',
    ),
    vector(
      'a later time',
      changeAnswer({ headers: { 'signature-input': later(input) } }),
      'signature_wrong',
    ),
    vector('without a signature', changeAnswer({ headers: { signature: null } }), 'unsigned'),
    vector('without its input', changeAnswer({ headers: { 'signature-input': null } }), 'unsigned'),
    vector(
      'of another format',
      { ...HOLDS, format: 'exhibit-saved-answer/2' },
      'not_a_saved_answer',
    ),
    vector(
      'a body that is no base64',
      changeAnswer({ answer: { body_base64: 'e30' } }),
      'not_a_saved_answer',
    ),
    vector(
      'a body in base64 of another form',
      changeAnswer({ answer: { body_base64: 'e31=' } }),
      'not_a_saved_answer',
    ),
    vector(
      'without a type',
      changeAnswer({ headers: { 'content-type': null } }),
      'not_a_saved_answer',
    ),
  ];
}

function later(input: string): string {
  return input.replace(`created=${CREATED}`, `created=${CREATED + 1}`);
}

function formVectors(): readonly AnswerVector[] {
  const { signature } = HOLDS.answer.headers;
  const input = String(HOLDS.answer.headers['signature-input']);
  const withInput = (text: string) => changeAnswer({ headers: { 'signature-input': text } });
  const withSignature = (text: string) => changeAnswer({ headers: { signature: text } });
  const created = ['created', CREATED] as const;
  const keyid = ['keyid', CURRENT.jwk.kid] as const;
  return [
    ...[
      ['a label twice', withInput(`${input}, ${input}`)],
      ['a parameter twice', withInput(`${input};created=1`)],
      ['a comma too many', withInput(`${input},`)],
      ['a label in capitals', withInput(input.replace('exhibit', 'Exhibit'))],
      ['a time with a fraction', withInput(input.replace(`${CREATED};`, `${CREATED}.5;`))],
      ['a list without its end', withInput(input.replace(')', ''))],
      ['an input that is too long', withInput(`${input};tag="${'x'.repeat(4_096)}"`)],
      [
        'a signature under another label',
        withSignature(String(signature).replace('exhibit', 'other')),
      ],
      ['a signature as a text', withSignature('exhibit="AA=="')],
      ['a signature in base64 of another form', withSignature('exhibit=:AB==:')],
      ['by another algorithm', savedAnswerVector({ parameters: [created, keyid, ['alg', 'rsa']] })],
      ['without a time', savedAnswerVector({ parameters: [keyid] })],
      ['a time as a text', savedAnswerVector({ parameters: [['created', '1'], keyid] })],
      ['without a key', savedAnswerVector({ parameters: [created] })],
    ].map(([name, file]) => vector(String(name), Object(file), 'malformed_signature')),
    ...ANSWER_COMPONENTS.map((left, at) =>
      vector(
        `not over ${left.name}`,
        savedAnswerVector({ components: ANSWER_COMPONENTS.toSpliced(at, 1) }),
        'covers_too_little',
      ),
    ),
    vector(
      'a signature of 63 bytes',
      withSignature(`exhibit=:${'A'.repeat(84)}:`),
      'signature_wrong',
    ),
    vector(
      'a component twice',
      withInput(input.replace('("@status"', '("@status" "@status"')),
      'signature_wrong',
    ),
    vector(
      'over a component that the file lacks',
      withInput(input.replace('("@status"', '("@status" "date"')),
      'signature_wrong',
    ),
  ];
}

function keyVectors(): readonly AnswerVector[] {
  const { nbf, exp } = CURRENT.jwk;
  const before = savedAnswerVector({ key: LOST, created: LOST_AT - 1 });
  return [
    vector('by another service', savedAnswerVector({ key: STRANGER }), 'unknown_key'),
    vector(
      'before its key was valid',
      savedAnswerVector({ created: nbf - 1 }),
      'key_not_yet_valid',
    ),
    vector('after its key had expired', savedAnswerVector({ created: exp }), 'key_expired', {
      now: exp,
    }),
    vector('of a time yet to come', HOLDS, 'made_in_future', { now: CREATED - 301 }),
    vector('within what clocks differ by', HOLDS, null, { now: CREATED - 300 }),
    vector('to another request', HOLDS, 'nonce_mismatch', { nonce: 'n-2' }),
    vector(
      'under a nonce that its request does not name',
      changeAnswer({ request: { accept_signature: signatureWishText('n-2') } }),
      'nonce_mismatch',
    ),
    vector(
      'under no nonce, though its request named one',
      savedAnswerVector({ nonce: null }),
      'nonce_mismatch',
    ),
    vector('given before', HOLDS, 'nonce_replayed', { seen: ['n-0', NONCE] }),
    vector('by a lost key', savedAnswerVector({ key: LOST, created: LOST_AT }), 'key_compromised', {
      now: LOST_AT,
    }),
    {
      ...vector('by a key that was lost later, as it says', before, 'key_compromised', {
        now: LOST_AT,
      }),
      state: 'unproven',
    },
    vector('by a key that was lost later, as an older leaf shows', before, null, {
      now: LOST_AT,
      leaf_at: LOST_AT - 1,
    }),
    vector(
      'by a lost key, over a statement that an older leaf shows',
      savedAnswerVector({ key: LOST, created: LOST_AT }),
      null,
      { now: LOST_AT, leaf_at: LOST_AT - 1 },
    ),
    vector(
      'by a lost key, over a statement whose leaf is not older',
      savedAnswerVector({ key: LOST, created: LOST_AT }),
      'key_compromised',
      { now: LOST_AT, leaf_at: LOST_AT },
    ),
  ];
}

export const ANSWER_VECTORS: readonly AnswerVector[] = [
  ...rightVectors(),
  ...changedVectors(),
  ...formVectors(),
  ...keyVectors(),
];
