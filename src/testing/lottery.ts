import { sharesFrom } from '../evidence/random.ts';

/** Draws from a seed. */
export type Lottery = {
  /** A share from 0 (included) to 1. */
  readonly share: () => number;
  /** A whole number from 0 to below `limit`. */
  readonly below: (limit: number) => number;
  readonly oneOf: <T>(list: readonly T[]) => T;
  /** Whether something of this chance comes about. */
  readonly happens: (chance: number) => boolean;
};

/** The draws of a seed: the same on every run and machine. */
export function lotteryOf(seed: number): Lottery {
  const share = sharesFrom(seed);
  const below = (limit: number): number => Math.floor(share() * limit);
  return {
    share,
    below,
    happens: (chance) => share() < chance,
    oneOf: (list) => {
      const one = list[below(list.length)];
      if (one === undefined) throw new Error('lottery: nothing to draw from');
      return one;
    },
  };
}
