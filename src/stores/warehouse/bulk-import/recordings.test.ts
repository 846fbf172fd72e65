// Files as ethereum-etl writes them, of our own making, come to exactly their rows.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { madeUpAddress } from '../../../world/made-up-address.ts';
import { freshFolder, imported, KeptFacts, recordOf } from './bulk-import.suite.ts';

const at = (name: string) => join(import.meta.dirname, 'recordings', name);
/** The names in the recordings stand for these addresses. */
const address = (name: string) => madeUpAddress('recordings', 'evm', name);
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
