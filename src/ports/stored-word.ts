import { z } from 'zod';

/**
 * A word of a closed set, as it comes out of a store: one that a newer version wrote passes as it
 * stands, so that it hides nothing of the row. Whoever shows it has its own declaration.
 */
export function storedWord<const W extends string>(_words: readonly W[]): z.ZodType<W> {
  return z.custom<W>((word) => typeof word === 'string', 'expected a word');
}
