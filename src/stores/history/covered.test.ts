import { describe, expect, test } from 'vitest';
import { Part, Read, Unread, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { CoverageRange, RawHistory } from '../../ports/history.ts';
import {
  coveredHistoryKeeps,
  SUITE_NOW,
  SUITE_TIP_MAX_AGE_S,
  type SuiteHistory,
  transferHistoryKeeps,
} from '../../ports/transfer-history.suite.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW } from '../../testing/clock.ts';
import { fullCoverage, memoryTransferHistory, silentHistory } from '../../testing/twins/history.ts';
import { coveredHistory, gapsIn, gapsText, spanText } from './covered.ts';

const TIP = { now: () => SUITE_NOW, tipMaxAgeS: SUITE_TIP_MAX_AGE_S };
const LIMITS = {
  rowsMax: 100,
  degreeMax: 50,
  batchRowsMax: 1_000,
  transfersPerCounterpartyMax: 10,
  signal: new AbortController().signal,
};

function rawOf(world: SuiteHistory): RawHistory {
  const chains = [...new Set([...world.chains, ...world.transfers.map(({ chain }) => chain)])];
  return memoryTransferHistory({
    ...world,
    chains,
    provenance: 'warehouse',
    as_of: SUITE_NOW - 60,
  });
}

async function covered(world: SuiteHistory) {
  return { history: coveredHistory(rawOf(world), TIP), close: async () => undefined };
}

transferHistoryKeeps('covered memory', covered);
coveredHistoryKeeps('covered memory', covered);

describe('is silent', () => {
  const address = evm('somebody');
  const ask = async (raw: RawHistory) =>
    (await coveredHistory(raw, TIP).neighbourhoods([address], LIMITS)).get(address);

  test('where the chains that are read are not known, nothing is whole', async () => {
    const coverage = fullCoverage('ethereum', SUITE_NOW - 60);
    const raw = rawOf({ chains: ['ethereum'], transfers: [], coverage, simulated: false });
    expect(await ask(raw)).toBeInstanceOf(Read);
    const fault = why('store_unreadable', { what: 'It', fault: 'down' });
    const reading = await ask({ ...raw, chainsRead: async () => unread('raw_history', fault) });
    expect(reading instanceof Part && reading.why).toEqual(fault);
  });

  test('where there is no history it says so of the chains and of each address', async () => {
    const chains = await coveredHistory(silentHistory(), TIP).chainsRead();
    const reading = await ask(silentHistory());
    for (const one of [chains, reading]) {
      expect(one instanceof Unread && one.why.code).toBe('no_history');
      expect(one instanceof Unread && [...one.ports]).toEqual(['transfer_history']);
    }
  });
});

const HOUR_S = 3_600;
const needs = { chains: ['ethereum'] as const, now: STILL_NOW, tipMaxAgeS: HOUR_S };
const WHOLE: readonly CoverageRange[] = fullCoverage('ethereum', STILL_NOW - 60);

function tokenGap(...ranges: Partial<CoverageRange>[]): string | null {
  const others = WHOLE.filter(({ kind }) => kind !== 'token');
  const [token] = WHOLE.filter(({ kind }) => kind === 'token');
  if (token === undefined) throw new Error('test: no token range');
  const gaps = gapsIn([...others, ...ranges.map((over) => ({ ...token, ...over }))], needs);
  const [gap] = gaps;
  return gap === undefined ? null : gap.held;
}

describe('a chain counts as read', () => {
  test('with native, token and internal transfers from the first block to a fresh tip', () => {
    expect(gapsIn(WHOLE, needs)).toEqual([]);
  });

  test('only with all three kinds', () => {
    for (const missing of ['native', 'token', 'internal'] as const) {
      const rest = WHOLE.filter(({ kind }) => kind !== missing);
      expect(gapsIn(rest, needs)).toEqual([
        { chain: 'ethereum', kind: missing, held: 'none held' },
      ]);
    }
  });

  test('only where it is itself held: another chain in full is no help', () => {
    expect(gapsIn(WHOLE, { ...needs, chains: ['base'] })).toHaveLength(3);
  });

  test('from its first block or the first activity: blocks N to N+1000 never count', () => {
    const slice = { from_block: 19_000_000, to_block: 19_001_000, from_first: false };
    expect(tokenGap(slice)).toBe('held from block 19000000, not from the first');
    expect(tokenGap({ ...slice, from_first: true })).toBeNull();
  });

  test('to a tip younger than the limit: at the limit it is too old', () => {
    expect(tokenGap({ to_time: STILL_NOW - HOUR_S + 1 })).toBeNull();
    expect(tokenGap({ to_block: 7, to_time: STILL_NOW - HOUR_S })).toBe(
      'held to block 7 of 2026-09-24T11:00:00.000Z, over 1 hour ago',
    );
  });

  test('in several ranges that adjoin or overlap, in any order, and not across a hole', () => {
    const early = { to_block: 99, to_time: STILL_NOW - 10 * HOUR_S };
    const late = { from_block: 100, from_first: false };
    expect(tokenGap(late, early)).toBeNull();
    expect(tokenGap(early, { ...late, from_block: 50 })).toBeNull();
    expect(tokenGap(early, { ...late, from_block: 101 })).toBe('held to block 99, then a hole');
    expect(tokenGap(early, late, { from_block: 10, to_block: 20, from_first: false })).toBeNull();
  });

  test('gaps are told in words, and those not named are counted', () => {
    const many = gapsIn([], { ...needs, chains: ['ethereum', 'base'] });
    expect(gapsText('0xabc', many)).toBe(
      'ethereum native none held, ethereum token none held, ethereum internal none held, ' +
        'base native none held and 2 more, for 0xabc',
    );
    // Bitcoin has no tokens and no internal transfers to miss.
    const coins = gapsIn([], { ...needs, chains: ['bitcoin'] });
    expect(gapsText('bc1q', coins)).toBe('bitcoin payments none held, for bc1q');
    expect([3_600, 7_200, 90, 60, 1].map(spanText)).toEqual([
      '1 hour',
      '2 hours',
      '90 seconds',
      '1 minute',
      '1 second',
    ]);
  });
});
