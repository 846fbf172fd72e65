// The dossier of an address: the answers of several routes on one page for people.

import { feature, type Members, type Service, servePage } from '../../compose/feature.ts';
import type { Why } from '../../evidence/reasons.ts';
import { unaskedPorts } from '../../stores/history/live-facts.ts';
import { walletBridgesHandler } from '../bridges/wallet-bridges.route.ts';
import { deployerRecordHandler } from '../deployers/deployer-record.route.tsx';
import { walletEntityHandler } from '../entities/wallet-entity.route.ts';
import { walletCexHandler } from '../exchanges/wallet-cex.route.ts';
import { walletScoreHandler } from '../forensics/wallet-score.route.ts';
import { solanaDeployerHandler } from '../launches/solana-deployer.route.ts';
import { receiptsIndexHandler } from '../receipts/receipts-index.route.tsx';
import { walletOfacHandler } from '../sanctions/wallet-ofac.route.ts';
import {
  type DossierPorts,
  dossierHandler,
  dossierPage,
  dossierPartHandler,
  dossierPartPage,
} from './dossier.route.tsx';
import { searchHandler, searchPage } from './search.route.ts';

type PartPorts = Parameters<typeof walletOfacHandler>[0] &
  Parameters<typeof walletCexHandler>[0] &
  Parameters<typeof walletBridgesHandler>[0] &
  Parameters<typeof walletScoreHandler>[0] &
  Parameters<typeof walletEntityHandler>[0] &
  Parameters<typeof solanaDeployerHandler>[0] &
  Parameters<typeof receiptsIndexHandler>[0];
type DossierContext = PartPorts & { readonly service: Service; readonly members: Members };

export const dossier = feature({
  name: 'dossier',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  pages: [
    servePage(searchPage, null, (_given: DossierContext, facts) => searchHandler(facts)),
    servePage(dossierPage, null, (given: DossierContext, facts) =>
      dossierHandler(portsOf(given), facts),
    ),
    servePage(dossierPartPage, null, (given: DossierContext, facts) =>
      dossierPartHandler(portsOf(given), facts),
    ),
  ],
});

function portsOf(given: DossierContext): DossierPorts {
  const { deployerRecords, service, members } = given;
  const handlersOf = (ports: PartPorts) => ({
    lists: walletOfacHandler(ports),
    evidence: walletScoreHandler(ports),
    exchanges: walletCexHandler(ports),
  });
  return {
    all: {
      ...handlersOf(given),
      entity: walletEntityHandler(given, service),
      bridges: walletBridgesHandler(given),
    },
    held: (reason: Why) => handlersOf({ ...given, ...unaskedPorts(reason) }),
    launches: {
      // A page that anybody may open has nobody walked.
      ethereum: deployerRecordHandler({
        deployerRecords: { recordOf: (address) => deployerRecords.heldOf(address) },
      }),
      solana: solanaDeployerHandler(given),
    },
    receipts: receiptsIndexHandler(given),
    reading: members.reading,
    base: service.base,
  };
}
