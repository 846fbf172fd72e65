import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import type { IntelligenceToken, TokenStore } from '../ports/access.ts';
import {
  deriveKey,
  deriveSecrets,
  displayPrefix,
  hashesOf,
  KEY_LIFETIME_S,
  mintKey,
  mintSecret,
  mintToken,
  parseKey,
  parseSecret,
  recognise,
  seal,
  tokenAuthentication,
  unseal,
} from './secret.ts';

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

// Does what is sealed open for this service and its owner's row alone?

const OLD = 'the root secret before';
const NEW = 'the root secret of now';
const TEXT = '{"platform":"discord"}';

test('what is sealed opens again, and twice the same is sealed differently', () => {
  const secrets = deriveSecrets(NEW, null);
  const [one, other] = [seal(TEXT, 'int_1', secrets), seal(TEXT, 'int_1', secrets)];
  expect(unseal(one, 'int_1', secrets)).toBe(TEXT);
  expect(Buffer.from(one.bytes).equals(Buffer.from(other.bytes))).toBe(false);
  expect(Buffer.from(one.bytes).includes('discord')).toBe(false);
});

test('it opens under the secret before while that is set, and not without', () => {
  const sealed = seal(TEXT, 'int_1', deriveSecrets(OLD, null));
  expect(unseal(sealed, 'int_1', deriveSecrets(NEW, OLD))).toBe(TEXT);
  expect(unseal(sealed, 'int_1', deriveSecrets(NEW, null))).toBeNull();
});

test('it opens in no other row, and not with any bit changed', () => {
  const secrets = deriveSecrets(NEW, null);
  const sealed = seal(TEXT, 'int_1', secrets);
  expect(unseal(sealed, 'int_2', secrets)).toBeNull();
  for (let at = 0; at < sealed.bytes.length; at += 1) {
    const bytes = Uint8Array.from(sealed.bytes);
    bytes[at] = Number(bytes[at]) ^ 1;
    expect([at, unseal({ ...sealed, bytes }, 'int_1', secrets)]).toEqual([at, null]);
  }
  expect(unseal({ ...sealed, bytes: new Uint8Array(3) }, 'int_1', secrets)).toBeNull();
});

const secrets = deriveSecrets('root', null);
const source = { name: 's', url: 's:', as_of: 0, kind: 'table', simulated: false } as const;
const minted = mintToken('pro', secrets, 1_000);

function storeWith(over: Partial<IntelligenceToken> = {}): Pick<TokenStore, 'find'> {
  const { secret, ...shown } = minted.stored;
  return {
    find: async ([asked]) => {
      const mine = Buffer.from(asked.hash).equals(secret.hash);
      const value = mine ? { ...shown, revoked_at: null, ...over } : null;
      return read(value, { port: 'tokens', source });
    },
  };
}
const silent: Pick<TokenStore, 'find'> = {
  find: async () =>
    unread('tokens', why('store_unreadable', { what: 'The tokens', fault: 'no answer' })),
};
const bearer = (text: string) => ({ authorization: `Bearer ${text}`, queryToken: null });

describe('authentication by a token', () => {
  const configured = [{ tier: 'desk', token: 'configured-token-1' }] as const;
  const authenticate = tokenAuthentication(configured, storeWith(), secrets);

  test('opens for a minted and for a configured token with its tier', async () => {
    expect(await authenticate(bearer(minted.text))).toEqual({
      outcome: 'opens',
      tier: 'pro',
      id: minted.stored.id,
    });
    expect(await authenticate(bearer('configured-token-1'))).toMatchObject({ tier: 'desk' });
  });

  test('takes the query token where the route allows it, and the header wins over it', async () => {
    const inQuery = { authorization: undefined, queryToken: minted.text };
    expect(await authenticate(inQuery)).toMatchObject({ outcome: 'opens' });
    expect(await authenticate({ ...bearer('wrong'), queryToken: minted.text })).toMatchObject({
      outcome: 'unknown',
    });
  });

  test('stays shut for none, for others, for a hosted key and for a revoked one', async () => {
    const revoked = tokenAuthentication([], storeWith({ revoked_at: 5 }), secrets);
    expect(await authenticate({ authorization: undefined, queryToken: null })).toMatchObject({
      outcome: 'missing',
    });
    for (const text of ['x', 'x'.repeat(5_000), mintSecret('sc'), mintSecret('sct')]) {
      expect(await authenticate(bearer(text))).toMatchObject({ outcome: 'unknown' });
    }
    expect(await revoked(bearer(minted.text))).toMatchObject({ outcome: 'unknown' });
  });

  test('a silent store is said to be silent, and configured tokens still open', async () => {
    const shut = tokenAuthentication(configured, silent, secrets);
    expect(await shut(bearer(minted.text))).toMatchObject({ outcome: 'unreachable' });
    expect(await shut(bearer('configured-token-1'))).toMatchObject({ outcome: 'opens' });
  });
});
