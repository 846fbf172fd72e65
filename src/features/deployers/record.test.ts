import { describe, expect, test } from 'vitest';
import { isNoneFound } from '../../evidence/reason-kinds.ts';
import type { ListedPool } from '../../ports/deployers.ts';
import { launchOf, walkOf } from '../../testing/deployer-worlds.ts';
import { countsOf, measureOutcome, recordFields, whyNoRecord } from './record.ts';

const ADDRESS = '0x00000000000000000000000000000000000000aa';
const LEVEL = 1_000;

function pool(liquidity_usd: number | null, side: ListedPool['side'] = 'base'): ListedPool {
  return { address: null, created_at: null, side, liquidity_usd, volume_usd_24h: 1 };
}

function outcome(pools: readonly ListedPool[] | null, count: number | null = 5) {
  const transfers = count === null ? null : { count, truncated: false };
  return measureOutcome({ pools, transfers, listedAs: null }, LEVEL);
}

describe('the outcome of a launch', () => {
  test('is unchecked where the venue did not answer, whatever else is known', () => {
    const unchecked = { outcome: 'unchecked', liquidity_usd: null, volume_usd_24h: null };
    for (const count of [null, 0, 5]) expect(outcome(null, count)).toEqual(unchecked);
  });

  test('is never_listed where the venue lists no pair, with nothing measured', () => {
    const unlisted = { outcome: 'never_listed', liquidity_usd: null, volume_usd_24h: null };
    expect(outcome([])).toEqual(unlisted);
    expect(outcome([], null)).toEqual(unlisted);
  });

  test('is never never_listed again once a venue listed it, and no death that was not seen', () => {
    const dropped = (listedAs: 'live' | 'died' | 'unchecked') =>
      measureOutcome({ pools: [], transfers: null, listedAs }, LEVEL).outcome;
    expect([dropped('died'), dropped('live'), dropped('unchecked')]).toEqual([
      ...['died', 'unchecked', 'unchecked'],
    ]);
  });

  test('is never_listed, and no death, where nobody ever moved it', () => {
    expect(outcome([pool(3)], 0).outcome).toBe('never_listed');
    expect(outcome([pool(3)], null).outcome).toBe('died');
  });

  test.each([
    ['below the level', [pool(999.99)], 'died', 999.99],
    ['at the level', [pool(1_000)], 'live', 1_000],
    ['below it by less than a cent', [pool(999.996)], 'died', 1_000],
    ['in several pools that reach it together', [pool(600.1), pool(400.2)], 'live', 1_000.3],
    ['in several pools that do not', [pool(600), pool(0)], 'died', 600],
    ['beside a pool that does not tell', [pool(600), pool(null)], 'unchecked', 600],
    ['enough, beside a pool that does not tell', [pool(1_600), pool(null)], 'live', 1_600],
    ['nowhere told', [pool(null)], 'unchecked', null],
    ['as the quote side alone, with enough in it', [pool(5_000, 'quote')], 'unchecked', null],
    ['as the quote side alone, with too little', [pool(5, 'quote')], 'died', null],
    [
      'little, beside a large pool as the quote side',
      [pool(5), pool(5_000, 'quote')],
      'unchecked',
      5,
    ],
  ] as const)('with liquidity %s', (_, pools, said, liquidity) => {
    const { outcome: told, liquidity_usd } = outcome(pools);
    expect([told, liquidity_usd]).toEqual([said, liquidity]);
  });

  test('adds what its pools tell of a day, and is null where none tells', () => {
    expect(outcome([pool(5), pool(6)]).volume_usd_24h).toBe(2);
    expect(outcome([{ ...pool(5), volume_usd_24h: null }]).volume_usd_24h).toBeNull();
  });
});

describe('the counts of a record', () => {
  test('have a rate over listed launches alone', () => {
    const launches = [
      ...(['died', 'died', 'live', 'never_listed', 'unchecked'] as const).map((one, i) =>
        launchOf(`${i}`, one),
      ),
    ];
    expect(countsOf(launches)).toEqual({
      listed_launches: 3,
      died: 2,
      survived: 1,
      never_listed: 1,
      unchecked: 1,
      death_rate: 2 / 3,
    });
  });

  test('have no rate where none is listed', () => {
    expect(countsOf([launchOf('a', 'never_listed')]).death_rate).toBeNull();
  });
});

function fields(
  change: Parameters<typeof walkOf>[1],
  failed: null | { at: number; reason: string } = null,
) {
  const record = { ...walkOf(ADDRESS, { direct_creations: 1, ...change }), failed };
  return recordFields(record, record.captured_at + 7_200);
}

describe('the state and the finding of a record', () => {
  const died = [launchOf('a', 'died'), launchOf('b', 'died')];
  const [live, unlisted, unchecked] = [
    launchOf('c', 'live'),
    launchOf('d', 'never_listed'),
    launchOf('e', 'unchecked'),
  ] as const;
  const router = { address: ADDRESS, reason: 'not_an_erc20' } as const;
  const unread = { address: ADDRESS, reason: 'undetermined' } as const;

  test.each([
    [
      'all_died',
      { launches: died },
      '2 of 2 listed launches now below 1,000 USD of pooled liquidity.',
    ],
    [
      'unchecked',
      { launches: [...died, unlisted], truncated: true },
      'At least 2 listed launches now below 1,000 USD of pooled liquidity; whether another one ' +
        'lives is not known. 1 further launch never listed: in no rate. Not everything was read: ' +
        'counts are a floor, not a total.',
    ],
    [
      'unchecked',
      { launches: [launchOf('a', 'died'), unchecked], skipped: [unread] },
      'At least 1 listed launch now below 1,000 USD of pooled liquidity; whether another one ' +
        'lives is not known. 1 launch could not be checked: in no rate, and no ' +
        'death. 1 contract could not be determined, which is not a finding.',
    ],
    [
      'mixed',
      { launches: [...died, live] },
      '2 of 3 listed launches now below 1,000 USD of pooled liquidity; 1 still above it.',
    ],
    ['no_listed_launch', { launches: [unlisted] }, '1 ERC-20 launch: no venue lists a pair.'],
    [
      'no_listed_launch',
      { launches: [unlisted], pairs_unread: 'No node is set.' },
      '1 ERC-20 launch: no venue lists a pair. Whether an exchange ever made a pair of what no ' +
        'venue lists was not read. No node is set.',
    ],
    [
      'unchecked',
      { launches: [unlisted], truncated: true },
      'Whether this address launched a listed token could not be determined. 1 further launch ' +
        'never listed: in no rate. Not everything was read: counts are a floor, not a total.',
    ],
    [
      'mixed',
      { launches: [live, unchecked], truncated: true },
      'At least 0 of 1 listed launch now below 1,000 USD of pooled liquidity; 1 still above it. ' +
        '1 launch could not be checked: in no rate, and no death. Not everything ' +
        'was read: counts are a floor, not a total.',
    ],
    [
      'unchecked',
      { launches: [unlisted, unchecked] },
      'Whether a launch of this address is listed could not be checked. 1 further launch never ' +
        'listed: in no rate. 1 launch could not be checked: in no rate, and no death.',
    ],
    [
      'unchecked',
      { launches: [unlisted], skipped: [unread] },
      'Whether this address launched a listed token could not be determined. 1 further launch ' +
        'never listed: in no rate. 1 contract could not be determined, which is not a finding.',
    ],
  ] as const)('%s', (state, change, finding) => {
    const record = fields(change);
    expect([record.state, record.finding]).toEqual([
      state,
      `${finding} It was captured 2 hours ago.`,
    ]);
  });

  test('a newer walk that failed is told beside the record before it', () => {
    const at = Date.UTC(2026, 10, 21) / 1_000;
    expect(fields({ launches: died }, { at, reason: 'It failed.' }).finding).toBe(
      '2 of 2 listed launches now below 1,000 USD of pooled liquidity. A newer walk, of ' +
        '2026-11-21T00:00:00.000Z, failed: It failed. This is the record before it. It was ' +
        'captured 2 hours ago.',
    );
  });

  test.each([
    ['nothing credited to it', {}, 'no_record'],
    ['contracts, and no token', { skipped: [router], direct_creations: 1 }, 'no_record_no_token'],
    ['nothing credited to it, of a cut walk', { truncated: true }, null],
    ['a contract that nobody could tell', { skipped: [unread], direct_creations: 1 }, null],
    ['a launch', { launches: died, direct_creations: 2 }, null],
  ] as const)('%s: why there is no record', (_, change, code) => {
    const record = { ...walkOf(ADDRESS, change), failed: null };
    expect(whyNoRecord(record)?.code ?? null).toBe(code);
  });

  test('nothing credited to it, before a walk that failed: that is no search in vain', () => {
    const at = Date.UTC(2026, 10, 21) / 1_000;
    const none = whyNoRecord({ ...walkOf(ADDRESS, {}), failed: { at, reason: 'It failed.' } });
    expect(none === null ? null : [none.code, isNoneFound(none)]).toEqual([
      'no_record_outdated',
      false,
    ]);
  });

  test('each contract examined is counted once', () => {
    const { coverage } = fields({ launches: died, skipped: [router, unread] });
    expect(coverage.contracts_examined).toBe(4);
  });
});
