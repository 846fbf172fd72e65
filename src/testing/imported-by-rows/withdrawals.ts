// Which coins does a block's header say that the chain gave to validators?
// Refuses nothing quietly: a text that is no list of withdrawals is not told, never an empty list.

import { z } from 'zod';

/** A withdrawal; the amount is in wei. */
type Withdrawal = {
  readonly index: string;
  readonly address: string;
  readonly amount: bigint;
};

const WEI_PER_GWEI = 1_000_000_000n;
const digits = z.union([z.number().int().nonnegative(), z.string().regex(/^\d{1,20}$/)]);
const list = z.array(
  z.object({
    index: digits,
    address: z
      .string()
      .toLowerCase()
      .regex(/^0x[0-9a-f]{40}$/),
    amount: digits,
  }),
);

/** The withdrawals of a header's JSON list, `null` where it tells none. */
export function withdrawalsOf(text: string): readonly Withdrawal[] | null {
  if (text === '') return null;
  const parsed = list.safeParse(JSON.parse(text));
  if (!parsed.success) return null;
  return parsed.data.map(({ index, address, amount }) => ({
    index: String(index),
    address,
    amount: BigInt(amount) * WEI_PER_GWEI,
  }));
}
