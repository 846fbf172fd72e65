// Clocks that differ: machines an hour apart, and a store that is a day ahead, make nothing
// younger, give no allowance twice and let nobody sign or hold what is not theirs. What each clock
// decides is a table, which is held against the code.

import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { dailyAllowance } from './access/gate.ts';
import { PLANS } from './access/plan.ts';
import { deriveSecrets } from './access/secret.ts';
import { DAY_S, HOUR_S } from './chain/time.ts';
import { Read } from './evidence/reading.ts';
import { mayFollow } from './features/anchoring/anchor.job.ts';
import { keySealing } from './features/signing/feature.ts';
import { chooseDue, keyInForce, makeKey } from './features/signing/keys.ts';
import type { KeptKey, NewKeptKey } from './ports/signing.ts';
import { gapsIn } from './stores/history/covered.ts';
import { STILL_NOW } from './testing/clock.ts';
import { CLOCKS } from './testing/clocks.ts';
import { accessIn, controlOnServer, leasesIn } from './testing/control-store.ts';
import { NO_POSTGRES } from './testing/postgres.ts';
import { codeUnder } from './testing/tidy-source.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const ROOT = new URL('..', import.meta.url).pathname.replace(/\/$/, '');
const SECRETS = deriveSecrets('a root of this test', null);
const APART = [-HOUR_S, 0, HOUR_S];
const rows = Object.entries(CLOCKS);

function clocksPage(): string {
  const lines = rows.map(([decided, { clock, apart, test: shown }]) => {
    const [file, title] = shown.split(': ');
    return `| ${decided} | ${clock} | ${apart} | \`${file}\`: ${title} |`;
  });
  return `# Clocks

This page is generated from \`src/testing/clocks.ts\`. Keep the machines and the database server on
one time: nothing below is a substitute. The table says whose clock decides what, and what follows
where processes are an hour apart or the store is a day ahead. \`exhibit doctor\` warns where its
machine and the control store differ by 30 seconds or more. \`src/clocks-apart.test.ts\` runs
programs an hour ahead and an hour behind over one PostgreSQL.

* **store**: the clock of the control store (PostgreSQL's, or that of the one process).
* **process**: the clock of the machine that answers or works.
* **elapsed**: a clock that only goes on, and that nobody can set.

| what is decided | clock | where clocks differ | test |
| --- | --- | --- | --- |
${lines.join('\n')}
`;
}

test('docs/reference/clocks.md holds what each clock decides', async () => {
  await expect(clocksPage()).toMatchFileSnapshot('../docs/reference/clocks.md');
});

test('each test that the table names stands where it says', () => {
  for (const [, { test: shown }] of rows) {
    const [file, title] = shown.split(': ');
    expect(readFileSync(`${ROOT}/${file}`, 'utf8'), shown).toContain(String(title));
  }
});

const sql = [...codeUnder(ROOT, 'src/stores/control'), ...codeUnder(ROOT, 'src/features')]
  .filter((path) => !/\.(test|suite)\./.test(path))
  .map((path) => ({ path, text: readFileSync(`${ROOT}/${path}`, 'utf8') }));

test('the control store asks no process for the time of what waits', () => {
  const waits =
    /\b(?:due_at|held_until|kept_until|queued_at|appended_at|dead_at)\s*(?:<=?|>=?)\s*(\S+)/g;
  const compared = sql.flatMap(({ path, text }) =>
    [...text.matchAll(waits)].map(([whole, by]) => ({ path, whole, by: String(by) })),
  );
  expect(compared.length).toBeGreaterThan(10);
  const others = compared.filter(({ by }) => !/^(?:control_now\(\)|now\(\))/.test(by));
  // When a launch is settled follows from the time that the venue told of it.
  expect(others.map(({ path }) => path)).toEqual(['src/stores/control/launch-collection.ts']);
});

test('a process asks its own clock in one place, and statements ask the store’s by one name', () => {
  const statements = sql.filter(({ path }) => /control|\.store\.ts$/.test(path));
  const bare = statements.filter(({ text }) => /(?<!=)[<>] now\(\)|, now\(\) \+/.test(text));
  expect(bare.map(({ path }) => path)).toEqual([
    'src/stores/control/follow-reports.ts',
    'src/stores/control/keys.ts',
    'src/stores/control/leases.ts',
  ]);
  expect(sql.filter(({ text }) => text.includes('Date.now()')).map(({ path }) => path)).toEqual([
    'src/stores/control/engine/pglite.ts',
    'src/features/observing/feature.ts',
    'src/features/verifying/verify.command.ts',
  ]);
});

test('an allowance has one limit for each day, whosever day it is', () => {
  // 23:30 UTC: the process that is ahead counts tomorrow, and no other day is begun.
  const at = Math.floor(STILL_NOW / DAY_S) * DAY_S + 23.5 * HOUR_S;
  const periods = APART.map((apart) => {
    const { allowance, resets_at } = dailyAllowance('mem_1', PLANS.analyst, at + apart);
    expect(resets_at - (at + apart)).toBeLessThanOrEqual(DAY_S);
    return allowance.period;
  });
  expect(new Set(periods).size).toBe(2);
  expect(periods[0]).toBe(periods[1]);
});

test('a block is no younger for a clock that is behind', () => {
  const newest = STILL_NOW - 60;
  const range = {
    chain: 'ethereum',
    kind: 'native',
    from_block: 0,
    to_block: 100,
    to_time: newest,
    from_first: true,
  } as const;
  const gaps = (now: number, to_time = newest) =>
    gapsIn([{ ...range, to_time }], { chains: ['ethereum'], now, tipMaxAgeS: HOUR_S }, ['native']);
  expect(gaps(STILL_NOW)).toEqual([]);
  expect(gaps(STILL_NOW + HOUR_S)).toHaveLength(1);
  expect(gaps(STILL_NOW - HOUR_S)).toEqual([
    expect.objectContaining({
      held: expect.stringContaining("far ahead of this machine's clock"),
    }),
  ]);
});

test('a root waits no shorter for a store that is ahead', () => {
  for (const ahead of [0, HOUR_S, DAY_S]) {
    const began = STILL_NOW + ahead;
    expect(mayFollow(began, HOUR_S, STILL_NOW + HOUR_S - 1)).toBe(false);
    expect(mayFollow(began, HOUR_S, began + HOUR_S)).toBe(true);
  }
});

test('a key signs within its own time, whoever is an hour apart', () => {
  let keys: readonly KeptKey[] = [];
  let made = 0;
  const make = (nbf: number): NewKeptKey => {
    made += 1;
    return makeKey(keySealing(SECRETS), false, { nbf, made_at: nbf });
  };
  const signedBy = new Set<string>();
  for (let at = STILL_NOW; at < STILL_NOW + 200 * DAY_S; at += HOUR_S / 2) {
    for (const apart of APART) {
      const due = chooseDue(make, at + apart)(keys);
      if (due !== null) keys = [{ ...due, compromised_since: null }, ...keys];
      const signing = keyInForce(keys, at + apart);
      if (signing === null) throw new Error('test: nothing signs');
      signedBy.add(signing.kid);
      expect(at + apart).toBeGreaterThanOrEqual(signing.nbf);
      expect(at + apart).toBeLessThan(signing.exp);
    }
  }
  expect(signedBy.size).toBeGreaterThan(1);
  // Processes that are apart make no key of their own for it.
  expect(made).toBeLessThanOrEqual(signedBy.size + 1);
});

describe.skipIf(NO_POSTGRES !== null)(`on PostgreSQL ${NO_POSTGRES ?? ''}`, () => {
  const fresh = controlOnServer();

  test('a lease is the store’s, and outlives no clock that was ahead', async () => {
    const database = fresh();
    const take = async (holder: string) => {
      const taken = await leasesIn(database, holder).take('job', 60);
      if (!(taken instanceof Read)) throw new Error('test: unread');
      return taken.value;
    };
    const first = await take('one');
    expect(await take('other')).toBeNull();
    // What the holder took when the store was a day ahead, seen once it is back.
    await database.query(
      `update leases set held_until = held_until + interval '1 day', epoch = epoch + 86400`,
    );
    const second = await take('other');
    expect(second?.epoch).toBeGreaterThan(Number(first?.epoch) + DAY_S);
    expect(await take('one')).toBeNull();
  });

  test('a revoked key opens nothing at any time', async () => {
    const database = fresh();
    const { keys, memberships } = accessIn(database, () => STILL_NOW * 1_000);
    await memberships.record({
      membership_id: 'mem_1',
      plan: 'desk',
      status: 'active',
      at: STILL_NOW,
    });
    const secret = { hash: new Uint8Array(32).fill(7), pepper: 'aaaa' };
    const added = await keys.add(
      {
        id: 'key_1',
        holder: { kind: 'sc', membership_id: 'mem_1' },
        secret,
        prefix: 'sc_abc',
        created_at: STILL_NOW,
        expires_at: STILL_NOW + DAY_S,
        name: null,
      } as Parameters<typeof keys.add>[0],
      5,
    );
    expect(added.checked && added.value.outcome).toBe('added');
    // It was revoked by a process that is an hour ahead.
    await keys.revoke('key_1', STILL_NOW + HOUR_S, null);
    const found = await keys.find([secret]);
    if (!(found instanceof Read)) throw new Error('test: unread');
    expect(found.value?.key.revoked_at).toBe(STILL_NOW + HOUR_S);
  });
});
