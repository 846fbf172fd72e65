// What does one line of a bitcoin-etl file say?
// The layouts are bitcoin-etl's `blocks.json` and `transactions.json`, and the same rows as
// BigQuery exports them. An input without owner and value came without `enrich_transactions`.

import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import type { BitcoinCoin, BitcoinTransaction } from '../../ports/bitcoin-blocks.ts';

const MS_PER_S = 1_000;
const HASH = /^[0-9a-f]{64}$/;

const whole = z
  .union([z.int(), z.string().regex(/^[0-9]{1,16}$/)])
  .transform((value) => Number(value));
// bitcoin-etl writes Unix seconds, BigQuery `2009-01-12 03:30:25 UTC` or ISO 8601.
const time = z.union([
  whole,
  z
    .string()
    .transform((text) => Date.parse(text.replace(' UTC', 'Z').replace(' ', 'T')) / MS_PER_S)
    .pipe(z.int().nonnegative()),
]);
const coin = z.object({
  addresses: z.array(z.string()).nullish(),
  value: z.union([z.int().nonnegative(), z.string().regex(/^[0-9]{1,16}$/)]).nullish(),
});
const blockRow = z.object({
  hash: z.string().regex(HASH),
  number: whole,
  timestamp: time,
  transaction_count: whole,
});
const transactionRow = z.object({
  hash: z.string().regex(HASH),
  block_number: whole,
  block_hash: z.string().regex(HASH),
  block_timestamp: time,
  is_coinbase: z.boolean(),
  inputs: z.array(coin).nullish(),
  outputs: z.array(coin).nullish(),
});

/** A row of `blocks.json`. `at` is Unix seconds. */
export type EtlBlock = {
  readonly hash: string;
  readonly block: number;
  readonly at: number;
  readonly transactions: number;
};

/** A row of `transactions.json`, with its block's hash; or why it is none that can be taken. */
export type EtlRow =
  | { readonly kind: 'block'; readonly row: EtlBlock }
  | { readonly kind: 'transaction'; readonly row: BitcoinTransaction; readonly block_hash: string }
  | { readonly kind: 'refused'; readonly reason: RefusedReason; readonly block: number | null };
export type RefusedReason =
  | 'not_json'
  | 'not_a_transaction'
  | 'inputs_without_owners'
  | 'twice'
  | 'not_in_block_order';

/** What a line says. */
export function etlRow(text: string): EtlRow {
  const value = parsed(text);
  if (value === undefined) return { kind: 'refused', reason: 'not_json', block: null };
  const block = blockRow.safeParse(value);
  if (block.success) {
    const { hash, number, timestamp, transaction_count } = block.data;
    const row = { hash, block: number, at: timestamp, transactions: transaction_count };
    return { kind: 'block', row };
  }
  const transaction = transactionRow.safeParse(value);
  if (!transaction.success) return { kind: 'refused', reason: 'not_a_transaction', block: null };
  return transactionOf(transaction.data);
}

function transactionOf(row: z.output<typeof transactionRow>): EtlRow {
  const { hash, block_number, block_hash, block_timestamp, is_coinbase, inputs, outputs } = row;
  const spent = inputs === null || inputs === undefined || is_coinbase ? [] : inputs;
  const made = outputs === null || outputs === undefined ? [] : outputs;
  const isBare = spent.some(({ value }) => value === null || value === undefined);
  if (isBare || (!is_coinbase && spent.length === 0)) {
    return { kind: 'refused', reason: 'inputs_without_owners', block: block_number };
  }
  return {
    kind: 'transaction',
    block_hash,
    row: {
      ...{ tx: hash, block: block_number, at: block_timestamp, coinbase: is_coinbase },
      inputs: spent.map(coinOf),
      outputs: made.map(coinOf),
    },
  };
}

// A bare multisig script has several addresses and so no one owner; `nonstandard…` is no address.
function coinOf({ addresses, value }: z.output<typeof coin>): BitcoinCoin {
  const [only, ...more] = addresses === null || addresses === undefined ? [] : addresses;
  const parsed = only === undefined || more.length > 0 ? null : parseAddress(only);
  const address = parsed === null || parsed.kind !== 'bitcoin' ? null : parsed.address;
  return { address, value: value === null || value === undefined ? 0n : BigInt(value) };
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (fault) {
    if (fault instanceof SyntaxError) return undefined;
    throw fault;
  }
}
