// Which flagged addresses were put into this memory?
// An adapter like the control store's, for tests: the same promises, and nothing survives it.

import type { FlaggedTable, FlaggedTablePort, FlaggedTableRow } from '../../ports/flags/table.ts';
import { type MemoryImports, memoryImports } from './imports.ts';

/** A memory of flagged addresses, and the means to make it silent. */
type MemoryFlaggedTable = {
  readonly table: FlaggedTable;
  readonly fallSilent: MemoryImports<FlaggedTableRow, FlaggedTablePort>['fallSilent'];
};

/** An empty memory of flagged addresses. */
export function memoryFlaggedTable(): MemoryFlaggedTable {
  const { table, said, rowsOf, fallSilent } = memoryImports<FlaggedTableRow, FlaggedTablePort>(
    {
      port: 'flagged_table',
      table: 'flagged_addresses',
      keyOf: ({ match_key, tag, chain }) => JSON.stringify([match_key, tag, chain]),
    },
    () => undefined,
  );
  return {
    table: {
      ...table,
      page: async (id, afterN, throughN) =>
        said(() => rowsOf(id).filter(({ n }) => n > afterN && n <= throughN)),
    },
    fallSilent,
  };
}
