// Answers one question: which routes are declared. Whoever serves, documents or tests all reads
// this.

import { bulkWalletScreen } from './hosted/bulk-wallet-screen.contract.ts';
import { walletOfac } from './hosted/wallet-ofac.contract.ts';
import { health } from './intelligence/health.contract.ts';

/** The routes that answer with the common envelope. `silence.test.ts` takes each of them. */
export const EVIDENCE_ROUTES = [bulkWalletScreen, walletOfac] as const;

/** The routes that answer with bodies of their own. */
export const PLAIN_ROUTES = [health] as const;

/** Every declared route. */
export const CONTRACTS = [...EVIDENCE_ROUTES, ...PLAIN_ROUTES] as const;
