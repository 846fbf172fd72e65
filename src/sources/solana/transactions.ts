// Reads single transactions of Solana from a node. A null is a node's ignorance: it may keep no
// history so far back.

import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { SolanaTransactions } from '../../ports/receipts.ts';
import { originText } from '../http/outbound-call.ts';
import {
  attempt,
  type CallBudget,
  observation,
  ProviderFault,
  whyUnanswered,
  withBudget,
} from '../http/provider.ts';
import {
  checkMainnet,
  fetchTransaction,
  type ParsedTransaction,
  type SolanaNode,
} from './history.ts';

const PORT = 'transaction_receipts';
/** The network, and a transaction in its two versions, each tried again. */
const CALLS_MAX = 9;

type TransactionsOptions = SolanaNode & {
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
  readonly simulated: boolean;
};

export function solanaTransactions(options: TransactionsOptions): SolanaTransactions {
  const { url, now, timeMs, simulated } = options;
  const provider = `Solana node ${originText(url)}`;
  return {
    lookUp: async (signature, signal) => {
      const limits = { timeMs, callsMax: CALLS_MAX, signal };
      const told = await attempt(Error, () =>
        withBudget(limits, (budget) => readTransaction(options, signature, budget)),
      );
      if (told instanceof Error) {
        const cause = whyUnanswered(told, (fault) => why('provider_failed', { provider, fault }));
        return unread(PORT, cause);
      }
      if (told === null) return unread(PORT, why('receipt_not_held', { provider }));
      const named = { name: 'Solana JSON-RPC', url: originText(url), simulated };
      const { slot, blockTime: at, meta, transaction } = told;
      const payer = transaction.message.accountKeys[0].pubkey;
      const success = meta.err === null || meta.err === undefined;
      const value = { signature, slot, at, payer, success };
      return read(value, { port: PORT, source: observation(named, now) });
    },
  };
}

async function readTransaction(
  node: SolanaNode,
  signature: string,
  budget: CallBudget,
): Promise<ParsedTransaction | null> {
  await checkMainnet(node, budget);
  const told = await fetchTransaction(node, signature, budget);
  if (told === null || told.transaction.signatures[0] === signature) return told;
  throw new ProviderFault('answered another transaction than was asked for', 'lasting');
}
