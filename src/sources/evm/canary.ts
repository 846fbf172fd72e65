// Answers one question: may a node be believed that a block has no transfer logs.
// Nodes that dropped old logs answer a range of them with an empty list and no error. Each header
// says whether its block can have such a log; where it can and none came, the receipts are asked.
// So they are, of its fullest blocks, where a range has none at all: not every node keeps blooms.

import { z } from 'zod';
import type { JsonRpc } from '../http/json-rpc.ts';
import type { Execution } from './decode-block.ts';
import { TRANSFER_TOPIC } from './decode-logs.ts';
import { resultOf } from './execution.ts';
import { ChainMoved, NodeFault } from './node-fault.ts';
import { nodeRefusalOf } from './refusals.ts';
import { LOG, type NodeBlock, type NodeLog, type NodeReceipt, RECEIPT, shaped } from './wire.ts';

/** The bits that `Transfer` sets in a header's bloom (yellow paper, section 4.3.1). */
const TRANSFER_BITS = [1_443, 481, 1_060] as const;
const BLOOM_BYTES = 256;
const BITS_A_BYTE = 8;
const RECEIPTS = z.array(RECEIPT);
const LOGS = z.array(LOG);
const LIES = 'leaves logs out of the ranges that it answers';

/** Whether a block's header allows for a `Transfer` log. It may allow for one that is not there. */
export function mayHoldTransfers({ logsBloom }: Pick<NodeBlock, 'logsBloom'>): boolean {
  const bloom = Buffer.from(logsBloom.slice('0x'.length), 'hex');
  return TRANSFER_BITS.every((bit) => {
    const byte = bloom[BLOOM_BYTES - 1 - Math.floor(bit / BITS_A_BYTE)];
    return byte !== undefined && (byte & (1 << (bit % BITS_A_BYTE))) !== 0;
  });
}

/** Throws `NodeFault` where a block's logs, as a range gave them, are fewer than it has. */
export async function checkLogs(
  rpc: JsonRpc,
  block: NodeBlock,
  logs: readonly NodeLog[],
  execution: Execution,
  signal: AbortSignal,
): Promise<void> {
  if (execution.by === 'receipts' && block.transactions.length > 0) {
    if (transfersIn(execution.receipts) > logs.length) throw new NodeFault(LIES);
    return;
  }
  if (logs.length > 0 || !mayHoldTransfers(block)) return;
  if ((await transfersOf(rpc, block, signal)) > 0) throw new NodeFault(LIES);
}

/** Of so many blocks of a range without any log the receipts are asked. */
const CANARIES = 3;

/** Throws `NodeFault` where blocks that a range gave no log of do have some. */
export async function checkEmptyRange(
  rpc: JsonRpc,
  blocks: readonly NodeBlock[],
  signal: AbortSignal,
): Promise<void> {
  const busy = blocks.filter((one) => one.transactions.length > 0);
  busy.sort((one, other) => other.transactions.length - one.transactions.length);
  for (const block of busy.slice(0, CANARIES)) {
    if ((await transfersOf(rpc, block, signal)) > 0) throw new NodeFault(LIES);
  }
}

function transfersIn(receipts: readonly NodeReceipt[]): number {
  const logs = receipts.flatMap((one) => one.logs);
  return logs.filter((log) => log.topics[0] === TRANSFER_TOPIC).length;
}

async function transfersOf(rpc: JsonRpc, block: NodeBlock, signal: AbortSignal): Promise<number> {
  const method = 'eth_getBlockReceipts';
  const answer = await rpc.call({ method, params: [block.hash] }, signal);
  if (answer.ok || nodeRefusalOf(answer.error).kind !== 'unsupported') {
    const receipts = shaped(RECEIPTS, resultOf(answer, method), method);
    if (receipts.some((one) => one.blockHash !== block.hash)) throw new ChainMoved();
    if (receipts.length < block.transactions.length) {
      throw new NodeFault('told no receipt of a transaction');
    }
    return transfersIn(receipts);
  }
  const filter = { blockHash: block.hash, topics: [TRANSFER_TOPIC] };
  const byHash = await rpc.call({ method: 'eth_getLogs', params: [filter] }, signal);
  return shaped(LOGS, resultOf(byHash, 'eth_getLogs'), 'eth_getLogs').length;
}
