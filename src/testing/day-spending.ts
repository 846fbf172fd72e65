// What is spent in a day, in memory.

import { formatIsoDate } from '../chain/time.ts';
import { read } from '../evidence/reading.ts';
import type { DaySpending } from '../ports/day-spending.ts';
import { memorySource, PLANTED } from './twins/dated.ts';

/** `now` gives Unix seconds. */
export function memorySpending(now: () => number): DaySpending {
  const spent = new Map<string, number>();
  const amountOf = (key: string) => spent.get(key) ?? 0;
  const origin = () => ({
    port: 'day_spending' as const,
    source: memorySource('Spending', 'table', PLANTED),
  });
  return {
    setAside: async (what, { most, least, limit }) => {
      const day = formatIsoDate(now());
      const key = `${what} ${day}`;
      const left = Math.min(most, Math.max(limit - amountOf(key), 0));
      const amount = left < least ? 0 : left;
      spent.set(key, amountOf(key) + amount);
      return read({ day, amount, spent: amountOf(key) }, origin());
    },
    giveBack: async (what, { day, amount }) => {
      const key = `${what} ${day}`;
      spent.set(key, Math.max(amountOf(key) - amount, 0));
      return read(true, origin());
    },
  };
}
