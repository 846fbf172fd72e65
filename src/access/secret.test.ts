import { describe, expect, test } from 'vitest';
import { deriveKey, deriveSecrets, hashesOf } from './secret.ts';

describe('what follows from the root secret', () => {
  test('a hash depends on the text and on the root, and on nothing else', () => {
    const [a] = hashesOf('sc_x', deriveSecrets('root', null));
    const [again] = hashesOf('sc_x', deriveSecrets('root', null));
    const [otherText] = hashesOf('sc_y', deriveSecrets('root', null));
    const [otherRoot] = hashesOf('sc_x', deriveSecrets('root2', null));
    expect(a).toEqual(again);
    expect(a.hash).toHaveLength(32);
    expect(otherText.hash).not.toEqual(a.hash);
    expect(otherRoot.hash).not.toEqual(a.hash);
  });

  test('during a rotation both are tried, the one in force first', () => {
    const hashes = hashesOf('sc_x', deriveSecrets('new', 'old'));
    const [now] = hashesOf('sc_x', deriveSecrets('new', null));
    const [before] = hashesOf('sc_x', deriveSecrets('old', null));
    expect(hashes).toEqual([now, before]);
  });

  test('the fingerprint names the root without being any key derived from it', () => {
    const [{ fingerprint, pepper }] = deriveSecrets('root', null);
    expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
    expect(pepper.export().toString('hex')).not.toContain(fingerprint);
    expect(deriveSecrets('root2', null)[0].fingerprint).not.toBe(fingerprint);
  });

  test('each purpose has a key of its own', () => {
    const one = deriveKey('root', 'a').export();
    expect(one.equals(deriveKey('root', 'a').export())).toBe(true);
    expect(one.equals(deriveKey('root', 'b').export())).toBe(false);
  });
});
