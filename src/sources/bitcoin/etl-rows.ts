// What does one line of a bitcoin-etl file say?
// The layouts are bitcoin-etl's `blocks.json` and `transactions.json`, and the same rows as
// BigQuery exports them. An input without owner and value came without `enrich_transactions`.

import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { written } from '../../evidence/measure.ts';
import type {
  BitcoinCoin,
  BitcoinInput,
  BitcoinTransaction,
} from '../../ports/entities/bitcoin-blocks.ts';
import { outsideRow } from '../http/forms.ts';
import { jsonIn } from '../http/json-text.ts';
import { signedBy } from './signatures.ts';

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
const coin = outsideRow({
  addresses: z.array(z.string()).nullish(),
  value: z.union([z.int().nonnegative(), z.string().regex(/^[0-9]{1,16}$/)]).nullish(),
  script_hex: z
    .string()
    .regex(/^([0-9a-f]{2})*$/)
    .nullish(),
});
const blockRow = outsideRow({
  hash: z.string().regex(HASH),
  number: whole,
  timestamp: time,
  transaction_count: whole,
});
const transactionRow = outsideRow({
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
type EtlRow =
  | { readonly kind: 'block'; readonly row: EtlBlock }
  | { readonly kind: 'transaction'; readonly row: BitcoinTransaction; readonly block_hash: string }
  | { readonly kind: 'refused'; readonly reason: RefusedReason; readonly block: number | null };
type RefusedReason =
  | 'not_json'
  | 'not_a_transaction'
  | 'inputs_without_owners'
  | 'outputs_without_values'
  | 'twice'
  | 'not_in_block_order';

/** What a line says. */
export function etlRow(text: string): EtlRow {
  const value = jsonIn(text);
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
  const { hash, block_number, block_hash, block_timestamp, is_coinbase } = row;
  const inputs = is_coinbase ? [] : inputsOf(row.inputs);
  const refused = (reason: RefusedReason): EtlRow => ({
    kind: 'refused',
    reason,
    block: block_number,
  });
  if (inputs === null || (!is_coinbase && inputs.length === 0)) {
    return refused('inputs_without_owners');
  }
  const outputs = coinsOf(row.outputs);
  if (outputs === null || outputs.length === 0) return refused('outputs_without_values');
  const at = { tx: hash, block: block_number, at: block_timestamp, coinbase: is_coinbase };
  return { kind: 'transaction', block_hash, row: { ...at, inputs, outputs } };
}

// bitcoin-etl leaves witnesses out: only what is signed in the script itself is told.
function inputsOf(told: z.output<typeof transactionRow>['inputs']): readonly BitcoinInput[] | null {
  const coins = coinsOf(told);
  if (coins === null || told === null || told === undefined) return null;
  return coins.map((one, i) => {
    return { ...one, signed: signedBy(one.address, written(told[i]?.script_hex), null) };
  });
}

// Every transaction has inputs and outputs, and each its value: where one is unsaid, none is known.
function coinsOf(told: z.output<typeof transactionRow>['inputs']): readonly BitcoinCoin[] | null {
  if (told === null || told === undefined) return null;
  const coins: BitcoinCoin[] = [];
  for (const { addresses, value } of told) {
    if (value === null || value === undefined) return null;
    coins.push({ address: ownerOf(addresses), value: BigInt(value) });
  }
  return coins;
}

// A bare multisig script has several addresses and so no one owner; `nonstandard…` is no address.
function ownerOf(addresses: z.output<typeof coin>['addresses']): string | null {
  const [only, ...more] = addresses === null || addresses === undefined ? [] : addresses;
  const parsed = only === undefined || more.length > 0 ? null : parseAddress(only);
  return parsed === null || parsed.kind !== 'bitcoin' ? null : parsed.address;
}
