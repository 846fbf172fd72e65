// A block is told by header, receipts, logs and traces that all bear its one hash, and counts only
// where its receipts prove it whole. It refuses a node of another chain, and takes neither null nor
// a refusal for an empty block.

import { CHAINS, type EvmChainName } from '../../chain/chain.ts';
import { sameKindsUntil, wholeKinds } from '../../chain/transfer.ts';
import {
  BLOCKS_AT_ONCE_MAX,
  type ChainNode,
  type Heads,
  type NodeReach,
  type ReadBlocks,
  type TipBlock,
} from '../../ports/indexing.ts';
import { COUNT } from '../http/fetch.ts';
import type { JsonRpc } from '../http/json-rpc.ts';
import { attempt, readAnswer } from '../http/provider.ts';
import { decodeBlock, headerOf, isTransferLog, tokenTransfers } from './decode-block.ts';
import { bestWay, executions, hasTraces, type NodeWay, resultOf } from './execution.ts';
import { type LogRanges, logRanges, nodeRefusalOf } from './log-ranges.ts';
import {
  BLOCK,
  ChainMoved,
  HEADER,
  type NodeBlock,
  NodeFault,
  type NodeLog,
  type NodeReceipt,
  parseResult,
  quantity,
} from './wire.ts';

type EvmNodeOptions = {
  readonly chain: EvmChainName;
  readonly rpc: JsonRpc;
  /** Whether the node is of the simulated world. */
  readonly simulated: boolean;
  /** Unix seconds. */
  readonly now: () => number;
};

/**
 * No block is taken for final so near to the head, even where a node says so: a re-org as deep as
 * this must find its blocks undoable.
 */
const UNDOABLE_BLOCKS = 64;
/** The same where the node knows no `finalized` block. */
const UNDOABLE_BLOCKS_UNTAGGED = 128;
/** Blocks that are looked through for one that shows what a node can tell. */
const PROBED_MAX = 16;
const BLOCK_METHOD = 'eth_getBlockByNumber';

/** A node behind a JSON-RPC client. */
export function evmNode(options: EvmNodeOptions): ChainNode {
  const { chain, rpc } = options;
  const reader = new BlockReader(options);
  const { shown } = rpc;
  const provider = { name: shown, url: shown, simulated: options.simulated, now: options.now };
  const tell = <T>(work: () => Promise<T>) => readAnswer('chain_node', provider, work);
  return {
    chain,
    source: rpc.shown,
    open: (fromBlock, signal) => tell(() => reader.open(fromBlock, signal)),
    heads: (signal) => tell(() => headsOf(rpc, signal)),
    header: (block, signal) =>
      tell(async () => {
        const params = [quantity(block), false];
        const answer = await rpc.call({ method: BLOCK_METHOD, params }, signal);
        if (answer.ok && answer.result === null) return null;
        if (!answer.ok && nodeRefusalOf(answer.error).kind === 'moved') return null;
        return headerOf(parseResult(HEADER, resultOf(answer, BLOCK_METHOD), BLOCK_METHOD));
      }),
    blocks: (from, to, signal) =>
      tell(async () => {
        const blocks = await attempt(ChainMoved, () => reader.blocks(from, to, signal));
        return blocks instanceof ChainMoved ? MOVED : blocks;
      }),
  };
}

const MOVED = 'moved' as const;
/** The call tracer names no number of calls. */
const UNCOUNTED = ['internal'] as const;

class BlockReader {
  readonly #options: EvmNodeOptions;
  readonly #logs: LogRanges;
  #way: NodeWay | null = null;

  constructor(options: EvmNodeOptions) {
    this.#options = options;
    this.#logs = logRanges(options.rpc.call);
  }

  async open(fromBlock: number | null, signal: AbortSignal): Promise<NodeReach> {
    const { rpc, chain } = this.#options;
    this.#way = null;
    const method = 'eth_chainId';
    const answer = await rpc.call({ method, params: [] }, signal);
    const id = parseResult(COUNT, resultOf(answer, method), method);
    const wanted = CHAINS[chain].chain_id;
    if (id !== wanted) throw new NodeFault(`is of chain ${id}, not of ${chain} (${wanted})`);
    const { latest } = await headsOf(rpc, signal);
    const from = fromBlock === null ? latest : Math.min(fromBlock, latest);
    const way = await bestWay(rpc, chain, await this.#probe(from, latest, signal), signal);
    this.#way = way;
    const source = way.traces === null ? 'receipts' : way.traces;
    const untraced = way.traces === null ? await this.#lastUntraced(from, latest, signal) : null;
    const ends = [untraced, sameKindsUntil(source, chain, from)].filter((end) => end !== null);
    const to_block = ends.length === 0 ? null : Math.min(...ends);
    const roots = way.rooted ? 'rooted' : 'rootless';
    const kinds = wholeKinds(source, chain, from, roots);
    return source === 'call_tracer'
      ? { kinds, to_block, unproved: UNCOUNTED }
      : { kinds, to_block };
  }

  /** A block by which a node shows what it can tell: neither the first, nor an empty one. */
  async #probe(from: number, to: number, signal: AbortSignal): Promise<NodeBlock> {
    const first = Math.min(Math.max(from, 1), to);
    const blocks = await this.#whole(first, Math.min(first + PROBED_MAX - 1, to), signal);
    const busy = blocks.find(({ transactions }) => transactions.length > 0);
    const block = busy === undefined ? blocks[0] : busy;
    if (block === undefined) throw new NodeFault(`does not hold block ${first}`);
    return block;
  }

  /**
   * The last block of which a node has no traces, where it has those of its newest: the states
   * before it are pruned. `null`: it has none at all.
   */
  async #lastUntraced(from: number, latest: number, signal: AbortSignal): Promise<number | null> {
    const { rpc } = this.#options;
    const newest = await this.#probe(latest, latest, signal);
    if (!(await hasTraces(rpc, newest, signal))) return null;
    let without = from;
    let having = latest;
    while (having - without > 1) {
      const middle = Math.floor((without + having) / 2);
      const block = await this.#probe(middle, having - 1, signal);
      if (await hasTraces(rpc, block, signal)) having = middle;
      else without = block.number;
    }
    return having - 1;
  }

  async blocks(from: number, to: number, signal: AbortSignal): Promise<ReadBlocks> {
    const { rpc, chain } = this.#options;
    const way = this.#way;
    if (way === null) throw new TypeError('a node is opened before its blocks are read');
    if (to < from || to - from >= BLOCKS_AT_ONCE_MAX) throw new RangeError('too many blocks');
    const whole = await this.#whole(from, to, signal);
    if (whole.length <= to - from) throw new ChainMoved();
    const logs = await this.#logsByBlock(whole, signal);
    const executed = await executions(rpc, chain, way, whole, signal);
    const blocks: TipBlock[] = [];
    const left_out = { misshapen: 0 };
    for (const [i, block] of whole.entries()) {
      const told = executed[i];
      const own = logs.get(block.hash);
      if (told === undefined || own === undefined) throw new TypeError('a block untold');
      const proven = await this.#sameLogs(block, own, told.receipts, signal);
      const tokens = tokenTransfers(chain, block, proven);
      left_out.misshapen += tokens.left_out.misshapen;
      blocks.push(decodeBlock(chain, block, tokens.transfers, told.execution));
    }
    return { blocks, left_out };
  }

  /** The blocks up to the first that is not there, each the parent of the next. */
  async #whole(from: number, to: number, signal: AbortSignal): Promise<NodeBlock[]> {
    const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const calls = numbers.map((n) => ({ method: BLOCK_METHOD, params: [quantity(n), true] }));
    const answers = await this.#options.rpc.batch(calls, signal);
    const blocks: NodeBlock[] = [];
    for (const [i, answer] of answers.entries()) {
      if (answer.ok && answer.result === null) break;
      const block = parseResult(BLOCK, resultOf(answer, BLOCK_METHOD), BLOCK_METHOD);
      if (block.number !== from + i) throw new NodeFault('answered with another block than asked');
      checkChain(this.#options.chain, block);
      const before = blocks.at(-1);
      if (before !== undefined && before.hash !== block.parentHash) throw new ChainMoved();
      blocks.push(block);
    }
    return blocks;
  }

  /** The transfer logs by block hash, of one chain of blocks or not at all. */
  async #logsByBlock(
    blocks: readonly NodeBlock[],
    signal: AbortSignal,
  ): Promise<Map<string, NodeLog[]>> {
    const byHash = new Map<string, NodeLog[]>(blocks.map((block) => [block.hash, []]));
    const [first, last] = [blocks[0], blocks.at(-1)];
    if (first === undefined || last === undefined) return byHash;
    for (const log of await this.#logs(first.number, last.number, signal)) {
      const own = byHash.get(log.blockHash);
      if (own === undefined || log.removed === true) throw new ChainMoved();
      if (isTransferLog(log)) own.push(log);
    }
    return byHash;
  }

  /**
   * The transfer logs of a block's receipts, which those of its range must be too. A range may end
   * inside a block without a word, so what differs is asked for again, by the block alone.
   */
  async #sameLogs(
    block: NodeBlock,
    ranged: readonly NodeLog[],
    receipts: readonly NodeReceipt[],
    signal: AbortSignal,
  ): Promise<readonly NodeLog[]> {
    const proven = receipts.flatMap(({ logs }) => logs.filter(isTransferLog));
    if (linesOf(ranged) === linesOf(proven)) return proven;
    const again = await this.#logsByBlock([block], signal);
    const own = again.get(block.hash);
    if (own !== undefined && linesOf(own) === linesOf(proven)) return proven;
    throw new NodeFault('leaves logs out of the ranges that it answers');
  }
}

/** Logs as text that is equal where they are, in whatever order they came. */
function linesOf(logs: readonly NodeLog[]): string {
  const lines = logs.map(({ logIndex, address, topics, data, transactionHash }) =>
    [logIndex, address, transactionHash, data.toLowerCase(), ...topics].join(' '),
  );
  return lines.sort().join('\n');
}

/** A transaction's signature may name its chain; one that names another is of another's block. */
function checkChain(chain: EvmChainName, block: NodeBlock): void {
  const own = BigInt(Number(CHAINS[chain].chain_id));
  const strange = block.transactions.some(({ chainId }) => {
    return chainId != null && chainId !== 0n && chainId !== own;
  });
  if (strange) throw new NodeFault(`told a block of another chain than ${chain}`);
}

async function headsOf(rpc: JsonRpc, signal: AbortSignal): Promise<Heads> {
  const calls = ['latest', 'finalized'].map((tag) => ({
    method: BLOCK_METHOD,
    params: [tag, false],
  }));
  const [newest, final] = await rpc.batch(calls, signal);
  if (newest === undefined || final === undefined) throw new TypeError('a call without an answer');
  const latest = parseResult(HEADER, resultOf(newest, BLOCK_METHOD), BLOCK_METHOD);
  const tagged = final.ok && final.result !== null;
  const undoable = tagged ? UNDOABLE_BLOCKS : UNDOABLE_BLOCKS_UNTAGGED;
  const deep = latest.number - undoable;
  const said = tagged ? parseResult(HEADER, final.result, BLOCK_METHOD).number : deep;
  const settled = Math.min(said, deep);
  return {
    latest: latest.number,
    latest_time: latest.timestamp,
    final: settled < 0 ? null : settled,
  };
}
