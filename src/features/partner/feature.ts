// The scan that partners request for their own users: several routes about one address in one
// answer.

import { feature, serveRoute } from '../../compose/feature.ts';
import {
  partnerScan,
  partnerScanHandler,
  type ScanPorts,
  sectionAsks,
} from './partner-scan.route.ts';

export const partner = feature({
  name: 'partner',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [serveRoute(partnerScan, (given: ScanPorts) => partnerScanHandler(sectionAsks(given)))],
});
