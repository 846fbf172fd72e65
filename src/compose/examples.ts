import type { AddressExample } from '../pages/home.tsx';
import { SANDBOX_SCORED } from '../world/account-state.ts';
import { SANDBOX_WALLETS } from '../world/chain-data.ts';
import { SANDBOX_LAUNCHERS } from '../world/corpus.ts';
import { SANDBOX_DEPLOYERS } from '../world/deployers.ts';
import { SANDBOX_LABELLED } from '../world/labels.ts';
import { SANDBOX_PARTY } from '../world/listed-parties.ts';

/** One address for each kind of answer; docs/guides/simulated-world.md has all of them. */
export const SIMULATED_EXAMPLES: readonly AddressExample[] = [
  ...SANDBOX_PARTY.addresses
    .slice(0, 1)
    .map(({ address }) => ({ address, says: 'On the sanctions list' })),
  { address: SANDBOX_WALLETS.twoHops, says: 'Two hops from a listed address' },
  { address: SANDBOX_SCORED.scored, says: 'Several findings' },
  { address: SANDBOX_WALLETS.customer, says: 'Tied to other addresses' },
  { address: SANDBOX_WALLETS.bridged, says: 'Sent money over bridges' },
  { address: SANDBOX_LABELLED.hot, says: 'A wallet of an exchange' },
  { address: SANDBOX_DEPLOYERS.mixed, says: 'Launched tokens on Ethereum' },
  { address: SANDBOX_LAUNCHERS.flagged, says: 'Launched tokens on Solana' },
  { address: SANDBOX_WALLETS.hub, says: 'A hub that nobody walks past' },
];
