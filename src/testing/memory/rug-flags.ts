// Which launches are flagged in this memory, of which chains that were scored?
// An adapter, not a mock: its readings are the real ones.

import { read } from '../../evidence/reading.ts';
import type { FlagWindow, RugFlags } from '../../ports/rug-flags.ts';

/** What the memory holds of every window. `as_of` is Unix seconds. */
export type MemoryRugFlags = FlagWindow & { readonly simulated: boolean; readonly as_of: number };

/** The flags in memory. */
export function memoryRugFlags({ chains, flags, simulated, as_of }: MemoryRugFlags): RugFlags {
  const source = { name: 'Rug scorer', url: 'memory:', as_of, kind: 'observation' } as const;
  const origin = { port: 'rug_flags', source: { ...source, simulated } } as const;
  return { inWindow: async () => read({ chains, flags }, origin) };
}
