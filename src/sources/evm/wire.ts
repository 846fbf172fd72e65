// The forms of values in a node's answers. A value of another form is a fault of the node: nothing
// is filled in.

import { z } from 'zod';
import { ADDRESS, AMOUNT, BYTES, COUNT, outsideRow, WORD } from '../http/fetch.ts';
import { ProviderFault } from '../http/provider.ts';

const ACCESS = outsideRow({ address: ADDRESS, storageKeys: z.array(WORD) });
const AUTHORIZATION = outsideRow({
  chainId: AMOUNT,
  address: ADDRESS,
  nonce: AMOUNT,
  yParity: AMOUNT.nullish(),
  r: AMOUNT,
  s: AMOUNT,
});
const TRANSACTION = outsideRow({
  hash: WORD,
  from: ADDRESS,
  to: ADDRESS.nullish(),
  value: AMOUNT,
  // The coins that an OP stack chain mints for a deposit, before the transaction runs.
  mint: AMOUNT.nullish(),
  // Absent where the signature names no chain, 0 where a chain makes transactions without one.
  chainId: AMOUNT.nullish(),
  // What else the root of the transactions commits to, by kind.
  type: COUNT.nullish(),
  nonce: AMOUNT.nullish(),
  gas: AMOUNT.nullish(),
  gasPrice: AMOUNT.nullish(),
  maxFeePerGas: AMOUNT.nullish(),
  maxPriorityFeePerGas: AMOUNT.nullish(),
  maxFeePerBlobGas: AMOUNT.nullish(),
  blobVersionedHashes: z.array(WORD).nullish(),
  input: BYTES.nullish(),
  accessList: z.array(ACCESS).nullish(),
  authorizationList: z.array(AUTHORIZATION).nullish(),
  v: AMOUNT.nullish(),
  r: AMOUNT.nullish(),
  s: AMOUNT.nullish(),
  sourceHash: WORD.nullish(),
  isSystemTx: z.boolean().nullish(),
});
const WITHDRAWAL = outsideRow({ index: COUNT, address: ADDRESS, amount: AMOUNT });

export const HEADER = outsideRow({
  number: COUNT,
  hash: WORD,
  parentHash: WORD,
  timestamp: COUNT,
});
export const BLOCK = HEADER.extend({
  logsBloom: BYTES,
  receiptsRoot: WORD.nullish(),
  transactionsRoot: WORD.nullish(),
  transactions: z.array(TRANSACTION),
  withdrawals: z.array(WITHDRAWAL).nullish(),
});
export const LOG = outsideRow({
  address: ADDRESS,
  topics: z.array(WORD),
  data: BYTES,
  blockNumber: COUNT,
  blockHash: WORD,
  transactionHash: WORD,
  logIndex: COUNT,
  removed: z.boolean().optional(),
});
export const RECEIPT = outsideRow({
  transactionHash: WORD,
  blockHash: WORD,
  // Absent before Byzantium: such a receipt does not say whether it succeeded.
  status: COUNT.nullish(),
  // The state's root, which stood there instead.
  root: WORD.nullish(),
  type: COUNT.nullish(),
  cumulativeGasUsed: AMOUNT.nullish(),
  contractAddress: ADDRESS.nullish(),
  logsBloom: BYTES.nullish(),
  // A further deposit field of an OP stack.
  depositNonce: AMOUNT.nullish(),
  depositReceiptVersion: AMOUNT.nullish(),
  logs: z.array(LOG),
});

/** One of `trace_block`. Only what moves value or makes contracts is looked at closely. */
export const PARITY_TRACE = outsideRow({
  type: z.string(),
  action: outsideRow({
    from: ADDRESS.nullish(),
    to: ADDRESS.nullish(),
    value: AMOUNT.nullish(),
    callType: z.string().nullish(),
    address: ADDRESS.nullish(),
    refundAddress: ADDRESS.nullish(),
    balance: AMOUNT.nullish(),
    author: ADDRESS.nullish(),
  }),
  result: outsideRow({ address: ADDRESS.nullish() }).nullish(),
  error: z.string().nullish(),
  traceAddress: z.array(z.number().int().nonnegative()),
  // How many calls it made; all of them stand in the block's traces.
  subtraces: z.number().int().nonnegative(),
  blockHash: WORD,
  transactionHash: WORD.nullish(),
});

/** A frame of `callTracer`, with those that it called. */
export type CallFrame = {
  type: string;
  from: string;
  to?: string | null | undefined;
  value?: bigint | null | undefined;
  error?: string | null | undefined;
  calls?: CallFrame[] | null | undefined;
};
const CALL_FRAME: z.ZodType<CallFrame> = z.lazy(() =>
  outsideRow({
    type: z.string(),
    from: ADDRESS,
    to: ADDRESS.nullish(),
    value: AMOUNT.nullish(),
    error: z.string().nullish(),
    calls: z.array(CALL_FRAME).nullish(),
  }),
);
/** The flat frames of `debug_traceBlock…`, in which each transaction has its own list. */
export const FLAT_TRACED = outsideRow({ result: z.array(PARITY_TRACE) });
export const TRACED = outsideRow({ txHash: WORD.nullish(), result: CALL_FRAME });

export type NodeHeader = z.infer<typeof HEADER>;
export type NodeBlock = z.infer<typeof BLOCK>;
export type NodeLog = z.infer<typeof LOG>;
export type NodeReceipt = z.infer<typeof RECEIPT>;
export type ParityTrace = z.infer<typeof PARITY_TRACE>;
export type Traced = z.infer<typeof TRACED>;

/** A number as nodes take it. */
export function quantity(number: number): string {
  return `0x${number.toString(16)}`;
}

/** A result in its form, or a fault that names the method and not what was in it. */
export function parseResult<T>(schema: z.ZodType<T>, result: unknown, method: string): T {
  const parsed = schema.safeParse(result);
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues[0]?.path.join('.');
  throw new NodeFault(`answered ${method} in another form (at ${at === '' ? 'its top' : at})`);
}

// Two ways: the node failed, or its chain moved on meanwhile. Neither is ever an empty block.

/** The node did not tell what it was asked. `fault` is product text and holds no part of a URL. */
export class NodeFault extends ProviderFault {
  constructor(fault: string) {
    super(fault, 'lasting');
    this.name = 'NodeFault';
  }
}

/** The requested block is not on the node's chain (any more). */
export class ChainMoved extends ProviderFault {
  constructor() {
    super('changed its chain while it was read', 'passing');
    this.name = 'ChainMoved';
  }
}
