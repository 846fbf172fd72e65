// Answers one question: which fungible tokens moved, by the logs of a block.
// ERC-20 and ERC-721 say `Transfer` with one and the same topic: the first with three topics and 32
// bytes of data, the second with four topics. Only the first is a transfer; the others are counted.

import type { ChainName } from '../../chain/chain.ts';
import type { NotTold } from '../../ports/indexing/chain-node.ts';
import type { TransferFact } from '../../ports/indexing/transfer-store.ts';
import type { NodeBlock, NodeLog } from './wire.ts';

/** keccak256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const FUNGIBLE_TOPICS = 3;
const NFT_TOPICS = 4;
/** `0x` and 32 bytes in hex. */
const WORD_CHARS = 66;
const ADDRESS_CHARS = 40;

/** Whether a log says `Transfer`, of whatever kind. */
export function isTransferLog({ topics }: NodeLog): boolean {
  return topics[0] === TRANSFER_TOPIC;
}

/** The token transfers among the logs of one block, and how many others looked like them. */
export function tokenTransfers(
  chain: ChainName,
  block: NodeBlock,
  logs: readonly NodeLog[],
): { readonly transfers: TransferFact[]; readonly left_out: NotTold } {
  const initiators = new Map(block.transactions.map((one) => [one.hash, one.from]));
  const transfers: TransferFact[] = [];
  let nft = 0;
  let misshapen = 0;
  for (const log of logs) {
    const [topic, from, to] = log.topics;
    if (topic !== TRANSFER_TOPIC) continue;
    if (log.topics.length === NFT_TOPICS) {
      nft += 1;
      continue;
    }
    const shaped = log.topics.length === FUNGIBLE_TOPICS && log.data.length === WORD_CHARS;
    if (!shaped || from === undefined || to === undefined) {
      misshapen += 1;
      continue;
    }
    const initiator = initiators.get(log.transactionHash);
    transfers.push({
      chain,
      block: block.number,
      block_time: block.timestamp,
      block_hash: block.hash,
      tx_hash: log.transactionHash,
      position: log.logIndex,
      kind: 'token',
      token: log.address,
      from: `0x${from.slice(-ADDRESS_CHARS)}`,
      to: `0x${to.slice(-ADDRESS_CHARS)}`,
      raw_amount: BigInt(log.data),
      success: true,
      initiator: initiator === undefined ? null : initiator,
    });
  }
  return { transfers, left_out: { nft, misshapen } };
}
