// A stand-in for tests and the simulated world: blocks, logs, receipts and both kinds of trace that
// agree with what the explorers tell, re-orgs of a chosen depth, and faults on demand.

import { createHash } from 'node:crypto';
import {
  type CommittedLog,
  type CommittedReceipt,
  logsBloom,
  receiptsRoot,
} from '../chain/receipts-root.ts';
import { answerCall, balanceAt, codeAt, nonceAt, storageAt } from './account-state.ts';
import type { ExplorerRow, WorldChains } from './chain-types.ts';
import { WORLD_SEED } from './listed-parties.ts';
import { inventAddress } from './made-up-address.ts';

/** The faults that a node can be given, beside going through a re-org. */
export const RPC_FAULTS = [
  'range-too-large',
  'rate-limited',
  'pruned',
  'html',
  'wrong-chain-id',
  'slow',
  'timeout',
  'error500',
  'wrong-shape',
  'lagging',
] as const;
export type NodeFaultName = (typeof RPC_FAULTS)[number];

/** A node of one chain. `reorgs` are the blocks above which each re-org replaced what was. */
type NodeOptions = {
  readonly chains: WorldChains;
  readonly chainId: number;
  readonly fault: () => NodeFaultName | null;
  readonly reorgs: readonly number[];
};

/** The deepest re-org that a simulated chain goes through. */
export const REORG_DEPTH_MAX = 64;
const RANGE_BLOCKS_MAX = 10_000;
/** Uniswap V2 and V4, which made no pair that the simulated venue does not list. */
const EXCHANGES = [
  '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f',
  '0x000000000004444c5dc75cb358380d2e3de08a90',
];
const RANGE_SMALL_BLOCKS = 50;
const FINAL_DEPTH = 64;
const BATCH_MAX = 100;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const GAS = 21_000;

class Refused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The answer to one request or a batch of them: the body's JSON value. */
export function nodeAnswer(options: NodeOptions, asked: unknown): unknown {
  if (Array.isArray(asked)) return asked.slice(0, BATCH_MAX).map((one) => answerOne(options, one));
  return answerOne(options, asked);
}

function answerOne(options: NodeOptions, asked: unknown): unknown {
  const field = (name: string): unknown =>
    typeof asked === 'object' && asked !== null ? Reflect.get(asked, name) : undefined;
  const params: unknown = field('params');
  const said = { jsonrpc: '2.0', id: field('id') };
  try {
    const method = METHODS[String(field('method'))];
    if (method === undefined) throw new Refused(-32601, 'the method does not exist');
    const result = method(options, Array.isArray(params) ? params : []);
    return { ...said, result: options.fault() === 'wrong-shape' ? {} : result };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...said, error: { code: error.code, message: error.message } };
  }
}

type Method = (options: NodeOptions, params: readonly unknown[]) => unknown;

const METHODS: Readonly<Record<string, Method | undefined>> = {
  web3_clientVersion: () => 'exhibit-world/1',
  net_version: ({ chainId }) => String(chainId),
  eth_chainId: ({ chainId, fault }) => hex(fault() === 'wrong-chain-id' ? chainId + 1 : chainId),
  eth_blockNumber: (options) => hex(headOf(options)),
  eth_syncing: () => false,
  eth_getBlockByNumber: (options, [tag, full]) => blockOf(options, numberOf(options, tag), full),
  eth_getBlockByHash: (options, [hash, full]) => blockOf(options, byHash(options, hash), full),
  eth_getBlockReceipts: (options, [at]) => {
    const block = isHash(at) ? byHash(options, at) : numberOf(options, at);
    return block === null ? null : transactionsIn(options, block).map((tx) => receiptOf(tx));
  },
  eth_getTransactionReceipt: (options, [hash]) => {
    const tx = transactionBy(options, hash);
    return tx === null ? null : receiptOf(tx);
  },
  eth_getTransactionByHash: (options, [hash]) => {
    const tx = transactionBy(options, hash);
    return tx === null ? null : transactionFields(tx);
  },
  eth_getCode: (options, [address]) => codeAt(accountOf(options, address)),
  eth_getTransactionCount: (options, [address]) => hex(nonceAt(accountOf(options, address))),
  eth_getBalance: (options, [address]) => hex(balanceAt(accountOf(options, address))),
  eth_getStorageAt: (options, [address, slot]) =>
    storageAt(accountOf(options, address), String(slot)),
  eth_call: (options, [call]) => {
    const field = (name: string): unknown =>
      typeof call === 'object' && call !== null ? Reflect.get(call, name) : undefined;
    const said = answerCall(accountOf(options, field('to')), String(field('data')));
    if (said === null) throw new Refused(3, 'execution reverted');
    return said;
  },
  eth_getLogs: (options, [filter]) => logsOf(options, filter),
  trace_block: (options, [tag]) => {
    const block = numberOf(options, tag);
    return block === null ? null : transactionsIn(options, block).flatMap(parityTraces);
  },
  debug_traceBlockByNumber: (options, [tag]) => frames(options, numberOf(options, tag)),
  debug_traceBlockByHash: (options, [hash]) => frames(options, byHash(options, hash)),
};

function accountOf({ chains, chainId }: NodeOptions, address: unknown) {
  if (typeof address !== 'string' || !/^0x[0-9a-f]{40}$/i.test(address)) {
    throw new Refused(-32602, 'invalid address');
  }
  return { chains, chainId, address };
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** How far a lagging node is behind, which answers as if nothing were wrong. */
const LAG_BLOCKS = 20_000;

function headOf({ chains, chainId, fault }: NodeOptions): number {
  const head = chains.headOf(chainId);
  return fault() === 'lagging' ? Math.max(0, head - LAG_BLOCKS) : head;
}

/** The block of a tag or number; `null` where there is none such yet. */
function numberOf(options: NodeOptions, tag: unknown): number | null {
  const head = headOf(options);
  if (tag === 'latest' || tag === 'pending') return head;
  if (tag === 'finalized' || tag === 'safe') return Math.max(0, head - FINAL_DEPTH);
  if (tag === 'earliest') return 0;
  if (typeof tag !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(tag)) {
    throw new Refused(-32602, 'invalid block number');
  }
  const number = Number(tag);
  return number > head ? null : number;
}

/** Each re-org below a block gives it, and all after it, other hashes. */
function hashOf({ chainId, reorgs }: NodeOptions, block: number): string {
  const fork = reorgs.filter((above) => block > above).length;
  // The number stands in it, so that a block is found by its hash.
  const salt = createHash('sha256').update(`${chainId} ${block} ${fork}`).digest('hex');
  return `0x${salt.slice(0, 52)}${block.toString(16).padStart(12, '0')}`;
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value);
}

function byHash(options: NodeOptions, hash: unknown): number | null {
  if (!isHash(hash)) return null;
  const block = Number(`0x${hash.slice(-12)}`);
  return block <= headOf(options) && hashOf(options, block) === hash ? block : null;
}

/** A transaction of a block with all that it moved. */
type WorldTransaction = {
  readonly hash: string;
  readonly block: number;
  readonly blockHash: string;
  readonly index: number;
  /** The index in the block of its first log. */
  readonly firstLog: number;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly success: boolean;
  readonly rows: readonly ExplorerRow[];
};

function transactionsIn(options: NodeOptions, block: number): WorldTransaction[] {
  const byTx = new Map<string, ExplorerRow[]>();
  for (const row of options.chains.rowsIn(options.chainId, block, block)) {
    const rows = byTx.get(row.tx);
    if (rows === undefined) byTx.set(row.tx, [row]);
    else rows.push(row);
  }
  let firstLog = 0;
  return [...byTx].map(([hash, rows], index) => {
    const own = rows.find(({ kind }) => kind === 'native');
    const [first] = rows;
    const token = first?.token;
    const tx = {
      hash,
      block,
      blockHash: hashOf(options, block),
      index,
      firstLog,
      rows,
      // A transfer that no party signed was sent by a poisoner of address books.
      from: own === undefined ? inventAddress(WORLD_SEED, 'evm', 'world poisoner') : own.from,
      to: own === undefined ? String(token?.address) : own.to,
      value: own === undefined ? 0n : own.value,
      success: own === undefined || own.success !== false,
    };
    firstLog += tokenRows(tx).length;
    return tx;
  });
}

const TX_SCAN_BLOCKS = 100_000;

/** A transaction of the last blocks, as far back as a light node looks. */
function transactionBy(options: NodeOptions, hash: unknown): WorldTransaction | null {
  const head = headOf(options);
  const rows = options.chains.rowsIn(options.chainId, Math.max(0, head - TX_SCAN_BLOCKS), head);
  const row = rows.find(({ tx }) => tx === hash);
  if (row === undefined) return null;
  const found = transactionsIn(options, row.block).find((tx) => tx.hash === hash);
  return found === undefined ? null : found;
}

function tokenRows({ rows }: Pick<WorldTransaction, 'rows'>): ExplorerRow[] {
  return rows.filter(({ kind }) => kind === 'token');
}

function transactionFields(tx: WorldTransaction): Readonly<Record<string, unknown>> {
  return {
    hash: tx.hash,
    blockHash: tx.blockHash,
    blockNumber: hex(tx.block),
    transactionIndex: hex(tx.index),
    from: tx.from,
    to: tx.to,
    value: hex(tx.value),
    input: '0x',
    nonce: '0x0',
    gas: '0x5208',
    gasPrice: '0x3b9aca00',
    type: '0x0',
  };
}

/** The contents of a transaction's logs, wherever they lie. */
function logContents(tx: WorldTransaction): CommittedLog[] {
  return tokenRows(tx).map((row) => ({
    address: String(row.token?.address),
    topics: [TRANSFER, word(row.from), word(row.to)],
    data: word(hex(row.value)),
  }));
}

function logsIn(tx: WorldTransaction): Readonly<Record<string, unknown>>[] {
  return logContents(tx).map((said, i) => ({
    ...said,
    blockNumber: hex(tx.block),
    blockHash: tx.blockHash,
    transactionHash: tx.hash,
    transactionIndex: hex(tx.index),
    logIndex: hex(tx.firstLog + i),
    removed: false,
  }));
}

function word(value: string): string {
  return `0x${value.slice(2).padStart(64, '0')}`;
}

function receiptOf(tx: WorldTransaction): Readonly<Record<string, unknown>> {
  return {
    transactionHash: tx.hash,
    transactionIndex: hex(tx.index),
    blockHash: tx.blockHash,
    blockNumber: hex(tx.block),
    from: tx.from,
    to: tx.to,
    contractAddress: null,
    status: tx.success ? '0x1' : '0x0',
    cumulativeGasUsed: hex(gasUpTo(tx)),
    gasUsed: hex(GAS),
    effectiveGasPrice: '0x3b9aca00',
    logs: logsIn(tx),
    logsBloom: logsBloom(logContents(tx)),
    type: '0x0',
  };
}

function gasUpTo({ index }: WorldTransaction): number {
  return (index + 1) * GAS;
}

function commitReceipt(tx: WorldTransaction): CommittedReceipt {
  const outcome = tx.success ? 1 : 0;
  return {
    type: 0,
    outcome,
    cumulativeGasUsed: BigInt(gasUpTo(tx)),
    logs: logContents(tx),
    more: [],
  };
}

function blockOf(options: NodeOptions, number: number | null, full: unknown): unknown {
  if (number === null) return null;
  const transactions = transactionsIn(options, number);
  return {
    number: hex(number),
    hash: hashOf(options, number),
    parentHash: number === 0 ? `0x${'0'.repeat(64)}` : hashOf(options, number - 1),
    timestamp: hex(options.chains.timeOf(options.chainId, number)),
    miner: `0x${'0'.repeat(40)}`,
    gasLimit: '0x1c9c380',
    gasUsed: hex(transactions.length * GAS),
    logsBloom: logsBloom(transactions.flatMap(logContents)),
    receiptsRoot: receiptsRoot(transactions.map(commitReceipt)),
    transactions: transactions.map((tx) => (full === true ? transactionFields(tx) : tx.hash)),
    uncles: [],
    withdrawals: [],
  };
}

function logsOf(options: NodeOptions, filter: unknown): unknown {
  const field = (name: string): unknown =>
    typeof filter === 'object' && filter !== null ? Reflect.get(filter, name) : undefined;
  const hash = field('blockHash');
  if (hash !== undefined) {
    const block = byHash(options, hash);
    if (block === null) throw new Refused(-32000, 'unknown block');
    return matching(transactionsIn(options, block).flatMap(logsIn), field);
  }
  const [from, to] = [numberOf(options, field('fromBlock')), numberOf(options, field('toBlock'))];
  if (from === null || to === null) {
    throw new Refused(-32602, 'block range extends beyond current head block');
  }
  if (from > to) throw new Refused(-32602, 'invalid block range params');
  const small = options.fault() === 'range-too-large';
  const most = small ? RANGE_SMALL_BLOCKS : RANGE_BLOCKS_MAX;
  // A node that has an index of its logs takes any range of one contract's.
  if (!small && EXCHANGES.some((one) => [field('address')].flat().includes(one))) return [];
  if (to - from >= most) throw new Refused(-32005, `query exceeds max block range ${most}`);
  if (options.fault() === 'pruned') return [];
  const blocks = new Set(
    options.chains.rowsIn(options.chainId, from, to).map(({ block }) => block),
  );
  const logs = [...blocks].flatMap((block) => transactionsIn(options, block).flatMap(logsIn));
  return matching(logs, field);
}

type Log = Readonly<Record<string, unknown>>;

function matching(logs: readonly Log[], field: (name: string) => unknown): readonly Log[] {
  const topics: unknown = field('topics');
  const first: unknown = Array.isArray(topics) ? topics[0] : null;
  const wanted = first === null || first === undefined ? [TRANSFER] : [first].flat();
  const address: unknown = field('address');
  const of =
    address === undefined || address === null
      ? null
      : [address].flat().map((one) => String(one).toLowerCase());
  if (!wanted.includes(TRANSFER)) return [];
  return logs.filter((log) => of === null || of.includes(String(log['address'])));
}

function parityTraces(tx: WorldTransaction): unknown[] {
  const inner = tx.rows.filter(({ kind }) => kind === 'internal');
  const common = {
    blockNumber: tx.block,
    blockHash: tx.blockHash,
    transactionHash: tx.hash,
    transactionPosition: tx.index,
    type: 'call',
  };
  const call = (from: string, to: string, value: bigint) => {
    return { callType: 'call', from, to, value: hex(value), gas: '0x0', input: '0x' };
  };
  const result = { gasUsed: '0x0', output: '0x' };
  const top = tx.success ? { result } : { result: null, error: 'Reverted' };
  return [
    {
      ...common,
      ...top,
      action: call(tx.from, tx.to, tx.value),
      traceAddress: [],
      subtraces: inner.length,
    },
    ...inner.map(({ from, to, value }, i) => {
      return { ...common, result, action: call(from, to, value), traceAddress: [i], subtraces: 0 };
    }),
  ];
}

function frames(options: NodeOptions, block: number | null): unknown {
  if (block === null) throw new Refused(-32000, 'block not found');
  return transactionsIn(options, block).map((tx) => {
    const frame = (from: string, to: string, value: bigint) => {
      return { type: 'CALL', from, to, value: hex(value), gas: '0x0', gasUsed: '0x0', input: '0x' };
    };
    const inner = tx.rows.filter(({ kind }) => kind === 'internal');
    const calls = inner.map(({ from, to, value }) => frame(from, to, value));
    const failed = tx.success ? {} : { error: 'execution reverted' };
    return { txHash: tx.hash, result: { ...frame(tx.from, tx.to, tx.value), ...failed, calls } };
  });
}
