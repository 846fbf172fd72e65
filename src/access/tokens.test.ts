import { describe, expect, test } from 'vitest';
import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import type { IntelligenceToken, TokenStore } from '../ports/access.ts';
import { deriveSecrets, mintSecret, mintToken, tokenAuthentication } from './secret.ts';

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
