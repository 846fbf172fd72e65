// Answers one question: which transfer logs lie in a range of blocks, whatever range a provider
// takes at once. It asks for less where it is refused, and says so where one block is too much:
// a refusal is never an empty range.

import { z } from 'zod';
import { type RpcAnswer, type RpcCall, RpcFault } from '../http/json-rpc.ts';
import { attempt } from '../http/provider.ts';
import { MOVED_TOPICS } from './decode-logs.ts';
import { ChainMoved, NodeFault } from './node-fault.ts';
import { nodeRefusalOf } from './refusals.ts';
import { LOG, type NodeLog, shaped } from './wire.ts';

/** Reads all logs from one block to another, both included. */
export type LogRanges = (from: number, to: number, signal: AbortSignal) => Promise<NodeLog[]>;

/** The widest range asked for. */
const SPAN_MAX = 2_048;
/** How many ranges in a row must be answered before a wider one is tried again. */
const ANSWERED_BEFORE_WIDER = 8;
const LOGS = z.array(LOG);

/** Keeps in mind how wide a range the provider took. */
export function logRanges(
  call: (call: RpcCall, signal: AbortSignal) => Promise<RpcAnswer>,
): LogRanges {
  let span = SPAN_MAX;
  let answered = 0;

  const once = async (from: number, to: number, signal: AbortSignal) => {
    const range = { fromBlock: quantity(from), toBlock: quantity(to), topics: [MOVED_TOPICS] };
    const asked = { method: 'eth_getLogs', params: [range] };
    const answer = await attempt(RpcFault, () => call(asked, signal));
    if (answer instanceof RpcFault) {
      // A body over the cap or cut off on its way is a range too wide, said by the road.
      if (answer.kind === 'too_large') return { fewer: null };
      throw answer;
    }
    if (answer.ok) return { logs: shaped(LOGS, answer.result, 'eth_getLogs') };
    return { fewer: refusedRange(nodeRefusalOf(answer.error)) };
  };

  return async (from, to, signal) => {
    const logs: NodeLog[] = [];
    for (let next = from; next <= to; ) {
      const end = Math.min(next + span - 1, to);
      const got = await once(next, end, signal);
      if ('fewer' in got) {
        if (end === next) throw new NodeFault('refuses the logs of a single block');
        const hint = got.fewer;
        const useful = hint !== null && hint.from === next && hint.to >= next && hint.to < end;
        span = useful ? hint.to - next + 1 : Math.floor((end - next + 1) / 2);
        answered = 0;
        continue;
      }
      for (const log of got.logs) {
        if (log.blockNumber < next || log.blockNumber > end) {
          throw new NodeFault('answered eth_getLogs with blocks that were not asked for');
        }
        logs.push(log);
      }
      next = end + 1;
      answered += 1;
      if (answered % ANSWERED_BEFORE_WIDER === 0) span = Math.min(SPAN_MAX, span * 2);
    }
    return logs;
  };
}

function refusedRange(refusal: ReturnType<typeof nodeRefusalOf>) {
  switch (refusal.kind) {
    case 'range':
      return refusal.hint;
    case 'moved':
      throw new ChainMoved();
    case 'rate':
      throw new NodeFault('limits the rate of requests');
    case 'unsupported':
      throw new NodeFault('does not serve eth_getLogs');
    case 'terminal':
      throw new NodeFault(refusal.fault);
  }
}

/** A number as nodes take it. */
export function quantity(number: number): string {
  return `0x${number.toString(16)}`;
}
