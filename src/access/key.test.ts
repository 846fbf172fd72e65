import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  deriveSecrets,
  displayPrefix,
  hashesOf,
  KEY_LIFETIME_S,
  mintKey,
  mintSecret,
  parseKey,
  parseSecret,
} from './secret.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const kinds = fc.constantFrom('sc', 'scp', 'sct');

describe('the form of a key', () => {
  test('is its kind, 43 random and 6 checksum characters, and is read back as its kind', () => {
    fc.assert(
      fc.property(kinds, (kind) => {
        const text = mintSecret(kind);
        expect(text).toMatch(new RegExp(`^${kind}_[0-9A-Za-z]{49}$`));
        expect(parseSecret(text)).toBe(kind);
      }),
    );
  });

  test('any one changed character is refused', () => {
    fc.assert(
      fc.property(kinds, fc.nat(), fc.nat(61), (kind, at, letter) => {
        const text = mintSecret(kind);
        const place = at % text.length;
        const changed = text.slice(0, place) + ALPHABET.charAt(letter) + text.slice(place + 1);
        fc.pre(changed !== text);
        expect(parseSecret(changed)).toBeNull();
      }),
    );
  });

  test('two neighbours exchanged, a cut, a lengthened and a padded key are refused', () => {
    fc.assert(
      fc.property(kinds, fc.nat(), (kind, at) => {
        const text = mintSecret(kind);
        const i = at % (text.length - 1);
        const swapped = text.slice(0, i) + text.charAt(i + 1) + text.charAt(i) + text.slice(i + 2);
        if (swapped !== text) expect(parseSecret(swapped)).toBeNull();
        for (const other of [
          text.slice(1),
          text.slice(0, -1),
          `${text}0`,
          ` ${text}`,
          `${text}\n`,
        ]) {
          expect(parseSecret(other)).toBeNull();
        }
      }),
    );
  });

  test('a known key keeps its checksum: keys in use stay good over releases', () => {
    expect(parseKey(`sc_${'0'.repeat(43)}4QPXIL`)).toBe('sc');
  });

  test('any text at all is answered without throwing, a token as no key', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseKey(text)).toBeNull();
      }),
    );
    expect(parseKey(mintSecret('sct'))).toBeNull();
  });
});

describe('a minted key', () => {
  const secrets = deriveSecrets('root', null);
  const holder = { kind: 'sc', membership_id: 'mem_1' } as const;

  test('stores a hash and a short prefix, and lives 90 days', () => {
    const { text, stored } = mintKey(holder, secrets, 1_000);
    expect(stored).toMatchObject({ holder, created_at: 1_000, expires_at: 1_000 + KEY_LIFETIME_S });
    expect(KEY_LIFETIME_S).toBe(90 * 24 * 3_600);
    expect(stored.prefix).toBe(text.slice(0, 11));
    expect(stored.secret).toEqual(hashesOf(text, secrets)[0]);
    expect(JSON.stringify(stored)).not.toContain(text.slice(11));
    expect(displayPrefix(mintSecret('scp'))).toMatch(/^scp_[0-9A-Za-z]{8}$/);
  });

  test('no two are alike', () => {
    const texts = Array.from({ length: 1_000 }, () => mintSecret('sc'));
    expect(new Set(texts).size).toBe(1_000);
  });
});
