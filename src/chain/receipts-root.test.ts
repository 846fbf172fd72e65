// The header of a real block commits to exactly its receipts, and to none that differ from them.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NO_SHARED_DATA, SHARED_DATA } from '../testing/shared-data.ts';
import { type CommittedReceipt, logsBloom, receiptsRoot } from './receipts-root.ts';

/** keccak256 of the empty string in RLP, as the headers of empty blocks have it. */
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

const FOLDER = join(SHARED_DATA, 'ethereum-etl');
const RECORDED = [
  {
    header:
      'test_export_blocks_job/block_with_logs/web3_response.eth_getBlockByNumber_0x76250_true',
    receipts: 'test_export_receipts_job/receipts_with_logs',
  },
  {
    header: 'test_stream/blocks_1755634_1755635/web3_response.eth_getBlockByNumber_0x1ac9f3_true',
    receipts: 'test_stream/blocks_1755634_1755635',
  },
];
const absent = !existsSync(FOLDER);

type Recorded = {
  readonly receiptsRoot: string;
  readonly logsBloom: string;
  readonly transactions: readonly { readonly hash: string }[];
};
type RecordedReceipt = {
  readonly root: string;
  readonly cumulativeGasUsed: string;
  readonly logsBloom: string;
  readonly logs: CommittedReceipt['logs'];
};

function recorded<T>(name: string): T {
  const said: unknown = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
  const { result } = said as { result?: T };
  return result === undefined ? (said as T) : result;
}

test('a block without transactions has the root of the empty trie and an empty bloom', () => {
  expect(receiptsRoot([])).toBe(EMPTY_ROOT);
  expect(logsBloom([])).toBe(`0x${'0'.repeat(512)}`);
});

describe.skipIf(absent)(absent ? `real blocks (skipped: ${NO_SHARED_DATA})` : 'real blocks', () => {
  test.each(RECORDED)('$header: the header commits to its receipts', ({ header, receipts }) => {
    const block = recorded<Recorded>(header);
    const said = block.transactions.map(({ hash }) =>
      recorded<RecordedReceipt>(`${receipts}/web3_response.eth_getTransactionReceipt_${hash}`),
    );
    const committed = said.map((one) => ({
      type: 0,
      outcome: one.root,
      cumulativeGasUsed: BigInt(one.cumulativeGasUsed),
      logs: one.logs,
      more: [],
    }));
    expect(receiptsRoot(committed)).toBe(block.receiptsRoot);
    expect(logsBloom(said.flatMap(({ logs }) => logs))).toBe(block.logsBloom);
    expect(said.map(({ logs }) => logsBloom(logs))).toEqual(said.map((one) => one.logsBloom));
    expect(receiptsRoot(committed.slice(1))).not.toBe(block.receiptsRoot);
    const cut = committed.map((one) => ({ ...one, logs: one.logs.slice(1) }));
    expect(receiptsRoot(cut)).not.toBe(block.receiptsRoot);
  });
});
