// The source of a table that several imports filled. One table is one source: its newest import,
// its rows, its date and a hash of all its contents.

import { createHash } from 'node:crypto';
import type { Source } from '../../evidence/source.ts';
import type { TableImport } from '../../ports/tables.ts';

/** How much of a hash a name shows; the whole hash is in the address or in the import's record. */
export const HASH_CHARS_SHOWN = 12;

/**
 * The source of a table with these imports in force, oldest first. Its date is that of its oldest
 * part; it is simulated where any part is. The hash of several is that of their hashes in order.
 */
export function tableSource(
  { title, ages }: { readonly title: string; readonly ages: Source['kind'] },
  imports: readonly [TableImport, ...TableImport[]],
  rows: number,
): Source {
  const newest = imports.reduce((a, b) => (b.id > a.id ? b : a));
  const sha256 = imports.length === 1 ? newest.sha256 : hashOf(imports);
  const of = imports.length === 1 ? '' : ` of ${imports.length} imports`;
  const hash = sha256.slice(0, HASH_CHARS_SHOWN);
  const count = `${rows.toLocaleString('en')} rows${of}, sha256 ${hash}`;
  const link = imports.length === 1 ? newest.source_url : null;
  return {
    name: `${title}, import ${newest.id}: ${count}`,
    url: link === null ? `urn:sha256:${sha256}` : link,
    as_of: Math.min(...imports.map((one) => one.as_of)),
    kind: ages,
    simulated: imports.some((one) => one.origin === 'simulated'),
  };
}

function hashOf(imports: readonly TableImport[]): string {
  const hash = createHash('sha256');
  for (const { sha256 } of imports) hash.update(`${sha256}\n`);
  return hash.digest('hex');
}
