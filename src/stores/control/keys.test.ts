import { describe, expect, test, vi } from 'vitest';
import { type Reading, read, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { SecretHash } from '../../ports/access.ts';
import { keyStoreKeeps } from '../../ports/key-store.suite.ts';
import { membershipStoreKeeps } from '../../ports/membership-store.suite.ts';
import { quotaStoreKeeps } from '../../ports/quota-store.suite.ts';
import { accessIn, onEachEngine } from '../../testing/control-store.ts';
import { type Database, StoreUnavailable } from './engine/database.ts';
import {
  FRESH_MS,
  keyTable,
  knownUses,
  rememberLookUps,
  SEEN_FRESH_MS,
  STALE_MAX_MS,
  tokenTable,
} from './keys.ts';
import { membershipTable } from './memberships.ts';
import { quotaTable } from './quotas.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CONTEXT = { simulated: false, nowMs: Date.now };

onEachEngine((name, fresh) => {
  test(`${name}: a key revoked by another process stops working within five seconds`, async () => {
    const database = fresh();
    const [here, elsewhere] = [keyTable(database, CONTEXT), keyTable(database, CONTEXT)];
    const at = Date.now() / 1_000;
    const event = { membership_id: 'mem_1', plan: 'desk', status: 'active', at } as const;
    await membershipTable(database, CONTEXT).record(event);
    const secret = { hash: new Uint8Array(32).fill(1), pepper: 'p' };
    const holder = { kind: 'sc', membership_id: 'mem_1' } as const;
    const dated = { created_at: at, expires_at: at + 1_000 };
    await here.add({ id: 'key_1', holder, secret, prefix: 'sc_1', ...dated }, 5);
    expect(await here.find([secret])).toMatchObject({ value: { key: { revoked_at: null } } });
    await elsewhere.revoke('key_1', at, null);
    const revokedHere = async () => {
      const found = await here.find([secret]);
      expect(found).toMatchObject({ value: { key: { revoked_at: expect.any(Number) } } });
    };
    await vi.waitFor(revokedHere, { timeout: STALE_MAX_MS, interval: 100 });
  });

  test(`${name}: uses are written by themselves within a second, and when a process stops`, async () => {
    const database = fresh();
    const [here, elsewhere] = [quotaTable(database, CONTEXT), quotaTable(database, CONTEXT)];
    const allowance = { subject: 'membership:mem_1', period: '2026-11-21', limit: 9 };
    const use = { used_by: 'key_1', route: 'score', day: '2026-11-21' };
    const requestsAre = async (requests: number) =>
      expect(await elsewhere.uses({ membership_id: 'mem_1' }, use.day, use.day)).toMatchObject({
        value: [{ requests }],
      });
    await Promise.all([here.charge(allowance, use), here.charge(allowance, use)]);
    await vi.waitFor(() => requestsAre(2), { timeout: 10_000, interval: 100 });
    await here.charge(allowance, use);
    await here.close();
    await requestsAre(3);
  });

  test(`${name}: uses of which the store did not say whether it has them count once at most`, async () => {
    const database = fresh();
    let written = 0;
    const silent: Database = {
      ...database,
      query: async (sql, ...rest) => {
        const rows = await database.query(sql, ...rest);
        if (!sql.includes('into key_usage')) return rows;
        written += 1;
        throw new StoreUnavailable('the connection failed', 'ECONNRESET');
      },
    };
    const quota = quotaTable(silent, CONTEXT);
    const allowance = { subject: 'membership:mem_1', period: '2026-11-21', limit: 9 };
    const use = { used_by: 'key_1', route: 'score', day: '2026-11-21' };
    await quota.charge(allowance, use);
    for (const _ of [1, 2]) {
      expect(await quota.uses({ membership_id: 'mem_1' }, use.day, use.day)).toMatchObject({
        value: [{ requests: 1, charged: 1 }],
      });
    }
    expect(written).toBe(1);
  });

  membershipStoreKeeps(name, async () => membershipTable(fresh(), CONTEXT));
  quotaStoreKeeps(name, async () => quotaTable(fresh(), CONTEXT));
  keyStoreKeeps(name, async () => {
    const stores = accessIn(fresh(), Date.now);
    return { ...stores, settled: stores.keys.close };
  });
});

describe('over a store that does not answer', () => {
  const gone: Database = {
    kind: 'postgres',
    durable: true,
    query: () => Promise.reject(new StoreUnavailable('the server did not answer', 'ENOANSWER')),
    transaction: () => Promise.reject(new StoreUnavailable('the server did not answer', 'X')),
    isLate: () => false,
    close: async () => undefined,
  };
  const broken: Database = { ...gone, query: () => Promise.reject(new TypeError('a bug')) };

  test('every answer is unread and says which table could not be read', async () => {
    const secret = { hash: new Uint8Array(32), pepper: 'p' };
    const allowance = { subject: 's', period: '2026-11-21', limit: 1 };
    const keys = keyTable(gone, CONTEXT);
    expect(await membershipTable(gone, CONTEXT).list()).toMatchObject({
      checked: false,
      why: { reason: 'The memberships could not be read: the server did not answer.' },
    });
    for (const reading of [
      await membershipTable(gone, CONTEXT).find('a'),
      await keys.find([secret]),
      await keys.list('everyone'),
      await keys.revoke('x', 1, null),
      await tokenTable(gone, CONTEXT).find([secret]),
      await tokenTable(gone, CONTEXT).list(),
      await quotaTable(gone, CONTEXT).remaining(allowance),
      await quotaTable(gone, CONTEXT).usage('s', '2026-11-21'),
    ]) {
      expect(reading).toBeInstanceOf(Unread);
    }
    expect(await quotaTable(gone, CONTEXT).charge(allowance)).toMatchObject({
      why: {
        code: 'store_unreadable',
        reason: 'The quota counters could not be read: the server did not answer.',
      },
    });
  });

  test('a bug is thrown, not called a failure of the store', async () => {
    const allowance = { subject: 's', period: '2026-11-21', limit: 1 };
    await expect(quotaTable(broken, CONTEXT).charge(allowance)).rejects.toThrow('a bug');
    await expect(membershipTable(broken, CONTEXT).find('a')).rejects.toThrow('a bug');
  });

  test('past the bound of waiting charges the rest are refused, the first answered', async () => {
    let answer: (rows: object[]) => void = () => undefined;
    let asked = 0;
    const slow: Database = {
      ...gone,
      query: <T extends object>() => {
        asked += 1;
        return new Promise<T[]>((resolve) => {
          answer = (rows) => resolve(rows as T[]);
        });
      },
    };
    const quota = quotaTable(slow, CONTEXT);
    const allowance = { subject: 's', period: '2026-11-21', limit: 1_000_000 };
    const first = quota.charge(allowance);
    while (asked === 0) await new Promise((resolve) => setImmediate(resolve));
    const rest = Array.from({ length: 10_005 }, () => quota.charge(allowance));
    expect(await rest.at(-1)).toBeInstanceOf(Unread);
    answer([{ subjects: ['s'], periods: ['2026-11-21'], used: [1], granted: [1] }]);
    expect(await first).toMatchObject({ value: { granted: true } });
    expect(asked).toBeGreaterThan(0);
  });
});

const DAY = '2026-11-21';

describe('uses that were seen', () => {
  test('a spent allowance stays spent for its period without a question', () => {
    let nowMs = 0;
    const known = knownUses(() => nowMs);
    known.saw('a', DAY, 10);
    nowMs = 80_000_000;
    expect(known.recent('a', DAY, 10)).toBe(10);
    expect(known.recent('a', '2026-11-22', 10)).toBeNull();
    expect(known.recent('a', DAY, 11)).toBeNull();
  });

  test('what is not spent is known for two seconds, and not when the clock was set back', () => {
    let nowMs = 1_000_000;
    const known = knownUses(() => nowMs);
    expect(known.recent('a', DAY, 10)).toBeNull();
    known.saw('a', DAY, 3);
    nowMs += SEEN_FRESH_MS - 1;
    expect(known.recent('a', DAY, 10)).toBe(3);
    nowMs += 1;
    expect(known.recent('a', DAY, 10)).toBeNull();
    nowMs = 0;
    expect(known.recent('a', DAY, 10)).toBeNull();
  });

  test('an answer that comes late does not take a larger use back', () => {
    const known = knownUses(() => 0);
    known.saw('a', DAY, 10);
    known.saw('a', DAY, 9);
    expect(known.recent('a', DAY, 10)).toBe(10);
    known.saw('a', '2026-11-22', 1);
    expect(known.recent('a', '2026-11-22', 10)).toBe(1);
  });
});

describe('look-ups with a memory', () => {
  const source = { name: 's', url: 's:', as_of: 0, kind: 'table', simulated: false } as const;
  const fault = why('store_unreadable', { what: 'The keys', fault: 'no answer' });
  const LATE = unread('keys', why('store_unreadable', { what: 'The keys', fault: 'too slow' }));
  const secrets = (n: number): [SecretHash] => [{ hash: new Uint8Array(32).fill(n), pepper: 'p' }];

  /** A store that can be changed and silenced, on a clock that is moved by hand. */
  function world() {
    const state = { value: 'valid', silent: false, nowMs: 0, tookMs: 0, asked: 0 };
    const find = async (): Promise<Reading<string | null, 'keys'>> => {
      state.asked += 1;
      const value = state.value;
      state.nowMs += state.tookMs;
      await Promise.resolve();
      return state.silent ? unread('keys', fault) : read(value, { port: 'keys', source });
    };
    const remembered = rememberLookUps(find, LATE, () => state.nowMs);
    return { state, lookUp: remembered.find, forget: remembered.forget };
  }
  const said = (reading: Reading<string | null, 'keys'>) => reading.checked && reading.value;

  test('within two seconds the store is asked once, then again', async () => {
    const { state, lookUp } = world();
    await lookUp(secrets(1));
    state.nowMs = FRESH_MS - 1;
    await lookUp(secrets(1));
    expect(state.asked).toBe(1);
    state.nowMs = FRESH_MS;
    await lookUp(secrets(1));
    expect(state.asked).toBe(2);
  });

  test('callers at once share one question, other keys have their own', async () => {
    const { state, lookUp } = world();
    await Promise.all([lookUp(secrets(1)), lookUp(secrets(1)), lookUp(secrets(2))]);
    expect(state.asked).toBe(2);
  });

  test('a revocation elsewhere is seen as soon as the memory has aged', async () => {
    const { state, lookUp } = world();
    await lookUp(secrets(1));
    state.value = 'revoked';
    state.nowMs = FRESH_MS;
    expect(said(await lookUp(secrets(1)))).toBe('revoked');
  });

  test('while the store is silent the memory serves five seconds, not more', async () => {
    const { state, lookUp } = world();
    await lookUp(secrets(1));
    state.silent = true;
    state.nowMs = STALE_MAX_MS - 1;
    expect(said(await lookUp(secrets(1)))).toBe('valid');
    state.nowMs = STALE_MAX_MS;
    expect(await lookUp(secrets(1))).toBeInstanceOf(Unread);
    state.silent = false;
    expect(said(await lookUp(secrets(1)))).toBe('valid');
  });

  test('a key never seen before is unread while the store is silent, never a miss', async () => {
    const { state, lookUp } = world();
    state.silent = true;
    expect(await lookUp(secrets(1))).toBeInstanceOf(Unread);
  });

  test('an answer that took five seconds to come is not used', async () => {
    const { state, lookUp } = world();
    state.tookMs = STALE_MAX_MS;
    expect(await lookUp(secrets(1))).toBe(LATE);
  });

  test('an answer counts from when it was asked for, not from when it came', async () => {
    const { state, lookUp } = world();
    state.tookMs = FRESH_MS - 1;
    await lookUp(secrets(1));
    state.tookMs = 0;
    state.nowMs += 1;
    await lookUp(secrets(1));
    expect(state.asked).toBe(2);
  });

  test('a change made here is seen at once, whatever was under way before it', async () => {
    const { state, lookUp, forget } = world();
    await lookUp(secrets(1));
    const underWay = lookUp(secrets(2));
    state.value = 'revoked';
    forget();
    expect(said(await lookUp(secrets(1)))).toBe('revoked');
    expect(said(await lookUp(secrets(2)))).toBe('revoked');
    expect(said(await underWay)).toBe('valid');
    expect(said(await lookUp(secrets(2)))).toBe('revoked');
  });

  test('a flood of other keys does not grow the memory without end', async () => {
    const { state, lookUp } = world();
    for (let n = 0; n < 25_000; n += 1) {
      const hash = new Uint8Array(32);
      new DataView(hash.buffer).setUint32(0, n);
      await lookUp([{ hash, pepper: 'p' }]);
    }
    const asked = state.asked;
    await lookUp([{ hash: new Uint8Array(32), pepper: 'p' }]);
    expect(state.asked).toBe(asked + 1);
  });
});
