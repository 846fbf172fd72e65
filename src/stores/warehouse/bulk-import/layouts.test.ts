import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SHARED_DATA } from '../../../testing/shared-data.ts';
import { inventAddress } from '../../../world/made-up-address.ts';
import { type EmbeddedWarehouse, openEmbedded } from '../engine/embedded.ts';
import { freshFolder, imported, KeptFacts, recordOf } from './bulk-import.suite.ts';

const hex = (digit: string, chars: number) => `0x${digit.repeat(chars)}`;
const [ALICE, BOB, TOKEN, MADE] = [hex('a', 40), hex('b', 40), hex('c', 40), hex('d', 40)];
const [TX, OTHER_TX, BLOCK_HASH] = [hex('1', 64), hex('2', 64), hex('9', 64)];
const AT = Date.UTC(2023, 3, 20, 1, 2, 3) / 1_000;

async function lineFile(folder: string, name: string, rows: readonly object[]): Promise<string> {
  const path = join(folder, name);
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  await writeFile(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

const moved = { from_address: ALICE, to_address: BOB, block_number: '17000001' };
const bigQueryToken = {
  ...moved,
  token_address: TOKEN,
  value: '1000',
  transaction_hash: TX,
  log_index: '4',
  block_timestamp: '2023-04-20 01:02:03 UTC',
  block_hash: BLOCK_HASH,
};

describe('BigQuery’s crypto_ethereum', () => {
  test('JSON lines in gzip: numbers as strings, times as UTC text', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    const path = await lineFile(folder, 'token_transfers-000.json.gz', [bigQueryToken]);
    recordOf(await imported(store, [path], { folder }));
    expect(store.served()).toMatchObject([
      { block_time: AT, block_hash: BLOCK_HASH, raw_amount: 1000n, position: '4', success: true },
    ]);
  });

  test('a row is refused for what it lacks, and the others are imported', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    const rows = [
      { ...bigQueryToken, transaction_hash: null },
      { ...bigQueryToken, value: '1.5' },
      { ...bigQueryToken, value: `1${'0'.repeat(78)}` },
      { ...bigQueryToken, value: (2n ** 256n).toString() },
      { ...bigQueryToken, value: (2n ** 256n - 1n).toString() },
      { ...bigQueryToken, to_address: '0xshort' },
      { ...bigQueryToken, block_number: null },
      { ...bigQueryToken, block_number: '17000002', block_timestamp: 'noon' },
    ];
    const path = await lineFile(folder, 'rows.jsonl', rows);
    const record = recordOf(await imported(store, [path], { folder }));
    expect(Object.fromEntries(record.refused)).toEqual({
      no_transaction_hash: 1,
      amount_not_integer: 3,
      bad_address: 1,
      no_block_number: 1,
      no_time: 1,
    });
    expect(store.served().map(({ raw_amount }) => raw_amount)).toEqual([2n ** 256n - 1n]);
  });

  test('a contract’s creator is its trace’s; without one the row is refused', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    const place = { block_number: '17000001', block_timestamp: '2023-04-20 01:02:03 UTC' };
    const trace = {
      ...place,
      transaction_hash: TX,
      from_address: ALICE,
      to_address: BOB,
      value: '0',
      trace_type: 'call',
      call_type: 'call',
      trace_address: null,
      subtraces: '1',
      status: 1,
    };
    const made = { ...trace, trace_type: 'create', call_type: null, trace_address: '0' };
    const create = { ...made, from_address: BOB, to_address: MADE, subtraces: 0 };
    const contract = { ...place, bytecode: '0x60', is_erc20: false, function_sighashes: [] };
    const paths = [
      await lineFile(folder, 'traces.json', [create, trace]),
      await lineFile(folder, 'contracts.json', [
        { ...contract, address: MADE },
        { ...contract, address: TOKEN },
      ]),
    ];
    const record = recordOf(await imported(store, paths, { folder }));
    expect([...store.creations.values()]).toMatchObject([
      { created: MADE, creator: BOB, initiator: ALICE, tx_hash: TX },
    ]);
    expect(record.refused).toEqual(new Map([['no_creator', 1]]));
  });

  test('what failed above fails below, by the path within its own transaction alone', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    const base = {
      block_number: 5,
      block_timestamp: '2023-04-20T01:02:03Z',
      trace_type: 'call',
      call_type: 'call',
      from_address: ALICE,
      to_address: BOB,
      status: 1,
      error: null,
    };
    const at = (transaction_hash: string, trace_address: number[], value: number, more = {}) => ({
      ...base,
      transaction_hash,
      trace_address,
      value,
      ...more,
    });
    const rows = [
      at(TX, [], 1),
      at(TX, [1], 2, { status: null, error: 'Reverted' }),
      at(TX, [1, 0], 3),
      at(TX, [10], 4),
      at(OTHER_TX, [1, 0], 5),
    ];
    const path = await lineFile(folder, 'traces.json', rows);
    recordOf(await imported(store, [path], { folder }));
    const amounts = store.served().map(({ raw_amount }) => Number(raw_amount));
    expect(amounts.sort()).toEqual([1, 4, 5]);
  });

  test('rows of one transaction that lie in two files are numbered together', async () => {
    const folder = await freshFolder();
    const store = new KeptFacts();
    const row = { ...bigQueryToken, log_index: '5' };
    const paths = [
      await lineFile(folder, 'shard-1.json', [bigQueryToken]),
      await lineFile(folder, 'shard-2.json', [row, bigQueryToken]),
    ];
    recordOf(await imported(store, paths, { folder }));
    // Equal but for their place: two transfers. The third is at the place of the first.
    expect(
      store
        .served()
        .map(({ position }) => position)
        .sort(),
    ).toEqual(['4', '5']);
  });
});

describe('cryo', () => {
  let engine: EmbeddedWarehouse;
  let folder: string;
  beforeAll(async () => {
    folder = await freshFolder();
    engine = await openEmbedded(join(folder, 'maker'));
  });
  afterAll(() => engine.close());

  /** A Parquet file of the rows that a SELECT gives. */
  async function parquet(name: string, select: string): Promise<string> {
    const path = join(folder, name);
    const lz4 =
      "SETTINGS output_format_parquet_compression_method = 'lz4', engine_file_truncate_on_insert = 1";
    await engine.command(`INSERT INTO FUNCTION file('${path}', 'Parquet') ${select} ${lz4}`, {
      timeoutMs: 30_000,
    });
    return path;
  }
  const bytes = (text: string) => `unhex('${text.slice(2)}')`;
  const blocks = () =>
    parquet(
      'blocks.parquet',
      `SELECT toUInt32(7) AS block_number, ${bytes(BLOCK_HASH)} AS block_hash,
       toUInt32(${AT}) AS timestamp, ${bytes(ALICE)} AS author, toUInt64(1) AS chain_id`,
    );
  const place = (tx: string) =>
    `toUInt32(7) AS block_number, ${tx === '' ? 'NULL::Nullable(String)' : bytes(tx)}
     AS transaction_hash`;
  const amount = (value: bigint) =>
    `reverse(reinterpretAsString(toUInt256('${value}'))) AS raw, '${value}' AS value_string,
     toFloat64(1) AS value_f64`;

  test('binary columns, exact amounts, and times from its blocks', async () => {
    const store = new KeptFacts();
    const exact = 2n ** 200n + 1n;
    const path = await parquet(
      'erc20.parquet',
      `SELECT ${place(TX)}, toUInt32(3) AS log_index, ${bytes(TOKEN)} AS erc20,
       ${bytes(ALICE)} AS from_address, ${bytes(BOB)} AS to_address, ${amount(exact)},
       toUInt64(1) AS chain_id`,
    );
    recordOf(await imported(store, [path, await blocks()], { folder }));
    expect(store.served()).toMatchObject([
      ...[{ from: ALICE, to: BOB, token: TOKEN, raw_amount: exact, block_time: AT, tx_hash: TX }],
    ]);
  });

  test('an amount that is only binary is read as the number that it is', async () => {
    const store = new KeptFacts();
    const word = `unhex('${(2n ** 130n).toString(16).padStart(64, '0')}')`;
    const path = await parquet(
      'binary.parquet',
      `SELECT ${place(TX)}, toUInt32(3) AS log_index, ${bytes(TOKEN)} AS erc20,
       ${bytes(ALICE)} AS from_address, ${bytes(BOB)} AS to_address, ${word} AS value_binary`,
    );
    recordOf(await imported(store, [path, await blocks()], { folder }));
    expect(store.served().map(({ raw_amount }) => raw_amount)).toEqual([2n ** 130n]);
  });

  test('rows of another chain are refused', async () => {
    const path = await parquet(
      'other.parquet',
      `SELECT ${place(TX)}, toUInt32(3) AS log_index, ${bytes(TOKEN)} AS erc20,
       ${bytes(ALICE)} AS from_address, ${bytes(BOB)} AS to_address, ${amount(1n)},
       toUInt64(56) AS chain_id`,
    );
    const record = recordOf(await imported(new KeptFacts(), [path, await blocks()], { folder }));
    expect(record.refused).toEqual(new Map([['other_chain', 1]]));
  });

  test('of native transfers only the transaction itself is certain, and its success is not', async () => {
    const store = new KeptFacts();
    const one = (tx: string, index: number, to: string, value: bigint) =>
      `SELECT ${place(tx)}, toUInt32(${index}) AS transfer_index, ${bytes(ALICE)} AS from_address,
       ${bytes(to)} AS to_address, ${amount(value)}`;
    const rows = [
      one(TX, 0, BOB, 9n),
      one(TX, 1, MADE, 9n),
      one(TX, 2, MADE, 0n),
      one(OTHER_TX, 3, hex('0', 64), 5n),
      one('', 4, BOB, 2n),
    ];
    const path = await parquet('native.parquet', `SELECT * FROM (${rows.join(' UNION ALL ')})`);
    const record = recordOf(await imported(store, [path, await blocks()], { folder }));
    expect(store.lines()).toEqual([
      '0x0000 → 0xbbbb: 2 internal true',
      '0xaaaa → 0xbbbb: 9 native null',
    ]);
    expect(record.refused).toEqual(new Map([['call_kind_unknown', 1]]));
    expect(Object.fromEntries(record.left_out)).toEqual({ failed: 1, zero_value_call: 1 });
    expect(store.ranges).toEqual([]);
  });

  test('a contract made within a call is taken only on the operator’s word', async () => {
    const one = (tx: string, contract: string, factory: string) =>
      `SELECT ${place(tx)}, toUInt32(0) AS create_index, ${bytes(contract)} AS contract_address,
       ${bytes(ALICE)} AS deployer, ${bytes(factory)} AS factory`;
    const sent = `SELECT ${place(TX)}, ${bytes(ALICE)} AS from_address,
      NULL::Nullable(String) AS to_address, toUInt64(1) AS nonce, ${amount(0n)}, true AS success`;
    const both = [one(TX, MADE, ALICE), one(TX, TOKEN, BOB)].join(' UNION ALL ');
    const paths = [
      await parquet('contracts.parquet', `SELECT * FROM (${both})`),
      await parquet('sent.parquet', sent),
      await blocks(),
    ];
    const [careful, told] = [new KeptFacts(), new KeptFacts()];
    const record = recordOf(await imported(careful, paths, { folder }));
    expect(careful.creations.map(({ created }) => created)).toEqual([MADE]);
    expect(record.refused).toEqual(new Map([['success_unknown', 1]]));
    recordOf(await imported(told, paths, { folder, failed_excluded: true }));
    expect(told.creations.map(({ creator }) => creator).sort()).toEqual([ALICE, BOB]);
  });

  test('traces: a reward goes to its author, a delegated call and a failed one move nothing', async () => {
    const store = new KeptFacts();
    const one = (of: Record<string, string>) => {
      const row: Record<string, string> = {
        action_from: bytes(ALICE),
        action_to: bytes(BOB),
        action_value: "'7'",
        action_call_type: "'call'",
        action_type: "'call'",
        result_address: 'NULL::Nullable(String)',
        trace_address: "''",
        subtraces: 'toUInt32(0)',
        transaction_hash: `${bytes(TX)}::Nullable(String)`,
        block_number: 'toUInt32(7)',
        block_hash: bytes(BLOCK_HASH),
        error: 'NULL::Nullable(String)',
        chain_id: 'toUInt64(1)',
        ...of,
      };
      const cells = Object.entries(row).map(([name, value]) => `${value} AS ${name}`);
      return `SELECT ${cells.join(', ')}`;
    };
    const none = 'NULL::Nullable(String)';
    const rows = [
      one({ subtraces: 'toUInt32(3)' }),
      one({ trace_address: "'0'", action_call_type: "'delegate_call'" }),
      one({ trace_address: "'1'", action_value: "'8'", error: "'Reverted'" }),
      one({
        action_type: "'create'",
        action_to: none,
        action_call_type: none,
        result_address: `${bytes(MADE)}::Nullable(String)`,
        trace_address: "'2'",
        action_value: "'9'",
      }),
      one({
        action_type: "'reward'",
        action_to: none,
        action_call_type: none,
        transaction_hash: none,
        action_value: "'2'",
      }),
    ];
    const path = await parquet('traces.parquet', `SELECT * FROM (${rows.join(' UNION ALL ')})`);
    const record = recordOf(await imported(store, [path, await blocks()], { folder }));
    expect(store.lines()).toEqual([
      '0x0000 → 0xaaaa: 2 internal true',
      '0xaaaa → 0xbbbb: 7 native true',
      '0xaaaa → 0xdddd: 9 internal true',
    ]);
    expect(store.creations).toMatchObject([{ created: MADE, creator: ALICE, initiator: ALICE }]);
    expect(Object.fromEntries(record.left_out)).toEqual({ failed: 1, trace_delegatecall: 1 });
    expect(record.files[0]).toMatchObject({ layout: 'cryo' });
  });
});

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

describe('recordings', () => {
  const at = (name: string) => join(import.meta.dirname, 'recordings', name);
  /** The names in the recordings stand for these addresses. */
  const address = (name: string) => inventAddress('recordings', 'evm', name);
  const short = (name: string) => address(name).slice(0, 6);

  async function importedFrom(...names: readonly string[]) {
    const store = new KeptFacts();
    const done = await imported(store, names.map(at), { folder: await freshFolder() });
    return { store, record: recordOf(done), notes: done.notes };
  }

  const traced = (name: string) => importedFrom(`${name}-traces.csv`, `${name}-blocks.csv`);
  const REWARD = `0x0000 → ${short('miner')}: 5000000000000000000 internal true`;

  describe('traces', () => {
    test('a self-destruct moves what is left, and the block proves its coins whole', async () => {
      const { store, record } = await traced('self-destruct');
      expect(store.lines()).toEqual(
        [
          REWARD,
          `${short('owner')} → ${short('doomed')}: 0 native true`,
          `${short('doomed')} → ${short('owner')}: 50000000000000000 internal true`,
        ].sort(),
      );
      expect(record).toMatchObject({ rows: 4, rows_refused: 0, transfers: 3 });
      expect(store.ranges.map(({ kind, from_block }) => [kind, from_block])).toEqual([
        ['native', 1_500_001],
        ['internal', 1_500_001],
      ]);
    });

    test('a failed trace is no transfer, and is written as one that failed', async () => {
      const { store, record } = await traced('failed-call');
      expect(store.lines()).toEqual(
        [REWARD, `${short('alice')} → ${short('bob')}: 1100000000000000000 native true`].sort(),
      );
      expect(record.left_out).toEqual(new Map([['failed', 1]]));
      const failed = [...store.transfers.values()].filter(({ success }) => success === false);
      expect(failed).toMatchObject([{ to: address('greedy') }]);
    });

    test('a delegated call repeats its caller’s value and is no transfer', async () => {
      const { store, record } = await traced('delegated-call');
      expect(store.lines()).toEqual(
        [
          REWARD,
          `${short('alice')} → ${short('wallet')}: 100000000000000000000 native true`,
          `${short('bob')} → ${short('carol')}: 437194980000000000 native true`,
        ].sort(),
      );
      expect(record.left_out).toEqual(new Map([['trace_callcode', 1]]));
    });

    test('a creation names its creator, and who signed', async () => {
      const { store, record } = await traced('creation');
      expect(record).toMatchObject({ transfers: 3, creations: 1 });
      const [creator, initiator] = [address('maker'), address('maker')];
      expect([...store.creations.values()]).toMatchObject([
        { created: address('made'), creator, initiator, block: 1_500_004 },
      ]);
    });

    test('of a node that names no transactions are refused, each of them', async () => {
      const { store, record } = await importedFrom('node-traces-without-hashes.csv');
      expect(record.refused).toEqual(new Map([['no_transaction_hash', 3]]));
      expect(record).toMatchObject({ rows: 3, rows_refused: 3, transfers: 0 });
      expect(store.transfers.length).toBe(0);
    });
  });

  describe('token transfers', () => {
    const BLOCKS = ['token-blocks.csv', 'token-transactions.csv'];

    test('take their time from the blocks beside them', async () => {
      const { store, record } = await importedFrom('token-transfers.csv', ...BLOCKS);
      const rows = store.served().filter(({ kind }) => kind === 'token');
      const told = rows.map((row) => [row.block_time, row.raw_amount, row.initiator]);
      expect(told).toHaveLength(2);
      expect(told).toContainEqual([1_446_561_880, 100_000n, address('alice')]);
      expect(told).toContainEqual([1_446_561_880, 200_000n, address('bob')]);
      expect(record.rows_refused).toBe(0);
      // A log that nobody counts proves nothing whole, nor does a transaction without status.
      expect(store.ranges).toEqual([]);
    });

    test('take their time from headers that were imported before', async () => {
      const { store } = await importedFrom(...BLOCKS);
      const folder = await freshFolder();
      const record = recordOf(await imported(store, [at('token-transfers.csv')], { folder }));
      const rows = store.served().filter(({ kind }) => kind === 'token');
      expect(rows.map(({ block_time }) => block_time)).toEqual([1_446_561_880, 1_446_561_880]);
      expect(record.rows_refused).toBe(0);
    });

    test('without any time are refused with that reason', async () => {
      const { record } = await importedFrom('token-transfers.csv');
      expect(record.refused).toEqual(new Map([['no_time', 2]]));
      const told = readFileSync(String(record.refused_file), 'utf8').trim().split('\n');
      expect(told).toHaveLength(2);
      expect(told[0]).toContain('"file":"token-transfers.csv","row":1,"reason":"no_time"');
    });
  });

  describe('two blocks', () => {
    test('with transactions and withdrawals are the same in CSV and in JSON', async () => {
      const csv = await importedFrom('withdrawals-*.csv');
      const json = await importedFrom('withdrawals-*.json');
      expect(json.store.served()).toEqual(csv.store.served());
      const coins = csv.store.served();
      expect(coins.filter(({ kind }) => kind === 'native')).toHaveLength(4);
      expect(coins.filter(({ kind }) => kind === 'internal')).toHaveLength(3);
      expect(csv.record.left_out).toEqual(new Map([['created_address_not_told', 1]]));
    });

    test('of a whole stream are imported but for what it leaves open', async () => {
      const folder = await freshFolder();
      const store = new KeptFacts();
      const declared = { from_block: 17_200_001, to_block: 17_200_002 };
      const done = await imported(store, [at('stream')], { folder, declared });
      expect(recordOf(done)).toMatchObject({ rows_refused: 0, left_out: new Map([['failed', 1]]) });
      expect(store.served().filter(({ kind }) => kind === 'token')).toHaveLength(2);
      expect(done.notes.filter((line) => line.includes('left aside'))).toHaveLength(1);
      expect(store.ranges.map(({ kind }) => kind)).toContain('token');
      expect(store.ranges.map(({ kind }) => kind)).not.toContain('internal');
      // The file's rows of ERC-721 have an id where others have an amount, and nothing tells which.
      expect(store.ranges.map(({ kind }) => kind)).not.toContain('nft');
    });
  });
});
