// The guarantees of every quota store. stores/control/keys.test.ts runs them.

import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { QuotaStore } from './access.ts';

const RUNS = 25;

/** Runs the promises. `fresh` gives an empty store each time. */
export function quotaStoreKeeps(name: string, fresh: () => Promise<QuotaStore>): void {
  describe(`${name}: quota`, () => {
    let store: QuotaStore;
    beforeEach(async () => {
      store = await fresh();
    });
    const day = { subject: 'membership:a', period: '2026-11-21', limit: 3 };

    test('grants exactly the limit of many charges at once, first come first', async () => {
      const charges = await Promise.all(Array.from({ length: 8 }, () => store.charge(day)));
      expect(charges.map((one) => one.checked && one.value)).toEqual([
        { granted: true, used: 1, limit: 3 },
        { granted: true, used: 2, limit: 3 },
        { granted: true, used: 3, limit: 3 },
        ...Array.from({ length: 5 }, () => ({ granted: false, used: 3, limit: 3 })),
      ]);
      expect(await store.usage(day.subject, day.period)).toMatchObject({ checked: true, value: 3 });
    });

    test('subjects and periods are counted apart', async () => {
      const month = { ...day, period: '2026-11' };
      const other = { ...day, subject: 'membership:b' };
      const tomorrow = { ...day, period: '2026-11-22' };
      for (const allowance of [day, day, month, other, tomorrow]) await store.charge(allowance);
      const used = await Promise.all(
        [day, month, other, tomorrow].map(({ subject, period }) => store.usage(subject, period)),
      );
      expect(used.map((one) => one.checked && one.value)).toEqual([2, 1, 1, 1]);
    });

    test('the days of use are those of one subject between two days, without its months', async () => {
      const month = { ...day, period: '2026-11' };
      const other = { ...day, subject: 'membership:b' };
      const days = ['2026-11-20', '2026-11-21', '2026-11-21', '2026-11-23', '2026-11-24'];
      const mine = days.map((period) => ({ ...day, period }));
      for (const allowance of [month, other, ...mine]) await store.charge(allowance);
      expect(await store.days(day.subject, '2026-11-21', '2026-11-23')).toMatchObject({
        checked: true,
        value: [
          { day: '2026-11-21', used: 2 },
          { day: '2026-11-23', used: 1 },
        ],
      });
    });

    test('what charges were for is counted exactly where no process was killed, and no more than was granted', async () => {
      const ofKey = (used_by: string, route: string) => ({ used_by, route, day: '2026-11-21' });
      const allowance = { ...day, subject: 'membership:mem_9', limit: 9 };
      const uses = [
        ...Array.from({ length: 4 }, () => ofKey('key_a', 'wallet_ofac')),
        ...Array.from({ length: 3 }, () => ofKey('key_b', 'wallet_ofac')),
        ...Array.from({ length: 5 }, () => ofKey('key_a', 'wallet_cex')),
      ];
      await store.charge(allowance);
      const charges = await Promise.all(uses.map((use) => store.charge(allowance, use)));
      const granted = uses.filter((_, at) => {
        const charge = charges[at];
        return charge?.checked === true && charge.value.granted;
      });
      expect(granted).toHaveLength(8);
      const counted = await store.uses({ membership_id: 'mem_9' }, '2026-11-01', '2026-11-30');
      if (!counted.checked) throw new Error('unread');
      for (const { key_id, route, requests, charged, allowance: whose } of counted.value) {
        const alike = granted.filter((use) => use.used_by === key_id && use.route === route);
        expect([key_id, route, requests]).toEqual([key_id, route, alike.length]);
        expect([charged, whose]).toEqual([9, 'membership']);
      }
      expect(counted.value.reduce((sum, { requests }) => sum + requests, 0)).toBe(8);
      const one = await store.uses({ key_id: 'key_b' }, '2026-11-21', '2026-11-21');
      const whole = one.checked && one.value.map(({ route, requests }) => [route, requests]);
      const ofB = granted.filter(({ used_by }) => used_by === 'key_b').length;
      expect(whole).toEqual(ofB === 0 ? [] : [['wallet_ofac', ofB]]);
      expect(await store.uses({ key_id: 'key_b' }, '2026-11-22', '2026-11-30')).toMatchObject({
        value: [],
      });
    });

    test('what is left is read, also where nothing was ever charged', async () => {
      expect(await store.remaining(day)).toMatchObject({
        checked: true,
        value: { used: 0, remaining: 3, limit: 3 },
      });
      for (let n = 0; n < 4; n += 1) await store.charge(day);
      expect(await store.remaining(day)).toMatchObject({
        value: { used: 3, remaining: 0, limit: 3 },
      });
    });

    test('a raised limit opens the allowance again, a lowered one leaves nothing', async () => {
      for (let n = 0; n < 3; n += 1) await store.charge(day);
      const raised = { ...day, limit: 5 };
      expect(await store.remaining(raised)).toMatchObject({ value: { used: 3, remaining: 2 } });
      const mixed = await Promise.all([store.charge(day), store.charge(raised), store.charge(day)]);
      expect(mixed.map((one) => one.checked && one.value.granted)).toEqual([false, true, false]);
      expect(await store.remaining(day)).toMatchObject({ value: { used: 4, remaining: 0 } });
      expect(await store.charge({ ...day, limit: 0 })).toMatchObject({ value: { granted: false } });
    });

    test('a limit or period that is none is a bug, not a charge', () => {
      for (const wrong of [
        { ...day, limit: 1.5 },
        { ...day, limit: -1 },
        { ...day, limit: Number.NaN },
        { ...day, limit: 2 ** 31 },
        { ...day, period: 'today' },
        { ...day, subject: '' },
      ]) {
        expect(() => store.charge(wrong)).toThrow(RangeError);
      }
    });

    test('each subject is granted the lesser of its calls and its limit, in any mix', async () => {
      let round = 0;
      const mix = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(mix, fc.integer({ min: 0, max: 12 }), async (callers, limit) => {
          round += 1;
          const period = `20${String(round % 90).padStart(2, '0')}-01`;
          const subjects = callers.map((n) => `membership:${round}-${n}`);
          const charges = await Promise.all(
            subjects.map((subject) => store.charge({ subject, period, limit })),
          );
          for (const subject of new Set(subjects)) {
            const mine = charges.filter((_, i) => subjects[i] === subject);
            const granted = mine.filter((one) => one.checked && one.value.granted).length;
            expect(granted).toBe(Math.min(mine.length, limit));
            expect(await store.usage(subject, period)).toMatchObject({ value: granted });
          }
        }),
        { numRuns: RUNS },
      );
    });
  });
}
