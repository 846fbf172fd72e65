// Many addresses against the tables held, and the commands that ask a running service.

import { feature, serveRoute } from '../../compose/feature.ts';
import { bulkWalletScreen, bulkWalletScreenHandler } from './bulk-wallet-screen.route.ts';
import { screeningLocal } from './local.ts';

export const screening = feature({
  name: 'screening',
  heading: 'Ask a running service',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [serveRoute(bulkWalletScreen, bulkWalletScreenHandler)],
  local: screeningLocal,
});
