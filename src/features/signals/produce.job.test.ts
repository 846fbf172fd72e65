// A round publishes where there is something new to say, takes nothing back because a source was
// silent, and does each target once whoever runs it.

import { expect, test, vi } from 'vitest';
import type { UnixSeconds } from '../../chain/time.ts';
import { map, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import { SIGNAL_LEASE } from '../../ports/signals.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { embeddedControl, leasesIn, type TestStore } from '../../testing/control-store.ts';
import { memorySpending } from '../../testing/day-spending.ts';
import {
  bundleOf,
  emissionOf,
  judgementOf,
  RULES_VERSION,
  signalOf,
} from '../../testing/signals.ts';
import { memorySource, PLANTED } from '../../testing/twins/dated.ts';
import type { Bundle } from '../collectors/shapes.ts';
import { callPurse, UNCOUNTED_CALLS } from './call-purse.ts';
import {
  type ProducerParts,
  produceOnce,
  produceRounds,
  publishTarget,
  RENEWED_S,
} from './produce.job.ts';
import { signalProductionTable, signalTable } from './signals.store.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const fresh = embeddedControl();
const LISTED = evm('listed').toLowerCase();
const TARGET = { chain: 'ethereum', address: LISTED } as const;
const UNDER = { epoch: null, rules_version: RULES_VERSION };
const NEVER = new AbortController().signal;
const RULES = {
  port: 'verdict_rules',
  source: memorySource('Rules', 'table', PLANTED),
} as const;

type Evidence = {
  /** What is collected about an address; a source is silent where it says so. */
  bundle: (address: string) => Bundle;
  now: number;
  rules: string;
  silent: Why | null;
};

function partsOver(database: TestStore, evidence: Evidence, holder = 'one') {
  let runs = 0;
  const bugs: unknown[] = [];
  const collected: string[] = [];
  const parts: ProducerParts = {
    production: signalProductionTable(database, {
      simulated: false,
      nowMs: () => STILL_NOW * 1_000,
    }),
    leases: leasesIn(database, holder),
    collect: async ({ address }) => {
      collected.push(address);
      return evidence.bundle(address);
    },
    judge: async (bundle) =>
      evidence.silent === null
        ? read(judgementOf(bundle), RULES)
        : unread('verdict_rules', evidence.silent),
    rulesVersion: async () => read(evidence.rules, RULES),
    mintRunId: () => {
      runs += 1;
      return `run_${runs}`;
    },
    simulated: false,
    purse: UNCOUNTED_CALLS,
    waitsForCalls: false,
    now: () => evidence.now,
    onBug: (fault) => bugs.push(fault),
  };
  return { parts, bugs, collected };
}

const listedNow = (): Evidence => ({
  bundle: (address) => bundleOf({ address }),
  now: STILL_NOW,
  rules: RULES_VERSION,
  silent: null,
});

const NO_COUNTS = {
  published: 0,
  unchanged: 0,
  waits: 0,
  overtaken: 0,
  unreached: 0,
  failed: 0,
};

const signalsIn = (database: TestStore) =>
  database.query(
    `select s.address, s.verdict, s.cached, s.run_id, t.state from signals s
     left join signal_statuses t using (signal_id) order by s.leaf`,
  );

async function queueListed(database: TestStore, addresses: readonly string[]): Promise<void> {
  await database.query(
    `insert into signal_targets (chain, address, queued_at, due_at)
     select 'ethereum', a, control_now(), control_now() from unnest($1::text[]) as u (a)`,
    [addresses],
  );
}

test('a signal is published once for the same content, and anew after seven days', async () => {
  const database = fresh();
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  const publish = () => publishTarget(parts, TARGET, UNDER, NEVER);
  expect(await publish()).toMatchObject({ state: 'published' });
  // The dates of its evidence are newer, and that is no news.
  evidence.bundle = (address) => bundleOf({ address, at: STILL_NOW + 60 });
  evidence.now = STILL_NOW + RENEWED_S - 1;
  expect(await publish()).toMatchObject({ state: 'unchanged' });
  evidence.now = STILL_NOW + RENEWED_S;
  expect(await publish()).toMatchObject({ state: 'published' });
  expect(await signalsIn(database)).toEqual([
    { address: LISTED, verdict: 'avoid', cached: false, run_id: 'run_1', state: 'superseded' },
    { address: LISTED, verdict: 'avoid', cached: true, run_id: 'run_2', state: null },
  ]);
});

test('other content or other rules make a new signal at once', async () => {
  const database = fresh();
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  await publishTarget(parts, TARGET, UNDER, NEVER);
  evidence.bundle = (address) =>
    bundleOf({ address, more: { 'labels.row_1.entity': { value: 'Somebody', as_of: STILL_NOW } } });
  const other = await publishTarget(parts, TARGET, UNDER, NEVER);
  expect(other).toMatchObject({ state: 'published' });
  const under = { epoch: null, rules_version: 'rules-2' };
  expect(await publishTarget(parts, TARGET, under, NEVER)).toMatchObject({ state: 'published' });
  expect(await publishTarget(parts, TARGET, under, NEVER)).toMatchObject({ state: 'unchanged' });
  expect((await signalsIn(database)).map((row) => Object(row).state)).toEqual([
    ...['superseded', 'superseded', null],
  ]);
});

test('a verdict whose ground is gone is withdrawn, and the newer signal says what was found', async () => {
  const database = fresh();
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  await publishTarget(parts, TARGET, UNDER, NEVER);
  evidence.bundle = (address) => bundleOf({ address, listed: false });
  evidence.now = STILL_NOW + 60;
  expect(await publishTarget(parts, TARGET, UNDER, NEVER)).toMatchObject({ state: 'published' });
  expect(await signalsIn(database)).toMatchObject([
    { verdict: 'avoid', state: 'withdrawn' },
    { verdict: 'no_opinion', state: null },
  ]);
});

test('a language model that gives no verdict takes none back: the ground of the first is there', async () => {
  const database = fresh();
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  await publishTarget(parts, TARGET, UNDER, NEVER);
  evidence.bundle = (address) =>
    bundleOf({ address, more: { 'labels.row_1.entity': { value: 'Somebody', as_of: STILL_NOW } } });
  const abstains: ProducerParts['judge'] = async (bundle) => {
    const silent = { verdict: 'no_opinion', confidence_millionths: 0, evidence_used: [] } as const;
    return read({ ...judgementOf(bundle), ...silent, model: 'a-model' }, RULES);
  };
  await publishTarget({ ...parts, judge: abstains }, TARGET, UNDER, NEVER);
  expect(await signalsIn(database)).toMatchObject([
    { verdict: 'avoid', state: 'superseded' },
    { verdict: 'no_opinion', state: null },
  ]);
});

test('a verdict stands while what it cites cannot be read', async () => {
  const database = fresh();
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  await publishTarget(parts, TARGET, UNDER, NEVER);
  const silent = why('store_unreadable', { what: 'The list', fault: 'a planted fault' });
  evidence.bundle = (address) => {
    const bundle = bundleOf({ address });
    const gap = { source: 'sanctions', status: 'error', as_of: null, ...silent } as const;
    return { ...bundle, sources: [gap, ...bundle.sources.slice(1)], evidence: {} };
  };
  expect(await publishTarget(parts, TARGET, UNDER, NEVER)).toEqual({
    state: 'waits',
    sources: ['sanctions'],
  });
  expect(await signalsIn(database)).toMatchObject([{ verdict: 'avoid', state: null }]);
});

test('what an operator withdrew is not said again of the same content', async () => {
  const database = fresh();
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  const published = await publishTarget(parts, TARGET, UNDER, NEVER);
  const id = 'signal_id' in published ? published.signal_id : '';
  await database.query(
    `insert into signal_statuses (signal_id, state, at, reason, by, hash, leaf)
     values ($1, 'withdrawn', '2026-09-24T12:00:00.000Z', 'A fault.', 'operator', $2, 99)`,
    [id, `0x${'0'.repeat(64)}`],
  );
  evidence.now = STILL_NOW + 10 * RENEWED_S;
  expect(await publishTarget(parts, TARGET, UNDER, NEVER)).toMatchObject({ state: 'unchanged' });
});

test('a round looks at what is due, and another is due ten minutes later', async () => {
  const database: TestStore = fresh();
  const evidence = listedNow();
  const { parts, collected } = partsOver(database, evidence);
  const addresses = [0, 1, 2].map((n) => evm(`listed ${n}`).toLowerCase());
  await queueListed(database, addresses);
  expect(await produceOnce(parts, NEVER)).toEqual({ ...NO_COUNTS, published: 3 });
  expect(collected.toSorted()).toEqual(addresses.toSorted());
  expect(await produceOnce(parts, NEVER)).toBe(null);
  await database.setClock(STILL_NOW + 600);
  expect(await produceOnce(parts, NEVER)).toEqual(NO_COUNTS);
  expect(collected).toHaveLength(3);
});

test('two processes never look at the same round', async () => {
  const database = fresh();
  const one = partsOver(database, listedNow(), 'one');
  const two = partsOver(database, listedNow(), 'two');
  await queueListed(database, [LISTED]);
  const held = await two.parts.leases.take(SIGNAL_LEASE, 60);
  expect(held.checked).toBe(true);
  expect(await produceOnce(one.parts, NEVER)).toBe(null);
  await two.parts.leases.release(SIGNAL_LEASE);
  expect(await produceOnce(one.parts, NEVER)).toMatchObject({ published: 1 });
});

test('a round whose lease another took meanwhile ends without a word more', async () => {
  const database = fresh();
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  await queueListed(database, [LISTED, evm('next').toLowerCase()]);
  evidence.bundle = (address) => bundleOf({ address });
  const collect = parts.collect;
  let looked = 0;
  const overtaken: ProducerParts = {
    ...parts,
    collect: async (target, signal) => {
      looked += 1;
      await database.query(`update leases set held_until = '-infinity'`);
      await leasesIn(database, 'another').take(SIGNAL_LEASE, 60);
      return collect(target, signal);
    },
  };
  expect(await produceOnce(overtaken, NEVER)).toBe(null);
  expect([looked, await signalsIn(database)]).toEqual([1, []]);
});

test('a round holds its lease by taking it again while time passes, not for each target', async () => {
  const database: TestStore = fresh();
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  await queueListed(
    database,
    Array.from({ length: 8 }, (_, n) => evm(`target ${n}`).toLowerCase()),
  );
  let looked = 0;
  evidence.bundle = (address) => {
    looked += 1;
    // A second is over with every third target.
    if (looked % 3 === 0) evidence.now += 1;
    return bundleOf({ address });
  };
  const taken: UnixSeconds[] = [];
  const leases: ProducerParts['leases'] = {
    ...parts.leases,
    take: (...of) => {
      taken.push(evidence.now - STILL_NOW);
      return parts.leases.take(...of);
    },
  };
  expect(await produceOnce({ ...parts, leases }, NEVER)).toMatchObject({ published: 8 });
  expect(taken).toEqual([0, 1, 2]);
});

test('a bug about one target holds up no other, and is looked at again', async () => {
  const database: TestStore = fresh();
  const evidence = listedNow();
  const { parts, bugs } = partsOver(database, evidence);
  const [bad, good] = [evm('a bad one').toLowerCase(), LISTED];
  await queueListed(database, [bad, good]);
  evidence.bundle = (address) => {
    if (address === bad) throw new Error('test: a bug');
    return bundleOf({ address });
  };
  expect(await produceOnce(parts, NEVER)).toMatchObject({ published: 1, failed: 1 });
  expect(bugs).toHaveLength(1);
  await database.setClock(STILL_NOW + 1_799);
  expect(await produceOnce(parts, NEVER)).toMatchObject({ published: 0, failed: 0 });
  await database.setClock(STILL_NOW + 2_400);
  expect(await produceOnce(parts, NEVER)).toMatchObject({ failed: 1 });
});

/** Evidence for which so many calls are made; a source lacks those that are not left. */
function costly(parts: ProducerParts, calls: number, listed: (address: string) => boolean) {
  const purse = callPurse(
    memorySpending(() => STILL_NOW),
    10,
  );
  const spent = why('signal_calls_spent', { limit: '10' });
  const gap = { source: 'funding', status: 'unavailable', as_of: null, ...spent } as const;
  const asked: string[] = [];
  const collect: ProducerParts['collect'] = async ({ address }) => {
    asked.push(address);
    const told = { address, listed: listed(address) };
    const refusals = Array.from({ length: calls }, () => purse.countCall());
    const more = { 'funding.funded': { value: true, as_of: STILL_NOW } };
    if (refusals.every((one) => one === null)) return bundleOf({ ...told, more });
    const bundle = bundleOf(told);
    return { ...bundle, sources: [...bundle.sources, gap] };
  };
  return { asked, parts: { ...parts, purse, collect, waitsForCalls: purse.isRenewed } };
}

test('targets for which no call is left are not reached, and are looked at the next day', async () => {
  const database: TestStore = fresh();
  const { parts } = partsOver(database, listedNow());
  const all = [0, 1, 2, 3, 4].map((n) => evm(`target ${n}`).toLowerCase());
  await queueListed(database, all);
  const today = costly(parts, 4, () => false);
  // Two targets take eight of ten calls; of the others nothing is said, and nothing is denied.
  expect(await produceOnce(today.parts, NEVER)).toEqual({
    ...NO_COUNTS,
    published: 2,
    unreached: 3,
  });
  expect(await signalsIn(database)).toHaveLength(2);
  await database.setClock(STILL_NOW + 600);
  expect(await produceOnce(today.parts, NEVER)).toEqual(NO_COUNTS);
  await database.setClock(STILL_NOW + 43_200);
  const tomorrow = costly(parts, 3, () => false);
  expect(await produceOnce(tomorrow.parts, NEVER)).toEqual({ ...NO_COUNTS, published: 3 });
  expect(new Set([...today.asked, ...tomorrow.asked])).toEqual(new Set(all));
  expect(await signalsIn(database)).toHaveLength(5);
});

test('a verdict that stands on what is held waits for no call, and says what was not asked', async () => {
  const database: TestStore = fresh();
  const { parts } = partsOver(database, listedNow());
  await queueListed(database, [LISTED]);
  const poor = costly(parts, 11, () => true);
  expect(await produceOnce(poor.parts, NEVER)).toEqual({
    ...NO_COUNTS,
    published: 1,
    unreached: 1,
  });
  const [row] = await database.query(
    `select convert_from(b.bytes, 'utf8') as bundle from signal_bundles b`,
  );
  expect(String(Object(row).bundle)).toContain('"code":"signal_calls_spent"');
  // The next day it is looked at again, and the same verdict in part is no news.
  await database.setClock(STILL_NOW + 43_200);
  expect(await produceOnce(poor.parts, NEVER)).toEqual({ ...NO_COUNTS, unreached: 1 });
  await database.setClock(STILL_NOW + 86_400 + 43_200);
  const rich = costly(parts, 1, () => true);
  expect(await produceOnce(rich.parts, NEVER)).toEqual({ ...NO_COUNTS, published: 1 });
  expect((await signalsIn(database)).map((one) => Object(one).state)).toEqual(['superseded', null]);
});

test('a deployment without calls publishes what is held, and waits for no other day', async () => {
  const database: TestStore = fresh();
  const { parts } = partsOver(database, listedNow());
  await queueListed(database, [LISTED]);
  const purse = callPurse(
    memorySpending(() => STILL_NOW),
    0,
  );
  const spent = why('signal_calls_spent', { limit: '0' });
  expect(purse.countCall()).toEqual(spent);
  const gap = { source: 'funding', status: 'unavailable', as_of: null, ...spent } as const;
  const collect: ProducerParts['collect'] = async ({ address }) => {
    const bundle = bundleOf({ address, listed: false });
    return { ...bundle, sources: [...bundle.sources, gap] };
  };
  const without = { ...parts, purse, collect, waitsForCalls: purse.isRenewed };
  expect(await produceOnce(without, NEVER)).toEqual({ ...NO_COUNTS, published: 1 });
});

test('a round that takes too long ends, and the next one goes on behind it', async () => {
  const database: TestStore = fresh();
  const evidence = listedNow();
  const { parts, collected } = partsOver(database, evidence);
  const all = [0, 1, 2, 3, 4].map((n) => evm(`target ${n}`).toLowerCase());
  await queueListed(database, all);
  evidence.bundle = (address) => {
    evidence.now += 200;
    return bundleOf({ address });
  };
  expect(await produceOnce(parts, NEVER)).toEqual({ ...NO_COUNTS, published: 3, unreached: 2 });
  await database.setClock(STILL_NOW + 1_200);
  expect(await produceOnce(parts, NEVER)).toEqual({ ...NO_COUNTS, published: 2 });
  expect(collected.toSorted()).toEqual(all.toSorted());
});

test('calls that a round did not make are given back to the day', async () => {
  const database: TestStore = fresh();
  const { parts } = partsOver(database, listedNow());
  const spending = memorySpending(() => STILL_NOW);
  const purse = callPurse(spending, 10_000);
  await queueListed(database, [LISTED]);
  const collect: ProducerParts['collect'] = async ({ address }) => {
    for (let calls = 0; calls < 7; calls += 1) expect(purse.countCall()).toBe(null);
    return bundleOf({ address });
  };
  await produceOnce({ ...parts, purse, collect }, NEVER);
  const left = await spending.setAside('signal_calls', { most: 1, least: 1, limit: 10_000 });
  expect(map(left, ({ spent }) => spent)).toMatchObject({ value: 8 });
});

test('rules that were not read end the round, and it is no round', async () => {
  const database = fresh();
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  await queueListed(database, [LISTED]);
  evidence.silent = why('store_unreadable', { what: 'The rules', fault: 'a planted fault' });
  expect(await produceOnce(parts, NEVER)).toEqual(evidence.silent);
  const context = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
  const feed = await signalTable(database, context).feed({
    matchKey: null,
    after: null,
    limit: 1,
  });
  expect(map(feed, ({ last_round_at }) => last_round_at)).toMatchObject({ value: null });
});

test('chats with the kind are told of an avoid and of what takes it back, and of no more', async () => {
  const database = fresh();
  await database.query(
    `insert into memberships (membership_id, plan, status, created_at, updated_at)
     values ('mem_1', 'desk', 'active', now(), now())`,
  );
  await database.query(
    `insert into integrations (id, membership_id, platform, place, sealed, sealed_by, kinds,
       created_at)
     values ('int_1', 'mem_1', 'slack', 'a channel', '\\x00', 'aaaa', '{signal}', now())`,
  );
  const evidence = listedNow();
  const { parts } = partsOver(database, evidence);
  const nobody = { chain: 'ethereum', address: evm('nobody').toLowerCase() } as const;
  await publishTarget(parts, TARGET, UNDER, NEVER);
  evidence.now += RENEWED_S;
  await publishTarget(parts, TARGET, UNDER, NEVER);
  evidence.bundle = (address) => bundleOf({ address, listed: false });
  await publishTarget(parts, nobody, UNDER, NEVER);
  await publishTarget(parts, TARGET, UNDER, NEVER);
  const told = await database.query(
    `select d.kind, d.address, d.message ->> 'title' as title from deliveries q
     join dispatches d on d.id = q.dispatch_id order by q.id`,
  );
  expect(told).toEqual([
    { kind: 'signal', address: LISTED, title: 'Signal on ethereum: avoid' },
    { kind: 'signal', address: LISTED, title: 'Signal on ethereum: no_opinion' },
  ]);
});

test('the rounds go on until they are stopped, and log one lasting fault once', async () => {
  const database: TestStore = fresh();
  const { parts } = partsOver(database, listedNow());
  await queueListed(database, [LISTED]);
  const rounds: number[] = [];
  const faults: string[] = [];
  let sleeps = 0;
  const task = produceRounds({
    ...parts,
    everyS: 1,
    sleep: async () => {
      sleeps += 1;
      database.silence(sleeps < 3 ? 'a planted fault' : null);
      await new Promise((next) => setImmediate(next));
    },
    onRound: ({ published }) => rounds.push(published),
    onFault: ({ reason }) => faults.push(reason),
  });
  await vi.waitFor(() => expect(sleeps).toBeGreaterThan(5), { timeout: 20_000 });
  await task.stop();
  expect([rounds, faults.length]).toEqual([[1], 1]);
  expect(emissionOf(signalOf({ address: LISTED })).round).toBe(null);
});
