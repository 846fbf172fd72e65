// Which labels were put into this memory?
// An adapter like the control store's, for tests: the same promises, and nothing survives it.

import { Read } from '../../evidence/reading.ts';
import type { LabelChanges } from '../../ports/labels/label-changes.ts';
import type { LabelRow, LabelTable, LabelTablePort } from '../../ports/labels/label-table.ts';
import type { Numbered } from '../../ports/tables/table-import.ts';
import { type MemoryImports, memoryImports } from './imports.ts';
import { memoryLabelChanges } from './label-changes.ts';

/** A memory of labels, and the means to make it silent. */
type MemoryLabelTable = {
  readonly table: LabelTable;
  readonly changes: LabelChanges;
  readonly fallSilent: MemoryImports<LabelRow, LabelTablePort>['fallSilent'];
};

/** An empty memory of labels. */
export function memoryLabelTable(): MemoryLabelTable {
  const imports = memoryImports<LabelRow, LabelTablePort>(
    {
      port: 'label_table',
      table: 'exchange_labels',
      keyOf,
    },
    () => undefined,
  );
  const { said, rowsOf, inForce, fallSilent } = imports;
  const log = memoryLabelChanges();
  const sources = new Map<number, string>();
  const before = (id: number) => {
    const replaced = inForce().find(({ source }) => source === sources.get(id));
    return replaced === undefined ? null : rowsOf(replaced.id);
  };
  return {
    changes: log.changes,
    table: {
      ...imports.table,
      begin: async (facts) => {
        const begun = await imports.table.begin(facts);
        if (begun instanceof Read) sources.set(begun.value.id, facts.source);
        return begun;
      },
      stage: async (id, rows) => imports.table.stage(id, withFirstSeen(rows, before(id))),
      complete: async (id, end) => {
        const old = before(id);
        const ended = await imports.table.complete(id, end);
        if (ended instanceof Read) log.note(ended.value, old, rowsOf(id));
        return ended;
      },
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

/** A label that stood there before keeps the day on which it was first seen. */
function withFirstSeen(
  rows: readonly Numbered<LabelRow>[],
  before: readonly LabelRow[] | null,
): readonly Numbered<LabelRow>[] {
  if (before === null) return rows;
  return rows.map((row) => {
    const old = before.find((one) => keyOf(one) === keyOf(row));
    const earlier = old !== undefined && old.first_seen < row.first_seen;
    return earlier ? { ...row, first_seen: old.first_seen } : row;
  });
}

function keyOf({ match_key, entity, chain }: LabelRow): string {
  return JSON.stringify([match_key, entity, chain]);
}
