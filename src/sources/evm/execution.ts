// Answers one question: how does a node tell what its blocks did, and what did they do by it.
// It tries what the node may have, best first: traces of one of two kinds, then receipts. It never
// takes a method that is missing, or a null, for a block in which nothing happened.

import { z } from 'zod';
import type { JsonRpc, RpcAnswer, RpcCall } from '../http/json-rpc.ts';
import type { Execution } from './decode-block.ts';
import { callTracerFrames, parityFrames } from './decode-traces.ts';
import { quantity } from './log-ranges.ts';
import { ChainMoved, NodeFault } from './node-fault.ts';
import { nodeRefusalOf } from './refusals.ts';
import { type NodeBlock, type NodeReceipt, PARITY_TRACE, RECEIPT, shaped, TRACED } from './wire.ts';

/** The ways, best first. Rewards stand in `trace_block` only. */
const WAYS = ['trace_block', 'call_tracer', 'block_receipts', 'tx_receipts'] as const;
export type CallPath = (typeof WAYS)[number];

/** Asks for several blocks and answers what each did, in their order. */
type Ask = (
  rpc: JsonRpc,
  blocks: readonly NodeBlock[],
  signal: AbortSignal,
) => Promise<Execution[]>;

/** The traces of one block may be a hundred megabytes of text, most of which is left out here. */
const BLOCKS_A_QUESTION = 4;
const PARITY = z.array(PARITY_TRACE);
const CALLS = z.array(TRACED);
const RECEIPTS = z.array(RECEIPT);
const CALL_TRACER = { tracer: 'callTracer', tracerConfig: { onlyTopCall: false, withLog: false } };

const ASKS: Readonly<Record<CallPath, Ask>> = {
  trace_block: async (rpc, blocks, signal) => {
    const calls = blocks.map(({ number }) => asked('trace_block', [quantity(number)]));
    const answers = await rpc.batch(calls, signal);
    return answers.map((answer, i) => {
      const traces = shaped(PARITY, resultOf(answer, 'trace_block'), 'trace_block');
      // It is asked by number: another block may stand there by now.
      const other = traces.some((one) => one.blockHash !== blocks[i]?.hash);
      if (other) throw new ChainMoved();
      return { by: 'traces', frames: parityFrames(traces) };
    });
  },
  call_tracer: async (rpc, blocks, signal) => {
    const method = 'debug_traceBlockByHash';
    const calls = blocks.map(({ hash }) => asked(method, [hash, CALL_TRACER]));
    const answers = await rpc.batch(calls, signal);
    return answers.map((answer, i) => {
      const traced = shaped(CALLS, resultOf(answer, method), method);
      return { by: 'traces', frames: callTracerFrames(traced, hashesOf(blocks[i])) };
    });
  },
  block_receipts: async (rpc, blocks, signal) => {
    const method = 'eth_getBlockReceipts';
    const answers = await rpc.batch(
      blocks.map(({ hash }) => asked(method, [hash])),
      signal,
    );
    return answers.map((answer, i) => {
      const receipts = shaped(RECEIPTS, resultOf(answer, method), method);
      return ofBlock(receipts, blocks[i]);
    });
  },
  tx_receipts: async (rpc, blocks, signal) => {
    const method = 'eth_getTransactionReceipt';
    const told: Execution[] = [];
    for (const block of blocks) {
      const calls = hashesOf(block).map((hash) => asked(method, [hash]));
      const answers = await rpc.batch(calls, signal);
      const receipts = answers.map((one) => shaped(RECEIPT, resultOf(one, method), method));
      told.push(ofBlock(receipts, block));
    }
    return told;
  },
};

function asked(method: string, params: readonly unknown[]): RpcCall {
  return { method, params };
}

function hashesOf(block: NodeBlock | undefined): string[] {
  if (block === undefined) throw new TypeError('more answers than blocks');
  return block.transactions.map((one) => one.hash);
}

function ofBlock(receipts: readonly NodeReceipt[], block: NodeBlock | undefined): Execution {
  if (receipts.some((one) => one.blockHash !== block?.hash)) throw new ChainMoved();
  return { by: 'receipts', receipts };
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

/** What blocks did, in their order. A block without transactions did nothing but give rewards. */
export async function executions(
  rpc: JsonRpc,
  way: CallPath,
  blocks: readonly NodeBlock[],
  signal: AbortSignal,
): Promise<Execution[]> {
  // No node traces the first block: what it holds was given before anything ran.
  const busy = blocks.filter(({ number, transactions }) =>
    way === 'trace_block' ? number > 0 : transactions.length > 0,
  );
  const byHash = new Map<string, Execution>();
  for (let at = 0; at < busy.length; at += BLOCKS_A_QUESTION) {
    const some = busy.slice(at, at + BLOCKS_A_QUESTION);
    const told = await ASKS[way](rpc, some, signal);
    for (const [i, execution] of told.entries()) {
      const block = some[i];
      if (block !== undefined) byHash.set(block.hash, execution);
    }
  }
  return blocks.map(({ hash }) => {
    const execution = byHash.get(hash);
    return execution === undefined ? NOTHING_RAN : execution;
  });
}

const NOTHING_RAN: Execution = Object.freeze({ by: 'receipts', receipts: [] });

/** The best way that a node has, probed with a block that it does have. */
export async function bestWay(
  rpc: JsonRpc,
  block: NodeBlock,
  signal: AbortSignal,
): Promise<CallPath> {
  for (const way of WAYS) if (!(await lacks(rpc, way, block, signal))) return way;
  throw new NodeFault('serves neither traces nor receipts');
}

/** Whether a way cannot be gone with this node. What may pass is thrown on. */
async function lacks(
  rpc: JsonRpc,
  way: CallPath,
  block: NodeBlock,
  signal: AbortSignal,
): Promise<boolean> {
  const [hash] = hashesOf(block);
  if (way === 'tx_receipts' && hashesOf(block).length === 0) return false;
  const probes: Readonly<Record<CallPath, RpcCall>> = {
    trace_block: asked('trace_block', [quantity(block.number)]),
    call_tracer: asked('debug_traceBlockByHash', [block.hash, CALL_TRACER]),
    block_receipts: asked('eth_getBlockReceipts', [block.hash]),
    tx_receipts: asked('eth_getTransactionReceipt', [hash]),
  };
  const probe = probes[way];
  const answer = await rpc.call(probe, signal);
  if (answer.ok) {
    // Some answer a method they do not serve with null or nothing.
    const empty =
      answer.result === null || (Array.isArray(answer.result) && answer.result.length === 0);
    return empty && hash !== undefined;
  }
  const refusal = nodeRefusalOf(answer.error);
  if (refusal.kind === 'moved') throw new ChainMoved();
  if (refusal.kind === 'rate') throw new NodeFault('limits the rate of requests');
  return true;
}
