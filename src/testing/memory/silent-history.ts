// What does a deployment say of transfer history that holds none and reads none? Nothing, and why.
// It refuses to look like an address without transfers: every answer of it is unread.

import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { RawHistory } from '../../ports/history.ts';

/** The history of a deployment for which no warehouse and no live source is configured. */
export function silentHistory(): RawHistory {
  const silent = unread('raw_history' as const, why('no_history'));
  return {
    chainsRead: async () => silent,
    neighbourhoods: async (addresses) => new Map(addresses.map((address) => [address, silent])),
  };
}
