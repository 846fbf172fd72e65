// Each layout is told by its columns, in each format, and its quirks never become a transfer.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedWarehouse, embeddedWarehouse } from '../engine/embedded.ts';
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
    engine = await embeddedWarehouse(join(folder, 'maker'));
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
