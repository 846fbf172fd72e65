// The calls outside that the producer may make in a day. It takes them from the store by lots: a
// process that is killed has spent one lot too much at most, and asks the store rarely.

import { type Why, why } from '../../evidence/reasons.ts';
import type { DaySpending } from '../../ports/day-spending.ts';

/** Calls for the targets of one process. */
export type CallPurse = {
  /** Takes a lot where few are left; why the store did not tell. */
  readonly fill: () => Promise<Why | null>;
  /** Counts a call before it is made; why none is left. */
  readonly countCall: () => Why | null;
  /** Whether a call may be left tomorrow that is not left today. */
  readonly isRenewed: boolean;
  /** Gives back to the day what was not called. */
  readonly giveBack: () => Promise<void>;
};

/** The calls that are taken at once, and those with which another target is begun. */
const LOT = 500;
const TARGET_CALLS = 250;
const WHAT = 'signal_calls';

/** A purse of so many calls in a day (UTC), of all processes together. */
export function callPurse(spending: DaySpending, limit: number): CallPurse {
  let left = 0;
  let day = '';
  const spent = why('signal_calls_spent', { limit: String(limit) });
  return {
    isRenewed: limit > 0,
    fill: async () => {
      if (limit === 0 || left >= TARGET_CALLS) return null;
      const taken = await spending.setAside(WHAT, { most: LOT, least: 1, limit });
      if (!taken.checked) return taken.why;
      left += taken.value.amount;
      ({ day } = taken.value);
      return null;
    },
    countCall: () => {
      if (left === 0) return spent;
      left -= 1;
      return null;
    },
    giveBack: async () => {
      const amount = left;
      left = 0;
      // A lot that is not given back stays spent: that day makes fewer calls.
      if (amount > 0) await spending.giveBack(WHAT, { day, amount });
    },
  };
}

/** Made-up sources take as many calls as anybody makes. */
export const UNCOUNTED_CALLS: CallPurse = {
  isRenewed: false,
  fill: async () => null,
  countCall: () => null,
  giveBack: async () => undefined,
};
