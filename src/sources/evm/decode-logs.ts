// Answers one question: which tokens moved, fungible or told by an id, by the logs of a block.
// ERC-20 and ERC-721 say `Transfer` with one and the same topic: the first with three topics and 32
// bytes of data, the second with four topics. An id is never an amount. What has the topic of a
// transfer and no such shape is counted.

import type { ChainName } from '../../chain/chain.ts';
import type { NotTold } from '../../ports/indexing/following.ts';
import type { TransferFact } from '../../ports/indexing/transfer-store.ts';
import type { NodeBlock, NodeLog } from './wire.ts';

/** keccak256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** keccak256 of `TransferSingle(address,address,address,uint256,uint256)`, of ERC-1155. */
export const SINGLE_TOPIC = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
/** keccak256 of `TransferBatch(address,address,address,uint256[],uint256[])`, of ERC-1155. */
export const BATCH_TOPIC = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

/** The topics that say that something moved. */
export const MOVED_TOPICS: readonly string[] = [TRANSFER_TOPIC, SINGLE_TOPIC, BATCH_TOPIC];

const FUNGIBLE_TOPICS = 3;
const NFT_TOPICS = 4;
/** A word in hex digits. */
const WORD = 64;
const HEX_PREFIX = '0x';
const ADDRESS_CHARS = 40;
const SINGLE_WORDS = 2;
/** The two offsets and the two lengths of a batch. */
const BATCH_HEAD_WORDS = 4;

/** Whether a log says that something moved, in whatever shape. */
export function isTransferLog({ topics }: NodeLog): boolean {
  const [topic] = topics;
  return topic !== undefined && MOVED_TOPICS.includes(topic);
}

type Moved = {
  readonly kind: 'token' | 'nft';
  readonly from: string;
  readonly to: string;
  /** The amount, or the ids. */
  readonly amounts: readonly bigint[];
};

/** The token transfers among the logs of one block, and how many others looked like them. */
export function tokenTransfers(
  chain: ChainName,
  block: NodeBlock,
  logs: readonly NodeLog[],
): { readonly transfers: TransferFact[]; readonly left_out: NotTold } {
  const initiators = new Map(block.transactions.map((one) => [one.hash, one.from]));
  const transfers: TransferFact[] = [];
  let misshapen = 0;
  for (const log of logs) {
    if (!isTransferLog(log)) continue;
    const moved = movedBy(log);
    if (moved === null) {
      misshapen += 1;
      continue;
    }
    const { kind, from, to, amounts } = moved;
    const initiator = initiators.get(log.transactionHash);
    for (const raw_amount of amounts) {
      transfers.push({
        chain,
        block: block.number,
        block_time: block.timestamp,
        block_hash: block.hash,
        tx_hash: log.transactionHash,
        position: log.logIndex,
        kind,
        token: log.address,
        from: `0x${from.slice(-ADDRESS_CHARS)}`,
        to: `0x${to.slice(-ADDRESS_CHARS)}`,
        raw_amount,
        success: true,
        initiator: initiator === undefined ? null : initiator,
      });
    }
  }
  return { transfers, left_out: { misshapen } };
}

function movedBy({ topics, data }: NodeLog): Moved | null {
  const [topic, first, second, third] = topics;
  if (first === undefined || second === undefined) return null;
  const words = wordsOf(data);
  if (words === null) return null;
  if (topic === TRANSFER_TOPIC) {
    if (topics.length === FUNGIBLE_TOPICS && words.length === 1) {
      return { kind: 'token', from: first, to: second, amounts: words };
    }
    const isNft = topics.length === NFT_TOPICS && third !== undefined && words.length === 0;
    return isNft ? { kind: 'nft', from: first, to: second, amounts: [BigInt(third)] } : null;
  }
  // The first of an ERC-1155 event is whoever was allowed to move it.
  if (topics.length !== NFT_TOPICS || third === undefined) return null;
  const ids = topic === SINGLE_TOPIC ? singleOf(words) : idsOf(words);
  return ids === null ? null : { kind: 'nft', from: second, to: third, amounts: ids };
}

function wordsOf(data: string): bigint[] | null {
  const digits = data.slice(HEX_PREFIX.length);
  if (digits.length % WORD !== 0) return null;
  return Array.from({ length: digits.length / WORD }, (_, at) =>
    BigInt(HEX_PREFIX + digits.slice(at * WORD, (at + 1) * WORD)),
  );
}

function singleOf(words: readonly bigint[]): bigint[] | null {
  return words.length === SINGLE_WORDS ? words.slice(0, 1) : null;
}

/** The ids of a batch: two lists of one length behind their offsets, as encoders write them. */
function idsOf(words: readonly bigint[]): bigint[] | null {
  const [idsAt, valuesAt, count] = words;
  const length = Number(count);
  const inOrder =
    idsAt === BigInt(2 * (WORD / 2)) &&
    words.length === BATCH_HEAD_WORDS + 2 * length &&
    valuesAt === BigInt((3 + length) * (WORD / 2)) &&
    words[3 + length] === count;
  return inOrder ? words.slice(3, 3 + length) : null;
}
