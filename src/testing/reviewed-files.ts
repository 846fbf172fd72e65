// Registry files that a test wrote, with the digests that show that each is whole.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The output of `sha256sum *.csv` in a folder. */
export function digestsOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith('.csv'));
  const lines = names.sort().map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  return lines.join('');
}

/** Writes the digests of a folder's files as they are now. */
export function sealRegistry(folder: string): void {
  writeFileSync(join(folder, 'SHA256SUMS'), digestsOf(folder));
}
