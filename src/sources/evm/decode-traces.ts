// Answers one question: which coins moved and which contracts came to be, by the traces of a block.
// Only what succeeded moved: a frame counts where it and all that called it succeeded. Delegated,
// static and code calls move nothing between accounts, but what they called may.

import { NodeFault } from './node-fault.ts';
import type { ParityTrace, Traced } from './wire.ts';

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

/** How deep the machine calls, and so a trace: EIP-150 keeps it at 1,024. */
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
        return { ...at, type, ...moved(action.from, action.to, value) };
      }
      case 'create': {
        // A create that failed has no address: nothing of it is looked at but its failure.
        const created = failed ? action.from : result?.address;
        return { ...at, type: 'create', ...moved(action.from, created, action.value) };
      }
      case 'suicide':
      case 'selfdestruct':
        return {
          ...at,
          type: 'self_destruct',
          ...moved(action.address, action.refundAddress, action.balance),
        };
      case 'reward':
        return { ...at, type: 'reward', ...moved(NULL_ADDRESS, action.author, action.value) };
      default:
        throw new NodeFault('told a trace of an unknown type');
    }
  });
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
  return { tx_hash, path, type, failed, ...moved(frame.from, to, value) };
}

function moved(
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
export function happened(frames: readonly TraceFrame[]): TraceFrame[] {
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
