// Which of these addresses are a mixer's contracts, by rows held in memory?
// The registry's file becomes such rows too (`mixers-file.ts`): there is one look-up.

import { collect } from '../../evidence/measure.ts';
import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { MixerContract, MixerRegistry } from '../../ports/accounts/mixer-registry.ts';

const PORT = 'mixer_registry';
/** The name of the table as a source. */
export const MIXERS_TITLE = 'Mixer registry';

/** What the memory holds. `null`: no registry was loaded. `as_of` is Unix seconds. */
export type MemoryMixers = {
  readonly rows: readonly MixerContract[] | null;
  readonly as_of: number;
  readonly simulated: boolean;
};

/** The registry of mixers in memory. `about` tells one edition of it from another. */
export function memoryMixerRegistry(
  { rows, as_of, simulated }: MemoryMixers,
  about: { readonly name: string; readonly url: string } = { name: MIXERS_TITLE, url: 'memory:' },
): MixerRegistry {
  if (rows === null) {
    const never = unread(PORT, why('table_never_imported', { what: 'the mixer registry' }));
    return { lookUp: async () => never };
  }
  const byAddress = new Map<string, MixerContract[]>();
  for (const row of rows) collect(byAddress, row.address, row);
  const source: Source = { ...about, as_of, kind: 'table', simulated };
  return {
    lookUp: async (addresses) => {
      const found = new Map<string, readonly MixerContract[]>();
      for (const address of addresses) {
        const held = byAddress.get(address);
        if (held !== undefined) found.set(address, held);
      }
      return read({ table_rows: rows.length, found }, { port: PORT, source });
    },
  };
}
