// The index finds receipts by address and words; that none covers a question is said only of a
// folder that was read, and its links begin with the service's own address.

import { describe, expect, test } from 'vitest';
import { Refusal } from '../../contract/refusals.ts';
import { envelopeSchema } from '../../contract/route.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ReceiptFile } from '../../ports/receipts.ts';
import { evm } from '../../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { memoryReceiptFolder } from '../../testing/twins/receipts.ts';
import { selectPublished } from './covering.ts';
import { receiptsFeedOf, receiptsIndex, receiptsIndexHandler } from './receipts-index.route.tsx';

const NOW = STILL_NOW;
const ALICE = evm('alice');
const MAKER = evm('maker');
const article = (slug: string, date: string, more: object = {}): ReceiptFile => ({
  file: `${slug}.md`,
  state: 'published',
  receipt: {
    id: `id-${slug}`,
    slug,
    title: `About ${slug}`,
    date,
    description: 'What was seen.',
    subject: ALICE,
    deployer: MAKER,
    kind: 'token',
    tags: ['bridge-exit'],
    transactions: [],
    body: 'Text.',
    ...more,
  },
});
const FILES = [
  article('older', '2026-01-02'),
  article('newer', '2026-03-04', { subject: evm('bob'), tags: [] }),
  { file: 'next.md', state: 'draft' },
  { file: 'wrong.md', state: 'refused', reasons: ['title: expected a text'] },
] as const;
const service = { base: () => 'https://exhibit.example' };

type Handle = ReturnType<typeof receiptsIndexHandler>;
type Query = { readonly address?: string; readonly q?: string; readonly limit?: number };
const folderOf = (files: readonly ReceiptFile[]) =>
  memoryReceiptFolder({ files, as_of: NOW, simulated: false });

async function asked(query: Query, receiptFolder = folderOf(FILES)) {
  const { signal } = new AbortController();
  const handle = receiptsIndexHandler({ receiptFolder, service }) as (
    input: { params: object; query: Query; body: undefined },
    asked: Parameters<Handle>[1],
  ) => ReturnType<Handle>;
  const answer = await handle(
    { params: {}, query, body: undefined },
    { now: stillClock(), signal },
  );
  if (answer instanceof Refusal) return answer;
  const envelope = answer.envelope(NOW);
  envelopeSchema(receiptsIndex).parse(envelope);
  return envelope;
}

async function slugs(query: Query) {
  const answer = await asked(query);
  if (answer instanceof Refusal || answer.state !== 'ok') throw new Error(JSON.stringify(answer));
  return receiptsIndex.data.parse(answer.data).receipts.map(({ slug }) => slug);
}

describe('says', () => {
  test('every published receipt, newest first, with its page and how many are withheld', async () => {
    expect(await asked({})).toEqual({
      state: 'ok',
      subject: 'receipts',
      as_of: NOW,
      simulated: false,
      sources: [{ name: 'Memory', url: 'memory:', as_of: NOW }],
      data: {
        receipts: [
          {
            id: 'id-newer',
            slug: 'newer',
            title: 'About newer',
            date: '2026-03-04',
            description: 'What was seen.',
            subject: evm('bob'),
            deployer: MAKER,
            kind: 'token',
            tags: [],
            url: 'https://exhibit.example/receipts/newer',
          },
          {
            id: 'id-older',
            slug: 'older',
            title: 'About older',
            date: '2026-01-02',
            description: 'What was seen.',
            subject: ALICE,
            deployer: MAKER,
            kind: 'token',
            tags: ['bridge-exit'],
            url: 'https://exhibit.example/receipts/older',
          },
        ],
        total: 2,
        returned: 2,
        published_total: 2,
        drafts_withheld: 2,
        caveat: expect.stringContaining('says nothing about it'),
      },
    });
  });

  test('those about an address, in any letter case, as subject or deployer', async () => {
    expect(await slugs({ address: ALICE.toUpperCase().replace('0X', '0x') })).toEqual(['older']);
    expect(await slugs({ address: MAKER })).toEqual(['newer', 'older']);
  });

  test('those that hold every word in title, description or tags, and how many there are', async () => {
    expect(await slugs({ q: 'SEEN about' })).toEqual(['newer', 'older']);
    expect(await slugs({ q: 'bridge-exit' })).toEqual(['older']);
    expect(await asked({ q: 'about', limit: 1 })).toMatchObject({
      data: { total: 2, returned: 1, published_total: 2 },
    });
  });

  test('that none covers the question, of the whole folder and with its source', async () => {
    expect(await asked({ address: evm('carol') })).toEqual({
      state: 'insufficient_evidence',
      reason: 'None of the published receipts (2) covers the question.',
      subject: evm('carol'),
      as_of: NOW,
      simulated: false,
      sources: [{ name: 'Memory', url: 'memory:', as_of: NOW }],
      data: null,
    });
    expect(await asked({}, folderOf([]))).toMatchObject({ state: 'insufficient_evidence' });
  });
});

describe('is silent', () => {
  test('where the folder was not read', async () => {
    const silent = { files: async () => unread('receipts', why('not_configured', { what: 'It' })) };
    expect(await asked({ address: ALICE }, silent)).toEqual({
      state: 'not_deployed',
      reason: 'It is not configured on this deployment; nothing was checked.',
      subject: ALICE,
      as_of: NOW,
      simulated: false,
      sources: [],
      data: null,
    });
  });
});

describe('refuses', () => {
  test('what is no address', async () => {
    expect(await asked({ address: 'nonsense' })).toBeInstanceOf(Refusal);
  });
});

test('the feed is of the same receipts, and dated where there is none', () => {
  const feed = receiptsFeedOf(selectPublished(FILES), false, NOW);
  expect(feed.entries.map(({ id }) => id)).toEqual(['id-newer', 'id-older']);
  expect(feed.updated).toBe(Date.parse('2026-03-04') / 1_000);
  expect(receiptsFeedOf([], true, NOW)).toMatchObject({
    updated: NOW,
    title: 'Simulated: Receipts',
  });
});
