// Which contracts did one key make itself? (heuristic d)
// Who signs a creation directly chose what was created. Through a factory it may be a bundler or a
// relayer that signed for its customers (ERC-4337, Safe), which a creation does not tell: it ties
// nobody, but where the factory is the signer's own contract.

import { isSystemAddress } from '../../chain/address.ts';
import { listFrom } from '../../evidence/measure.ts';
import type { Creation } from '../../ports/accounts/contract-creations.ts';
import type { Tie, TieForm } from '../../ports/entities/cluster-store.ts';

/** The ties of contracts to the key that made them; both are members. */
export function deployerTies(creations: readonly Creation[], whole: boolean): Tie[] {
  const own = new Map<string, string>();
  for (const { created, creator, signer } of creations) {
    if (signer !== null && creator === signer) own.set(created, signer);
  }
  return creations.flatMap(({ chain, created, creator, signer, tx, block, at }) =>
    listFrom(signer, (key) =>
      listFrom(formOf(creator, key, own), (form) => {
        const pair = [created, key];
        const shared = { chain, heuristic: 'same_deployer', form, key } as const;
        return pair.some(isSystemAddress)
          ? []
          : pair.map((address): Tie => {
              return { ...shared, address, tx, block, at, rests_on: null, whole };
            });
      }),
    ),
  );
}

function formOf(creator: string, signer: string, own: ReadonlyMap<string, string>): TieForm | null {
  if (creator === signer) return 'signed';
  return own.get(creator) === signer ? 'own_factory' : null;
}
