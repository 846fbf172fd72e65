// Which transactions of Bitcoin are in these files of bitcoin-etl, block by block?
// Block rows are read first: they say how many transactions a block has, and only a block of which
// all are there, under its hash, is whole. Files are read in the order of their first blocks.

import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { tally, written } from '../../evidence/measure.ts';
import {
  type BitcoinBlock,
  type BitcoinFiles,
  type BitcoinTransaction,
  BlocksFault,
} from '../../ports/entities/bitcoin-blocks.ts';
import { ImportFault } from '../files/fault.ts';
import { inputFile, inputPaths } from '../files/input-file.ts';
import { type EtlBlock, etlRow } from './etl-rows.ts';

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
      const files = await sorted(paths, signal);
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
          if (open === null) open = gathered(row.row, row.block_hash);
          if (open.transactions.has(row.row.tx)) tally(refused, 'twice');
          else open.transactions.set(row.row.tx, row.row);
          if (open.transactions.size > TRANSACTIONS_MAX) throw tooMany();
        }
      }
      if (open !== null) yield wholeOf(open, files.counts);
    },
  };
};

function tooMany(): BlocksFault {
  return new BlocksFault(`a block has more than ${TRANSACTIONS_MAX} transactions`);
}

type Gathered = {
  readonly block: number;
  readonly hash: string;
  readonly at: number;
  readonly transactions: Map<string, BitcoinTransaction>;
  isBroken: boolean;
};

function gathered({ block, at }: BitcoinTransaction, hash: string): Gathered {
  return { block, at, hash, transactions: new Map(), isBroken: false };
}

function wholeOf(
  { block, at, hash, transactions, isBroken }: Gathered,
  counts: ReadonlyMap<number, EtlBlock>,
): BitcoinBlock {
  const told = counts.get(block);
  const isAll = told?.hash === hash && told.transactions === transactions.size;
  return { block, at, whole: isAll && !isBroken, transactions: [...transactions.values()] };
}

/** Reads the block rows, and puts the files of transactions in order. */
async function sorted(paths: readonly string[], signal: AbortSignal): Promise<Files> {
  const counts = new Map<number, EtlBlock>();
  const found: { readonly path: string; readonly from: number }[] = [];
  for (const path of await pathsOf(paths)) {
    const first = await firstRow(path, signal);
    if (first === null) throw new BlocksFault('a file holds neither blocks nor transactions');
    if (first.kind === 'transaction') found.push({ path, from: first.row.block });
    else await countsIn(path, counts, signal);
  }
  found.sort((a, b) => a.from - b.from || (a.path < b.path ? -1 : 1));
  return { counts, paths: found.map(({ path }) => path) };
}

async function pathsOf(paths: readonly string[]): Promise<readonly string[]> {
  try {
    return await inputPaths(paths);
  } catch (fault) {
    if (fault instanceof ImportFault) throw new BlocksFault(fault.message);
    throw fault;
  }
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
    counts.set(row.row.block, row.row);
    if (counts.size > BLOCKS_MAX) throw new BlocksFault(`more than ${BLOCKS_MAX} block rows`);
  }
}

async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const { gzip } = await inputFile(path);
  const file = createReadStream(path);
  const unpacked = gzip ? file.pipe(createGunzip()) : file;
  // A failed read ends the unpacking with that error, which the loop below throws.
  if (unpacked !== file) file.once('error', (error) => unpacked.destroy(error));
  const decoder = new StringDecoder('utf8');
  let rest = '';
  try {
    for await (const chunk of unpacked) {
      if (signal.aborted) return;
      const lines = (rest + decoder.write(Buffer.from(chunk))).split('\n');
      rest = written(lines.pop());
      if (rest.length > LINE_CHARS_MAX) throw new BlocksFault('a line of a file is too long');
      yield* lines.filter((line) => line.trim() !== '');
    }
  } catch (fault) {
    if (fault instanceof BlocksFault) throw fault;
    throw new BlocksFault('a file could not be read to its end');
  } finally {
    file.destroy();
  }
  const end = rest + decoder.end();
  if (end.trim() !== '') yield end;
}
