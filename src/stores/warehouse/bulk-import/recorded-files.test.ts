// Real exports come to exactly their rows, of which only what succeeded is a transfer.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SHARED_DATA } from '../../../testing/shared-data.ts';
import { freshFolder, imported, KeptFacts, recordOf } from './bulk-import.suite.ts';

const ETL = join(SHARED_DATA, 'ethereum-etl');
const RAPHTORY = join(SHARED_DATA, 'raphtory');
const TRACES = join(ETL, 'test_export_traces_job');

/** A blocks file for a trace folder: its one block, with the hash that its recording tells. */
async function blockFile(folder: string, traces: string, block: number, transactions: number) {
  const recording = join(TRACES, traces, `web3_response.trace_block_0x${block.toString(16)}.json`);
  const hash = /"blockHash":\s*"(0x[0-9a-f]{64})"/.exec(await readFile(recording, 'utf8'))?.[1];
  const path = join(folder, `blocks-${block}.csv`);
  const heading = 'number,hash,parent_hash,timestamp,transaction_count';
  await writeFile(path, `${heading}\n${block},${hash},,1455404053,${transactions}\n`);
  return path;
}

async function traced(name: string, block: number, transactions: number) {
  const folder = await freshFolder();
  const store = new KeptFacts();
  const blocks = await blockFile(folder, name, block, transactions);
  const done = await imported(store, [join(TRACES, name, 'expected_traces.csv'), blocks], {
    folder,
  });
  return { store, record: recordOf(done) };
}

describe.skipIf(!existsSync(ETL))(
  'recorded blocks of ethereum-etl (or skipped: no shared data)',
  () => {
    test('a self-destruct moves what is left, and the block proves its coins whole', async () => {
      const { store, record } = await traced('block_with_suicide', 1_011_973, 1);
      expect(store.lines()).toEqual([
        '0x0000 → 0x738d: 5000000000000000000 internal true',
        '0x474f → 0x8397: 50000000000000000 internal true',
        '0x8397 → 0x474f: 0 native true',
      ]);
      expect(record).toMatchObject({ rows: 4, rows_refused: 0, transfers: 3 });
      expect(store.ranges.map(({ kind, from_block }) => [kind, from_block])).toEqual([
        ['native', 1_011_973],
        ['internal', 1_011_973],
      ]);
    });

    test('a failed trace is no transfer, and is written as one that failed', async () => {
      const { store, record } = await traced('block_with_error', 1_000_895, 2);
      expect(store.lines()).toEqual([
        '0x0000 → 0x63a9: 5000000000000000000 internal true',
        '0x9288 → 0xe05f: 1100000000000000000 native true',
      ]);
      expect(record.left_out).toEqual(new Map([['failed', 1]]));
      expect([...store.transfers.values()].filter(({ success }) => success === false)).toHaveLength(
        1,
      );
    });

    test('a delegated call repeats its caller’s value and is no transfer', async () => {
      const { store, record } = await traced('block_with_subtraces', 1_000_000, 2);
      expect(store.lines()).toEqual([
        '0x0000 → 0x2a65: 5000000000000000000 internal true',
        '0x32be → 0xdf19: 437194980000000000 native true',
        '0x39fa → 0xc083: 100000000000000000000 native true',
      ]);
      expect(record.left_out).toEqual(new Map([['trace_callcode', 1]]));
    });

    test('a creation names its creator, and who signed', async () => {
      const { store, record } = await traced('block_with_create', 1_000_690, 2);
      expect(record).toMatchObject({ transfers: 3, creations: 1 });
      expect([...store.creations.values()]).toMatchObject([
        {
          created: '0xa7e3cf952ea8d9438a26ee346c295f1ada328ae1',
          creator: '0xacdee28d8ca76187883831a37f551a5904cdf191',
          initiator: '0xacdee28d8ca76187883831a37f551a5904cdf191',
          block: 1_000_690,
        },
      ]);
    });

    test('traces of a node that names no transactions are refused, each of them', async () => {
      const folder = await freshFolder();
      const store = new KeptFacts();
      const job = join(ETL, 'test_extract_geth_traces_job');
      const record = recordOf(await imported(store, tracesIn(job), { folder }));
      expect(record.refused).toEqual(new Map([['no_transaction_hash', 9]]));
      expect(record).toMatchObject({ rows: 9, rows_refused: 9, transfers: 0 });
      expect(store.transfers.length).toBe(0);
    });

    test('token transfers take their time from the blocks beside them', async () => {
      const folder = await freshFolder();
      const store = new KeptFacts();
      const tokens = join(ETL, 'test_export_token_transfers_job');
      const blocks = join(ETL, 'test_export_blocks_job/block_with_logs');
      const record = recordOf(await imported(store, [tokens, blocks].flatMap(csvIn), { folder }));
      const rows = store.served().filter(({ kind }) => kind === 'token');
      expect(
        rows.map((row) => [row.block_time, row.raw_amount, row.initiator?.slice(0, 6)]),
      ).toEqual([
        [1_446_561_880, 100_000n, '0x1b63'],
        [1_446_561_880, 200_000n, '0x9b22'],
      ]);
      expect(record.rows_refused).toBe(0);
      // A log that nobody counts proves nothing whole, nor does a transaction without status.
      expect(store.ranges).toEqual([]);
    });

    test('token transfers take their time from headers that were imported before', async () => {
      const folder = await freshFolder();
      const store = new KeptFacts();
      const blocks = join(ETL, 'test_export_blocks_job/block_with_logs');
      recordOf(await imported(store, csvIn(blocks), { folder }));
      const tokens = join(ETL, 'test_export_token_transfers_job');
      const record = recordOf(await imported(store, csvIn(tokens), { folder }));
      const rows = store.served().filter(({ kind }) => kind === 'token');
      expect(rows.map(({ block_time }) => block_time)).toEqual([1_446_561_880, 1_446_561_880]);
      expect(record.rows_refused).toBe(0);
    });

    test('token transfers without any time are refused with that reason', async () => {
      const folder = await freshFolder();
      const tokens = csvIn(join(ETL, 'test_export_token_transfers_job'));
      const record = recordOf(await imported(new KeptFacts(), tokens, { folder }));
      expect(record.refused).toEqual(new Map([['no_time', 2]]));
      const told = readFileSync(String(record.refused_file), 'utf8').trim().split('\n');
      expect(told).toHaveLength(2);
      expect(told[0]).toContain('"file":"expected_token_transfers.csv","row":1,"reason":"no_time"');
    });

    test('transactions and withdrawals of two blocks, in CSV and in JSON, are the same', async () => {
      const job = join(ETL, 'test_export_blocks_job/blocks_with_transactions_and_withdrawals');
      const [csv, json] = [new KeptFacts(), new KeptFacts()];
      const folder = await freshFolder();
      const record = recordOf(await imported(csv, [join(job, '*.csv')], { folder }));
      recordOf(await imported(json, [join(job, '*.json')], { folder }));
      expect(json.served()).toEqual(csv.served());
      const coins = csv.served();
      expect(coins.filter(({ kind }) => kind === 'native')).toHaveLength(297);
      expect(coins.filter(({ kind }) => kind === 'internal')).toHaveLength(32);
      expect(record.left_out).toEqual(new Map([['created_address_not_told', 1]]));
    });

    test('a whole recorded stream imports but for what it leaves open', async () => {
      const folder = await freshFolder();
      const store = new KeptFacts();
      const done = await imported(store, [join(ETL, 'test_stream/blocks_17173049_17173050')], {
        folder,
        declared: { from_block: 17_173_049, to_block: 17_173_050 },
      });
      const record = recordOf(done);
      expect(record.rows_refused).toBe(0);
      const tokens = store.served().filter(({ kind }) => kind === 'token');
      expect(tokens).toHaveLength(291);
      expect(done.notes.filter((line) => line.includes('left aside'))).toHaveLength(1);
      expect(store.ranges.map(({ kind }) => kind)).toContain('token');
      expect(store.ranges.map(({ kind }) => kind)).not.toContain('internal');
    });
  },
);

/** The expected traces of each case of a job, an empty file among them. */
function tracesIn(job: string): readonly string[] {
  return readdirSync(job).map((name) => join(job, name, 'expected_traces.csv'));
}

/** The expected CSV files under a folder, whatever else lies there. */
function csvIn(folder: string): readonly string[] {
  const names = [
    'expected_blocks.csv',
    'expected_transactions.csv',
    'expected_token_transfers.csv',
  ];
  const folders = [folder, join(folder, 'block_with_transfers')];
  return folders.flatMap((one) => names.map((name) => join(one, name))).filter(existsSync);
}

describe.skipIf(!existsSync(RAPHTORY))('the files of raphtory (or skipped: no shared data)', () => {
  test('transactions without status are kept as such, and carry no coverage', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    const path = join(RAPHTORY, 'transactions_03300000_03399999_small.csv.gz');
    const declared = { from_block: 3_300_000, to_block: 3_399_999 };
    const record = recordOf(await imported(store, [path], { folder, declared }));
    expect(record).toMatchObject({ rows: 19_999, rows_refused: 0, transfers: 19_968 });
    expect(record.left_out).toEqual(new Map([['created_address_not_told', 31]]));
    expect(new Set(store.served().map(({ success }) => success))).toEqual(new Set([null]));
    expect(store.ranges).toEqual([]);
    // Each row can be walked from both of its ends.
    const sender = '0x942c4bc02dc8986215adc1ba2d27723fd4a98a';
    expect(store.served().some(({ from }) => from.startsWith(sender))).toBe(true);
    expect(store.transactions).toBe(19_999);
  });

  test('the token file is refused row by row, with its counts', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    const path = join(RAPHTORY, 'token_transfers.csv');
    const record = recordOf(await imported(store, [path], { folder }));
    expect(record.refused).toEqual(new Map([['no_transaction_hash', 99]]));
    expect(store.transfers.length).toBe(0);
    const told = readFileSync(String(record.refused_file), 'utf8').trim().split('\n');
    expect(told).toHaveLength(99);
  });
});
