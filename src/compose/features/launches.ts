// Launches of Solana: what became of what a wallet launched, and how launches come here.

import { SPLIT_SHARE } from '../../features/launches/hold-out.ts';
import { solanaDeployer } from '../../features/launches/solana-deployer.contract.ts';
import {
  type SolanaDeployerPorts,
  solanaDeployerHandler,
} from '../../features/launches/solana-deployer.route.ts';
import { LAUNCH_WINDOW_S } from '../../features/tables/launches.ts';
import type { WalletLaunches } from '../../ports/launches/wallet-launches.ts';
import { walletLaunchTable } from '../../stores/control/wallet-launches.ts';
import { type Base, feature, served } from '../feature.ts';

export const launches = feature({
  name: 'launches',
  heading: 'Launches',
  open: ({ database, context }: Base) => {
    const options = { windowS: LAUNCH_WINDOW_S, splitShare: SPLIT_SHARE };
    const { of, launchOf } = walletLaunchTable(database, context, options);
    const walletLaunches: WalletLaunches = { of, launchOf };
    return { ports: { walletLaunches }, services: {} };
  },
  routes: [served(solanaDeployer, (given: SolanaDeployerPorts) => solanaDeployerHandler(given))],
  ports: {
    walletLaunches: {
      tag: 'wallet_launches',
      title: 'Launches of wallets',
      says: 'What a Solana wallet launched, and what became of it',
      pages: false,
      freshness: { kind: 'shown_with', tag: 'launch_corpus' },
    },
  },
});
