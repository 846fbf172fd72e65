import { feature, served } from '../../compose/feature.ts';
import { walletCex, walletCexHandler } from './wallet-cex.route.ts';

export const exchanges = feature({
  name: 'exchanges',
  open: () => ({ ports: {}, services: {} }),
  ports: {},
  routes: [served(walletCex, walletCexHandler)],
});
