// What is signed of a message is what RFC 9421 says, to the byte.

import { createPrivateKey, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseBase64Url } from '../chain/bytes.ts';
import { verifyEd25519 } from '../chain/ed25519.ts';
import { TEST_KEY } from '../testing/twins/signing.ts';
import {
  ANSWER_COMPONENTS,
  answerSignature,
  contentDigest,
  inputText,
  isDigestOf,
  type MessageSeen,
  parseByteFields,
  parseSignatureInputs,
  readWish,
  signatureBase,
  signatureWishText,
} from './http-signature.ts';

const PUBLIC_KEY = parseBase64Url(TEST_KEY.x);
if (PUBLIC_KEY === null) throw new Error('the test key is no base64url');
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The request of RFC 9421, B.2. */
const REQUEST: MessageSeen = {
  request: {
    method: 'POST',
    url: 'https://example.com/foo?param=Value&Pet=dog',
    fields: {
      host: 'example.com',
      date: 'Tue, 20 Apr 2021 02:07:55 GMT',
      'content-type': 'application/json',
      'content-digest':
        'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm' +
        '+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
      'content-length': '18',
    },
  },
  answer: null,
};
/** RFC 9421, B.2.6. */
const INPUT =
  'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")' +
  ';created=1618884473;keyid="test-key-ed25519"';
const SIGNATURE =
  'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:';

describe('RFC 9421, B.2.6', () => {
  const [input] = parseSignatureInputs(INPUT) ?? [];
  const signature = parseByteFields(SIGNATURE)?.get('sig-b26');
  if (input === undefined || signature === undefined) throw new Error('the vector does not parse');
  const base = String(signatureBase(input, REQUEST));

  test('the base is that of the standard', () => {
    expect(base).toBe(
      [
        '"date": Tue, 20 Apr 2021 02:07:55 GMT',
        '"@method": POST',
        '"@path": /foo',
        '"@authority": example.com',
        '"content-type": application/json',
        '"content-length": 18',
        '"@signature-params": ("date" "@method" "@path" "@authority" "content-type" ' +
          '"content-length");created=1618884473;keyid="test-key-ed25519"',
      ].join('\n'),
    );
  });

  test('the signature holds, and is the one that this machine makes', () => {
    expect(verifyEd25519(signature, bytesOf(base), PUBLIC_KEY)).toBe(true);
    const key = createPrivateKey({
      key: { kty: 'OKP', crv: 'Ed25519', ...TEST_KEY },
      format: 'jwk',
    });
    expect(Uint8Array.from(sign(null, bytesOf(base), key))).toEqual(signature);
  });

  test('each component that is changed breaks it', () => {
    const { request } = REQUEST;
    const others: MessageSeen['request'][] = [
      { ...request, method: 'PUT' },
      { ...request, url: 'https://example.com/bar' },
      { ...request, url: 'https://example.org/foo' },
      { ...request, fields: { ...request.fields, date: 'Tue, 20 Apr 2021 02:07:56 GMT' } },
      { ...request, fields: { ...request.fields, 'content-length': '19' } },
    ];
    for (const other of others) {
      const changed = String(signatureBase(input, { request: other, answer: null }));
      expect(changed).not.toBe(base);
      expect(verifyEd25519(signature, bytesOf(changed), PUBLIC_KEY)).toBe(false);
    }
  });
});

describe('a signature base', () => {
  const answered: MessageSeen = {
    request: { method: 'GET', url: 'https://a.example/x?y=1', fields: { 'x-a': 'asked' } },
    answer: { status: 503, fields: { 'x-a': ' said\t', 'content-type': 'text/plain' } },
  };
  const baseOf = (list: string, message = answered) => {
    const [input] = parseSignatureInputs(`s=(${list});created=1`) ?? [];
    return input === undefined ? undefined : signatureBase(input, message);
  };

  test('tells the request of an answer from the answer', () => {
    expect(baseOf('"@status" "x-a" "x-a";req "@method";req "@target-uri";req')).toBe(
      [
        '"@status": 503',
        '"x-a": said',
        '"x-a";req: asked',
        '"@method";req: GET',
        '"@target-uri";req: https://a.example/x?y=1',
        '"@signature-params": ("@status" "x-a" "x-a";req "@method";req "@target-uri";req);created=1',
      ].join('\n'),
    );
    expect(baseOf('"@scheme";req "@query";req')).toContain(
      '"@scheme";req: https\n"@query";req: ?y=1',
    );
  });

  test.each([
    ['a component twice', '"x-a" "x-a"'],
    ['a field that is not there', '"x-b"'],
    ['a part of the request without its mark', '"@method"'],
    ['the status of a request', '"@status";req'],
    ['a parameter that is not known here', '"x-a";sf'],
    ['a derived component that is not known here', '"@nothing";req'],
    ['the line of the parameters itself', '"@signature-params"'],
    ['a name that every object has', '"constructor"'],
  ])('is none with %s', (_, list) => {
    expect(baseOf(list)).toBeNull();
  });

  test('is none where a value holds a line of its own', () => {
    const forged = { status: 200, fields: { 'x-a': 'a\n"@method": GET' } };
    expect(baseOf('"x-a"', { ...answered, answer: forged })).toBeNull();
  });
});

describe('structured fields', () => {
  test.each([
    '',
    'a',
    'a=',
    'a=(',
    'a=("x"',
    'a=("x" y)',
    'a=("x");b=',
    'a=("x");b=1.5',
    'a=("x");b=1;b=2',
    'a=("x"), a=("y")',
    'a=("x"),',
    'a=("x") b',
    'A=("x")',
    'a=("ü")',
    'a=("x");b="\n"',
    'a=("x");b="\\n"',
    'a=("x");b=1234567890123456',
    `a=("${'x'.repeat(5_000)}")`,
    `a=(${'"x" '.repeat(40)})`,
  ])('%j names no signature', (text) => {
    const found = parseSignatureInputs(text);
    expect(found === null || found.length === 0).toBe(true);
  });

  test('what is read is written the same', () => {
    for (const text of [
      '("a" "b";req);created=1;nonce="x\\"y\\\\z";alg="ed25519"',
      '();created',
      '()',
    ]) {
      const [input] = parseSignatureInputs(`s=${text}`) ?? [];
      expect(input === undefined ? null : inputText(input)).toBe(text);
    }
    const spaced = parseSignatureInputs('s=( "a"   "b" );created=1 ,\tt=("c")');
    expect(spaced?.map(({ label, components }) => [label, components.length])).toEqual([
      ['s', 2],
      ['t', 1],
    ]);
  });

  test('bytes have one form', () => {
    expect(parseByteFields('a=:QQ==:')?.get('a')).toEqual(Uint8Array.of(65));
    for (const text of ['a=:QQ:', 'a=:QR==:', 'a=QQ==', 'a=::x', 'a="QQ=="']) {
      expect(parseByteFields(text), text).toBeNull();
    }
  });
});

describe('a digest', () => {
  const empty = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:';

  test('is of the bytes, by SHA-256, whatever else stands beside it', () => {
    expect(isDigestOf(empty, new Uint8Array())).toBe(true);
    expect(isDigestOf(`sha-512=:QQ==:, ${empty}`, new Uint8Array())).toBe(true);
    expect(isDigestOf(empty, Uint8Array.of(0))).toBe(false);
    expect(isDigestOf('sha-512=:QQ==:', new Uint8Array())).toBe(false);
    expect(isDigestOf('sha-256=::', new Uint8Array())).toBe(false);
    expect(isDigestOf('nothing', new Uint8Array())).toBe(false);
    expect(contentDigest(Uint8Array.of(65))).toBe('sha-256=:QQ==:');
  });
});

describe('a wish', () => {
  const ours = ANSWER_COMPONENTS;

  test('for our components in any order, or for none by name, is met', () => {
    expect(readWish(signatureWishText('n-1'))).toEqual({
      label: 'exhibit',
      components: ours,
      nonce: 'n-1',
      tag: null,
      keyid: null,
    });
    expect(readWish('sig1=();created;nonce="a";tag="b";keyid="c"')).toEqual({
      label: 'sig1',
      components: ours,
      nonce: 'a',
      tag: 'b',
      keyid: 'c',
    });
    const turned =
      'x=("@target-uri";req "@method";req "content-type" "content-digest" "@status"), y=("@path")';
    const wish = readWish(turned);
    expect(typeof wish === 'string' ? wish : wish.components).toEqual([...ours].reverse());
  });

  test.each([
    ['', 'malformed'],
    ['sig1', 'malformed'],
    ['sig1=("@status"', 'malformed'],
    ['sig1=("@status")', 'components'],
    ['sig1=("@status" "content-digest" "content-type" "@method";req "date")', 'components'],
    ['sig1=("@status" "content-digest" "content-type" "@method" "@target-uri")', 'components'],
    ['sig1=();alg="rsa-pss-sha512"', 'parameters'],
    ['sig1=();expires', 'parameters'],
    ['sig1=();nonce', 'parameters'],
    ['sig1=();nonce=5', 'parameters'],
    [`sig1=();nonce="${'n'.repeat(257)}"`, 'parameters'],
  ])('%j is not: %s', (text, reason) => {
    expect(readWish(text)).toBe(reason);
  });

  test('is signed as a whole, with its nonce', () => {
    const wish = readWish(signatureWishText('n-1'));
    if (typeof wish === 'string') throw new Error(wish);
    const message: MessageSeen = {
      request: { method: 'GET', url: 'https://a.example/x', fields: {} },
      answer: { status: 200, fields: { 'content-digest': 'd', 'content-type': 't' } },
    };
    const params = 'created=7;keyid="k";alg="ed25519";nonce="n-1"';
    const list = '"@status" "content-digest" "content-type" "@method";req "@target-uri";req';
    expect(answerSignature(wish, { keyid: 'k', created: 7 }, message)).toEqual({
      input: `(${list});${params}`,
      base: [
        '"@status": 200',
        '"content-digest": d',
        '"content-type": t',
        '"@method";req: GET',
        '"@target-uri";req: https://a.example/x',
        `"@signature-params": (${list});${params}`,
      ].join('\n'),
    });
    const without = { ...message, answer: { status: 200, fields: { 'content-digest': 'd' } } };
    expect(answerSignature(wish, { keyid: 'k', created: 7 }, without)).toBeNull();
  });
});
