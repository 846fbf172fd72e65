// The scan that partners request for their own users: several routes about one address in one
// answer.

import { feature, serveRoute } from '../../compose/feature.ts';
import { walletBridgesHandler } from '../bridges/wallet-bridges.route.ts';
import { walletCexHandler } from '../exchanges/wallet-cex.route.ts';
import { walletScoreHandler } from '../forensics/wallet-score.route.ts';
import { walletOfacHandler } from '../sanctions/wallet-ofac.route.ts';
import { partnerScan, partnerScanHandler } from './partner-scan.route.ts';

type PartnerDependencies = Parameters<typeof walletOfacHandler>[0] &
  Parameters<typeof walletCexHandler>[0] &
  Parameters<typeof walletBridgesHandler>[0] &
  Parameters<typeof walletScoreHandler>[0];

export const partner = feature({
  name: 'partner',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [
    serveRoute(partnerScan, (given: PartnerDependencies) =>
      partnerScanHandler({
        ofac: walletOfacHandler(given),
        exchange: walletCexHandler(given),
        bridges: walletBridgesHandler(given),
        evidence: walletScoreHandler(given),
      }),
    ),
  ],
});
