// Answers one question: which routes are declared. Whoever serves, documents or tests all reads
// this.

import { registryBridges } from './bridges/registry-bridges.contract.ts';
import { walletBridges } from './bridges/wallet-bridges.contract.ts';
import { walletEntity } from './entities/wallet-entity.contract.ts';
import { walletCex } from './exchanges/wallet-cex.contract.ts';
import { walletScore } from './forensics/wallet-score.contract.ts';
import { health } from './health/health.contract.ts';
import { walletOfac } from './sanctions/wallet-ofac.contract.ts';
import { bulkWalletScreen } from './screening/bulk-wallet-screen.contract.ts';
import { labelChanges } from './tables/label-changes.contract.ts';

/** The routes that answer with the common envelope. `silence.test.ts` takes each of them. */
export const EVIDENCE_ROUTES = [
  bulkWalletScreen,
  walletOfac,
  walletBridges,
  walletCex,
  walletScore,
] as const;

/** The routes that answer with bodies of their own. */
const PLAIN_ROUTES = [health, labelChanges, registryBridges, walletEntity] as const;

/** Every declared route. */
export const CONTRACTS = [...EVIDENCE_ROUTES, ...PLAIN_ROUTES] as const;
