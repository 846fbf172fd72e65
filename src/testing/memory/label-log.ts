// What does the log of one import of labels say?
// An adapter, not a mock: its readings are the real ones, and it pages as its siblings do.

import { matchKey } from '../../chain/address.ts';
import { part, read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { ExchangeLabel, LabelChange, LabelChanges } from '../../ports/tables.ts';

/** The log of an import that added these labels. `as_of` is Unix seconds. */
export function memoryLabelLog(labels: readonly ExchangeLabel[], as_of: number): LabelChanges {
  const source = {
    name: 'Memory',
    url: 'memory:',
    as_of,
    kind: 'table',
    simulated: false,
  } as const;
  const origin = { port: 'label_changes', source } as const;
  const added = labels.map(({ clusterable: _, ...label }, n): LabelChange => {
    const of = { id: n + 1, change: 'added', before: null, import_id: 1, at: as_of } as const;
    return { ...label, ...of, sha256: '0'.repeat(64), origin: 'observed' };
  });
  return {
    newest: async ({ beforeId, matchKey: key, limit }) => {
      const found = added
        .filter(({ address }) => key === null || matchKey(address) === key)
        .filter(({ id }) => beforeId === null || id < beforeId)
        .reverse();
      if (found.length <= limit) return read(found, origin);
      const cut = why('row_cap', { address: 'the log', limit: String(limit) });
      return part(found.slice(0, limit), origin, cut);
    },
  };
}
