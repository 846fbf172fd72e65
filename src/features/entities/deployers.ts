// Which contracts did one key make, by itself or through a factory? (heuristic d)
// It is read from the chain: who signs a creation chose what was created. A public factory serves
// everybody, so that the factory links nobody and its caller does.

import { isSystemAddress } from '../../chain/address.ts';
import type { Creation } from '../../ports/accounts/contract-creations.ts';
import type { Tie } from '../../ports/entities/cluster-store.ts';

/** The ties of contracts to the signer of their creation; both are members. */
export function deployerTies(creations: readonly Creation[]): Tie[] {
  return creations.flatMap(({ chain, created, signer, tx, block, at }) => {
    if (signer === null || [created, signer].some(isSystemAddress)) return [];
    return [created, signer].map((address): Tie => {
      return {
        chain,
        heuristic: 'same_deployer',
        key: signer,
        address,
        tx,
        block,
        at,
        rests_on: null,
      };
    });
  });
}
