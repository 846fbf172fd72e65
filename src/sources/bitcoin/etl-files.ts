// Reads the transactions of Bitcoin from bitcoin-etl files, block by block. Block rows are read
// first: they give the number of transactions of a block, and only a block with all of them, under
// its hash, is complete. Files are read in the order of their first blocks.

import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { MS_PER_S } from '../../chain/time.ts';
import { tally, textOrEmpty } from '../../evidence/measure.ts';
import {
  type BitcoinBlock,
  type BitcoinCoin,
  type BitcoinFiles,
  type BitcoinInput,
  type BitcoinTransaction,
  BlocksFault,
} from '../../ports/entities.ts';
import { inputFile, inputPaths } from '../files/input-file.ts';
import { ImportFault } from '../files/text-lines.ts';
import { jsonIn, outsideRow } from '../http/fetch.ts';
import { attempt } from '../http/provider.ts';
import { signatureScope } from './node.ts';

/** The longest line: a transaction of a full block, in characters. */
const LINE_CHARS_MAX = 64 * 1024 * 1024;
/** Blocks of one import whose counts are held in memory. */
const BLOCKS_MAX = 2_000_000;
/** Transactions of one block. */
const TRANSACTIONS_MAX = 100_000;
/** How far into a file its first row of either kind must stand. */
const ROWS_LOOKED_AT = 100;

type Files = {
  readonly counts: ReadonlyMap<number, EtlBlock>;
  /** Files of transactions, the one with the lowest first block first. */
  readonly paths: readonly string[];
};

/** Files of bitcoin-etl: JSON lines, gzip or not, files, folders or patterns. */
export const etlFiles: BitcoinFiles = (paths) => {
  const refused = new Map<string, number>();
  return {
    refused: () => refused,
    blocks: async function* (signal) {
      const files = await sortFiles(paths, signal);
      let last = -1;
      let open: Gathered | null = null;
      for (const path of files.paths) {
        for await (const line of linesOf(path, signal)) {
          const row = etlRow(line);
          if (row.kind === 'block') continue;
          if (row.kind === 'refused') {
            tally(refused, row.reason);
            if (open !== null && row.block === open.block) open.isBroken = true;
            continue;
          }
          const { block } = row.row;
          if (open !== null && block !== open.block) {
            last = open.block;
            yield wholeOf(open, files.counts);
            open = null;
          }
          if (block <= last) {
            tally(refused, 'not_in_block_order');
            continue;
          }
          if (open === null) {
            const { at } = row.row;
            open = { block, at, hash: row.block_hash, transactions: new Map(), isBroken: false };
          }
          if (open.transactions.has(row.row.tx)) tally(refused, 'twice');
          else open.transactions.set(row.row.tx, row.row);
          if (open.transactions.size > TRANSACTIONS_MAX) {
            throw new BlocksFault(`a block has more than ${TRANSACTIONS_MAX} transactions`);
          }
        }
      }
      if (open !== null) yield wholeOf(open, files.counts);
    },
  };
};

type Gathered = {
  readonly block: number;
  readonly hash: string;
  readonly at: number;
  readonly transactions: Map<string, BitcoinTransaction>;
  isBroken: boolean;
};

function wholeOf(
  { block, at, hash, transactions, isBroken }: Gathered,
  counts: ReadonlyMap<number, EtlBlock>,
): BitcoinBlock {
  const told = counts.get(block);
  const isAll = told?.hash === hash && told.transaction_count === transactions.size;
  return { block, at, whole: isAll && !isBroken, transactions: [...transactions.values()] };
}

/** Reads the block rows, and puts the files of transactions in order. */
async function sortFiles(paths: readonly string[], signal: AbortSignal): Promise<Files> {
  const counts = new Map<number, EtlBlock>();
  const found: { readonly path: string; readonly from: number }[] = [];
  const all = await attempt(ImportFault, () => inputPaths(paths));
  if (all instanceof ImportFault) throw new BlocksFault(all.message);
  for (const path of all) {
    const first = await firstRow(path, signal);
    if (first === null) throw new BlocksFault('a file holds neither blocks nor transactions');
    if (first.kind === 'transaction') found.push({ path, from: first.row.block });
    else await countsIn(path, counts, signal);
  }
  found.sort((a, b) => a.from - b.from || (a.path < b.path ? -1 : 1));
  return { counts, paths: found.map(({ path }) => path) };
}

async function firstRow(path: string, signal: AbortSignal) {
  let looked = 0;
  for await (const line of linesOf(path, signal)) {
    const row = etlRow(line);
    if (row.kind !== 'refused') return row;
    if (row.block !== null) {
      const none = { tx: '', block: row.block, at: 0, coinbase: false, inputs: [], outputs: [] };
      return { kind: 'transaction', row: none, block_hash: '' } as const;
    }
    looked += 1;
    if (looked >= ROWS_LOOKED_AT) return null;
  }
  return null;
}

async function countsIn(
  path: string,
  counts: Map<number, EtlBlock>,
  signal: AbortSignal,
): Promise<void> {
  for await (const line of linesOf(path, signal)) {
    const row = etlRow(line);
    if (row.kind !== 'block') continue;
    counts.set(row.row.number, row.row);
    if (counts.size > BLOCKS_MAX) throw new BlocksFault(`more than ${BLOCKS_MAX} block rows`);
  }
}

const CUT_SHORT = 'a file could not be read to its end';

async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const found = await attempt(ImportFault, () => inputFile(path));
  if (found instanceof ImportFault) throw new BlocksFault(CUT_SHORT);
  const file = createReadStream(path);
  const unpacked = found.gzip ? file.pipe(createGunzip()) : file;
  // A failed read ends the unpacking with that error, which the loop below throws.
  if (unpacked !== file) file.once('error', (error) => unpacked.destroy(error));
  const decoder = new StringDecoder('utf8');
  let rest = '';
  try {
    for await (const chunk of unpacked) {
      if (signal.aborted) return;
      const lines = (rest + decoder.write(Buffer.from(chunk))).split('\n');
      rest = textOrEmpty(lines.pop());
      if (rest.length > LINE_CHARS_MAX) throw new BlocksFault('a line of a file is too long');
      yield* lines.filter((line) => line.trim() !== '');
    }
  } catch (fault) {
    if (fault instanceof BlocksFault) throw fault;
    throw new BlocksFault(CUT_SHORT);
  } finally {
    file.destroy();
  }
  const end = rest + decoder.end();
  if (end.trim() !== '') yield end;
}

// Parses one line of a bitcoin-etl file. The layouts are bitcoin-etl's `blocks.json` and
// `transactions.json`, and the same rows as BigQuery exports them. An input without owner and value
// was exported without `enrich_transactions`.

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

type EtlBlock = z.output<typeof blockRow>;

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

function etlRow(text: string): EtlRow {
  const value = jsonIn(text);
  if (value === undefined) return { kind: 'refused', reason: 'not_json', block: null };
  const block = blockRow.safeParse(value);
  if (block.success) return { kind: 'block', row: block.data };
  const transaction = transactionRow.safeParse(value);
  if (!transaction.success) return { kind: 'refused', reason: 'not_a_transaction', block: null };
  return transactionOf(transaction.data);
}

function transactionOf(row: z.output<typeof transactionRow>): EtlRow {
  const { hash, block_number, block_hash, block_timestamp, is_coinbase } = row;
  const inputs = is_coinbase ? [] : inputsOf(row.inputs);
  const refuseRow = (reason: RefusedReason): EtlRow => ({
    kind: 'refused',
    reason,
    block: block_number,
  });
  if (inputs === null || (!is_coinbase && inputs.length === 0)) {
    return refuseRow('inputs_without_owners');
  }
  const outputs = coinsOf(row.outputs);
  if (outputs === null || outputs.length === 0) return refuseRow('outputs_without_values');
  const at = { tx: hash, block: block_number, at: block_timestamp, coinbase: is_coinbase };
  return { kind: 'transaction', block_hash, row: { ...at, inputs, outputs } };
}

// bitcoin-etl leaves witnesses out: only what is signed in the script itself is told.
function inputsOf(told: z.output<typeof transactionRow>['inputs']): readonly BitcoinInput[] | null {
  const coins = coinsOf(told);
  if (coins === null || told === null || told === undefined) return null;
  return coins.map((one, i) => {
    return { ...one, signed: signatureScope(one.address, textOrEmpty(told[i]?.script_hex), null) };
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
