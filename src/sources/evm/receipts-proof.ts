// Answers one question: are these all the receipts of a block, with all their logs.
// One for each transaction, logs numbered from 0 without a gap, and the header's bloom made of just
// these logs; where receipts are encoded as Ethereum's, the header's root of them too. A block that
// shows less is not read: half a block is never taken for a quiet one.

import { isSystemAddress } from '../../chain/address.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import { type CommittedReceipt, logsBloom, receiptsRoot } from '../../chain/receipts-root.ts';
import { ChainMoved, NodeFault } from './node-fault.ts';
import type { NodeBlock, NodeReceipt } from './wire.ts';

/**
 * The receipts in the order of the block's transactions. Throws `NodeFault` where they are not
 * proven whole, and `ChainMoved` where they are of another block.
 */
export function provenReceipts(
  chain: EvmChainName,
  block: NodeBlock,
  receipts: readonly NodeReceipt[],
): readonly NodeReceipt[] {
  if (receipts.some((one) => one.blockHash !== block.hash)) throw new ChainMoved();
  const byHash = new Map(receipts.map((one) => [one.transactionHash, one]));
  const ordered = block.transactions.map(({ hash }) => {
    const receipt = byHash.get(hash);
    if (receipt === undefined) throw new NodeFault('told no receipt of a transaction');
    byHash.delete(hash);
    return receipt;
  });
  if (ordered.length !== receipts.length) {
    throw new NodeFault('told receipts that its block has no transaction for');
  }
  for (const receipt of ordered) checkOwnLogs(receipt);
  checkNumbers(block, ordered);
  checkBloom(chain, block, ordered);
  if (ROOTED.has(chain)) checkRoot(chain, block, ordered);
  return ordered;
}

function checkOwnLogs({ status, logs, logsBloom: told, ...receipt }: NodeReceipt): void {
  if (status === 0 && logs.length > 0) {
    throw new NodeFault('told logs of a transaction that failed');
  }
  const strange = logs.some(({ transactionHash, blockHash, removed }) => {
    const own = transactionHash === receipt.transactionHash && blockHash === receipt.blockHash;
    return !own || removed === true;
  });
  if (strange) throw new NodeFault('told a receipt with logs of another one');
  if (told != null && told.toLowerCase() !== logsBloom(logs)) {
    throw new NodeFault('told a receipt whose bloom is not that of its logs');
  }
}

function checkNumbers({ number }: NodeBlock, receipts: readonly NodeReceipt[]): void {
  const logs = receipts.flatMap((one) => one.logs);
  if (logs.some(({ logIndex }, i) => logIndex !== i)) {
    throw new NodeFault('leaves a gap in the numbers of the logs of a block');
  }
  if (logs.some(({ blockNumber }) => blockNumber !== number)) {
    throw new NodeFault('told a receipt with logs of another block');
  }
}

function checkBloom(chain: EvmChainName, block: NodeBlock, receipts: readonly NodeReceipt[]): void {
  const told = block.logsBloom.toLowerCase();
  if (told === logsBloom(receipts.flatMap((one) => one.logs))) return;
  const own = receipts.filter((_, i) => !isOfTheChain(block.transactions[i]));
  const leavesOut = BLOOM_WITHOUT_SYSTEM.has(chain) && own.length < receipts.length;
  if (leavesOut && told === logsBloom(own.flatMap((one) => one.logs))) return;
  throw new NodeFault('told a block whose bloom is not that of its logs');
}

/**
 * Whose headers may leave out the logs of what the chain sends itself: Polygon's state sync, and
 * the transfers from HyperCore that some nodes of HyperEVM show.
 */
const BLOOM_WITHOUT_SYSTEM: ReadonlySet<EvmChainName> = new Set(['polygon', 'hyperevm']);

function isOfTheChain(sent: NodeBlock['transactions'][number] | undefined): boolean {
  return sent !== undefined && isSystemAddress(sent.from);
}

/** Whose headers commit to receipts in Ethereum's own encoding, or in that of the OP stack. */
const ROOTED: ReadonlySet<EvmChainName> = new Set(['ethereum', 'base', 'bsc']);

function checkRoot(
  chain: EvmChainName,
  { receiptsRoot: told }: NodeBlock,
  receipts: readonly NodeReceipt[],
): void {
  if (told == null) {
    if (chain !== 'ethereum') return;
    throw new NodeFault('told a block without the root of its receipts');
  }
  if (told !== receiptsRoot(receipts.map(committed))) {
    throw new NodeFault('told a block whose receipts are not those of its root');
  }
}

function committed(receipt: NodeReceipt): CommittedReceipt {
  const { type, status, root, cumulativeGasUsed, logs } = receipt;
  const outcome = status == null ? root : status;
  if (outcome == null || cumulativeGasUsed == null) {
    throw new NodeFault('told a receipt without its outcome or its gas');
  }
  const { depositNonce: nonce, depositReceiptVersion: version } = receipt;
  const more = nonce == null || version == null ? [] : [nonce, version];
  // Transactions had no types before EIP-2718, and some nodes tell none of those since.
  return { type: type == null ? null : type, outcome, cumulativeGasUsed, logs, more };
}
