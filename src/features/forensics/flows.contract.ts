// Declares what an address sent and received: by counterparty, and by coin or token.

import { z } from 'zod';
import { checked, harmless, isoTime, negative, prose, words } from '../../contract/wire.ts';

const HISTORY = { restsOn: ['transfer_history'] } as const;
const count = negative(z.int().nonnegative().nullable(), HISTORY);
/** How many of the transfers that stand beside it. */
const ofThem = harmless(z.int().nonnegative(), 'a part of the transfers that the row counts');

/** One direction: what moved, of how many transfers, and how many of them have no price. */
const side = z.strictObject({
  transfers: ofThem,
  usd: words().nullable(),
  unpriced: ofThem,
});
const amounts = side.extend({ raw_amount: words(), amount: words().nullable() });

const counterparty = z.strictObject({
  address: words(),
  label: words().nullable(),
  transfers: z.int().positive(),
  sent: side,
  received: side,
  first_at: isoTime,
  last_at: isoTime,
  last_tx: words(),
});

const asset = z.strictObject({
  chain: words(),
  /** `null`: the chain's own coin. */
  token: words().nullable(),
  symbol: words().nullable(),
  decimals: harmless(z.int().nonnegative(), 'a property of the token').nullable(),
  transfers: z.int().positive(),
  sent: amounts,
  received: amounts,
});

/** The counts are of all; the lists show the largest. Null where nothing was seen. */
export const flows = z.strictObject({
  checked: checked(HISTORY),
  reason: prose().nullable(),
  transfers: count,
  counterparties_count: count,
  counterparties: z.array(counterparty).min(1).nullable(),
  assets_count: count,
  assets: z.array(asset).min(1).nullable(),
});
