// What does the folder of receipts say, of files held in memory?

import { read } from '../../evidence/reading.ts';
import type { ReceiptFiles, ReceiptFolder } from '../../ports/receipts.ts';

/** Files as they were parsed. `as_of` is Unix seconds. */
export type MemoryArticles = {
  readonly files: ReceiptFiles;
  readonly as_of: number;
  readonly simulated: boolean;
};

/** The folder of these files. */
export function memoryReceiptFolder({ files, as_of, simulated }: MemoryArticles): ReceiptFolder {
  const source = { name: 'Memory', url: 'memory:', as_of, kind: 'table', simulated } as const;
  return { files: async () => read(files, { port: 'receipts', source }) };
}
