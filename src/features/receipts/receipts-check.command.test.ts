// `receipts check` names each file with what is to be corrected, and never calls a folder fine that
// it could not read.

import { expect, test } from 'vitest';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ReceiptFile } from '../../ports/receipts.ts';
import { evm } from '../../testing/addresses.ts';
import { ran } from '../../testing/recording-io.ts';
import { memoryReceiptFolder } from '../../testing/twins/receipts.ts';
import { receiptsCheck } from './receipts-check.command.ts';

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
      body: 'Text.',
    },
  },
  { file: 'b.md', state: 'draft' },
  { file: 'c.md', state: 'refused', reasons: ['title: expected a text', 'date: expected a day'] },
];

function check(files: readonly ReceiptFile[], line = 'receipts check') {
  const asked: string[] = [];
  const open = (folder: string) => {
    asked.push(folder);
    return memoryReceiptFolder({ files, as_of: 1, simulated: false });
  };
  const services = { receipts: { folder: '/set', open } };
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
    { file: 'a.md', state: 'published', id: 'one' },
    { file: 'b.md', state: 'draft' },
    { file: 'c.md', state: 'refused', reasons: ['title: expected a text', 'date: expected a day'] },
  ]);
});

test('a folder that cannot be read ends with 3, and says why', async () => {
  const silent = { files: async () => unread('receipts', why('not_configured', { what: 'It' })) };
  const services = { receipts: { folder: '/set', open: () => silent } };
  const { status, lines, errors } = await ran('receipts check', [receiptsCheck], services);
  expect([status, lines]).toEqual([3, []]);
  expect(errors).toEqual(['/set: It is not configured on this deployment; nothing was checked.']);
});
