// How is one answer made from one reading of each address, however often its parts ask?
// What was read in an answer is not read again in it: the second reading could differ, and costs.

import type { TransferHistory } from '../../ports/history/transfer-history.ts';

type Readings = Awaited<ReturnType<TransferHistory['neighbourhoods']>>;
type OneReading = NonNullable<ReturnType<Readings['get']>>;

/** A history for one answer whose limits do not change: each address is asked for once. */
export function readOnce(history: TransferHistory): TransferHistory {
  const known = new Map<string, OneReading>();
  let chains: ReturnType<TransferHistory['chainsRead']> | null = null;
  return {
    worths: history.worths,
    chainsRead: () => {
      if (chains === null) chains = history.chainsRead();
      return chains;
    },
    neighbourhoods: async (addresses, limits) => {
      const missing = addresses.filter((one) => !known.has(one));
      if (missing.length > 0) {
        for (const [address, reading] of await history.neighbourhoods(missing, limits)) {
          known.set(address, reading);
        }
      }
      return new Map([...known].filter(([address]) => addresses.includes(address)));
    },
  };
}
