import { read, unread } from '../../evidence/reading.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { ReceiptFile, ReceiptFiles, ReceiptFolder } from '../../ports/receipts.ts';
import { evm } from '../addresses.ts';
import { type Dated, memorySource, PLANTED, UNDATED } from './dated.ts';

/** Files as they were parsed. */
export type MemoryArticles = Dated & { readonly files: ReceiptFiles };

export type ReceiptsPorts = { readonly receiptFolder: ReceiptFolder };

/** The folder of these files. */
export function memoryReceiptFolder({ files, ...dated }: MemoryArticles): ReceiptFolder {
  const source = memorySource('Memory', 'table', dated);
  return { files: async () => read(files, { port: 'receipts', source }) };
}

/** Left out: the folder of articles holds none. */
export function memoryReceipts(held: { readonly articles?: MemoryArticles }): ReceiptsPorts {
  return { receiptFolder: memoryReceiptFolder(held.articles ?? { ...UNDATED, files: [] }) };
}

export function silentReceipts(cause: Why): ReceiptsPorts {
  return { receiptFolder: { files: async () => unread('receipts', cause) } };
}

/** Articles that may be planted. */
export type PlantedReceipts = { readonly articles?: ReceiptFiles };

export function plantedReceipts({ articles = [] }: PlantedReceipts): ReceiptsPorts {
  return memoryReceipts({
    articles: { ...PLANTED, files: [articleOf(evm('elsewhere')), ...articles] },
  });
}

/** A published article about an address. */
export function articleOf(subject: string): ReceiptFile {
  const slug = `case-of-${subject.slice(-8).toLowerCase()}`;
  const texts = { title: 'A case', description: 'What happened.', kind: 'wallet', body: 'Text.' };
  const receipt = { id: slug, slug, date: '2026-09-01', subject, deployer: subject };
  const lists = { tags: [], transactions: [] };
  return { file: `${slug}.md`, state: 'published', receipt: { ...receipt, ...texts, ...lists } };
}

/** The worlds of this subject. */
export const RECEIPT_PLANS = [
  {
    name: 'an article about it',
    about: evm('written about'),
    articles: [articleOf(evm('written about'))],
    contradicts: {},
  },
];

/** The lines of pages that deny something of this subject, with their ports. */
export const RECEIPT_DENIALS = [
  [/^Receipts: None of the published receipts \(\d+\) covers the question\.$/, ['receipts']],
  [/^(No published receipt (holds|has)|No such receipt$)/, ['receipts']],
] as const;
