// The files of the interrupted imports in tests, and the expected contents. Each block has three
// transactions, each with an inner call and two token transfers.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Warehouse } from '../engine/executor.ts';

const CALL = { timeoutMs: 60_000 };

/** A number as hexadecimal text of so many digits. */
export const word = (n: number, chars: number) => `0x${n.toString(16).padStart(chars, '0')}`;
/** Blocks of the export; each has twelve transfers. */
export const BLOCKS = 12;
const FIRST = 100;

/** The export in three files: blocks, traces, tokens. Answers their folder. */
export async function exported(folder: string, without: readonly string[] = []): Promise<string> {
  const files = join(folder, 'export');
  await mkdir(join(files, 'deeper'), { recursive: true });
  const blocks = ['number,hash,parent_hash,timestamp,transaction_count'];
  const traces = [
    'block_number,transaction_hash,from_address,to_address,value,trace_type,call_type,' +
      'subtraces,trace_address,error,status',
  ];
  const tokens = [
    'token_address,from_address,to_address,value,transaction_hash,log_index,block_number',
  ];
  for (let block = FIRST; block < FIRST + BLOCKS; block += 1) {
    // On a day after rewards and before withdrawals.
    blocks.push(`${block},${word(block, 64)},${word(block - 1, 64)},${1_670_000_000 + block},3`);
    for (let at = 0; at < 3; at += 1) {
      const tx = word(block * 10 + at, 64);
      const ends = `${word(at + 1, 40)},${word(at + 2, 40)}`;
      traces.push(`${block},${tx},${ends},7,call,call,1,,,1`);
      traces.push(`${block},${tx},${ends},8,call,call,0,0,,1`);
      tokens.push(
        `${word(9, 40)},${ends},5,${tx},0,${block}`,
        `${word(9, 40)},${ends},5,${tx},1,${block}`,
      );
    }
  }
  const kept = traces.filter((line) => !without.includes(line));
  await writeFile(join(files, 'blocks.csv'), `${blocks.join('\n')}\n`);
  await writeFile(join(files, 'traces.csv'), `${kept.join('\n')}\n`);
  await writeFile(join(files, 'deeper', 'tokens.csv'), `${tokens.join('\n')}\n`);
  return files;
}

/** The same export cut in the middle: six files, of which three hold the later blocks. */
export async function exportedInHalves(folder: string): Promise<string> {
  const files = await exported(folder);
  for (const name of ['blocks', 'traces', 'deeper/tokens']) {
    const path = join(files, `${name}.csv`);
    const [heading, ...lines] = (await readFile(path, 'utf8')).trim().split('\n');
    const at = heading?.split(',').findIndex((column) => /^(block_)?number$/.test(column));
    const isLate = (line: string) => Number(line.split(',')[Number(at)]) >= FIRST + BLOCKS / 2;
    for (const [end, half] of [
      ['', lines.filter((line) => !isLate(line))],
      ['-late', lines.filter(isLate)],
    ] as const) {
      await writeFile(join(files, `${name}${end}.csv`), `${[heading, ...half].join('\n')}\n`);
    }
  }
  return files;
}

/** The rows of an import in the tables that are read, each once. */
export async function heldIn(warehouse: Warehouse): Promise<readonly string[]> {
  const queries = [
    'SELECT hex(addr), hex(peer), hex(id), hex(detail) FROM sides FINAL ORDER BY ALL',
    'SELECT block, hex(tx_hash), kind, n, position, success FROM transfers FINAL ORDER BY ALL',
    'SELECT kind, from_block, to_block, to_time FROM coverage FINAL ORDER BY ALL',
    'SELECT number, hex(hash), time FROM blocks FINAL ORDER BY ALL',
  ];
  const rows: string[] = [];
  for (const sql of queries) {
    const found = await warehouse.query(sql, { ...CALL, row: z.array(z.unknown()), tuples: true });
    rows.push(...found.map((row) => JSON.stringify(row)));
  }
  return rows;
}

/** Whether what counts as held in full is all there: each block has its twelve transfers. */
export async function mustHoldWhatCounts(warehouse: Warehouse): Promise<void> {
  const sql = `SELECT count() FROM coverage AS c
    WHERE kind = 'native' AND 3 * (to_block - from_block + 1) > (
      SELECT count() FROM transfers FINAL WHERE kind = 'native')`;
  const row = z.tuple([z.coerce.number()]);
  expect(await warehouse.query(sql, { ...CALL, row, tuples: true })).toEqual([[0]]);
}
