// The leaderboard says what was counted, with the number of each rate, and when it was counted; a
// board that could not be read is no empty one.

import { describe, expect, test } from 'vitest';
import { DAY_S, formatIsoTime } from '../../chain/time.ts';
import { NOBODY } from '../../contract/route.ts';
import { map } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { KeptCall } from '../../ports/provider-calls.ts';
import { evm } from '../../testing/addresses.ts';
import { PLANTED } from '../../testing/twins/dated.ts';
import { memoryProviderCalls, silentProviderCalls } from '../../testing/twins/provider-calls.ts';
import { launchCall } from './call.ts';
import {
  type ProvidersPorts,
  providersBoardHandler,
  providersPageHandler,
} from './providers.route.tsx';

const CAUSE = why('store_unreadable', { what: 'The table of calls', fault: 'a planted fault' });
const NOW = PLANTED.as_of;
const SAID_AT = NOW - 40 * DAY_S;

function callSaying(says: boolean, happened: boolean, n: number, received_at = SAID_AT): KeptCall {
  const { call_id, hash, statement } = launchCall(
    { chain: 'ethereum', token: evm(`token ${n}`), launched_at: received_at - 60 },
    {
      provider: 'goplus',
      says,
      probability: null,
      reference: null,
      rests_on: { is_honeypot: says ? '1' : '0' },
      called_at: received_at,
      received_at,
    },
    [],
  );
  const outcome = { state: 'scored', happened, rests_on: {}, scored_at: NOW } as const;
  return { ...statement, call_id, hash, leaf: n, outcome };
}

const RIGHT = callSaying(true, true, 1);
const MISS = callSaying(false, true, 2);

function portsOf(
  calls: readonly KeptCall[],
  over: { readonly isCounted?: boolean; readonly simulated?: boolean } = {},
): ProvidersPorts {
  const { isCounted = true, simulated = false } = over;
  return { ...memoryProviderCalls({ calls, isCounted }), service: { simulated } };
}

async function said(ports: ProvidersPorts, window?: '30d' | '90d' | 'all', now = NOW) {
  const request = { now: () => now, signal: new AbortController().signal };
  const input = { params: {}, query: window === undefined ? {} : { window }, body: undefined };
  const { status, body } = await providersBoardHandler(ports)(input, request, NOBODY);
  return { status, body };
}

const READ_FIRST = {
  data_mode: 'The newest call was received within three days.',
  meaning:
    'A row tells how often the statements of one provider came true, by a rule that was published ' +
    'before the first of them. It measures statements, and tokens and markets only through them.',
  null_means: 'unmeasured, never zero',
  every_rate_has_a_denominator:
    'hit_rate and base_rate are of `scored`, brier is of `brier_n`, and every other rate stands ' +
    'beside the number that it is of. Check `scored` before quoting a hit_rate.',
  methodology:
    'A call is scored when its whole window has passed, whichever way it went. Rows count calls ' +
    'that were received before anything of their window could be seen; all others stand under ' +
    'retrospective and are left out of these rates. Rows are ordered by the lower end of the ' +
    'interval, and each version of a rule has rows of its own. exhibit providers rules prints the ' +
    'rules.',
};
const NOTHING = { from: null, rows: [], retrospective: [] };
/** The body about one call that came true, but for its mode. */
const ONE_CALL = {
  generated_at_iso: formatIsoTime(NOW),
  total_scores: 1,
  windows: {
    all: {
      from: null,
      rows: [
        {
          provider: 'goplus',
          kind: 'token_risk',
          rule_version: 'token-risk-1',
          calls: 1,
          pending: 0,
          scored: 1,
          unscorable: 0,
          hits: 1,
          hit_rate: 1,
          interval: { low: 0.20654931437723742, high: 1 },
          brier: null,
          brier_n: 0,
          base_rate: 1,
          sensitivity: { rate: 1, of: 1 },
          specificity: { rate: null, of: 0 },
          coverage: null,
          bins: [],
          baselines: { always_yes: 1, always_no: 0, base_rate_brier: 0 },
          missed_s: null,
        },
      ],
      retrospective: [],
    },
  },
  window_requested: 'all',
  served: { window: 'all', rows: 1 },
};

/** The fields that the contract names, with their types, of every mode. */
const CONTRACT = {
  data_mode: expect.stringMatching(/^(measured|simulated|empty)$/),
  generated_at_iso: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  total_scores: expect.any(Number),
  windows: expect.any(Object),
  window_requested: 'all',
  served: expect.any(Object),
  read_this_first: {
    data_mode: expect.any(String),
    meaning: expect.any(String),
    null_means: 'unmeasured, never zero',
    every_rate_has_a_denominator: expect.any(String),
    methodology: expect.any(String),
  },
};

describe('says', () => {
  test('that nothing was received, as a measurement: the normal state before a first run', async () => {
    const since = (days: number) => ({ ...NOTHING, from: formatIsoTime(NOW - days * DAY_S) });
    expect(await said(portsOf([]))).toEqual({
      status: 200,
      body: {
        data_mode: 'measured',
        generated_at_iso: formatIsoTime(NOW),
        total_scores: 0,
        windows: { '30d': since(30), '90d': since(90), all: NOTHING },
        window_requested: null,
        served: { window: null, rows: 0 },
        read_this_first: {
          ...READ_FIRST,
          data_mode: 'No call was ever received here. A board without a row is measured.',
        },
      },
    });
  });

  test('the same of now where no round was needed yet, since no call was ever received', async () => {
    const counted = await said(portsOf([]));
    expect(await said(portsOf([], { isCounted: false }))).toEqual(counted);
  });

  test('what was called and what came, of the one window that is asked for', async () => {
    const { body } = await said(portsOf([RIGHT, MISS]), 'all', SAID_AT);
    expect(body).toEqual({
      data_mode: 'measured',
      generated_at_iso: formatIsoTime(NOW),
      total_scores: 2,
      windows: {
        all: {
          from: null,
          rows: [
            {
              provider: 'goplus',
              kind: 'token_risk',
              rule_version: 'token-risk-1',
              calls: 2,
              pending: 0,
              scored: 2,
              unscorable: 0,
              hits: 1,
              hit_rate: 0.5,
              interval: { low: 0.09453120573423071, high: 0.9054687942657693 },
              brier: null,
              brier_n: 0,
              base_rate: 1,
              sensitivity: { rate: 0.5, of: 2 },
              specificity: { rate: null, of: 0 },
              coverage: null,
              bins: [],
              baselines: { always_yes: 2, always_no: 0, base_rate_brier: 0 },
              missed_s: null,
            },
          ],
          retrospective: [],
        },
      },
      window_requested: 'all',
      served: { window: 'all', rows: 1 },
      read_this_first: READ_FIRST,
    });
  });

  test('that its providers are made up where they are', async () => {
    const ports = portsOf([callSaying(true, true, 3, NOW)], { simulated: true });
    expect(await said(ports, 'all')).toEqual({
      status: 200,
      body: {
        ...ONE_CALL,
        data_mode: 'simulated',
        read_this_first: {
          ...READ_FIRST,
          data_mode: 'Simulated: the providers, their calls and what became of them are made up.',
          meaning: `Simulated: this answer rests on made-up data. ${READ_FIRST.meaning}`,
        },
      },
    });
  });

  test('that it is empty where calls came before and none for three days', async () => {
    const ports = portsOf([callSaying(true, true, 3, NOW)]);
    expect((await said(ports, 'all', NOW + 3 * DAY_S)).body).toMatchObject({
      data_mode: 'measured',
    });
    expect(await said(ports, 'all', NOW + 3 * DAY_S + 1)).toEqual({
      status: 200,
      body: {
        ...ONE_CALL,
        data_mode: 'empty',
        read_this_first: {
          ...READ_FIRST,
          data_mode:
            'Calls were received here before and none within three days: whoever collects them ' +
            'may have stopped. That says nothing about any provider.',
        },
      },
    });
  });
});

test('a person is told of no score that nobody measured, and of none that had no probability', async () => {
  const facts = { simulated: false, version: '0.0.0', links: [], explorers: new Map() };
  const request = { now: () => NOW, signal: new AbortController().signal };
  const input = { params: {}, query: { window: 'all' as const }, body: undefined };
  const brierOf = async (call: KeptCall) => {
    const { body } = await providersPageHandler(portsOf([call]), facts)(input, request, NOBODY);
    return /data-head="Brier"[^>]*>([^<]*)</.exec(String(body))?.[1];
  };
  const waits = { ...RIGHT, probability: '0.8', outcome: { state: 'pending' } } as const;
  expect(await brierOf(waits)).toBe('not measured');
  expect(await brierOf(RIGHT)).toBe('without a probability');
  expect(await brierOf({ ...RIGHT, probability: '0.8' })).toBe('0.040 of 1');
});

describe('has the fields of the contract and no other', () => {
  const ports = portsOf([callSaying(true, true, 3, NOW)]);
  test.each([
    ['measured', ports, NOW],
    ['measured', portsOf([]), NOW],
    ['empty', ports, NOW + 4 * DAY_S],
    ['empty', { ...ports, service: { simulated: true } }, NOW + 4 * DAY_S],
    ['simulated', { ...ports, service: { simulated: true } }, NOW],
  ] as const)('where it is %s', async (data_mode, of, now) => {
    const { status, body } = await said(of, 'all', now);
    expect([status, body]).toEqual([200, { ...CONTRACT, data_mode }]);
  });
});

describe('is silent', () => {
  test('where the calls cannot be read', async () => {
    const ports = { ...silentProviderCalls(CAUSE), service: { simulated: false } };
    expect(await said(ports)).toEqual({
      status: 503,
      body: { error: 'board_unreadable', detail: CAUSE.reason },
    });
  });
  test('where no round has counted them', async () => {
    expect(await said(portsOf([RIGHT], { isCounted: false }))).toEqual({
      status: 503,
      body: {
        error: 'board_unreadable',
        detail: 'The board of providers could not be read: no round has counted the calls yet.',
      },
    });
  });
  test('where another version counted them', async () => {
    const { providerCalls } = memoryProviderCalls({ calls: [], isCounted: true });
    const board: ProvidersPorts['providerCalls']['board'] = async () =>
      map(await providerCalls.board(), () => ({
        kept: { made_at: NOW, text: '{"made_at": 1}' },
        any_call: true,
      }));
    const ports = { providerCalls: { ...providerCalls, board }, service: { simulated: false } };
    expect(await said(ports)).toMatchObject({
      status: 503,
      body: { detail: expect.stringContaining('another version made it') },
    });
  });
});
