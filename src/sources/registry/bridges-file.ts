// What does the file of bridge contracts hold, by the rules that it is judged by?
// A file that is missing, broken or empty is unread; refused rows are left out, and counted.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseIsoDate } from '../../chain/time.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  BridgeRegistry,
  BridgeRegistryPort,
  JudgedRows,
  RegistryRow,
  RegistryTable,
} from '../../ports/bridges/bridge-registry.ts';

const PORT = 'bridge_registry';

/** The name of the table as a source, and the page on which it is published. */
export const REGISTRY_TITLE = 'Registry of bridge contracts';
export const REGISTRY_PAGE = '/registry/bridges';

/** The rules by which rows are taken or refused. Throws RangeError for what is no such table. */
export type JudgeRows = (text: string) => JudgedRows;

/** The table of a file. It is read once, at the first question, and kept. */
export function fileBridgeRegistry(path: URL | string, judge: JudgeRows): BridgeRegistry {
  let kept: Promise<Reading<RegistryTable, BridgeRegistryPort>> | null = null;
  return {
    table: async () => {
      if (kept === null) kept = loaded(path, judge);
      const table = await kept;
      // What was not read may be there the next time.
      if (!table.checked) kept = null;
      return table;
    },
  };
}

async function loaded(
  path: URL | string,
  judge: JudgeRows,
): Promise<Reading<RegistryTable, BridgeRegistryPort>> {
  let bytes: Buffer;
  let judged: JudgedRows;
  try {
    bytes = await readFile(path);
    judged = judge(bytes.toString('utf8'));
  } catch (error) {
    const fault = error instanceof RangeError ? error.message : 'it cannot be opened';
    return unread(PORT, why('file_unreadable', { fault }));
  }
  const id = createHash('sha256').update(bytes).digest('hex');
  return tableOf(id, judged.rows, judged.refused.length);
}

/** The reading of a table. One without a row is none. */
export function tableOf(
  id: string,
  rows: readonly RegistryRow[],
  refused: number,
): Reading<RegistryTable, BridgeRegistryPort> {
  const [newest] = rows.map(({ reviewed }) => reviewed).sort((a, b) => (a < b ? 1 : -1));
  const as_of = newest === undefined ? null : parseIsoDate(newest);
  if (newest === undefined || as_of === null) {
    return unread(PORT, why('table_never_imported', { what: 'the table of bridge contracts' }));
  }
  const source = { name: REGISTRY_TITLE, url: REGISTRY_PAGE, as_of, simulated: false } as const;
  return read(
    { id, rows, reviewed: newest, refused },
    {
      port: PORT,
      source: { ...source, kind: 'table' },
    },
  );
}
