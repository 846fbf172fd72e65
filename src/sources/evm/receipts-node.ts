// Reads single transactions and their receipts from nodes. A null is a node's ignorance, not a
// transaction without events; a chain without a node is unread.

import { z } from 'zod';
import { CHAINS, chainById, type EvmChainName, isEvmChain } from '../../chain/chain.ts';
import { map, type Reading, read, unread, weaken } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import {
  type ArrivalFound,
  type ArrivalLog,
  type ArrivalsQuery,
  type BridgeArrivals,
  type BridgeArrivalsPort,
  RECEIPTS_ASK_MAX,
  type ReceiptFacts,
  type TransactionReceipts,
  type TransactionReceiptsPort,
} from '../../ports/bridges.ts';
import { ADDRESS, AMOUNT, BYTES, COUNT, jsonIn, outsideRow, WORD } from '../http/fetch.ts';
import { type JsonRpc, type RpcAnswer, RpcFault } from '../http/json-rpc.ts';
import { observation, readAnswer, withBudget } from '../http/provider.ts';
import type { ChainNodes } from './node-of-account.ts';
import { quantity } from './wire.ts';

const PORT = 'transaction_receipts';
type ReceiptReading = Reading<ReceiptFacts, TransactionReceiptsPort>;

export function nodeReceipts({ nodes, simulated, now }: ChainNodes): TransactionReceipts {
  return {
    lookUp: async (chain, hashes, signal) => {
      if (hashes.length > RECEIPTS_ASK_MAX) throw new RangeError('too many receipts');
      const rpc = nodes.get(chain);
      if (rpc === undefined) return each(hashes, why('not_configured', { what: nodeOf(chain) }));
      if (signal.aborted) return each(hashes, why('time_budget'));
      try {
        const answers = await askReceipts(rpc, chain, hashes, signal);
        const named = { name: rpc.shown, url: rpc.shown, simulated };
        const origin = { port: PORT, source: observation(named, now) } as const;
        return new Map(
          hashes.map((hash, i) => {
            const facts = receiptIn(rpc, chain, hash, answers[2 * i], answers[2 * i + 1]);
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

function each(hashes: readonly string[], cause: Why): ReadonlyMap<string, ReceiptReading> {
  return new Map(hashes.map((hash) => [hash, unread(PORT, cause)]));
}

/** Two answers for each hash, the transaction's first. The node's chain is asked with them. */
async function askReceipts(
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

function receiptIn(
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
  const receipt = LOGGED_RECEIPT.safeParse(second.result);
  const told = transaction.success && receipt.success;
  const own = transaction.data?.hash === hash && receipt.data?.transactionHash === hash;
  if (!told || !own) {
    return why('provider_failed', { provider, fault: 'answered no receipt of that transaction' });
  }
  return { chain, ...factsOf(transaction.data, receipt.data) };
}

// The JSON-RPC shapes of a transaction and its receipt. Another form is no receipt: nothing is
// filled in.

const LOGS_MAX = 5_000;
const TOPICS_MAX = 4;

/** Parts of a log's data are compared as text, so the text has one case. */
const DATA = BYTES.transform((text) => text.toLowerCase());

/** A transaction of `eth_getTransactionByHash`, as far as it is needed. */
export const TRANSACTION = outsideRow({
  hash: WORD,
  from: ADDRESS,
  to: ADDRESS.nullish(),
  value: AMOUNT,
  input: DATA.nullish(),
  chainId: COUNT.nullish(),
});

/** One log, as receipts and `eth_getLogs` hold it. */
export const RECEIPT_LOG = outsideRow({
  address: ADDRESS,
  topics: z.array(WORD).max(TOPICS_MAX),
  data: DATA,
  logIndex: COUNT,
});

/** A receipt of `eth_getTransactionReceipt`, as far as it is needed. */
export const LOGGED_RECEIPT = outsideRow({
  transactionHash: WORD,
  blockNumber: COUNT,
  from: ADDRESS,
  to: ADDRESS.nullish(),
  status: COUNT.nullish(),
  logs: z.array(RECEIPT_LOG).max(LOGS_MAX),
});

export type WireTransaction = z.infer<typeof TRANSACTION>;
type WireReceipt = z.infer<typeof LOGGED_RECEIPT>;

/** The facts of both, which are of one transaction. */
export function factsOf(
  transaction: WireTransaction,
  receipt: WireReceipt,
): Omit<ReceiptFacts, 'chain'> {
  const { to, status } = receipt;
  return {
    tx: receipt.transactionHash,
    block: receipt.blockNumber,
    from: receipt.from,
    to: to == null ? null : to,
    value: transaction.value,
    input: transaction.input == null ? null : transaction.input,
    success: status == null ? null : status === 1,
    logs: receipt.logs.map(({ logIndex, ...log }) => ({ ...log, index: logIndex })),
  };
}

/** A transaction and its receipt, as a file holds them, and the chain that it names. */
type FiledReceipt = {
  readonly transaction: WireTransaction;
  readonly receipt: WireReceipt;
  /** Our name of the chain, the id of one that is not ours, or `null` where none is named. */
  readonly chain: EvmChainName | number | null;
};

const PARTS_MAX = 16;
const DEPTH_MAX = 4;

/**
 * Reads a file: `{transaction, receipt}`, each as it is or as the answer that holds it in
 * `result`, or a list of the two. Throws `RangeError` for anything else.
 */
export function filedReceipt(text: string): FiledReceipt {
  const document = jsonIn(text);
  if (document === undefined) throw new RangeError('it is no JSON');
  const parts = objectsIn(document, 0);
  const transaction = parts.map((one) => TRANSACTION.safeParse(one)).find(({ success }) => success);
  const receipt = parts.map((one) => LOGGED_RECEIPT.safeParse(one)).find(({ success }) => success);
  if (transaction?.data === undefined) throw new RangeError('it holds no transaction');
  if (receipt?.data === undefined) throw new RangeError('it holds no receipt');
  const { data } = transaction;
  if (data.hash !== receipt.data.transactionHash) {
    throw new RangeError('its transaction and its receipt are not of one hash');
  }
  const id = data.chainId == null ? null : data.chainId;
  const known = id === null ? null : chainById(id);
  const chain = known !== null && isEvmChain(known.name) ? known.name : id;
  return { transaction: data, receipt: receipt.data, chain };
}

/** The objects of a document, those inside them too, down to a few levels. */
function objectsIn(value: unknown, depth: number): object[] {
  if (!(value instanceof Object) || depth > DEPTH_MAX) return [];
  const inside = Object.values(value).slice(0, PARTS_MAX);
  const own = Array.isArray(value) ? [] : [value];
  return [...own, ...inside.flatMap((one) => objectsIn(one, depth + 1))];
}

// Reads the logs of contracts between two moments from nodes. The blocks of those moments are
// searched for, so that a stretch is read whole or reported as cut.

const ARRIVALS_PORT = 'bridge_arrivals';

/** Blocks of one question to a node. */
const RANGE_BLOCKS = 2_000;
/** A node whose newest block is older may be behind: what was paid since then is not known. */
const HEAD_MAX_AGE_S = 3_600;

const BLOCK = outsideRow({ number: COUNT, timestamp: COUNT });
const LOGS = z
  .array(RECEIPT_LOG.extend({ transactionHash: WORD, blockNumber: COUNT }))
  .max(LOGS_MAX);

/** The nodes by chain, and what one look-up may spend. */
type NodeArrivalsOptions = ChainNodes & {
  readonly timeMs: number;
  /** The most questions for logs, of 2,000 blocks each. */
  readonly rangesMax: number;
};

/** Logs from nodes. */
export function nodeArrivals(
  options: NodeArrivalsOptions,
): Pick<BridgeArrivals, 'lookUp' | 'timeOf'> {
  const { nodes, simulated, now, timeMs, rangesMax } = options;
  const ask = async <T>(
    chain: EvmChainName,
    outer: AbortSignal,
    work: (rpc: JsonRpc, signal: AbortSignal) => Promise<T>,
  ): Promise<Reading<T, BridgeArrivalsPort>> => {
    const rpc = nodes.get(chain);
    if (rpc === undefined) {
      return unread(ARRIVALS_PORT, why('not_configured', { what: nodeOf(chain) }));
    }
    return withBudget({ timeMs, callsMax: rangesMax, signal: outer }, ({ signal }) => {
      const { shown } = rpc;
      const toReason = (fault: string) =>
        signal.aborted
          ? why('arrivals_out_of_time')
          : why('provider_failed', { provider: shown, fault });
      const provider = { name: shown, url: shown, simulated, now, toReason };
      return readAnswer(ARRIVALS_PORT, provider, () => work(rpc, signal));
    });
  };
  return {
    lookUp: async (asked, outer) => {
      const searched = await ask(asked.chain, outer, (rpc, signal) =>
        search(rpc, asked, rangesMax, signal),
      );
      const whole = map(searched, ({ found, head_time }) => ({ found, head_time }));
      if (!searched.checked || searched.value.found.length > 0) return whole;
      const { head_time, cut } = searched.value;
      const behind = head_time < Math.min(asked.until, now() - HEAD_MAX_AGE_S);
      const old = behind ? why('arrivals_head_old', { chain: asked.chain }) : null;
      // Simulated logs show an arrival, and never deny one.
      const cause = cut ?? old ?? (simulated ? why('simulated') : null);
      return cause === null ? whole : weaken(whole, cause);
    },
    timeOf: (chain, block, outer) =>
      ask(chain, outer, async (rpc, signal) => {
        await checkChain(rpc, chain, signal);
        return (await blockAt(rpc, block, signal)).timestamp;
      }),
  };
}

/** The logs found; `cut` if the stretch is longer than the limit. */
async function search(
  rpc: JsonRpc,
  asked: ArrivalsQuery,
  rangesMax: number,
  signal: AbortSignal,
): Promise<ArrivalFound & { readonly cut: Why | null }> {
  const { chain, since, until, wanted } = asked;
  await checkChain(rpc, chain, signal);
  const head = await blockAt(rpc, 'latest', signal);
  const head_time = head.timestamp;
  const from = await firstAt(rpc, since, head, signal);
  const to = until >= head_time ? head.number : await firstAt(rpc, until, head, signal);
  let ranges = 0;
  for (let at = from; at <= to; at += RANGE_BLOCKS) {
    if (ranges === rangesMax) {
      const cut = why('arrivals_cut', { chain, blocks: String(rangesMax * RANGE_BLOCKS) });
      return { found: [], head_time, cut };
    }
    ranges += 1;
    const end = Math.min(to, at + RANGE_BLOCKS - 1);
    const found = (await logsBetween(rpc, asked, at, end, signal)).find(wanted);
    if (found !== undefined) return { found: [found], head_time, cut: null };
  }
  return { found: [], head_time, cut: null };
}

async function logsBetween(
  rpc: JsonRpc,
  { contracts, topics }: ArrivalsQuery,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<ArrivalLog[]> {
  const blocks = { fromBlock: quantity(from), toBlock: quantity(to) };
  const params = [{ address: contracts, topics: [topics], ...blocks }];
  const answer = await rpc.call({ method: 'eth_getLogs', params }, signal);
  const said = LOGS.safeParse(answer.ok ? answer.result : null);
  if (!said.success) throw new RpcFault('answered no logs', 'failed');
  if (said.data.some(({ blockNumber: at }) => at < from || at > to)) {
    throw new RpcFault('answered logs of blocks that were not asked for', 'failed');
  }
  return said.data.map(({ transactionHash: tx, blockNumber: block, logIndex: index, ...log }) => {
    return { tx, block, log: { ...log, index } };
  });
}

async function checkChain(rpc: JsonRpc, chain: EvmChainName, signal: AbortSignal): Promise<void> {
  const answer = await rpc.call({ method: 'eth_chainId', params: [] }, signal);
  if (!answer.ok || Number(answer.result) !== CHAINS[chain].chain_id) {
    throw new RpcFault(`is not of ${chain}`, 'terminal');
  }
}

type Block = z.output<typeof BLOCK>;

async function blockAt(rpc: JsonRpc, at: number | 'latest', signal: AbortSignal): Promise<Block> {
  const params = [at === 'latest' ? at : quantity(at), false];
  const answer = await rpc.call({ method: 'eth_getBlockByNumber', params }, signal);
  const said = BLOCK.safeParse(answer.ok ? answer.result : null);
  if (!said.success || (at !== 'latest' && said.data.number !== at)) {
    throw new RpcFault('answered no block', 'failed');
  }
  return said.data;
}

/** The first block whose time is not before a moment; the newest where none is. */
async function firstAt(rpc: JsonRpc, time: number, head: Block, signal: AbortSignal) {
  if (head.timestamp < time) return head.number;
  let low = await blockAt(rpc, 0, signal);
  if (low.timestamp >= time) return low.number;
  let high = head;
  // Blocks come nearly evenly, so that a line between two known ones mostly hits close; halving in
  // between bounds the search where they do not.
  for (let turn = 0; high.number - low.number > 1; turn += 1) {
    const share = turn % 2 === 1 ? 0.5 : (time - low.timestamp) / (high.timestamp - low.timestamp);
    const guess = low.number + Math.round(share * (high.number - low.number));
    const at = Math.min(Math.max(guess, low.number + 1), high.number - 1);
    const block = await blockAt(rpc, at, signal);
    if (block.timestamp < time) low = block;
    else high = block;
  }
  return high.number;
}
