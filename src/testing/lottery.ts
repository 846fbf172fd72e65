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

const MULTIPLIER = 1_103_515_245;
const INCREMENT = 12_345;
const MODULUS = 2 ** 31;

/** The draws of a seed (a linear congruential generator). */
export function lotteryOf(seed: number): Lottery {
  let state = seed;
  const share = (): number => {
    state = (state * MULTIPLIER + INCREMENT) % MODULUS;
    return state / MODULUS;
  };
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
