import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Read } from '../../evidence/reading.ts';
import { RECEIPTS_ASK_MAX } from '../../ports/bridges.ts';
import { jsonRpc, RPC_LIMITS } from '../http/json-rpc.ts';
import { nodeReceipts } from './receipts-node.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const OTHER = `0x${'cd'.repeat(32)}`;
const FROM = `0x${'11'.repeat(20)}`;
const TO = `0x${'AA'.repeat(20)}`;
const INPUT = { sent: '0xAB', read: '0xab' };
const SENT = { hash: HASH, from: FROM, to: TO, value: '0x7', input: INPUT.sent };
const TRANSACTION = { ...SENT, chainId: '0x1' };
const LOG = { address: TO, topics: [HASH], data: '0xAB', logIndex: '0x3' };
const RECEIPT = {
  transactionHash: HASH,
  blockNumber: '0x10',
  from: FROM,
  to: TO,
  status: '0x1',
  logs: [LOG],
};

const CALLS = z.array(z.object({ id: z.number(), method: z.string() }));
let server: Server | null = null;
afterEach(() => server?.close());

/** A node that answers each method with what is given; `null` in place of all: no JSON. */
async function told(results: { [method: string]: unknown } | null, hashes = [HASH]) {
  const made = createServer((asked, answer) => {
    let body = '';
    asked.on('data', (chunk) => {
      body += String(chunk);
    });
    asked.on('end', () => {
      if (results === null) {
        answer.end('<html>busy</html>');
        return;
      }
      const calls = CALLS.parse(JSON.parse(body));
      const said = calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: results[method] }));
      answer.end(JSON.stringify(said));
    });
  });
  server = made;
  await new Promise<void>((done) => made.listen(0, '127.0.0.1', done));
  const at = made.address();
  const port = typeof at === 'object' && at !== null ? at.port : 0;
  const url = new URL(`http://127.0.0.1:${port}/key-in-the-path`);
  const rpc = jsonRpc({ url, headers: {}, limits: { ...RPC_LIMITS, attemptsMax: 1 }, sleep });
  const nodes = new Map([['ethereum', rpc]] as const);
  const receipts = nodeReceipts({ nodes, simulated: false, now: () => 5 });
  const readings = await receipts.lookUp('ethereum', hashes, new AbortController().signal);
  rpc.close();
  return readings.get(HASH);
}

const sleep = async () => undefined;
const WHOLE = {
  eth_chainId: '0x1',
  eth_getTransactionByHash: TRANSACTION,
  eth_getTransactionReceipt: RECEIPT,
};

describe('receipts of a node', () => {
  test('are the facts of a transaction, in lower case and exact', async () => {
    const reading = await told(WHOLE);
    expect(reading instanceof Read ? reading.value : reading).toEqual({
      chain: 'ethereum',
      tx: HASH,
      block: 16,
      from: FROM,
      to: TO.toLowerCase(),
      value: 7n,
      input: INPUT.read,
      success: true,
      logs: [{ address: TO.toLowerCase(), topics: [HASH], data: '0xab', index: 3 }],
    });
  });

  test.each([
    ['that does not know the transaction', { ...WHOLE, eth_getTransactionReceipt: null }],
    ['of another chain', { ...WHOLE, eth_chainId: '0xa' }],
    [
      'that answers another transaction',
      {
        ...WHOLE,
        eth_getTransactionByHash: { ...TRANSACTION, hash: OTHER },
      },
    ],
    ['that answers no receipt', { ...WHOLE, eth_getTransactionReceipt: { logs: [] } }],
    ['that answers no JSON', null],
  ])('of one %s are unread, with a reason that shows no key', async (_, results) => {
    const reading = await told(results);
    if (reading === undefined || reading instanceof Read) throw new Error('it was read');
    expect(reading.why.reason).toMatch(/^http:\/\/127\.0\.0\.1:\d+ /);
    expect(reading.why.reason).not.toContain('key-in-the-path');
  });

  test('of a chain without a node, and after the time is spent, are unread', async () => {
    const none = nodeReceipts({ nodes: new Map(), simulated: false, now: () => 5 });
    const live = new AbortController();
    const reading = (await none.lookUp('base', [HASH], live.signal)).get(HASH);
    expect(reading instanceof Read ? null : reading?.why.code).toBe('not_configured');
  });

  test('are of a bounded number of transactions', async () => {
    const many = Array.from({ length: RECEIPTS_ASK_MAX + 1 }, () => HASH);
    await expect(told(WHOLE, many)).rejects.toThrow(RangeError);
  });
});
