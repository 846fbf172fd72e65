// Finds the published receipts that cover an address or words.

import { matchKey } from '../../chain/address.ts';
import type { Receipt, ReceiptFiles } from '../../ports/receipts.ts';

/** The query; `null`: any address, or any words. */
export type ReceiptsQuery = { readonly address: string | null; readonly words: string | null };

/** Newest first, of one day by title: the order of every list of receipts. */
export function selectPublished(files: ReceiptFiles): Receipt[] {
  return files
    .flatMap((one) => (one.state === 'published' ? [one.receipt] : []))
    .sort((a, b) => b.date.localeCompare(a.date) || a.title.localeCompare(b.title));
}

/**
 * Those that are about an address, as subject or deployer, and hold every word somewhere in title,
 * description and tags, in any letter case.
 */
export function covering(
  receipts: readonly Receipt[],
  { address, words }: ReceiptsQuery,
): readonly Receipt[] {
  const key = address === null ? null : matchKey(address);
  const sought = words === null ? [] : words.toLowerCase().split(/\s+/);
  return receipts.filter((one) => {
    const isAbout = key === null || [one.subject, one.deployer].some((it) => matchKey(it) === key);
    const text = [one.title, one.description, ...one.tags].join('\n').toLowerCase();
    return isAbout && sought.every((word) => text.includes(word));
  });
}
