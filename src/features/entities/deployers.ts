// Which contracts did one key make, by itself or through a factory? (heuristic d)
// It is read from the chain: who signs a creation chose what was created. A public factory serves
// everybody, so that the factory links nobody and its caller does.

import { isSystemAddress } from '../../chain/address.ts';
import { listFrom } from '../../evidence/measure.ts';
import type { Creation } from '../../ports/accounts/contract-creations.ts';
import type { Tie } from '../../ports/entities/cluster-store.ts';

/** The ties of contracts to the signer of their creation; both are members. */
export function deployerTies(creations: readonly Creation[]): Tie[] {
  return creations.flatMap(({ chain, created, signer, tx, block, at }) =>
    listFrom(signer, (key) => {
      const pair = [created, key];
      if (pair.some(isSystemAddress)) return [];
      return pair.map((address): Tie => {
        return { chain, heuristic: 'same_deployer', key, address, tx, block, at, rests_on: null };
      });
    }),
  );
}
