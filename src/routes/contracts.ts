// Answers one question: which routes are declared. Whoever serves, documents or tests all reads
// this.

import { bulkWalletScreen } from './hosted/bulk-wallet-screen.contract.ts';
import { labelChanges } from './hosted/label-changes.contract.ts';
import { registryBridges } from './hosted/registry-bridges.contract.ts';
import { walletBridges } from './hosted/wallet-bridges.contract.ts';
import { walletCex } from './hosted/wallet-cex.contract.ts';
import { walletOfac } from './hosted/wallet-ofac.contract.ts';
import { walletScore } from './hosted/wallet-score.contract.ts';
import { health } from './intelligence/health.contract.ts';
import { walletEntity } from './intelligence/wallet-entity.contract.ts';

/** The routes that answer with the common envelope. `silence.test.ts` takes each of them. */
export const EVIDENCE_ROUTES = [
  bulkWalletScreen,
  walletOfac,
  walletBridges,
  walletCex,
  walletScore,
] as const;

/** The routes that answer with bodies of their own. */
export const PLAIN_ROUTES = [health, labelChanges, registryBridges, walletEntity] as const;

/** Every declared route. */
export const CONTRACTS = [...EVIDENCE_ROUTES, ...PLAIN_ROUTES] as const;
