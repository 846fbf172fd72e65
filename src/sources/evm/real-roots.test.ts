// The header of a real block commits to exactly its transactions, and each to its own hash.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { trieRoot } from '../../chain/receipts-root.ts';
import { encodeTransaction, transactionHash } from '../../chain/transactions-root.ts';
import { NO_SHARED_DATA, SHARED_DATA } from '../../testing/shared-data.ts';
import { BLOCK, type NodeBlock } from './wire.ts';

const FOLDER = join(SHARED_DATA, 'ethereum-etl');
const EARLY = [
  'test_export_blocks_job/blocks_with_transactions/web3_response.eth_getBlockByNumber_0xb872_true',
  'test_export_blocks_job/block_with_logs/web3_response.eth_getBlockByNumber_0x76250_true',
  'test_stream/blocks_1755634_1755635/web3_response.eth_getBlockByNumber_0x1ac9f3_true',
];
/** A block of 2025, with transactions of every kind. */
const MODERN = join(
  SHARED_DATA,
  'provider-recordings/unit/decoders/test_across',
  'test_across_relayed_bridge_receive_on_ethereum[ethereum_accounts0].yaml',
);

const said = z.looseObject({ result: z.unknown() });
const whole = z.looseObject({ transactions: z.array(z.looseObject({})).min(1) });

function encoded(tx: NodeBlock['transactions'][number]): Uint8Array {
  const encoding = encodeTransaction(tx);
  if (encoding === null) throw new Error(`test: no encoding of ${tx.hash}`);
  return encoding;
}

/** The blocks with whole transactions in a recording, whose bodies stand in lines of their own. */
function blocksIn(path: string): NodeBlock[] {
  const text = readFileSync(path, 'utf8');
  const bodies = path.endsWith('.json')
    ? [text]
    : [...text.matchAll(/string: '?(\{.*)/g)].map(([, body]) => {
        return String(body).replace(/'$/, '').replaceAll("''", "'");
      });
  return bodies
    .filter((body) => body.includes('"transactionsRoot"'))
    .flatMap((body) => {
      const answer = said.parse(JSON.parse(body));
      const block = answer.result === undefined ? answer : answer.result;
      return whole.safeParse(block).success ? [BLOCK.parse(block)] : [];
    });
}

const absent = !existsSync(FOLDER) || !existsSync(MODERN);
describe.skipIf(absent)(absent ? `real blocks (skipped: ${NO_SHARED_DATA})` : 'real blocks', () => {
  const paths = [...EARLY.map((name) => join(FOLDER, `${name}.json`)), MODERN];

  test.each(paths)('%s: the header commits to its transactions', (path) => {
    const blocks = blocksIn(path);
    expect(blocks.length).toBeGreaterThan(0);
    for (const { transactions, transactionsRoot } of blocks) {
      const encodings = transactions.map(encoded);
      expect(encodings.map(transactionHash)).toEqual(transactions.map(({ hash }) => hash));
      expect(trieRoot(encodings)).toBe(transactionsRoot);
      expect(trieRoot(encodings.slice(1))).not.toBe(transactionsRoot);
      const more = transactions.map((one, i) => {
        return encoded(i === 0 ? { ...one, value: one.value + 1n } : one);
      });
      expect(trieRoot(more)).not.toBe(transactionsRoot);
    }
  });

  test('of every kind that Ethereum has but that of access lists alone', () => {
    const kinds = blocksIn(MODERN).flatMap(({ transactions }) => {
      return transactions.map(({ type }) => Number(type));
    });
    expect([...new Set(kinds)].sort()).toEqual([0, 2, 3, 4]);
  });
});
