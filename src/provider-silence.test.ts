// A store, a provider or a series that falls silent while calls are collected and scored moves no
// figure of the leaderboard: what was counted stays with its date, and a hole decides no call.

import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { DAY_S, formatIsoTime, HOUR_S } from './chain/time.ts';
import { NOBODY } from './contract/route.ts';
import { Read, type Reading, read, unread } from './evidence/reading.ts';
import { why } from './evidence/reasons.ts';
import { marketCall } from './features/providers/call.ts';
import { callProductionTable, providerCallTable } from './features/providers/calls.store.ts';
import { type CollectParts, collectOnce } from './features/providers/collect.job.ts';
import { providersBoardHandler } from './features/providers/providers.route.tsx';
import type { CandlesRead } from './features/providers/score.ts';
import type { CallProduction } from './ports/provider-calls.ts';
import type { TokenRisk } from './ports/token-risk.ts';
import { deployerWalkTable } from './stores/control/deployers.ts';
import { evm } from './testing/addresses.ts';
import { STILL_NOW } from './testing/clock.ts';
import { embeddedControl, leasesIn, type TestStore } from './testing/control-store.ts';
import { launchOf, walkOf } from './testing/deployer-worlds.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const CAUSE = why('store_unreadable', { what: 'The table of calls', fault: 'a planted fault' });
const SIGNAL = new AbortController().signal;
const DEPLOYER = evm('deployer').toLowerCase();
const WINDOW_S = 30 * DAY_S;
/** The market call is entered at the next hour, and left four hours later. */
const ENTRY = Math.ceil(STILL_NOW / HOUR_S) * HOUR_S;
const CANDLES: CandlesRead = {
  rows: Array.from({ length: 6 }, (_, hour) => {
    return { at: (ENTRY + hour * HOUR_S) * 1_000, open: String(100 + hour) };
  }),
  holes: [],
};
const HOLED: CandlesRead = {
  rows: CANDLES.rows.filter((_, hour) => hour !== 0 && hour !== 1),
  holes: [{ from: ENTRY * 1_000, to: (ENTRY + 2 * HOUR_S) * 1_000 }],
};

const GOPLUS: TokenRisk = {
  provider: 'goplus',
  chain: 'ethereum',
  fieldsOf: async () => {
    const source = { name: 'GoPlus', url: 'https://a.example', as_of: STILL_NOW } as const;
    const dated = { ...source, kind: 'observation', simulated: false } as const;
    return read({ is_honeypot: '1' }, { port: 'token_risk', source: dated });
  },
};

const freshStore = embeddedControl();

const told = z.looseObject({
  generated_at_iso: z.string(),
  total_scores: z.int(),
  windows: z.object({
    all: z.looseObject({ rows: z.array(z.looseObject({ provider: z.string() })) }),
  }),
});

/** A record with a call of each kind: one on a launch that lives, one on a price that rises. */
function recordOver(database: TestStore, candles: () => CandlesRead | null) {
  let now = STILL_NOW;
  const context = { simulated: false, nowMs: () => now * 1_000 };
  const calls = callProductionTable(database, context);
  const table = providerCallTable(database, context);
  const parts = (silent: keyof CallProduction | null): CollectParts => ({
    calls:
      silent === null ? calls : { ...calls, [silent]: async () => unread('provider_calls', CAUSE) },
    leases: leasesIn(database, 'a process'),
    risks: [GOPLUS],
    candlesOf: async () => candles(),
    now: () => now,
  });
  const at = async (next: number) => {
    now = next;
    await database.setClock(next);
  };
  const walks = deployerWalkTable(database, context);
  const seeLaunch = (captured_at: number) =>
    value(
      walks.commit(
        walkOf(DEPLOYER, {
          captured_at,
          launches: [
            launchOf('young', 'live', { address: evm('young'), created_at: STILL_NOW - HOUR_S }),
          ],
        }),
      ),
    );
  return {
    at,
    seeLaunch,
    round: (silent: keyof CallProduction | null = null) => collectOnce(parts(silent), SIGNAL),
    begin: async () => {
      await at(STILL_NOW);
      await collectOnce(parts(null), SIGNAL);
      const said = { provider: 'letter', says: true, probability: '0.7', reference: 'a' } as const;
      const at_once = { called_at: STILL_NOW, received_at: STILL_NOW };
      await value(calls.add([marketCall('BTC', 4, { ...said, rests_on: {}, ...at_once })]));
      await seeLaunch(STILL_NOW + 30);
      await at(STILL_NOW + 60);
      await collectOnce(parts(null), SIGNAL);
    },
    /** What the route says, but for the seconds that nobody asked in. */
    board: async () => {
      const request = { now: () => now, signal: SIGNAL };
      const input = { params: {}, query: { window: 'all' as const }, body: undefined };
      const handler = providersBoardHandler({
        providerCalls: table,
        service: { simulated: false },
      });
      const { status, body } = await handler(input, request, NOBODY);
      expect(status).toBe(200);
      return told.parse(JSON.parse(JSON.stringify(body, shown)));
    },
  };
}

function shown(_name: string, one: unknown): unknown {
  return one !== null && typeof one === 'object' && 'shown' in one ? one.shown : one;
}

async function value<T>(reading: Promise<Reading<T, never>>): Promise<T> {
  const found = await reading;
  if (!(found instanceof Read)) throw new Error(`test: unread: ${found.why.reason}`);
  return found.value;
}

const rowOf = (board: z.output<typeof told>, provider: string) =>
  board.windows.all.rows.find((row) => row.provider === provider);

const UNMEASURED = { scored: 0, hit_rate: null, brier: null, base_rate: null } as const;

/** Each thing that a round asks of its store. */
const ASKED = [
  ...['publishRules', 'noteLaunches', 'dueAsks', 'noteRound', 'ownStatements', 'add'],
  ...['noteSightings', 'undecided', 'sightingsOf', 'decide', 'counted', 'gaps', 'asks'],
  'keepBoard',
] as (keyof CallProduction)[];

test.each(ASKED)(
  'a round whose %s was not read moves no figure, and the next one does',
  async (silent) => {
    const record = recordOver(freshStore(), () => CANDLES);
    await record.begin();
    const before = await record.board();
    expect(before).toMatchObject({
      generated_at_iso: formatIsoTime(STILL_NOW + 60),
      total_scores: 0,
      windows: { all: { rows: [{ pending: 1 }, { pending: 1 }] } },
    });
    const later = STILL_NOW + WINDOW_S;
    await record.at(later);
    await record.seeLaunch(later - 30);
    expect(await record.round(silent)).toMatchObject({ reason: CAUSE.reason });
    // The board of before, with its own date: nobody has called for a month.
    const { generated_at_iso, total_scores, windows } = before;
    const stands = { data_mode: 'empty', generated_at_iso, total_scores, windows };
    expect(await record.board()).toMatchObject(stands);
    await record.at(later + 60);
    expect(await record.round()).toMatchObject({ scored: expect.any(Number) });
    const after = await record.board();
    expect(after.generated_at_iso).toBe(formatIsoTime(later + 60));
    expect(rowOf(after, 'letter')).toMatchObject({ scored: 1, hits: 1, pending: 0 });
    expect(rowOf(after, 'goplus')).toMatchObject({ scored: 1, hits: 0, pending: 0 });
  },
);

test.each([
  ['nobody read', null],
  ['have a hole', HOLED],
] as const)(
  'candles that %s score no call, which waits for a week and has no outcome then',
  async (_, candles) => {
    const record = recordOver(freshStore(), () => candles);
    await record.begin();
    await record.at(ENTRY + DAY_S);
    await record.round();
    expect(rowOf(await record.board(), 'letter')).toMatchObject({
      ...UNMEASURED,
      pending: 1,
      unscorable: 0,
    });
    await record.at(ENTRY + 9 * DAY_S);
    await record.round();
    expect(rowOf(await record.board(), 'letter')).toMatchObject({
      ...UNMEASURED,
      pending: 0,
      unscorable: 1,
    });
  },
);
