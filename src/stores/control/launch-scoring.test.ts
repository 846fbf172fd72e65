// A model's scores of a wallet and the events about them are one transaction: a flag is reported
// once, retracted when its ground is gone, and never retracted because something could not be read.

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Unread } from '../../evidence/reading.ts';
import { WRAPPED_ETHER } from '../../ports/deployers.ts';
import type { ScoredLaunch, ScoredWallet } from '../../ports/rug-model.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import { LAUNCHED_WITH, launchOf, walkOf } from '../../testing/deployer-worlds.ts';
import { allEventsAfter, eventsAfter } from '../../testing/flag-events.ts';
import { putCorpus } from '../../testing/launch-scores.ts';
import { rowsAs } from '../../testing/rows-as.ts';
import { NO_FATES } from '../../testing/rug-models.ts';
import { deployerWalkTable } from './deployers.ts';
import type { Database } from './engine/database.ts';
import { launchScoringTable } from './launch-scoring.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const RUG_1 = { version: 'rug-1', scored_within_h: 24 };
const CONTEXT = { simulated: false, nowMs: () => STILL_NOW * 1_000 };
const [WALLET, OTHER] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const;
const [ONE, TWO] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const;
const EVIDENCE = { feature: 'died_share', value: 0.9, contribution: 1.5, statement: 'So it is.' };
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const WHOLE = { is_whole: true, disowned: [] };

const launch = (token: string) => ({ token, launched_at: STILL_NOW - HOUR_S, liquidity_usd: 5 });
const flagged = (token: string, score = 0.95): ScoredLaunch => {
  return {
    ...launch(token),
    outcome: 'flagged',
    score,
    top_evidence: EVIDENCE,
    deployer_history: 'none',
  };
};
const passed = (token: string): ScoredLaunch => {
  return { ...launch(token), outcome: 'passed', score: 0.2 };
};
const unscored = (token: string): ScoredLaunch => {
  return { ...launch(token), outcome: 'unscored', reason: 'it was not read' };
};

function wallet(launches: readonly ScoredLaunch[], change: Partial<ScoredWallet> = {}) {
  return {
    chain: 'ethereum',
    address: WALLET,
    observed_at: STILL_NOW - 60,
    model_version: 'rug-1',
    scored_at: STILL_NOW,
    launches,
    record: WHOLE,
    on_record: launches.map(({ token }) => token),
    unlisted: [],
    horizon_h: 168,
    seen: [],
    ...change,
  } as const satisfies ScoredWallet;
}

const RUN = {
  chain: 'ethereum',
  began_at: STILL_NOW - 5,
  model_version: 'rug-1',
  wallets: 1,
  scored: 1,
  flagged: 1,
  suppressed: 0,
  unscored: 0,
  retracted: 0,
  waiting: 0,
} as const;

function stores(database: Database) {
  let calls = 0;
  const scoring = launchScoringTable(database, CONTEXT, () => {
    calls += 1;
  });
  const walks = deployerWalkTable(database, CONTEXT);
  return { scoring, walks, calls: () => calls };
}

async function rowsIn(database: Database) {
  return await rowsAs<{ token: string; outcome: string; flag_seq: bigint | null }>(
    database,
    `select token, outcome, flag_seq, extract(epoch from first_flagged_at)::float8 as since,
       extract(epoch from scored_at)::float8 as scored_at from launch_scores order by token`,
  );
}

onEachEngine((name, fresh) => {
  test(`${name}: a flag is kept under the number under which it is told`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    const said = await scoring.commit(wallet([flagged(ONE), passed(TWO), flagged(OTHER)]));
    expect(said).toMatchObject({ value: { flagged: 2, retracted: 0 } });
    expect(await rowsIn(database)).toMatchObject([
      { token: OTHER, outcome: 'flagged', flag_seq: 2n },
      { token: ONE, outcome: 'flagged', flag_seq: 1n },
      { token: TWO, outcome: 'passed', flag_seq: null },
    ]);
    expect(await eventsAfter(database, 0)).toEqual([
      {
        kind: 'flag',
        seq: 1,
        chain: 'ethereum',
        address: WALLET,
        token: ONE,
        model_version: 'rug-1',
        simulated: false,
        score: 0.95,
        evidence: 'So it is.',
        deployer_history: 'none',
        flagged_at: STILL_NOW,
      },
      expect.objectContaining({ kind: 'flag', seq: 2 }),
    ]);
  });

  test(`${name}: a flag that stands is dated anew, and not told again`, async () => {
    const database = fresh();
    const { scoring, calls } = stores(database);
    await scoring.commit(wallet([flagged(ONE)]));
    const later = { observed_at: STILL_NOW, scored_at: STILL_NOW + 60 };
    expect(await scoring.commit(wallet([flagged(ONE, 0.99)], later))).toMatchObject({
      value: { flagged: 0, retracted: 0 },
    });
    expect(calls()).toBe(1);
    expect(await rowsIn(database)).toMatchObject([
      { flag_seq: 1n, since: STILL_NOW, scored_at: STILL_NOW + 60 },
    ]);
    expect(await eventsAfter(database, 0)).toHaveLength(1);
  });

  test(`${name}: what becomes of a flagged launch is settled by who looked in time`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    const launched_at = STILL_NOW - 20 * DAY_S;
    const tokens = ['died', 'lived', 'late', 'unseen', 'young'].map((n) => evm(n));
    const [died, lived, late, , young] = tokens as [string, string, string, string, string];
    const launches = tokens.map((token) => {
      const at = token === young ? STILL_NOW - DAY_S : launched_at;
      return { ...flagged(token), launched_at: at };
    });
    await scoring.commit(wallet(launches));
    const fates = async () => {
      const read = await scoring.fates('rug-1');
      return read.checked ? read.value : read.why.code;
    };
    expect(await fates()).toEqual({ ...NO_FATES, unknown: 4 });
    const end = launched_at + 7 * DAY_S;
    let observed_at = STILL_NOW;
    const look = async (...seen: ScoredWallet['seen']) => {
      observed_at += 1;
      await scoring.commit(wallet([], { observed_at, on_record: tokens, seen }));
    };
    // Seen alive before its end, a launch may still die; seen dead after it, it may have lived.
    await look({ token: lived, as: 'live', at: end - 1 }, { token: late, as: 'died', at: end + 1 });
    expect(await fates()).toMatchObject({ settled: 0 });
    await look({ token: died, as: 'died', at: end }, { token: lived, as: 'live', at: end });
    await look({ token: died, as: 'live', at: end + 1 }, { token: young, as: 'died', at: end });
    const byDeployer = { settled: 1, died: 1 };
    expect(await fates()).toEqual({
      settled: 2,
      died: 1,
      unknown: 2,
      deployers: { flagged: byDeployer, passed: NO_FATES.deployers.passed },
    });
    database.silence('it is down');
    expect(await fates()).toBe('store_unreadable');
  });

  test(`${name}: flags are held against what was passed in the same time, each deployer once`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    const from = STILL_NOW - 20 * DAY_S;
    const end = from + 7 * DAY_S;
    const say = async (who: string, launches: readonly ScoredLaunch[], died: readonly string[]) => {
      const on_record = launches.map(({ token }) => token);
      const seen = on_record.map((token) =>
        died.includes(token)
          ? { token, as: 'died' as const, at: from }
          : { token, as: 'live' as const, at: end },
      );
      const address = evm(who);
      await scoring.commit(wallet(launches, { address, on_record, seen }));
    };
    const at = (hours: number) => ({ launched_at: from - hours * HOUR_S });
    const [a, b, c, d, e, f] = ['a', 'b', 'c', 'd', 'e', 'f'].map((n) => evm(n)) as string[];
    // Two flags of one deployer count once, by the newest; so do two that were passed.
    await say(
      'one',
      [
        { ...flagged(String(a)), ...at(0) },
        { ...flagged(String(b)), ...at(4) },
      ],
      [String(b)],
    );
    await say(
      'two',
      [
        { ...passed(String(c)), ...at(1) },
        { ...passed(String(d)), ...at(2) },
      ],
      [String(c)],
    );
    await say('three', [{ ...flagged(String(e)), ...at(3) }], [String(e)]);
    // What settled before the oldest of those flags is of another time.
    await say('four', [{ ...passed(String(f)), ...at(5) }], [String(f)]);
    const read = await scoring.fates('rug-1');
    expect(read.checked ? read.value : read.why.code).toEqual({
      settled: 3,
      died: 2,
      unknown: 0,
      deployers: { flagged: { settled: 2, died: 1 }, passed: { settled: 1, died: 1 } },
    });
    // What was flagged once counts as flagged, whatever is said of it later.
    const again = { address: evm('three'), observed_at: STILL_NOW, on_record: [String(e)] };
    await scoring.commit(wallet([{ ...passed(String(e)), ...at(3) }], again));
    const later = await scoring.fates('rug-1');
    expect(later.checked ? later.value.deployers.flagged.settled : later.why.code).toBe(2);
  });

  test(`${name}: one wallet fills a tenth of the flags that are counted at most`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    const launched_at = STILL_NOW - 20 * DAY_S;
    const tokens = Array.from({ length: 30 }, (_, n) => evm(`token ${n}`));
    const launches = tokens.map((token) => ({ ...flagged(token), launched_at }));
    const seen = tokens.map((token) => ({ token, as: 'died' as const, at: launched_at + DAY_S }));
    await scoring.commit(wallet(launches, { seen }));
    const read = await scoring.fates('rug-1');
    expect(read.checked ? read.value : read.why.code).toMatchObject({ settled: 20, died: 20 });
  });

  test(`${name}: the flags of a model are withdrawn once, and each that stands is taken back`, async () => {
    const database = fresh();
    const { scoring, calls } = stores(database);
    await database.query(`insert into rug_models (version, artefact) values ('rug-1', '')`);
    await scoring.commit(wallet([flagged(ONE), passed(TWO)]));
    const mine = { address: OTHER, model_version: 'rug-other' };
    await scoring.commit(wallet([flagged(`0x${'c'.repeat(40)}`)], mine));
    const before = calls();
    const told = {
      version: 'rug-1',
      reason: 'They were withdrawn.',
      withdrawn_at: STILL_NOW,
      fates: { ...NO_FATES, settled: 200, died: 100 },
    };
    const taken = [await scoring.withdraw(told), await scoring.withdraw(told)];
    expect(taken).toMatchObject([{ value: 1 }, { value: 0 }]);
    expect(calls()).toBeGreaterThan(before);
    expect((await allEventsAfter(database, 2)).map(({ seq: _, ...event }) => event)).toEqual([
      {
        kind: 'withdrawal',
        model_version: 'rug-1',
        simulated: false,
        reason: told.reason,
        withdrawn_at: STILL_NOW,
      },
      expect.objectContaining({ kind: 'retraction', token: ONE, retracts: 1, reason: told.reason }),
    ]);
    expect(await rowsIn(database)).toMatchObject([
      { outcome: 'passed', flag_seq: null },
      { outcome: 'passed' },
      { outcome: 'flagged' },
    ]);
  });

  test.each([
    ['the launch is gone', [], 'The launch is not on record any more.'],
    ['the model passes it', [passed(ONE)], 'The model rug-2 does not flag it any more.'],
    [
      'the token is established',
      [{ ...launch(ONE), outcome: 'suppressed', score: 0.95 } as const],
      'The token has become an established one.',
    ],
  ])(`${name}: a flag is taken back where %s`, async (_, launches, reason) => {
    const database = fresh();
    const { scoring } = stores(database);
    await scoring.commit(wallet([flagged(ONE)]));
    const later = { model_version: 'rug-2', scored_at: STILL_NOW + 60 };
    expect(await scoring.commit(wallet(launches, later))).toMatchObject({
      value: { flagged: 0, retracted: 1 },
    });
    expect(await eventsAfter(database, 1)).toEqual([
      {
        kind: 'retraction',
        seq: 2,
        chain: 'ethereum',
        address: WALLET,
        token: ONE,
        model_version: 'rug-1',
        simulated: false,
        retracts: 1,
        reason,
        retracted_at: STILL_NOW + 60,
      },
    ]);
    const left = await rowsIn(database);
    expect(left.filter(({ outcome }) => outcome === 'flagged')).toEqual([]);
    await scoring.commit(wallet([flagged(ONE)], { observed_at: STILL_NOW }));
    expect(await rowsIn(database)).toMatchObject([{ outcome: 'flagged', flag_seq: 3n }]);
  });

  test(`${name}: what could not be read takes no flag back`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    await scoring.commit(wallet([flagged(ONE)]));
    const later = { observed_at: STILL_NOW };
    await scoring.commit(wallet([unscored(ONE), unscored(TWO)], later));
    expect(await rowsIn(database)).toMatchObject([
      { token: ONE, outcome: 'flagged', flag_seq: 1n },
      { token: TWO, outcome: 'unscored' },
    ]);
    expect(await eventsAfter(database, 1)).toEqual([]);
  });

  test(`${name}: that a flag could not be scored anew is noted beside it, until it is`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    await scoring.commit(wallet([flagged(ONE)]));
    const noted = async () =>
      await rowsAs<{ unscored_reason: string | null }>(
        database,
        'select outcome, unscored_reason from launch_scores',
      );
    await scoring.commit(wallet([unscored(ONE)], { observed_at: STILL_NOW }));
    expect(await noted()).toEqual([{ outcome: 'flagged', unscored_reason: 'it was not read' }]);
    await scoring.commit(wallet([flagged(ONE)], { observed_at: STILL_NOW + 1 }));
    expect(await noted()).toEqual([{ outcome: 'flagged', unscored_reason: null }]);
  });

  test.each([
    ['a walk was cut before it', { is_whole: false, disowned: [] }, null],
    ['it was read to be another’s', { is_whole: false, disowned: [ONE] }, 'no launch of this'],
    ['a whole walk did not meet it', WHOLE, 'not on record any more'],
  ])(`${name}: a flag of a token that is not among the launches: %s`, async (_, record, reason) => {
    const database = fresh();
    const { scoring } = stores(database);
    await scoring.commit(wallet([flagged(ONE)]));
    await scoring.commit(wallet([], { observed_at: STILL_NOW, record }));
    const told = await eventsAfter(database, 1);
    expect(told.length).toBe(reason === null ? 0 : 1);
    if (reason !== null) {
      expect(told[0]).toMatchObject({ retracts: 1, reason: expect.stringContaining(reason) });
    }
    expect(await rowsIn(database)).toHaveLength(reason === null ? 1 : 0);
  });

  test(`${name}: a token that is credited to another wallet takes the first one’s flag with it`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    await scoring.commit(wallet([flagged(ONE)]));
    const later = { address: OTHER, observed_at: STILL_NOW };
    expect(await scoring.commit(wallet([flagged(ONE)], later))).toMatchObject({
      value: { flagged: 1, retracted: 1 },
    });
    expect(await eventsAfter(database, 1)).toMatchObject([
      { kind: 'flag', address: OTHER, token: ONE },
      {
        kind: 'retraction',
        address: WALLET,
        retracts: 1,
        reason: `The launch is credited to ${OTHER} now.`,
      },
    ]);
    // The scores of the first wallet's earlier record no longer hold, under any model.
    const again = wallet([flagged(ONE)], { model_version: 'rug-2' });
    expect(await scoring.commit(again)).toMatchObject({ value: { flagged: 0, retracted: 0 } });
    const rows = await database.query('select address, flag_seq::int4 as seq from launch_scores');
    expect(rows).toEqual([{ address: OTHER, seq: 2 }]);
  });

  test(`${name}: whatever is walked, a flag stands on what was read, and falls by what was read`, async () => {
    const tokens = [ONE, TWO, `0x${'c'.repeat(40)}`] as const;
    const fate = fc.constantFrom('flagged', 'passed', 'unscored', 'unlisted', 'other', 'absent');
    const step = fc.record({
      address: fc.constantFrom(WALLET, OTHER),
      fates: fc.tuple(fate, fate, fate),
      is_whole: fc.boolean(),
      model: fc.constantFrom('rug-1', 'rug-2'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
        const database = fresh();
        await database.query('truncate launch_scores, scored_wallets, flag_events, flag_log');
        const { scoring } = stores(database);
        /** The ground of each flag that stands: the wallet. */
        const ground = new Map<string, string>();
        for (const [n, { address, fates, is_whole, model }] of steps.entries()) {
          const fateOf = new Map(tokens.map((token, i) => [token, fates[i]]));
          const of = (...wanted: (typeof fates)[number][]) =>
            tokens.filter((token) => wanted.some((one) => one === fateOf.get(token)));
          const before = new Map(ground);
          await scoring.commit({
            ...wallet([
              ...of('flagged').map((token) => flagged(token)),
              ...of('passed').map(passed),
              ...of('unscored').map(unscored),
            ]),
            address,
            observed_at: STILL_NOW - 1_000 + n,
            scored_at: STILL_NOW + n,
            model_version: model,
            record: { is_whole, disowned: of('other') },
            on_record: of('flagged', 'passed', 'unscored', 'unlisted'),
            unlisted: of('unlisted'),
          });
          for (const token of tokens) {
            const said = fateOf.get(token);
            const isOwn = before.get(token) === address;
            if (said === 'flagged') ground.set(token, address);
            else if (said === 'passed' || (said === 'unscored' && !isOwn)) ground.delete(token);
            else if (isOwn && (said === 'other' || said === 'unlisted')) ground.delete(token);
            else if (isOwn && said === 'absent' && is_whole) ground.delete(token);
          }
          const rows = await rowsAs<{ token: string; address: string }>(
            database,
            "select token, address from launch_scores where outcome = 'flagged'",
          );
          expect(new Map(rows.map((row) => [row.token, row.address]))).toEqual(ground);
        }
        const events = await eventsAfter(database, 0);
        const fallen = events.filter((one) => one.kind === 'retraction');
        expect(new Set(fallen.map(({ retracts }) => retracts)).size).toBe(fallen.length);
        const standing = events.filter(
          (one) => one.kind === 'flag' && !fallen.some(({ retracts }) => retracts === one.seq),
        );
        expect(new Map(standing.map(({ token, address }) => [token, address]))).toEqual(ground);
        expect(standing).toHaveLength(ground.size);
      }),
      { numRuns: 25 },
    );
  });

  test(`${name}: of those who score the same at once one writes and tells`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    const said = await Promise.all(
      Array.from({ length: 5 }, () => scoring.commit(wallet([flagged(ONE)]))),
    );
    const written = said.filter((one) => one.checked && one.value !== false);
    expect(written).toHaveLength(1);
    expect(await eventsAfter(database, 0)).toHaveLength(1);
    // An earlier observation does not replace a later one.
    const older = wallet([passed(ONE)], { observed_at: STILL_NOW - HOUR_S });
    expect(await scoring.commit(older)).toMatchObject({ value: false });
  });

  test(`${name}: where an event cannot be told nothing of the wallet is kept`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    await database.query('alter table flag_events add constraint planted check (score < 0.9)');
    await expect(scoring.commit(wallet([passed(TWO), flagged(ONE)]))).rejects.toThrow('planted');
    await database.query('alter table flag_events drop constraint planted');
    expect(await rowsIn(database)).toEqual([]);
    expect(await database.query('select * from scored_wallets')).toEqual([]);
    await scoring.commit(wallet([flagged(ONE)]));
    expect(await rowsIn(database)).toMatchObject([{ flag_seq: 1n }]);
  });

  test(`${name}: a walked wallet is due until this model scored it as it is now`, async () => {
    const database = fresh();
    const { scoring, walks } = stores(database);
    const walk = walkOf(WALLET, {
      launches: [
        launchOf('a', 'live', { liquidity_usd: 9, launched_with: LAUNCHED_WITH }),
        launchOf('b', 'never_listed', { launched_with: { state: 'unread', reason: 'It failed.' } }),
      ],
    });
    await walks.commit(walk);
    const at = walk.captured_at;
    const due = async (version = 'rug-1') => {
      const reading = await scoring.due('ethereum', { ...RUG_1, version }, 10);
      if (!reading.checked) throw new Error('test: silent');
      return reading.value;
    };
    const [live, unlisted] = walk.launches;
    expect(await due()).toEqual({
      due: 1,
      wallets: [
        {
          chain: 'ethereum',
          address: WALLET,
          observed_at: at,
          launches: [
            {
              token: live?.address,
              launched_at: live?.created_at,
              liquidity_usd: 9,
              launched_with_usd: 10_000.5,
              // Of another coin than ether.
              launched_with_ether: null,
              launched_with_unread: null,
              listed: true,
              seen: { as: 'live', at },
            },
            {
              token: unlisted?.address,
              launched_at: unlisted?.created_at,
              liquidity_usd: null,
              launched_with_usd: null,
              launched_with_ether: null,
              launched_with_unread: 'It failed.',
              listed: false,
              seen: null,
            },
          ],
          unread: null,
          record: WHOLE,
        },
      ],
    });
    await scoring.commit(wallet([], { observed_at: at }));
    expect(await due()).toEqual({ due: 0, wallets: [] });
    expect(await due('rug-2')).toMatchObject({ due: 1 });
    const launched_with = { ...LAUNCHED_WITH, coin: WRAPPED_ETHER };
    const launches = walk.launches.map((one) => ({ ...one, launched_with }));
    await walks.commit({ ...walk, launches, captured_at: at + 1 });
    const ether = { launched_with_usd: 10_000.5, launched_with_ether: '2.5' };
    expect(await due()).toMatchObject({ due: 1, wallets: [{ launches: [ether, ether] }] });
  });

  test.each([
    ['cut', { truncated: true }, 'the launches of its wallet were read in part'],
    [
      'silent at the venue',
      { launches: [launchOf('a', 'unchecked')] },
      'what became of 1 of the launches of its wallet was not read',
    ],
    [
      'of a contract that nobody could read',
      { skipped: [{ address: TWO, reason: 'undetermined' } as const] },
      'whether 1 of the contracts of its wallet are tokens was not read',
    ],
  ])(`${name}: a walk that is %s says what was not read`, async (_, change, unread) => {
    const database = fresh();
    const { scoring, walks } = stores(database);
    await walks.commit(walkOf(WALLET, change));
    expect(await scoring.due('ethereum', RUG_1, 10)).toMatchObject({
      value: { wallets: [{ unread }] },
    });
  });

  test(`${name}: a wallet of the corpus is as its launches were checked last`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    const checked = STILL_NOW - 60;
    await putCorpus(database, [
      ['young', 'maker', STILL_NOW - HOUR_S, null, checked],
      ['gone', 'maker', STILL_NOW - 30 * HOUR_S, false, checked - 5],
      ['listed', 'maker', STILL_NOW - 90 * 24 * HOUR_S, true, checked - 9],
      ['old', 'somebody', STILL_NOW - 90 * 24 * HOUR_S, true, checked],
      ['unknown', 'third', STILL_NOW - 60 * HOUR_S, null, checked],
    ]);
    const reading = await scoring.due('solana', RUG_1, 10);
    if (!reading.checked) throw new Error('test: silent');
    expect(reading.value.due).toBe(2);
    // The young one has no score yet, so that its wallet is due as of now.
    expect(reading.value.wallets).toMatchObject([
      { address: 'third', unread: 'what became of 1 of the launches of its wallet was not read' },
      {
        chain: 'solana',
        address: 'maker',
        observed_at: STILL_NOW,
        unread: null,
        launches: [
          { token: 'young', listed: true, seen: null },
          { token: 'gone', seen: { as: 'died', at: checked - 5 } },
          { token: 'listed', seen: { as: 'live', at: checked - 9 } },
        ],
      },
    ]);
  });

  test(`${name}: a launch that a later check credits to a wallet of old is nobody else’s`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    const [old, checked] = [STILL_NOW - 60 * DAY_S, STILL_NOW - 59 * DAY_S];
    await putCorpus(database, [
      ['moved', 'maker', old, false, checked],
      ['young', 'maker', STILL_NOW - HOUR_S, null, STILL_NOW - 60],
      ['moved too', 'flagged', old, false, checked],
    ]);
    const later = STILL_NOW - 50 * DAY_S;
    await putCorpus(
      database,
      [
        ['moved', 'of old', old, false, later],
        ['moved too', 'of old', old, false, later],
      ],
      'a later check',
    );
    const { token: _, ...rest } = flagged('');
    const one = wallet([{ ...rest, token: 'moved too' }], { observed_at: STILL_NOW - 70 });
    await scoring.commit({ ...one, chain: 'solana', address: 'flagged' });
    expect(await scoring.due('solana', RUG_1, 10)).toMatchObject({
      value: {
        due: 2,
        wallets: [
          { address: 'flagged', launches: [], record: { is_whole: true } },
          { address: 'maker', launches: [{ token: 'young' }] },
        ],
      },
    });
  });

  test(`${name}: a launch past the age at which it is scored does not make its wallet due again`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    const checked = STILL_NOW - 60;
    await putCorpus(database, [['gone', 'maker', STILL_NOW - 30 * HOUR_S, false, checked]]);
    const due = async () => scoring.due('solana', RUG_1, 10);
    expect(await due()).toMatchObject({ value: { due: 1 } });
    const change = { chain: 'solana', address: 'maker', observed_at: checked } as const;
    await scoring.commit({ ...wallet([]), ...change, on_record: ['gone'] });
    expect(await due()).toMatchObject({ value: { due: 0 } });
  });

  test(`${name}: a launch that was collected and waits is due as soon as it was collected`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    const checked = STILL_NOW - 60;
    await putCorpus(database, [['gone', 'maker', STILL_NOW - 30 * HOUR_S, false, checked]]);
    await database.query(
      `insert into collected_launches
         (mint, deployer, made_by, signature, slot, launched_at, due_at)
       select mint, deployer, 'pump.create', mint, 1, to_timestamp($1), now()
         from unnest(array['new', 'gone', 'first'], array['maker', 'maker', 'third'])
           as one (mint, deployer)`,
      [STILL_NOW - 120],
    );
    const reading = await scoring.due('solana', RUG_1, 10);
    if (!reading.checked) throw new Error('test: silent');
    expect(reading.value.wallets).toMatchObject([
      {
        address: 'maker',
        observed_at: STILL_NOW,
        launches: [
          { token: 'new', launched_at: STILL_NOW - 120, seen: null },
          { token: 'gone', seen: { as: 'died', at: checked } },
        ],
      },
      { address: 'third', observed_at: STILL_NOW, launches: [{ token: 'first', seen: null }] },
    ]);
  });

  test(`${name}: a launch that was just collected makes its wallet due, once`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    await putCorpus(database, [['gone', 'maker', STILL_NOW - 40 * 24 * HOUR_S, false, STILL_NOW]]);
    await collected(database, 'fresh', 'maker', STILL_NOW - 30);
    const due = async () => scoring.due('solana', RUG_1, 10);
    expect(await due()).toMatchObject({
      value: {
        due: 1,
        wallets: [{ launches: [{ token: 'fresh', seen: null }, { token: 'gone' }], unread: null }],
      },
    });
    const said = wallet([passed('fresh')], {
      chain: 'solana',
      address: 'maker',
      observed_at: STILL_NOW,
      on_record: ['fresh', 'gone'],
    });
    await scoring.commit(said);
    expect(await due()).toMatchObject({ value: { due: 0 } });
    await collected(database, 'late', 'maker', STILL_NOW - HOUR_S);
    expect(await due()).toMatchObject({ value: { due: 1 } });
  });

  test(`${name}: a collection that has fallen behind leaves its chain unscored`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    await database.query(
      `insert into launch_cursors (watched, since, reached_at)
       values ('program', 'epoch', control_now() - interval '48 hours 1 second')`,
    );
    const reading = await scoring.due('solana', RUG_1, 10);
    expect(reading).toBeInstanceOf(Unread);
    if (!reading.checked) expect(reading.why.code).toBe('launch_collection_stale');
    expect(await scoring.due('ethereum', RUG_1, 10)).toMatchObject({ value: { due: 0 } });
  });

  test(`${name}: a run is noted for the window, and old runs are let go`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    await scoring.end(RUN);
    await database.query("update scorer_runs set ended_at = control_now() - interval '8 days'");
    await scoring.end({ ...RUN, waiting: 3 });
    const runs = await rowsAs<{ waiting: number }>(database, 'select waiting from scorer_runs');
    expect(runs).toEqual([{ waiting: 3 }]);
  });

  test(`${name}: a store that is silent is unread, and a round has nothing to go on`, async () => {
    const database = fresh();
    const { scoring } = stores(database);
    database.silence('it is away');
    expect(await scoring.due('ethereum', RUG_1, 1)).toBeInstanceOf(Unread);
    expect(await scoring.commit(wallet([]))).toBeInstanceOf(Unread);
    expect(await scoring.end(RUN)).toBeInstanceOf(Unread);
    database.silence(null);
  });
});

async function collected(database: Database, mint: string, deployer: string, at: number) {
  await database.query(
    `insert into collected_launches (mint, deployer, made_by, signature, slot, launched_at, due_at)
     values ($1, $2, 'create', 'signature', 1, to_timestamp($3::float8), now())`,
    [mint, deployer, at],
  );
}
