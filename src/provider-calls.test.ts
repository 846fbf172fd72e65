// What providers say is kept as it was said, once, with its leaf; what nobody answered is no call.

import { expect, test, vi } from 'vitest';
import { DAY_S, HOUR_S } from './chain/time.ts';
import { Read, type Reading, read, unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import { hashRules, makeCall } from './features/providers/call.ts';
import { callProductionTable, providerCallTable } from './features/providers/calls.store.ts';
import { type CollectParts, collectOnce } from './features/providers/collect.job.ts';
import { countedBoard } from './features/providers/shapes.ts';
import { signalProductionTable } from './features/signals/signals.store.ts';
import type { RiskFields, TokenRisk } from './ports/token-risk.ts';
import { jsonIn } from './sources/http/fetch.ts';
import { deployerWalkTable } from './stores/control/deployers.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW } from './testing/clock.ts';
import { leasesIn, onEachEngine, type TestStore } from './testing/control-store.ts';
import { launchOf, walkOf } from './testing/deployer-worlds.ts';
import { emissionOf, signalOf } from './testing/signals.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const DEPLOYER = evm('deployer').toLowerCase();
const MINT = 'CrvMadeUpMint1111111111111111111111111111111';
const SIGNAL = new AbortController().signal;
const STALE = ['died', 'live'] as const;

type Answer = RiskFields | 'silent';

/** A provider whose answers a test sets, and the tokens that it was asked about. */
function riskSaying(provider: 'goplus' | 'rugcheck', first: Answer) {
  let answer = first;
  const asked: string[] = [];
  const source = { name: provider, url: 'https://a.example', as_of: STILL_NOW } as const;
  const risk: TokenRisk = {
    provider,
    chain: provider === 'goplus' ? 'ethereum' : 'solana',
    fieldsOf: async (token) => {
      asked.push(token);
      if (answer === 'silent') {
        const fault = { provider, fault: 'answered code 4029' };
        return unread('token_risk', why('provider_failed', fault));
      }
      const dated = { ...source, kind: 'observation', simulated: false } as const;
      return read(answer, { port: 'token_risk', source: dated });
    },
  };
  return {
    risk,
    asked,
    says: (next: Answer) => {
      answer = next;
    },
  };
}

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const found = await reading;
  if (!(found instanceof Read)) throw new Error(`test: unread: ${found.why.reason}`);
  return found.value;
}

/** A collector over a store, whose clock a test moves. */
function collectorOver(database: TestStore, risks: readonly TokenRisk[]) {
  let now = STILL_NOW;
  const context = { simulated: false, nowMs: () => now * 1_000 };
  const calls = callProductionTable(database, context);
  const parts: CollectParts = {
    calls,
    leases: leasesIn(database, 'a process'),
    risks,
    candlesOf: async () => null,
    now: () => now,
  };
  return {
    calls,
    table: providerCallTable(database, context),
    walks: deployerWalkTable(database, context),
    round: async () => {
      const outcome = await collectOnce(parts, SIGNAL);
      if (outcome === null || 'reason' in outcome) throw new Error(JSON.stringify(outcome));
      return outcome;
    },
    at: async (next: number) => {
      now = next;
      await database.setClock(next);
    },
    keptBoard: async () => {
      const { kept } = await value(providerCallTable(database, context).board());
      if (kept === null) throw new Error('test: no board');
      return countedBoard.parse(jsonIn(kept.text));
    },
  };
}

const recorded = (captured_at: number, outcome: (typeof STALE)[number] | 'never_listed' = 'live') =>
  walkOf(DEPLOYER, {
    captured_at,
    launches: [
      launchOf('young', outcome, { address: evm('young'), created_at: STILL_NOW - HOUR_S }),
      launchOf('old', 'died', { address: evm('old'), created_at: STILL_NOW - 31 * DAY_S }),
    ],
  });
const YOUNG = evm('young');

onEachEngine((name, fresh) => {
  test(`${name}: a launch is asked about at first sight and a day later, and an old one never`, async () => {
    const { risk, asked } = riskSaying('goplus', { is_honeypot: '1' });
    const collector = collectorOver(fresh(), [risk]);
    await collector.at(STILL_NOW);
    expect(await collector.round()).toMatchObject({ launches: 0, calls: 0 });
    await collector.at(STILL_NOW + 60);
    await value(collector.walks.commit(recorded(STILL_NOW + 30)));
    expect(await collector.round()).toMatchObject({ launches: 2, calls: 1 });
    await collector.at(STILL_NOW + 120);
    expect(await collector.round()).toMatchObject({ launches: 0, calls: 0 });
    await collector.at(STILL_NOW + 60 + DAY_S);
    expect(await collector.round()).toMatchObject({ calls: 1 });
    expect(asked).toEqual([YOUNG, YOUNG]);
    const rules = await value(collector.table.rules());
    expect(rules.map(({ version, leaf }) => [version, leaf])).toEqual([
      ['token-risk-1', 0],
      ['market-call-1', 1],
    ]);
  });

  test(`${name}: a call is a leaf, is read as it was said, and is never changed`, async () => {
    const database = fresh();
    const { risk } = riskSaying('goplus', { is_honeypot: '1' });
    const collector = collectorOver(database, [risk]);
    await collector.at(STILL_NOW);
    await collector.round();
    await collector.at(STILL_NOW + 60);
    await value(collector.walks.commit(recorded(STILL_NOW + 30)));
    await collector.round();
    const [row] = await database.query(`
      select call_id, p.hash, l.kind, '0x' || encode(l.hash, 'hex') as leaf_hash, l.id
      from provider_calls p join log_leaves l on l.leaf_index = p.leaf`);
    const { call_id, hash, leaf_hash, kind, id } = Object(row);
    expect([leaf_hash, kind, id]).toEqual([hash, 4, call_id]);
    expect(await value(collector.table.find(call_id))).toMatchObject({
      provider: 'goplus',
      subject: { kind: 'token_risk', chain: 'ethereum', token: YOUNG },
      says: true,
      rests_on: { is_honeypot: '1' },
      called_at: STILL_NOW + 60,
      received_at: STILL_NOW + 60,
      prospective: true,
      rule_version: 'token-risk-1',
      outcome: { state: 'pending' },
    });
    for (const statement of [
      'update provider_calls set says = false',
      'delete from provider_calls',
      `update outcome_rules set text = 'another'`,
    ]) {
      await expect(database.query(statement), statement).rejects.toThrow('only added');
    }
  });

  test(`${name}: what was not answered is no call, is asked again, and is missed at last`, async () => {
    const { risk, asked, says } = riskSaying('goplus', 'silent');
    const collector = collectorOver(fresh(), [risk]);
    await collector.at(STILL_NOW);
    await collector.round();
    await collector.at(STILL_NOW + 60);
    await value(collector.walks.commit(recorded(STILL_NOW + 30)));
    expect(await collector.round()).toMatchObject({ calls: 0 });
    await collector.at(STILL_NOW + 300);
    await collector.round();
    expect(asked).toHaveLength(1);
    await collector.at(STILL_NOW + 900);
    await collector.round();
    expect(asked).toHaveLength(2);
    await collector.at(STILL_NOW + 60 + 7 * HOUR_S);
    says({ is_honeypot: '1' });
    expect(await collector.round()).toMatchObject({ calls: 0 });
    await collector.at(STILL_NOW + 3 * DAY_S);
    expect(await collector.round()).toMatchObject({ calls: 0 });
    const board = await collector.keptBoard();
    expect(board.windows.all.rows).toMatchObject([
      { provider: 'goplus', calls: 0, hit_rate: null, coverage: { rate: 0, of: 1 } },
    ]);
    expect(board.windows.all.rows[0]?.missed_s).toBeGreaterThan(2 * DAY_S);
  });

  test(`${name}: an answer that says neither is no call, and lowers the coverage`, async () => {
    const { risk } = riskSaying('goplus', {});
    const collector = collectorOver(fresh(), [risk]);
    await collector.at(STILL_NOW);
    await collector.round();
    await collector.at(STILL_NOW + 60);
    await value(collector.walks.commit(recorded(STILL_NOW + 30)));
    await collector.round();
    await collector.at(STILL_NOW + 60 + DAY_S);
    await collector.round();
    const { windows, total_scores } = await collector.keptBoard();
    expect(total_scores).toBe(0);
    expect(windows.all.rows).toMatchObject([{ calls: 0, coverage: { rate: 0, of: 1 } }]);
  });

  test.each(STALE)(
    `${name}: a launch that is %s a month later scores its calls then`,
    async (outcome) => {
      const { risk } = riskSaying('goplus', { is_honeypot: '1' });
      const collector = collectorOver(fresh(), [risk]);
      await collector.at(STILL_NOW);
      await collector.round();
      await collector.at(STILL_NOW + 60);
      await value(collector.walks.commit(recorded(STILL_NOW + 30)));
      await collector.round();
      await value(collector.walks.commit(recorded(STILL_NOW + 10 * DAY_S, outcome)));
      await collector.at(STILL_NOW + 10 * DAY_S + 1);
      expect(await collector.round()).toMatchObject({ scored: 0 });
      await value(collector.walks.commit(recorded(STILL_NOW + 30 * DAY_S, outcome)));
      await collector.at(STILL_NOW + 30 * DAY_S + 1);
      expect(await collector.round()).toMatchObject({ scored: 1 });
      const { windows } = await collector.keptBoard();
      const hits = outcome === 'died' ? 1 : 0;
      expect(windows.all.rows).toMatchObject([{ scored: 1, hits, pending: 0 }]);
      const misses = await value(collector.table.misses({ before: null, limit: 10 }));
      expect(misses).toHaveLength(1 - hits);
    },
  );

  test(`${name}: a call after a death was seen is retrospective`, async () => {
    const { risk } = riskSaying('goplus', { is_honeypot: '1' });
    const collector = collectorOver(fresh(), [risk]);
    await collector.at(STILL_NOW);
    await collector.round();
    await collector.at(STILL_NOW + 60);
    await value(collector.walks.commit(recorded(STILL_NOW + 30)));
    await collector.round();
    await value(collector.walks.commit(recorded(STILL_NOW + HOUR_S, 'died')));
    await collector.at(STILL_NOW + HOUR_S + 1);
    await collector.round();
    await collector.at(STILL_NOW + 60 + DAY_S);
    await collector.round();
    const { windows } = await collector.keptBoard();
    expect(windows.all.rows).toMatchObject([{ calls: 1 }]);
    expect(windows.all.retrospective).toMatchObject([{ calls: 1 }]);
  });

  test(`${name}: a call about a launch whose death was on record at first sight too`, async () => {
    const { risk } = riskSaying('goplus', { is_honeypot: '1' });
    const collector = collectorOver(fresh(), [risk]);
    await collector.at(STILL_NOW);
    await collector.round();
    await collector.at(STILL_NOW + 60);
    await value(collector.walks.commit(recorded(STILL_NOW + 30, 'died')));
    expect(await collector.round()).toMatchObject({ calls: 1 });
    const { windows } = await collector.keptBoard();
    expect(windows.all.rows).toMatchObject([{ calls: 0 }]);
    expect(windows.all.retrospective).toMatchObject([{ calls: 1 }]);
  });

  test(`${name}: mints that are collected are asked about, and settled by the corpus`, async () => {
    const database = fresh();
    const { risk } = riskSaying('rugcheck', { danger: '1', rugged: 'false' });
    const collector = collectorOver(database, [risk]);
    await collector.at(STILL_NOW);
    await collector.round();
    await collector.at(STILL_NOW + 60);
    await database.query(
      `insert into collected_launches
         (mint, deployer, made_by, signature, slot, launched_at, due_at)
       values ($1, 'a wallet', 'pump.create', 'a signature', 7, control_now(), control_now())`,
      [MINT],
    );
    expect(await collector.round()).toMatchObject({ launches: 1, calls: 1 });
    await collector.at(STILL_NOW + 26 * HOUR_S);
    await database.query(
      `insert into table_imports (table_name, source, origin, started_at, completed_at, as_of,
         dated_by, rows_accepted, rows_refused, rows_lost, sha256)
       values ('launches', 'settled here', 'observed', control_now(), control_now(), control_now(),
         'import', 1, 0, 0, repeat('0', 64))`,
    );
    await database.query(
      `insert into launches (import_id, n, mint, deployer, launched_at, listed_after_window,
         last_checked_at, settled)
       select max(id), 1, $1, 'a wallet', to_timestamp($2), false, control_now(), true
       from table_imports`,
      [MINT, STILL_NOW + 60],
    );
    // The second question comes when the window is over: its call counts as retrospective.
    expect(await collector.round()).toMatchObject({ calls: 1, scored: 2 });
    const { windows } = await collector.keptBoard();
    expect(windows.all.rows).toMatchObject([{ provider: 'rugcheck', scored: 1, hits: 1 }]);
    expect(windows.all.retrospective).toMatchObject([{ provider: 'rugcheck', scored: 1 }]);
  });

  test(`${name}: a signal that avoids a recorded token is a call of this service`, async () => {
    const database = fresh();
    const collector = collectorOver(database, []);
    await collector.at(STILL_NOW);
    await collector.round();
    await collector.at(STILL_NOW + 60);
    await value(collector.walks.commit(recorded(STILL_NOW + 30)));
    await collector.round();
    const context = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
    const signal = signalOf({ address: YOUNG, at: STILL_NOW + 90 });
    await value(signalProductionTable(database, context).emit(emissionOf(signal)));
    await collector.at(STILL_NOW + 120);
    expect(await collector.round()).toMatchObject({ calls: 1 });
    expect(await collector.round()).toMatchObject({ calls: 0 });
    const { windows } = await collector.keptBoard();
    expect(windows.all.rows).toMatchObject([{ provider: 'exhibit', kind: 'token_risk', calls: 1 }]);
  });

  test(`${name}: a signal that is older than the rule is received now, and moves no rate`, async () => {
    const database = fresh();
    const collector = collectorOver(database, []);
    await collector.at(STILL_NOW);
    const context = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
    const signal = signalOf({ address: YOUNG, at: STILL_NOW - 20 });
    await value(signalProductionTable(database, context).emit(emissionOf(signal)));
    await collector.round();
    await collector.at(STILL_NOW + 600);
    await value(collector.walks.commit(recorded(STILL_NOW + 590)));
    expect(await collector.round()).toMatchObject({ calls: 1 });
    const { windows } = await collector.keptBoard();
    expect(windows.all.rows).toEqual([]);
    expect(windows.all.retrospective).toMatchObject([{ provider: 'exhibit', calls: 1 }]);
    const [row] = await database.query('select call_id from provider_calls');
    expect(await value(collector.table.find(Object(row).call_id))).toMatchObject({
      called_at: STILL_NOW - 20,
      received_at: STILL_NOW + 600,
      prospective: false,
    });
  });

  test(`${name}: a round whose lease another process took asks nobody any more`, async () => {
    const database = fresh();
    const { risk, asked } = riskSaying('goplus', { is_honeypot: '1' });
    const slow: TokenRisk = {
      ...risk,
      fieldsOf: async (token, signal) => {
        await database.query(
          "update leases set holder = 'another', held_until = now() + interval '1 hour'",
        );
        return risk.fieldsOf(token, signal);
      },
    };
    const collector = collectorOver(database, [slow]);
    await collector.at(STILL_NOW);
    await collector.round();
    await collector.at(STILL_NOW + 60);
    const two = ['young', 'younger'].map((of) =>
      launchOf(of, 'live', { address: evm(of), created_at: STILL_NOW - HOUR_S }),
    );
    const walk = walkOf(DEPLOYER, { captured_at: STILL_NOW + 30, launches: two });
    await value(collector.walks.commit(walk));
    await expect(collector.round()).rejects.toThrow('null');
    expect(asked).toHaveLength(1);
  });

  test(`${name}: a changed rule judges what comes after it, beside what was judged before`, async () => {
    const database = fresh();
    const { risk } = riskSaying('goplus', { is_honeypot: '1' });
    const collector = collectorOver(database, [risk]);
    await collector.at(STILL_NOW);
    await collector.round();
    await collector.at(STILL_NOW + 60);
    await value(collector.walks.commit(recorded(STILL_NOW + 30)));
    await collector.round();
    const [row] = await database.query('select call_id from provider_calls');
    const before = await value(collector.table.find(Object(row).call_id));
    if (before === null) throw new Error('test: no call');

    // A newer version of this service publishes another rule, and receives a call under it.
    const [rule] = hashRules();
    if (rule === undefined) throw new Error('test: no rule');
    const [version, hash] = ['token-risk-2', `0x${'2'.repeat(64)}`];
    const newer = { ...rule, version, hash, text: 'Another event.' };
    expect(await value(collector.calls.publishRules([newer], STILL_NOW + 120))).toBe(1);
    const { call_id: _, hash: __, leaf: ___, outcome: ____, ...statement } = before;
    const again = { ...statement, reference: 'said anew', rule_version: version };
    const later = makeCall({ ...again, called_at: STILL_NOW + 180, received_at: STILL_NOW + 180 });
    expect(await value(collector.calls.add([later]))).toBe(1);

    // This version scores by the rule that it knows; the other call waits for its own.
    await value(collector.walks.commit(recorded(STILL_NOW + 30 * DAY_S, 'died')));
    await collector.at(STILL_NOW + 30 * DAY_S + 1);
    expect(await collector.round()).toMatchObject({ scored: 1 });
    const judged = await value(collector.table.find(before.call_id));
    expect(judged).toMatchObject({
      rule_version: 'token-risk-1',
      outcome: { state: 'scored', happened: true },
    });
    expect(await value(collector.table.find(later.call_id))).toMatchObject({
      rule_version: version,
      outcome: { state: 'pending' },
    });

    // The newer version judges its own otherwise, and would judge the older anew.
    const scored_at = STILL_NOW + 30 * DAY_S + 2;
    const otherwise = { state: 'scored', happened: false, rests_on: {}, scored_at } as const;
    await value(collector.calls.decide(later.call_id, otherwise));
    await value(collector.calls.decide(before.call_id, otherwise));
    expect(await value(collector.table.find(before.call_id))).toEqual(judged);
    await expect(database.query('update provider_outcomes set happened = false')).rejects.toThrow(
      'only added',
    );
    await collector.round();
    const { windows } = await collector.keptBoard();
    expect(windows.all.rows).toMatchObject([
      { rule_version: 'token-risk-1', calls: 1, scored: 1, hits: 1, coverage: { of: 1 } },
      { rule_version: version, calls: 1, scored: 1, hits: 0, coverage: null },
    ]);
  });

  test(`${name}: of two processes one collects`, async () => {
    const database = fresh();
    const { risk } = riskSaying('goplus', { is_honeypot: '1' });
    const collector = collectorOver(database, [risk]);
    await leasesIn(database, 'another process').take('provider calls', 60);
    await expect(collector.round()).rejects.toThrow('null');
  });
});
