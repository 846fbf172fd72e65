import { beforeEach, describe, expect, test } from 'vitest';
import { deriveSecrets, mintKey, mintToken } from '../../access/secret.ts';
import { createSessions, type Sessions } from '../../access/session.ts';
import { accessIn, embeddedControl, type TestStore } from '../../testing/control-store.ts';
import { ran } from '../../testing/recording-io.ts';
import {
  type KeyServices,
  keyCommands,
  type MemberServices,
  memberCommands,
  type SignInServices,
  signInCommands,
  type TokenServices,
  tokenCommands,
} from './members.command.ts';

const NOW = 1_763_700_000;
const SECRETS = deriveSecrets('a root secret of the tests', null);
const COMMANDS = [...memberCommands, ...keyCommands, ...tokenCommands, ...signInCommands];

const fresh = embeddedControl();
let store: TestStore;
let services: MemberServices & KeyServices & TokenServices & SignInServices;
let sessions: Sessions;
beforeEach(() => {
  store = fresh();
  const stores = accessIn(store, () => NOW * 1000);
  sessions = createSessions(stores.sessions, SECRETS, false, () => NOW);
  services = {
    ...stores,
    sessions,
    mintLink: (id) => id,
    base: 'https://exhibit.example',
    mintKey: (holder) => mintKey(holder, SECRETS, NOW),
    mintToken: (tier) => mintToken(tier, SECRETS, NOW),
    now: () => NOW,
  };
});

const run = (line: string) => ran(line, COMMANDS, services);

function only(lines: readonly string[]): { readonly [field: string]: unknown } {
  expect(lines).toHaveLength(1);
  const value: unknown = JSON.parse(String(lines[0]));
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return { ...value };
}

async function member(plan: string): Promise<string> {
  const { lines } = await run(`members add --plan ${plan} --json`);
  return String(only(lines)['membership_id']);
}

describe('members', () => {
  test('add --json is exactly the id and the plan', async () => {
    const added = await run('members add --plan desk --json');
    expect(added.status).toBe(0);
    const shown = only(added.lines);
    expect(Object.keys(shown)).toEqual(['membership_id', 'plan']);
    expect(shown['plan']).toBe('desk');
    expect(shown['membership_id']).toMatch(/^mem_/);
  });

  test('a plan that does not exist, or none, is bad usage and stores nothing', async () => {
    expect((await run('members add --plan gold')).status).toBe(2);
    expect((await run('members add')).status).toBe(2);
    expect((await run('members add --plan desk --id a/b')).status).toBe(2);
    expect((await run('members list')).lines).toEqual(['No membership is recorded.']);
  });

  test('an id that is there already is not added again', async () => {
    expect((await run('members add --plan desk --id mem_one')).status).toBe(0);
    const again = await run('members add --plan analyst --id mem_one');
    expect(again.status).toBe(1);
    expect(only((await run('members list --json')).lines)).toMatchObject({ plan: 'desk' });
  });

  test('deactivate ends it; one that is unknown exits 1', async () => {
    const id = await member('analyst');
    expect((await run(`members deactivate ${id}`)).lines).toEqual([`${id} is inactive.`]);
    expect(only((await run('members list --json')).lines)).toEqual({
      membership_id: id,
      plan: 'analyst',
      status: 'inactive',
      created_at: '2025-11-21T04:40:00Z',
      updated_at: '2025-11-21T04:40:00Z',
    });
    expect((await run('members deactivate mem_unknown')).status).toBe(1);
  });

  test('a store that is silent is never an empty list', async () => {
    store.silence('it was silenced');
    const listed = await run('members list');
    expect(listed).toMatchObject({ status: 3, lines: [] });
    expect(listed.errors[0]).toContain('could not be read');
    expect((await run('members add --plan desk')).status).toBe(1);
  });
});

describe('sessions', () => {
  const from = { agent: 'Mozilla/5.0 (Windows NT 10.0) Firefox/132.0', network: '192.0.2' };

  test('are listed without what opens them, and ended one by one or together', async () => {
    const id = await member('desk');
    const begun = [await sessions.begin(id, from), await sessions.begin(id, from)];
    const other = await member('desk');
    await sessions.begin(other, from);
    const { lines } = await run(`members sessions ${id} --json`);
    const listed = lines.map((line) => only([line]));
    expect(listed).toHaveLength(2);
    expect(listed[0]).toEqual({
      session_id: expect.stringMatching(/^ses_/),
      membership_id: id,
      browser: 'Firefox on Windows',
      network: '192.0.2',
      created_at: '2025-11-21T04:40:00Z',
      seen_at: '2025-11-21T04:40:00Z',
    });
    for (const one of begun) {
      const token = one.checked ? /=([\w-]{43});/.exec(one.value)?.[1] : undefined;
      expect(lines.join('\n')).not.toContain(String(token));
    }
    const first = String(listed[0]?.['session_id']);
    expect((await run(`members sign-out ${other} --session ${first}`)).status).toBe(1);
    const one = await run(`members sign-out ${id} --session ${first}`);
    expect(one.lines).toEqual(['1 session has ended.']);
    expect((await run(`members sign-out ${id} --session ${first}`)).status).toBe(1);
    expect(only((await run(`members sign-out ${id} --json`)).lines)).toEqual({
      membership_id: id,
      ended: 1,
    });
    const none = await run(`members sessions ${id}`);
    expect(none.lines).toEqual(['No browser is signed in for this membership.']);
    expect((await run(`members sessions ${other} --json`)).lines).toHaveLength(1);
    const noted = await store.query('select by_whom from access_changes where subject is not null');
    expect(noted).toEqual([{ by_whom: 'operator' }, { by_whom: 'operator' }]);
  });

  test('of no membership, or that cannot be read, are never none', async () => {
    expect((await run('members sessions mem_none')).status).toBe(1);
    expect((await run('members sign-out mem_none')).status).toBe(1);
    const id = await member('desk');
    store.silence('it was silenced');
    expect((await run(`members sessions ${id}`)).lines).toEqual([]);
    expect((await run(`members sign-out ${id}`)).status).toBe(1);
  });
});

describe('keys', () => {
  test('create --json is exactly the key, its prefix and its end, 90 days on', async () => {
    const created = await run(`keys create --membership ${await member('desk')} --json`);
    expect(created.status).toBe(0);
    const shown = only(created.lines);
    expect(Object.keys(shown)).toEqual(['key', 'prefix', 'expires_at']);
    expect(shown['key']).toMatch(/^sc_[0-9A-Za-z]{49}$/);
    expect(String(shown['key']).startsWith(String(shown['prefix']))).toBe(true);
    expect(shown['expires_at']).toBe('2026-02-19T04:40:00Z');
  });

  test("a partner's key has its prefix and its budget", async () => {
    const created = await run('keys create --partner acme --budget 5000 --json');
    expect(only(created.lines)['key']).toMatch(/^scp_[0-9A-Za-z]{49}$/);
    expect(only((await run('keys list --partner acme --json')).lines)).toMatchObject({
      kind: 'scp',
      partner: 'acme',
      monthly_budget: 5000,
      last_used_at: null,
      revoked_at: null,
    });
  });

  test('no list ever shows a key', async () => {
    const { lines } = await run(`keys create --membership ${await member('desk')} --json`);
    const key = String(only(lines)['key']);
    for (const line of ['keys list', 'keys list --json']) {
      const listed = await run(line);
      expect(listed.status).toBe(0);
      expect(listed.lines.join('\n')).not.toContain(key);
      expect(listed.lines.join('\n')).toContain(key.slice(0, 11));
    }
  });

  test('a plan holds so many active keys and no more', async () => {
    const id = await member('analyst');
    for (let i = 0; i < 5; i += 1) {
      expect((await run(`keys create --membership ${id}`)).status).toBe(0);
    }
    const sixth = await run(`keys create --membership ${id}`);
    expect(sixth).toMatchObject({ status: 1, lines: [] });
    expect(sixth.errors[0]).toContain('5 active keys');
  });

  test.each([
    'keys create',
    'keys create --membership a --partner b --budget 1',
    'keys create --partner acme',
    'keys create --partner acme --budget 0',
    'keys create --partner acme --budget 1e9',
    'keys create --membership a --budget 5',
    'keys create --membership a extra',
    'keys revoke',
    'keys list --nothing',
  ])('%s is bad usage', async (line) => {
    const said = await run(line);
    expect(said).toMatchObject({ status: 2, lines: [] });
    expect(said.errors[1]).toMatch(/^usage: exhibit keys/);
  });

  test('a membership that is unknown or ended gets no key', async () => {
    expect((await run('keys create --membership mem_none')).status).toBe(1);
    const id = await member('desk');
    await run(`members deactivate ${id}`);
    expect((await run(`keys create --membership ${id}`)).status).toBe(1);
  });

  test('revoke takes the prefix or the id, and says so', async () => {
    const { lines } = await run(`keys create --membership ${await member('desk')} --json`);
    const prefix = String(only(lines)['prefix']);
    const revoked = await run(`keys revoke ${prefix} --json`);
    expect(only(revoked.lines)).toMatchObject({ prefix, revoked_at: '2025-11-21T04:40:00Z' });
    expect((await run('keys revoke sc_unknown')).status).toBe(1);
  });
});

describe('tokens', () => {
  test('mint --json is exactly the token and its tier; list shows its prefix only', async () => {
    const shown = only((await run('tokens mint --tier pro --json')).lines);
    expect(Object.keys(shown)).toEqual(['token', 'tier']);
    const listed = await run('tokens list');
    expect(listed.lines.join('\n')).not.toContain(String(shown['token']));
    expect(listed.lines).toHaveLength(2);
    const [row] = (await run('tokens list --json')).lines;
    expect(only([String(row)])).toMatchObject({ tier: 'pro', revoked_at: null });
  });

  test('revoke ends it, an unknown tier is bad usage, silence exits 3', async () => {
    await run('tokens mint --tier free');
    const { prefix } = only((await run('tokens list --json')).lines);
    expect((await run(`tokens revoke ${String(prefix)}`)).status).toBe(0);
    expect((await run('tokens mint --tier gold')).status).toBe(2);
    store.silence('it was silenced');
    expect((await run('tokens list')).status).toBe(3);
    expect((await run('tokens mint --tier free')).status).toBe(1);
  });
});
