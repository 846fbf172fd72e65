// What do these receipts, held in memory, say as the receipts of their transactions?

import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { ReceiptFacts, TransactionReceipts } from '../../ports/bridges.ts';

const PORT = 'transaction_receipts';

/** What the memory holds. */
export type MemoryReceipts = {
  readonly receipts: readonly ReceiptFacts[];
  /** Unix seconds. */
  readonly as_of: number;
  readonly simulated: boolean;
};

/** Receipts in memory: one that is not held is unread. */
export function memoryTransactionReceipts(held: MemoryReceipts): TransactionReceipts {
  const { as_of, simulated } = held;
  const source: Source = {
    name: 'Receipts in memory',
    url: 'memory:',
    as_of,
    simulated,
    kind: 'observation',
  };
  const byKey = new Map(held.receipts.map((one) => [`${one.chain} ${one.tx}`, one]));
  const missing = unread(PORT, why('receipt_not_held', { provider: 'memory' }));
  return {
    lookUp: async (chain, hashes) =>
      new Map(
        hashes.map((hash) => {
          const receipt = byKey.get(`${chain} ${hash}`);
          return [hash, receipt === undefined ? missing : read(receipt, { port: PORT, source })];
        }),
      ),
  };
}
