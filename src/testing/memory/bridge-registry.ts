// What do these rows, held in memory, say as the table of bridge contracts?

import { formatIsoDate } from '../../chain/time.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { BridgeRegistry, RegistryRow } from '../../ports/bridges.ts';
import { REGISTRY_TITLE } from '../../sources/registry/registry-files.ts';

const PORT = 'bridge_registry';
const MEMORY_ID = 'memory';

/** What the memory holds. `null`: no table was ever loaded. */
export type MemoryBridges = {
  readonly rows: readonly RegistryRow[] | null;
  /** Unix seconds. */
  readonly as_of: number;
  readonly simulated: boolean;
};

/** The table in memory. */
export function memoryBridgeRegistry({ rows, as_of, simulated }: MemoryBridges): BridgeRegistry {
  if (rows === null) {
    const what = 'the table of bridge contracts';
    return { table: async () => unread(PORT, why('table_never_imported', { what })) };
  }
  const about = { name: REGISTRY_TITLE, url: 'memory:', as_of, simulated } as const;
  const table = { id: MEMORY_ID, rows, reviewed: formatIsoDate(as_of), refused: 0 };
  const held = read(table, { port: PORT, source: { ...about, kind: 'table' } });
  return { table: async () => held };
}
