// What rows does a file made of values hold?
// An adapter like the one for files on disk, for tests. It can break off before its end.

import { read, unread } from '../../evidence/reading.ts';
import { type Why, why } from '../../evidence/reasons.ts';
import type { BrokenRow, FileLayout, RawRow, TableFiles } from '../../ports/tables/table-import.ts';

const PORT = 'table_file';
const SOURCE = {
  name: 'Memory',
  url: 'memory:',
  as_of: 0,
  kind: 'table',
  simulated: false,
} as const;
const ORIGIN = { port: PORT, source: SOURCE } as const;

/** A file in memory, by its path. */
export type MemoryFile = {
  readonly layout: FileLayout;
  /** Batches of rows, as values by column or as what was wrong with the row; lines count from 1. */
  readonly batches: readonly (readonly ({ readonly [column: string]: string } | string)[])[];
  /** Why the file could not be read to its end, or `null`. */
  readonly breaksOff: Why | null;
};

/** Files in memory; any other path names no file. The hash of each is `b…b`. */
export function memoryTableFiles(files: { readonly [path: string]: MemoryFile }): TableFiles {
  return {
    open: async (path) => {
      const file = files[path];
      if (file === undefined) {
        return unread(PORT, why('file_unreadable', { fault: 'there is no such file' }));
      }
      const sha256 = () => 'b'.repeat(64);
      const rows = () => rowsOf(file);
      return read({ layout: file.layout, bytes: 100, bytesRead: () => 50, sha256, rows }, ORIGIN);
    },
  };
}

async function* rowsOf({ batches, breaksOff }: MemoryFile) {
  let line = 0;
  for (const batch of batches) {
    const rows: (RawRow | BrokenRow)[] = batch.map((row) => {
      line += 1;
      return typeof row === 'string'
        ? { line, problem: row }
        : { line, fields: new Map(Object.entries(row)) };
    });
    yield read(rows, ORIGIN);
  }
  if (breaksOff !== null) yield unread(PORT, breaksOff);
}
