import { describe, expect, test } from 'vitest';
import { REFUSALS } from '../contract/refusals.ts';
import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import type { FoundKey, KeyUse, Membership } from '../ports/access.ts';
import {
  authenticate,
  CREDENTIAL_TEXTS,
  type CredentialStores,
  credentialRefusal,
  dailyAllowance,
  type HostedRule,
  monthlyAllowance,
  noAllowance,
  type Presented,
  quotaHeaders,
  quotaSpent,
  untilReset,
} from './gate.ts';
import { PLANS } from './plan.ts';
import { deriveSecrets, mintKey } from './secret.ts';

const NOW = 1_795_219_200;
const secrets = deriveSecrets('root', null);
const source = { name: 's', url: 's:', as_of: NOW, kind: 'table', simulated: false } as const;
const membership: Membership = {
  membership_id: 'mem_1',
  plan: 'analyst',
  status: 'active',
  created_at: NOW,
  updated_at: NOW,
};
const own = mintKey({ kind: 'sc', membership_id: 'mem_1' }, secrets, NOW);
const partners = mintKey({ kind: 'scp', partner: 'acme', monthly_budget: 500 }, secrets, NOW);

type World = {
  found?: Partial<FoundKey['key']> | null;
  membership?: Partial<Membership>;
  silent?: boolean;
};

/** Stores that hold the two keys, and note what they were asked. */
function world({ found = {}, membership: member = {}, silent = false }: World = {}) {
  const asked: string[] = [];
  const uses: KeyUse[] = [];
  const stores: CredentialStores = {
    secrets,
    durable: true,
    keys: {
      noteUse: (use) => uses.push(use),
      find: async ([secret]) => {
        asked.push(Buffer.from(secret.hash).toString('hex'));
        const fault = why('store_unreadable', { what: 'The keys', fault: 'no answer' });
        if (silent) return unread('keys', fault);
        const minted = [own, partners].find(({ stored }) =>
          Buffer.from(stored.secret.hash).equals(secret.hash),
        );
        if (minted === undefined || found === null) return read(null, { port: 'keys', source });
        const { secret: stored, ...shown } = minted.stored;
        const unused = { last_used_at: null, revoked_at: null, replaced_at: null, name: null };
        const unleaked = { leaked_at: null, leak_found: null };
        const key = { ...shown, ...unused, ...unleaked, ...found };
        const holder = shown.holder.kind === 'sc' ? { ...membership, ...member } : null;
        const value = { key, membership: holder, pepper: stored.pepper };
        return read(value, { port: 'keys', source });
      },
    },
  };
  return { stores, asked, uses };
}

function ask(presented: Partial<Presented>, rule: HostedRule, stores: CredentialStores) {
  const none = { authorization: undefined, serviceMembership: undefined, origin: undefined };
  const all = { ...none, search: '', opensToPages: false, ...presented };
  return authenticate(all, rule, stores, NOW + 10);
}
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

describe('says', () => {
  test('a key in either header opens its plan’s routes and is noted as used', async () => {
    for (const presented of [
      bearer(own.text),
      { authorization: `bearer  ${own.text} ` },
      { serviceMembership: own.text },
      { serviceMembership: ` ${own.text} `, authorization: ' ' },
    ]) {
      const { stores, uses } = world();
      expect(await ask(presented, 'analyst', stores)).toMatchObject({
        admitted: true,
        key: { id: own.stored.id },
        plan: { name: 'analyst' },
        allowance: {
          allowance: { subject: 'membership:mem_1', limit: 1_000, period: '2026-11-21' },
        },
      });
      expect(uses).toEqual([{ id: own.stored.id, secret: own.stored.secret, at: NOW + 10 }]);
    }
  });

  test('a partner key opens the partner route on its own monthly budget', async () => {
    const { stores } = world();
    expect(await ask(bearer(partners.text), 'partner', stores)).toMatchObject({
      admitted: true,
      membership: null,
      plan: null,
      allowance: {
        allowance: { subject: `key:${partners.stored.id}`, limit: 500, period: '2026-11' },
      },
    });
  });
});

describe('refuses, in this order', () => {
  const cases: [string, Partial<Presented>, HostedRule, World, string, string][] = [
    ['no header', {}, 'analyst', {}, 'no_credential', CREDENTIAL_TEXTS.none],
    [
      'empty headers',
      { authorization: '', serviceMembership: '  ' },
      'analyst',
      {},
      'no_credential',
      CREDENTIAL_TEXTS.none,
    ],
    [
      'a key in the query',
      { search: `?token=${own.text}` },
      'analyst',
      {},
      'no_credential',
      CREDENTIAL_TEXTS.inQuery,
    ],
    [
      'a key in the query in the place of a name',
      { search: `?${own.text}` },
      'analyst',
      {},
      'no_credential',
      CREDENTIAL_TEXTS.inQuery,
    ],
    [
      'a key under any query name',
      { search: `x=${own.text}` },
      'analyst',
      {},
      'no_credential',
      CREDENTIAL_TEXTS.inQuery,
    ],
    [
      'another scheme',
      { authorization: 'Basic abc' },
      'analyst',
      {},
      'unknown_membership',
      CREDENTIAL_TEXTS.malformed,
    ],
    [
      'a bad Authorization beside a good key',
      { authorization: 'Bearer x', serviceMembership: own.text },
      'analyst',
      {},
      'unknown_membership',
      CREDENTIAL_TEXTS.malformed,
    ],
    [
      'a typo',
      bearer(`${own.text.slice(0, -1)}!`),
      'analyst',
      {},
      'unknown_membership',
      CREDENTIAL_TEXTS.malformed,
    ],
    [
      'a partner key elsewhere',
      bearer(partners.text),
      'enterprise',
      {},
      'unknown_membership',
      CREDENTIAL_TEXTS.partnerElsewhere,
    ],
    [
      'a membership key at the partner route',
      bearer(own.text),
      'partner',
      {},
      'unknown_membership',
      CREDENTIAL_TEXTS.partnerOnly,
    ],
    [
      'an unknown key',
      bearer(own.text),
      'analyst',
      { found: null },
      'unknown_membership',
      CREDENTIAL_TEXTS.unknown,
    ],
    [
      'a revoked key',
      bearer(own.text),
      'analyst',
      { found: { revoked_at: NOW } },
      'unknown_membership',
      CREDENTIAL_TEXTS.revoked,
    ],
    [
      'an expired key',
      bearer(own.text),
      'analyst',
      { found: { expires_at: NOW + 10 } },
      'unknown_membership',
      CREDENTIAL_TEXTS.expired,
    ],
    [
      'an inactive membership',
      bearer(own.text),
      'enterprise',
      { membership: { status: 'inactive' } },
      'unknown_membership',
      CREDENTIAL_TEXTS.inactive,
    ],
    [
      'a plan too low',
      bearer(own.text),
      'desk',
      {},
      'tier_too_low',
      'This route needs the plan Desk or a higher one.',
    ],
    [
      'a silent store',
      bearer(own.text),
      'desk',
      { silent: true },
      'store_unavailable',
      CREDENTIAL_TEXTS.store,
    ],
  ];
  test.each(cases)('%s', async (_, presented, rule, given, reason, error) => {
    const { stores, uses } = world(given);
    expect(await ask(presented, rule, stores)).toMatchObject({ admitted: false, reason, error });
    expect(uses).toEqual([]);
  });

  test('what is malformed is refused before any look-up', async () => {
    const { stores, asked } = world();
    for (const text of ['sc_', `${own.text}0`, own.text.toLowerCase(), 'x'.repeat(10_000)]) {
      await ask(bearer(text), 'analyst', stores);
    }
    expect(asked).toEqual([]);
  });

  test('no refusal repeats what was sent', async () => {
    const { stores } = world({ silent: true });
    const typo = `${own.text.slice(0, -1)}!`;
    for (const presented of [bearer(typo), bearer(own.text), { search: `?key=${own.text}` }]) {
      const denied = await ask(presented, 'analyst', stores);
      expect(JSON.stringify(denied)).not.toContain(own.text.slice(4, 20));
    }
  });
});

describe('the 402', () => {
  const tooLow = () => ask(bearer(own.text), 'desk', world().stores);

  test('carries the reason, durability and the caller’s own figures', async () => {
    const denied = await tooLow();
    if (denied.admitted) throw new Error('was admitted');
    const refusal = credentialRefusal(denied, true, 7, NOW);
    expect(refusal.status).toBe(402);
    expect(REFUSALS.credential.body.parse(refusal.body)).toEqual({
      error: 'This route needs the plan Desk or a higher one.',
      reason: 'tier_too_low',
      entitlements_durable: true,
    });
    expect(refusal.headers).toMatchObject({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '7',
    });
    expect(credentialRefusal(denied, false, null, NOW).headers).toMatchObject({
      'X-RateLimit-Limit': '0',
      'X-RateLimit-Remaining': '0',
    });
  });

  test('of a silent store says when to come back, and the reset header says the same', async () => {
    const denied = await ask(bearer(own.text), 'analyst', world({ silent: true }).stores);
    if (denied.admitted) throw new Error('was admitted');
    const { headers } = credentialRefusal(denied, true, null, NOW);
    expect(headers).toEqual({
      'X-RateLimit-Limit': '0',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '5',
      'Retry-After': '5',
    });
  });
});

const at = (iso: string) => Date.parse(iso) / 1_000;
const partner = { kind: 'scp', partner: 'acme', monthly_budget: 500 } as const;

describe('allowances', () => {
  test.each([
    ['2026-11-21T00:00:00Z', '2026-11-21', 86_400],
    ['2026-11-21T23:59:59Z', '2026-11-21', 1],
    ['2026-11-21T23:59:59.001Z', '2026-11-21', 1],
    ['2026-12-31T12:00:00Z', '2026-12-31', 43_200],
  ])('a day at %s is %s and begins anew in %i s', (iso, period, reset_s) => {
    const dated = dailyAllowance('mem_1', PLANS.desk, at(iso));
    expect(dated.allowance).toEqual({ subject: 'membership:mem_1', period, limit: 10_000 });
    expect(untilReset(dated, at(iso))).toBe(reset_s);
  });

  test.each([
    ['2026-11-30T23:59:50Z', '2026-11', 10],
    ['2026-12-01T00:00:00Z', '2026-12', 31 * 86_400],
    ['2028-02-01T00:00:00Z', '2028-02', 29 * 86_400],
  ])('a month at %s is %s and begins anew in %i s', (iso, period, reset_s) => {
    const dated = monthlyAllowance('key_1', partner, at(iso));
    expect(dated.allowance).toEqual({ subject: 'key:key_1', period, limit: 500 });
    expect(untilReset(dated, at(iso))).toBe(reset_s);
  });
});

describe('what is said of them', () => {
  test('the three headers are text, zeros where no membership is known', () => {
    expect(quotaHeaders(noAllowance(at('2026-11-21T23:00:00Z')))).toEqual({
      'X-RateLimit-Limit': '0',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '3600',
    });
  });

  test('a spent allowance is a 429 of the declared shape that says when to come back', () => {
    const now = at('2026-11-21T23:59:30Z');
    const refusal = quotaSpent(dailyAllowance('m', PLANS.analyst, now), now);
    expect(refusal.status).toBe(429);
    expect(REFUSALS.quota.body.parse(refusal.body)).toEqual({
      error: 'All 1000 requests of this UTC day are used. The allowance begins anew in 30 seconds.',
      reason: 'quota_exhausted',
      reset: 30,
    });
    expect(refusal.headers).toEqual({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '30',
      'Retry-After': '30',
    });
    const monthly = quotaSpent(monthlyAllowance('k', partner, now), now);
    expect(monthly.body).toMatchObject({ error: expect.stringContaining('UTC month') });
  });
});
