// Outcomes are told when a whole window has passed, whichever way they went, by the observations of
// that time alone.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_S, HOUR_S } from '../../chain/time.ts';
import type { CountedCall, LaunchSighting } from '../../ports/provider-calls.ts';
import { countBoard } from './board.ts';
import { hashRules, launchCall, marketCall } from './call.ts';
import {
  launchOutcome,
  launchWindowEnd,
  marketOutcome,
  marketWindow,
  OUTCOME_RULES,
  readRisk,
} from './rules.ts';

const LAUNCHED = 1_790_000_000;
const END = launchWindowEnd('ethereum', LAUNCHED);
const TOKEN = { chain: 'ethereum', token: '0x00000000000000000000000000000000000000aa' } as const;

const SAID = {
  provider: 'goplus',
  says: true,
  probability: null,
  reference: null,
  rests_on: { is_honeypot: '1' },
};
const callAt = (at: number, sightings: readonly LaunchSighting[] = [], received_at = at) =>
  launchCall(
    { ...TOKEN, launched_at: LAUNCHED },
    { ...SAID, called_at: at, received_at },
    sightings,
  ).statement;
const seen = (outcome: LaunchSighting['outcome'], captured_at: number): LaunchSighting => ({
  ...TOKEN,
  outcome,
  captured_at,
});
const CALL = callAt(LAUNCHED + HOUR_S);

describe('what an answer says of a launch', () => {
  test.each([
    [{ is_honeypot: '1' }, true],
    [{ cannot_sell_all: '1' }, true],
    [{ is_honeypot: '0', is_airdrop_scam: '1' }, true],
    [{ is_honeypot: '0', is_true_token: '0' }, true],
    [{ is_honeypot: '0' }, false],
    [{ is_honeypot: '0', is_true_token: '1' }, false],
    [{ sell_tax: '0', is_in_dex: '1' }, null],
    [{}, null],
  ])('GoPlus with %j: %s', (fields, says) => expect(readRisk('goplus', fields)).toBe(says));

  test.each([
    [{ rugged: 'true', danger: '0' }, true],
    [{ rugged: 'false', danger: '2' }, true],
    [{ rugged: 'false', danger: '0' }, false],
    [{ score_normalised: '90' }, null],
    [{}, null],
  ])('RugCheck with %j: %s', (fields, says) => expect(readRisk('rugcheck', fields)).toBe(says));
});

describe('a launch', () => {
  test('is not decided before its window is over, dead or alive', () => {
    for (const outcome of ['died', 'live'] as const) {
      const sightings = [seen(outcome, LAUNCHED + HOUR_S)];
      expect(launchOutcome(CALL, sightings, END - 1)).toEqual({ state: 'pending' });
    }
  });

  test.each([
    ['died', true],
    ['live', false],
  ] as const)('%s at the first observation after its window: %s', (outcome, happened) => {
    const sightings = [
      seen(outcome === 'died' ? 'live' : 'died', LAUNCHED + DAY_S),
      seen('unchecked', END + 10),
      seen(outcome, END + HOUR_S),
      seen(outcome === 'died' ? 'live' : 'died', END + DAY_S),
    ];
    expect(launchOutcome(CALL, sightings, END + 2 * DAY_S)).toEqual({
      state: 'scored',
      happened,
      rests_on: { outcome, captured_at: String(END + HOUR_S) },
      scored_at: END + 2 * DAY_S,
    });
  });

  test('waits for an observation for a week, and has no outcome after it', () => {
    const sightings = [seen('died', LAUNCHED + DAY_S), seen('unchecked', END + DAY_S)];
    expect(launchOutcome(CALL, sightings, END + 7 * DAY_S)).toEqual({ state: 'pending' });
    expect(launchOutcome(CALL, sightings, END + 7 * DAY_S + 1)).toEqual({
      state: 'unscorable',
      cause: 'not_observed',
      scored_at: END + 7 * DAY_S + 1,
    });
    const late = [...sightings, seen('live', END + 8 * DAY_S)];
    expect(launchOutcome(CALL, late, END + 9 * DAY_S)).toMatchObject({ cause: 'not_observed' });
  });

  test('that no venue ever listed has no outcome', () => {
    expect(launchOutcome(CALL, [seen('never_listed', END)], END)).toEqual({
      state: 'unscorable',
      cause: 'never_listed',
      scored_at: END,
    });
  });

  // Deaths show early and survivals late: counted as they come they would flatter who cries wolf.
  test('has the outcome that its whole record gives, whenever it is looked at', () => {
    const sightings = fc.array(
      fc.record({
        outcome: fc.constantFrom('live' as const, 'died' as const, 'unchecked' as const),
        at: fc.integer({ min: 0, max: 40 * DAY_S }),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(sightings, fc.integer({ min: 0, max: 45 * DAY_S }), (drawn, lookedAfter) => {
        const all = drawn.map(({ outcome, at }) => seen(outcome, LAUNCHED + at));
        const atTheEnd = launchOutcome(CALL, all, LAUNCHED + 60 * DAY_S);
        const now = LAUNCHED + lookedAfter;
        const known = all.filter(({ captured_at }) => captured_at <= now);
        const { state, ...told } = launchOutcome(CALL, known, now);
        if (state === 'pending') return;
        expect({ state, ...told, scored_at: 0 }).toEqual({ ...atTheEnd, scored_at: 0 });
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a call on a launch is prospective', () => {
  test('where it came before the end of the window and any death', () => {
    expect(CALL.prospective).toBe(true);
    expect(callAt(LAUNCHED + DAY_S, [seen('live', LAUNCHED + HOUR_S)]).prospective).toBe(true);
    expect(callAt(LAUNCHED + DAY_S, [seen('died', LAUNCHED + 2 * DAY_S)]).prospective).toBe(true);
  });
  test('and not after a death was seen, after the window, late, or from the future', () => {
    expect(callAt(LAUNCHED + DAY_S, [seen('died', LAUNCHED + HOUR_S)]).prospective).toBe(false);
    expect(callAt(END).prospective).toBe(false);
    expect(callAt(LAUNCHED, [], LAUNCHED + 301).prospective).toBe(false);
    expect(callAt(LAUNCHED, [], LAUNCHED + 300).prospective).toBe(true);
    expect(callAt(LAUNCHED + 10, [], LAUNCHED).prospective).toBe(false);
  });
});

describe('a call on a market', () => {
  const AT = 1_790_000_000 - (1_790_000_000 % HOUR_S) + 600;
  const { entry, exit, until } = marketWindow(AT, 24);
  const said = { ...SAID, probability: null, called_at: AT, received_at: AT };
  const call = marketCall('BTC', 24, said).statement;
  const at = (seconds: number, open: string) => ({ at: seconds * 1_000, open });

  test('is entered at the next hour, and left at the first after its horizon', () => {
    expect(entry).toBe(AT + 3_000);
    expect(exit).toBe(AT + 24 * HOUR_S + 3_000);
    const candles = [at(entry, '100'), at(entry + HOUR_S, '90'), at(exit, '100.5')];
    expect(marketOutcome(call, AT, candles, until)).toEqual({
      state: 'scored',
      happened: true,
      rests_on: {
        entry: '100',
        entry_at: String(entry * 1_000),
        exit: '100.5',
        exit_at: String(exit * 1_000),
      },
      scored_at: until,
    });
  });
  test('is not higher where the price is the same', () => {
    const candles = [at(entry, '100.0'), at(exit, '100')];
    expect(marketOutcome(call, AT, candles, until)).toMatchObject({ happened: false });
  });
  test('waits for its end, and for a series that is whole, a week', () => {
    const candles = [at(entry, '1'), at(exit, '2')];
    expect(marketOutcome(call, AT, candles, until - 1)).toEqual({ state: 'pending' });
    expect(marketOutcome(call, AT, null, until + 7 * DAY_S - 1)).toEqual({ state: 'pending' });
    expect(marketOutcome(call, AT, null, until + 7 * DAY_S)).toMatchObject({ cause: 'unpriced' });
  });
  test('has no outcome without a candle within two hours', () => {
    const candles = [at(entry + 3 * HOUR_S, '1'), at(exit, '2')];
    expect(marketOutcome(call, AT, candles, until)).toMatchObject({ cause: 'unpriced' });
  });
  test('is prospective where it came before its entry, within five minutes', () => {
    expect(call.prospective).toBe(true);
    const early = { ...said, called_at: entry - 100 };
    expect(marketCall('BTC', 24, { ...early, received_at: entry }).statement.prospective).toBe(
      true,
    );
    expect(marketCall('BTC', 24, { ...early, received_at: entry + 1 }).statement.prospective).toBe(
      false,
    );
    expect(marketCall('BTC', 24, { ...said, received_at: AT + 301 }).statement.prospective).toBe(
      false,
    );
  });
});

test('every rule has a version of its own', () => {
  const versions = OUTCOME_RULES.map(({ version }) => version);
  expect(new Set(versions).size).toBe(versions.length);
});

test('a rule that was published keeps its words: another text is another version', () => {
  expect(hashRules().map(({ version, hash }) => [version, hash])).toEqual([
    ['token-risk-1', '0x2de0931a82eccb2a1701f370d9e4f3a090b47d29c982d8ddc660b80f0f36eb8a'],
    ['market-call-1', '0x76afc3067f9e2584dac96b6bc6d540b4a4f18788ecdf401e760abbf3bac16a2b'],
  ]);
});

// Deaths show within hours and survivals after weeks; who always cries wolf must not live on that.
test('a provider has one rate at every moment of a growing record, and the same at its end', () => {
  const days = fc.record({
    each_day: fc.integer({ min: 1, max: 6 }),
    of_them_die: fc.integer({ min: 0, max: 6 }),
    dies_after_h: fc.integer({ min: 1, max: 24 * 20 }),
    cries: fc.constantFrom('always', 'never', 'of each other launch'),
  });
  fc.assert(
    fc.property(days, ({ each_day, of_them_die, dies_after_h, cries }) => {
      const record = Array.from({ length: 60 * each_day }, (_, n) => {
        const launched_at = LAUNCHED + Math.floor(n / each_day) * DAY_S;
        const token = `0x${n.toString(16).padStart(40, '0')}`;
        const says = cries === 'always' || (cries !== 'never' && n % 2 === 0);
        const said = { ...SAID, says, called_at: launched_at, received_at: launched_at };
        const { statement } = launchCall({ chain: 'ethereum', token, launched_at }, said, []);
        const died_at = n % each_day < of_them_die ? launched_at + dies_after_h * HOUR_S : null;
        // A record of each launch is captured every six hours.
        const sightings = (from: number, to: number) => {
          const looks = Array.from(
            { length: (to - from) / (6 * HOUR_S) },
            (_, at) => from + at * 6 * HOUR_S,
          );
          return looks.map((at): LaunchSighting => {
            const outcome = died_at !== null && at >= died_at ? 'died' : 'live';
            return { chain: 'ethereum', token, outcome, captured_at: at };
          });
        };
        return { statement, launched_at, sightings };
      });
      const boardAt = (now: number) => {
        const calls = record
          .filter(({ launched_at }) => launched_at <= now)
          .map(({ statement, launched_at, sightings }, leaf): CountedCall => {
            // Those around the end of its window decide it, and all of its first days are known.
            const known = [
              ...sightings(launched_at, launched_at + 2 * DAY_S),
              ...sightings(statement.window_end - DAY_S, statement.window_end + DAY_S),
            ].filter(({ captured_at }) => captured_at <= now);
            const told = launchOutcome(statement, known, now);
            const { provider, says, prospective, received_at, rule_version } = statement;
            return {
              provider,
              kind: 'token_risk',
              says,
              prospective,
              received_at,
              rule_version,
              leaf,
              subject: `ethereum ${leaf}`,
              probability: null,
              happened: told.state === 'scored' ? told.happened : null,
              state: told.state,
            };
          });
        return countBoard({ calls, gaps: [], asked: new Map(), made_at: now }).windows.all.rows[0];
      };
      const end = boardAt(LAUNCHED + 100 * DAY_S);
      expect(end).toMatchObject({ scored: record.length, pending: 0 });
      for (const day of [3, 15, 29, 31, 33, 45, 61, 79, 95]) {
        const row = boardAt(LAUNCHED + day * DAY_S);
        // An even number of days, so that each other launch is half of any of them.
        const isScored = Number(row?.scored) > 0 && (Number(row?.scored) / each_day) % 2 === 0;
        if (day < 30) expect(row).toMatchObject({ scored: 0, hit_rate: null });
        else if (isScored) expect(row?.hit_rate).toBe(end?.hit_rate);
      }
    }),
    { numRuns: 60 },
  );
});
