// With traces both kinds of coin transfer are known; with receipts only those of transactions. A
// block is refused if a transaction has neither.

import type { ChainName } from '../../chain/chain.ts';
import { listFrom } from '../../evidence/measure.ts';
import type { HeldCreation, MisshapenLogs, TipBlock, TransferFact } from '../../ports/indexing.ts';
import {
  type NodeBlock,
  NodeFault,
  type NodeHeader,
  type NodeLog,
  type NodeReceipt,
  type ParityTrace,
  type Traced,
} from './wire.ts';

/** The form in which a node reports the execution of a block. */
export type Execution =
  | { readonly by: 'traces'; readonly frames: readonly TraceFrame[] }
  | { readonly by: 'receipts'; readonly receipts: readonly NodeReceipt[] };

type Coin = Pick<TransferFact, 'kind' | 'from' | 'to' | 'raw_amount' | 'initiator' | 'success'> & {
  readonly tx_hash: string | null;
  readonly position: number | string | null;
};
type BlockCoins = { readonly coins: Coin[]; readonly creations: HeldCreation[] };

/** A withdrawal's amount is told in gwei (EIP-4895). */
const WEI_PER_GWEI = 10n ** 9n;

/** A header as the store takes it. */
export function headerOf({
  number,
  hash,
  parentHash,
  timestamp,
}: NodeHeader): Omit<TipBlock, 'transfers' | 'creations'> {
  return { number, hash, parent_hash: parentHash, time: timestamp };
}

/** The block with its facts. `tokens` are its token transfers. */
export function decodeBlock(
  chain: ChainName,
  block: NodeBlock,
  tokens: readonly TransferFact[],
  execution: Execution,
): TipBlock {
  const told =
    execution.by === 'traces'
      ? byTraces(chain, block, execution.frames)
      : byReceipts(chain, block, execution.receipts);
  const coins = [...told.coins, ...byTheChain(block)].map((coin) =>
    coinTransfer(chain, block, coin),
  );
  return { ...headerOf(block), transfers: [...coins, ...tokens], creations: told.creations };
}

function coinTransfer(chain: ChainName, block: NodeBlock, coin: Coin): TransferFact {
  const { kind, from, to, raw_amount, initiator, success } = coin;
  const common = { chain, block: block.number, block_time: block.timestamp };
  const what = { kind, token: null, from, to, raw_amount, success, initiator };
  const { tx_hash, position } = coin;
  if (tx_hash !== null) return { ...common, ...what, tx_hash, block_hash: block.hash, position };
  if (position === null) throw new TypeError('a transfer without transaction and position');
  return { ...common, ...what, tx_hash, block_hash: block.hash, position };
}

function byTraces(chain: ChainName, block: NodeBlock, frames: readonly TraceFrame[]): BlockCoins {
  const roots = new Map(
    frames.filter((one) => one.path.length === 0).map((one) => [one.tx_hash, one]),
  );
  const initiators = new Map(block.transactions.map((one) => [one.hash, one.from]));
  const coins: Coin[] = [];
  const creations: HeldCreation[] = [];
  for (const { hash, from, to, value } of block.transactions) {
    const root = roots.get(hash);
    // Polygon's state sync is a transaction of nobody to nobody, and nothing of it is traced.
    const ofNobody = from === NULL_ADDRESS && to === NULL_ADDRESS;
    if (root === undefined && !ofNobody) throw new NodeFault('told no trace of a transaction');
    if (root?.failed === true && to != null) {
      coins.push(rootCoin({ hash, from, to, value }, false));
    }
  }
  let rewards = 0;
  for (const { tx_hash, path, type, from, to, value } of succeedingFrames(frames)) {
    if (type === 'other') continue;
    if (tx_hash === null) {
      const place = { tx_hash, position: rewards, kind: 'internal' } as const;
      coins.push({ ...place, from, to, raw_amount: value, initiator: null, success: true });
      rewards += 1;
      continue;
    }
    const initiator = initiators.get(tx_hash);
    if (initiator === undefined) throw new NodeFault('told a trace of another block');
    const root = path.length === 0;
    const place = { tx_hash, position: root ? null : path.join('_') };
    const kind = root ? 'native' : 'internal';
    coins.push({ ...place, kind, from, to, raw_amount: value, initiator, success: true });
    if (type === 'create') creations.push(creation(chain, block, { tx_hash, from, to, initiator }));
  }
  return { coins, creations };
}

function byReceipts(
  chain: ChainName,
  block: NodeBlock,
  receipts: readonly NodeReceipt[],
): BlockCoins {
  const byHash = new Map(receipts.map((one) => [one.transactionHash, one]));
  const coins: Coin[] = [];
  const creations: HeldCreation[] = [];
  for (const { hash, from, to, value } of block.transactions) {
    const receipt = byHash.get(hash);
    if (receipt === undefined) throw new NodeFault('told no receipt of a transaction');
    const success = receipt.status == null ? null : receipt.status === 1;
    const created = receipt.contractAddress;
    const target = to == null ? created : to;
    // A creation that failed went nowhere, though some receipts name where it would have been.
    if (target == null || (to == null && success === false)) continue;
    coins.push(rootCoin({ hash, from, to: target, value }, success));
    if (to == null && created != null && success === true) {
      const made = { tx_hash: hash, from, to: created, initiator: from };
      creations.push(creation(chain, block, made));
    }
  }
  return { coins, creations };
}

function rootCoin(
  tx: { readonly hash: string; from: string; to: string; value: bigint },
  success: boolean | null,
): Coin {
  const { hash: tx_hash, from, to, value: raw_amount } = tx;
  return {
    tx_hash,
    position: null,
    kind: 'native',
    from,
    to,
    raw_amount,
    initiator: from,
    success,
  };
}

/** Coins from the chain itself: withdrawals, and mints of the OP stack for deposits. */
function byTheChain(block: NodeBlock): Coin[] {
  const given = { kind: 'internal', from: NULL_ADDRESS, success: true } as const;
  const coins: Coin[] = [];
  for (const { hash, from, mint } of block.transactions) {
    if (mint == null || mint === 0n) continue;
    const place = { tx_hash: hash, position: 'mint' };
    coins.push({ ...given, ...place, to: from, raw_amount: mint, initiator: from });
  }
  const withdrawals = block.withdrawals;
  if (withdrawals == null) return coins;
  for (const { index, address, amount } of withdrawals) {
    const place = { tx_hash: null, position: index };
    const raw_amount = amount * WEI_PER_GWEI;
    coins.push({ ...given, ...place, to: address, raw_amount, initiator: null });
  }
  return coins;
}

function creation(
  chain: ChainName,
  block: NodeBlock,
  made: { tx_hash: string; from: string; to: string; initiator: string },
): HeldCreation {
  return {
    chain,
    created: made.to,
    creator: made.from,
    initiator: made.initiator,
    tx_hash: made.tx_hash,
    block: block.number,
    block_hash: block.hash,
    block_time: block.timestamp,
  };
}

// ERC-20 and ERC-721 say `Transfer` with one and the same topic: the first with three topics and 32
// bytes of data, the second with four topics. An id is never an amount. What has the topic of a
// transfer and no such shape is counted.

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
const LOG_WORD = 64;
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
): { readonly transfers: TransferFact[]; readonly left_out: MisshapenLogs } {
  const initiators = new Map(block.transactions.map((one) => [one.hash, one.from]));
  const transfers: TransferFact[] = [];
  let misshapen = 0;
  for (const log of logs) {
    if (!isTransferLog(log)) continue;
    const moved = movementIn(log);
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

function movementIn({ topics, data }: NodeLog): Moved | null {
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
  const single = words.length === SINGLE_WORDS ? words.slice(0, 1) : null;
  const ids = topic === SINGLE_TOPIC ? single : idsOf(words);
  return ids === null ? null : { kind: 'nft', from: second, to: third, amounts: ids };
}

function wordsOf(data: string): bigint[] | null {
  const digits = data.slice(HEX_PREFIX.length);
  if (digits.length % LOG_WORD !== 0) return null;
  return Array.from({ length: digits.length / LOG_WORD }, (_, at) =>
    BigInt(HEX_PREFIX + digits.slice(at * LOG_WORD, (at + 1) * LOG_WORD)),
  );
}

/** The ids of a batch: two lists of one length behind their offsets, as encoders write them. */
function idsOf(words: readonly bigint[]): bigint[] | null {
  const [idsAt, valuesAt, count] = words;
  const length = Number(count);
  const inOrder =
    idsAt === BigInt(2 * (LOG_WORD / 2)) &&
    words.length === BATCH_HEAD_WORDS + 2 * length &&
    valuesAt === BigInt((3 + length) * (LOG_WORD / 2)) &&
    words[3 + length] === count;
  return inOrder ? words.slice(3, 3 + length) : null;
}

// Only what succeeded moved: a frame counts where it and all that called it succeeded. Delegated,
// static and code calls move nothing between accounts, but what they called may.

/** One step of a block's execution. `path` is the way to it from its transaction's root. */
export type TraceFrame = {
  /** `null` for what the chain did by itself: a reward. */
  readonly tx_hash: string | null;
  readonly path: readonly number[];
  readonly type: 'call' | 'create' | 'self_destruct' | 'reward' | 'other';
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly failed: boolean;
};

/** Where a reward comes from, as in token logs. */
export const NULL_ADDRESS = '0x0000000000000000000000000000000000000000';

/** The maximum depth of calls, and so of a trace: EIP-150 keeps it at 1,024. */
const DEPTH_MAX = 1_024;

/** The frames of `trace_block`. */
export function parityFrames(traces: readonly ParityTrace[]): TraceFrame[] {
  return traces.map((trace) => {
    const { action, result, traceAddress: path, transactionHash } = trace;
    const tx_hash = transactionHash === undefined ? null : transactionHash;
    const failed = trace.error !== undefined && trace.error !== null;
    const at = { tx_hash, path, failed };
    switch (trace.type) {
      case 'call': {
        const type = action.callType === 'call' ? 'call' : 'other';
        // Some nodes leave the value out where a call cannot carry one.
        const value = type === 'other' && action.value == null ? 0n : action.value;
        return { ...at, type, ...movement(action.from, action.to, value) };
      }
      case 'create': {
        // A create that failed has no address: nothing of it is looked at but its failure.
        const created = failed ? action.from : result?.address;
        return { ...at, type: 'create', ...movement(action.from, created, action.value) };
      }
      case 'suicide':
      case 'selfdestruct':
        return {
          ...at,
          type: 'self_destruct',
          ...movement(action.address, action.refundAddress, action.balance),
        };
      case 'reward':
        return { ...at, type: 'reward', ...movement(NULL_ADDRESS, action.author, action.value) };
      default:
        throw new NodeFault('told a trace of an unknown type');
    }
  });
}

/** Each trace tells how many calls it made: all of them must be there, by their numbers. */
export function checkCalls(traces: readonly ParityTrace[]): void {
  const own = traces.filter(({ type }) => type !== 'reward');
  const made = new Map<string, Set<number>>();
  for (const { transactionHash: tx, traceAddress } of own) {
    const n = traceAddress.at(-1);
    if (n === undefined) continue;
    const caller = key(String(tx), traceAddress.slice(0, -1));
    made.set(caller, new Set([...listFrom(made.get(caller), (some) => [...some]), n]));
  }
  const frames = new Set<string>();
  for (const { transactionHash: tx, traceAddress, subtraces } of own) {
    const at = key(String(tx), traceAddress);
    const calls = made.get(at);
    const isWhole =
      calls === undefined
        ? subtraces === 0
        : calls.size === subtraces && Math.max(...calls) === subtraces - 1;
    if (!isWhole || frames.has(at)) throw new NodeFault('told a trace that lacks a call');
    frames.add(at);
  }
  if ([...made.keys()].some((caller) => !frames.has(caller))) {
    throw new NodeFault('told a trace that lacks a call');
  }
}

/** The frames of `debug_traceBlock…` with `callTracer`; `hashes` are the block's transactions. */
export function callTracerFrames(
  traced: readonly Traced[],
  hashes: readonly string[],
): TraceFrame[] {
  if (traced.length !== hashes.length) throw new NodeFault('traced not every transaction');
  const frames: TraceFrame[] = [];
  traced.forEach(({ txHash, result }, i) => {
    const tx_hash = hashes[i];
    if (tx_hash === undefined || (txHash != null && txHash !== tx_hash)) {
      throw new NodeFault('traced other transactions than the block has');
    }
    const open = [{ frame: result, path: [] as number[] }];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const { frame, path } = at;
      if (path.length > DEPTH_MAX) throw new NodeFault('told a trace of impossible depth');
      frames.push(frameOf(frame, tx_hash, path));
      frame.calls?.forEach((called, n) => {
        open.push({ frame: called, path: [...path, n] });
      });
    }
  });
  return frames;
}

const CALL_TYPES: ReadonlyMap<string, TraceFrame['type']> = new Map([
  ['CALL', 'call'],
  ['CREATE', 'create'],
  ['CREATE2', 'create'],
  ['SELFDESTRUCT', 'self_destruct'],
  ['CALLCODE', 'other'],
  ['DELEGATECALL', 'other'],
  ['STATICCALL', 'other'],
]);

function frameOf(frame: Traced['result'], tx_hash: string, path: readonly number[]): TraceFrame {
  const type = CALL_TYPES.get(frame.type);
  if (type === undefined) throw new NodeFault('told a trace of an unknown type');
  const failed = frame.error !== undefined && frame.error !== null;
  const to = failed && type === 'create' ? frame.from : frame.to;
  // Geth leaves the value out where a call cannot carry one.
  const value = type === 'other' && frame.value == null ? 0n : frame.value;
  return { tx_hash, path, type, failed, ...movement(frame.from, to, value) };
}

function movement(
  from: string | null | undefined,
  to: string | null | undefined,
  value: bigint | null | undefined,
): Pick<TraceFrame, 'from' | 'to' | 'value'> {
  if (from == null || to == null || value == null) {
    throw new NodeFault('told a trace without its accounts or value');
  }
  return { from, to, value };
}

/** The frames that happened: those that succeeded, called by none that failed. */
export function succeedingFrames(frames: readonly TraceFrame[]): TraceFrame[] {
  const failed = new Set(
    frames.filter((one) => one.failed).map(({ tx_hash, path }) => key(tx_hash, path)),
  );
  return frames.filter(({ tx_hash, path }) => {
    for (let depth = 0; depth <= path.length; depth += 1) {
      if (failed.has(key(tx_hash, path.slice(0, depth)))) return false;
    }
    return true;
  });
}

function key(tx_hash: string | null, path: readonly number[]): string {
  return `${tx_hash}/${path.join('_')}`;
}
