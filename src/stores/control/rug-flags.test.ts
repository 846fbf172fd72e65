// The table of flags: a window that was scored to its end is whole, one that was not is a part, a
// table that nobody ever wrote says so, and one that cannot be asked is silent.

import { describe, expect, test, vi } from 'vitest';
import {
  basis,
  map,
  Part,
  type Partly,
  Read,
  rowsSeen,
  Unread,
  unread,
} from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  FLAG_EVENTS_AT_ONCE_MAX,
  FLAG_EVENTS_KEPT,
  type FlagWindow,
  type RugFlagsPort,
} from '../../ports/rug-flags.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { onEachEngine } from '../../testing/control-store.ts';
import {
  append,
  eventsAfter,
  flagEventsIn,
  flagOf,
  retractionOf,
} from '../../testing/flag-events.ts';
import { NO_FLAG, putRun, putScore, REVIEWED_TOKENS } from '../../testing/launch-scores.ts';
import { modelInForce } from '../../testing/rug-models.ts';
import { type Database, storeTime } from './engine/database.ts';
import { appendFlagEvents, rugFlagTable } from './rug-flags.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const DAY_S = 86_400;
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const PASSED = { outcome: 'passed', score: 0.1, ...NO_FLAG } as const;
const UNSCORED = { outcome: 'unscored', score: null, reason: 'unread', ...NO_FLAG } as const;
const token = (n: number) => `0x${String(n).padStart(40, '0')}`;

const UNPUBLISHED = unread('published_model', why('model_not_published'));

type Asked = Partial<Parameters<typeof rugFlagTable>[2]> & { readonly simulated?: boolean };

function flagsIn(database: Database, { simulated = false, ...over }: Asked = {}) {
  const context = { simulated, nowMs: () => STILL_NOW * 1_000 };
  const parts = { listed: REVIEWED_TOKENS, inForce: async () => UNPUBLISHED };
  return rugFlagTable(database, context, { ...parts, ...over }).inWindow(DAY_S);
}

const HOURS_AGO = (hours: number) => storeTime(STILL_NOW - hours * 3_600);

function tokensOf(reading: Partly<FlagWindow, RugFlagsPort>): string[] {
  const flags = rowsSeen(map(reading, (window) => window.flags));
  return flags === null ? [] : flags.map((one) => one.token);
}

function gapOf(reading: Partly<FlagWindow, RugFlagsPort>): string {
  if (!(reading instanceof Part)) throw new Error('test: not a part');
  return reading.why.reason;
}

onEachEngine((name, fresh) => {
  test.each<[string, Parameters<typeof modelInForce>[2], string]>([
    [
      'has no level',
      { level: null },
      'The rug model rug-1 flags nothing: no level of its card qualifies.',
    ],
    [
      'was withdrawn',
      { withdrawn: { withdrawn_at: STILL_NOW, reason: 'They were withdrawn.' } },
      'They were withdrawn. Nothing is flagged until another model is published.',
    ],
  ])(`${name}: a window of a model that %s is not quiet`, async (_, of, reason) => {
    const database = fresh();
    await putScore(database, PASSED);
    await putRun(database);
    const reading = await flagsIn(database, { inForce: modelInForce(['ethereum'], 'rug-1', of) });
    expect(reading.checked ? null : reading.why.reason).toBe(reason);
  });

  test(`${name}: a table that no scorer has ever written is read, and names no chain`, async () => {
    const reading = await flagsIn(fresh());
    expect(reading).toBeInstanceOf(Read);
    if (reading.checked) expect(reading.value).toEqual({ chains: [], flags: [] });
  });

  test(`${name}: a window holds what was scored in it, the highest score first`, async () => {
    const database = fresh();
    await putScore(database, { token: token(1), score: 0.8 });
    await putScore(database, { token: token(2), score: 0.9 });
    await putScore(database, { token: token(3), scored_at: STILL_NOW - DAY_S - 1 });
    await putScore(database, { token: token(4), ...PASSED });
    await putScore(database, { token: token(5), ...NO_FLAG, outcome: 'suppressed' });
    await putRun(database);
    const reading = await flagsIn(database);
    expect(tokensOf(reading)).toEqual([token(2), token(1)]);
    const [source] = basis(reading).sources;
    expect(source).toMatchObject({ kind: 'observation', as_of: STILL_NOW - 60 });
    if (!reading.checked) throw new Error('test: not whole');
    expect(reading.value.chains).toEqual([
      {
        chain: 'ethereum',
        last_scored_at: STILL_NOW - 60,
        model_version: 'rug-1',
        scored: 4,
        suppressed: 1,
        unscored: 0,
        waiting: 0,
      },
    ]);
    expect(reading.value.flags[0]).toEqual({
      chain: 'ethereum',
      token: token(2),
      address: `0x${'1'.repeat(40)}`,
      launched_at: STILL_NOW - 7_200,
      liquidity_usd: 1_200,
      score: 0.9,
      first_flagged_at: STILL_NOW - 600,
      last_scored_at: STILL_NOW - 600,
      top_evidence: {
        feature: 'died_share',
        value: 0.9286,
        contribution: 1.75,
        statement: 'Of 14 earlier launches of its deployer 13 died.',
      },
      deployer_history: null,
      model_version: 'rug-1',
      is_listed_token: false,
    });
  });

  test(`${name}: an established token by review is marked, on its own chain alone`, async () => {
    const database = fresh();
    await putScore(database, { token: USDC });
    await putScore(database, { token: USDC, chain: 'base' });
    await putRun(database);
    const reading = await flagsIn(database);
    if (!reading.checked) throw new Error('test: not whole');
    const marks = reading.value.flags.map((flag) => [flag.chain, flag.is_listed_token]);
    expect(new Map(marks as [string, boolean][])).toEqual(
      new Map([
        ['base', false],
        ['ethereum', true],
      ]),
    );
  });

  test(`${name}: a chain that was last scored an hour ago makes a part, which is dated by it`, async () => {
    const database = fresh();
    await putRun(database, { chain: 'solana' });
    await putRun(database, { ended_at: STILL_NOW - 3_601 });
    const reading = await flagsIn(database);
    expect(gapOf(reading)).toBe(
      'scoring_partial: the last 24 hours were scored only in part: ethereum was last scored at ' +
        '2026-09-24T10:59:59.000Z.',
    );
    expect(basis(reading).sources).toMatchObject([{ as_of: STILL_NOW - 3_601 }]);
  });

  test(`${name}: a launch that could not be scored, and a wallet that waits, make a part`, async () => {
    const database = fresh();
    await putScore(database, { token: token(1), ...UNSCORED });
    await putScore(database, { token: token(2) });
    await putRun(database, { waiting: 2 });
    const reading = await flagsIn(database);
    expect(gapOf(reading)).toContain(
      '2 wallets of ethereum to be scored yet; 1 launch of ethereum unscored.',
    );
    expect(tokensOf(reading)).toEqual([token(2)]);
  });

  test(`${name}: flags of a first run that has not ended are shown, and make a part`, async () => {
    const database = fresh();
    await putScore(database, { token: token(2) });
    const reading = await flagsIn(database);
    expect(gapOf(reading)).toContain('the first run has not ended');
    expect(tokensOf(reading)).toEqual([token(2)]);
  });

  test(`${name}: a window whose chains were all scored by the model in force is whole`, async () => {
    const database = fresh();
    await putRun(database);
    await putRun(database, { chain: 'solana' });
    const inForce = modelInForce(['ethereum', 'solana']);
    expect(await flagsIn(database, { inForce })).toBeInstanceOf(Read);
  });

  test(`${name}: chains of an earlier model hold up nothing, and those of this one are waited for`, async () => {
    const database = fresh();
    await putRun(database);
    await putRun(database, { chain: 'solana', ended_at: STILL_NOW - DAY_S });
    const reading = await flagsIn(database, { inForce: modelInForce(['ethereum']) });
    expect(reading).toBeInstanceOf(Read);
    if (reading.checked) {
      expect(reading.value.chains.map(({ chain }) => chain)).toEqual(['ethereum']);
    }
    for (const inForce of [modelInForce(['ethereum'], 'rug-2'), modelInForce(['solana'])]) {
      expect(gapOf(await flagsIn(database, { inForce }))).toMatch(/(ethereum|solana) was/);
    }
  });

  test(`${name}: a flag that could not be scored anew is counted among what was not scored`, async () => {
    const database = fresh();
    await putScore(database, { token: token(1), scored_at: STILL_NOW - DAY_S - 1 });
    await putRun(database);
    await database.query(
      `update launch_scores set unscored_at = $1, unscored_reason = 'it was not read'`,
      [HOURS_AGO(1)],
    );
    expect(gapOf(await flagsIn(database))).toContain('1 launch of ethereum unscored');
  });

  test(`${name}: simulated flags are shown, and no simulated window is whole`, async () => {
    const database = fresh();
    await putScore(database, { token: token(2) });
    await putRun(database);
    const reading = await flagsIn(database, { simulated: true });
    expect(reading).toBeInstanceOf(Part);
    expect(tokensOf(reading)).toEqual([token(2)]);
  });

  test(`${name}: a store, or a list of established tokens, that is silent is unread`, async () => {
    const database = fresh();
    await putRun(database);
    const away = unread('established_tokens', why('store_unreadable', { what: 'It', fault: 'x' }));
    expect(await flagsIn(database, { listed: { among: async () => away } })).toBeInstanceOf(Unread);
    const unusable = unread('published_model', why('store_unreadable', { what: 'It', fault: 'x' }));
    expect(await flagsIn(database, { inForce: async () => unusable })).toBeInstanceOf(Unread);
    database.silence('it is away');
    expect(await flagsIn(database)).toBeInstanceOf(Unread);
    database.silence(null);
  });
});

// Has the log of flags every number once, whoever appends, is undone or reads meanwhile?

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const HOUR_S = 3_600;
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
const flags = (from: number, to: number) => numbers(from, to).map((n) => flagOf(n));

onEachEngine((engine, fresh) => {
  describe(`${engine}: the log of flags`, () => {
    test('says that nothing was ever told where nothing was', async () => {
      const log = flagEventsIn(fresh());
      expect(await log.bounds()).toMatchObject({ value: { newest: 0, oldest: null } });
      expect(await log.after(0)).toMatchObject({ value: { newest: 0, oldest: null, events: [] } });
    });

    test('gives back each event whole, under numbers that follow one by one', async () => {
      const database = fresh();
      const solana = flagOf(2, { chain: 'solana', score: 0.125, simulated: true });
      expect(await append(database, [flagOf(1), solana])).toBe(1);
      expect(await append(database, [retractionOf(1, flagOf(1))])).toBe(3);
      expect(await eventsAfter(database, 0)).toEqual([
        { ...flagOf(1), seq: 1 },
        { ...solana, seq: 2 },
        { ...retractionOf(1, flagOf(1)), seq: 3 },
      ]);
      expect(await eventsAfter(database, 2)).toHaveLength(1);
    });

    test('gives no number away to what is undone', async () => {
      const database = fresh();
      await append(database, flags(1, 3));
      const undone = database.transaction(async (session) => {
        await appendFlagEvents(session, [flagOf(4), flagOf(5)]);
        throw new Error('test: undone');
      });
      await expect(undone).rejects.toThrow('undone');
      expect(await append(database, [flagOf(6)])).toBe(4);
      const events = await eventsAfter(database, 0);
      expect(events.map(({ seq, address }) => [seq, address])).toEqual(
        [1, 2, 3, 6].map((n, i) => [i + 1, flagOf(n).address]),
      );
    });

    test('has no gap for anybody who reads while many append and some are undone', async () => {
      const database = fresh();
      const log = flagEventsIn(database);
      let appending = true;
      const read: number[] = [];
      const reading = (async () => {
        for (let last = false; !last; ) {
          last = !appending;
          const chunk = await log.after(read.length);
          if (chunk.checked) read.push(...chunk.value.events.map(({ seq }) => seq));
        }
      })();
      const appends = numbers(1, 40).map((n) =>
        database.transaction(async (session) => {
          await appendFlagEvents(session, [flagOf(n), flagOf(n + 100)]);
          await session.query('select pg_sleep($1::float8)', [(n % 3) / 1_000]);
          if (n % 4 === 0) throw new Error('test: undone');
        }),
      );
      await Promise.allSettled(appends);
      appending = false;
      await reading;
      expect(read).toEqual(numbers(1, 60));
    });

    test('keeps the newest events and lets the others go, and its numbers go on', async () => {
      const database = fresh();
      const log = flagEventsIn(database);
      const { eventsMax, ageMaxS } = FLAG_EVENTS_KEPT;
      for (let n = 0; n < eventsMax; n += FLAG_EVENTS_AT_ONCE_MAX) {
        await append(database, flags(n + 1, n + FLAG_EVENTS_AT_ONCE_MAX));
      }
      expect(await log.bounds()).toMatchObject({ value: { newest: eventsMax, oldest: 1 } });
      await append(database, flags(1, 7));
      expect(await log.bounds()).toMatchObject({ value: { newest: eventsMax + 7, oldest: 8 } });
      const chunk = await log.after(3);
      if (!chunk.checked) throw new Error(chunk.why.reason);
      expect(chunk.value.events.map(({ seq }) => seq)).toEqual(
        numbers(8, 7 + FLAG_EVENTS_AT_ONCE_MAX),
      );
      await database.setClock(STILL_NOW + ageMaxS - HOUR_S);
      await append(database, [flagOf(1)]);
      await database.setClock(STILL_NOW + ageMaxS + 1);
      expect((await log.prune()).checked).toBe(true);
      const last = eventsMax + 8;
      expect(await log.bounds()).toMatchObject({ value: { newest: last, oldest: last } });
      await database.setClock(STILL_NOW + 3 * ageMaxS);
      await log.prune();
      expect(await log.after(0)).toMatchObject({
        value: { newest: last, oldest: null, events: [] },
      });
      expect(await append(database, [flagOf(1)])).toBe(last + 1);
    });

    test('takes no more at once than it gives at once', async () => {
      const database = fresh();
      await expect(append(database, flags(1, FLAG_EVENTS_AT_ONCE_MAX + 1))).rejects.toThrow();
      expect(await append(database, [flagOf(1)])).toBe(1);
    });

    test('that is silent is not an empty one', async () => {
      const database = fresh();
      database.silence('it is gone');
      const log = flagEventsIn(database);
      for (const reading of [await log.bounds(), await log.after(0), await log.prune()]) {
        expect(reading).toBeInstanceOf(Unread);
      }
    });
  });
});
