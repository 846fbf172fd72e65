// What did imports into a memory of labels add, change and remove?
// An adapter like the control store's, for tests: the same promises, and nothing survives it.

import { part, read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { LabelChange, LabelChanges, LabelWords } from '../../ports/labels/label-changes.ts';
import type { LabelRow } from '../../ports/labels/label-table.ts';
import type { TableImport } from '../../ports/tables/table-import.ts';

const PORT = 'label_changes';
const SOURCE = {
  name: 'Memory',
  url: 'memory:',
  as_of: 0,
  kind: 'table',
  simulated: false,
} as const;

/** A log in memory, and the means to add to it. */
type MemoryLabelChanges = {
  readonly changes: LabelChanges;
  /** Notes an import that replaced these rows of its source. */
  readonly note: (
    record: TableImport,
    before: readonly LabelRow[] | null,
    after: readonly LabelRow[],
  ) => void;
};

const NONE: readonly LabelRow[] = Object.freeze([]);

type Noted = { readonly key: string; readonly change: LabelChange };

/** An empty log in memory. */
export function memoryLabelChanges(): MemoryLabelChanges {
  const log: Noted[] = [];
  let imports = 0;
  const add = (
    record: TableImport,
    row: LabelRow,
    change: LabelChange['change'],
    before: LabelWords | null,
  ) => {
    const { address, chain, entity, source, first_seen } = row;
    const { id: import_id, completed_at: at, sha256, origin } = record;
    const words = { address, chain, entity, source, first_seen, ...wordsOf(row), before };
    const id = log.length + 1;
    log.push({
      key: row.match_key,
      change: { ...words, id, change, import_id, at, sha256, origin },
    });
  };
  return {
    note: (record, before, after) => {
      imports += 1;
      const rows = before === null ? NONE : before;
      const old = new Map(rows.map((row) => [keyOf(row), row]));
      const kept = new Set(after.map(keyOf));
      for (const row of after) {
        const was = old.get(keyOf(row));
        if (was === undefined) add(record, row, 'added', null);
        else if (wordsIn(was) !== wordsIn(row)) add(record, row, 'changed', wordsOf(was));
      }
      for (const row of rows) if (!kept.has(keyOf(row))) add(record, row, 'removed', null);
    },
    changes: {
      newest: async ({ beforeId, matchKey, limit }) => {
        if (imports === 0) {
          return unread(PORT, why('table_never_imported', { what: 'the exchange-wallet table' }));
        }
        const found = log
          .filter(({ key }) => matchKey === null || key === matchKey)
          .map(({ change }) => change)
          .filter(({ id }) => beforeId === null || id < beforeId)
          .reverse();
        const origin = { port: PORT, source: SOURCE } as const;
        if (found.length <= limit) return read(found, origin);
        const cut = why('row_cap', { address: 'the log', limit: String(limit) });
        return part(found.slice(0, limit), origin, cut);
      },
    },
  };
}

function keyOf({ match_key, entity, chain }: LabelRow): string {
  return JSON.stringify([match_key, entity, chain]);
}

function wordsOf({ label, role, confidence, source_url }: LabelRow): LabelWords {
  return { label, role, confidence, source_url };
}

function wordsIn(row: LabelRow): string {
  return JSON.stringify(wordsOf(row));
}
