// Is a transaction of Solana that a receipt names told as found, not found or not read, as its node
// answers?

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { receiptsCheck } from './features/receipts/receipts-check.command.ts';
import type { ReceiptFile } from './ports/receipts.ts';
import { parseReceipt } from './sources/files/receipts-folder.ts';
import { providerGuard } from './sources/http/provider.ts';
import { solanaTransactions } from './sources/solana/transactions.ts';
import { evm } from './testing/addresses.ts';
import { ran } from './testing/recording-io.ts';
import { memoryReceiptFolder } from './testing/twins/receipts.ts';

const subject = evm('subject');

function memory(files: readonly ReceiptFile[]) {
  const lookUp = () => {
    throw new Error('test: no transaction of an EVM chain is named');
  };
  const open = () => memoryReceiptFolder({ files, as_of: 1, simulated: false });
  return { folder: '/set', open, lookUp };
}

const SIGNATURE = '1'.repeat(64);
const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const TOLD = {
  slot: 9,
  blockTime: 1_790_000_000,
  meta: { err: null },
  transaction: {
    signatures: [SIGNATURE],
    message: { accountKeys: [{ pubkey: 'payer' }], instructions: [] },
  },
};
const OTHERS = { ...TOLD, transaction: { ...TOLD.transaction, signatures: ['another'] } };
type Answered = (response: ServerResponse, method: string) => unknown;
const told = (result: unknown, genesis = GENESIS): Answered => {
  return (response, method) =>
    response.end(JSON.stringify({ result: method === 'getTransaction' ? result : genesis }));
};

/** What a node of Solana answers, the exit status, and how the last line and the row tell of it. */
const SOLANA: readonly (readonly [what: string, Answered, status: number, says: string])[] = [
  ['holds it', told(TOLD), 0, 'slot 9: paid for by payer'],
  ['holds it as failed', told({ ...TOLD, meta: { err: 'x' } }), 0, 'by payer, and failed'],
  ['does not know it', told(null), 1, 'holds no receipt of this transaction'],
  ['answers another', told(OTHERS), 3, 'answered another transaction'],
  ['answers another shape', told({ slot: 9 }), 3, 'answered JSON of another shape'],
  ['is of another network', told(TOLD, 'devnet'), 3, 'is of another network'],
  ['fails', (response) => response.writeHead(500).end(), 3, 'answered 500'],
  ['is no JSON', (response) => response.end('<html>'), 3, 'answered HTML'],
  ['never answers', () => undefined, 3, ''],
];

test.each(SOLANA)('a transaction of Solana whose node %s', async (_, answered, exits, says) => {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const question: unknown = JSON.parse(text);
      answered(response, (question as { method: string }).method);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const limits = { callsPerS: 1_000, retriesMax: 0, backoffMs: 1, failuresMax: 99, restMs: 1 };
  const { lookUp } = solanaTransactions({
    url: new URL(`http://127.0.0.1:${port}/`),
    guard: providerGuard(limits, () => performance.now()),
    now: () => 1,
    timeMs: 1_000,
    simulated: false,
  });
  const body = `It was paid in ${SIGNATURE}.`;
  const text = [
    '---',
    ...['id: one', 'title: A case', 'date: 2026-01-02', 'description: Seen.', 'kind: wallet'],
    ...[`subject: ${subject}`, `deployer: ${subject}`, 'status: published', '---', body],
  ];
  const files = [parseReceipt('a.md', text.join('\n'))];
  const { status, lines } = await ran('receipts check', [receiptsCheck], {
    receipts: { ...memory(files), lookUpSolana: lookUp },
  });
  expect(status).toBe(exits);
  expect(lines.join('\n')).toContain(says);
  const counts = [0, 1, 3].map((one) => Number(one === exits));
  const [found, missing, unread] = counts;
  expect(lines.at(-1)).toContain(`found ${found}, not found ${missing}, not read ${unread}.`);
});

test('a head names a transaction of Solana by its signature, and by nothing else', () => {
  const fileOf = (named: string) => {
    const head = ['id: one', 'title: A case', 'date: 2026-01-02', 'description: Seen.'];
    const about = [`subject: ${subject}`, `deployer: ${subject}`, 'kind: wallet'];
    const all = [...head, ...about, 'status: published', `transactions: ['${named}']`];
    return parseReceipt('a.md', ['---', ...all, '---', 'Text.'].join('\n'));
  };
  expect(fileOf(`solana:${SIGNATURE}`)).toMatchObject({
    receipt: { transactions: [{ chain: 'solana', tx: SIGNATURE }] },
  });
  for (const wrong of [
    `solana:0x${'ab'.repeat(32)}`,
    `solana:${SIGNATURE}1`,
    `ethereum:${SIGNATURE}`,
  ]) {
    expect(fileOf(wrong)).toMatchObject({ state: 'refused' });
  }
});
