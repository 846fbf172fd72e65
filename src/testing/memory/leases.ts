// Answers one question: who holds a lease, by a table in memory that its holders share?
// An adapter, not a mock: it keeps the promises of the one over the control store.

import { read } from '../../evidence/reading.ts';
import type { Leases } from '../../ports/indexing/leases.ts';

/** Leases by name, with the end of each in Unix seconds. */
export type LeaseMemory = Map<string, { readonly holder: string; readonly until: number }>;

/** The leases of one holder. `now` is Unix seconds. */
export function memoryLeases(table: LeaseMemory, holder: string, now: () => number): Leases {
  const source = {
    name: 'Leases in memory',
    url: 'memory:',
    as_of: now(),
    kind: 'table',
    simulated: false,
  } as const;
  const origin = { port: 'leases', source } as const;
  return {
    take: async (name, forS) => {
      const held = table.get(name);
      const isFree = held === undefined || held.holder === holder || held.until < now();
      if (isFree) table.set(name, { holder, until: now() + forS });
      return read(isFree, origin);
    },
    release: async (name) => {
      if (table.get(name)?.holder === holder) table.delete(name);
      return read(true as const, origin);
    },
  };
}
