// What do nodes say of single transactions and their receipts?
// A null is a node's ignorance, not a transaction without events; a chain without a node is unread.

import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  RECEIPTS_ASK_MAX,
  type ReceiptFacts,
  type TransactionReceipts,
  type TransactionReceiptsPort,
} from '../../ports/bridges/transaction-receipts.ts';
import { type JsonRpc, type RpcAnswer, RpcFault } from '../http/json-rpc.ts';
import { observation } from '../http/provider.ts';
import { factsOf, RECEIPT, TRANSACTION } from './receipts-wire.ts';

const PORT = 'transaction_receipts';
type Told = Reading<ReceiptFacts, TransactionReceiptsPort>;

/** The nodes by chain, and how their answers are told. */
type NodeReceiptsOptions = {
  readonly nodes: ReadonlyMap<EvmChainName, JsonRpc>;
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};

/** Receipts from nodes. */
export function nodeReceipts({ nodes, simulated, now }: NodeReceiptsOptions): TransactionReceipts {
  return {
    lookUp: async (chain, hashes, signal) => {
      if (hashes.length > RECEIPTS_ASK_MAX) throw new RangeError('too many receipts');
      const rpc = nodes.get(chain);
      if (rpc === undefined) return each(hashes, why('not_configured', { what: nodeOf(chain) }));
      if (signal.aborted) return each(hashes, why('time_budget'));
      try {
        const answers = await asked(rpc, chain, hashes, signal);
        const named = { name: rpc.shown, url: rpc.shown, simulated };
        const origin = { port: PORT, source: observation(named, now) } as const;
        return new Map(
          hashes.map((hash, i) => {
            const facts = told(rpc, chain, hash, answers[2 * i], answers[2 * i + 1]);
            return [hash, 'code' in facts ? unread(PORT, facts) : read(facts, origin)] as const;
          }),
        );
      } catch (error) {
        if (!(error instanceof RpcFault)) throw error;
        if (signal.aborted) return each(hashes, why('time_budget'));
        const provider = { provider: rpc.shown, fault: error.fault };
        return each(hashes, why('provider_failed', provider));
      }
    },
  };
}

function nodeOf(chain: EvmChainName): string {
  return `A node of ${chain}`;
}

function each(hashes: readonly string[], cause: Why): ReadonlyMap<string, Told> {
  return new Map(hashes.map((hash) => [hash, unread(PORT, cause)]));
}

/** Two answers for each hash, the transaction's first. The node's chain is asked with them. */
async function asked(
  rpc: JsonRpc,
  chain: EvmChainName,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<RpcAnswer[]> {
  const calls = hashes.flatMap((hash) => [
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
  ]);
  const [id, ...answers] = await rpc.batch(
    [{ method: 'eth_chainId', params: [] }, ...calls],
    signal,
  );
  const own = id?.ok === true ? Number(id.result) : Number.NaN;
  if (own !== CHAINS[chain].chain_id) {
    throw new RpcFault(`is not of ${chain}`, 'terminal');
  }
  return answers;
}

function told(
  rpc: JsonRpc,
  chain: EvmChainName,
  hash: string,
  first: RpcAnswer | undefined,
  second: RpcAnswer | undefined,
): ReceiptFacts | Why {
  const provider = rpc.shown;
  const refused = [first, second].find((one) => one?.ok !== true);
  if (refused !== undefined || first?.ok !== true || second?.ok !== true) {
    return why('provider_failed', { provider, fault: 'refused the call for a receipt' });
  }
  if (first.result === null || second.result === null) return why('receipt_not_held', { provider });
  const transaction = TRANSACTION.safeParse(first.result);
  const receipt = RECEIPT.safeParse(second.result);
  const told = transaction.success && receipt.success;
  const own = transaction.data?.hash === hash && receipt.data?.transactionHash === hash;
  if (!told || !own) {
    return why('provider_failed', { provider, fault: 'answered no receipt of that transaction' });
  }
  return { chain, ...factsOf(transaction.data, receipt.data) };
}
