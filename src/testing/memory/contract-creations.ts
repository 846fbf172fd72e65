// Which creations of contracts were put into this memory?
// An adapter, not a mock: its readings are the real ones. It can hold only a part of a chain.

import { part, read } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { Source } from '../../evidence/source.ts';
import type { ContractCreations, Creation } from '../../ports/accounts.ts';

/** What the memory holds. `whole`: every creation of every chain. `as_of` is Unix seconds. */
type MemoryCreations = {
  readonly creations: readonly Creation[];
  readonly whole: boolean;
  readonly simulated: boolean;
  readonly as_of: number;
};

/** The creations in memory. */
export function memoryCreations(held: MemoryCreations): ContractCreations {
  const { as_of, simulated, whole } = held;
  const source: Source = {
    name: 'Creations',
    url: 'memory:',
    as_of,
    kind: 'observation',
    simulated,
  };
  const origin = { port: 'contract_creations', source } as const;
  return {
    around: async (chain, address) => {
      const own = held.creations.filter((one) => one.chain === chain);
      const signers = own.filter(({ created }) => created === address).map(({ signer }) => signer);
      const found = own.filter(
        ({ created, signer }) =>
          created === address ||
          signer === address ||
          (signer !== null && signers.includes(signer)),
      );
      if (simulated) return part(found, origin, why('simulated'));
      return whole
        ? read(found, origin)
        : part(found, origin, why('creations_in_part', { chain, held: 'not all of them' }));
    },
  };
}
