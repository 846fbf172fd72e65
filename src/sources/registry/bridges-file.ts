// What does the file of bridge contracts hold, by the rules that it is validated by?
// A file that is missing, broken or empty is unread; refused rows are left out, and counted.

import { parseIsoDate } from '../../chain/time.ts';
import { type Reading, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  BridgeRegistry,
  BridgeRegistryPort,
  RegistryRow,
  RegistryTable,
  ValidatedRows,
} from '../../ports/bridges/bridge-registry.ts';
import type { TableLine } from '../../ports/tables/table-import.ts';
import { csvTable } from '../files/csv.ts';
import { FileFault } from '../files/fault.ts';

const PORT = 'bridge_registry';

/** The name of the table as a source, and the page on which it is published. */
export const REGISTRY_TITLE = 'Registry of bridge contracts';
const REGISTRY_PAGE = '/registry/bridges';

/** The rules by which rows are taken or refused. Throws RangeError for what is no such table. */
type ValidateRows = (lines: readonly TableLine[]) => ValidatedRows;

/** The table of a file. It is read once, at the first question, and kept. */
export function fileBridgeRegistry(path: URL | string, validate: ValidateRows): BridgeRegistry {
  let kept: Promise<Reading<RegistryTable, BridgeRegistryPort>> | null = null;
  return {
    table: async () => {
      if (kept === null) kept = loaded(path, validate);
      const table = await kept;
      // What was not read may be there the next time.
      if (!table.checked) kept = null;
      return table;
    },
  };
}

async function loaded(
  path: URL | string,
  validate: ValidateRows,
): Promise<Reading<RegistryTable, BridgeRegistryPort>> {
  try {
    const { sha256, lines } = await csvTable(path);
    const { rows, refused } = validate(lines);
    return tableOf(sha256, rows, refused.length);
  } catch (error) {
    const isTold = error instanceof RangeError || error instanceof FileFault;
    return unread(PORT, why('file_unreadable', { fault: isTold ? error.message : UNOPENED }));
  }
}

const UNOPENED = 'it cannot be opened';

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
