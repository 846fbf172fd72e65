// Reads the execution of blocks from a node: receipts, by block or one by one, and traces of one of
// two kinds if the node has them. A method that is missing, or a null, is never taken for a block
// in which nothing happened.

import { z } from 'zod';
import { isSystemAddress } from '../../chain/address.ts';
import type { EvmChainName } from '../../chain/chain.ts';
import {
  type CommittedReceipt,
  logsBloom,
  receiptsRoot,
  trieRoot,
} from '../../chain/receipts-root.ts';
import {
  encodeTransaction,
  stateSyncHash,
  transactionHash,
} from '../../chain/transactions-root.ts';
import { BLOCK_PROOFS } from '../../chain/transfer.ts';
import { rowsUnder } from '../../evidence/measure.ts';
import { BYTES } from '../http/fetch.ts';
import type { JsonRpc, RpcAnswer, RpcCall } from '../http/json-rpc.ts';
import { attempt } from '../http/provider.ts';
import {
  callTracerFrames,
  checkCalls,
  type Execution,
  NULL_ADDRESS,
  parityFrames,
  type TraceFrame,
} from './decode-block.ts';
import { nodeRefusalOf } from './log-ranges.ts';
import {
  ChainMoved,
  FLAT_TRACED,
  type NodeBlock,
  NodeFault,
  type NodeReceipt,
  PARITY_TRACE,
  parseResult,
  quantity,
  RECEIPT,
  TRACED,
} from './wire.ts';

/** The kinds of traces, best first. Rewards stand in `trace_block` only. */
const TRACES = ['trace_block', 'flat_call_tracer', 'call_tracer'] as const;
type TracePath = (typeof TRACES)[number];
/** The ways to receipts, best first. */
const RECEIPT_PATHS = ['block_receipts', 'tx_receipts'] as const;
type ReceiptPath = (typeof RECEIPT_PATHS)[number];
/**
 * The way of reading execution from a node, which may have no traces. `rooted`: both roots in its
 * headers are recomputed, and a block of which one does not fit is not read.
 */
export type NodeWay = {
  readonly traces: TracePath | null;
  readonly receipts: ReceiptPath;
  readonly rooted: boolean;
};

/** Asks for something of several blocks, and answers it in their order. */
type Ask<T> = (rpc: JsonRpc, blocks: readonly NodeBlock[], signal: AbortSignal) => Promise<T[]>;

/** The traces of one block may be a hundred megabytes of text, most of which is left out here. */
const BLOCKS_A_QUESTION = 4;
const PARITY = z.array(PARITY_TRACE);
const CALLS = z.array(TRACED);
const RECEIPTS = z.array(RECEIPT);
const FLAT = z.array(FLAT_TRACED);
const CALL_TRACER = { tracer: 'callTracer', tracerConfig: { onlyTopCall: false, withLog: false } };
/** Precompiled contracts are left out unless they are asked for, and coins may be sent to them. */
const FLAT_CALL_TRACER = {
  tracer: 'flatCallTracer',
  tracerConfig: { includePrecompiles: true, convertParityErrors: false },
};
const TRACE_BY_HASH = 'debug_traceBlockByHash';
const RAW_METHOD = 'eth_getRawTransactionByHash';

const ASK_TRACES: Readonly<Record<TracePath, Ask<readonly TraceFrame[]>>> = {
  trace_block: async (rpc, blocks, signal) => {
    const calls = blocks.map(({ number }) => callOf('trace_block', [quantity(number)]));
    const answers = await rpc.batch(calls, signal);
    return answers.map((answer, i) => {
      const traces = parseResult(PARITY, resultOf(answer, 'trace_block'), 'trace_block');
      // It is asked by number: another block may stand there by now.
      const other = traces.some((one) => one.blockHash !== blocks[i]?.hash);
      if (other) throw new ChainMoved();
      checkCalls(traces);
      return parityFrames(traces);
    });
  },
  flat_call_tracer: async (rpc, blocks, signal) => {
    const calls = blocks.map(({ hash }) => callOf(TRACE_BY_HASH, [hash, FLAT_CALL_TRACER]));
    const answers = await rpc.batch(calls, signal);
    return answers.map((answer, i) => {
      const told = parseResult(FLAT, resultOf(answer, TRACE_BY_HASH), TRACE_BY_HASH);
      const traces = told.flatMap(({ result }) => result);
      const hashes = hashesOfTraces(
        blocks[i],
        told.filter(({ result }) => result.length > 0).length,
      );
      const roots = traces.filter(({ traceAddress }) => traceAddress.length === 0);
      const isOwn = roots.every(({ transactionHash: tx }, n) => tx === hashes[n]);
      if (!isOwn || roots.length !== hashes.length) {
        throw new NodeFault('traced other transactions than the block has');
      }
      if (traces.some((one) => one.blockHash !== blocks[i]?.hash)) throw new ChainMoved();
      checkCalls(traces);
      return parityFrames(traces);
    });
  },
  call_tracer: async (rpc, blocks, signal) => {
    const method = TRACE_BY_HASH;
    const calls = blocks.map(({ hash }) => callOf(method, [hash, CALL_TRACER]));
    const answers = await rpc.batch(calls, signal);
    return answers.map((answer, i) => {
      const traced = parseResult(CALLS, resultOf(answer, method), method);
      return callTracerFrames(traced, hashesOfTraces(blocks[i], traced.length));
    });
  },
};

const ASK_RECEIPTS: Readonly<Record<ReceiptPath, Ask<readonly NodeReceipt[]>>> = {
  block_receipts: async (rpc, blocks, signal) => {
    const method = 'eth_getBlockReceipts';
    const calls = blocks.map(({ hash }) => callOf(method, [hash]));
    const answers = await rpc.batch(calls, signal);
    return answers.map((answer) => parseResult(RECEIPTS, resultOf(answer, method), method));
  },
  tx_receipts: async (rpc, blocks, signal) => {
    const method = 'eth_getTransactionReceipt';
    const told: NodeReceipt[][] = [];
    for (const block of blocks) {
      const calls = hashesOf(block).map((hash) => callOf(method, [hash]));
      const answers = await rpc.batch(calls, signal);
      told.push(answers.map((one) => parseResult(RECEIPT, resultOf(one, method), method)));
    }
    return told;
  },
};

function callOf(method: string, params: readonly unknown[]): RpcCall {
  return { method, params };
}

function hashesOf(block: NodeBlock | undefined): string[] {
  if (block === undefined) throw new TypeError('more answers than blocks');
  return block.transactions.map((one) => one.hash);
}

/** The transactions that so many traces are of: state sync, of nobody to nobody, may have none. */
function hashesOfTraces(block: NodeBlock | undefined, traces: number): string[] {
  const all = hashesOf(block);
  if (block === undefined || traces === all.length) return all;
  return block.transactions
    .filter(({ from, to }) => from !== NULL_ADDRESS || to !== NULL_ADDRESS)
    .map(({ hash }) => hash);
}

/** A result that is one; `null` is a block that the node does not have (any more). */
export function resultOf(answer: RpcAnswer, method: string): unknown {
  if (answer.ok) {
    if (answer.result === null) throw new ChainMoved();
    return answer.result;
  }
  const refusal = nodeRefusalOf(answer.error);
  switch (refusal.kind) {
    case 'moved':
      throw new ChainMoved();
    case 'terminal':
      throw new NodeFault(refusal.fault);
    case 'rate':
      throw new NodeFault('limits the rate of requests');
    case 'range':
      throw new NodeFault(`refuses ${method} of a single block`);
    case 'unsupported':
      throw new NodeFault(`does not serve ${method}`);
  }
}

/** The execution of blocks with all of the receipts that prove it, in order. */
export async function executions(
  rpc: JsonRpc,
  chain: EvmChainName,
  way: NodeWay,
  blocks: readonly NodeBlock[],
  signal: AbortSignal,
): Promise<{ readonly execution: Execution; readonly receipts: readonly NodeReceipt[] }[]> {
  const busy = blocks.filter(({ transactions }) => transactions.length > 0);
  const told = await byHash(ASK_RECEIPTS[way.receipts], rpc, busy, signal);
  const proven = blocks.map((block) => {
    return provenReceipts(chain, block, rowsUnder(told, block.hash), way.rooted);
  });
  await holdTransactions(rpc, chain, way, blocks, signal);
  // No node traces the first block: what it holds was given before anything ran. A block without
  // transactions gives rewards, which stand in `trace_block` only.
  const traced = way.traces === 'trace_block' ? blocks.filter(({ number }) => number > 0) : busy;
  const { traces } = way;
  const frames = traces && (await byHash(ASK_TRACES[traces], rpc, traced, signal));
  return blocks.map(({ hash }, i) => {
    const [receipts, own] = [proven[i], frames?.get(hash)];
    if (receipts === undefined) throw new TypeError('a block untold');
    const execution: Execution =
      own === undefined ? { by: 'receipts', receipts } : { by: 'traces', frames: own };
    return { execution, receipts };
  });
}

/** Nothing ran in a block without transactions; its header must say so too. */
async function byHash<T>(
  ask: Ask<T>,
  rpc: JsonRpc,
  blocks: readonly NodeBlock[],
  signal: AbortSignal,
): Promise<Map<string, T>> {
  const told = new Map<string, T>();
  for (let at = 0; at < blocks.length; at += BLOCKS_A_QUESTION) {
    const some = blocks.slice(at, at + BLOCKS_A_QUESTION);
    const answers = await ask(rpc, some, signal);
    for (const [i, { hash }] of some.entries()) {
      const answer = answers[i];
      if (answer === undefined) throw new TypeError('a block untold');
      told.set(hash, answer);
    }
  }
  return told;
}

/** The best way that a node has, probed with a block that it does have. */
export async function bestWay(
  rpc: JsonRpc,
  chain: EvmChainName,
  block: NodeBlock,
  signal: AbortSignal,
): Promise<NodeWay> {
  const receipts = await firstPath(rpc, RECEIPT_PATHS, block, signal);
  if (receipts === null) throw new NodeFault('serves no receipts, which prove its blocks whole');
  const traces = await firstPath(rpc, TRACES, block, signal);
  return { traces, receipts, rooted: await tellsRoots(rpc, chain, receipts, block, signal) };
}

/** Whether both roots in the headers of a node can be recomputed, by a block that shows it. */
async function tellsRoots(
  rpc: JsonRpc,
  chain: EvmChainName,
  receipts: ReceiptPath,
  block: NodeBlock,
  signal: AbortSignal,
): Promise<boolean> {
  const { rooted } = BLOCK_PROOFS[chain];
  if (rooted !== 'where_told') return rooted === 'always';
  const [first] = block.transactions.filter(({ hash }) => hash !== stateSyncHash(block));
  // Later blocks may hold kinds of transactions that only their raw form tells.
  const raw = first && (await rpc.call(callOf(RAW_METHOD, [first.hash]), signal));
  const tellsRaw = raw?.ok === true && raw.result !== null;
  const way = { traces: null, receipts, rooted: true };
  const held = await attempt(NodeFault, () => executions(rpc, chain, way, [block], signal));
  return tellsRaw && !(held instanceof NodeFault);
}

/** Whether a node has traces of a block, of any kind. */
export async function hasTraces(
  rpc: JsonRpc,
  block: NodeBlock,
  signal: AbortSignal,
): Promise<boolean> {
  return (await firstPath(rpc, TRACES, block, signal)) !== null;
}

async function firstPath<Path extends TracePath | ReceiptPath>(
  rpc: JsonRpc,
  paths: readonly Path[],
  block: NodeBlock,
  signal: AbortSignal,
): Promise<Path | null> {
  for (const path of paths) if (!(await lacks(rpc, path, block, signal))) return path;
  return null;
}

/** Whether a way cannot be gone with this node. What may pass is thrown on. */
async function lacks(
  rpc: JsonRpc,
  way: TracePath | ReceiptPath,
  block: NodeBlock,
  signal: AbortSignal,
): Promise<boolean> {
  const [hash] = hashesOf(block);
  if (way === 'tx_receipts' && hashesOf(block).length === 0) return false;
  const probes: Readonly<Record<TracePath | ReceiptPath, RpcCall>> = {
    trace_block: callOf('trace_block', [quantity(block.number)]),
    flat_call_tracer: callOf(TRACE_BY_HASH, [block.hash, FLAT_CALL_TRACER]),
    call_tracer: callOf(TRACE_BY_HASH, [block.hash, CALL_TRACER]),
    block_receipts: callOf('eth_getBlockReceipts', [block.hash]),
    tx_receipts: callOf('eth_getTransactionReceipt', [hash]),
  };
  const probe = probes[way];
  const answer = await rpc.call(probe, signal);
  if (answer.ok) {
    // Some answer a method they do not serve with null or nothing.
    const empty =
      answer.result === null || (Array.isArray(answer.result) && answer.result.length === 0);
    // Some trace by another tracer than the one that they were asked for.
    const isOther = way === 'flat_call_tracer' && !FLAT.safeParse(answer.result).success;
    return isOther || (empty && hash !== undefined);
  }
  const refusal = nodeRefusalOf(answer.error);
  if (refusal.kind === 'moved') throw new ChainMoved();
  if (refusal.kind === 'rate') throw new NodeFault('limits the rate of requests');
  return true;
}

// One for each transaction, logs numbered from 0 without a gap, and the header's bloom made of just
// these logs; where receipts are encoded as Ethereum's, the header's root of them too. A block that
// shows less is not read: half a block is never taken for a quiet one.

/**
 * The receipts in the order of the block's transactions. Throws `NodeFault` where they are not
 * proven whole, and `ChainMoved` where they are of another block.
 */
export function provenReceipts(
  chain: EvmChainName,
  block: NodeBlock,
  receipts: readonly NodeReceipt[],
  rooted: boolean,
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
  if (rooted)
    checkRoot(
      block,
      rowsOfRoot(chain, block, ordered, (one) => one.transactionHash),
    );
  return ordered;
}

/** What the roots of a header commit to: all but Polygon's state sync of its time before. */
function rowsOfRoot<T>(
  chain: EvmChainName,
  block: NodeBlock,
  rows: readonly T[],
  hashIn: (row: T) => string,
): readonly T[] {
  if (chain !== 'polygon') return rows;
  const apart = stateSyncHash(block);
  return rows.filter((one) => hashIn(one) !== apart);
}

// The root of the transactions shows one that is missing together with its receipt, and another
// amount or receiver. Kinds that are not known are asked for raw where the root must fit; where the
// root of the receipts proves a block already, it is held against what the node tells of itself.

async function holdTransactions(
  rpc: JsonRpc,
  chain: EvmChainName,
  way: NodeWay,
  blocks: readonly NodeBlock[],
  signal: AbortSignal,
): Promise<void> {
  if (!way.rooted) return;
  const mustFit = BLOCK_PROOFS[chain].rooted === 'where_told';
  for (const block of blocks) {
    const { transactionsRoot: told } = block;
    if (told == null) {
      if (mustFit) throw new NodeFault('told a block without the root of its transactions');
      continue;
    }
    const own = rowsOfRoot(chain, block, block.transactions, (one) => one.hash);
    const encoded = own.map((one) => encodingOf(one));
    const whole = mustFit ? await fillRaw(rpc, own, encoded, signal) : encoded;
    const known = whole.filter((one) => one !== null);
    if (known.length === whole.length && trieRoot(known) !== told) {
      throw new NodeFault('told a block whose transactions are not those of its root');
    }
  }
}

/** `null` where the kind is not known, or is not told and is another than it seems. */
function encodingOf(tx: NodeBlock['transactions'][number]): Uint8Array | null {
  const encoding = encodeTransaction(tx);
  if (encoding === null || (tx.type != null && tx.type <= KINDS_MAX)) return encoding;
  return transactionHash(encoding) === tx.hash ? encoding : null;
}

/** The newest kind of transaction of Ethereum itself, of EIP-7702. */
const KINDS_MAX = 4;

/** The encodings with those that a node tells raw, each by its own hash. */
async function fillRaw(
  rpc: JsonRpc,
  transactions: readonly NodeBlock['transactions'][number][],
  encoded: readonly (Uint8Array | null)[],
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const unknown = transactions.filter((_, i) => encoded[i] === null);
  const calls = unknown.map(({ hash }) => callOf(RAW_METHOD, [hash]));
  const answers = calls.length === 0 ? [] : await rpc.batch(calls, signal);
  const raw = new Map(
    answers.map((answer, i) => {
      const told = parseResult(BYTES, resultOf(answer, RAW_METHOD), RAW_METHOD);
      return [unknown[i]?.hash, Buffer.from(told.slice('0x'.length), 'hex')];
    }),
  );
  return transactions.map(({ hash }, i) => {
    const encoding = encoded[i] ?? raw.get(hash);
    if (encoding === undefined) throw new NodeFault('told no raw form of a transaction');
    return encoding;
  });
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
  const own = receipts.filter((_, i) => {
    const sent = block.transactions[i];
    return sent === undefined || !isSystemAddress(sent.from);
  });
  const leavesOut = BLOOM_WITHOUT_SYSTEM.has(chain) && own.length < receipts.length;
  if (leavesOut && told === logsBloom(own.flatMap((one) => one.logs))) return;
  throw new NodeFault('told a block whose bloom is not that of its logs');
}

/**
 * Chains whose headers may leave out system logs: Polygon's state sync, and the transfers from
 * HyperCore that some nodes of HyperEVM show.
 */
const BLOOM_WITHOUT_SYSTEM: ReadonlySet<EvmChainName> = new Set(['polygon', 'hyperevm']);

/** Of headers that commit to receipts in Ethereum's own encoding, or in that of the OP stack. */
function checkRoot({ receiptsRoot: told }: NodeBlock, receipts: readonly NodeReceipt[]): void {
  if (told == null) throw new NodeFault('told a block without the root of its receipts');
  if (told !== receiptsRoot(receipts.map(committedReceipt))) {
    throw new NodeFault('told a block whose receipts are not those of its root');
  }
}

function committedReceipt(receipt: NodeReceipt): CommittedReceipt {
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
