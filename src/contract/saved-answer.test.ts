// A saved answer holds where all of it is as it was signed, by a key of the pinned set, in time.

import { createHash, createPrivateKey, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TEST_KEY, TEST_KID } from '../testing/twins/signing.ts';
import { answerSignature, contentDigest, readWish, signatureWishText } from './http-signature.ts';
import {
  type SavedAnswer,
  saveAnswer,
  type VerifyOptions,
  verifySavedAnswer,
} from './saved-answer.ts';

const NOW = 1_790_000_000;
const URL_ASKED = 'https://exhibit.example/api/v1/wallet/0xabc/ofac?on=2026-11-01';
const BODY = Buffer.from('{"state":"ok","data":{"sanctioned":false}}');
const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', ...TEST_KEY }, format: 'jwk' });

type Over = {
  readonly created?: number;
  readonly kid?: string;
  readonly nonce?: string;
  readonly status?: number;
  readonly method?: string;
};

/** A file as the service and a client make it. */
function savedOf({
  created = NOW,
  kid = TEST_KID,
  nonce = 'n-1',
  status = 200,
  method = 'GET',
}: Over = {}) {
  const accept_signature = signatureWishText(nonce);
  const wish = readWish(accept_signature);
  if (typeof wish === 'string') throw new Error(wish);
  const headers: { [name: string]: string } = {
    'content-type': 'application/json; charset=utf-8',
    'content-digest': contentDigest(createHash('sha256').update(BODY).digest()),
  };
  const signed = answerSignature(
    wish,
    { keyid: kid, created },
    {
      request: { method, url: URL_ASKED, fields: {} },
      answer: { status, fields: headers },
    },
  );
  if (signed === null) throw new Error('nothing was signed');
  headers['signature-input'] = `exhibit=${signed.input}`;
  headers['signature'] =
    `exhibit=:${sign(null, Buffer.from(signed.base), key).toString('base64')}:`;
  const fieldOf = (name: string) => headers[name] ?? null;
  return saveAnswer({ method, url: URL_ASKED, accept_signature }, status, fieldOf, BODY);
}

function keySet(over: object = {}, kid = TEST_KID) {
  const fixed = { kty: 'OKP', crv: 'Ed25519', alg: 'Ed25519', use: 'sig', kid, x: TEST_KEY.x };
  const times = { nbf: NOW - 1_000, exp: NOW + 1_000, compromised_since: null };
  return { keys: [{ ...fixed, ...times, ...over }] };
}

function outcome(file: unknown, keys: unknown = keySet(), options: Partial<VerifyOptions> = {}) {
  const said = verifySavedAnswer(file, keys, { now: NOW, ...options });
  return said.state === 'holds' ? 'holds' : `${said.state}: ${said.fault}`;
}

type Loose = {
  request: object;
  answer: { headers: object; body_base64: string };
};

function changed(file: SavedAnswer, how: (file: Loose) => unknown): unknown {
  const copy: Loose = structuredClone(file);
  how(copy);
  return copy;
}

describe('holds', () => {
  test('as it was saved, parsed or as text, and says what was signed', () => {
    const file = savedOf();
    expect(verifySavedAnswer(JSON.stringify(file), JSON.stringify(keySet()), { now: NOW })).toEqual(
      {
        state: 'holds',
        signed: {
          kid: TEST_KID,
          created: NOW,
          nonce: 'n-1',
          simulated: false,
          method: 'GET',
          url: URL_ASKED,
          status: 200,
          content_type: 'application/json; charset=utf-8',
          body: Uint8Array.from(BODY),
        },
      },
    );
    expect(outcome(file)).toBe('holds');
  });

  test('years later, once its key has long expired', () => {
    expect(outcome(savedOf(), keySet(), { now: NOW + 10 * 365 * 86_400 })).toBe('holds');
  });

  test('of a simulated key, and says so', () => {
    const kid = `simulated:${TEST_KID}`;
    const said = verifySavedAnswer(savedOf({ kid }), keySet({}, kid), { now: NOW });
    expect(said.state === 'holds' && said.signed.simulated).toBe(true);
  });
});

describe('is refused', () => {
  test.each<[string, string, (file: Loose) => unknown]>([
    ['a changed status', 'signature_wrong', (file) => Object.assign(file.answer, { status: 404 })],
    [
      'moved to another address',
      'signature_wrong',
      (file) => Object.assign(file.request, { url: URL_ASKED.replace('0xabc', '0xabd') }),
    ],
    [
      'moved to another service',
      'signature_wrong',
      (file) => Object.assign(file.request, { url: URL_ASKED.replace('exhibit', 'other') }),
    ],
    [
      'passed off as the answer to HEAD',
      'signature_wrong',
      (file) => Object.assign(file.request, { method: 'HEAD' }),
    ],
    [
      'another type',
      'signature_wrong',
      (file) => Object.assign(file.answer.headers, { 'content-type': 'text/html' }),
    ],
    [
      'another body',
      'body_changed',
      (file) => Object.assign(file.answer, { body_base64: btoa('{"state":"ok"}') }),
    ],
    [
      'another body under its own digest',
      'signature_wrong',
      (file) => {
        const digest = contentDigest(createHash('sha256').update('x').digest());
        Object.assign(file.answer, { body_base64: btoa('x') });
        Object.assign(file.answer.headers, { 'content-digest': digest });
      },
    ],
    [
      'without a signature',
      'unsigned',
      (file) => Reflect.deleteProperty(file.answer.headers, 'signature'),
    ],
    [
      'with a signature of another form',
      'malformed_signature',
      (file) => Object.assign(file.answer.headers, { signature: 'exhibit=QQ==' }),
    ],
    [
      'with a signature over less',
      'covers_too_little',
      (file) =>
        Object.assign(file.answer.headers, {
          'signature-input': `exhibit=("content-digest");created=${NOW};keyid="${TEST_KID}";nonce="n-1"`,
        }),
    ],
    [
      'under a nonce that was not asked',
      'nonce_mismatch',
      (file) => Object.assign(file.request, { accept_signature: signatureWishText('n-2') }),
    ],
    ['of another format', 'not_a_saved_answer', (file) => Object.assign(file, { format: 'x' })],
    [
      'with a body that is no base64',
      'not_a_saved_answer',
      (file) => Object.assign(file.answer, { body_base64: 'QQ' }),
    ],
  ])('%s: %s', (_, fault, how) => {
    expect(outcome(changed(savedOf(), how))).toBe(`refused: ${fault}`);
  });

  test('by another service’s key set, and by no key set', () => {
    const others = keySet({ kid: 'B'.repeat(43), x: 'A'.repeat(43) });
    expect(outcome(savedOf(), others)).toBe('refused: unknown_key');
    expect(outcome(savedOf(), keySet({ x: 'A'.repeat(43) }))).toBe('refused: signature_wrong');
    expect(outcome(savedOf(), { keys: [] })).toBe('refused: unknown_key');
    for (const none of [null, 'x', '{}', { keys: {} }, keySet({ nbf: '1' }), keySet({ kid: 1 })]) {
      expect(outcome(savedOf(), none)).toBe('refused: not_a_key_set');
    }
    const twice = [...keySet().keys, ...keySet().keys];
    expect(outcome(savedOf(), { keys: twice })).toBe('refused: not_a_key_set');
  });

  test('outside the time of its key, and of a time that is yet to come', () => {
    expect(outcome(savedOf(), keySet({ exp: NOW }))).toBe('refused: key_expired');
    expect(outcome(savedOf(), keySet({ exp: NOW + 1 }))).toBe('holds');
    expect(outcome(savedOf(), keySet({ nbf: NOW + 1 }))).toBe('refused: key_not_yet_valid');
    expect(outcome(savedOf(), keySet(), { now: NOW - 301 })).toBe('refused: made_in_future');
    expect(outcome(savedOf(), keySet(), { now: NOW - 300 })).toBe('holds');
  });

  test('as the answer to another request, and as one that was given before', () => {
    expect(outcome(savedOf(), keySet(), { nonce: 'n-1' })).toBe('holds');
    expect(outcome(savedOf(), keySet(), { nonce: 'n-2' })).toBe('refused: nonce_mismatch');
    const seen = new Set<string>();
    expect(outcome(savedOf(), keySet(), { seen })).toBe('holds');
    expect(outcome(savedOf(), keySet(), { seen })).toBe('refused: nonce_replayed');
    expect(outcome(savedOf({ nonce: 'n-3' }), keySet(), { seen })).toBe('holds');
  });
});

describe('under a key that was marked compromised', () => {
  const since = NOW - 100;
  const marked = keySet({ compromised_since: since });

  test('a later signature is refused, whatever leaf is not older', () => {
    expect(outcome(savedOf(), marked)).toBe('refused: key_compromised');
    expect(outcome(savedOf(), marked, { leaf_at: since })).toBe('refused: key_compromised');
    expect(outcome(savedOf(), marked, { leaf_at: null })).toBe('refused: key_compromised');
  });

  test('a leaf that is older shows that the statement was made before', () => {
    expect(outcome(savedOf(), marked, { leaf_at: since - 1 })).toBe('holds');
    expect(outcome(savedOf({ created: since - 1 }), marked, { leaf_at: since - 1 })).toBe('holds');
  });

  test('a signature that says it is older is not proven: its holder writes what he likes', () => {
    expect(outcome(savedOf({ created: since - 1 }), marked)).toBe('unproven: key_compromised');
    expect(outcome(savedOf({ created: since }), marked)).toBe('refused: key_compromised');
  });

  test('its nonce counts as seen only once the answer holds', () => {
    const seen = new Set<string>();
    outcome(savedOf({ created: since - 1 }), marked, { seen });
    outcome(savedOf(), marked, { seen });
    expect(seen.size).toBe(0);
  });
});
