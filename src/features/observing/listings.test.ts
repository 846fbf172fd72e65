// A frozen or delisted instrument is unmeasured: its zero is no rate, and its price no flat market.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plainDecimal } from '../../chain/amount.ts';
import { collect } from '../../evidence/measure.ts';
import { fundingPer8h, type InstrumentState } from '../../ports/series.ts';
import { NO_SHARED_DATA, SHARED_DATA } from '../../testing/shared-data.ts';
import { FROZEN_AFTER_MS, judgeInstrument, recallSeen, type Seen } from './listings.ts';

const AT = Date.UTC(2026, 5, 1);
const TOLD: InstrumentState = {
  of: 'BTC',
  state: 'trading',
  price: '100',
  funding_rate: '0.0',
  open_interest: null,
};
const SEEN: Seen = { state: 'trading', price: '100', unmoved_since: AT - FROZEN_AFTER_MS };

describe('an instrument', () => {
  test.each<[string, Partial<InstrumentState>, Seen | null, Seen['state']]>([
    ['that moves trades', { price: '101' }, SEEN, 'trading'],
    ['that stands still and pays nothing for a day is frozen', {}, SEEN, 'frozen'],
    ['that stands still and pays funding trades', { funding_rate: '0.0000125' }, SEEN, 'trading'],
    ['that stands still for less trades', {}, { ...SEEN, unmoved_since: AT - 1 }, 'trading'],
    ['that is seen for the first time trades', {}, null, 'trading'],
    ['without a price is not trading', { price: null }, SEEN, 'frozen'],
    ['that its venue took off is delisted', { state: 'delisted' }, SEEN, 'delisted'],
    ['that was on the list and is not any more was taken off', ABSENT, SEEN, 'delisted'],
    ['that never was on the list is absent', ABSENT, null, 'absent'],
    ['that was absent before is', ABSENT, { ...SEEN, state: 'absent' }, 'absent'],
  ])('%s', (_, told, before, state) => {
    expect(judgeInstrument({ ...TOLD, ...told }, AT, before).state).toBe(state);
  });

  test('keeps its last price when it is taken off', () => {
    const off = judgeInstrument({ ...TOLD, ...ABSENT }, AT, { ...SEEN, price: '7' });
    expect(off).toMatchObject({ state: 'delisted', price: '7' });
  });

  test('is known again after a start, by its listing and its marks', () => {
    const trading = { at: AT - 9, state: 'trading', price: '1' } as const;
    const marks = [
      { at: 1, price: '2' },
      { at: 2, price: '3' },
      { at: 3, price: '3' },
    ];
    expect(recallSeen(trading, marks)).toEqual({ state: 'trading', price: '3', unmoved_since: 2 });
    expect(recallSeen(trading, [])).toEqual({
      state: 'trading',
      price: '1',
      unmoved_since: AT - 9,
    });
    const frozen = recallSeen({ ...trading, state: 'frozen' }, marks);
    const still = judgeInstrument({ ...TOLD, price: '1' }, AT, frozen);
    expect(still.state).toBe('frozen');
  });
});

const ABSENT = { state: 'absent', price: null, funding_rate: null } as const;

const FUNDING = join(SHARED_DATA, 'funding', 'funding_rates.csv');

describe.skipIf(!existsSync(FUNDING))(
  `recorded funding of 228 instruments${existsSync(FUNDING) ? '' : ` (${NO_SHARED_DATA})`}`,
  () => {
    const rows = existsSync(FUNDING)
      ? readFileSync(FUNDING, 'utf8')
          .trim()
          .split('\n')
          .slice(1)
          .map((line) => line.split(',') as [string, string, string, string])
          .map(([at, coin, rate, price]) => ({
            at: Date.parse(at),
            coin,
            // Rates of Hyperliquid are of an hour.
            point: { rate: String(plainDecimal(rate)), interval_s: 3_600 },
            price,
          }))
      : [];

    test('0.05% for eight hours is reached by 166 rows of 40 coins, by raw hourly rates by 7', () => {
      const reaches = (rate: string) => Math.abs(Number(rate)) >= 0.0005;
      const extreme = rows.filter(({ point }) => reaches(fundingPer8h(point)));
      expect(extreme).toHaveLength(166);
      expect(new Set(extreme.map(({ coin }) => coin)).size).toBe(40);
      expect(rows.filter(({ point }) => reaches(point.rate))).toHaveLength(7);
    });

    test('38 instruments are frozen, and no other one is', () => {
      const byCoin = new Map<string, (typeof rows)[number][]>();
      for (const row of rows) collect(byCoin, row.coin, row);
      const last = [...byCoin].map(([coin, told]) => {
        let seen: Seen | null = null;
        for (const { at, point, price } of told) {
          seen = judgeInstrument({ ...TOLD, of: coin, price, funding_rate: point.rate }, at, seen);
        }
        return seen?.state;
      });
      expect(last).toHaveLength(228);
      expect(last.filter((state) => state === 'frozen')).toHaveLength(38);
      expect(last.filter((state) => state === 'trading')).toHaveLength(190);
    });
  },
);
