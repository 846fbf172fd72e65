// `receipts check` names each file with what is to be corrected, and never calls a folder fine that
// it could not read.

import { expect, test } from 'vitest';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ReceiptFile } from '../../ports/receipts.ts';
import { evm } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { memoryReceiptFolder } from '../../testing/twins/receipts.ts';
import { type ReceiptsServices, receiptsCheck } from './receipts-check.command.ts';

const subject = evm('subject');
const FILES: readonly ReceiptFile[] = [
  {
    file: 'a.md',
    state: 'published',
    receipt: {
      id: 'one',
      slug: 'a',
      title: 'A case',
      date: '2026-01-02',
      description: 'Seen.',
      subject,
      deployer: subject,
      kind: 'wallet',
      tags: [],
      transactions: [],
      body: 'Text.',
    },
  },
  { file: 'b.md', state: 'draft' },
  { file: 'c.md', state: 'refused', reasons: ['title: expected a text', 'date: expected a day'] },
];

const NOWHERE: ReceiptsServices['receipts']['lookUp'] = async (chain, hashes) => {
  const what = `A node of ${chain}`;
  return new Map(
    hashes.map((tx) => [tx, unread('transaction_receipts', why('not_configured', { what }))]),
  );
};

const NOT_SET: ReceiptsServices['receipts']['lookUpSolana'] = async () =>
  unread('transaction_receipts', why('not_configured', { what: 'A node of solana' }));

function check(
  files: readonly ReceiptFile[],
  line = 'receipts check',
  lookUp: ReceiptsServices['receipts']['lookUp'] = NOWHERE,
) {
  const asked: string[] = [];
  const open = (folder: string) => {
    asked.push(folder);
    return memoryReceiptFolder({ files, as_of: 1, simulated: false });
  };
  const services = { receipts: { folder: '/set', open, lookUp, lookUpSolana: NOT_SET } };
  return ran(line, [receiptsCheck], services).then((one) => ({ ...one, asked }));
}

test('a refused file makes it fail, and each reason stands in a line of its own', async () => {
  const { status, lines, asked } = await check(FILES);
  expect(status).toBe(1);
  expect(asked).toEqual(['/set']);
  expect(lines).toEqual([
    'file  state      date        title or what to correct',
    'a.md  published  2026-01-02  A case',
    'b.md  draft      –           –',
    'c.md  refused    –           title: expected a text',
    'c.md  refused    –           date: expected a day',
    'Published 1, drafts 1, refused 1.',
  ]);
});

test('drafts are no fault; a folder that is named is the one that is read', async () => {
  const { status, asked } = await check(FILES.slice(0, 2), 'receipts check mine');
  expect(status).toBe(0);
  expect(asked).toEqual(['/nowhere/mine']);
});

test('in JSON each file is an object', async () => {
  const { lines } = await check(FILES, 'receipts check --json');
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    { file: 'a.md', state: 'published', id: 'one', transactions: [] },
    { file: 'b.md', state: 'draft' },
    { file: 'c.md', state: 'refused', reasons: ['title: expected a text', 'date: expected a day'] },
  ]);
});

test('a folder that cannot be read ends with 3, and says why', async () => {
  const silent = { files: async () => unread('receipts', why('not_configured', { what: 'It' })) };
  const services = {
    receipts: { folder: '/set', open: () => silent, lookUp: NOWHERE, lookUpSolana: NOT_SET },
  };
  const { status, lines, errors } = await ran('receipts check', [receiptsCheck], services);
  expect([status, lines]).toEqual([3, []]);
  expect(errors).toEqual(['/set: It is not configured on this deployment; nothing was checked.']);
});

const TX = `0x${'ab'.repeat(32)}`;
const article = (chain: 'ethereum' | null): readonly ReceiptFile[] =>
  FILES.slice(0, 1).map((one) => {
    if (one.state !== 'published') throw new Error('not published');
    return { ...one, receipt: { ...one.receipt, transactions: [{ chain, tx: TX }] } };
  });
const held = {
  chain: 'ethereum',
  tx: TX,
  block: 7,
  from: subject,
  to: evm('payee'),
  value: 1n,
  input: null,
  success: false,
  logs: [],
} as const;
const source = { name: 'A node', url: 'http://node', as_of: 1, kind: 'observation' } as const;
const ORIGIN = { port: 'transaction_receipts', source: { ...source, simulated: false } } as const;

test('a transaction that the node holds is told with who sent it to whom', async () => {
  const lookUp = async () => new Map([[TX, read(held, ORIGIN)]]);
  const { status, lines } = await check(article('ethereum'), 'receipts check', lookUp);
  expect(status).toBe(0);
  expect(lines.join('\n')).toContain(`block 7: ${subject} to ${evm('payee')}, and failed`);
  expect(lines.at(-1)).toBe(
    'Published 1, drafts 0, refused 0. Transactions: found 1, not found 0, not read 0.',
  );
});

test('one that the node of its chain does not hold makes it fail, and is named', async () => {
  const cause = why('receipt_not_held', { provider: 'http://node' });
  const lookUp = async () => new Map([[TX, unread('transaction_receipts', cause)]]);
  const { status, lines } = await check(article('ethereum'), 'receipts check --json', lookUp);
  expect(status).toBe(1);
  expect(JSON.parse(String(lines[0]))).toMatchObject({
    transactions: [{ chain: 'ethereum', tx: TX, state: 'not found' }],
  });
});

test.each([
  ['ethereum', 'A node of ethereum is not configured'],
  [null, 'its chain is not named'],
] as const)(
  'one of %s that nobody could look up is not read, and ends with 3',
  async (chain, why) => {
    const { status, lines } = await check(article(chain));
    expect(status).toBe(3);
    expect(lines.join('\n')).toMatch(new RegExp(`${TX}  not read +.*${why}`));
    expect(lines.at(-1)).toContain('found 0, not found 0, not read 1.');
  },
);

const SIGNATURE = '1'.repeat(64);

test('a transaction of Solana without a node is not read', async () => {
  const { status, lines } = await check(
    FILES.slice(0, 1).map((one) => {
      if (one.state !== 'published') throw new Error('not published');
      const transactions = [{ chain: 'solana', tx: SIGNATURE } as const];
      return { ...one, receipt: { ...one.receipt, transactions } };
    }),
  );
  expect(status).toBe(3);
  expect(lines.join('\n')).toContain('A node of solana is not configured');
});
