import { feature, serveRoute } from '../../compose/feature.ts';
import { walletCex, walletCexHandler } from './wallet-cex.route.ts';

export const exchanges = feature({
  name: 'exchanges',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [serveRoute(walletCex, walletCexHandler)],
});
