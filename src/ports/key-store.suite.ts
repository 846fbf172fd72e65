// The guarantees of every store of keys and tokens. access-stores.test.ts runs them.

import { beforeEach, describe, expect, test } from 'vitest';
import type {
  AccessLog,
  KeyStore,
  MembershipStore,
  NewKey,
  SecretHash,
  TokenStore,
} from './access.ts';

/** Stores under test. `settled` waits until noted uses are written. */
type StoresUnderTest = {
  readonly memberships: MembershipStore;
  readonly keys: KeyStore;
  readonly tokens: TokenStore;
  readonly accessLog: AccessLog;
  readonly settled: () => Promise<void>;
};

const NOW = 1_800_000_000;

function secret(n: number, pepper = 'pepper-1'): SecretHash {
  return { hash: new Uint8Array(32).fill(n), pepper };
}

function key(n: number, more: Partial<NewKey> = {}): NewKey {
  return {
    id: `key_${n}`,
    holder: { kind: 'sc', membership_id: 'mem_1' },
    secret: secret(n),
    prefix: `sc_prefix${n}`,
    created_at: NOW + n,
    expires_at: NOW + 1_000,
    ...more,
  };
}

/** Runs the promises. `fresh` gives empty stores each time. */
export function keyStoreKeeps(name: string, fresh: () => Promise<StoresUnderTest>): void {
  describe(`${name}: keys`, () => {
    let stores: StoresUnderTest;
    beforeEach(async () => {
      stores = await fresh();
      await stores.memberships.record({
        membership_id: 'mem_1',
        plan: 'analyst',
        status: 'active',
        at: NOW,
      });
    });

    test('a publishable key is found with its origins, and they alone are listed', async () => {
      const origins = ['https://app.example', 'http://localhost:5173'];
      const holder = { kind: 'sc_pub', membership_id: 'mem_1', origins } as const;
      await stores.keys.add(key(1, { holder }), 5);
      await stores.keys.add(key(2), 5);
      const found = await stores.keys.find([secret(1)]);
      const membership = { membership_id: 'mem_1', plan: 'analyst' };
      expect(found).toMatchObject({ value: { key: { holder }, membership } });
      for (const origin of [...origins, 'https://evil.example', 'app.example', '']) {
        const listed = await stores.keys.listsOrigin(origin);
        expect([origin, listed]).toMatchObject([origin, { value: origins.includes(origin) }]);
      }
    });

    test('a key is found by its hash alone, with its membership as it now is', async () => {
      await stores.keys.add(key(1), 5);
      await stores.memberships.record({
        membership_id: 'mem_1',
        plan: 'desk',
        status: 'inactive',
        at: NOW + 5,
      });
      expect(await stores.keys.find([secret(1)])).toMatchObject({
        checked: true,
        value: {
          key: {
            id: 'key_1',
            holder: { kind: 'sc', membership_id: 'mem_1' },
            prefix: 'sc_prefix1',
            created_at: NOW + 1,
            expires_at: NOW + 1_000,
            last_used_at: null,
            revoked_at: null,
          },
          membership: { plan: 'desk', status: 'inactive', updated_at: NOW + 5 },
          pepper: 'pepper-1',
        },
      });
      expect(await stores.keys.find([secret(2)])).toMatchObject({ checked: true, value: null });
    });

    test('many look-ups at once each get their own answer', async () => {
      await Promise.all([1, 2, 3].map((n) => stores.keys.add(key(n), 5)));
      const found = await Promise.all([3, 9, 1, 2, 3].map((n) => stores.keys.find([secret(n)])));
      const ids = found.map((one) => one.checked && (one.value === null ? null : one.value.key.id));
      expect(ids).toEqual(['key_3', null, 'key_1', 'key_2', 'key_3']);
    });

    test('no more keys than the limit are active, however many are made at once', async () => {
      const made = await Promise.all(
        Array.from({ length: 12 }, (_, n) => stores.keys.add(key(n), 5)),
      );
      const outcomes = made.map((one) => one.checked && one.value.outcome);
      expect(outcomes.filter((outcome) => outcome === 'added')).toHaveLength(5);
      expect(outcomes.filter((outcome) => outcome === 'limit')).toHaveLength(7);
    });

    test('revoked and expired keys leave room for others', async () => {
      await stores.keys.add(key(1), 2);
      await stores.keys.add(key(2, { expires_at: NOW + 50 }), 2);
      expect(await stores.keys.add(key(3), 2)).toMatchObject({
        value: { outcome: 'limit', active: 2 },
      });
      await stores.keys.revoke('key_1', NOW + 10, null);
      expect(await stores.keys.add(key(3), 2)).toMatchObject({ value: { outcome: 'added' } });
      const later = key(4, { created_at: NOW + 60 });
      expect(await stores.keys.add(later, 2)).toMatchObject({ value: { outcome: 'added' } });
    });

    test('a replaced key opens until its time, counts no longer, and is replaced once', async () => {
      await stores.keys.add(key(1, { name: 'nightly' }), 1);
      const [first, second] = await Promise.all([
        stores.keys.replace('key_1', key(2), NOW + 500),
        stores.keys.replace('key_1', key(3), NOW + 500),
      ]);
      const outcomes = [first, second].map((one) => one?.checked && one.value.outcome);
      expect(outcomes.sort()).toEqual(['added', 'replaced']);
      expect(await stores.keys.find([secret(1)])).toMatchObject({
        value: { key: { expires_at: NOW + 500, revoked_at: null, name: 'nightly' } },
      });
      const listed = await stores.keys.list({ membership_id: 'mem_1' });
      const held = listed.checked ? listed.value : [];
      expect(held.map(({ name }) => name)).toEqual(['nightly', 'nightly']);
      // While the old one opens the new one is not replaced; the limit counts the new one alone.
      const [newer] = held.filter(({ replaced_at }) => replaced_at === null);
      const again = (at: number, n: number) =>
        stores.keys.replace(String(newer?.id), key(n, { created_at: at }), NOW + 900);
      expect(await again(NOW + 100, 4)).toMatchObject({ value: { outcome: 'replaced' } });
      expect(await stores.keys.add(key(5), 1)).toMatchObject({
        value: { outcome: 'limit', active: 1 },
      });
      expect(await again(NOW + 500, 6)).toMatchObject({ value: { outcome: 'added' } });
      const stray = key(7, { holder: { kind: 'sc', membership_id: 'mem_9' } });
      expect(await stores.keys.replace('key_1', stray, NOW + 900)).toMatchObject({
        value: { outcome: 'unknown' },
      });
    });

    test('each change is noted with who made it; one that changes nothing is not', async () => {
      await stores.keys.add(key(1), 2);
      await stores.keys.add(key(2), 2, 'member');
      await stores.keys.add(key(3), 2, 'member');
      await stores.keys.revoke('key_1', NOW + 10, 'mem_1', 'member');
      await stores.keys.revoke('key_1', NOW + 20, null);
      await stores.keys.revoke('key_2', NOW + 20, 'mem_9', 'member');
      const listed = await stores.accessLog.list('mem_1');
      expect(listed.checked && listed.value.map(({ id: _, ...change }) => change)).toEqual([
        { at: NOW + 10, by_whom: 'member', change: 'key_revoked', subject: 'sc_prefix1' },
        { at: NOW + 2, by_whom: 'member', change: 'key_created', subject: 'sc_prefix2' },
        { at: NOW + 1, by_whom: 'operator', change: 'key_created', subject: 'sc_prefix1' },
      ]);
      expect(await stores.accessLog.list('mem_9')).toMatchObject({ checked: true, value: [] });
    });

    test('a key of a membership that is not there is not stored', async () => {
      const stray = key(1, { holder: { kind: 'sc', membership_id: 'mem_9' } });
      expect(await stores.keys.add(stray, 5)).toMatchObject({
        value: { outcome: 'no_membership' },
      });
      expect(await stores.keys.find([secret(1)])).toMatchObject({ value: null });
    });

    test('a partner key carries its budget and no membership', async () => {
      const holder = { kind: 'scp', partner: 'acme', monthly_budget: 5_000 } as const;
      await stores.keys.add(key(1, { holder }), 0);
      expect(await stores.keys.find([secret(1)])).toMatchObject({
        value: { key: { holder }, membership: null },
      });
      expect(await stores.keys.list({ partner: 'acme' })).toMatchObject({ value: [{ holder }] });
      expect(await stores.keys.list({ membership_id: 'mem_1' })).toMatchObject({ value: [] });
    });

    test('lists newest first, the revoked with the time they were first revoked', async () => {
      for (const n of [1, 2, 3]) await stores.keys.add(key(n), 5);
      await stores.keys.revoke('sc_prefix2', NOW + 20, 'mem_1');
      expect(await stores.keys.revoke('key_2', NOW + 30, null)).toMatchObject({
        value: { outcome: 'revoked', revoked: { id: 'key_2', revoked_at: NOW + 20 } },
      });
      const all = await stores.keys.list('everyone');
      expect(all.checked && all.value.map((k) => [k.id, k.revoked_at])).toEqual([
        ['key_3', null],
        ['key_2', NOW + 20],
        ['key_1', null],
      ]);
      expect(await stores.keys.find([secret(2)])).toMatchObject({
        value: { key: { revoked_at: NOW + 20 } },
      });
    });

    test('revokes none where the name is unknown, shared, or of another membership', async () => {
      await stores.keys.add(key(1, { prefix: 'sc_same' }), 5);
      await stores.keys.add(key(2, { prefix: 'sc_same' }), 5);
      const shared = await stores.keys.revoke('sc_same', NOW + 20, null);
      expect(
        shared.checked && shared.value.outcome === 'ambiguous' && shared.value.ids.length,
      ).toBe(2);
      expect(await stores.keys.revoke('key_9', NOW, null)).toMatchObject({
        value: { outcome: 'unknown' },
      });
      expect(await stores.keys.revoke('key_1', NOW, 'mem_9')).toMatchObject({
        value: { outcome: 'unknown' },
      });
      const all = await stores.keys.list('everyone');
      expect(all.checked && all.value.every((k) => k.revoked_at === null)).toBe(true);
    });

    test('a use is noted, and moves a hash to the secret in force', async () => {
      await stores.keys.add(key(1), 5);
      expect(await stores.keys.underOtherSecrets('pepper-2')).toMatchObject({ value: 1 });
      const found = await stores.keys.find([secret(101, 'pepper-2'), secret(1, 'pepper-1')]);
      expect(found).toMatchObject({ value: { key: { id: 'key_1' }, pepper: 'pepper-1' } });
      stores.keys.noteUse({ id: 'key_1', secret: secret(101, 'pepper-2'), at: NOW + 40 });
      await stores.settled();
      expect(await stores.keys.find([secret(101, 'pepper-2')])).toMatchObject({
        value: { key: { id: 'key_1', last_used_at: NOW + 40 }, pepper: 'pepper-2' },
      });
      expect(await stores.keys.underOtherSecrets('pepper-2')).toMatchObject({ value: 0 });
    });
  });

  describe(`${name}: tokens`, () => {
    let tokens: TokenStore;
    beforeEach(async () => {
      tokens = (await fresh()).tokens;
    });
    const token = (n: number) =>
      ({
        id: `tok_${n}`,
        tier: 'pro',
        secret: secret(n),
        prefix: `sct_${n}`,
        created_at: NOW + n,
      }) as const;

    test('a token is found by its hash, listed newest first, and revoked', async () => {
      await tokens.add(token(1));
      await tokens.add(token(2));
      const { id, tier, prefix, created_at } = token(1);
      const shown = { id, tier, prefix, created_at, revoked_at: null };
      expect(await tokens.find([secret(9), secret(1)])).toMatchObject({ value: shown });
      expect(await tokens.find([secret(9)])).toMatchObject({ checked: true, value: null });
      expect(await tokens.revoke('sct_1', NOW + 9)).toMatchObject({
        value: { outcome: 'revoked', revoked: { id: 'tok_1', revoked_at: NOW + 9 } },
      });
      const all = await tokens.list();
      expect(all.checked && all.value.map((t) => [t.id, t.revoked_at])).toEqual([
        ['tok_2', null],
        ['tok_1', NOW + 9],
      ]);
    });
  });
}
