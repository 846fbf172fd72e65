// What partners ask on behalf of their own users: several routes about one address at once.

import { walletBridgesHandler } from '../../features/bridges/wallet-bridges.route.ts';
import { walletCexHandler } from '../../features/exchanges/wallet-cex.route.ts';
import { walletScoreHandler } from '../../features/forensics/wallet-score.route.ts';
import { partnerScan } from '../../features/partner/partner-scan.contract.ts';
import { partnerScanHandler } from '../../features/partner/partner-scan.route.ts';
import { walletOfacHandler } from '../../features/sanctions/wallet-ofac.route.ts';
import { feature, served } from '../feature.ts';

type Given = Parameters<typeof walletOfacHandler>[0] &
  Parameters<typeof walletCexHandler>[0] &
  Parameters<typeof walletBridgesHandler>[0] &
  Parameters<typeof walletScoreHandler>[0];

export const partner = feature({
  name: 'partner',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [
    served(partnerScan, (given: Given) =>
      partnerScanHandler({
        ofac: walletOfacHandler(given),
        exchange: walletCexHandler(given),
        bridges: walletBridgesHandler(given),
        evidence: walletScoreHandler(given),
      }),
    ),
  ],
});
