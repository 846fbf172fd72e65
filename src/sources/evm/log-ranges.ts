import { z } from 'zod';
import {
  isRateLimit,
  type RpcAnswer,
  type RpcCall,
  type RpcError,
  RpcFault,
} from '../http/json-rpc.ts';
import { attempt } from '../http/provider.ts';
import { MOVED_TOPICS } from './decode-block.ts';
import { ChainMoved, LOG, NodeFault, type NodeLog, parseResult, quantity } from './wire.ts';

/** Reads all logs from one block to another, both included. */
export type LogRanges = (from: number, to: number, signal: AbortSignal) => Promise<NodeLog[]>;

/** The widest range asked for. */
const SPAN_MAX = 2_048;
/** How many ranges in a row must be answered before a wider one is tried again. */
const ANSWERED_BEFORE_WIDER = 8;
const LOGS = z.array(LOG);

/** Which logs are meant, and over how many blocks they are asked for at most. */
type LogQuery = {
  readonly address?: readonly string[];
  readonly topics: readonly (string | readonly string[] | null)[];
  readonly spanMax: number;
};
const MOVES: LogQuery = { topics: [MOVED_TOPICS], spanMax: SPAN_MAX };

/** Keeps in mind how wide a range the provider took. */
export function logRanges(
  call: (call: RpcCall, signal: AbortSignal) => Promise<RpcAnswer>,
  { spanMax, ...query }: LogQuery = MOVES,
): LogRanges {
  let span = spanMax;
  let answered = 0;

  const once = async (from: number, to: number, signal: AbortSignal) => {
    const range = { ...query, fromBlock: quantity(from), toBlock: quantity(to) };
    const asked = { method: 'eth_getLogs', params: [range] };
    const answer = await attempt(RpcFault, () => call(asked, signal));
    if (answer instanceof RpcFault) {
      // A body over the cap or cut off on its way is a range too wide, said by the road.
      if (answer.kind === 'too_large') return { fewer: null };
      throw answer;
    }
    if (answer.ok) return { logs: parseResult(LOGS, answer.result, 'eth_getLogs') };
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
      if (answered % ANSWERED_BEFORE_WIDER === 0) span = Math.min(spanMax, span * 2);
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

// The texts were recorded from the providers that stand beside them. A refusal that no smaller
// range can help is never taken for one of range: halving it would go on for ever.

/** `range`: ask for less, `hint` being what the provider says it would answer. */
export type NodeRefusal =
  | { readonly kind: 'range'; readonly hint: { readonly from: number; readonly to: number } | null }
  | { readonly kind: 'rate' }
  | { readonly kind: 'moved' }
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'terminal'; readonly fault: string };

const UNSUPPORTED_CODES: ReadonlySet<number> = new Set([-32601, -32004]);
const PRUNED_CODE = 4444;
/** Infura and BNB -32005, QuickNode and Base -32614, dRPC 35: limits, whatever the text. */
const RANGE_CODES: ReadonlySet<number> = new Set([-32005, -32614, 35]);

// PublicNode: "Archive requests require a personal token".
const ARCHIVE = /archive|personal token/i;
const CREDENTIAL = anyOf(
  'unauthori[sz]ed|not authori[sz]ed|authenticat|forbidden',
  '(invalid|missing|required).{0,20}(api.?key|token)',
  'api.?key.{0,20}(invalid|missing|required|disabled)',
);
const PRUNED = anyOf('prun|missing trie node', '(history|state|header).{0,30}(not |un)available');
const UNSUPPORTED = anyOf(
  'method.{0,60}(not |un)(found|supported|available|allowed|whitelisted)',
  'method.{0,60}does not exist|no such method|unsupported method',
  // Alchemy: "debug_traceBlockByHash is not available on the Free tier".
  '(debug|trace)_[a-z]+.{0,60}not (available|supported|allowed|enabled)',
);
// Conformance: "block range extends beyond current head block"; go-ethereum: "unknown block".
const MOVED = anyOf(
  'beyond (the )?(current )?head|unknown block',
  '(block|header).{0,80}not found|not found.{0,20}block',
);
const RANGE = anyOf(
  // Infura, zkSync; Arbitrum; Alchemy; Ankr, Polygon; Merlin; Immutable; Cronos; Avalanche
  'returned more than|logs matched by query|response size|range is too wide',
  'range (is )?too large|maximum block range|blocks distance|too many blocks',
  // QuickNode, 1RPC; dRPC; further ones
  'is limited to|ranges over|try with this block range|block range|limit exceeded',
  'exceeds? (the )?(limit|max|range)|too many (logs|results)|query timeout|timed out',
);
const HINT = /\[\s*(0x[0-9a-f]{1,13})\s*,\s*(0x[0-9a-f]{1,13})\s*\]/i;
const HINTED = /results?|block range/i;

/** The meaning of an error. */
export function nodeRefusalOf(error: RpcError): NodeRefusal {
  // Nethermind says "invalid params" and why in `data`, as text.
  const said = typeof error.data === 'string' ? `${error.message} ${error.data}` : error.message;
  if (ARCHIVE.test(said)) return terminal('keeps this history from this plan (archive)');
  if (CREDENTIAL.test(said)) return terminal('refused the credential');
  if (error.code === PRUNED_CODE || PRUNED.test(said)) {
    return terminal('no longer holds this history (pruned)');
  }
  if (isRateLimit(error)) return { kind: 'rate' };
  if (MOVED.test(said)) return { kind: 'moved' };
  if (UNSUPPORTED_CODES.has(error.code) || UNSUPPORTED.test(said)) return { kind: 'unsupported' };
  if (RANGE_CODES.has(error.code) || RANGE.test(said)) {
    return { kind: 'range', hint: hintOf(error, said) };
  }
  return terminal(`answered with error ${error.code}`);
}

function terminal(fault: string): NodeRefusal {
  return { kind: 'terminal', fault };
}

/** The range a provider offers: in `data`, or as two hex numbers in brackets in a fitting text. */
function hintOf({ data }: RpcError, said: string): { from: number; to: number } | null {
  if (typeof data === 'object' && data !== null && 'from' in data && 'to' in data) {
    return rangeOf(data.from, data.to);
  }
  const pair = HINTED.test(said) ? HINT.exec(said) : null;
  return pair === null ? null : rangeOf(pair[1], pair[2]);
}

function rangeOf(from: unknown, to: unknown): { from: number; to: number } | null {
  if (typeof from !== 'string' || typeof to !== 'string') return null;
  if (!/^0x[0-9a-f]{1,13}$/i.test(from) || !/^0x[0-9a-f]{1,13}$/i.test(to)) return null;
  return { from: Number(from), to: Number(to) };
}

function anyOf(...patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'i');
}
