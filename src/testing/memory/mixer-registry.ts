// Which of these addresses are a mixer's contracts, by rows held in memory?

import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { MixerContract, MixerRegistry } from '../../ports/accounts.ts';
import { MIXERS_TITLE, mixersAmong } from '../../sources/registry/registry-files.ts';

const PORT = 'mixer_registry';

/** What the memory holds. `null`: no registry was loaded. `as_of` is Unix seconds. */
export type MemoryMixers = {
  readonly rows: readonly MixerContract[] | null;
  readonly as_of: number;
  readonly simulated: boolean;
};

/** The registry of mixers in memory. */
export function memoryMixerRegistry({ rows, as_of, simulated }: MemoryMixers): MixerRegistry {
  if (rows === null) {
    const never = unread(PORT, why('table_never_imported', { what: 'the mixer registry' }));
    return { lookUp: async () => never };
  }
  const source = { name: MIXERS_TITLE, url: 'memory:', as_of, kind: 'table', simulated } as const;
  return {
    lookUp: async (addresses) => read(mixersAmong(rows, addresses), { port: PORT, source }),
  };
}
