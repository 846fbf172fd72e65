// What do a transaction and its receipt hold, in the JSON-RPC shapes?
// A form that is not its own is no receipt: nothing is filled in.

import { z } from 'zod';
import { chainById, type EvmChainName, isEvmChain } from '../../chain/chain.ts';
import type { ReceiptFacts } from '../../ports/bridges/transaction-receipts.ts';
import { ADDRESS, AMOUNT, BYTES, COUNT, outsideRow, WORD } from '../http/forms.ts';
import { jsonIn } from '../http/json-text.ts';

const LOGS_MAX = 5_000;
const TOPICS_MAX = 4;

/** What is cut out of a log's data is compared as text, so it has one case. */
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
export const RECEIPT = outsideRow({
  transactionHash: WORD,
  blockNumber: COUNT,
  from: ADDRESS,
  to: ADDRESS.nullish(),
  status: COUNT.nullish(),
  logs: z.array(RECEIPT_LOG).max(LOGS_MAX),
});

export type WireTransaction = z.infer<typeof TRANSACTION>;
type WireReceipt = z.infer<typeof RECEIPT>;

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
  const receipt = parts.map((one) => RECEIPT.safeParse(one)).find(({ success }) => success);
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
