// Which labels were put into this memory?
// An adapter like the control store's, for tests: the same promises, and nothing survives it.

import type { LabelRow, LabelTable, LabelTablePort } from '../../ports/label-table.ts';
import { type MemoryImports, memoryImports } from '../table-import/memory-imports.ts';

/** A memory of labels, and the means to make it silent. */
export type MemoryLabelTable = {
  readonly table: LabelTable;
  readonly fallSilent: MemoryImports<LabelRow, LabelTablePort>['fallSilent'];
};

/** An empty memory of labels. */
export function memoryLabelTable(): MemoryLabelTable {
  const imports = memoryImports<LabelRow, LabelTablePort>(
    {
      port: 'label_table',
      table: 'exchange_labels',
      keyOf: ({ match_key, entity, chain }) => JSON.stringify([match_key, entity, chain]),
    },
    () => undefined,
  );
  const { said, rowsOf, inForce, fallSilent } = imports;
  return {
    table: {
      ...imports.table,
      page: async (id, afterN, throughN) =>
        said(() => rowsOf(id).filter(({ n }) => n > afterN && n <= throughN)),
      under: async (keys) =>
        said(() => {
          const asked = new Set(keys);
          const held = inForce().flatMap(({ id }) => rowsOf(id));
          return held.filter(({ match_key }) => asked.has(match_key));
        }),
    },
    fallSilent,
  };
}
