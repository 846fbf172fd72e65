import { describe, expect, test } from 'vitest';
import type { HistoryTransfer } from '../../../ports/history.ts';
import type { ExchangeLabel } from '../../../ports/tables.ts';
import { evm } from '../../../testing/addresses.ts';
import { foundOf, scored } from '../../../testing/finding-suite.ts';
import { mixerRow } from '../../../testing/twins/accounts.ts';
import { memoryTransfer } from '../../../testing/twins/history.ts';

const SUBJECT = evm('subject');
const POOL = evm('pool');
const HOT = evm('hot wallet');
const label: ExchangeLabel = {
  address: HOT,
  chain: null,
  label: 'Exchange: Hot Wallet',
  entity: 'exchange',
  role: 'hot',
  confidence: 'service_data',
  clusterable: false,
  source: 'tests',
  source_url: null,
  first_seen: '2026-01-01',
};

describe('mixers', () => {
  test.each([
    ['poisoning', { raw_amount: 0n, initiator: evm('poisoner') }],
    ['a transfer on another chain', { chain: 'base' as const }],
    ['a failed call', { success: false }],
  ])('%s makes no contact', async (_, over) => {
    const planted = {
      mixers: [mixerRow(POOL)],
      transfers: [memoryTransfer(1, SUBJECT, POOL, over)],
      history: { chains: ['ethereum', 'base'] as const },
    };
    expect(foundOf(await scored(SUBJECT, planted), 'mixer_contact')).toBeNull();
  });

  test('what was sent before a contract stood there is no contact', async () => {
    const mixers = [mixerRow(POOL, { valid_from_block: 100 })];
    const before = [memoryTransfer(99, SUBJECT, POOL)];
    const since = [memoryTransfer(100, SUBJECT, POOL)];
    const early = await scored(SUBJECT, { mixers, transfers: before });
    expect(foundOf(early, 'mixer_contact')).toBeNull();
    const late = await scored(SUBJECT, { mixers, transfers: since });
    expect(foundOf(late, 'mixer_contact')).toHaveLength(1);
  });
});

describe('exchanges', () => {
  test('what it sent is a deposit, what it received a withdrawal, each with its own transfers', async () => {
    const transfers = [memoryTransfer(1, HOT, SUBJECT), memoryTransfer(2, SUBJECT, HOT)];
    const evidence = await scored(SUBJECT, { labels: [label], transfers });
    const deposit = foundOf(evidence, 'exchange_deposit');
    expect(deposit?.[0].evidence).toMatchObject([{ block: 2, direction: 'out' }]);
    const withdrawal = foundOf(evidence, 'exchange_withdrawal');
    expect(withdrawal?.[0].evidence).toMatchObject([{ block: 1, direction: 'in' }]);
    expect(withdrawal?.[0].source).toBe('tests');
  });

  test('spam and poisoning create no exchange activity', async () => {
    const forged: Partial<HistoryTransfer> = {
      kind: 'token',
      token: evm('token'),
      symbol: 'X',
      initiator: evm('poisoner'),
      has_market: false,
    };
    const transfers = [
      memoryTransfer(1, HOT, SUBJECT, forged),
      memoryTransfer(2, SUBJECT, HOT, { ...forged, raw_amount: 0n }),
    ];
    const evidence = await scored(SUBJECT, { labels: [label], transfers });
    expect(foundOf(evidence, 'exchange_deposit')).toBeNull();
    expect(foundOf(evidence, 'exchange_withdrawal')).toBeNull();
    expect(foundOf(evidence, 'poisoning_received')).toHaveLength(2);
  });
});
