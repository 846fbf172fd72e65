import { expect, test } from 'vitest';
import { deriveSecrets, hashesOf, mintSecret, recognise } from './secret.ts';

const SECRETS = deriveSecrets('a root secret of the tests', 'the root secret before it');

test('a key is recognised with the hashes of its text, the first time and again', () => {
  for (const kind of ['sc', 'scp'] as const) {
    const text = mintSecret(kind);
    const expected = { kind, hashes: hashesOf(text, SECRETS) };
    expect([recognise(text, SECRETS), recognise(text, SECRETS)]).toEqual([expected, expected]);
  }
});

test('what is known under one secret is not taken for known under another', () => {
  const text = mintSecret('sc');
  const other = deriveSecrets('another root secret', null);
  recognise(text, SECRETS);
  expect(recognise(text, other)?.hashes).toEqual(hashesOf(text, other));
});

test('a text that is no key is none, however often it is sent', () => {
  const changed = mintSecret('sc').replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  for (const text of ['', 'sc_', changed, mintSecret('sct')]) {
    expect([recognise(text, SECRETS), recognise(text, SECRETS)]).toEqual([null, null]);
  }
});

test('keys without end push out the first, and each is still recognised', () => {
  const texts = Array.from({ length: 10_050 }, () => mintSecret('sc'));
  for (const text of texts) recognise(text, SECRETS);
  for (const text of [texts[0], texts.at(-1)]) {
    expect(recognise(String(text), SECRETS)?.hashes).toEqual(hashesOf(String(text), SECRETS));
  }
});
